#!/usr/bin/env bash
# Prints the files of the tree, one per line: those that git knows or would
# take, or, where there is no git, all but what the builds made.
#
#   tests/tree_files.sh [PATTERN...]      for example '*.cc'
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# A tree that belongs to another user (a mounted folder, sudo) is fine here.
git=(git -c 'safe.directory=*')
if [ "$("${git[@]}" rev-parse --show-toplevel 2>/dev/null)" = "$PWD" ]; then
  "${git[@]}" ls-files -co --exclude-standard -- "$@"
else
  find . \( -path ./build -o -path ./bin -o -path ./.venv -o -path ./.git \) \
    -prune -o -type f -printf '%P\n'
fi | LC_ALL=C sort -u | while read -r file; do
  if [ ! -f "$file" ]; then continue; fi
  if [ "$#" -eq 0 ]; then echo "$file"; fi
  for pattern in "$@"; do
    # The right side is a pattern.
    if [[ $file == $pattern ]]; then echo "$file"; fi
  done
done
