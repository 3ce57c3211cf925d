"""`isomer bench` for the scripts beside this: what they are told of it, and its runs."""

import json
import pathlib
import subprocess
import tempfile


def add_arguments(parser, budget, candidates):
    parser.add_argument("--isomer", required=True, help="the isomer program")
    parser.add_argument("--budget", default=budget, help="for the search of each network")
    parser.add_argument("--candidates", type=int, default=candidates,
                        help="graphs between each network and its optimised form to measure too, for bench/h200_profile.py")
    parser.add_argument("--jobs", type=int, default=0, help="networks that compile at a time")
    parser.add_argument("--work", type=pathlib.Path, help="where models and kernels are kept (default: nowhere)")
    parser.add_argument("--json", type=pathlib.Path, help="where to write all figures")


def make_work(args):
    """Makes the folder to work in; one that was not asked for lives as long as what is returned."""
    temporary = tempfile.TemporaryDirectory()
    args.work = args.work or pathlib.Path(temporary.name)
    args.work.mkdir(parents=True, exist_ok=True)
    return temporary


def start(args, model, *more):
    command = [args.isomer, "bench", str(model), "--json", "--budget", args.budget, "--cache", str(args.work / "kernels"), *more]
    command += ["--candidates", str(args.candidates)] if args.candidates else []
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def finish(run):
    """(figures, None), or (None, error)."""
    out, error = run.communicate()
    return (json.loads(out), None) if run.returncode == 0 else (None, error.strip())
