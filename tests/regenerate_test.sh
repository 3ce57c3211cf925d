#!/usr/bin/env bash
# The shipped rules are what the generator finds, byte for byte.
set -euo pipefail

tools/isomer gen --preset default --threads 2 \
  --out "$TEST_TMPDIR/new.rules" --pb "$TEST_TMPDIR/new.pb"
for kind in rules pb; do
  cmp "rules/generated.$kind" "$TEST_TMPDIR/new.$kind" ||
    { echo "rules/generated.$kind is not what isomer gen finds" >&2; exit 1; }
done
