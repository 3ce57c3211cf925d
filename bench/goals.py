"""Tables of figures, and goals that they are held against."""


def read_tables(lines):
    """Rows, as dictionaries, by the first column of their table's header. A table ends with an empty line."""
    tables, columns, rows = {}, [], []
    for line in lines:
        if not line.startswith("|"):
            columns = columns if line.strip() else []
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not columns:
            columns, rows = cells, tables.setdefault(cells[0], [])
        elif not set(line) <= set("|-\n"):
            rows.append(dict(zip(columns, cells)))
    return tables


class Goals:
    """Prints rows; what is reached is a function that gives (met, text)."""

    def __init__(self):
        self.missed = 0
        print("\n| work | goal | reached | enough |\n|---|---|---|---|")

    def check(self, work, goal, reached):
        try:
            met, text = reached()
        except (KeyError, ValueError) as missing:
            met, text = False, f"no figures ({missing})"
        self.missed += not met
        print(f"| {work} | {goal} | {text} | {'yes' if met else 'MISSED'} |")


def threads(wall, cpu, wall_of_two, least):
    """How many times as fast two threads are as one, whose times these are."""
    if wall > 1.2 * cpu:
        raise ValueError("the machine was busy")
    times = wall / wall_of_two
    return times >= least, f"{times:.2f} times"
