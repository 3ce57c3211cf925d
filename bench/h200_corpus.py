#!/usr/bin/env python3
"""The models in models/ on one GPU: measured, and as they were predicted.

  bench/h200_corpus.py --isomer build/isomer [--candidates 20] [--models ...]
  bench/h200_corpus.py --isomer build/isomer --measured FIGURES.json

Gives each model random weights and measures it with `isomer bench`: as it is,
optimised, and graphs between the two. Prints what bench/h200_profile.py --errors
says of them, and exits as that does. Models with operators that have no kernel
are named and left out. With --check the results have to be those of the CPU.

With --jobs N, N models at a time compile their kernels beforehand; then one after
the other is measured, and nothing else runs.

With --measured no GPU is needed: what is predicted now stands against what was
measured then (--json). Of optimised forms it takes the last of the graphs between,
which does not depend on a profile. Models that have other kernels since are named
and left out; if they are more than a tenth, nothing is compared.
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


def name(model):
    start, _, rest = model.stem.rpartition("_b")  # nasrnn_fp16_b1_dynamo
    batch, _, made = rest.partition("_")
    return f"{start}_{made}", int(batch)


def predicted(args, row):
    """The row, with what is predicted now, and an empty text, or no row and why."""
    model = {name(m): m for m in args.models}[row["network"], row["batch"]]
    how = ("--profile", args.profile, "--device", "none", "--original-only")
    figures, error = isomer_bench.finish(isomer_bench.start(args, randomised(args, model), *how))
    if error:
        sys.exit(f"{model.stem}: {error}")
    then, now = row["isomer"], [figures["original"]] + figures["spread"]
    graphs = [then["original"]] + then["spread"]
    if [g["kernels"] for g in graphs] != [g["kernels"] for g in now]:
        return None, f"{model.stem}: left out: measured with {[g['kernels'] for g in graphs]} kernels, now has {[g['kernels'] for g in now]}"
    for graph, other in zip(graphs, now):
        graph.update({key: other[key] for key in ("predicted_us", "planned_us")})
    then["optimised"] = graphs[-1]
    return row, ""


def print_again(args):
    rows = json.loads(args.measured.read_text())
    with concurrent.futures.ThreadPoolExecutor(args.jobs or 1) as pool:
        pairs = list(pool.map(lambda row: predicted(args, row), rows))
    for _, why in pairs:
        if why:
            print(why)
    rows = [row for row, why in pairs if not why]
    if 10 * len(rows) < 9 * len(pairs):
        sys.exit(f"{args.measured}: only {len(rows)} of {len(pairs)} models still have the kernels that were measured")
    args.json.write_text(json.dumps(rows, indent=1))
    return h200_profile.print_errors([args.json])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    isomer_bench.add_arguments(parser, budget="3s", candidates=20)
    parser.add_argument("--models", type=pathlib.Path, nargs="+", default=sorted(pathlib.Path("models").glob("*.onnx")))
    parser.add_argument("--profile", default="builtin", help="to search and to predict with")
    parser.add_argument("--kernels", action="store_true", help="time kernels too, for bench/h200_profile.py")
    parser.add_argument("--check", action="store_true", help="compare results with those of the CPU")
    parser.add_argument("--measured", type=pathlib.Path, help="figures that this wrote on a GPU, to predict again")
    args = parser.parse_args()
    temporary = isomer_bench.make_work(args)
    args.json = args.json or args.work / "figures.json"

    if args.measured:
        return print_again(args)

    def run(model, *how):
        return isomer_bench.finish(isomer_bench.start(args, model, "--profile", args.profile, *how))

    def compile_all(model):
        return run(model, "--compile-only")

    def bench(model):
        return run(model, *["--kernels"] * args.kernels, *["--check"] * args.check)

    with concurrent.futures.ThreadPoolExecutor(args.jobs or 1) as pool:
        models = list(pool.map(lambda m: randomised(args, m), args.models))
        if args.jobs:
            list(pool.map(compile_all, models))
    rows, failed = [], False
    for model in models:
        figures, error = bench(model)
        if figures:
            network, batch = name(model)
            rows.append({"network": network, "batch": batch, "isomer": figures})
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
