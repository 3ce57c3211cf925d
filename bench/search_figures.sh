#!/usr/bin/env bash
# Prints the tables of the search: the bundled models with random weights, TASO's
# graphs against TASO's search, growth, certificates, small graphs against brute
# force, and what each part of the search brings. The last table says what of
# that is to be reached; the exit code is the number of goals that are missed.
#
#   bench/search_figures.sh [MODEL...]     names of models/ (default: all; the
#                                          last table is for all alone)
#
# TASO's rules are other people's data: they are looked for in
# $ISOMER_SHARED/data/rule_files, and proved before they are used.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. third_party/setup.sh

mkdir -p build/figures
run_logged build/log/search_figures.log bazel build --config=opt \
  "--disk_cache=$DISK_CACHE" //bench:search_figures //tools:isomer \
  //search:all_small_graphs_test ||
  die "the build failed (see build/log/search_figures.log)"
copy_tool
figures=bazel-bin/bench/search_figures

names=("$@")
if [ $# -eq 0 ]; then
  for file in models/*.onnx; do names+=("$(basename "$file" .onnx)"); done
fi

# columns NAME...: the head of a table.
columns() {
  printf '\n| %-32s |' "$1"
  printf ' %6s |' "${@:2}"
  printf '\n|---|'
  printf -- '---|%.0s' "${@:2}"
  printf '\n'
}
search_columns() {
  columns "$1" before after faster wall cpu expand "${@:2}"
}

# random MODEL: prints the path of the model with random weights.
random() {
  local out=build/figures/$1.onnx
  [ -e "$out" ] || bin/isomer randomize "models/$1.onnx" "$out" >/dev/null
  echo "$out"
}

models() {
  local name
  search_columns model products left MB
  for name in "${names[@]}"; do "$figures" model "$(random "$name")"; done
  search_columns "model on cpu" products left MB
  "$figures" model "$(random llama_prefill_fp16_b1_dynamo)" cpu
}

taso() {
  local rules=${ISOMER_SHARED:-../shared}/data/rule_files/taso_shipped_133.pb
  if [ ! -e "$rules" ]; then
    echo "no rules of TASO in $rules"
    return
  fi
  bin/isomer rules convert "$rules" build/figures/taso.rules >/dev/null
  bin/isomer verify build/figures/taso.rules --timeout 20s --write-back \
    >build/log/taso_rules.log || true
  search_columns "TASO's graphs"
  "$figures" taso build/figures/taso.rules
}

growth() {
  local layers
  search_columns growth
  "$figures" growth
  columns "an expansion" expand "cpu ms" KB
  for layers in 6 12 24 48; do "$figures" expansion "$layers"; done
}

certificates() {
  columns certificate wall cpu "check wall" "check cpu"
  "$figures" certify "$(random resnet50_fp32_b1_script)"
}

small_graphs() {
  columns "all graphs over" nodes graphs reached worse
  bazel-bin/search/all_small_graphs_test --gtest_filter='AllSmallGraphs*' |
    grep '^|' || true
}

ablation() {
  local name
  for name in nasrnn_fp16_b1_dynamo repvgg_a0_fp16_b1_dynamo \
    inception_v3_fp16_b1_dynamo; do
    search_columns "$name"
    "$figures" ablation "$(random "$name")" rules/generated.rules
  done
}

{
  models
  taso
  growth
  certificates
  small_graphs
  ablation
} | tee build/figures/tables.txt
[ $# -gt 0 ] || python3 bench/search_goals.py build/figures/tables.txt
