#!/usr/bin/env python3
"""What figures of h200_vs_pytorch.py --json say of kernels and predictions.

  bench/h200_profile.py DAY [--onto OLD.profile] FIGURES.json... > NEW.profile
  bench/h200_profile.py --errors FIGURES.json...
  bench/h200_profile.py --kernels FIGURES.json...

First form: a profile for the cost model. A kernel that was measured several
times, in several networks or in several forms of one, takes the median. With
--onto, kernels that were not measured stay as they are in the old profile.

Second form: how far the predicted times of whole networks, as they are and
optimised, are from the measured ones, and how often graphs between the two
(h200_vs_pytorch.py --candidates 20) are ordered as measured, of the pairs that
measure more than 3 % apart. Predictions are those that `isomer bench` made with
the profile it had when it measured; "planned" are estimates without a profile.
The exit code is 1 where predictions are further off than wanted: 10 % in the
middle, 25 % at most, and 95 % of the pairs in the right order.

Third form: what holds the optimised networks back, the four kernels of each
that take longest. "whole" is measured whole, "sum" the kernels by themselves.
"""

import collections
import itertools
import json
import statistics
import sys


def rows(files):
    for file in files:
        for row in json.load(open(file)):
            if row["isomer"]:
                yield row


def print_profile(day, old, files):
    times, variants = collections.defaultdict(list), {}
    for row in rows(files):
        ours = row["isomer"]
        for form in [ours["original"], ours["optimised"]] + ours.get("spread", []):
            for k in form["kernel_times"]:
                times[k["signature"]].append(k["us"])
                variants[k["signature"]] = k["variant"]
    head, *lines = open(old).read().splitlines() if old else ["profile h200"]
    entries = dict(line.rsplit(" | ", 1) for line in lines)
    for k in times:
        entries[k] = f"{statistics.median(times[k]):.4g} {day} isomer {variants[k]}"
    print(head)
    for k in sorted(entries, key=lambda k: k.encode()):
        print(f"{k} | {entries[k]}")


def right(graphs, key):
    """(pairs that measure more than 3 % apart, those that `key` orders so)."""
    pairs = [(a, b) for a, b in itertools.combinations(graphs, 2) if max(a["us"], b["us"]) > 1.03 * min(a["us"], b["us"])]
    return len(pairs), sum((a[key] > b[key]) == (a["us"] > b["us"]) for a, b in pairs)


def print_errors(files):
    keys = ("predicted_us", "planned_us")
    off = {key: [] for key in keys}
    total = collections.Counter()
    width = max([18] + [len(row["network"]) + 1 for row in rows(files)])
    print(f"{'network':<{width}}{'batch':>6}{'measured':>10}{'predicted':>10}{'planned':>10}{'measured':>10}{'predicted':>10}{'planned':>10}"
          f"{'graphs':>8}{'pairs':>7}{'right':>7}{'planned':>9}")
    for row in rows(files):
        ours = row["isomer"]
        text = f"{row['network']:<{width}}{row['batch']:>6}"
        for form in ("original", "optimised"):
            text += "".join(f"{ours[form][key]:>10.1f}" for key in ("us",) + keys)
            for key in keys:
                off[key].append((abs(ours[form][key] / ours[form]["us"] - 1), row["network"], row["batch"], form))
        spread = ours.get("spread", [])
        counts = [right(spread, key) for key in keys]
        total.update({"pairs": counts[0][0], keys[0]: counts[0][1], keys[1]: counts[1][1]})
        print(text + f"{len(spread):>8}{counts[0][0]:>7}{counts[0][1]:>7}{counts[1][1]:>9}")
    for key in keys:
        worst, middle = max(off[key]), statistics.median(x[0] for x in off[key])
        print(f"{key[:-3]}: whole networks are off by {middle:.1%} (median), "
              f"{worst[0]:.1%} at most ({worst[1]} at batch {worst[2]}, {worst[3]})"
              + (f"; {total[key]} of {total['pairs']} pairs are ordered as measured" if total["pairs"] else ""))
        if key == "predicted_us":
            good = middle < 0.10 and worst[0] < 0.25 and total[key] >= 0.95 * total["pairs"]
    return 0 if good else 1


def print_kernels(files):
    for row in rows(files):
        best = row["isomer"]["optimised"]
        steps = sorted(best["steps"], key=lambda s: -s["us"] * s["launches"])
        total = sum(s["us"] * s["launches"] for s in steps)
        print(f"\n{row['network']}: {best['kernels']} kernels on {best['streams']} stream{'s' * (best['streams'] > 1)}, {best['us']:.1f} us whole, "
              f"{total:.1f} us sum, {best['predicted_us']:.1f} us predicted, floor {best['floor_us']:.1f} us")
        for s in steps[:4]:
            print(f"  {s['us'] * s['launches'] / total:6.1%} {s['launches']:4d} x {s['us']:7.2f} us  {s['variant']:<38} {s['signature'][:104]}")


def main():
    first, rest, old = (sys.argv + [""])[1], sys.argv[2:], None
    if rest[:1] == ["--onto"]:
        old, rest = rest[1] if len(rest) > 1 else None, rest[2:]
    if not rest or (old and first.startswith("--")):
        sys.exit(__doc__)
    if first == "--errors":
        sys.exit(print_errors(rest))
    elif first == "--kernels":
        print_kernels(rest)
    else:
        print_profile(first, old, rest)


if __name__ == "__main__":
    main()
