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

generate x/concat.cc | grep -q '^std::vector<OpDef> DefineConcat();$' ||
  fail "does not declare DefineConcat"
generate | grep -q '^std::vector<OpDef> AllOpDefs() {$' ||
  fail "an empty folder gives no AllOpDefs"

for wrong in x/Concat.cc x/con-cat.cc x/concat.h 'x/con cat.cc'; do
  if generate "$wrong" >/dev/null 2>&1; then fail "accepts $wrong"; fi
done
if sh ops/gen_registry.sh isomer OpDef >/dev/null 2>&1; then
  fail "accepts too few arguments"
fi
