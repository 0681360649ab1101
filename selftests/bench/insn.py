#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Rows of insn.sh: to JSON, to a table, against what is recorded.

insn.py MODE ROWS JSON RECORDED     MODE: all, --check, --record

ROWS may be of several boots. The least of a figure is the figure: what else the
machine does can only add to it. "transmit" is what remains of "last" without
"aggregate": publish a chunk, and send its result.
"""
import json
import sys

WORSE = 1.03


def key(row):
    return row["system"], row["what"], row["unit"]


def least(rows):
    best = {}
    for row in rows:
        was = best.setdefault(key(row), row)
        if row["instructions"] < was["instructions"]:
            best[key(row)] = row
    return list(best.values())


def with_transmit(rows):
    """The rows, and behind each "last" what it has more than its "aggregate"."""
    at = {row["what"]: row["instructions"] for row in rows}
    out = []
    for row in rows:
        out.append(row)
        name, _, how = row["what"].partition(", ")
        if name == "last":
            more = row["instructions"] - at["aggregate, " + how]
            out.append({**row, "what": "transmit, " + how, "instructions": round(more, 1)})
    return out


def own(rows):
    return [row for row in rows if row["system"] == "gagg"]


def write(path, rows):
    with open(path, "w", encoding="ascii") as f:
        f.write("[\n" + ",\n".join(json.dumps(row) for row in rows) + "\n]\n")


def table(rows, recorded):
    print(f"{'system':10} {'what':26} {'unit':18} {'instructions':>12} {'recorded':>10}")
    for row in rows:
        was = recorded.get(key(row))
        print(f"{row['system']:10} {row['what']:26} {row['unit']:18} "
              f"{row['instructions']:12.2f} {'' if was is None else f'{was:10.2f}'}")


def bar(rows):
    """An aggregated datagram against one that is dropped: at most 1.5."""
    at = {row["what"]: row["instructions"] for row in rows}
    for how in "whole", "merged":
        if "aggregate, " + how in at:
            ratio = at["aggregate, " + how] / at["drop, " + how]
            print(f"aggregate / drop, {how}: {ratio:.2f}")


def check(rows, recorded):
    """True if nothing is worse, or missing. Better is said: to be recorded."""
    good = True
    now = {key(row): row["instructions"] for row in own(rows)}
    for name, was in recorded.items():
        if name not in now:
            print(f"not measured: {name[1]}")
            good = False
        elif now[name] > was * WORSE:
            print(f"worse: {name[1]}: {now[name]:.2f} instead of {was:.2f} instructions "
                  f"per {name[2]}")
            good = False
        elif now[name] * WORSE < was:
            print(f"better: {name[1]}: make record-insn")
    return good


def main():
    mode, rows_path, json_path, recorded_path = sys.argv[1:]
    with open(rows_path, encoding="ascii") as f:
        rows = with_transmit(least([json.loads(line) for line in f]))
    write(json_path, rows)
    recorded = {}
    if mode != "--record":
        with open(recorded_path, encoding="ascii") as f:
            recorded = {key(row): row["instructions"] for row in json.load(f)}
    table(rows, recorded)
    bar(rows)
    if mode == "--record":
        write(recorded_path, own(rows))
    elif mode == "--check" and not check(rows, recorded):
        sys.exit(1)


main()
