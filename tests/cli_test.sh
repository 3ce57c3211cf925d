#!/usr/bin/env bash
# The tool as people call it: wrong words, wrong files and broken models end
# with one clear line and a non-zero code, and leave no file behind.
set -euo pipefail

isomer=tools/isomer
model=models/nasrnn_fp32_b1_script.onnx
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
limit=60
. tests/expect.sh

# Two rules: all of them take too long with sanitizers.
awk -v RS= -v ORS='\n\n' '/rule (merge_matmuls|distribute_matmul):/' \
  rules/chosen.rules >"$scratch/two.rules"

expect 2 "there is no verb 'frobnicate'" frobnicate
expect 0 "isomer show MODEL" show --help
expect 2 "argument MODEL is missing" show
expect 2 "there is no flag --colour" show --colour "$model"
expect 2 "flag --seed is 'x'" run --seed x "$model"
expect 2 "expected NAME=N" show --dim q "$model"
expect 2 "which is not an input of the model" show --shape q:1 "$model"
expect 2 "No such file or directory" show "$scratch/nothing.onnx"
expect 2 "not a regular file" show "$scratch"
expect 2 "there is no folder" convert "$model" "$scratch/no/out.onnx"
expect 2 "flag --rules is missing" apply "$model" "$scratch/out.onnx"
expect 2 "there is no rule 'nothing'" apply --rules "$scratch/two.rules" \
  --rule nothing "$model" "$scratch/out.onnx"

# Every prefix of a model file is refused or read, never a crash.
size=$(stat -L -c %s "$model")
for n in 0 1 7 100 1000 $((size / 2)) $((size - 1)); do
  head -c "$n" "$model" >"$scratch/cut.onnx"
  status=0
  timeout 60 "$isomer" convert "$scratch/cut.onnx" "$scratch/out.onnx" \
    >"$scratch/log" 2>&1 || status=$?
  if [ "$status" != 2 ] || [ -e "$scratch/out.onnx" ]; then
    echo "the first $n bytes of a model: exit code $status: $(cat "$scratch/log")"
    failed=1
  fi
done

# A rule at work, and a model that differs.
expect 0 "tensors" randomize "$model" "$scratch/a.onnx" --seed 1
expect 0 "tensors" randomize "$model" "$scratch/b.onnx" --seed 2
expect 0 "applied 3 times" apply --rules "$scratch/two.rules" \
  --rule merge_matmuls --max 3 "$scratch/a.onnx" "$scratch/merged.onnx"
expect 0 ": ok" diff "$scratch/a.onnx" "$scratch/merged.onnx"
expect 1 "DIFFERS" diff "$scratch/a.onnx" "$scratch/b.onnx"
expect 0 '"equal": true' diff --json "$scratch/a.onnx" "$scratch/merged.onnx"
expect 0 "rules written" rules convert "$scratch/two.rules" "$scratch/r.pb"
expect 0 "2 rules are well-formed, 0 are not" rules check "$scratch/r.pb"
printf 'rule broken: relu(x) => relu(y)\n' >"$scratch/broken.rules"
expect 1 "broken.rules:1:" rules check "$scratch/broken.rules"
printf 'rule broken: relu(x =>\n' >"$scratch/broken.rules"
expect 2 "broken.rules:1:" rules check "$scratch/broken.rules"

# Times without a GPU.
expect 0 "predicted" bench --device none --original-only "$scratch/a.onnx"
expect 0 '"predicted_us"' bench --device none --original-only --json \
  "$scratch/a.onnx"
expect 2 "--device none predicts without one" bench --device nope \
  "$scratch/a.onnx"
expect 2 "flag --check needs a GPU" bench --device none --check \
  "$scratch/a.onnx"

exit "$failed"
