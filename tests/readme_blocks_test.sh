#!/usr/bin/env bash
# tests/readme_blocks.py: runs what is to be run, and sees what fails.
set -euo pipefail
script=$TEST_SRCDIR/$TEST_WORKSPACE/tests/readme_blocks.py
cd "$TEST_TMPDIR"
fail() {
  echo "FAILED: $*"
  cat out
  exit 1
}

cat >README.md <<'END'
```sh
touch first
```
Text about it.
<!-- no-test: wants a GPU -->

```sh
touch second
```
```text
touch third
```
<!-- no-test -->
```sh
false
```
END
python3 "$script" >out || fail "a good README fails"
[ -e first ] || fail "the first block did not run"
[ ! -e second ] || fail "a block marked no-test ran"
[ ! -e third ] || fail "a block of text ran"
grep -q '^PASSED: README.md:1 ' out || fail "no line about the first block"
grep -q '^SKIPPED: README.md:7: wants a GPU$' out || fail "no reason"
grep -q '^SKIPPED: README.md:14: marked no-test$' out || fail "not skipped"

# wrong NAME: the README on stdin must fail.
wrong() {
  cat >README.md
  if python3 "$script" >out; then fail "passes: $1"; fi
}
printf '```sh\nfalse\ntrue\n```\n' | wrong "an error before the end"
printf '```sh\nfalse | cat\n```\n' | wrong "an error in a pipe"
printf '```sh\necho "$undefined"\n```\n' | wrong "an unset variable"
printf '```sh\ntrue\n' | wrong "a block that is not closed"
printf '<!-- no test -->\n```sh\nfalse\n```\n' | wrong "a misspelt marker"
