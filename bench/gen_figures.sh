#!/usr/bin/env bash
# Prints the generator's tables: enumeration, fingerprints and confirmation at
# the other sizes, each row in a process of its own so that memory is its own;
# what generalising, proving and minimising take, with two threads; and what is
# shipped against other people's rules. The last table says what of that is to
# be reached; the exit code is the number of goals that are missed.
#
#   bench/gen_figures.sh [--quick | --depth5]
#
# --quick leaves out taso-full at depth 4, `default` and the last table. --depth5
# tries taso-full, connected, at depth 5: up to an hour and 18 GB.
#
# Other people's rules are looked for in $ISOMER_SHARED/data/rule_files. Times
# are those of a quiet machine.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. third_party/setup.sh

case ${1:-} in
"" | --quick | --depth5) mode=${1:-} ;;
*) die "what is '$1'? expected --quick or --depth5" ;;
esac
mkdir -p build/figures
run_logged build/log/gen_figures.log bazel build --config=opt \
  "--disk_cache=$DISK_CACHE" //bench:gen_figures //tools:isomer ||
  die "the build failed (see build/log/gen_figures.log)"
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

row() { bazel-bin/bench/gen_figures "$@"; }
# The row of the middle wall time of five: those of half a second vary.
middle() { for _ in 1 2 3 4 5; do row "$@"; done | sort -t '|' -k 11,11n | sed -n 3p; }
enumeration() {
  printf '| %-13s | d | %-9s | t | %10s | %11s | %10s | %9s | %7s | %7s | %7s | %6s |\n' \
    preset outputs graphs prints classes confirmed rules wall_s cpu_s MB
  printf '|---|---|---|---|---|---|---|---|---|---|---|---|\n'
  middle taso-full 3
  middle taso-full 3 2
  row taso-full 3 connected
  row taso-2d-small 4
  row taso-2d-small 4 2
  row taso-2d-small 4 connected
  [ "$mode" != --quick ] || return 0
  row taso-full 4 connected
  row taso-full 4
  row taso-full 4 2
  [ "$mode" = --depth5 ] || return 0
  row taso-full 5 connected 2 memory=18 time=3600
}

# number KEY, word KEY: what the figures of the last run say.
number() { sed -n "s/^ *\"$1\": \([0-9.]*\).*/\1/p" "$scratch/f.json"; }
word() { sed -n "s/^ *\"$1\": \"\(.*\)\".*/\1/p" "$scratch/f.json"; }
# rules PRESET DEPTH TIME [--connected]: up to the file, within a limit of time.
rules() {
  bazel-bin/tools/isomer gen --preset "$1" --depth "$2" --threads 2 --time "$3" \
    ${4:+"$4"} --out "$scratch/f.rules" --stats "$scratch/f.json" >"$scratch/log" 2>&1 ||
    die "isomer gen --preset $1 failed: $(tail -1 "$scratch/log")"
  printf '| %-13s | %s | %10d | %11d | %5d | %11.1f | %12.1f | %10.1f | %7.1f | %7.1f | %s |\n' \
    "$1" "$2" "$(number candidates)" "$(number generalised)" \
    "$(number final)" "$(number enumerate_s)" "$(number generalise_s)" \
    "$(number minimise_s)" "$(number wall_s)" "$(number cpu_s)" \
    "$(word stop_reason)"
}
files() {
  printf '\n| %-13s | d | %10s | %11s | %5s | %11s | %12s | %10s | %7s | %7s | end |\n' \
    file candidates generalised final enumerate_s generalise_s minimise_s wall_s cpu_s
  printf '|---|---|---|---|---|---|---|---|---|---|---|\n'
  rules taso-2d-small 3 5m
  rules taso-full 3 5m
  [ "$mode" != --quick ] || return 0
  rules default 3 15m
  rules taso-full 4 20m --connected
}

# covered FILE: the sums of `isomer rules covers` as a row.
covered() {
  local file=${ISOMER_SHARED:-../shared}/data/rule_files/$1.pb sums
  if [ ! -e "$file" ]; then
    echo "no rules in $file"
    return
  fi
  sums=$(bazel-bin/tools/isomer rules covers "$file" --by rules/generated.rules \
    --by rules/axioms.rules | tail -1) || true
  count() { sed -n "s/.*[ :]\([0-9]*\) $1.*/\1/p;t;s/.*/0/p" <<<"$sums" | head -1; }
  printf '| %-30s | %5d | %7d | %5d | %10d | %7d |\n' "$1" "${sums%% *}" \
    $(($(count same) + $(count instance) + $(count derived))) \
    "$(count false)" "$(count ill_formed)" "$(count missing)"
}
covers() {
  printf '\n| %-30s | rules | covered | false | ill_formed | missing |\n' covers
  printf '|---|---|---|---|---|---|\n'
  covered taso_shipped_133
  covered taso_generator_full_depth3_619
  covered unity_640
}

{
  enumeration
  files
  covers
} | tee build/figures/gen_tables.txt
[ "$mode" = --quick ] || python3 bench/gen_goals.py build/figures/gen_tables.txt
