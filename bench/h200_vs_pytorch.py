#!/usr/bin/env python3
"""Isomer against PyTorch on one GPU: the same networks, weights and inputs.

  bench/h200_vs_pytorch.py --isomer build/isomer [--batch 1 16] [--models ...]

Builds each network in torch (fp16, random weights), exports it with its
weights, and measures
  eager    PyTorch eager, captured in a CUDA graph
  compile  torch.compile with freezing, its kernels captured in a CUDA graph
  autotune the same with max-autotune, where that is quick
  isomer   `isomer bench`: planner only, and with the search
Medians of replays, in milliseconds, each timed behind another that is still
running, on both sides, so that no time of the host is in them. With --check,
results of what was timed, and of eager PyTorch, are compared with those of the
same network in fp32 ("error": the largest difference, of the largest result);
where they are further off than fp16 allows, the exit code is 1. What the table
is to reach says bench/h200_goals.py, which reads it.

Most of the time is that of compilers. With --jobs N, N networks at a time have
a process each, in which both sides compile; when all are ready, they are
measured one after the other, and nothing else runs. Kernels that Isomer has
compiled are kept in --work; it chooses between them when nothing else runs, and
so does max-autotune, which times as it compiles.
"""

import argparse
import copy
import inspect
import json
import math
import statistics
import subprocess
import sys
import time

import numpy
import torch
from torch import nn
import torch.nn.functional as F

import isomer_bench


class NasRnn(nn.Module):
    """5 steps of an 8-gate cell; all steps share the weights."""

    def __init__(self, hidden=512, steps=5):
        super().__init__()
        self.steps = steps
        self.x = nn.ModuleList(nn.Linear(hidden, hidden, bias=False) for _ in range(8))
        self.h = nn.ModuleList(nn.Linear(hidden, hidden, bias=False) for _ in range(8))

    def forward(self, xs, h):
        for t in range(self.steps):
            x = xs[t]
            g = [a(x) + b(h) for a, b in zip(self.x, self.h)]
            left = torch.tanh(torch.sigmoid(g[0]) * F.relu(g[1]) + torch.sigmoid(g[2]) * torch.tanh(g[3]))
            right = torch.sigmoid(torch.tanh(g[4]) * torch.sigmoid(g[5]) + F.relu(g[6]) * torch.tanh(g[7]))
            h = torch.tanh(left * right)
        return h


class LoraMlp(nn.Module):
    """4 linears with unmerged rank-16 adapters."""

    def __init__(self, width=2048, rank=16, layers=4):
        super().__init__()
        self.w = nn.ModuleList(nn.Linear(width, width) for _ in range(layers))
        self.a = nn.ModuleList(nn.Linear(width, rank, bias=False) for _ in range(layers))
        self.b = nn.ModuleList(nn.Linear(rank, width, bias=False) for _ in range(layers))

    def forward(self, x):
        for w, a, b in zip(self.w, self.a, self.b):
            x = F.gelu(w(x) + 2.0 * b(a(x)))
        return x


class RepVggBlock(nn.Module):
    def __init__(self, inside, outside, stride):
        super().__init__()
        self.c3 = nn.Conv2d(inside, outside, 3, stride, 1, bias=False)
        self.n3 = nn.BatchNorm2d(outside)
        self.c1 = nn.Conv2d(inside, outside, 1, stride, bias=False)
        self.n1 = nn.BatchNorm2d(outside)
        same = inside == outside and stride == 1
        self.n0 = nn.BatchNorm2d(inside) if same else None

    def forward(self, x):
        y = self.n3(self.c3(x)) + self.n1(self.c1(x))
        return F.relu(y + self.n0(x) if self.n0 is not None else y)


class RepVgg(nn.Module):
    """RepVGG-A0 in its training form."""

    def __init__(self):
        super().__init__()
        blocks, inside = [], 3
        for outside, count in ((48, 1), (48, 2), (96, 4), (192, 14), (1280, 1)):
            for i in range(count):
                blocks.append(RepVggBlock(inside, outside, 2 if i == 0 else 1))
                inside = outside
        self.blocks = nn.Sequential(*blocks)
        self.head = nn.Linear(inside, 1000)

    def forward(self, x):
        return self.head(self.blocks(x).mean((2, 3)))


class RmsNorm(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(width))

    def forward(self, x):
        y = x.float()
        return (y * torch.rsqrt(y.pow(2).mean(-1, keepdim=True) + 1e-5)).to(x.dtype) * self.scale


