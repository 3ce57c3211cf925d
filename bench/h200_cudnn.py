#!/usr/bin/env python3
"""What cuDNN takes for pooling and norms, which Isomer computes itself.

  bench/h200_cudnn.py --isomer build/isomer [--batch 1 16]

Operations of networks of h200_vs_pytorch.py by themselves, fp16, channels last,
microseconds of one call, of many in a row in a CUDA graph: the fastest way that
cuDNN has, and Isomer's kernel for that operation and no other. Norms are measured
as networks of their own; of pools, which would be of another layout there, it is
what the profile says (of some with the relu before it, which cuDNN has not).
`-`: there is none. Exits with an error where cuDNN is more than 3 % faster, or
its results are not PyTorch's.
"""

import argparse
import copy
import pathlib
import re
import sys

import torch
from torch import nn

import cudnn_graph
import isomer_bench
from h200_vs_pytorch import TOLERANCE, RmsNorm, captured, export, half, replay_ms

CALLS = 20
EPSILON = 1e-5


# Each of these gives what is right, what makes cuDNN's ways to compute that, and
# the time of Isomer's kernel.

def pool(args, cudnn, batch, kind, channels, image, size, stride, pad):
    layer = nn.MaxPool2d(size, stride, pad) if kind == "max" else nn.AvgPool2d(size, stride, pad)
    x = half(batch, channels, image, image)
    want = layer(x.float())
    mode = cudnn_graph.MAX_POOL if kind == "max" else cudnn_graph.AVERAGE_WITH_PADDING

    def ways():
        from_, to = (t.half().to(memory_format=torch.channels_last) for t in (x, torch.empty_like(want)))
        return cudnn.pool(from_, to, mode, size, stride, pad)
    attributes = f"kernel=[{size} {size}], stride=[{stride} {stride}], pad=[{pad} {pad} {pad} {pad}], dilation=[1 1], ceil_mode=0"
    start = rf"pool {kind}_pool\((a|relu\(a\)),{re.escape(attributes)}[^()]*\) a:f16\[{batch},{channels},{image},{image}\] "
    lines = [line for line in args.profile.read_text().splitlines() if re.match(start, line)]
    return want, ways, min((float(line.rsplit(" | ", 1)[1].split()[0]) for line in lines), default=None)


def four(t, width):
    """With the four dimensions of cuDNN's norms, of which the second is normed."""
    return t.as_strided((t.numel() // width, width, 1, 1), (width, 1, width, width))


def kernels_us(args, net, x, name):
    """What the kernels of Isomer take for a network, together."""
    path = args.work / f"{name}.onnx"
    if not export(net, (x,), path):
        return None
    figures, error = isomer_bench.finish(isomer_bench.start(args, path, "--kernels"))
    if error:
        print(error, file=sys.stderr)
        return None
    return min(sum(k["us"] * k["launches"] for k in figures[form]["steps"]) for form in ("original", "optimised"))


def norm(args, cudnn, batch, kind, rows, width):
    net = (nn.LayerNorm if kind == "layer" else RmsNorm)(width).requires_grad_(False)
    for factor in net.parameters():
        nn.init.normal_(factor)
    net = net.half().cuda()
    x = half(batch, rows, width)
    scale, bias = (*net.parameters(), None)[:2]

    def ways():
        tensors = [t if t is None else four(t, width) for t in (x, scale, bias)]
        return cudnn.norm(*tensors, torch.full((1, 1, 1, 1), EPSILON), four(torch.empty_like(x), width))
    want = copy.deepcopy(net).float()(x.float())
    return want, ways, kernels_us(args, net, x, f"{kind}_{batch}_{rows}_{width}")


CASES = (
    (pool, "vgg19", ("max", 64, 224, 2, 2, 0)),
    (pool, "resnet50", ("max", 64, 112, 3, 2, 1)),
    (pool, "inception_v3", ("max", 288, 35, 3, 2, 0)),
    (pool, "inception_v3", ("avg", 768, 17, 3, 1, 1)),
    (pool, "densenet121", ("avg", 256, 28, 2, 2, 0)),
    (norm, "bert_base", ("layer", 128, 768)),
    (norm, "vit_b_16", ("layer", 197, 768)),
    (norm, "llama_decode", ("rms", 1, 4096)),
    (norm, "llama_prefill", ("rms", 512, 4096)),
)


def cudnn_us(ways, want):
    """How many ways cuDNN has, the time of the fastest that is right, and whether all are."""
    try:
        found = ways()
    except cudnn_graph.Refused as e:
        print(f"cuDNN: {e}", file=sys.stderr)
        return 0, None, True
    graphs = []
    for run in found:
        got = run().float()
        if (got - want.reshape(got.shape)).abs().max() <= TOLERANCE * want.abs().max():
            graphs.append(captured(lambda: [run() for _ in range(CALLS)]))
    best = min(replay_ms(graphs)) * 1e3 / CALLS if graphs else None
    return len(found), best, len(graphs) == len(found)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    isomer_bench.add_arguments(parser, budget="1s", candidates=0)
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 16])
    parser.add_argument("--profile", type=pathlib.Path, default=pathlib.Path(__file__).parent.parent / "cost_model/profiles/h200.profile")
    args = parser.parse_args()
    temporary = isomer_bench.make_work(args)
    cudnn = cudnn_graph.Cudnn()
    print(f"PyTorch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}, {torch.cuda.get_device_name()}; microseconds")
    print(f"{'operation':<32}{'network':<16}{'batch':>6}{'ways':>6}{'cuDNN':>9}{'isomer':>9}")
    failed = False
    for batch in args.batch:
        for make, network, case in CASES:
            torch.manual_seed(0)
            want, ways, ours = make(args, cudnn, batch, *case)
            count, theirs, right = cudnn_us(ways, want)
            slower = theirs is not None and (ours is None or ours > 1.03 * theirs)
            failed |= slower or not right
            cells = "".join(f"{'-':>9}" if t is None else f"{t:>9.2f}" for t in (theirs, ours))
            name = " ".join(map(str, (make.__name__, *case)))
            print(f"{name:<32}{network:<16}{batch:>6}{count:>6}{cells}"
                  + "   cuDNN is faster" * slower + "   some of cuDNN's are wrong" * (not right), flush=True)
    return failed


if __name__ == "__main__":
    sys.exit(main())
