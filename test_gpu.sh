#!/usr/bin/env bash
# Builds with CMake on a machine with an NVIDIA GPU and runs what needs one:
#
#   ./test_gpu.sh [--sanitize] [--bench [BATCH...]]
#
# First the GPU tests. --sanitize runs them under compute-sanitizer as well
# (memcheck and racecheck); --bench measures against PyTorch, at batch 1 and 16
# unless told otherwise, and writes what it prints to build/gpu. Where Abseil,
# protobuf's headers or GoogleTest are not installed, third_party/gpu_kit.sh
# fetches Debian's packages on a machine with a network; unpacked in build/kit
# they are found here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

sanitize="" bench="" batches=()
while [ $# -gt 0 ]; do
  case "$1" in
    --sanitize) sanitize=1 ;;
    --bench) bench=1 ;;
    [0-9]*) batches+=("$1") ;;
    *) echo "usage: ./test_gpu.sh [--sanitize] [--bench [BATCH...]]" >&2; exit 2 ;;
  esac
  shift
done

nvidia-smi --query-gpu=name,driver_version --format=csv,noheader ||
  { echo "test_gpu.sh: there is no NVIDIA GPU here" >&2; exit 1; }

out=build/gpu
mkdir -p "$out"
options=(-DCMAKE_BUILD_TYPE=Release -DISOMER_GPU_TESTS=ON)
[ ! -d build/kit/usr ] || options+=("-DCMAKE_PREFIX_PATH=$PWD/build/kit/usr")
cmake -S . -B "$out/cmake" "${options[@]}" >"$out/cmake.log"
cmake --build "$out/cmake" -j "$(nproc)" >>"$out/cmake.log"

tests=$out/cmake/executor_test
"$tests" --gtest_brief=1
if [ -n "$sanitize" ]; then
  for tool in memcheck racecheck; do
    compute-sanitizer --tool "$tool" --error-exitcode 1 "$tests" \
      --gtest_brief=1 --gtest_filter='*Convolutions:*Views*:*SharedKeys:*Disturb*'
  done
fi
if [ -n "$bench" ]; then
  [ ${#batches[@]} -gt 0 ] || batches=(1 16)
  python3 bench/h200_vs_pytorch.py --isomer "$out/cmake/isomer" --jobs 8 \
    --batch "${batches[@]}" --json "$out/figures.json" |
    tee "$out/figures.txt"
fi
