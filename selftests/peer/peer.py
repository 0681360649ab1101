#!/usr/bin/python3 -B
# SPDX-License-Identifier: GPL-2.0
"""A member of a group that shares no code with gagg.

	peer.py --rank R --member RANK=ADDRESS,ROLE... [--set NAME=NUMBER...] [--seed N] COUNT...

It was written from Documentation/protocol.md, Documentation/wire.md and uapi/ alone, and so
shows that a second implementation can be. It is a worker of group "g", joins, all-reduces as
many int32 as each COUNT says, of which selftests/vm/reference.c says what every rank
contributes, checks the sums, and stays until the epoch ends. Exit status 1: a sum was wrong,
or there was none within a minute.
"""
import argparse
import select
import socket
import sys
import time

import config
import join
import wire
import worker

ALLREDUCE, BARRIER, INT32, SUM, ADD = 1, 5, 4, 1, 0
M32, M64 = config.M32, config.M64


def elements(seed, op, rank, count):
    """what selftests/vm/reference.c contributes"""
    key = config.finalize((seed ^ op) + 0x9e3779b97f4a7c15 & M64)
    key = config.finalize((key + rank & M64) + 0x9e3779b97f4a7c15 & M64)
    add, mul = key & M32, key >> 32 | 1
    out = []
    for i in range(count):
        h = i * 0x9e3779b1 + op & M32
        h = (h ^ h >> 16) * 0x85ebca6b & M32
        h = (h ^ h >> 13) + add & M32
        h = h * mul & M32
        h ^= h >> 15
        out.append(h - (h >> 31 << 32))
    return out


def wrap(x):
    return (x + (1 << 31) & M32) - (1 << 31)


class Peer:
    def __init__(self, group, rank):
        self.group, self.rank = group, rank
        me = group.nodes[group.node_of(rank)]
        family = socket.AF_INET if me.version == 4 else socket.AF_INET6
        self.sockets = [socket.socket(family, socket.SOCK_DGRAM) for _ in range(group.shards)]
        for shard, s in enumerate(self.sockets):
            s.bind((str(me), group.port + shard))
            s.setblocking(False)
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
        self.join = join.Join(group, rank, self.send)
        self.worker = worker.Worker(group, rank, self.join, self.send)

    def send(self, node, shard, m):
        try:
            self.sockets[shard].sendto(m.pack(), (str(self.group.nodes[node]),
                                                  self.group.port + shard))
        except BlockingIOError:
            pass		# as good as lost
        except ConnectionRefusedError:
            pass		# of an earlier one

    def receive(self, shard, now):
        try:
            data, sender = self.sockets[shard].recvfrom(65536)
        except (BlockingIOError, ConnectionRefusedError):
            return False
        at = [n for n, ip in enumerate(self.group.nodes)
              if (str(ip), self.group.port + shard) == sender[:2]]
        m = wire.parse(data)
        if at and m and m.group == self.group.id:
            self.join.heard(at[0], shard, m, now)
            self.worker.heard(at[0], shard, m, now)
        return True

    def turn(self):
        select.select(self.sockets, [], [], 0.01)
        now = time.monotonic()
        for shard in range(self.group.shards):
            while self.receive(shard, now):
                pass
        self.join.timer(now)
        self.worker.timer(now)

    def until(self, what, condition, seconds=60):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                sys.exit(f"no end of waiting until {what}")
            self.turn()

    def collective(self, what, values, kind, dtype, root, count):
        self.worker.begin(values, config.signature(kind, dtype, ADD, root, count),
                          config.call(root, count), time.monotonic())
        self.until(what, lambda: self.worker.finished() or self.join.phase == wire.IDLE)

    def all_reduce(self, number, count, seed):
        ranks = [r for r, _, role in self.group.members if role & config.WORKER]
        parts = {r: elements(seed, number, r, count) for r in ranks}
        want = [wrap(sum(column)) for column in zip(*parts.values())]
        self.collective(f"operation {number} is done", parts[self.rank],
                        ALLREDUCE, INT32, SUM, count)
        if self.worker.result() != want:
            sys.exit(f"operation {number} of {count}: the sum is wrong")
        print(f"op {number} of {count} ok", flush=True)


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--rank", type=int, required=True)
    args.add_argument("--member", action="append", required=True)
    args.add_argument("--set", action="append", default=[])
    args.add_argument("--seed", type=int, default=1)
    args.add_argument("count", type=int, nargs="+")
    args = args.parse_args()
    members = []
    for text in args.member:
        rank, rest = text.split("=")
        members.append((int(rank), *rest.split(",")))
    options = {name.replace("-", "_"): int(value)
               for name, value in (text.split("=") for text in args.set)}
    peer = Peer(config.Config("g", members, **options), args.rank)
    peer.until("the epoch begins", lambda: peer.join.phase == wire.RUNNING)
    print(f"epoch {peer.join.epoch} of {peer.join.lanes} lanes", flush=True)
    for number, count in enumerate(args.count, 1):
        peer.all_reduce(number, count, args.seed)
    print(f"repeated {peer.worker.repeated} asked {peer.worker.asked}", flush=True)
    # gagg_finalize() begins with one
    peer.collective("all have finished", (), BARRIER, 0, 0, 0)
    peer.until("the epoch ends", lambda: peer.join.phase == wire.IDLE)
    # the others repeat what they say until they hear that it was heard
    end = time.monotonic() + 0.3
    peer.until("it has been said", lambda: time.monotonic() > end)


main()
