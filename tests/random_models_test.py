"""Small random models, rebuilt and optimised, judged by ONNX Runtime.

usage: random_models_test.py ISOMER FIRST COUNT

Models FIRST, FIRST + 1, ...: a few operators with operands that are repeated,
scaled, moved and multiplied in turn. What the tool writes, with every node
written anew and optimised, is valid for onnx.checker and computes in ONNX
Runtime what the model computes, within 1e-4 of the largest magnitude. Prints a
line per model that fails, and how many were changed by optimising; the exit
code is 1 if any fails, or if none was changed.
"""
import argparse
import os
import random
import sys
import tempfile

import numpy as np
import onnx
import onnxruntime as ort
from onnx import helper, numpy_helper

from models_test import inputs_for, relative_error, run_isomer
from optimized_models_test import session

TARGETS = ("h200", "cpu-onnxruntime", "cpu")
MOST_ELEMENTS = 20000


class Maker:
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.nodes, self.constants, self.shapes = [], [], {}
        self.inputs = [f"x{i}" for i in range(self.random.randint(1, 2))]
        for name in self.inputs:
            self.shapes[name] = tuple(self.random.choice((1, 2, 3, 4, 6, 8))
                                      for _ in range(self.random.randint(2, 4)))

    def constant(self, array):
        name = f"c{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(array), name))
        return name

    def floats(self, shape, scale=1.0):
        return self.constant((self.numbers.standard_normal(shape) * scale).astype(np.float32))

    def add(self, op, inputs, shape, **attributes):
        name = f"v{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        self.shapes[name] = tuple(shape)

    def pick(self, fits=lambda shape: True):
        """One of the last values that fit, if there are any."""
        found = [v for v, shape in self.shapes.items() if fits(shape)]
        return self.random.choice(found[-6:]) if found else None

    def scaled(self, v, shape):
        factor = np.float32(self.numbers.uniform(0.5, 2))
        self.add(self.random.choice(("Mul", "Div", "Add")), [v, self.constant(factor)], shape)

    def with_row(self, v, shape):
        row = [d if self.random.random() < 0.6 else 1 for d in shape]
        row = row[self.random.randrange(len(row)):]
        self.add(self.random.choice(("Add", "Mul", "Sub")), [v, self.floats(row)], shape)

    def together(self, v, shape):
        w = self.pick(lambda other: len(other) <= len(shape)
                      and all(a == b or 1 in (a, b) for a, b in zip(other[::-1], shape[::-1])))
        other = (1,) * (len(shape) - len(self.shapes[w])) + self.shapes[w]
        self.add(self.random.choice(("Add", "Mul", "Sub")), [v, w], map(max, shape, other))

    def alone(self, v, shape):
        self.add(self.random.choice(("Relu", "Sigmoid", "Tanh", "Neg", "Abs")), [v], shape)

    def transposed(self, v, shape):
        order = self.random.sample(range(len(shape)), len(shape))
        self.add("Transpose", [v], [shape[i] for i in order], perm=order)

    def reshaped(self, v, shape):
        sizes, left = [], int(np.prod(shape))
        while left > 1 and len(sizes) < 3:
            size = self.random.choice([d for d in range(2, left + 1) if left % d == 0])
            sizes.append(size)
            left //= size
        if left > 1 or not sizes:
            sizes.append(left)
        if self.random.random() < 0.3:
            sizes.insert(self.random.randint(0, len(sizes)), 1)
        self.add("Reshape", [v, self.constant(np.array(sizes))], sizes)

    def repeated(self, v, shape):
        sizes = [d if d > 1 or self.random.random() < 0.4 else self.random.choice((2, 3)) for d in shape]
        if len(sizes) < 4 and self.random.random() < 0.4:
            sizes.insert(0, self.random.choice((1, 2)))
        self.add("Expand", [v, self.constant(np.array(sizes))], sizes)

    def joined(self, v, shape):
        axis = self.random.randrange(len(shape))
        w = self.pick(lambda other: len(other) == len(shape)
                      and all(a == b for i, (a, b) in enumerate(zip(other, shape)) if i != axis))
        size = shape[axis] + self.shapes[w][axis]
        self.add("Concat", [v, w], shape[:axis] + (size,) + shape[axis + 1:], axis=axis)

    def sliced(self, v, shape):
        axis = self.random.randrange(len(shape))
        start = self.random.randrange(shape[axis])
        end = self.random.randint(start + 1, shape[axis])
        words = [self.constant(np.array([i])) for i in (start, end, axis)]
        self.add("Slice", [v, *words], shape[:axis] + (end - start,) + shape[axis + 1:])

    def reduced(self, v, shape):
        axis = self.random.randrange(len(shape))
        if self.random.random() < 0.5:
            self.add("Softmax", [v], shape, axis=axis)
        else:
            self.add("ReduceMean", [v, self.constant(np.array([axis]))],
                     shape[:axis] + (1,) + shape[axis + 1:], keepdims=1)

    def weighed(self, v, shape):
        width = self.random.choice((1, 2, 4, 8))
        self.add("MatMul", [v, self.floats((shape[-1], width), shape[-1] ** -0.5)], shape[:-1] + (width,))

    def multiplied(self, v, shape):
        w = len(shape) > 1 and self.pick(lambda other: len(other) > 1 and other[-2] == shape[-1]
                                         and (2 in (len(other), len(shape)) or other[:-2] == shape[:-2]))
        if w:
            batch = max(shape[:-2], self.shapes[w][:-2], key=len)
            self.add("MatMul", [v, w], batch + (shape[-2], self.shapes[w][-1]))

    def recurrent(self, v, shape):
        if len(shape) != 3:
            return
        direction = self.random.choice(("forward", "reverse", "bidirectional"))
        dirs, n, (steps, batch, width) = 1 + (direction == "bidirectional"), self.random.choice((1, 2, 4)), shape
        words = [v, self.floats((dirs, 4 * n, width), width ** -0.5), self.floats((dirs, 4 * n, n), n ** -0.5)]
        if self.random.random() < 0.7:
            words += [self.floats((dirs, 8 * n)), ""] + [self.floats((dirs, batch, n)) for _ in range(2)]
        self.add("LSTM", words, (steps, dirs, batch, n), direction=direction, hidden_size=n)

    def model(self):
        """Nothing if it is too large."""
        ways = (self.scaled, self.scaled, self.with_row, self.together, self.alone, self.transposed,
                self.reshaped, self.repeated, self.repeated, self.joined, self.sliced, self.reduced,
                self.weighed, self.weighed, self.multiplied, self.recurrent)
        for _ in range(self.random.randint(4, 14)):
            v = self.pick()
            self.random.choice(ways)(v, self.shapes[v])
        read = {name for node in self.nodes for name in node.input}
        outputs = [v for v in self.shapes if v not in read and v not in self.inputs]
        if not outputs or any(np.prod(shape) > MOST_ELEMENTS for shape in self.shapes.values()):
            return None
        infos = [[helper.make_tensor_value_info(v, onnx.TensorProto.FLOAT, self.shapes[v]) for v in names]
                 for names in (self.inputs, outputs)]
        graph = helper.make_graph(self.nodes, "random", *infos, self.constants)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def outputs_of(path, inputs):
    """What ONNX Runtime computes, with none of its own fusions: one of them loses values that two nodes read."""
    return session(path, graph_optimization_level=ort.GraphOptimizationLevel.ORT_DISABLE_ALL).run(None, inputs)


