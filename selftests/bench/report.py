#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Rows of bench.sh to JSON, a table, and plots.

report.py ROWS JSON FOLDER
report.py --beside UML NATIVE JSON FOLDER

The second form has rows of one machine's User-mode Linux and of the machine itself,
and makes one table of both, uml.txt, and no plots.

A row of JSON is the median over the repetitions of what each has measured; "q1"
and "q3" are quartiles of p50_us. Wrong results are added up. A ratio is that of
medians: how many times longer a system takes than gagg.
"""
import collections
import json
import os
import statistics
import sys

import matplotlib
matplotlib.use("svg")
from matplotlib import pyplot  # noqa: E402

SYSTEMS = ["gagg", "twin", "gloo", "openmpi", "mpich", "nccl"]
REGIMES = {
    "unshaped": "unshaped, bursts cross whole",
    "single": "single datagrams and segments",
    "loss": "single, 1 % lost",
    "jitter": "single, netem delay 5ms 0.5ms",
    "reorder": "single, netem delay 2ms reorder 25% 50%",
}
BESIDE = 5 * 9 - 1      # five numbers
KEY = "system", "op", "n", "bytes", "regime", "mtu", "type", "wire"


def systems_of(rows):
    """in order; gagg-4 and twin-4 have four shards"""
    return sorted({r["system"] for r in rows}, key=lambda s: (SYSTEMS.index(s.split("-")[0]), s))


def title(regime):
    return REGIMES.get(regime, f"links of {regime}/s")


def quartiles(values):
    if len(values) < 2:
        return values[0], values[0]
    q = statistics.quantiles(values, n=4, method="inclusive")
    return q[0], q[2]


def merge(rows):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[tuple(row[k] for k in KEY)].append(row)
    merged = []
    for key, group in groups.items():
        row = dict(zip(KEY, key))
        for name in "p50_us", "p99_us", "max_us", "cpu_s_per_gb":
            row[name] = round(statistics.median(r[name] or 0 for r in group), 4)
        row["wrong"] = sum(r["wrong"] for r in group)
        q1, q3 = quartiles([r["p50_us"] for r in group])
        row |= {"q1": round(q1, 4), "q3": round(q3, 4), "reps": len(group),
                "algorithm": collections.Counter(r["algorithm"] for r in group)
                .most_common(1)[0][0]}
        merged.append(row)
    return merged


def size(n):
    for unit in "", "K", "M":
        if n < 1024:
            return f"{n}{unit}"
        n //= 1024
    return f"{n}G"


def cell(row, ours):
    """Milliseconds, quartiles, and the ratio to gagg of the time and of the CPU."""
    if not row:
        return "-"
    if row["wrong"]:
        return f"{row['wrong']} wrong"
    text = f"{row['p50_us'] / 1e3:.2f} ({row['q1'] / 1e3:.2f}-{row['q3'] / 1e3:.2f})"
    if ours and row is not ours:
        text += f" {row['p50_us'] / ours['p50_us']:.2f}x"
        # 0: not known
        if row["cpu_s_per_gb"] > 0 and ours["cpu_s_per_gb"] > 0:
            text += f" cpu {row['cpu_s_per_gb'] / ours['cpu_s_per_gb']:.2f}x"
    return text


def table(rows):
    at = {(r["regime"], r["n"], r["type"], r["bytes"], r["system"]): r for r in rows}
    systems = systems_of(rows)
    lines = []
    for regime, n, dtype in dict.fromkeys((r["regime"], r["n"], r["type"]) for r in rows):
        lines += ["", f"{title(regime)}, MTU {rows[0]['mtu']}, N={n}, {dtype}: p50 in ms (quartiles), times gagg's; "
                  "CPU, times gagg's"]
        lines.append(f"{'size':>6} " + " ".join(f"{s:>34}" for s in systems))
        for b in sorted({r["bytes"] for r in rows}):
            row = [at.get((regime, n, dtype, b, s)) for s in systems]
            if any(row):
                ours = at.get((regime, n, dtype, b, "gagg"))
                lines.append(f"{size(b):>6} " + " ".join(f"{cell(r, ours):>34}" for r in row))
    return "\n".join(lines[1:]) + "\n"


def plot(path, title, xlabel, series):
    if not series:
        return
    figure, axes = pyplot.subplots(figsize=(6, 4))
    for name, points in series.items():
        points.sort()
        axes.errorbar([p[0] for p in points], [p[1] for p in points],
                      yerr=([p[1] - p[2] for p in points], [p[3] - p[1] for p in points]),
                      marker="o", capsize=2, label=name)
    axes.set(title=title, xlabel=xlabel, ylabel="ms", xscale="log", yscale="log")
    axes.grid(True, which="both", alpha=0.3)
    axes.legend()
    ticks = sorted({p[0] for points in series.values() for p in points})
    axes.set_xticks(ticks, [size(t) for t in ticks])
    axes.minorticks_off()
    figure.tight_layout()
    figure.savefig(path)
    pyplot.close(figure)


def series_of(rows, x):
    series = {}
    for system in systems_of(rows):
        points = [(r[x], r["p50_us"] / 1e3, r["q1"] / 1e3, r["q3"] / 1e3)
                  for r in rows if r["system"] == system and not r["wrong"]]
        if points:
            series[system] = points
    return series


def plots(rows, folder):
    os.makedirs(folder, exist_ok=True)
    for regime, n, dtype in {(r["regime"], r["n"], r["type"]) for r in rows}:
        some = [r for r in rows if (r["regime"], r["n"], r["type"]) == (regime, n, dtype)]
        plot(f"{folder}/size-{regime}-{n}-{dtype}.svg", f"{title(regime)}, N={n}, {dtype}",
             "bytes", series_of(some, "bytes"))
    for regime, b, dtype in {(r["regime"], r["bytes"], r["type"]) for r in rows}:
        some = [r for r in rows if (r["regime"], r["bytes"], r["type"]) == (regime, b, dtype)]
        if len({r["n"] for r in some}) > 1:
            plot(f"{folder}/hosts-{regime}-{size(b)}-{dtype}.svg",
                 f"{title(regime)}, {size(b)}, {dtype}", "hosts", series_of(some, "n"))


def beside_cell(row, ours):
    if not row:
        return "-".rjust(BESIDE)
    if row["wrong"]:
        return f"{row['wrong']} wrong".rjust(BESIDE)
    cpu = row["cpu_s_per_gb"] * row["bytes"] / 1e6
    ratio = f"{row['p50_us'] / ours['p50_us']:.2f}" if ours else "-"
    return " ".join(f"{x:>8}" for x in (
        *(f"{row[k] / 1e3:.2f}" for k in ("p50_us", "p99_us", "max_us")), ratio, f"{cpu:.1f}"))


def beside(rows):
    """Lines are systems, columns where they ran."""
    at = {(r["regime"], r["n"], r["type"], r["bytes"], r["system"], r["where"]): r for r in rows}
    lines = ["ms: median, 99th percentile, maximum; times gagg's median (in User-mode Linux); CPU"]
    for regime, n, dtype in dict.fromkeys((r["regime"], r["n"], r["type"]) for r in rows):
        lines += ["", f"{title(regime)}, MTU {rows[0]['mtu']}, N={n}, {dtype}",
                  f"{'':>5} {'':>8} | {'User-mode Linux':>{BESIDE}} | {'natively':>{BESIDE}}",
                  f"{'size':>5} {'system':>8} | " + " | ".join(
                      [" ".join(f"{x:>8}" for x in ("p50", "p99", "max", "ratio", "cpu"))] * 2)]
        for b in sorted({r["bytes"] for r in rows}):
            ours = at.get((regime, n, dtype, b, "gagg", "uml"))
            for s in systems_of(rows):
                some = [at.get((regime, n, dtype, b, s, where)) for where in ("uml", "native")]
                if any(some):
                    lines.append(f"{size(b):>5} {s:>8} | " +
                                 " | ".join(beside_cell(r, ours) for r in some))
    return "\n".join(lines) + "\n"


def rows_of(path):
    with open(path, encoding="ascii") as f:
        return merge(json.loads(line) for line in f)


def main():
    *paths, json_path, folder = sys.argv[1:]
    if paths[0] == "--beside":
        rows = [row | {"where": where} for where, path in zip(("uml", "native"), paths[1:])
                for row in rows_of(path)]
        name = "uml.txt"
    else:
        rows = rows_of(paths[0])
        name = "table.txt"
    if not rows:
        sys.exit("bench: nothing was measured")
    with open(json_path, "w", encoding="ascii") as f:
        f.write("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
    os.makedirs(folder, exist_ok=True)
    if name == "table.txt":
        plots(rows, folder)
        text = table(rows)
    else:
        text = beside(rows)
    with open(f"{folder}/{name}", "w", encoding="ascii") as f:
        f.write(text)
    print(text, end="")
    print(f"{json_path}, {folder}/{name}" + ("; plots beside it" if name == "table.txt" else ""))
    if any(row["wrong"] for row in rows):
        sys.exit("bench: wrong results")


main()
