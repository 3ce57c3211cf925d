"""Runs the shell blocks of README.md, each in bash, in the current folder.

A block that no one can run unattended has `<!-- no-test -->` or
`<!-- no-test: REASON -->` before it and is reported as skipped. Prints one
line per block: `PASSED`, `FAILED` or `SKIPPED`, with the line of the README
that it starts at.
"""

import os
import re
import signal
import subprocess
import sys
import time

LIMIT_S = 300
FENCE = re.compile(r"^```(\w*)\s*$")
NO_TEST = re.compile(r"^<!-- no-test(?:: (.+))? -->$")


def blocks(lines):
    """Yields (line number, text, reason not to run or None) per sh block."""
    start, language, body, reason, previous = 0, None, [], None, ""
    for number, line in enumerate(lines, 1):
        fence = FENCE.match(line)
        if language is None and fence:
            start, language, body = number, fence.group(1), []
            marker = NO_TEST.match(previous.strip())
            reason = (marker.group(1) or "marked no-test") if marker else None
        elif language is not None and fence:
            if language == "sh":
                yield start, "\n".join(body) + "\n", reason
            language = None
        elif language is not None:
            body.append(line)
        if line.strip():
            previous = line
    if language is not None:
        yield start, "echo 'the block is never closed' >&2; exit 1\n", None


def run(text):
    """Returns (ok, output) of the block in a shell that stops at errors."""
    shell = subprocess.Popen(
        ["bash", "-euo", "pipefail", "-c", text],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    )
    try:
        output, _ = shell.communicate(timeout=LIMIT_S)
    except subprocess.TimeoutExpired:
        # The block's own children belong to its session.
        os.killpg(shell.pid, signal.SIGKILL)
        output, _ = shell.communicate()
        return False, f"over {LIMIT_S} s\n{output.decode(errors='replace')}"
    return shell.returncode == 0, output.decode(errors="replace")


def main():
    with open("README.md", encoding="utf-8") as readme:
        lines = readme.read().split("\n")
    failed = False
    for number, text, reason in blocks(lines):
        if reason is not None:
            print(f"SKIPPED: README.md:{number}: {reason}", flush=True)
            continue
        started = time.monotonic()
        ok, output = run(text)
        seconds = time.monotonic() - started
        verdict = "PASSED" if ok else "FAILED"
        print(f"{verdict}: README.md:{number} in {seconds:.1f} s", flush=True)
        if not ok:
            failed = True
            print(text + "---\n" + output, flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