def judge(isomer, model, target, folder):
    """Whether the model was changed; raises if something else is computed."""
    original, rebuilt, optimized = (os.path.join(folder, f"{name}.onnx")
                                    for name in ("original", "rebuilt", "optimized"))
    onnx.save(model, original)
    run_isomer(isomer, "convert", "--rebuild", original, rebuilt)
    told = run_isomer(isomer, "optimize", original, optimized, "--target", target,
                      "--check", "0", "--expansions", "200")
    inputs = inputs_for(model)
    want = outputs_of(original, inputs)
    for path in (rebuilt, optimized):
        onnx.checker.check_model(path, full_check=True)
        error = max(map(relative_error, outputs_of(path, inputs), want))
        if not error <= 1e-4:
            raise RuntimeError(f"{os.path.basename(path)} differs by {error:.3g}")
    return "byte for byte" not in told


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("isomer")
    parser.add_argument("first", type=int)
    parser.add_argument("count", type=int)
    args = parser.parse_args()
    failed = changed = models = 0
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(args.first, args.first + args.count):
            model = Maker(seed).model()
            if model is None:
                continue
            models += 1
            target = TARGETS[seed % len(TARGETS)]
            try:
                changed += judge(args.isomer, model, target, folder)
            except Exception as e:  # whatever is wrong with it
                failed += 1
                print(f"model {seed} for {target}: {str(e)[:300]}", flush=True)
    print(f"{models} models, {changed} of them changed, {failed} failed")
    return failed > 0 or changed == 0


if __name__ == "__main__":
    sys.exit(main())
