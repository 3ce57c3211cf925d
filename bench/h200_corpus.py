#!/usr/bin/env python3
"""The models in models/ on one GPU: measured, and as they were predicted.

  bench/h200_corpus.py --isomer build/isomer [--candidates 20] [--models ...]

Gives each model random weights and measures it with `isomer bench`: as it is,
optimised, and graphs between the two. Prints what bench/h200_profile.py --errors
says of them, and exits as that does. Models with operators that have no kernel
are named and left out.

With --jobs N, N models at a time compile and choose kernels beforehand; then one
after the other is measured, and nothing else runs.
"""

import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys

import h200_profile
import isomer_bench


def randomised(args, model):
    out = args.work / model.name
    if not out.exists():
        subprocess.run([args.isomer, "randomize", str(model), str(out)], check=True, stdout=subprocess.DEVNULL)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    isomer_bench.add_arguments(parser, budget="3s", candidates=20)
    parser.add_argument("--models", type=pathlib.Path, nargs="+", default=sorted(pathlib.Path("models").glob("*.onnx")))
    parser.add_argument("--profile", default="builtin", help="to search and to predict with")
    parser.add_argument("--kernels", action="store_true", help="time kernels too, for bench/h200_profile.py")
    args = parser.parse_args()
    temporary = isomer_bench.make_work(args)
    args.json = args.json or args.work / "figures.json"

    def bench(model, *more):
        how = ["--profile", args.profile] + ["--kernels"] * args.kernels
        return isomer_bench.finish(isomer_bench.start(args, model, *how, *more))

    with concurrent.futures.ThreadPoolExecutor(args.jobs or 1) as pool:
        models = list(pool.map(lambda m: randomised(args, m), args.models))
        if args.jobs:
            list(pool.map(lambda m: bench(m, "--times", "5"), models))
            isomer_bench.forget_choices(args)
    rows, failed = [], False
    for model in models:
        figures, error = bench(model)
        if figures:
            start, _, rest = model.stem.rpartition("_b")  # nasrnn_fp16_b1_dynamo
            batch, _, made = rest.partition("_")
            rows.append({"network": f"{start}_{made}", "batch": int(batch), "isomer": figures})
            args.json.write_text(json.dumps(rows, indent=1))
        elif "has no kernel" in error:
            print(f"{model.stem}: left out: {error}")
        else:
            print(f"{model.stem}: FAILED: {error}")
            failed = True
    if not rows:
        return 1
    wrong = h200_profile.print_errors([args.json])
    return 1 if failed else wrong


if __name__ == "__main__":
    sys.exit(main())
