#!/usr/bin/env bash
# From a fresh clone to a running Isomer: installs what is missing, builds
# bin/isomer and runs it on a bundled model. A second run takes seconds.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. third_party/setup.sh

# What Isomer does with the bundled model.
main_job() {
  echo "What is in $MODEL:"
  bin/isomer show "$MODEL"
  echo "Into Isomer and out again:"
  bin/isomer convert "$MODEL" build/converted.onnx
}

setup_system $BUILD_PACKAGES
setup_python third_party/requirements.txt
echo "building bin/isomer (minutes the first time)"
build_tool
mkdir -p build
main_job
echo "done: bin/isomer --help tells the rest"
