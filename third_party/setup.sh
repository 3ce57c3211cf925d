# shellcheck shell=bash disable=SC2034,SC2086,SC2116
# Sets a machine up to build and test Isomer; quickstart.sh and test.sh source
# it from the top of the tree. Installs only what is missing, so that a second
# run takes no time. Everything it cannot do is one line on stderr and a
# non-zero exit.

# What a build needs. The names are those of Debian 12 and Ubuntu 24.04.
BUILD_PACKAGES="g++ bazel-bootstrap bazel-platforms bazel-rules-java
  bazel-rules-proto bazel-skylib libabsl-dev libjemalloc-dev libopenblas-dev
  libprotobuf-dev libz3-dev protobuf-compiler python3-venv"

# What the tests need besides: GoogleTest and its kin, clang for the sanitizers
# and the fuzzers, CMake for the second build, the ONNX project's own tests.
TEST_PACKAGES="clang cmake libbenchmark-dev libclang-rt-dev libgmock-dev
  libgtest-dev libonnx-testdata lld llvm ninja-build"

# Optimised builds of this tree and of copies of it share their results.
export DISK_CACHE=${ISOMER_DISK_CACHE:-$PWD/build/bazel_cache}

# The bundled model that the scripts show Isomer on.
export MODEL=models/nasrnn_fp32_b1_script.onnx

# die MESSAGE: one line about what is wrong, then the end.
die() {
  echo "$(basename "$0"): $*" >&2
  exit 1
}

# show_seconds: counts on the terminal until it is killed.
show_seconds() {
  local start=$SECONDS
  while sleep 1; do
    printf '\r%5d s \r' $((SECONDS - start))
  done
}

# run_logged LOG COMMAND...: runs the command with its output in the file LOG,
# and with a count of seconds where someone is watching.
run_logged() {
  local log=$1 status=0 ticker=""
  shift
  mkdir -p "$(dirname "$log")"
  if [ -t 1 ]; then
    show_seconds &
    ticker=$!
  fi
  "$@" >"$log" 2>&1 || status=$?
  if [ -n "$ticker" ]; then
    kill "$ticker"
    wait "$ticker" 2>/dev/null || true
    printf '        \r'
  fi
  return "$status"
}

# missing_packages NAME...: prints those that are not installed.
missing_packages() {
  local installed name
  installed=" $(dpkg-query -W -f '${Package} ${db:Status-Abbrev}\n' "$@" \
    2>/dev/null | awk '$2 == "ii" {print $1}' | tr '\n' ' ')"
  for name in "$@"; do
    case $installed in
      *" $name "*) ;;
      *) echo "$name" ;;
    esac
  done
}

# as_root COMMAND...: runs the command with the rights that apt needs.
as_root() {
  if [ "$(id -u)" -eq 0 ]; then
    "$@"
  else
    sudo "$@"
  fi
}

# setup_system NAME...: installs the packages that are missing.
setup_system() {
  local missing name unknown="" log=build/log/apt.log
  command -v apt-get >/dev/null && command -v dpkg-query >/dev/null ||
    die "there is no apt here; install what these Debian packages hold," \
      "then build with Bazel or CMake: $(echo "$@")"
  missing=$(missing_packages "$@")
  [ -n "$missing" ] || return 0
  [ "$(id -u)" -eq 0 ] || command -v sudo >/dev/null ||
    die "root or sudo is needed to install: $(echo $missing)"
  echo "installing $(echo "$missing" | wc -l) packages: $(echo $missing)"
  run_logged "$log" as_root apt-get update ||
    die "apt-get update failed: $(tail -n 1 "$log")"
  for name in $missing; do
    apt-cache show "$name" >/dev/null 2>&1 || unknown="$unknown $name"
  done
  [ -z "$unknown" ] ||
    die "apt knows no package$unknown; they are in Debian 12 (main) and" \
      "Ubuntu 24.04 (main and universe)"
  run_logged "$log" as_root env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y --no-install-recommends $missing ||
    die "apt-get install failed: $(grep '^E:' "$log" | head -n 1) (see $log)"
}

# setup_python FILE...: a virtual environment .venv with the packages that the
# requirements files pin. Its stamp remembers which ones it was made from.
setup_python() {
  local stamp=.venv/requirements.stamp log=build/log/pip.log python wanted file
  local arguments=()
  # apt's python3-venv belongs to apt's python3, whatever is first on the path.
  python=/usr/bin/python3
  [ -x "$python" ] || python=python3
  wanted=$("$python" --version && cat "$@")
  if [ -x .venv/bin/python ] && [ -f "$stamp" ]; then
    # A stamp that holds more than is wanted (the tests' packages) is fine.
    case "$(cat "$stamp")" in "$wanted"*) return 0 ;; esac
  fi
  for file in "$@"; do
    arguments+=(-r "$file")
  done
  echo "installing Python packages into .venv"
  run_logged "$log" "$python" -m venv --clear .venv ||
    die "cannot make .venv: $(tail -n 1 "$log")"
  run_logged "$log" .venv/bin/python -m pip install \
    --disable-pip-version-check "${arguments[@]}" ||
    die "pip failed: $(grep -m 1 '^ERROR\|^Could not' "$log") (see $log)"
  echo "$wanted" >"$stamp"
}

# copy_tool: what Bazel built last, with --config=opt, becomes bin/isomer.
copy_tool() {
  mkdir -p bin
  if ! cmp -s bazel-bin/tools/isomer bin/isomer; then
    cp -f bazel-bin/tools/isomer bin/isomer
  fi
}

# build_tool: builds bin/isomer, optimised.
build_tool() {
  local log=build/log/build.log
  run_logged "$log" bazel build --config=opt "--disk_cache=$DISK_CACHE" \
    //tools:isomer ||
    die "the build failed: $(grep -m 1 'error:\|^ERROR\|^FATAL' "$log") (see $log)"
  copy_tool
}
