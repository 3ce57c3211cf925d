#!/usr/bin/env bash
# Models optimised by the tool, judged by ONNX Runtime: optimized_models_test.py
# on the models whose names match the first argument, for the targets that
# follow.
set -euo pipefail

if [ -z "${ISOMER_PYTHON:-}" ] || ! "$ISOMER_PYTHON" -c 'import onnxruntime' 2>/dev/null; then
  echo "SKIPPED: no Python with onnxruntime in \$ISOMER_PYTHON"
  exit 0
fi
only=$1
shift
for target in "$@"; do
  "$ISOMER_PYTHON" tests/optimized_models_test.py tools/isomer models \
    --only "$only" --target "$target"
done