class LlamaBlock(nn.Module):
    """One block of Llama-3-8B: grouped-query attention and SwiGLU."""

    def __init__(self, width=4096, heads=32, kv=8, inner=14336):
        super().__init__()
        self.heads, self.kv, self.size = heads, kv, width // heads
        self.n1, self.n2 = RmsNorm(width), RmsNorm(width)
        self.q = nn.Linear(width, width, bias=False)
        self.k = nn.Linear(width, kv * self.size, bias=False)
        self.v = nn.Linear(width, kv * self.size, bias=False)
        self.o = nn.Linear(width, width, bias=False)
        self.gate = nn.Linear(width, inner, bias=False)
        self.up = nn.Linear(width, inner, bias=False)
        self.down = nn.Linear(inner, width, bias=False)

    def split(self, x, heads):
        return x.view(x.shape[0], x.shape[1], heads, self.size).transpose(1, 2)

    def forward(self, x, past_k=None, past_v=None):
        y = self.n1(x)
        q = self.split(self.q(y), self.heads)
        k, v = self.split(self.k(y), self.kv), self.split(self.v(y), self.kv)
        if past_k is not None:
            k, v = torch.cat([past_k, k], 2), torch.cat([past_v, v], 2)
        more = self.heads // self.kv
        k, v = k.repeat_interleave(more, 1), v.repeat_interleave(more, 1)
        a = F.scaled_dot_product_attention(q, k, v)
        x = x + self.o(a.transpose(1, 2).reshape(x.shape))
        y = self.n2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Bert(nn.Module):
    """The encoder of BERT-base over embedded tokens."""

    def __init__(self, width=768, heads=12, layers=12):
        super().__init__()
        self.heads = heads
        self.layers = nn.ModuleList()
        for _ in range(layers):
            self.layers.append(nn.ModuleDict({
                "q": nn.Linear(width, width), "k": nn.Linear(width, width),
                "v": nn.Linear(width, width), "o": nn.Linear(width, width),
                "n1": nn.LayerNorm(width), "up": nn.Linear(width, 4 * width),
                "down": nn.Linear(4 * width, width), "n2": nn.LayerNorm(width)}))

    def forward(self, x):
        b, s, w = x.shape
        for p in self.layers:
            q, k, v = (p[n](x).view(b, s, self.heads, w // self.heads).transpose(1, 2) for n in "qkv")
            a = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(b, s, w)
            x = p["n1"](x + p["o"](a))
            x = p["n2"](x + p["down"](F.gelu(p["up"](x))))
        return x


def vision(name):
    import torchvision
    more = {"aux_logits": False, "init_weights": False} if name == "inception_v3" else {}
    return getattr(torchvision.models, name)(weights=None, **more)


def half(*shape):
    return torch.randn(*shape, device="cuda", dtype=torch.float16)


def networks():
    """name -> (network, inputs for a batch, channels last)."""
    def image(size):
        return lambda b: (half(b, 3, size, size),)
    table = {
        "nasrnn": (NasRnn, lambda b: (half(5, b, 512), half(b, 512)), False),
        "lora_mlp": (LoraMlp, lambda b: (half(b, 2048),), False),
        "repvgg_a0": (RepVgg, image(224), True),
        "bert_base": (Bert, lambda b: (half(b, 128, 768),), False),
        "llama_decode": (LlamaBlock, lambda b: (half(b, 1, 4096), half(b, 8, 511, 128), half(b, 8, 511, 128)), False),
        "llama_prefill": (LlamaBlock, lambda b: (half(b, 512, 4096),), False),
    }
    for name in ("squeezenet1_1", "inception_v3", "resnext50_32x4d", "resnet50", "densenet121", "mobilenet_v2", "vgg19"):
        table[name] = (lambda n=name: vision(n), image(299 if name == "inception_v3" else 224), True)
    table["vit_b_16"] = (lambda: vision("vit_b_16"), image(224), False)
    return table


def randomise(net):
    """Weights as a trained network has them: each layer keeps the scale."""
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for module in net.modules():
            if isinstance(module, nn.BatchNorm2d):
                module.running_mean.normal_(0, 0.1, generator=generator)
                module.running_var.uniform_(0.5, 1.5, generator=generator)
                module.weight.uniform_(0.5, 1.5, generator=generator)
                module.bias.normal_(0, 0.1, generator=generator)
            elif isinstance(module, nn.Linear) and not module.weight.any():
                # Results that are all 0 would agree with anything.
                module.weight.normal_(0, module.in_features ** -0.5, generator=generator)


def captured(run):
    """A CUDA graph of `run`, ready to be replayed."""
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream), torch.no_grad():
        for _ in range(3):
            run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):
        run()
    return graph


# As `isomer bench` does: in turns of all graphs, in each of which the GPU rests
# so long together, because one that has worked hard is slower for a while, and
# then works for a moment before it is timed; the median of the turns.
TURNS, RUNS, REST_SECONDS, WARM_UP_SECONDS = 5, 20, 0.3, 0.005


