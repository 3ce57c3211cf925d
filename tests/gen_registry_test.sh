#!/usr/bin/env bash
# ops/gen_registry.sh: names, order, and what it refuses.
set -euo pipefail
generate() {
  sh ops/gen_registry.sh isomer OpDef Define AllOpDefs ops/op_def.h "$@"
}
fail() {
  echo "FAILED: $*"
  exit 1
}

# In the order of the names, whatever the order of the arguments; tests are
# left out.
actual=$(generate x/concat.cc x/batch_norm_test.cc x/conv2d.cc \
  x/batch_norm.cc | sed -n 's/^  append(\(.*\)());$/\1/p' | tr '\n' ' ')
expected="DefineBatchNorm DefineConcat DefineConv2d "
[ "$actual" = "$expected" ] || fail "calls $actual, not $expected"

# Not in a pipe to grep -q, which may close it before all is written.
grep -q '^std::vector<OpDef> DefineConcat();$' <<<"$(generate x/concat.cc)" ||
  fail "does not declare DefineConcat"
grep -q '^std::vector<OpDef> AllOpDefs() {$' <<<"$(generate)" ||
  fail "an empty folder gives no AllOpDefs"

for wrong in x/Concat.cc x/con-cat.cc x/concat.h 'x/con cat.cc'; do
  if generate "$wrong" >/dev/null 2>&1; then fail "accepts $wrong"; fi
done
if sh ops/gen_registry.sh isomer OpDef >/dev/null 2>&1; then
  fail "accepts too few arguments"
fi
