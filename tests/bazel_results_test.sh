#!/usr/bin/env bash
# tests/bazel_results.py: every outcome of Bazel becomes the right line.
set -euo pipefail
cd "$TEST_TMPDIR"
mkdir -p logs/ops/cast_test logs/tools/shell_test

cat >summary <<'END'
INFO: Elapsed time: 3.2s, Critical Path: 2.1s
//graph:hash_test                                              TIMEOUT in 60.0s
//ops:cast_test                                       (cached) PASSED in 0.1s
//ops:dim_test                                        FAILED TO BUILD
//ops:term_test                                          FAILED in 0.3s
  /tmp/testlogs/ops/term_test/test.log
//runtime:flaky_test                       FLAKY, failed in 1 out of 2 in 0.3s
//tools:shell_test                                       PASSED in 4.0s
Executed 5 out of 6 tests: 2 tests pass and 4 fail.
END
cat >logs/ops/cast_test/test.xml <<'END'
<?xml version="1.0" encoding="UTF-8"?>
<testsuites tests="2" failures="0" name="AllTests">
  <testsuite name="Cast" tests="2">
    <testcase name="Half" classname="Cast" result="completed" />
    <testcase name="Data" classname="Cast" result="skipped">
      <skipped message="ops/cast_test.cc:12&#x0A;SKIPPED: no ISOMER_SHARED" />
    </testcase>
  </testsuite>
</testsuites>
END
# GoogleTest's record counts, not what the test printed as well.
echo "SKIPPED: no ISOMER_SHARED" >logs/ops/cast_test/test.log
cat >logs/tools/shell_test/test.xml <<'END'
<testsuites>
  <testsuite name="tools/shell_test" tests="1"></testsuite>
</testsuites>
END
printf 'hello\nSKIPPED: no onnxruntime\n' >logs/tools/shell_test/test.log

cat >expected <<'END'
FAILED //graph:hash_test (timeout)
PASSED //ops:cast_test
SKIPPED: //ops:cast_test: Cast.Data: no ISOMER_SHARED
FAILED //ops:dim_test (failed to build)
FAILED //ops:term_test (failed)
FAILED //runtime:flaky_test (flaky)
PASSED //tools:shell_test
SKIPPED: //tools:shell_test: no onnxruntime
END
python3 "$TEST_SRCDIR/$TEST_WORKSPACE/tests/bazel_results.py" summary logs |
  diff -u expected -
