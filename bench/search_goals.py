"""What the search is to reach, and what it reaches.

usage: search_goals.py TABLES

Reads the tables that bench/search_figures.sh prints and prints one more: a row
for each goal with the goal, what was reached, and whether that is enough. The
exit code is the number of goals that are missed; a goal whose figures are not
there is missed. Where search/optimality_test.cc shows that rules reach nothing
better, to be equal is enough, and the row says so.
"""
import re
import sys

from goals import Goals, read_tables, threads

# Seconds are processor seconds: two idle cores take no longer.
NASRNN_FASTER, NASRNN_SECONDS, NASRNN_MB = 2.0, 2, 300
NASRNN_STEPS = 5
MODELS, MODEL_SECONDS, MODEL_MB = 26, 10, 500
TASO_GRAPHS = ("BERT-8", "ResNeXt-50", "NasNet-A", "Inception-v3")
BEST_REACHABLE = ("BERT-8",)
TASO_SHARE, TASO_EXPANSIONS = 0.1, 100
LORA_LINEARS = 4
REPVGG_BLOCKS, REPVGG_CLASSIFIERS = 22, 1
LAYERS, EXPANSION, THREADS = 1.5, 1.5, 1.6
CERTIFY_SECONDS = 30


def by_name(table):
    """The rows of a table by their first cell, with numbers as such."""
    return {next(iter(row.values())): {c: number(v) for c, v in row.items()} for row in table}


def number(text):
    try:
        return float(text.rstrip("x"))
    except ValueError:
        return text


def nasrnn(row):
    met = (row["faster"] >= NASRNN_FASTER and row["cpu"] < NASRNN_SECONDS and
           row["MB"] < NASRNN_MB and row["left"] <= NASRNN_STEPS + 1)
    return met, (f"{row['faster']:.2f}x, {row['left']:.0f} products, "
                 f"{row['cpu']:.2f} s, {row['MB']:.0f} MB")


def all_models(models):
    slowest = max(models, key=lambda name: models[name]["cpu"])
    largest = max(models, key=lambda name: models[name]["MB"])
    cpu, mb = models[slowest]["cpu"], models[largest]["MB"]
    met = len(models) == MODELS and cpu < MODEL_SECONDS and mb < MODEL_MB
    return met, f"{len(models)} models; {slowest} {cpu:.2f} s, {largest} {mb:.0f} MB"


def never_slower(models):
    worse = [name for name, row in models.items() if row["after"] > row["before"]]
    return len(models) == MODELS and not worse, ", ".join(worse) or f"none of {len(models)} is"


def taso(rows, name):
    theirs, ours = rows[f"{name}, TASO's search"], rows[f"{name}, Isomer"]
    if theirs["expand"] != TASO_EXPANSIONS:
        raise ValueError(f"TASO's search stopped after {theirs['expand']:.0f} expansions")
    gain, share = theirs["after"] - ours["after"], ours["cpu"] / theirs["cpu"]
    best = name in BEST_REACHABLE and gain == 0
    how = "equal (best reachable)" if best else f"{theirs['after'] / ours['after']:.3f}x as fast"
    return (gain > 0 or best) and share <= TASO_SHARE, f"{how}, {share:.3f} of the time"


def products(row, wanted):
    return row["left"] == wanted, f"{row['left']:.0f} of {row['products']:.0f} products are left"


def llama(pays, does_not):
    met = pays["left"] < pays["products"] and does_not["left"] == does_not["products"]
    return met, (f"{pays['products']:.0f} products become {pays['left']:.0f} on h200, "
                 f"{does_not['left']:.0f} on cpu")


def at_most(a, b, limit):
    return a / b <= limit, f"{a / b:.2f} times"


def certificate(row):
    return row["check cpu"] < CERTIFY_SECONDS, f"{row['check cpu']:.1f} s, and {row['cpu']:.1f} s to write it"


def optimality(rows):
    worse = sum(row["worse"] for row in rows.values())
    nodes = max(row["nodes"] for row in rows.values())
    graphs = sum(row["graphs"] for row in rows.values())
    return worse == 0 and nodes >= 6, f"{worse:.0f} of {graphs:.0f} graphs of up to {nodes:.0f} nodes are worse"


def main():
    with open(sys.argv[1]) as file:
        tables = {head: by_name(rows) for head, rows in read_tables(file).items()}
    models, taso_rows = tables.get("model", {}), tables.get("TASO's graphs", {})
    growth, each = tables.get("growth", {}), tables.get("an expansion", {})
    goals = Goals()
    for name in ("nasrnn_fp32_b1_script", "nasrnn_fp16_b1_dynamo"):
        goals.check(name, f"{NASRNN_FASTER}x, {NASRNN_STEPS + 1} products, under {NASRNN_SECONDS} s "
                    f"and {NASRNN_MB} MB", lambda: nasrnn(models[name]))
    goals.check(f"all {MODELS} models", f"under {MODEL_SECONDS} s and {MODEL_MB} MB beyond the weights",
                lambda: all_models(models))
    goals.check("all models", "never estimated slower", lambda: never_slower(models))
    for name in TASO_GRAPHS:
        goals.check(name, f"better than TASO's search in {TASO_SHARE} of its time",
                    lambda: taso(taso_rows, name))
    goals.check("lora_mlp", f"{LORA_LINEARS} plain linears",
                lambda: products(models["lora_mlp_fp16_b1_dynamo"], LORA_LINEARS))
    for name in ("repvgg_a0_fp16_b1_dynamo", "repvgg_a0_fp32_b1_script"):
        goals.check(name, f"one convolution for each of {REPVGG_BLOCKS} blocks, and the classifier",
                    lambda: products(models[name], REPVGG_BLOCKS + REPVGG_CLASSIFIERS))
    goals.check("24 layers", f"at most {LAYERS} times 12 layers",
                lambda: at_most(growth["24 layers, 1 threads"]["cpu"],
                              growth["12 layers, 1 threads"]["cpu"], LAYERS))
    for column in ("cpu ms", "KB"):
        goals.check(f"an expansion, {column}", f"48 layers at most {EXPANSION} times 12 layers",
                    lambda: at_most(each["48 layers"][column], each["12 layers"][column], EXPANSION))
    goals.check("expansions per second", f"two threads at least {THREADS} times one",
                lambda: threads(growth["NasNet-A, plain, 1 threads"]["wall"],
                                growth["NasNet-A, plain, 1 threads"]["cpu"],
                                growth["NasNet-A, plain, 2 threads"]["wall"], THREADS))
    goals.check("llama blocks", "QKV and gate/up merged on h200, left alone on cpu",
                lambda: llama(models["llama_prefill_fp16_b1_dynamo"],
                              tables["model on cpu"]["llama_prefill_fp16_b1_dynamo"]))
    goals.check("small graphs", "equal to brute force on all of up to 6 nodes",
                lambda: optimality(tables["all graphs over"]))
    goals.check("ResNet-50", f"certificate checked in under {CERTIFY_SECONDS} s",
                lambda: certificate(tables["certificate"]["resnet50_fp32_b1_script"]))
    sys.exit(goals.missed)


if __name__ == "__main__":
    main()
