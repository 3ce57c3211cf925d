#!/usr/bin/env bash
# `isomer optimize` and `isomer certify` as a user calls them: what they write,
# what they refuse, and Ctrl-C.
set -euo pipefail
isomer=$PWD/tools/isomer
models=$PWD/models
rules=$PWD/rules
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
# refused TEXT COMMAND...: the command fails with 2 and says TEXT; nothing is
# written.
refused() {
  local text=$1 code=0
  shift
  "$@" >out.txt 2>err.txt || code=$?
  [ "$code" -eq 2 ] || fail "exit code $code instead of 2: $*"
  grep -q -- "$text" err.txt || fail "no '$text' in: $(cat err.txt)"
  [ ! -e no.onnx ] || fail "a file was written: $*"
}

squeezenet=$models/squeezenet1_1_fp16_b1_dynamo.onnx
"$isomer" randomize "$squeezenet" net.onnx >out.txt
"$isomer" optimize net.onnx opt.onnx --expansions 200 --certify opt.cert \
  --report opt.json --dot opt.dot >out.txt || fail "optimize"
grep -q 'opt.onnx is written' out.txt || fail "$(cat out.txt)"
grep -q 'faster' out.txt || fail "no estimate"
grep -q '"improved": true' opt.json || fail "$(cat opt.json)"
grep -q 'cluster_b' opt.dot || fail "no drawing"
"$isomer" diff net.onnx opt.onnx >out.txt || fail "$(cat out.txt)"

# The weights of this model are filled tensors; the check sees how they are
# written.
"$isomer" optimize "$models/nasrnn_fp32_b1_script.onnx" filled.onnx \
  --expansions 20 >out.txt || fail "$(cat out.txt)"
grep -q 'filled.onnx is written' out.txt || fail "$(cat out.txt)"

# The same limits by count, the same bytes, whatever the threads.
"$isomer" optimize net.onnx one.onnx --expansions 200 --threads 1 >out.txt
"$isomer" optimize net.onnx two.onnx --expansions 200 --threads 2 >out.txt
cmp one.onnx two.onnx || fail "threads change the result"

# Certificates: the right one holds, a wrong one does not.
"$isomer" certify net.onnx opt.onnx opt.cert >out.txt || fail "certify"
grep -q '^equal' out.txt || fail "$(cat out.txt)"
refused 'not the model that was certified' \
  "$isomer" certify net.onnx net.onnx opt.cert
sed 's/relu/tanh/' opt.cert >wrong.cert
code=0
"$isomer" certify net.onnx opt.onnx wrong.cert >out.txt || code=$?
[ "$code" -eq 1 ] || fail "a wrong certificate gives $code"
refused 'no certificate' "$isomer" certify net.onnx opt.onnx net.onnx

# When nothing helps, the output is the original.
"$isomer" optimize "$models/lstm_fp32_b1_dynamo.onnx" same.onnx \
  --expansions 0 >out.txt
cmp "$models/lstm_fp32_b1_dynamo.onnx" same.onnx || fail "not the original"
grep -q 'nothing helps' out.txt || fail "$(cat out.txt)"

# Limits are kept, also where a single step takes long, and say so.
"$isomer" optimize net.onnx hasty.onnx --budget 0s >out.txt
cmp net.onnx hasty.onnx || fail "no time, yet something was found"
grep -q 'the time limit was reached' out.txt || fail "$(cat out.txt)"
"$isomer" optimize net.onnx endless.onnx --budget 1000000h --check 0 >out.txt
grep -q 'nothing is left to try' out.txt || fail "$(cat out.txt)"
"$isomer" optimize net.onnx small.onnx --memory-limit 1K --check 0 >out.txt
cmp net.onnx small.onnx || fail "the memory of the target is exceeded"
"$isomer" optimize net.onnx light.onnx --weight-limit 1K --check 0 >out.txt
cmp net.onnx light.onnx || fail "the limit on weights is exceeded"

# The baseline finds less, or takes longer; it is as right.
"$isomer" optimize net.onnx taso.onnx --baseline taso >out.txt ||
  fail "$(cat out.txt)"
refused 'baseline is' "$isomer" optimize net.onnx no.onnx --baseline tensat

# Measured costs that come with Isomer are used when asked for.
"$isomer" optimize "$squeezenet" squeeze.onnx --profile builtin \
  --expansions 0 >out.txt
grep -q '[1-9][0-9]*% of the time is measured' out.txt || fail "$(cat out.txt)"
refused 'no such.profile' \
  "$isomer" optimize net.onnx no.onnx --profile 'no such.profile'
refused "device 'cpu' is not one" \
  "$isomer" optimize net.onnx no.onnx --device cpu
refused 'flag --time' \
  "$isomer" profile net.onnx --time soon --out h200.profile
refused 'flag --out is missing' "$isomer" profile net.onnx
refused 'argument MODEL is missing' "$isomer" profile --out h200.profile
refused "flag --since is '2026-2-30'" \
  "$isomer" profile --models net.onnx --since 2026-2-30 --out h200.profile
echo 'profile a100' >a100.profile
refused 'is a profile of a100' "$isomer" profile net.onnx --out a100.profile
refused 'is not a regular file' "$isomer" profile net.onnx --out .

refused 'abacus' "$isomer" optimize net.onnx no.onnx --target abacus
refused 'alpha is 0.5' "$isomer" optimize net.onnx no.onnx --alpha 0.5
refused 'flag --budget' "$isomer" optimize net.onnx no.onnx --budget soon
refused 'flag --numerics' "$isomer" optimize net.onnx no.onnx --numerics fast
refused 'flag --memory-limit' \
  "$isomer" optimize net.onnx no.onnx --memory-limit lots
refused 'flag --weight-limit' \
  "$isomer" optimize net.onnx no.onnx --weight-limit -1
echo 'rule broken: add(x, => x' >bad.rules
refused 'bad.rules' "$isomer" optimize net.onnx no.onnx --rules bad.rules
refused 'nowhere' "$isomer" optimize net.onnx nowhere/no.onnx --expansions 1
echo 'not a model' >text.onnx
refused 'text.onnx' "$isomer" optimize text.onnx no.onnx

# Unproved rules are named and not used.
echo 'rule wrong: add(x, y) => mul(x, y)' >unproved.rules
"$isomer" optimize net.onnx plain.onnx --rules unproved.rules \
  --expansions 20 >out.txt
grep -q 'not used: wrong' out.txt || fail "$(cat out.txt)"

# Ctrl-C gives the best so far.
"$isomer" randomize "$models/inception_v3_fp16_b1_dynamo.onnx" big.onnx >out.txt
"$isomer" optimize big.onnx cut.onnx --alpha 100 --budget 100s --check 0 \
  --rules "builtin,$rules/generated.rules" >out.txt 2>&1 &
search=$!
# After two seconds of work it searches, however busy the machine is.
while read -r -a stat <"/proc/$search/stat" && [ "${stat[13]}" -lt 200 ]; do
  sleep 0.1
done
kill -INT "$search"
wait "$search" || fail "Ctrl-C: exit code $?"
grep -q 'it was interrupted' out.txt || fail "Ctrl-C: $(cat out.txt)"
[ -e cut.onnx ] || fail "Ctrl-C: nothing is written"
echo "all right"
