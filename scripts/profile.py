#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0
"""What perf has sampled, by name.

profile.py watch FILE       notes which program of the guest each process of User-mode
                            Linux is, by the build id in its memory, until it is killed
profile.py report FOLDER VMLINUZ FOLDED
                            samples in FOLDER (perf script) to a table, and to FOLDED,
                            stacks for flamegraph.pl

In FOLDER: samples; windows: times, each second one the end of a batch of operations; rows:
of gagg-bench, which say how many of the last of these count (all counts if there are no
windows); of a guest stubs (of watch), kallsyms and maps (of profile-guest.sh).
Parts: "module", "kernel" (of the guest; of the host, if there is no guest), "host" (the
host's kernel, on behalf of the guest's), "library" (libgagg), "program" (gaggd, twin),
"libc" (and other libraries). Left out: the benchmark's, the test's and the tools' own
work in userspace. Programs have no frame pointers: of these only the innermost function
is told.
"""
import bisect
import collections
import json
import os
import re
import struct
import subprocess
import sys
import time

OURS = ("gaggd", "gagg-twin", "gaggctl")
MARK = {"module": "_[j]", "host": "_[k]", "library": "_[i]"}	# colours of flamegraph.pl
TOP = 40


# --- which process is which program ------------------------------------------
def build_id(image):
    """of the first page of an ELF file; None: it has none there"""
    if image[:4] != b"\x7fELF":
        return None
    at, = struct.unpack_from("<Q", image, 32)
    size, count = struct.unpack_from("<HH", image, 54)
    for i in range(count):
        header = at + i * size
        kind, _, offset = struct.unpack_from("<IIQ", image, header)
        length, = struct.unpack_from("<Q", image, header + 32)
        end = offset + length
        while kind == 4 and offset + 12 <= min(end, len(image)):
            name, desc, note = struct.unpack_from("<III", image, offset)
            start = offset + 12 + (name + 3 & ~3)
            if note == 3:
                return image[start:start + desc].hex()
            offset = start + (desc + 3 & ~3)
    return None


# where User-mode Linux loads position-independent programs (norandmaps)
PROGRAM = 0x550000000000


def first_page(pid):
    """of the program in a process of User-mode Linux"""
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as f:
        f.seek(PROGRAM)
        return f.read(4096)


def watch(path):
    known = {}
    with open(path, "w", encoding="ascii") as out:
        while True:
            for pid in filter(str.isdigit, os.listdir("/proc")):
                try:
                    with open(f"/proc/{pid}/comm", encoding="ascii") as f:
                        if not f.read().startswith("uml-userspace"):
                            continue
                    found = build_id(first_page(pid))
                except (OSError, struct.error):
                    continue
                if found and known.get(pid) != found:
                    known[pid] = found
                    out.write(f"{pid} {found}\n")
                    out.flush()
            time.sleep(0.1)


# --- names for addresses ------------------------------------------------------
def nm(path):
    """[(address, name)] of functions, sorted"""
    for options in ([], ["-D"]):
        text = subprocess.run(["nm", "-n", "--defined-only", *options, path], check=False,
                              capture_output=True, text=True).stdout
        symbols = [(int(w[0], 16), w[2].partition("@")[0])
                   for w in map(str.split, text.splitlines()) if len(w) == 3 and w[1] in "tTwWi"]
        if symbols:
            return symbols
    return []


def nearest(symbols, address):
    i = bisect.bisect_right(symbols, (address, "\x7f")) - 1
    return symbols[i][1] if i >= 0 else None


