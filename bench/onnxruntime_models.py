"""Models optimised for ONNX Runtime, timed in ONNX Runtime.

usage: onnxruntime_models.py ISOMER FOLDER [--only REGEX] [--seconds N] [--threads N]

Each model of FOLDER is given random weights and optimised for the target
cpu-onnxruntime; an fp16 model is converted to fp32 before. The original and the
result run in turns for N seconds, and of each the fastest run counts: what else
the machine does can only make a run slower. Prints a row of a table per model:
milliseconds, how many nodes ONNX Runtime makes of it, and how many of those are
its own fusions. The exit code is the number of models that run slower than 1.03
times their original, or have lost fusions and do not run in 0.97 of its time.
"""
import argparse
import os
import re
import sys
import tempfile

import onnx

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tests"))
from models_test import inputs_for, run_isomer  # noqa: E402
from optimized_models_test import FASTER, fastest, fused_counts, lost_fusions, randomized  # noqa: E402

MOST = 1.03


def measure(isomer, path, folder, args):
    original = randomized(isomer, path, folder)
    optimized = os.path.join(folder, "optimized.onnx")
    told = run_isomer(isomer, "optimize", original, optimized, "--target",
                      "cpu-onnxruntime", "--check", "0")
    if "byte for byte" in told:
        return None
    inputs = inputs_for(onnx.load(original, load_external_data=False))
    before, after = fastest([original, optimized], inputs, args.threads, args.seconds)
    nodes = [fused_counts(model, folder) for model in (original, optimized)]
    return before, after, *nodes


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("isomer")
    parser.add_argument("folder")
    parser.add_argument("--only", default="")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--threads", type=int, default=1)
    args = parser.parse_args()
    print(f"| {'model':32} | before ms | after ms |  time | nodes     | fused   |")
    print("|---|---|---|---|---|---|")
    slower = 0
    for name in sorted(os.listdir(args.folder)):
        if not name.endswith(".onnx") or not re.search(args.only, name):
            continue
        with tempfile.TemporaryDirectory() as folder:
            row = measure(args.isomer, os.path.join(args.folder, name), folder, args)
        label = name[:-len(".onnx")]
        if row is None:
            print(f"| {label:32} | nothing helps: the original, byte for byte |", flush=True)
            continue
        before, after, was, now = row
        bad = after > (FASTER if lost_fusions(was, now) else MOST) * before
        slower += bad
        fused = [sum(counts.values()) for _, counts in (was, now)]
        print(f"| {label:32} | {before:9.3f} | {after:8.3f} | {after / before:4.2f}x | "
              f"{was[0]:4} {now[0]:4} | {fused[0]:3} {fused[1]:3} |{' TOO SLOW' if bad else ''}",
              flush=True)
    sys.exit(slower)


if __name__ == "__main__":
    main()
