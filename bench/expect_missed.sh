# Sourced by tests of goals: figures that are good enough meet all of them, and
# each that is not misses its own. `goals` names the script, relative to bench.
goals=$PWD/bench/$goals
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# all_met: the figures in tables.txt meet all goals; counts them in `rows`.
all_met() {
  python3 "$goals" tables.txt >out.txt || fail "$(cat out.txt)"
  rows=$(grep -c '| yes |$' out.txt)
}

# missed N TEXT COMMAND...: in what the command makes of the tables N goals are
# missed; a row that says TEXT is one of them.
missed() {
  local number=$1 text=$2 code=0
  shift 2
  "$@" tables.txt >changed.txt
  python3 "$goals" changed.txt >out.txt || code=$?
  [ "$code" -eq "$number" ] || fail "$code are missed after $*: $(cat out.txt)"
  grep MISSED out.txt | grep -q -- "$text" || fail "$text: $(cat out.txt)"
}
