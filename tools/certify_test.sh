#!/usr/bin/env bash
# Models as a third party sees them: optimised with a certificate, which is then
# checked, in at most 30 s of processor time; and refused for a changed model.
#
#   certify_test.sh MODEL...     names of models/
set -euo pipefail
isomer=$PWD/tools/isomer
models=$PWD/models
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}
TIMEFORMAT=%U
for name in "$@"; do
  "$isomer" randomize "$models/$name.onnx" in.onnx >out.txt
  "$isomer" optimize in.onnx out.onnx --expansions 500 --check 0 \
    --certify out.cert >out.txt || fail "$name: $(cat out.txt)"
  if cmp -s in.onnx out.onnx; then fail "$name: nothing was found"; fi
  { time "$isomer" certify in.onnx out.onnx out.cert >out.txt 2>err.txt ||
    fail "$name: $(cat out.txt err.txt)"; } 2>time.txt
  grep -q '^equal' out.txt || fail "$name: $(cat out.txt time.txt)"
  [ "$(cut -d. -f1 time.txt)" -lt 30 ] || fail "$name takes $(cat time.txt) s"
  # The last bytes of the file are no longer those that were certified.
  printf 'x' >>out.onnx
  if "$isomer" certify in.onnx out.onnx out.cert >out.txt 2>err.txt; then
    fail "$name: a changed model is certified"
  fi
  echo "$name: checked in $(cat time.txt) s"
done
