#!/usr/bin/env bash
# isomer verify as people call it: verdicts and exit codes, files with bad
# rules, verdicts that are kept, written back and trusted.
set -euo pipefail

isomer=$PWD/tools/isomer
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
limit=120
. tests/expect.sh
cd "$scratch"

# check WHAT COMMAND...: the command succeeds.
check() {
  local what=$1
  shift
  if ! "$@"; then
    echo "$what"
    failed=1
  fi
}

cat >good.rules <<'END'
# Products are associative.
rule assoc: matmul(x, matmul(y, z)) <=> matmul(matmul(x, y), z)

rule swap: add(x, y) => add(y, x)
fold swap
END
cat >mixed.rules <<'END'
rule swap: add(x, y) => add(y, x)
rule wrong: add(x, y) => sub(x, y)
rule broken: add(x, y => sub(x, y)
rule unbound: relu(x) => relu(y)
rule unheard: frobnicate(x) => x
rule mean: reduce_sum(x, axes=[0]) => reduce_mean(x, axes=[0]) where rank(x) == 1
END

expect 2 "argument FILE is missing" verify
expect 2 "there is no flag --frob" verify good.rules --frob
expect 2 "No such file" verify nothing.rules
expect 2 "flag --timeout is 'soon'" verify good.rules --timeout soon
expect 2 "flag --threads is '0'" verify good.rules --threads 0
expect 2 "there is no rule 'nothing'" verify good.rules --explain nothing
expect 2 "cannot open the cache" verify good.rules --cache no/such/folder

expect 0 "proved     assoc" verify good.rules
expect 0 "cases: " verify good.rules --explain assoc
expect 1 "there is no counterexample" verify good.rules --replay assoc
expect 0 "Believed: the index semantics" verify --axioms

expect 1 "proved     swap" verify mixed.rules
expect 1 "refuted    wrong" verify mixed.rules
expect 1 "ill_formed broken: 3:23:" verify mixed.rules
expect 1 "ill_formed unbound: 4:" verify mixed.rules
expect 1 "ill_formed unheard: 5:" verify mixed.rules
expect 1 "the source gives" verify mixed.rules
expect 0 "the counterexample holds" verify mixed.rules --replay wrong
expect 1 "proved where dim(x, 0) == 1" verify mixed.rules --infer-conditions

# JSON: every rule once, in order, with its verdict.
"$isomer" verify mixed.rules --json >report.json || true
check "the JSON report is wrong" python3 - <<'END'
import json
report = json.load(open("report.json"))
verdicts = [(r["name"], r["verdict"]) for r in report["rules"]]
assert verdicts == [("swap", "proved"), ("wrong", "refuted"),
                    ("broken", "ill_formed"), ("unbound", "ill_formed"),
                    ("unheard", "ill_formed"), ("mean", "refuted")], verdicts
assert report["rules"][0]["scope"] == "all sizes"
assert "the target gives" in report["rules"][1]["counterexample"]
assert report["rules"][2]["reason"].startswith("3:23: ")
totals = report["totals"]
assert (totals["proved"], totals["refuted"], totals["unknown"],
        totals["ill_formed"]) == (1, 2, 0, 3), totals
assert len(report["axioms_hash"]) == 16
END

# The same with any number of threads, but for times.
for threads in 1 3; do
  "$isomer" verify mixed.rules --threads $threads |
    sed 's/([0-9.]* ms)//; /^\(rules\|parametric\|others\) /d' >"out$threads" || true
done
check "the number of threads shows" cmp out1 out3

# A second run takes everything from the cache; a stopped one loses nothing.
expect 1 "refuted    wrong" verify mixed.rules --cache cache
expect 1 "proved     swap (cached)" verify mixed.rules --cache cache
expect 1 "refuted    wrong (cached)" verify mixed.rules --cache cache
head -c -20 cache >cut
expect 1 "(cached)" verify mixed.rules --cache cut

# Verdicts written back stay when written again, and go with an edit.
expect 0 "proved" verify good.rules --write-back
check "no verdict is written" grep -q '^# proved [0-9a-f]\{16\}$' good.rules
check "the comment is lost" grep -q '^# Products are associative.$' good.rules
cp good.rules once.rules
expect 0 "proved" verify good.rules --write-back
check "writing back twice changes the file" cmp good.rules once.rules
expect 1 "refuted" verify mixed.rules --write-back
check "a bad rule is lost" grep -q '^rule broken: add(x, y => sub(x, y)$' \
  mixed.rules
check "a refutation is not written" grep -q '^# refuted ' mixed.rules

exit $failed
