# SPDX-License-Identifier: GPL-2.0
"""What follows from a group's configuration (Documentation/wire.md)."""
import ipaddress

WORKER, AGGREGATOR = 1, 2
ROLES = {"worker": WORKER, "aggregator": AGGREGATOR, "both": WORKER | AGGREGATOR}
M64 = (1 << 64) - 1
M32 = (1 << 32) - 1


def rol(v, n):
    return (v << n | v >> 32 - n) & M32


def hash32(data, seed=0):
    """Bob Jenkins, lookup3.c: hashlittle()"""
    a = b = c = (0xdeadbeef + len(data) + seed) & M32
    words = [int.from_bytes(data[i:i + 4], "little") for i in range(0, len(data), 4)]
    while len(words) > 3:
        a, b, c = (a + words[0]) & M32, (b + words[1]) & M32, (c + words[2]) & M32
        words = words[3:]
        for x, y, z in ((4, 6, 8), (16, 19, 4)):
            a = (a - c & M32) ^ rol(c, x)
            c = c + b & M32
            b = (b - a & M32) ^ rol(a, y)
            a = a + c & M32
            c = (c - b & M32) ^ rol(b, z)
            b = b + a & M32
    if not words:
        return c
    words += [0] * (3 - len(words))
    a, b, c = (a + words[0]) & M32, (b + words[1]) & M32, (c + words[2]) & M32
    c = (c ^ b) - rol(b, 14) & M32
    a = (a ^ c) - rol(c, 11) & M32
    b = (b ^ a) - rol(a, 25) & M32
    c = (c ^ b) - rol(b, 16) & M32
    a = (a ^ c) - rol(c, 4) & M32
    b = (b ^ a) - rol(a, 14) & M32
    return (c ^ b) - rol(b, 24) & M32


def finalize(z):
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9 & M64
    z = (z ^ z >> 27) * 0x94d049bb133111eb & M64
    return z ^ z >> 31


def mix64(a, b):
    return finalize(finalize(a + 0x9e3779b97f4a7c15 & M64) + b & M64)


def signature(kind, dtype, laneop, root, count):
    digest = mix64(count, laneop << 32 | root)
    return kind << 28 | dtype << 24 | digest >> 40


def call(root, count):
    return count & 0x3ffffff | (root | root >> 8 << 4) << 26 & M32


NUMBERS = 0, 4, 5, 6, 7, 8, 9, 10, 11, 12, 14, 15	# fields that are their own digest


class Config:
    """A group of sync mode bsp without a multicast address: members are
    (rank, address, role), in the order of their ranks. lanes 0: auto."""

    lanes, ring, window, stripe, shards, port, dead_after = 0, 49152, 2048, 8, 1, 7440, 5000

    def __init__(self, name, members, **options):
        self.__dict__.update(options)
        self.members = [(rank, ipaddress.ip_address(at), ROLES[role])
                        for rank, at, role in members]
        self.id = hash32(name.encode()) or 1
        self.nodes = []
        for _, at, _ in self.members:
            if at not in self.nodes:
                self.nodes.append(at)
        self.homes = [n for n, at in enumerate(self.nodes)
                      if any(a == at and role & AGGREGATOR for _, a, role in self.members)]

    def digests(self):
        d = [0] * 16
        for rank, at, role in self.members:
            d[0] += 1
            d[1] = mix64(d[1], mix64(rank, hash32(at.packed, 4 if at.version == 4 else 6)))
            d[2] = mix64(d[2], rank * 4 + role)
        d[3] = 1	# GAGG_RULES
        d[4:10] = self.lanes, self.ring, self.window, self.stripe, self.shards, self.port
        d[12] = self.dead_after
        return [value if field in NUMBERS else mix64(value, field) & M32
                for field, value in enumerate(d)]

    def node_of(self, rank):
        return next(self.nodes.index(at) for r, at, _ in self.members if r == rank)

    def lowest(self, node):
        return next(r for r, at, _ in self.members if at == self.nodes[node])

    def place(self, slot):
        """the home's node, and the shard"""
        stripe, homes = slot // self.stripe, len(self.homes)
        return self.homes[stripe % homes], stripe // homes % self.shards

    def run(self, slot, count):
        """the slots of a run: of one home and shard, up to the end of the ring"""
        out, where = [], self.place(slot)
        while len(out) < count and slot < self.ring:
            if self.place(slot) == where:
                out.append(slot)
            slot += 1
        return out
