#!/usr/bin/env python3
"""A profile for the cost model from figures of h200_vs_pytorch.py --json.

  bench/h200_profile.py DAY FIGURES.json... > cost_model/profiles/h200.profile

Each kernel takes the time that it was measured with by itself, and its share of
what passes between the kernels of the whole model, as `isomer profile` has it.
A kernel of several models takes the mean. With --errors: how far the sum over
the kernels of each model is from the time of the whole model instead, and how
often a model and its optimised form, where they are more than 3 % apart, are
ordered as measured.
"""

import collections
import json
import statistics
import sys


def steps_of(form):
    """(kernels, microseconds, launches) of each step."""
    launches = sum(s["launches"] for s in form["steps"])
    alone = sum(s["us"] * s["launches"] for s in form["steps"])
    between = max(0.0, (form["us"] - alone) / launches)
    for s in form["steps"]:
        yield [k for k in s["signature"].split("; ") if k], s["us"] + between, s


def main():
    errors = "--errors" in sys.argv
    day, *files = (a for a in sys.argv[1:] if a != "--errors")
    forms = {}
    for file in files:
        for row in json.load(open(file)):
            for name in ("original", "optimised"):
                forms[row["network"], row["batch"], name] = row["isomer"][name]
    times, variants = collections.defaultdict(list), {}
    for form in forms.values():
        found = collections.defaultdict(list)
        for kernels, us, step in steps_of(form):
            for k in kernels:
                found[k].append((us / len(kernels), step["launches"]))
                variants[k] = step["variant"]
        for k, all_us in found.items():
            total = sum(us * n for us, n in all_us)
            # A concat may be several steps; other kernels are one, over values that lie differently.
            parts = k.startswith(("copy", "pointwise")) and "concat" in k
            times[k].append(total / (max if parts else sum)(n for _, n in all_us))
    profile = {k: statistics.mean(v) for k, v in times.items()}
    if not errors:
        print("profile h200")
        for k in sorted(profile, key=lambda k: k.encode()):
            print(f"{k} | {profile[k]:.4g} {day} isomer {variants[k]}")
        return
    off, sums = [], {}
    for key, form in forms.items():
        sum_us = sum((sum(profile[k] for k in kernels) or us) * s["launches"] for kernels, us, s in steps_of(form))
        sums[key] = sum_us
        off.append((abs(sum_us / form["us"] - 1), abs(form["planned_us"] / form["us"] - 1), key))
    for column, what in ((0, "with the profile"), (1, "without")):
        print(f"{what}: median {statistics.median(x[column] for x in off):.1%}, worst {max(off, key=lambda x: x[column])[column]:.1%} "
              f"({' '.join(map(str, max(off, key=lambda x: x[column])[2]))})")
    for times, what in ((sums, "with the profile"), ({k: f["planned_us"] for k, f in forms.items()}, "without")):
        right = apart = 0
        for (network, batch, name), form in forms.items():
            other = (network, batch, "optimised")
            if name == "original" and abs(form["us"] / forms[other]["us"] - 1) > 0.03:
                apart += 1
                right += (times[network, batch, name] > times[other]) == (form["us"] > forms[other]["us"])
        print(f"{what}: {right} of {apart} pairs ordered as measured")


if __name__ == "__main__":
    main()
