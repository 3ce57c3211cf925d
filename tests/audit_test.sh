#!/usr/bin/env bash
# The second opinion on every rule that is shipped: Z3 confirms each obligation
# that the prover settled by itself, and contradicts no rule from axioms. The
# share that follows from axioms is printed.
set -euo pipefail

failed=0
for file in rules/{chosen,hand_written,generated}.rules; do
  tools/isomer verify "$file" --audit --timeout 60s --json >audit.json ||
    failed=1
  rules=$(grep -c '"audit":' audit.json)
  # "12 of 12 confirmed": the same number twice.
  confirmed=$(grep -cE '"audit": "([0-9]+) of \1 confirmed' audit.json || true)
  follow=$(grep -c '"follows_from_axioms": true' audit.json || true)
  echo "$file: $rules rules, $confirmed confirmed whole," \
    "$follow follow from axioms"
  if [ "$rules" -eq 0 ] || [ "$rules" -ne "$confirmed" ]; then
    grep '"audit":' audit.json | grep -vE '"([0-9]+) of \1 confirmed' || true
    failed=1
  fi
done
exit $failed
