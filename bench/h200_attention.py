#!/usr/bin/env python3
"""Attention of the networks of h200_vs_pytorch.py by cuDNN, by PyTorch's flash
attention, and by Isomer's kernel.

  bench/h200_attention.py --isomer build/isomer [--batch 1 16]

Microseconds of one call, of many in a row in a CUDA graph; cuDNN is called
through PyTorch. `-`: it does not take these sizes.
"""

import argparse
import pathlib
import tempfile

import torch
from torch import nn
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from h200_vs_pytorch import captured, export, finish_isomer, half, replay_ms, start_isomer

CALLS = 20
# name -> heads, heads of keys, queries, keys, size of a head
SHAPES = {
    "bert_base": (12, 12, 128, 128, 64),
    "vit_b_16": (12, 12, 197, 197, 64),
    "llama_prefill": (32, 8, 512, 512, 128),
    "llama_decode": (32, 8, 1, 512, 128),
}


class Attention(nn.Module):
    """Of projections as they lie, with heads side by side, to what the next one reads."""

    def forward(self, q, k, v):
        more = q.shape[2] // k.shape[2]
        q, k, v = (x.transpose(1, 2) for x in (q, k, v))
        k, v = (x.repeat_interleave(more, 1) if more > 1 else x for x in (k, v))
        return F.scaled_dot_product_attention(q, k, v).transpose(1, 2).flatten(2)


def torch_us(inputs, backend):
    """A call by one of PyTorch's backends; None where it refuses."""
    q, k, v = (x.transpose(1, 2) for x in inputs)

    def calls():
        for _ in range(CALLS):
            F.scaled_dot_product_attention(q, k, v, enable_gqa=q.shape[1] != k.shape[1])
    try:
        with sdpa_kernel(backend):
            return replay_ms([captured(calls)])[0] * 1e3 / CALLS
    except RuntimeError:
        return None


def isomer_us(args, name, inputs):
    path = args.work / f"attention_{name}_{inputs[0].shape[0]}.onnx"
    if not export(Attention().cuda(), inputs, path):
        return None
    figures = finish_isomer(start_isomer(args, path))
    if figures is None:
        return None
    return sum(k["us"] for k in figures["optimised"]["kernel_times"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--isomer", required=True, help="the isomer program")
    parser.add_argument("--batch", type=int, nargs="+", default=[1, 16])
    args = parser.parse_args()
    args.budget, args.candidates = "2s", 0
    print(f"PyTorch {torch.__version__}, cuDNN {torch.backends.cudnn.version()}, {torch.cuda.get_device_name()}; microseconds")
    print(f"{'network':<16}{'batch':>6}{'cuDNN':>9}{'flash':>9}{'isomer':>9}")
    with tempfile.TemporaryDirectory() as folder:
        args.work = pathlib.Path(folder)
        for batch in args.batch:
            for name, (heads, kv, queries, keys, size) in SHAPES.items():
                inputs = (half(batch, queries, heads, size), half(batch, keys, kv, size), half(batch, keys, kv, size))
                times = [torch_us(inputs, b) for b in (SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION)]
                times.append(isomer_us(args, name, inputs))
                print(f"{name:<16}{batch:>6}" + "".join(f"{'-':>9}" if t is None else f"{t:>9.2f}" for t in times), flush=True)


if __name__ == "__main__":
    main()
