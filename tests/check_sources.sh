#!/usr/bin/env bash
# Fails when the Bazel and the CMake build disagree about what the library and
# the tool are made of, or when a source file belongs to no Bazel target.
#
#   tests/check_sources.sh CMAKE_BUILD_FOLDER
set -euo pipefail
LC_ALL=C
export LC_ALL
cd "$(dirname "${BASH_SOURCE[0]}")/.."
listing=$1/sources.txt
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Labels of source files, //ops:attr.cc, as paths, ops/attr.cc.
as_paths() {
  sed -n 's|^//||; s|^:||; s|:|/|; /\.\(cc\|h\|inc\)$/p' | sort -u
}

# Bazel's side: what is not for tests alone and is neither a program apart from
# the tool nor glue.
bazel query --noshow_progress "
  let built = kind('cc_library rule', //...)
      + filter('^//tools:', kind('cc_binary rule', //...)) in
  let other = filter('^//(bench|examples|tests|third_party)[:/]', //...)
      + attr(testonly, 1, //...) + attr(tags, 'fuzz', //...) in
  kind('source file', labels(srcs, \$built except \$other))" \
  2>"$scratch/query.log" | as_paths | grep '\.cc$' >"$scratch/bazel" ||
  { cat "$scratch/query.log" >&2; exit 1; }
grep . "$listing" | sort -u >"$scratch/cmake"

bazel query --noshow_progress "kind('source file', deps(//...))" \
  2>"$scratch/query.log" | as_paths >"$scratch/known" ||
  { cat "$scratch/query.log" >&2; exit 1; }
tests/tree_files.sh '*.cc' '*.h' '*.inc' | grep -v '^examples/' >"$scratch/tree"

status=0
# report A B TEXT: complains about the lines of A that are not in B.
report() {
  local file
  for file in $(comm -23 "$1" "$2"); do
    echo "$file: $3"
    status=1
  done
}
report "$scratch/bazel" "$scratch/cmake" "built by Bazel, not by CMake"
report "$scratch/cmake" "$scratch/bazel" "built by CMake, not by Bazel"
report "$scratch/tree" "$scratch/known" "in no Bazel target"
exit "$status"
