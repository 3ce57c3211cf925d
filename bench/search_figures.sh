#!/usr/bin/env bash
# Prints what the search finds on the bundled models with random weights, and
# what each part of it contributes on a few of them.
#
#   bench/search_figures.sh [MODEL...]     names of models/ (default: all)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. third_party/setup.sh

mkdir -p build/figures
run_logged build/log/search_figures.log bazel build --config=opt \
  "--disk_cache=$DISK_CACHE" //bench:search_figures //tools:isomer ||
  die "the build failed (see build/log/search_figures.log)"
copy_tool

names=("$@")
if [ $# -eq 0 ]; then
  for file in models/*.onnx; do names+=("$(basename "$file" .onnx)"); done
fi
header() {
  printf '| %-32s | %8s | %8s | %6s | %6s | %6s | %6s | %5s |\n' \
    "$1" before after faster wall cpu expand MB
  printf '|---|---|---|---|---|---|---|---|\n'
}
header "model (times in us, on h200)"
for name in "${names[@]}"; do
  out=build/figures/$name.onnx
  [ -e "$out" ] || bin/isomer randomize "models/$name.onnx" "$out" >/dev/null
  bazel-bin/bench/search_figures "$out"
done
for name in nasrnn_fp16_b1_dynamo repvgg_a0_fp16_b1_dynamo \
  squeezenet1_1_fp16_b1_dynamo; do
  [ -e "build/figures/$name.onnx" ] || continue
  echo
  header "$name"
  bazel-bin/bench/search_figures --ablation "build/figures/$name.onnx"
done
