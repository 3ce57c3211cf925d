#!/usr/bin/env bash
# Prints the generator's table: enumeration, fingerprints and confirmation at
# the other sizes, each row in a process of its own so that memory is its own.
#
#   bench/gen_figures.sh [--quick]     without taso-full at depth 4
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. third_party/setup.sh

run_logged build/log/gen_figures.log bazel build --config=opt \
  "--disk_cache=$DISK_CACHE" //bench:gen_figures ||
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
