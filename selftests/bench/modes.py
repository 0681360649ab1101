#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Rows of modes.sh to JSON, a table in Markdown, and curves.

modes.py ROWS JSON FOLDER

Figures are medians over the seeds, with quartiles; a seed that does not come to TARGET percent
counts as one that takes for ever, and how many do is said where not all of them do.
"""
import collections
import json
import math
import os
import statistics
import sys

import matplotlib
matplotlib.use("svg")
# text stays text, and the same rows make the same file
matplotlib.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "gagg"})
from matplotlib import pyplot  # noqa: E402

TARGET = 95
SCENARIOS = {
    "equal": "all equal",
    "steady": "one three times as slow",
    "transient": "5 % of the batches four times as long",
    "8mbit": "links of 8 Mbit/s",
    "2mbit": "links of 2 Mbit/s",
}


def reached(row):
    """(ms, steps) of the first point that has TARGET, or None."""
    for steps, ms, _, accuracy in row["curve"]:
        if accuracy >= TARGET:
            return ms, steps
    return None


def step_ms(row):
    steps, ms = row["curve"][-1][:2]
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
    return [time, spread([hit[1] for hit in hits], "{:.0f}"),
            f"{statistics.median(map(step_ms, rows)):.0f}"]


def table(at, modes, scenarios):
    lines = ["| mode | " + " | ".join(f"{SCENARIOS[s]}: s | steps | ms a step"
                                      for s in scenarios) + " |",
             "|---" * (1 + 3 * len(scenarios)) + "|"]
    for mode in modes:
        cells = [c for s in scenarios for c in cell(at[mode, s])]
        lines.append(f"| `{mode}` | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def mean_curve(rows):
    """Median over the seeds of time and loss, point by point."""
    for points in zip(*(row["curve"] for row in rows)):
        yield (statistics.median(p[1] for p in points) / 1000,
               statistics.median(p[2] for p in points))


def plot(path, title, curves):
    figure, axes = pyplot.subplots(figsize=(9, 6))
    styles = ["-", "--", ":"]
    for i, (mode, points) in enumerate(curves.items()):
        axes.plot(*zip(*points), styles[i // 10 % 3], label=mode)
    axes.set(title=title, xlabel="s", ylabel="loss of the training samples", yscale="log")
    axes.grid(True, which="both", alpha=0.3)
    axes.legend(fontsize="x-small", ncols=2)
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    pyplot.close(figure)


def main():
    rows_path, json_path, folder = sys.argv[1:]
    with open(rows_path, encoding="ascii") as f:
        rows = [json.loads(line) for line in f]
    rows = [row for row in rows if row["curve"]]
    if not rows:
        sys.exit("bench-modes: nothing was measured")
    with open(json_path, "w", encoding="ascii") as f:
        f.write("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
    at = collections.defaultdict(list)
    for row in rows:
        at[row["mode"], row["scenario"]].append(row)
    modes = list(dict.fromkeys(row["mode"] for row in rows))
    scenarios = [s for s in SCENARIOS if any(row["scenario"] == s for row in rows)]
    os.makedirs(folder, exist_ok=True)
    for scenario in scenarios:
        plot(f"{folder}/loss-{scenario}.svg", f"four ranks, {SCENARIOS[scenario]}",
             {mode: list(mean_curve(at[mode, scenario])) for mode in modes
              if at[mode, scenario]})
    text = table(at, modes, scenarios)
    with open(folder + "/table.md", "w", encoding="ascii") as f:
        f.write(text)
    print(text, end="")


main()