def turn_ms(graph, rest_seconds):
    """The median time of a graph behind another run of it: the device's, not Python's."""
    time.sleep(rest_seconds)
    end = time.time() + WARM_UP_SECONDS
    while time.time() < end:
        graph.replay()
        torch.cuda.synchronize()
    all_ms = []
    for _ in range(RUNS):
        a, b = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        graph.replay()
        a.record()
        graph.replay()
        b.record()
        b.synchronize()
        all_ms.append(a.elapsed_time(b))
    return statistics.median(all_ms)


def replay_ms(graphs):
    """The time of each graph; None where there is none."""
    rest_seconds = REST_SECONDS / sum(g is not None for g in graphs)
    turns = [[turn_ms(g, rest_seconds) if g else 0 for g in graphs] for _ in range(TURNS)]
    return [statistics.median(ms) if g else None for g, ms in zip(graphs, zip(*turns))]


# Networks that max-autotune compiles in half a minute; others take minutes.
QUICK_TO_TUNE = ("nasrnn", "lora_mlp", "llama_decode")
FORMS = ("eager", "compile", "autotune")


def compiled_graph(net, inputs, mode=None):
    """(graph, seconds) of torch.compile; None where it fails."""
    try:
        import torch._inductor.config as config
        config.freezing = True
        torch._dynamo.reset()
        start = time.time()
        fast = torch.compile(net, mode=mode)
        with torch.no_grad():
            fast(*inputs)
        seconds = time.time() - start
        return captured(lambda: fast(*inputs)), seconds
    except Exception as e:  # what the compiler cannot do is no result
        print(f"torch.compile: {e}"[:300], file=sys.stderr)
        return None, None


def export(net, inputs, path):
    try:
        with torch.no_grad():
            if not path.exists():
                torch.onnx.export(net, inputs, path, dynamo=True, external_data=True, verbose=False)
        return True
    except Exception as e:  # what cannot be exported is no result
        print(f"{path.name}: export: {e}"[:300], file=sys.stderr)
        return False


def finish_isomer(run):
    figures, error = isomer_bench.finish(run)
    if error is not None:
        print(error[:400], file=sys.stderr)
    return figures


# What `isomer bench --check` allows fp16, of the largest result.
TOLERANCE = 2e-2
# Results of which form are in which file.
RESULTS = {"inputs": "--inputs-out", "original": "--original-out", "optimised": "--out"}


def give(net, inputs, file):
    """Writes to `inputs`, which graphs read, what Isomer was given."""
    with numpy.load(file) as given:
        for name, x in zip(inspect.signature(net.forward).parameters, inputs):
            x.copy_(torch.from_numpy(given[name]))


def compare(net, inputs, files):
    """How far the results of each form are from those of `net` in fp32."""
    torch.backends.cudnn.allow_tf32 = False
    exact = copy.deepcopy(net).float()
    with torch.no_grad():
        want = exact(*(x.float() for x in inputs))
        got = {"eager": net(*inputs)}
    for form in ("original", "optimised"):
        with numpy.load(files[form]) as results:
            got[form] = torch.from_numpy(results[results.files[0]]).cuda()
    return {form: ((x.float() - want).abs().max() / want.abs().max()).item() for form, x in got.items()}


def measure(args, name, batch, wait):
    """All figures of one network; calls `wait` when nothing is left to compile."""
    build, inputs_of, last = networks()[name]
    torch.manual_seed(0)
    net = build().eval()
    randomise(net)
    net = net.half().cuda()
    inputs = inputs_of(batch)
    path = args.work / f"{name}_{batch}.onnx"
    exported = export(net, inputs, path)
    # Beforehand, while nothing is timed.
    before = isomer_bench.start(args, path, "--compile-only") if exported and args.jobs > 0 else None
    if last:
        net = net.to(memory_format=torch.channels_last)
        inputs = tuple(x.to(memory_format=torch.channels_last) for x in inputs)
    eager = captured(lambda: net(*inputs))
    compiled, seconds = (None, None) if args.no_compile else compiled_graph(net, inputs)
    if before:
        finish_isomer(before)
    wait()
    # What it chooses it times, as Isomer does: when nothing else runs.
    tune = not args.no_compile and name in QUICK_TO_TUNE
    tuned, _ = compiled_graph(net, inputs, "max-autotune-no-cudagraphs") if tune else (None, None)
    files = {form: args.work / f"{name}_{batch}.{form}.npz" for form in RESULTS if args.check or form == "inputs"}
    out = [x for f in files for x in (RESULTS[f], str(files[f]))]
    ours = finish_isomer(isomer_bench.start(args, path, "--kernels", *out)) if exported else None
    if ours:
        give(net, inputs, files["inputs"])
    row = {"network": name, "batch": batch, "compile_seconds": seconds, "isomer": ours,
           **dict(zip(FORMS, replay_ms([eager, compiled, tuned])))}
    if ours and args.check:
        row["errors"] = compare(net, inputs, files)
    return row


