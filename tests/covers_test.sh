#!/usr/bin/env bash
# The rules that are shipped give every true rule of other systems' files, and
# the others are called false or ill-formed.
set -euo pipefail

if [ -z "${ISOMER_SHARED:-}" ]; then
  echo "SKIPPED: covers: no rule files of other systems"
  exit 0
fi

# covers FILE FALSE ILL_FORMED: how many of its rules are not true.
failed=0
covers() {
  local report=$1.json
  tools/isomer rules covers "$ISOMER_SHARED/data/rule_files/$1.pb" \
    --by rules/generated.rules --by rules/axioms.rules --json >"$report" ||
    failed=1
  grep -A 20 '"totals"' "$report" | sed "s/^/$1: /"
  grep '"missing"' "$report" || true
  [ "$(grep -c '"status": "false"' "$report" || true)" = "$2" ] || failed=1
  [ "$(grep -c '"status": "ill_formed"' "$report" || true)" = "$3" ] || failed=1
}

covers taso_shipped_133 4 0
covers taso_generator_full_depth3_619 11 0
covers unity_640 7 112
exit $failed