class Guest:
    """of User-mode Linux: its module and its programs"""

    def __init__(self, folder):
        def lines(name):
            try:
                with open(f"{folder}/{name}", encoding="utf-8", errors="replace") as f:
                    return f.read().splitlines()
            except FileNotFoundError:
                return []

        self.module = sorted((int(w[0], 16), w[2]) for w in map(str.split, lines("kallsyms"))
                             if w[1] in "tT")
        self.maps = {}		# path of a program: its mappings
        current = []
        for line in lines("maps"):
            if line.startswith("program "):
                current = self.maps.setdefault(line.partition(" ")[2], [])
                continue
            w = line.split()
            if len(w) >= 6 and "x" in w[1] and w[5].startswith("/"):
                start, end = (int(x, 16) for x in w[0].split("-"))
                current.append((start, end, int(w[2], 16), w[5]))
        ids = {}
        for path in self.maps:
            try:
                with open(path, "rb") as f:
                    ids[build_id(f.read(4096))] = path
            except OSError:
                pass
        self.programs = {int(pid): ids[found] for pid, found in map(str.split, lines("stubs"))
                         if found in ids}
        self.symbols = {}

    def in_module(self, address):
        if self.module and self.module[0][0] <= address < self.module[-1][0] + 4096:
            return nearest(self.module, address)
        return None

    def in_program(self, pid, address):
        """(program, file, symbol)"""
        program = self.programs.get(pid)
        for start, end, offset, path in self.maps.get(program, []):
            if start <= address < end:
                if path not in self.symbols:
                    self.symbols[path] = nm(path)
                # programs and libraries are linked to be where they are in the file
                name = nearest(self.symbols[path], address - start + offset)
                return program, path, name
        return program, None, None


# --- samples ------------------------------------------------------------------
HEAD = re.compile(r"^(.*?)\s+(\d+)/(\d+)\s+(\d+)\.(\d{9}):")
FRAME = re.compile(r"^\s+[0-9a-f]+ (.*) \((.*)\)$")
RAW = re.compile(r"^\.{5} +\d+: ([0-9a-f]{16})$")
MARKERS = 0xfffffffffffff000	# of a chain: from here on it is the kernel, or a program


def samples(path):
    """(name, pid, ns, frames, the innermost first); a frame is (address, symbol, file). Of files
    that it knows perf tells where in the file an address is; what it has sampled comes
    before, in its dump."""
    head, frames, raw = None, [], []

    def sample():
        addresses = [x for x in raw if x < MARKERS]
        if len(addresses) != len(frames):
            return None
        return (*head, [(address, *frame) for address, frame in zip(addresses, frames)])

    with open(path, encoding="utf-8", errors="replace") as f:
        for line in f:
            if match := RAW.match(line):
                raw.append(int(match[1], 16))
            elif match := FRAME.match(line):
                frames.append(match.groups())
            elif match := HEAD.match(line.strip()):
                head = match[1], int(match[2]), int(match[4]) * 10**9 + int(match[5])
            elif head:
                yield sample()
                head, frames, raw = None, [], []


