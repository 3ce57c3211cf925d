"""Real models through Isomer, judged by ONNX Runtime.

usage: models_test.py ISOMER FOLDER [--only REGEX]

Each model of FOLDER is given random weights and then
  - converted: the result must be the same file, byte for byte;
  - rebuilt: every modelled node is written anew, and ONNX Runtime must compute
    the same outputs from it as from the original, within 1e-5 of the largest
    magnitude;
  - run: `isomer run` must compute what ONNX Runtime computes from the same
    inputs, within 1e-4 (models with opaque nodes cannot be run).
ONNX Runtime lacks some fp16 kernels on CPUs and computes others in fp32, so an
fp16 model is rebuilt and run after conversion to fp32.
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


def to_fp32(path, out):
    """Writes the model with every fp16 tensor, type and cast made fp32."""
    half, single = onnx.TensorProto.FLOAT16, onnx.TensorProto.FLOAT
    model = onnx.load(path)

    def widen(tensor):
        if tensor.data_type == half:
            wide = onnx.numpy_helper.to_array(tensor).astype(np.float32)
            tensor.CopyFrom(onnx.numpy_helper.from_array(wide, tensor.name))

    for tensor in model.graph.initializer:
        widen(tensor)
    for value in [*model.graph.input, *model.graph.output, *model.graph.value_info]:
        if value.type.tensor_type.elem_type == half:
            value.type.tensor_type.elem_type = single
    for node in model.graph.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.TENSOR:
                widen(attribute.t)
            elif attribute.name in ("to", "dtype") and attribute.i == half:
                attribute.i = single
    onnx.save(model, out)


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


def run_error(isomer, original, folder):
    """How far `isomer run` is from ONNX Runtime, relative to the largest output."""
    ours, given = os.path.join(folder, "ours.npz"), os.path.join(folder, "inputs.npz")
    run_isomer(isomer, "run", original, "--out", ours, "--inputs-out", given)
    want = outputs_of(original, dict(np.load(given)))
    names = [o.name for o in onnx.load(original, load_external_data=False).graph.output]
    got = np.load(ours)
    return max(relative_error(got[n], w) for n, w in zip(names, want))


def judge(isomer, path, folder):
    original = os.path.join(folder, "original.onnx")
    converted = os.path.join(folder, "converted.onnx")
    rebuilt = os.path.join(folder, "rebuilt.onnx")
    run_isomer(isomer, "randomize", path, original)
    run_isomer(isomer, "convert", original, converted)
    if not filecmp.cmp(original, converted, shallow=False):
        raise RuntimeError("converting does not give the same file")
    if "_fp16_" in path:
        to_fp32(converted, original)
    counts = json.loads(run_isomer(isomer, "convert", "--rebuild", "--json", original, rebuilt))
    onnx.checker.check_model(rebuilt)
    inputs = inputs_for(onnx.load(original, load_external_data=False))
    error = max(map(relative_error, outputs_of(rebuilt, inputs), outputs_of(original, inputs)))
    if not error <= 1e-5:
        raise RuntimeError(f"rebuilt differs by {error:.3g}")
    if counts["opaque"] == 0:
        run = run_error(isomer, original, folder)
        if not run <= 1e-4:
            raise RuntimeError(f"isomer run differs by {run:.3g}")
        counts["run"] = run
    return counts, error


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
                counts, error = judge(args.isomer, os.path.join(args.folder, name), folder)
            except Exception as problem:
                failed += 1
                print(f"{name}: FAILED: {problem}", flush=True)
                continue
        shown = f"rebuilt off by {error:.2g}"
        if "run" in counts:
            shown += f", run off by {counts['run']:.2g}"
        print(f"{name}: {counts['nodes']} nodes, {counts['opaque']} opaque, {counts['made']} written anew; {shown}", flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(min(main(), 100))
