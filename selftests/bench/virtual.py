#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Rows of selftests/bench/virtual to JSON and a table.

virtual.py ROWS JSON TABLE

The bound of an all-reduce of V bytes by n hosts: the payload that a host's link has
to carry each way, 2 V (n - 1) / n, at its rate, and the light's way: a contribution
and a result, each over two links, so four times a link's delay. Headers are not in it.
A ratio is that of the median to this. Several seeds: their median, least and greatest.
"""
import collections
import json
import re
import statistics
import sys

SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1}
BITS = {"kbit": 1e3, "mbit": 1e6, "gbit": 1e9}
SYSTEMS = ["gagg", "gloo"]


def quantity(text, units):
    number, unit = re.fullmatch(r"([0-9.]+)([a-z]+)", text).groups()
    return float(number) * units[unit]


def bound_us(row):
    """of the wire"""
    n = row["n"]
    payload = 2 * row["bytes"] * (n - 1) / n * 8 / quantity(row["rate"], BITS)
    return (payload + 4 * quantity(row["delay"], SECONDS)) * 1e6


def size(n):
    for unit in "", "K", "M":
        if n < 1024:
            return f"{n}{unit}"
        n //= 1024
    return f"{n}G"


def merge(rows):
    groups = collections.defaultdict(list)
    for row in rows:
        groups[row["n"], row["rate"], row["delay"], row["bytes"], row["system"]].append(row)
    for (n, rate, delay, size_, system), group in groups.items():
        row = {"system": system, "n": n, "rate": rate, "delay": delay, "bytes": size_,
               "type": group[0]["type"], "wrong": sum(r["wrong"] for r in group),
               "ops": sum(r["ops"] for r in group),
               "seeds": [int(r["seed"]) for r in group],
               "algorithm": sorted({r["algorithm"] for r in group if r["algorithm"]}),
               "dropped": max((r["dropped"] or 0 for r in group)),
               "bound_us": round(bound_us(group[0]), 3)}
        times = [r["p50_us"] for r in group]
        row |= {"p50_us": round(statistics.median(times), 4), "least_us": min(times),
                "greatest_us": max(times),
                "p99_us": statistics.median(r["p99_us"] for r in group),
                "max_us": max(r["max_us"] for r in group)}
        if group[0]["resent"] is not None:
            row["resent"] = round(statistics.median(r["resent"] for r in group), 1)
        row["ratio"] = round(row["p50_us"] / row["bound_us"], 4)
        yield row


def cell(row):
    if not row:
        return ["-"] * 4
    if row["wrong"]:
        return [f"{row['wrong']} wrong"] + [""] * 3
    spread = ""
    if len(row["seeds"]) > 1:
        spread = f" ({row['least_us'] / row['bound_us']:.2f}-{row['greatest_us'] / row['bound_us']:.2f})"
    return [f"{row['p50_us']:.1f}", f"{row['p99_us']:.1f}", f"{row['max_us']:.1f}",
            f"{row['ratio']:.2f}{spread}"]


def table(rows):
    at = {(r["n"], r["rate"], r["delay"], r["bytes"], r["system"]): r for r in rows}
    systems = [s for s in SYSTEMS if any(r["system"] == s for r in rows)]
    lines = ["Microseconds: the bound of the wire (payload and light), median, 99th percentile,",
             "maximum; times the bound. Delays are of a link; an all-reduce crosses four.", ""]
    head = f"{'N':>3} {'rate':>8} {'delay':>6} {'size':>5} {'bound':>11}"
    for s in systems:
        head += f" | {s:>11} {'p99':>11} {'max':>11} {'ratio':>16}"
    lines.append(head + (" |  resent" if "gagg" in systems else ""))
    for n, rate, delay in dict.fromkeys((r["n"], r["rate"], r["delay"]) for r in rows):
        for b in sorted({r["bytes"] for r in rows if (r["n"], r["rate"], r["delay"]) == (n, rate, delay)}):
            some = [at.get((n, rate, delay, b, s)) for s in systems]
            line = f"{n:>3} {rate:>8} {delay:>6} {size(b):>5} {next(filter(None, some))['bound_us']:>11.1f}"
            for row in some:
                p50, p99, most, ratio = cell(row)
                line += f" | {p50:>11} {p99:>11} {most:>11} {ratio:>16}"
            if some[0] and "resent" in some[0]:
                line += f" | {some[0]['resent']:>7.1f}"
            lines.append(line)
        lines.append("")
    return "\n".join(lines)


def main():
    rows_path, json_path, table_path = sys.argv[1:]
    with open(rows_path, encoding="ascii") as f:
        rows = list(merge(map(json.loads, f)))
    if not rows:
        sys.exit("bench: nothing was measured")
    with open(json_path, "w", encoding="ascii") as f:
        f.write("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")
    text = table(rows)
    with open(table_path, "w", encoding="ascii") as f:
        f.write(text)
    print(text, end="")
    print(f"{json_path}, {table_path}")
    if any(row["wrong"] for row in rows):
        sys.exit("bench: wrong results")
    # what no network does
    for row in rows:
        if row["p50_us"] < row["bound_us"]:
            sys.exit(f"bench: {row['system']}, N={row['n']}, {size(row['bytes'])} on {row['rate']}, "
                     f"{row['delay']}: faster than the wire; it was not measured what was meant")


main()