def windows(folder):
    """pairs of times of what was measured, without the walk that came before"""
    with open(f"{folder}/windows", encoding="ascii") as f:
        times = [int(line) for line in f]
    if not times:
        return []
    try:
        with open(f"{folder}/rows", encoding="ascii") as f:
            row = json.loads(f.readline())
    except (FileNotFoundError, json.JSONDecodeError):
        sys.exit("profile: the benchmark has measured nothing")
    # see run.c
    batch = min(32, max(1, (4 << 20) // row["bytes"]))
    return list(zip(times[::2], times[1::2]))[-(-(-row["ops"] // batch)):]


def own_name(symbol):
    return re.sub(r"\.(constprop|isra|part|cold)(\.\d+)*", "", symbol)


class Namer:
    def __init__(self, folder, vmlinuz):
        self.guest = Guest(folder)
        self.vmlinuz = os.path.realpath(vmlinuz)
        self.library = {name for _, name in nm("build/libgagg.a")}
        self.uml = bool(self.guest.programs or self.guest.module)

    def of_file(self, path, symbol, program):
        """part of a symbol in userspace; None: not what is measured"""
        name = os.path.basename(path)
        if program is not None and os.path.basename(program) in OURS and name in OURS:
            return "program"
        if "/build/" in path and (symbol in self.library or name.startswith("libgagg")):
            return "library"
        if "/build/" not in path and program is not None and "/build/" in program:
            return "libc"
        return None

    def frame(self, pid, frame, program):
        """(part, symbol)"""
        address, symbol, path = frame
        symbol = own_name(symbol)
        if path.startswith("[kernel") or path.endswith((".ko", ".ko.xz")) or address >> 63:
            return ("host" if self.uml else "kernel"), symbol
        if os.path.realpath(path) == self.vmlinuz:
            return "kernel", symbol
        module = self.guest.in_module(address)
        if module and program is None:
            return "module", own_name(module)
        if pid in self.guest.programs:
            program, path, name = self.guest.in_program(pid, address)
            if not path:
                return "libc", "[unknown]"
            return self.of_file(path, own_name(name or "[unknown]"), program), \
                own_name(name or "[unknown]")
        if path == "[unknown]" or path.startswith("[unknown"):
            return "unknown", "[unknown]"
        return self.of_file(path, symbol, program or path), symbol


def innermost(named):
    """of a stack in userspace, which has no frame pointers: the kernel's frames, and the
    innermost of the program"""
    below = next((i for i, (p, _) in enumerate(named) if p not in ("host", "kernel")), len(named))
    return named[:below + 1]


def collect(folder, vmlinuz):
    namer = Namer(folder, vmlinuz)
    spans = windows(folder)
    begins = [b for b, _ in spans]
    stacks = collections.Counter()
    left = collections.Counter()
    for sample in samples(f"{folder}/samples"):
        if not sample:
            left["what perf could not tell"] += 1
            continue
        name, pid, when, frames = sample
        if spans:
            i = bisect.bisect_right(begins, when) - 1
            if i < 0 or when > spans[i][1]:
                left["before, between and after the operations"] += 1
                continue
        program = namer.guest.programs.get(pid)
        if program is None and not namer.uml:
            program = f"/build/{name}" if name.startswith("gagg") else name
        named = [namer.frame(pid, f, program) for f in frames]
        if not any(p in ("kernel", "module") for p, _ in named) or not namer.uml:
            named = innermost(named)
        # what is innermost but for the host's kernel is whose work it is
        part = next((p for p, _ in named if p != "host"), "host")
        in_guest_kernel = any(p in ("kernel", "module") for p, _ in named) if namer.uml else False
        if namer.uml and not in_guest_kernel and pid not in namer.guest.programs:
            left["programs that are over soon, and tools of the host"] += 1
            continue
        if not in_guest_kernel and program is not None and \
                ("/build/" not in program or os.path.basename(program) == "gaggctl"):
            left["tools (shells, ip, gaggctl)"] += 1
            continue
        if part is None:
            left["the trainer's own work (generating, checking, waiting)"] += 1
            continue
        root = "kernel of the guest" if in_guest_kernel else \
            os.path.basename(program) if program else "others"
        stacks[(root, tuple(("program" if p is None else p, s) for p, s in reversed(named)))] += 1
    return stacks, left


def report(folder, vmlinuz, folded):
    stacks, left = collect(folder, vmlinuz)
    counted = sum(stacks.values())
    if not counted:
        sys.exit("profile: no sample was taken of what counts: is it long enough?")
    own, below, parts = collections.Counter(), collections.Counter(), collections.Counter()
    with open(folded, "w", encoding="utf-8") as f:
        for (root, stack), n in sorted(stacks.items()):
            own[stack[-1]] += n
            parts[stack[-1][0]] += n
            for frame in set(stack):
                below[frame] += n
            f.write(";".join([root] + [s + MARK.get(p, "") for p, s in stack]).replace(" ", "_") +
                    f" {n}\n")
    everything = counted + sum(left.values())
    print(f"{counted} samples of {everything}; per cent of these {counted}\n")
    for part, n in parts.most_common():
        print(f"{100 * n / counted:6.1f}  {part}")
    print(f"\n{'self':>6} {'total':>6}  {'part':<8} symbol")
    for frame, n in own.most_common(TOP):
        print(f"{100 * n / counted:6.2f} {100 * below[frame] / counted:6.2f}  {frame[0]:<8} {frame[1]}")
    print("\nLeft out, per cent of all samples:")
    for why, n in left.most_common():
        print(f"{100 * n / everything:6.1f}  {why}")


if sys.argv[1] == "watch":
    watch(sys.argv[2])
else:
    report(*sys.argv[2:])
