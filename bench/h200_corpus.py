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
import tempfile

import h200_profile


def bench(args, model, *more):
    """What `isomer bench` prints of a model, or the error."""
    command = [args.isomer, "bench", str(model), "--json", "--budget", args.budget, "--candidates", str(args.candidates),
               "--cache", str(args.work / "kernels"), "--profile", args.profile] + ["--kernels"] * args.kernels
    run = subprocess.run(command + list(more), capture_output=True, text=True)
    return (json.loads(run.stdout), None) if run.returncode == 0 else (None, run.stderr.strip())


def randomised(args, model):
    out = args.work / model.name
    if not out.exists():
        subprocess.run([args.isomer, "randomize", str(model), str(out)], check=True, stdout=subprocess.DEVNULL)
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--isomer", required=True, help="the isomer program")
    parser.add_argument("--models", type=pathlib.Path, nargs="+", default=sorted(pathlib.Path("models").glob("*.onnx")))
    parser.add_argument("--candidates", type=int, default=20, help="graphs between each model and its optimised form")
    parser.add_argument("--budget", default="3s", help="for the search of each model")
    parser.add_argument("--profile", default="builtin", help="to search and to predict with")
    parser.add_argument("--kernels", action="store_true", help="time kernels too, for bench/h200_profile.py")
    parser.add_argument("--jobs", type=int, default=0, help="models that compile at a time")
    parser.add_argument("--work", type=pathlib.Path, help="where models and kernels are kept (default: nowhere)")
    parser.add_argument("--json", type=pathlib.Path, help="where to write all figures")
    args = parser.parse_args()
    temporary = tempfile.TemporaryDirectory()
    args.work = args.work or pathlib.Path(temporary.name)
    args.work.mkdir(parents=True, exist_ok=True)
    args.json = args.json or args.work / "figures.json"
    with concurrent.futures.ThreadPoolExecutor(args.jobs or 1) as pool:
        models = list(pool.map(lambda m: randomised(args, m), args.models))
        if args.jobs:
            list(pool.map(lambda m: bench(args, m, "--times", "5"), models))
            # Chosen while others ran.
            (args.work / "kernels" / "choices").unlink(missing_ok=True)
    rows, failed = [], False
    for model in models:
        figures, error = bench(args, model)
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
