#!/usr/bin/env bash
# isomer gen as people call it: the same file with any number of threads and
# after a kill, a valid file at every limit, and wrong input that is named before
# any work and leaves no file behind.
set -euo pipefail

isomer=tools/isomer
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
failed=0
fail() {
  echo "$*"
  failed=1
}
cat >"$scratch/tiny.preset" <<'END'
# Two presets in one run.
use taso-2d-small depth=2
use shapes depth=1
END
gen() { "$isomer" gen --templates "$scratch/tiny.preset" "$@"; }

gen --out "$scratch/one.rules" --pb "$scratch/one.pb" --stats "$scratch/one.json"
gen --threads 3 --out "$scratch/two.rules" --pb "$scratch/two.pb"
cmp "$scratch/one.rules" "$scratch/two.rules" || fail "threads change the rules"
cmp "$scratch/one.pb" "$scratch/two.pb" || fail "threads change the binary file"
"$isomer" rules convert "$scratch/one.pb" "$scratch/back.rules" >/dev/null
cmp "$scratch/one.rules" "$scratch/back.rules" || fail "the binary file differs"
for key in graphs fingerprints classes candidates confirmed false_positives \
  generalised final enumerate_s generalise_s minimise_s wall_s cpu_s \
  peak_bytes graphs_per_s threads stop_reason; do
  grep -q "\"$key\"" "$scratch/one.json" || fail "--stats lacks $key"
done
"$isomer" verify "$scratch/one.rules" >"$scratch/verdicts" ||
  fail "a rule is not proved: $(cat "$scratch/verdicts")"

# Killed once the state is there, then gone on with.
gen --resume "$scratch/f.state" --out "$scratch/killed.rules" >/dev/null &
pid=$!
for _ in $(seq 600); do
  [ -e "$scratch/f.state" ] && break
  kill -0 "$pid" 2>/dev/null || break
  sleep 0.05
done
kill -9 "$pid" 2>/dev/null || true
wait "$pid" 2>/dev/null || true
gen --resume "$scratch/f.state" --out "$scratch/resumed.rules" >/dev/null
cmp "$scratch/one.rules" "$scratch/resumed.rules" || fail "a resumed run differs"

# Limits end with a valid file and the reason.
gen --time 1us --out "$scratch/time.rules" >"$scratch/out"
grep -q 'stopped: time' "$scratch/out" || fail "no word of the time limit"
gen --memory 1k --out "$scratch/memory.rules" >"$scratch/out"
grep -q 'stopped: memory' "$scratch/out" || fail "no word of the memory limit"
for name in time memory; do
  "$isomer" rules check "$scratch/$name.rules" >/dev/null ||
    fail "--$name leaves a file that does not read"
done

# A limit of memory holds for the whole process. Without one this takes 90 MB.
"$isomer" gen --preset taso-full --depth 3 --memory 48M --stats "$scratch/m.json" \
  --out "$scratch/memory.rules" >"$scratch/out"
grep -q 'stopped: memory' "$scratch/out" || fail "48 MB are enough"
peak=$(sed -n 's/^ *"peak_bytes": \([0-9]*\).*/\1/p' "$scratch/m.json")
[ "$peak" -le $((60 << 20)) ] || fail "$peak bytes were held instead of 48 MB"
grep -q '"candidates": [1-9]' "$scratch/m.json" || fail "nothing was found in 48 MB"
"$isomer" rules check "$scratch/memory.rules" >/dev/null ||
  fail "a run of 48 MB leaves a file that does not read"

# wrong TEXT WORD...: exit code 2, the text, and no output file.
wrong() {
  local text=$1 status=0 output
  shift
  output=$("$isomer" gen "$@" --out "$scratch/wrong.rules" 2>&1) || status=$?
  [ "$status" = 2 ] || fail "gen $*: exit code $status: $output"
  case $output in *"$text"*) ;; *) fail "gen $*: printed '$output'" ;; esac
  [ ! -e "$scratch/wrong.rules" ] || fail "gen $* left a file"
}
wrong "there is no preset 'q'" --preset q
wrong "give --preset NAME or --templates FILE" --depth 2
wrong "flag --memory is 'lots'" --preset taso-2d-small --memory lots
wrong "flag --time is 'soon'" --preset taso-2d-small --time soon
wrong "/nowhere/f.json" --preset taso-2d-small --stats /nowhere/f.json
printf '%s\n' 'leaf x(1): f32[0]' 'sizes b=2' 'sizes b=3' \
  'template t(a): relu(a)' >"$scratch/bad.preset"
wrong "size 0 is impossible" --templates "$scratch/bad.preset"
printf '%s\n' 'leaf x(1): f32[b]' 'sizes b=2' 'sizes b=3' \
  'template t(a): nothing(a)' >"$scratch/bad.preset"
wrong "template t" --templates "$scratch/bad.preset"
sed 's/candidate/candidat/' "$scratch/f.state" >"$scratch/bad.state"
cp "$scratch/bad.state" "$scratch/kept.state"
wrong "the state is damaged" --templates "$scratch/tiny.preset" \
  --resume "$scratch/bad.state"
cmp "$scratch/bad.state" "$scratch/kept.state" || fail "a damaged state was changed"
exit "$failed"
