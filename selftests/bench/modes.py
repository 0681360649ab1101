#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What modes.sh has written, to a table.

modes.py table JSON FOLDER ROWS...     JSON, a table in Markdown, and curves
modes.py search TABLE CONF ROWS...     a table in Markdown, and the best settings to CONF

Figures are medians over the seeds, with quartiles; a seed that does not come to TARGET percent
counts as one that takes for ever, and how many do is said where not all of them do.
"""
import collections
import json
import math
import os
import statistics
import sys

TARGET = 95
SCENARIOS = {
    "equal": "all equal",
    "steady": "one three times as slow",
    "transient": "5 % of the batches four times as long",
    "8mbit": "links of 8 Mbit/s",
    "5mbit": "links of 5 Mbit/s",
    "2mbit": "links of 2 Mbit/s",
    "slowlink": "a worker's link of 2 Mbit/s, others of 20",
    "eight": "eight ranks, links of 20 Mbit/s",
}
CONF = """\
# SPDX-License-Identifier: GPL-2.0
#
# Made by "make search-modes": the rate and the momentum with which each mode takes the least
# median time over {scenario}, with seeds {seeds}.
#
# MODE RATE MOMENTUM
"""


def title(scenario):
    return SCENARIOS.get(scenario, "links of " + scenario.replace("mbit", " Mbit/s"))


def row_of(head, seed, curve):
    """A training; of one that has diverged there is no curve."""
    return {"number": int(head[1]), "scenario": head[2], "seed": seed, "sync": head[4],
            "mode": " ".join(head[5:]), "curve": curve}


def trainings(path):
    """The rows of a file: each training of each "training" line."""
    rows, head, curve, behind = [], None, [], 0
    with open(path, encoding="ascii") as f:
        for line in f:
            words = line.split()
            if words[0] == "training":
                seeds = [int(seed) for seed in words[3].split(",")]
                head, curve, behind = words, [], 0
            elif words[0] == "curve":
                curve.append([int(words[1])] + [float(word) for word in words[2:]])
            elif words[0] == "diverged":
                rows += [row_of(head, seed, []) for seed in seeds]
                curve = []
            elif words[0] == "link":
                for row in rows[-behind:]:
                    row["link"] = [int(word) for word in words[1:]]
            elif line.startswith("rank 0: accuracy"):
                behind += 1
                rows.append(row_of(head, seeds.pop(0), curve))
                curve = []
    return rows


def read(paths):
    rows = [row for path in paths for row in trainings(path)]
    if not rows:
        sys.exit("bench-modes: nothing was measured")
    return sorted(rows, key=lambda row: row["number"])


def reached(row):
    """(ms, steps) of the first point that has TARGET, or None."""
    for steps, ms, _, accuracy in row["curve"]:
        if accuracy >= TARGET:
            return ms, steps
    return None


def step_ms(row):
    steps, ms = row["curve"][-1][:2] if row["curve"] else (1, math.inf)
    return ms / steps


def quartiles(values):
    """The three, of values of which some may be infinite."""
    if len(values) < 2:
        return values * 3
    ordered = sorted(values)
    return [ordered[round(q * (len(ordered) - 1))] for q in (0.25, 0.5, 0.75)]


def spread(values, form):
    """The median, and the quartiles in brackets if there are enough values."""
    low, middle, high = quartiles(values)
    if middle == math.inf:
        return "never"
    text = form.format(middle)
    if len(values) < 4 or low == high:
        return text
    return f"{text} [{form.format(low)}, {form.format(high)}]"


def cell(rows):
    if not rows:
        return ["-"] * 3
    hits = [reached(row) or (math.inf, math.inf) for row in rows]
    time = spread([hit[0] / 1000 for hit in hits], "{:.1f}")
    late = sum(hit[0] == math.inf for hit in hits)
    if late and time != "never":
        time += f" ({len(rows) - late} of {len(rows)})"
    step = statistics.median(map(step_ms, rows))
    return [time, spread([hit[1] for hit in hits], "{:.0f}"),
            "-" if step == math.inf else f"{step:.0f}"]


def table(at, modes, scenarios):
    lines = ["| mode | " + " | ".join(f"{title(s)}: s | steps | ms a step"
                                      for s in scenarios) + " |",
             "|---" * (1 + 3 * len(scenarios)) + "|"]
    for mode in modes:
        cells = [c for s in scenarios for c in cell(at[mode, s])]
        lines.append(f"| `{mode}` | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def megabits(scenario):
    """Of the link of the home."""
    return {"slowlink": 100, "eight": 20}.get(scenario) or float(scenario.replace("mbit", ""))


def busy(at, modes, scenarios):
    """Percent of the home's link that trainings have used; where there is one."""
    scenarios = [s for s in scenarios if any("link" in row for m in modes for row in at[m, s])]
    if not scenarios:
        return ""
    lines = ["", "| mode | " + " | ".join(f"{title(s)}: % of the home's link in | out"
                                          for s in scenarios) + " |",
             "|---" * (1 + 2 * len(scenarios)) + "|"]
    for mode in modes:
        cells = []
        for scenario in scenarios:
            rows = [row for row in at[mode, scenario] if "link" in row]
            ms = sum(row["curve"][-1][1] for row in rows)
            for way in range(2):
                used = rows and rows[0]["link"][way] * 8 / 1000 / ms / megabits(scenario)
                cells.append(f"{used * 100:.0f}" if rows else "-")
        lines.append(f"| `{mode}` | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def mean_curve(rows):
    """Median over the seeds of time and loss, point by point."""
    for points in zip(*(row["curve"] for row in rows if row["curve"])):
        yield (statistics.median(p[1] for p in points) / 1000,
               statistics.median(p[2] for p in points))


def plot(path, text, curves):
    # a search does without
    import matplotlib  # pylint: disable=import-outside-toplevel
    matplotlib.use("svg")
    # text stays text, and the same rows make the same file
    matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "gagg"})
    from matplotlib import pyplot  # pylint: disable=import-outside-toplevel

    figure, axes = pyplot.subplots(figsize=(9, 6))
    styles = ["-", "--", ":"]
    for i, (mode, points) in enumerate(curves.items()):
        axes.plot(*zip(*points), styles[i // 10 % 3], label=mode)
    axes.set(title=text, xlabel="s", ylabel="loss of the training samples", yscale="log")
    axes.grid(True, which="both", alpha=0.3)
    axes.legend(fontsize="x-small", ncols=2)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as f:
        f.write(text)


def by_mode(rows):
    at = collections.defaultdict(list)
    for row in rows:
        at[row["mode"], row["scenario"]].append(row)
    return at


def show(rows, json_path, folder):
    write(json_path, "[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
    os.makedirs(folder, exist_ok=True)
    at = by_mode(rows)
    first = rows[0]["scenario"]
    modes = list(dict.fromkeys(row["mode"] for row in rows if row["scenario"] == first))
    scenarios = list(dict.fromkeys(row["scenario"] for row in rows))
    for scenario in scenarios:
        plot(f"{folder}/loss-{scenario}.svg", title(scenario),
             {mode: list(mean_curve(at[mode, scenario])) for mode in modes
              if at[mode, scenario]})
    text = table(at, modes, scenarios) + busy(at, modes, scenarios)
    write(folder + "/table.md", text)
    print(text, end="")


def setting(mode):
    """A row's mode to (mode, rate, momentum)."""
    words = mode.split()
    rate, momentum = words.index("--rate"), words.index("--momentum")
    return ("+".join(words[:rate]), words[rate + 1], words[momentum + 1])


def chosen_before(conf):
    """What the file has; of a mode that is searched it is replaced."""
    with open(conf, encoding="ascii") as f:
        lines = [line.split() for line in f if line[0] not in "#\n"]
    return {mode: (rate, momentum) for mode, rate, momentum in lines}


def search(rows, path, conf):
    at, found = by_mode(rows), collections.defaultdict(list)
    for (name, _), trained in at.items():
        mode, rate, momentum = setting(name)
        times = [(reached(row) or (math.inf,))[0] for row in trained]
        # of those that are as good: the one whose seeds take the least time together
        found[mode].append((statistics.median(times), sum(times), rate, momentum))
    lines = ["| mode | best | s | second | s | bsp's | s |", "|---" * 7 + "|"]
    text = CONF.format(scenario=title(rows[0]["scenario"]),
                       seeds=" ".join(str(seed) for seed in
                                      sorted({row["seed"] for row in rows})))
    chosen = chosen_before(conf)
    for mode, tried in found.items():
        tried.sort()
        chosen[mode] = tried[0][2:]
    bsp = chosen.get("bsp")
    for mode, tried in found.items():
        control = [t for t in tried if t[2:] == bsp] or [(math.inf, 0, "-", "-")]
        cells = [f"{rate}, {momentum} | {ms / 1000:.1f}"
                 for ms, _, rate, momentum in [*tried[:2], control[0]]]
        lines.append(f"| `{mode.replace('+', ' ')}` | " + " | ".join(cells) + " |")
    write(path, "\n".join(lines) + "\n")
    write(conf, text + "".join(" ".join((mode, *own)) + "\n" for mode, own in chosen.items()))
    print("\n".join(lines))


def main():
    what, one, other, *paths = sys.argv[1:]
    (search if what == "search" else show)(read(paths), one, other)


main()
