"""Turns the outcome of `bazel test` into one line per test.

  bazel_results.py LOG TESTLOGS_FOLDER

LOG holds what `bazel test` printed. Prints `PASSED //a:b` or `FAILED //a:b
(STATUS)` per target, and `SKIPPED: //a:b: REASON` per test case that skipped
itself: GoogleTest's own record of it where there is one, else the lines
`SKIPPED: REASON` that the test printed.
"""

import pathlib
import re
import sys
import xml.etree.ElementTree

SUMMARY = re.compile(
    r"^(//\S+)\s+(?:\(cached\) )?"
    r"(PASSED|FLAKY|FAILED TO BUILD|FAILED|TIMEOUT|INCOMPLETE|NO STATUS|"
    r"REMOTE FAILURE|BLAZE HALTED BEFORE TESTING)\b"
)


def skipped_by_googletest(path):
    """The reasons in a test.xml that GoogleTest wrote; None if it did not."""
    try:
        root = xml.etree.ElementTree.parse(path).getroot()
    except (OSError, xml.etree.ElementTree.ParseError):
        return None
    if root.get("name") != "AllTests":
        return None
    reasons = []
    for case in root.iter("testcase"):
        for skipped in case.iter("skipped"):
            # The message starts with the line of the source file.
            message = (skipped.get("message") or "").strip().split("\n")[-1]
            message = message.removeprefix("SKIPPED: ")
            name = f"{case.get('classname')}.{case.get('name')}"
            reasons.append(f"{name}: {message}")
    return reasons


def skipped_by_text(path):
    """The reasons in the lines `SKIPPED: REASON` of a test.log."""
    try:
        text = path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return []
    return re.findall(r"^SKIPPED: (.*)$", text, re.MULTILINE)


def main():
    log, testlogs = sys.argv[1], pathlib.Path(sys.argv[2])
    with open(log, encoding="utf-8", errors="replace") as lines:
        outcomes = [m.groups() for m in map(SUMMARY.match, lines) if m]
    for label, status in outcomes:
        if status != "PASSED":
            print(f"FAILED {label} ({status.lower()})")
            continue
        print(f"PASSED {label}")
        folder = testlogs / label[2:].replace(":", "/")
        reasons = skipped_by_googletest(folder / "test.xml")
        if reasons is None:
            reasons = skipped_by_text(folder / "test.log")
        for reason in reasons:
            print(f"SKIPPED: {label}: {reason}")


if __name__ == "__main__":
    main()
