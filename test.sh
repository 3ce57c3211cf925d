#!/usr/bin/env bash
# Sets the machine up like quickstart.sh, then runs every test:
#
#   ./test.sh [--full]
#
# --full adds the tests tagged "full" and fuzzes for five minutes a target, from
# a random seed, instead of twenty seconds from a fixed one. Each step is one
# line; its output is in build/log, its results, one line per test, in
# build/results. The last line counts them.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
. third_party/setup.sh

[ -z "${ISOMER_TESTING:-}" ] ||
  die "called by itself (by a block of the README that wants no-test?)"
export ISOMER_TESTING=1

# For tests that compare with ONNX Runtime, and for those that use models and
# rule files of other projects, which may lie beside the tree.
export ISOMER_PYTHON=$PWD/.venv/bin/python
if [ -d ../shared/data ]; then
  export ISOMER_SHARED=${ISOMER_SHARED:-$(cd ../shared && pwd)}
fi

EXCLUDED_TAGS=-full
FUZZ_SECONDS=20 FUZZ_SEED=1
case "$*" in
  "") ;;
  --full) EXCLUDED_TAGS="" FUZZ_SECONDS=300 FUZZ_SEED=0 ;;
  *) die "usage: ./test.sh [--full]" ;;
esac
export EXCLUDED_TAGS FUZZ_SECONDS FUZZ_SEED

# bazel_tests NAME OPTION...: runs the Bazel tests and records each of them.
# What the failed ones say stands at the end.
bazel_tests() {
  local name=$1 status=0 logs label
  shift
  timeout --foreground 2400 bazel test --keep_going "$@" //... \
    >build/log/bazel_"$name".log 2>&1 || status=$?
  cat build/log/bazel_"$name".log
  logs=$(bazel info bazel-testlogs "$@" 2>/dev/null)
  .venv/bin/python tests/bazel_results.py build/log/bazel_"$name".log "$logs" \
    >build/results/"$name"
  sed -n 's|^FAILED //\([^ ]*\) .*|\1|p' build/results/"$name" |
    while IFS= read -r label; do
      echo "$label:"
      tail -n 40 "$logs/${label/://}/test.log" || true
    done
  return "$status"
}

step_optimised() {
  bazel_tests optimised --config=opt "--disk_cache=$DISK_CACHE" \
    "--test_tag_filters=$EXCLUDED_TAGS"
}

