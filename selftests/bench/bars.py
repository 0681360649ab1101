#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Rows of bars.sh to JSON and a table of ratios.

bars.py ROWS JSON

Of each repetition there is one ratio; a line has their median and quartiles.
"""
import collections
import json
import statistics
import sys

HEADERS = 64 + 8 + 20 + 14	# gagg, UDP, IPv4, Ethernet; tbf counts no more


def seconds(row):
    return row["p50_us"] / 1e6


def rate_of(row):
    units = {"mbit": 1e6, "gbit": 1e9}
    return float(row["rate"][:-4]) * units[row["rate"][-4:]] / 8


def wire_seconds(row, lanes=344, width=4):
    """What a host's link takes for its contributions and for its results."""
    datagrams = row["count"] * width / 4 / lanes
    others = (row["n"] - 1) / row["n"]
    return 2 * others * datagrams * (lanes * 4 + HEADERS) / rate_of(row)


def overlap(case):
    return {f"{system}: both / the longer alone":
            row["p50_us"] / max(row["comm_us"], row["compute_us"])
            for system, (row,) in case.items()}


def aggregators(case):
    return {"Gloo / gagg": seconds(case["gloo"][0]) / seconds(case["gagg"][0])}


def throughput(rows):
    return sum(row["bytes"] / seconds(row) for row in rows)


def groups(case):
    if len(case["both"]) < 2:
        raise IndexError
    return {"throughput of both / one's": throughput(case["both"]) / throughput(case["alone"]) * 2}


def loss(case):
    return {"with / without": seconds(case["with"][0]) / seconds(case["without"][0])}


def wire(case):
    width = {"int32": 4, "int16": 2, "int8": 1}
    return {f"{name}: time / the wire's own":
            seconds(row) / wire_seconds(row, width=width[name])
            for name, (row,) in case.items()}


def main():
    by_turn = collections.defaultdict(lambda: collections.defaultdict(list))
    with open(sys.argv[1], encoding="ascii") as f:
        for row in map(json.loads, f):
            if row["wrong"]:
                print(f"{row['bar']}, turn {row['rep']}: {row['wrong']} elements are wrong, left out")
                continue
            by_turn[row["bar"], row["rep"]][row["case"]].append(row)
    ratios = collections.defaultdict(list)
    for (bar, rep), case in by_turn.items():
        try:
            for name, ratio in globals()[bar](case).items():
                ratios[bar, name].append(ratio)
        except (IndexError, ZeroDivisionError):
            print(f"{bar}, turn {rep}: something is missing, left out")
    table = []
    for (bar, name), values in ratios.items():
        q1, _, q3 = statistics.quantiles(values, n=4, method="inclusive") \
            if len(values) > 1 else values * 3
        table.append({"bar": bar, "ratio": name, "median": round(statistics.median(values), 3),
                      "q1": round(q1, 3), "q3": round(q3, 3), "reps": len(values)})
        print("{bar:12} {ratio:36} {median:7.3f} ({q1:.3f}-{q3:.3f}), {reps} turns"
              .format(**table[-1]))
    with open(sys.argv[2], "w", encoding="ascii") as f:
        f.write("[\n" + ",\n".join(json.dumps(row) for row in table) + "\n]\n")


main()
