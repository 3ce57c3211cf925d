"""Real models through Isomer, judged by ONNX Runtime.

usage: models_test.py ISOMER FOLDER [--only REGEX]

Each model of FOLDER is given random weights and then
  - converted: the result must be the same file, byte for byte;
  - rebuilt: every modelled node is written anew, and ONNX Runtime must compute
    the same outputs from it as from the original, within 1e-5 in fp32 (5e-2 in
    fp16) of the largest magnitude.
Prints a line per model; the exit code is the number of models that failed.
"""
import argparse
import filecmp
import json
import os
import re
import subprocess
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort


def run_isomer(isomer, *words):
    result = subprocess.run([isomer, *words], capture_output=True, text=True)
    if result.returncode != 0:
        raise RuntimeError(f"isomer {' '.join(words[:1])}: {result.stderr.strip()}")
    return result.stdout


def inputs_for(model):
    rng = np.random.default_rng(0)
    initialized = {t.name for t in model.graph.initializer}
    inputs = {}
    for value in model.graph.input:
        if value.name in initialized:
            continue
        t = value.type.tensor_type
        shape = [d.dim_value for d in t.shape.dim]
        dtype = onnx.helper.tensor_dtype_to_np_dtype(t.elem_type)
        if np.issubdtype(dtype, np.floating):
            inputs[value.name] = rng.standard_normal(shape).astype(dtype)
        else:
            inputs[value.name] = rng.integers(0, 2, shape).astype(dtype)
    return inputs


def outputs_of(path, inputs):
    options = ort.SessionOptions()
    options.log_severity_level = 4
    session = ort.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    return session.run(None, inputs)


def relative_error(got, want):
    got, want = got.astype(np.float64), want.astype(np.float64)
    if got.shape != want.shape or not np.array_equal(np.isfinite(got), np.isfinite(want)):
        return float("inf")
    finite = np.isfinite(want)
    scale = np.abs(want[finite]).max(initial=0)
    worst = np.abs(got[finite] - want[finite]).max(initial=0)
    return worst / scale if scale else worst


def judge(isomer, path, folder):
    original = os.path.join(folder, "original.onnx")
    converted = os.path.join(folder, "converted.onnx")
    rebuilt = os.path.join(folder, "rebuilt.onnx")
    run_isomer(isomer, "randomize", path, original)
    run_isomer(isomer, "convert", original, converted)
    if not filecmp.cmp(original, converted, shallow=False):
        raise RuntimeError("converting does not give the same file")
    counts = json.loads(run_isomer(isomer, "convert", "--rebuild", "--json", original, rebuilt))
    onnx.checker.check_model(rebuilt)
    inputs = inputs_for(onnx.load(original, load_external_data=False))
    try:
        want = outputs_of(original, inputs)
    except Exception as error:  # a kernel that ONNX Runtime lacks on CPUs
        return counts, None, str(error).split("\n")[0][:80]
    got = outputs_of(rebuilt, inputs)
    error = max(relative_error(g, w) for g, w in zip(got, want))
    limit = 5e-2 if any(w.dtype == np.float16 for w in want) else 1e-5
    if not error <= limit:
        raise RuntimeError(f"rebuilt differs by {error:.3g}")
    return counts, error, ""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("isomer")
    parser.add_argument("folder")
    parser.add_argument("--only", default="")
    args = parser.parse_args()
    failed = 0
    for name in sorted(os.listdir(args.folder)):
        if not name.endswith(".onnx") or not re.search(args.only, name):
            continue
        with tempfile.TemporaryDirectory() as folder:
            try:
                counts, error, why = judge(args.isomer, os.path.join(args.folder, name), folder)
            except Exception as problem:
                failed += 1
                print(f"{name}: FAILED: {problem}", flush=True)
                continue
        shown = f"error {error:.2g}" if error is not None else f"not run by ONNX Runtime: {why}"
        print(f"{name}: {counts['nodes']} nodes, {counts['opaque']} opaque, {counts['made']} written anew; {shown}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(min(main(), 100))
