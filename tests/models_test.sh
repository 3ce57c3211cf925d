#!/usr/bin/env bash
# Real models through the tool, judged by ONNX Runtime: models_test.py on the
# models whose names match the first argument, in the tree and, with --shared,
# those that lie in $ISOMER_SHARED.
set -euo pipefail

if [ -z "${ISOMER_PYTHON:-}" ] || ! "$ISOMER_PYTHON" -c 'import onnxruntime' 2>/dev/null; then
  echo "SKIPPED: no Python with onnxruntime in \$ISOMER_PYTHON"
  exit 0
fi
"$ISOMER_PYTHON" tests/models_test.py tools/isomer models --only "$1"
if [ "${2:-}" = --shared ]; then
  if [ -d "${ISOMER_SHARED:-}/data/onnx_light" ]; then
    "$ISOMER_PYTHON" tests/models_test.py tools/isomer "$ISOMER_SHARED/data/onnx_light"
  else
    echo "SKIPPED: \$ISOMER_SHARED/data/onnx_light is not there"
  fi
fi
