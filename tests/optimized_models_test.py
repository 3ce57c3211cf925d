"""Optimised models, judged by ONNX and ONNX Runtime.

usage: optimized_models_test.py ISOMER FOLDER [--only REGEX] [--target NAME]

Each model of FOLDER is given random weights and optimised. The result
  - is valid for onnx.checker, with the inputs and outputs of the original;
  - has the same opaque nodes;
  - computes in ONNX Runtime what the original computes, within 1e-4 of the
    largest magnitude;
  - for the target cpu-onnxruntime, leaves ONNX Runtime's own fusions as many
    patterns as the original does, or fewer nodes in all.
An fp16 model is optimised and run after conversion to fp32 (models_test.py).
Prints a line per model; the exit code is the number of models that failed.
"""
import argparse
import json
import os
import re
import sys
import tempfile

import onnx
import onnxruntime as ort
from models_test import inputs_for, outputs_of, relative_error, run_isomer, to_fp32

FUSED = ("LayerNormalization", "SkipLayerNormalization", "Gelu", "BiasGelu",
         "FastGelu", "Attention", "FusedConv")


def signature(path):
    graph = onnx.load(path, load_external_data=False).graph
    return [[(v.name, v.type.SerializeToString()) for v in values]
            for values in (graph.input, graph.output)]


def opaque(isomer, path, folder):
    """The nodes that Isomer does not model, as they are written."""
    report = run_isomer(isomer, "convert", "--json", path, os.path.join(folder, "same.onnx"))
    return json.loads(report)["opaque"]


def fused_counts(path, folder):
    """How many nodes, and how many fused ones, ONNX Runtime makes of a model."""
    out = os.path.join(folder, "fused.onnx")
    options = ort.SessionOptions()
    options.log_severity_level = 4
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_EXTENDED
    options.optimized_model_filepath = out
    ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    nodes = onnx.load(out, load_external_data=False).graph.node
    return len(nodes), sum(n.op_type in FUSED for n in nodes)


def lost_fusions(before, after):
    """Whether ONNX Runtime fuses less than it did, and has no fewer nodes for it."""
    return after[1] < before[1] and after[0] >= before[0]


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
    run_isomer(isomer, "optimize", original, optimized, "--target", target,
               "--check", "0", "--expansions", "2000", "--report", report)
    onnx.checker.check_model(optimized)
    if signature(original) != signature(optimized):
        raise RuntimeError("inputs or outputs changed")
    if opaque(isomer, original, folder) != opaque(isomer, optimized, folder):
        raise RuntimeError("opaque nodes changed")
    if target == "cpu-onnxruntime":
        before, after = fused_counts(original, folder), fused_counts(optimized, folder)
        if lost_fusions(before, after):
            raise RuntimeError(f"ONNX Runtime fuses {after[1]} of {before[1]} nodes")
    inputs = inputs_for(onnx.load(original, load_external_data=False))
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
