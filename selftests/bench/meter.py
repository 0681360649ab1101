#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""Answers what a process and all below it have spent, for gagg-bench --idle-file.

meter.py PID IN OUT [TIMES]
meter.py PID NAME pty [TIMES]

Each line from file IN is answered in file OUT by a line: nanoseconds of CPU time, user
and system, of all threads since the process was first seen. A guest of User-mode Linux
is such a tree: the kernel's threads, and a process for each of the guest's programs. The
second form makes a terminal for both, and writes its path to file NAME. When it was
asked, in nanoseconds of CLOCK_MONOTONIC, goes to file TIMES, a line each.
"""
import os
import sys
import time
import tty


def processes():
    """pid: pid of its parent"""
    parents = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as f:
                    parents[int(name)] = int(f.read().rpartition(")")[2].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                pass
    return parents


def tree(root):
    parents = processes()
    below = {root}
    more = True
    while more:
        more = {pid for pid, parent in parents.items() if parent in below and pid not in below}
        below |= more
    return below


def cpu_ns(pid):
    """of all threads, those that have ended included: the process's CPU clock"""
    return time.clock_gettime_ns((~pid << 3) | 2)


def terminal(name):
    ours, theirs = os.openpty()
    tty.setraw(theirs)
    with open(name, "w", encoding="ascii") as f:
        f.write(os.ttyname(theirs))
    return ours, ours


def main():
    root = int(sys.argv[1])
    if sys.argv[3] == "pty":
        asked, answers = terminal(sys.argv[2])
    else:
        asked = os.open(sys.argv[2], os.O_RDONLY)
        answers = os.open(sys.argv[3], os.O_WRONLY)
    spent = {}
    with open(sys.argv[4] if len(sys.argv) > 4 else os.devnull, "w", encoding="ascii") as times:
        while os.read(asked, 1):
            times.write(f"{time.monotonic_ns()}\n")
            times.flush()
            for pid in tree(root):
                try:
                    spent[pid] = cpu_ns(pid)
                except OSError:
                    pass
            os.write(answers, b"%d\n" % sum(spent.values()))


main()
