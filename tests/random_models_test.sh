#!/usr/bin/env bash
# Small random models, judged by ONNX Runtime: random_models_test.py, from the
# number of the first argument on, as many as the second says.
set -euo pipefail

if [ -z "${ISOMER_PYTHON:-}" ] || ! "$ISOMER_PYTHON" -c 'import onnxruntime' 2>/dev/null; then
  echo "SKIPPED: no Python with onnxruntime in \$ISOMER_PYTHON"
  exit 0
fi
"$ISOMER_PYTHON" tests/random_models_test.py tools/isomer "$@"
