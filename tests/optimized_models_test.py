"""Optimised models, judged by ONNX and ONNX Runtime.

usage: optimized_models_test.py ISOMER FOLDER [--only REGEX] [--target NAME]

Each model of FOLDER is given random weights and optimised. The result
  - is valid for onnx.checker, with the inputs and outputs of the original;
  - has the same opaque nodes;
  - computes in ONNX Runtime what the original computes, within 1e-4 of the
    largest magnitude;
  - for the target cpu-onnxruntime, leaves ONNX Runtime's own fusions as many
    patterns of each kind as the original does, or runs in 0.97 of its time;
  - is the original, byte for byte, where the tool says that nothing helps.
An fp16 model is optimised and run after conversion to fp32 (models_test.py).
Prints a line per model; the exit code is the number of models that failed.
"""
import argparse
import filecmp
import json
import os
import re
import sys
import tempfile
import time

import onnx
import onnxruntime as ort
from models_test import inputs_for, outputs_of, relative_error, run_isomer, to_fp32

# The nodes that ONNX Runtime fuses others into, by kind: which of a kind it takes
# depends on what stands beside the pattern.
FUSED = {
    "norm": ("LayerNormalization", "SkipLayerNormalization", "EmbedLayerNormalization",
             "SimplifiedLayerNormalization", "SkipSimplifiedLayerNormalization"),
    "gelu": ("Gelu", "BiasGelu", "FastGelu", "QuickGelu"),
    "attention": ("Attention", "MultiHeadAttention"),
    "conv": ("FusedConv",),
    "product": ("FusedGemm", "FusedMatMul"),
}
# A model that loses fusions must run in so much of its time.
FASTER = 0.97


def signature(path):
    graph = onnx.load(path, load_external_data=False).graph
    return [[(v.name, v.type.SerializeToString()) for v in values]
            for values in (graph.input, graph.output)]


def opaque(isomer, path, folder):
    """The nodes that Isomer does not model, as they are written."""
    report = run_isomer(isomer, "convert", "--json", path, os.path.join(folder, "same.onnx"))
    return json.loads(report)["opaque"]


def session(path, threads=0, **options):
    """A model in ONNX Runtime on the CPU; `options` are those of the session."""
    how = ort.SessionOptions()
    how.log_severity_level = 4
    how.intra_op_num_threads = threads
    for name, value in options.items():
        setattr(how, name, value)
    return ort.InferenceSession(path, how, providers=["CPUExecutionProvider"])


def fused_counts(path, folder):
    """How many nodes ONNX Runtime makes of a model, and how many of each kind of FUSED."""
    out = os.path.join(folder, "fused.onnx")
    session(path, graph_optimization_level=ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED,
            optimized_model_filepath=out)
    nodes = onnx.load(out, load_external_data=False).graph.node
    return len(nodes), {kind: sum(n.op_type in names for n in nodes) for kind, names in FUSED.items()}


def fastest(paths, inputs, threads, seconds):
    """The fastest run of each model, in milliseconds, in turns for so long."""
    sessions = [session(path, threads) for path in paths]
    best = [float("inf")] * len(paths)
    end = time.monotonic() + seconds
    rounds = 0
    while rounds < 3 or time.monotonic() < end:
        # The first of a round finds other things in the caches than the second.
        for i in (range(len(paths)) if rounds % 2 else reversed(range(len(paths)))):
            start = time.perf_counter()
            sessions[i].run(None, inputs)
            best[i] = min(best[i], time.perf_counter() - start)
        rounds += 1
    return [1e3 * t for t in best]


def lost_fusions(before, after):
    """The kinds that ONNX Runtime fuses fewer of than it did."""
    return [kind for kind, n in before[1].items() if after[1][kind] < n]


def randomized(isomer, path, folder):
    """The model with random weights, in fp32, as a file in `folder`."""
    out = os.path.join(folder, "original.onnx")
    run_isomer(isomer, "randomize", path, out)
    if "_fp16_" in path:
        half = os.path.join(folder, "half.onnx")
        os.rename(out, half)
        to_fp32(half, out)
        os.remove(half)
    return out


def judge(isomer, path, folder, target):
    original = randomized(isomer, path, folder)
    optimized = os.path.join(folder, "optimized.onnx")
    report = os.path.join(folder, "report.json")
    told = run_isomer(isomer, "optimize", original, optimized, "--target", target,
                      "--check", "0", "--expansions", "2000", "--report", report)
    if "byte for byte" in told and not filecmp.cmp(original, optimized, shallow=False):
        raise RuntimeError("nothing helps, and yet it is not the original")
    onnx.checker.check_model(optimized)
    if signature(original) != signature(optimized):
        raise RuntimeError("inputs or outputs changed")
    if opaque(isomer, original, folder) != opaque(isomer, optimized, folder):
        raise RuntimeError("opaque nodes changed")
    inputs = inputs_for(onnx.load(original, load_external_data=False))
    if target == "cpu-onnxruntime":
        lost = lost_fusions(*(fused_counts(path, folder) for path in (original, optimized)))
        if lost:
            before, after = fastest([original, optimized], inputs, 1, 5)
            if after > FASTER * before:
                raise RuntimeError(f"{after:.3f} ms instead of {before:.3f}, and ONNX Runtime fuses less: {lost}")
    error = max(map(relative_error, outputs_of(optimized, inputs), outputs_of(original, inputs)))
    if not error <= 1e-4:
        raise RuntimeError(f"optimised differs by {error:.3g}")
    with open(report) as file:
        return json.load(file), error


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("isomer")
    parser.add_argument("folder")
    parser.add_argument("--only", default="")
    parser.add_argument("--target", default="h200")
    args = parser.parse_args()
    failed = 0
    for name in sorted(os.listdir(args.folder)):
        if not name.endswith(".onnx") or not re.search(args.only, name):
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                report, error = judge(args.isomer, os.path.join(args.folder, name), folder, args.target)
            except Exception as problem:
                failed += 1
                print(f"{name}: FAILED: {problem}", flush=True)
                continue
        times = [report[k]["time_us"] for k in ("before", "after")]
        print(f"{name}: {times[0]:.1f} to {times[1]:.1f} us on {args.target}, off by {error:.2g}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(min(main(), 100))