def one(args):
    """A network in a process of its own: a line when ready, then, when asked, its figures."""
    def wait():
        print("ready", flush=True)
        if not sys.stdin.readline():
            sys.exit(1)  # who asked is gone
    row = measure(args, args.models[0], args.batch[0], wait)
    print(json.dumps(row), flush=True)


def all_rows(args, which):
    """The rows of the networks, each when it is measured."""
    if args.jobs == 0:
        for name, batch in which:
            yield measure(args, name, batch, lambda: None)
        return
    for start in range(0, len(which), args.jobs):
        running = []
        for name, batch in which[start:start + args.jobs]:
            command = [sys.executable, __file__, "--one", "--isomer", args.isomer, "--models", name, "--batch", str(batch),
                       "--work", str(args.work), "--budget", args.budget, "--jobs", "1"]
            command += ["--no-compile"] * args.no_compile + ["--check"] * args.check
            command += ["--candidates", str(args.candidates)]
            running.append(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True))
        for p in running:
            for line in p.stdout:
                if line.strip() == "ready":
                    break
        print(f"{len(running)} networks are compiled; each is measured by itself now", file=sys.stderr, flush=True)
        for p in running:
            out, _ = p.communicate("go\n")
            if p.returncode == 0:
                yield json.loads(out.strip().splitlines()[-1])


def best_ms(row):
    return min(row[x] for x in FORMS if row[x])


def cells(row):
    """The cells of a network in the table, by their columns; ratios are rounded down."""
    def times(ratio):
        return f"{math.floor(100 * ratio) / 100:.2f}x"
    ours, errors = row["isomer"], row.get("errors")
    out = {"network": row["network"], "batch": str(row["batch"])}
    out.update({x: f"{row[x]:.4f}" if row[x] else "-" for x in FORMS})
    out.update(dict.fromkeys(("planner", "isomer", "best/isomer", "search", "torch s", "search s", "error", "eager's"), "-"))
    if row["compile_seconds"]:
        out["torch s"] = f"{row['compile_seconds']:.1f}"
    if ours:
        plain, fast = (ours[x]["us"] / 1e3 for x in ("original", "optimised"))
        out.update({"planner": f"{plain:.4f}", "isomer": f"{fast:.4f}", "best/isomer": times(best_ms(row) / fast),
                    "search": times(plain / fast), "search s": f"{ours['search_seconds']:.1f}"})
    if errors:
        out.update({"error": f"{max(errors['original'], errors['optimised']):.1e}", "eager's": f"{errors['eager']:.1e}"})
    return out


def print_row(row, first):
    """A line of a table that Markdown knows, and its head before the first one."""
    texts = cells(row)
    widths = {column: max(len(column), 15 if column == "network" else 7) for column in texts}
    def line(texts):
        return "| " + " | ".join(f"{t:<{w}}" if c == "network" else f"{t:>{w}}" for t, (c, w) in zip(texts, widths.items())) + " |"
    if first:
        print(line(texts))
        print("|" + "|".join("-" * (w + 2) for w in widths.values()) + "|")
    print(line(texts.values()), flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    isomer_bench.add_arguments(parser, budget="10s", candidates=0)
    parser.add_argument("--batch", type=int, nargs="+", default=[1])
    parser.add_argument("--models", nargs="+", default=None)
    parser.add_argument("--no-compile", action="store_true", help="leave torch.compile out")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    args = parser.parse_args()
    temporary = isomer_bench.make_work(args)
    if args.one:
        return one(args)
    which = [(name, batch) for batch in args.batch for name in args.models or networks()]
    rows = []
    print(f"PyTorch {torch.__version__}, {torch.cuda.get_device_name()}; milliseconds\n", flush=True)
    for row in all_rows(args, which):
        rows.append(row)
        print_row(row, first=len(rows) == 1)
        if args.json:
            args.json.write_text(json.dumps(rows, indent=1))
    print()
    for batch in args.batch:
        speed = [best_ms(r) / (r["isomer"]["optimised"]["us"] / 1e3) for r in rows if r["batch"] == batch and r["isomer"]]
        if speed:
            print(f"geometric mean at batch {batch}: {math.exp(sum(map(math.log, speed)) / len(speed)):.2f}x over {len(speed)} networks")
    missing = set(which) - {(r["network"], r["batch"]) for r in rows if r["isomer"]}
    wrong = {(r["network"], r["batch"]) for r in rows if not all(e <= TOLERANCE for e in r.get("errors", {}).values())}
    for what, names in ("has no result", missing), ("has results that differ from those in fp32", wrong):
        for name, batch in sorted(names):
            print(f"{name} at batch {batch} {what}")
    return 1 if missing or wrong else 0


if __name__ == "__main__":
    sys.exit(main())
