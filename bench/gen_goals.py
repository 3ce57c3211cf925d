"""What the generator is to reach, and what it reaches.

usage: gen_goals.py TABLES

Reads the tables that bench/gen_figures.sh prints and prints one more: a row for
each goal with the goal, what was reached, and whether that is enough. The exit
code is the number of goals that are missed; a goal whose figures are not there
is missed, but for depth 5 and other people's rules, which may be left out.
"""
import sys

from goals import Goals, read_tables, threads

# TASO's generator takes 114 s on the machine of the figures, and 168 s on the one
# that the goals were set on.
SCALE = 114 / 168
# preset, depth, outputs: seconds of one thread there, GB.
ENUMERATION = {
    ("taso-full", "3", "any set"): (1.5, 0.15),
    ("taso-2d-small", "4", "any set"): (8, 0.6),
    ("taso-full", "4", "any set"): (240, 8),
    ("taso-full", "4", "connected"): (60, 1.5),
}
DEEPEST, DEEPEST_SECONDS, DEEPEST_GB = ("taso-full", "5", "connected"), 3600, 18
THREADS = 1.7
# preset, depth: seconds for generalising, proving and minimising.
REDUCTION = {("taso-full", "3"): 30, ("taso-full", "4"): 15 * 60}
DEFAULT_SECONDS = 10 * 60


def enumeration(row, seconds, gigabytes):
    cpu, gb = float(row["cpu_s"]), float(row["MB"]) / 1024
    return cpu <= seconds and gb <= gigabytes, f"{cpu:.2f} s, {gb:.2f} GB"


def deepest(row, ended):
    wall, gb = float(row["wall_s"]), float(row["MB"]) / 1024
    met = ended and wall <= DEEPEST_SECONDS and gb <= DEEPEST_GB
    return met, f"{'ended' if ended else 'stopped'} after {wall:.0f} s, {gb:.1f} GB"


def reduction(row, seconds):
    if row["end"] != "complete":
        return False, f"stopped ({row['end']}) after {float(row['wall_s']):.0f} s"
    took = float(row["generalise_s"]) + float(row["minimise_s"])
    return took < seconds, f"{took:.0f} s"


def default(row):
    wall = float(row["wall_s"])
    return row["end"] == "complete" and wall < DEFAULT_SECONDS, f"{wall:.0f} s"


def covered(row):
    return row["missing"] == "0", (f"{row['covered']} of {row['rules']} covered, {row['false']} false, "
                                   f"{row['ill_formed']} ill-formed, {row['missing']} missing")


def main():
    with open(sys.argv[1]) as file:
        lines = file.readlines()
    tables = read_tables(lines)
    rows = {(r["preset"], r["d"], r["outputs"], r["t"]): r for r in tables.get("preset", [])}
    files = {(r["file"], r["d"]): r for r in tables.get("file", [])}
    goals = Goals()
    for key, (seconds, gb) in ENUMERATION.items():
        goals.check(", ".join(key), f"at most {seconds * SCALE:.1f} s and {gb} GB",
                    lambda: enumeration(rows[(*key, "1")], seconds * SCALE, gb))
    for key in ENUMERATION:
        if key[2] == "any set":
            goals.check(", ".join(key), f"two threads at least {THREADS} times one",
                        lambda: threads(float(rows[(*key, "1")]["wall_s"]), float(rows[(*key, "1")]["cpu_s"]),
                                        float(rows[(*key, "2")]["wall_s"]), THREADS))
    if (*DEEPEST, "2") in rows:
        ended = not any(line.startswith("stopped") for line in lines)
        goals.check(", ".join(DEEPEST), f"inside {DEEPEST_SECONDS} s and {DEEPEST_GB} GB, two threads",
                    lambda: deepest(rows[(*DEEPEST, "2")], ended))
    for key, seconds in REDUCTION.items():
        goals.check(", ".join(key), f"generalised and minimised in under {seconds} s, two threads",
                    lambda: reduction(files[key], seconds))
    goals.check("default", f"under {DEFAULT_SECONDS} s, two threads", lambda: default(files["default", "3"]))
    for row in tables.get("covers", []):
        goals.check(row["covers"], "no rule is missing", lambda: covered(row))
    sys.exit(goals.missed)


if __name__ == "__main__":
    main()
