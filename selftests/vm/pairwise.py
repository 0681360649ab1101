#!/usr/bin/python3 -IS
# SPDX-License-Identifier: GPL-2.0
"""Cases that cover every pair of values of parameters.

  pairwise.py [--full] SEED NAME=VALUE,VALUE... [not:NAME=VALUE,..:NAME=VALUE,..]...

Prints one case a line, "NAME=VALUE NAME=VALUE ...", sorted. "not:" forbids that
the parameters have any of these values together. --full prints the product.
"""
import itertools
import random
import sys


def parse(args):
    names, values, forbidden = [], [], []
    for arg in args:
        if arg.startswith("not:"):
            rule = {}
            for part in arg[4:].split(":"):
                name, _, choice = part.partition("=")
                rule[name] = set(choice.split(","))
            forbidden.append(rule)
        else:
            name, _, choice = arg.partition("=")
            names.append(name)
            values.append(choice.split(","))
    return names, values, forbidden


def allowed(case, forbidden):
    """A case may be incomplete: what is not there breaks no rule."""
    return not any(all(case.get(name) in choice for name, choice in rule.items())
                   for rule in forbidden)


def pairs_of(case, names):
    return {(a, case[a], b, case[b])
            for a, b in itertools.combinations(names, 2)}


def complete(case, names, values, forbidden, todo, rng):
    """Extend a pair to a case; each value is the one that covers most."""
    order = [n for n in names if n not in case]
    rng.shuffle(order)
    for name in order:
        best = []
        for value in values[names.index(name)]:
            trial = dict(case)
            trial[name] = value
            if not allowed(trial, forbidden):
                continue
            known = [n for n in names if n in trial]
            gain = len(pairs_of(trial, known) & todo)
            best.append((gain, rng.random(), value))
        if not best:
            return None
        case[name] = max(best)[2]
    return case


def cover(names, values, forbidden, rng):
    todo = set()
    for (a, va), (b, vb) in itertools.combinations(list(zip(names, values)), 2):
        for x, y in itertools.product(va, vb):
            if allowed({a: x, b: y}, forbidden):
                todo.add((a, x, b, y))
    cases = []
    while todo:
        best = None
        for _ in range(20):
            a, x, b, y = rng.choice(sorted(todo))
            case = complete({a: x, b: y}, names, values, forbidden, todo, rng)
            if case is None:
                continue
            gain = len(pairs_of(case, names) & todo)
            if best is None or gain > best[0]:
                best = (gain, case)
        if best is None:
            sys.exit("pairwise: the rules leave pairs that no case can have")
        todo -= pairs_of(best[1], names)
        cases.append(best[1])
    return cases


def main():
    args = sys.argv[1:]
    full = args[0] == "--full"
    if full:
        args.pop(0)
    names, values, forbidden = parse(args[1:])
    if full:
        cases = [dict(zip(names, choice)) for choice in itertools.product(*values)]
        cases = [case for case in cases if allowed(case, forbidden)]
    else:
        cases = cover(names, values, forbidden, random.Random(args[0]))
    rank = {name: {v: i for i, v in enumerate(vs)} for name, vs in zip(names, values)}
    cases.sort(key=lambda case: [rank[n][case[n]] for n in names])
    for case in cases:
        print(" ".join(f"{n}={case[n]}" for n in names))


main()
