#!/usr/bin/env bash
# Builds with CMake on a machine with an NVIDIA GPU and runs what needs one:
#
#   ./test_gpu.sh [--sanitize] [--corpus] [--bench [BATCH...]] [--build FOLDER]
#
# First the GPU tests. --sanitize runs those of our own kernels under
# compute-sanitizer as well (memcheck and racecheck), with kernels that the
# tests have compiled: each process within 900 seconds. --corpus compares
# the results of every model in models/, with random weights, as it is and
# optimised, with the CPU's. --bench measures against PyTorch, at batch 1 and
# 16, and says what of that is to be reached, unless told otherwise. All that is
# printed is also in build/gpu/test_gpu.txt, the figures in build/gpu. --build
# takes a CMake build that is there already, or programs that
# third_party/gpu_build.sh built.
#
# Where Abseil, protobuf's headers or GoogleTest are not installed,
# third_party/gpu_kit.sh fetches Debian's packages on a machine with a network;
# unpacked in build/kit they are found here.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

sanitize="" corpus="" bench="" batches=() build=build/gpu/cmake made=""
while [ $# -gt 0 ]; do
  case "$1" in
    --sanitize) sanitize=1 ;;
    --corpus) corpus=1 ;;
    --bench) bench=1 ;;
    --build) build=${2:?a folder}; made=1; shift ;;
    [0-9]*) batches+=("$1") ;;
    *)
      echo "usage: ./test_gpu.sh [--sanitize] [--corpus]" \
        "[--bench [BATCH...]] [--build FOLDER]" >&2
      exit 2
      ;;
  esac
  shift
done
[ ${#batches[@]} -gt 0 ] || batches=(1 16)

out=build/gpu
mkdir -p "$out"
exec > >(tee "$out/test_gpu.txt") 2>&1
# What was started ends with this.
trap 'kill $(jobs -p) 2>/dev/null || true' EXIT
trap 'exit 130' INT TERM

nvidia-smi --query-gpu=name,driver_version --format=csv,noheader ||
  { echo "test_gpu.sh: there is no NVIDIA GPU here" >&2; exit 1; }
commit=${ISOMER_COMMIT:-$(git rev-parse --short HEAD 2>/dev/null || echo "?")}
echo "$(date -u +%Y-%m-%d), commit $commit, $(nvcc --version | tail -n 1)"

if [ -z "$made" ]; then
  options=(-DCMAKE_BUILD_TYPE=Release -DISOMER_GPU_TESTS=ON)
  # Libraries of the kit need each other: the run path must hold for them too.
  [ ! -d build/kit/usr ] ||
    options+=("-DCMAKE_PREFIX_PATH=$PWD/build/kit/usr"
      "-DCMAKE_EXE_LINKER_FLAGS=-Wl,--disable-new-dtags")
  cmake -S . -B "$build" "${options[@]}" >"$out/cmake.log"
fi
[ ! -f "$build/CMakeCache.txt" ] ||
  cmake --build "$build" -j "$(nproc)" >>"$out/cmake.log"
echo "built after $SECONDS s"

# All tests at a time: most of what they wait for is the compiler.
shards=6 names=() pids=() failed=0
# start NAME COMMAND...: in the background, its output in NAME.txt.
start() {
  names+=("$1")
  "${@:2}" >"$out/$1.txt" 2>&1 &
  pids+=($!)
}
# finish: waits for all of them.
finish() {
  for ((i = 0; i < ${#pids[@]}; ++i)); do
    log=$out/${names[i]}.txt
    if wait "${pids[i]}"; then
      echo "${names[i]}: $(grep -c '^\[       OK' "$log") tests passed"
    else
      echo "${names[i]}: FAILED"
      tail -n 40 "$log"
      failed=1
    fi
    grep -h 'SUMMARY' "$log" || true
  done
  names=() pids=()
}
export ISOMER_TEST_CACHE=$out/test_kernels
rm -rf "$ISOMER_TEST_CACHE"
for ((i = 0; i < shards; ++i)); do
  start "tests_$i" env GTEST_TOTAL_SHARDS=$shards GTEST_SHARD_INDEX=$i \
    "$build/executor_test"
done
start gpu_test "$build/gpu_test"
finish
echo "tested after $SECONDS s"
# Beside the sanitizers, which leave cores idle towards their end.
compared=()
if [ -n "$corpus" ]; then
  # compare MODEL: a line, and whether results agree; a model with an operator
  # that has no kernel says so.
  compare() {
    local name log code=0
    name=$(basename "$1" .onnx)
    log=$out/corpus/$name
    { "$build/isomer" randomize "$1" "$log.onnx" &&
      "$build/isomer" bench "$log.onnx" --check --no-tune --budget 2s; } \
      >"$log.txt" 2>&1 || code=$?
    rm -f "$log".onnx*
    if [ "$code" = 0 ]; then
      echo "$name: $(grep 'error against' "$log.txt")"
    elif grep -q 'has no kernel' "$log.txt"; then
      echo "$name: skipped: $(tail -n 1 "$log.txt")"
    else
      echo "$name: FAILED: $(tail -n 1 "$log.txt")"
      return 1
    fi
  }
  mkdir -p "$out/corpus"
  for model in models/*.onnx; do
    compare "$model" &
    compared+=($!)
  done
fi

if [ -n "$sanitize" ]; then
  # An error of a call is an error of a test. racecheck loses track of what
  # several threads of a process launch: several processes share what the tests
  # compare, each with one thread.
  # watch TOOL PARTS FILTER: the tests, in so many processes.
  watch() {
    for ((i = 0; i < $2; ++i)); do
      start "$1_$i" timeout 900 env "ISOMER_TEST_SHARE=$i/$2" \
        compute-sanitizer --error-exitcode 1 --report-api-errors no \
        --tool "$1" "$build/executor_test" "--gtest_filter=$3"
    done
  }
  # Not those of what libraries do, and of time.
  left='-*OfTheLibrary:*ByCudnn:*Ways*:*SideBySide:*EveryTime:*Steps*:*Clock*'
  watch memcheck 5 "$left"
  watch racecheck 11 "$left:*OneRow:*EachOther"
  finish
fi
for pid in "${compared[@]}"; do wait "$pid" || failed=1; done
[ -z "$sanitize$corpus" ] || echo "watched and compared after $SECONDS s"

if [ -n "$bench" ]; then
  python3 bench/h200_vs_pytorch.py --isomer "$build/isomer" --jobs 14 \
    --batch "${batches[@]}" --budget 3s --check \
    --json "$out/figures.json" | tee "$out/figures.txt" || failed=1
  # What is to be reached is said for these.
  [ "${batches[*]}" != "1 16" ] ||
    python3 bench/h200_goals.py "$out/figures.txt" || failed=1
fi
echo "done after $SECONDS s"
exit "$failed"
