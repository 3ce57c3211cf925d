#!/usr/bin/env bash
# Prints the generator's tables: enumeration, fingerprints and confirmation at
# the other sizes, each row in a process of its own so that memory is its own;
# then what generalising, proving and minimising take, with two threads.
#
#   bench/gen_figures.sh [--quick]     without taso-full at depth 4 and `default`
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. third_party/setup.sh

run_logged build/log/gen_figures.log bazel build --config=opt \
  "--disk_cache=$DISK_CACHE" //bench:gen_figures //tools:isomer ||
  die "the build failed (see build/log/gen_figures.log)"

printf '| %-13s | d | %-9s | t | %10s | %11s | %10s | %9s | %7s | %7s | %7s | %6s |\n' \
  preset outputs graphs prints classes confirmed rules wall_s cpu_s MB
printf '|---|---|---|---|---|---|---|---|---|---|---|---|\n'
row() { bazel-bin/bench/gen_figures "$@"; }
row taso-full 3
row taso-full 3 2
row taso-full 3 connected
row taso-2d-small 4
row taso-2d-small 4 2
row taso-2d-small 4 connected
if [ "${1:-}" != --quick ]; then
  row taso-full 4 connected
  row taso-full 4
  row taso-full 4 2
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
number() { sed -n "s/^ *\"$1\": \([0-9.]*\).*/\1/p" "$scratch/f.json"; }
rules() {
  bazel-bin/tools/isomer gen --preset "$1" --depth "$2" --threads 2 \
    --out "$scratch/f.rules" --stats "$scratch/f.json" >"$scratch/log" 2>&1 ||
    die "isomer gen --preset $1 failed: $(tail -1 "$scratch/log")"
  printf '| %-13s | %s | %10d | %11d | %5d | %11.1f | %12.1f | %10.1f | %7.1f |\n' \
    "$1" "$2" "$(number candidates)" "$(number generalised)" \
    "$(number final)" "$(number enumerate_s)" "$(number generalise_s)" \
    "$(number minimise_s)" "$(number cpu_s)"
}
printf '\n| %-13s | d | %10s | %11s | %5s | %11s | %12s | %10s | %7s |\n' \
  preset candidates generalised rules enumerate_s generalise_s minimise_s cpu_s
printf '|---|---|---|---|---|---|---|---|---|\n'
rules taso-2d-small 3
rules taso-full 3
if [ "${1:-}" != --quick ]; then rules default 3; fi
