#!/usr/bin/env bash
# Prints the table of the search: the bundled models with random weights, TASO's
# graphs against TASO's search, growth, and what each part of the search brings.
#
#   bench/search_figures.sh [MODEL...]     names of models/ (default: all)
#
# TASO's rules are other people's data: they are looked for in
# $ISOMER_SHARED/data/rule_files, and proved before they are used.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. third_party/setup.sh

mkdir -p build/figures
run_logged build/log/search_figures.log bazel build --config=opt \
  "--disk_cache=$DISK_CACHE" //bench:search_figures //tools:isomer ||
  die "the build failed (see build/log/search_figures.log)"
copy_tool
figures=bazel-bin/bench/search_figures

names=("$@")
if [ $# -eq 0 ]; then
  for file in models/*.onnx; do names+=("$(basename "$file" .onnx)"); done
fi
# header FIRST [MORE]: the columns that all tables have, and more.
header() {
  printf '\n| %-32s | %8s | %8s | %6s | %6s | %6s | %6s |%s\n' \
    "$1" before after faster wall cpu expand "${2:+ $2 |}"
  printf '|---|---|---|---|---|---|---|%s\n' "${2:+---|}"
}
header "model (us on h200, s, MB)" "   MB"
for name in "${names[@]}"; do
  out=build/figures/$name.onnx
  [ -e "$out" ] || bin/isomer randomize "models/$name.onnx" "$out" >/dev/null
  "$figures" model "$out"
done
rules=${ISOMER_SHARED:-../shared}/data/rule_files/taso_shipped_133.pb
if [ -e "$rules" ]; then
  bin/isomer rules convert "$rules" build/figures/taso.rules >/dev/null
  bin/isomer verify build/figures/taso.rules --timeout 20s --write-back \
    >build/log/taso_rules.log || true
  header "TASO's graphs"
  "$figures" taso build/figures/taso.rules
else
  echo "no rules of TASO in $rules"
fi
header "growth"
"$figures" growth
for name in nasrnn_fp16_b1_dynamo repvgg_a0_fp16_b1_dynamo \
  inception_v3_fp16_b1_dynamo; do
  [ -e "build/figures/$name.onnx" ] || continue
  header "$name"
  "$figures" ablation "build/figures/$name.onnx" rules/generated.rules
done
