"""What Isomer is to reach on an H200 against PyTorch, and what it reaches.

usage: h200_goals.py FILE...

Reads the tables of bench/h200_vs_pytorch.py, in files that may hold other text
too, and prints one more: a row for each goal with the goal, what was reached,
and whether that is enough. The exit code is the number of goals that are
missed; a goal whose figures are not there is missed.
"""
import math
import sys

from goals import Goals, read_tables

# Networks, and how many times as fast as the best of PyTorch's forms each is to
# be at a batch.
MERGING = ("nasrnn", "lora_mlp", "repvgg_a0")
FASTER = (
    (MERGING, {1: 2.0, 16: 1.5}),
    (("bert_base", "squeezenet1_1", "inception_v3", "resnext50_32x4d", "resnet50", "vit_b_16", "densenet121", "mobilenet_v2", "llama_decode"),
     {1: 1.3, 16: 1.1}),
    (("vgg19", "llama_prefill"), {1: 1.0, 16: 1.0}),
)
IN_THE_MIDDLE = {1: 1.6, 16: 1.2}  # the geometric mean over all
SEARCH, SEARCH_SECONDS = 1.5, 15  # what rewriting brings MERGING at batch 1; for any


def times(row, column):
    return float(row[column].rstrip("x"))


def at_least(row, column, least):
    return times(row, column) >= least, row[column]


def geometric_mean(rows, least):
    mean = math.exp(sum(math.log(times(row, "best/isomer")) for row in rows) / len(rows))
    return mean >= least, f"{mean:.2f}x, of ratios as they are rounded"


def none_below(rows):
    least = min(rows, key=lambda row: times(row, "search"))
    return times(least, "search") >= 1, f"{least['search']} at least ({least['network']} at batch {least['batch']})"


def seconds(rows):
    most = max(rows, key=lambda row: float(row["search s"]))
    return float(most["search s"]) < SEARCH_SECONDS, f"{most['search s']} s at most ({most['network']} at batch {most['batch']})"


def main():
    if not sys.argv[1:]:
        sys.exit(__doc__)
    rows = {}
    for path in sys.argv[1:]:
        with open(path) as file:
            rows.update({(row["network"], int(row["batch"])): row for row in read_tables(file).get("network", []) if "best/isomer" in row})
    names = [name for group, _ in FASTER for name in group]
    def of(batches):
        return [rows[name, batch] for batch in batches for name in names]
    goals = Goals()
    for batch, middle in IN_THE_MIDDLE.items():
        for group, least in FASTER:
            for name in group:
                goals.check(f"{name} at batch {batch}", f"{least[batch]}x", lambda: at_least(rows[name, batch], "best/isomer", least[batch]))
        goals.check(f"geometric mean at batch {batch}", f"{middle}x over {len(names)} networks",
                    lambda: geometric_mean(of([batch]), middle))
    for name in MERGING:
        goals.check(f"{name}, what the search brings", f"{SEARCH}x", lambda: at_least(rows[name, 1], "search", SEARCH))
    goals.check("all, what the search brings", "none below 1.0x", lambda: none_below(of(IN_THE_MIDDLE)))
    goals.check("all, both searches", f"under {SEARCH_SECONDS} s", lambda: seconds(of(IN_THE_MIDDLE)))
    sys.exit(goals.missed)


if __name__ == "__main__":
    main()
