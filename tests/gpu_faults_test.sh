#!/usr/bin/env bash
# What the tool says where a GPU is missing, too old, too small or lost, by
# means of a driver that fails (fake_driver.cc): one clear line, a non-zero code,
# and no file left behind.
set -euo pipefail

isomer=tools/isomer
model=models/lora_mlp_fp16_b1_dynamo.onnx
scratch=$(mktemp -d)
trap 'rm -rf "$scratch" "$scratch".*' EXIT
limit=120
. tests/expect.sh

export LD_LIBRARY_PATH=$PWD/tests/fake_driver

# with SETTING CODE TEXT WORD...: expect, on a GPU that is so.
with() {
  export ISOMER_FAKE_GPU=$1
  shift
  expect "$@"
}

# every_verb SETTING TEXT: all verbs that use a GPU say so, and leave nothing.
every_verb() {
  local left
  with "$1" 2 "$2" run "$model" --device cuda:0 --out "$scratch/out.npz"
  with "$1" 2 "$2" bench "$model" --original-only --out "$scratch/out.npz"
  with "$1" 2 "$2" optimize "$model" "$scratch/out.onnx" --device cuda:0 \
    --expansions 1
  with "$1" 2 "$2" profile "$model" --budget 1s --out "$scratch/out.profile"
  # A profile is written as it grows, whole each time.
  rm -f "$scratch/out.profile"
  left=$(ls "$scratch")
  if [ -n "$left" ]; then
    echo "$1: left behind: $left"
    failed=1
  fi
}

every_verb devices=0 \
  "CUDA: cannot start the driver: CUDA_ERROR_NO_DEVICE (100)"
every_verb version=11040 \
  "CUDA: the driver is of CUDA 11.4; 12.0 or later is needed"
every_verb capability=8 \
  "CUDA: device 0 has compute capability 8.0; kernels need 9.0 or later"
with capability=9 2 "CUDA: there is no device 1; there are 1" \
  run "$model" --device cuda:1

# The first allocation fails, and one behind it.
for bytes in 1000 20000; do
  with memory=$bytes 2 "bytes: CUDA_ERROR_OUT_OF_MEMORY (2)" \
    run "$model" --device cuda:0
done
lost="CUDA_ERROR_LAUNCH_FAILED (719); the device is lost to this process"
with lost=wait 2 "CUDA: waiting for a stream: $lost" \
  run "$model" --device cuda:0

# Without NVRTC that is what is missing.
missing="CUDA: there is no library libnvrtc.so.13 or libnvrtc.so.12"
case $(ISOMER_FAKE_GPU="" "$isomer" run "$model" --device cuda:0 2>&1) in
  *"$missing"*)
    every_verb "" "$missing"
    exit "$failed"
    ;;
esac

every_verb memory=20000 "CUDA: allocating"
every_verb lost=wait "CUDA: waiting for a stream: $lost"
every_verb lost=graph "CUDA: launching a graph: $lost"

# What is compiled ahead needs no device that works.
with lost=graph 2 "flag --compile-only needs --cache" bench "$model" \
  --compile-only
with lost=graph 2 "flag --check needs a run" bench "$model" --check \
  --compile-only --cache "$scratch.kernels"
with lost=graph 0 "predicted" bench "$model" --original-only \
  --compile-only --cache "$scratch.kernels"
ls "$scratch.kernels"/*.kernel >/dev/null || failed=1

# NVRTC can be too old.
mkdir "$scratch.old"
cp tests/fake_driver/libcuda.so.1 "$scratch.old/libnvrtc.so.13"
LD_LIBRARY_PATH=$LD_LIBRARY_PATH:$scratch.old
every_verb "" "has no function nvrtcVersion; it may be too old"

exit "$failed"