# The benchmarks and other programs that no test builds.
step_programs() {
  local programs
  programs=$(bazel query --noshow_progress "kind('cc_binary rule', //...)
    except attr(tags, 'manual', //...)")
  timeout --foreground 900 bazel build --config=opt "--disk_cache=$DISK_CACHE" \
    $programs
  copy_tool
}

step_sanitized() {
  bazel_tests sanitized --config=asan \
    "--test_tag_filters=-no_asan${EXCLUDED_TAGS:+,$EXCLUDED_TAGS}"
}

# Library, tool, installation, and programs in C++ and C that use the installed
# package: they make of a model what the tool makes of it.
# The library with clang, which takes half of gcc's time without optimisation;
# the programs with the machine's own compiler.
step_cmake() {
  local prefix=$PWD/build/prefix program
  cmake -G Ninja -S . -B build/cmake -DISOMER_WERROR=ON \
    -DCMAKE_CXX_COMPILER=clang++ -DCMAKE_CXX_FLAGS_RELEASE=-O0
  timeout --foreground 900 ninja -C build/cmake
  rm -rf "$prefix"
  cmake --install build/cmake --prefix "$prefix"
  "$prefix"/bin/isomer --help
  "$prefix"/bin/isomer optimize "$MODEL" build/optimized.onnx --expansions 20
  if cmp "$MODEL" build/optimized.onnx; then return 1; fi
  for program in embed_cpp embed_c; do
    rm -rf "build/$program"
    cmake -G Ninja -S "examples/$program" -B "build/$program" \
      "-DCMAKE_PREFIX_PATH=$prefix"
    timeout --foreground 120 ninja -C "build/$program"
    "build/$program/$program" "$MODEL" build/embedded.onnx
    cmp build/optimized.onnx build/embedded.onnx
  done
}

step_sources() {
  tests/check_sources.sh build/cmake
}

step_format() {
  tests/tree_files.sh '*.cc' '*.h' |
    xargs .venv/bin/clang-format --dry-run -Werror
}

# In a copy of the tree, with the optimised build in reach through the cache.
step_readme() {
  local copy=build/readme_tree status=0
  rm -rf "$copy"
  mkdir -p "$copy"
  tests/tree_files.sh | tr '\n' '\0' | xargs -0 cp --parents -t "$copy"
  ln -s "$PWD/.venv" "$copy/.venv"
  (
    export ISOMER_DISK_CACHE=$DISK_CACHE
    cd "$copy"
    timeout --foreground 900 .venv/bin/python tests/readme_blocks.py ||
      status=$?
    bazel shutdown
    exit "$status"
  ) >build/log/readme_blocks.log 2>&1 || status=$?
  cat build/log/readme_blocks.log
  grep -E '^(PASSED|FAILED|SKIPPED)' build/log/readme_blocks.log \
    >build/results/readme
  return "$status"
}

# Every target tagged "fuzz", from the corpus in the tree if there is one.
step_fuzz() {
  local targets target name corpus binaries log failed=() status=0
  targets=$(bazel query --noshow_progress \
    "attr(tags, 'fuzz', kind('cc_binary rule', //...))")
  if [ -z "$targets" ]; then return; fi
  timeout --foreground 900 bazel build --config=asan $targets
  binaries=$(bazel info --config=asan bazel-bin 2>/dev/null)
  for target in $targets; do
    name=${target#//}
    name=${name/:/\/}
    corpus=build/corpus/$name
    log=build/log/${name/\//_}.log
    mkdir -p "$corpus"
    if timeout --foreground $((FUZZ_SECONDS + 60)) "$binaries/$name" \
      -max_total_time="$FUZZ_SECONDS" -seed="$FUZZ_SEED" -timeout=10 \
      -rss_limit_mb=4096 -artifact_prefix="build/corpus/" \
      "$corpus" $(seeds "$name") \
      >"$log" 2>&1; then
      echo "PASSED $target" >>build/results/fuzz
    else
      echo "FAILED $target" >>build/results/fuzz
      failed+=("$log")
      status=1
    fi
  done
  # What a failure says stands at the end.
  for log in "${failed[@]}"; do tail -n 40 "$log"; done
  return "$status"
}

# seeds PACKAGE/NAME: the folder of the first inputs of a fuzz target, its own
# or that of its package.
seeds() {
  local folder
  for folder in "${1%/*}/fuzz_corpus/${1##*/}" "${1%/*}/fuzz_corpus"; do
    if [ -d "$folder" ]; then
      echo "$folder"
      return
    fi
  done
}

# step NAME TITLE: runs step_NAME in a shell of its own that stops at the
# first error, and reports it in one line.
step() {
  local name=$1 title=$2 status=0 start=$SECONDS results=build/results/$1
  printf '%s ...\n' "$title"
  run_logged "build/log/$name.log" bash -euo pipefail -c "step_$name" ||
    status=$?
  touch "$results"
  if [ "$status" -ne 0 ] && ! grep -q '^FAILED' "$results"; then
    echo "FAILED $title (exit code $status)" >>"$results"
  elif [ ! -s "$results" ]; then
    echo "PASSED $title" >>"$results"
  fi
  if grep -q '^FAILED' "$results"; then status=1; fi
  printf '  %s: %d passed, %d failed, %d skipped in %d s\n' \
    "$( [ "$status" -eq 0 ] && echo ok || echo FAILED )" \
    "$(count PASSED "$name")" "$(count FAILED "$name")" \
    "$(count SKIPPED "$name")" $((SECONDS - start))
  if [ "$status" -ne 0 ]; then
    grep '^FAILED' "$results" | sed 's/^/  /'
    grep -v ' PASSED in ' "build/log/$name.log" | tail -n 60 | cut -c -200 |
      sed 's/^/  | /'
  fi
}

# count WORD [NAME]: how many results say so, of one step or of all.
count() {
  cat build/results/${2:-*} | grep -c "^$1" || true
}

rm -rf build/results
mkdir -p build/log build/results
# Bazel would search links that another output base left for packages.
find . -maxdepth 1 -name 'bazel-*' -type l -delete
setup_system $BUILD_PACKAGES $TEST_PACKAGES
setup_python third_party/requirements.txt tests/requirements.txt
export -f bazel_tests step_optimised step_programs step_sanitized step_cmake \
  step_sources step_format step_readme step_fuzz seeds copy_tool

step format "clang-format"
step optimised "Bazel tests, optimised"
step programs "programs and benchmarks, built"
step sanitized "Bazel tests, AddressSanitizer and UBSan"
step cmake "CMake: library, tool, installation, embedding project"
step sources "Bazel and CMake agree on the sources"
step fuzz "fuzzing, $FUZZ_SECONDS s a target"
step readme "README's code blocks"

if grep -qh '^SKIPPED' build/results/*; then
  echo "skipped:"
  grep -h '^SKIPPED' build/results/* | sed 's/^SKIPPED: /  /'
fi
failed=$(count FAILED)
echo "$(count PASSED) passed, $failed failed, $(count SKIPPED) skipped"
[ "$failed" -eq 0 ]
