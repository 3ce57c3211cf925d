#!/usr/bin/env bash
# From a fresh clone to a running Isomer: installs what is missing, builds
# bin/isomer and runs it on a bundled model. A second run takes seconds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. third_party/setup.sh

# What Isomer does with the bundled model.
main_job() {
  echo "1. A bundled model, given random weights, and what is in it:"
  bin/isomer randomize "$MODEL" build/model.onnx
  bin/isomer show build/model.onnx
  echo
  echo "2. Into Isomer and out again, byte for byte:"
  bin/isomer convert build/model.onnx build/converted.onnx
  cmp build/model.onnx build/converted.onnx
  echo
  echo "3. Made faster by proved rules:"
  bin/isomer optimize build/model.onnx build/faster.onnx
  echo
  echo "4. The two models on the same random inputs:"
  bin/isomer diff build/model.onnx build/faster.onnx
}

setup_system $BUILD_PACKAGES
setup_python third_party/requirements.txt
echo "building bin/isomer (minutes the first time)"
build_tool
mkdir -p build
main_job
echo "done: bin/isomer --help tells the rest"
