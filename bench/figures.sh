#!/usr/bin/env bash
# Prints the figures that README.md quotes: matching and rewriting, import and
# export of a large model, a model on the CPU, ONNX's node tests.
#
#   bench/figures.sh [MEGABYTES]     size of the large model (default 1300)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. third_party/setup.sh

mkdir -p build
PROGRAMS="//bench:match_bench //bench:onnx_bench //bench:rewrite_bench
  //tests:node_test //tools:isomer"
run_logged build/log/figures.log bazel build --config=opt \
  "--disk_cache=$DISK_CACHE" $PROGRAMS ||
  die "the build failed (see build/log/figures.log)"
copy_tool

echo "Matching and rewriting on a graph of 2,000 nodes:"
bazel-bin/bench/match_bench --benchmark_min_time=0.2 2>/dev/null
bazel-bin/bench/rewrite_bench --benchmark_min_time=0.2 2>/dev/null
echo "Import and export:"
bazel-bin/bench/onnx_bench "${1:-1300}" build
echo "ResNet-50, fp32, batch 1, on the CPU:"
bin/isomer randomize models/resnet50_fp32_b1_script.onnx build/resnet50.onnx
bin/isomer run build/resnet50.onnx
echo "ONNX's node tests:"
bazel-bin/tests/node_test | grep 'known and right\|SKIPPED'
