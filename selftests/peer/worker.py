# SPDX-License-Identifier: GPL-2.0
"""A worker: contributions go out, results come back (Documentation/protocol.md,
"At the worker"). It is patient rather than quick."""
import struct

import wire

CWND = 32		# datagrams under way on a path
TIMEOUT = 0.05		# seconds


class Path:
    """Contributions to one home on one shard, and the numbers of its results."""

    def __init__(self):
        self.next_pn, self.flying = 1, {}	# pn: (v, when)
        self.next_result, self.missing, self.pulled = 1, set(), 0.0


class Worker:
    def __init__(self, config, rank, join, send):
        self.config, self.rank, self.join, self.send = config, rank, join, send
        self.paths = {(home, shard): Path() for home in config.homes
                      for shard in range(config.shards)}
        self.v = 0				# chunks of all operations so far
        self.repeated = self.asked = 0		# contributions, and questions
        self.open, self.results, self.again, self.unsent = {}, {}, [], []
        self.sig = self.call = 0
        self.last = 0.0

    def message(self, kind, **fields):
        return wire.Message(kind, group=self.config.id, epoch=self.join.epoch, src=self.rank,
                            cookie=self.join.cookie, **fields)

    # --- an operation ---

    def begin(self, values, sig, call, now):
        """all-reduce of int32; a barrier has no values, and one chunk"""
        n = self.join.lanes
        self.sig, self.call = sig, call
        self.open = {self.v + i: values[at:at + n]
                     for i, at in enumerate(range(0, max(1, len(values)), n))}
        self.unsent = sorted(self.open)
        self.v += len(self.open)
        self.results, self.again, self.last = {}, [], now

    def finished(self):
        return not self.open

    def result(self):
        return [x for v in sorted(self.results) for x in self.results[v]]

    def place(self, v):
        slot = v % self.config.ring
        return slot, v // self.config.ring + 1, self.config.place(slot)

    # --- out ---

    def contribute(self, v, now):
        slot, rnd, where = self.place(v)
        path, lanes = self.paths[where], self.open[v]
        m = self.message(wire.CONTRIB if lanes else wire.READY,
                         flags=wire.RAW if lanes else wire.RAW | wire.ZERO, sig=self.sig,
                         chunk=slot, round=rnd, lanes=len(lanes), weight=1,
                         pn=path.next_pn, aux=self.call,
                         body=struct.pack(f"<{len(lanes)}i", *lanes))
        path.flying[path.next_pn] = (v, now)
        path.next_pn += 1
        self.send(*where, m)

    def may_leave(self, v):
        return len(self.paths[self.place(v)[2]].flying) < CWND

    def refill(self, now):
        # a slot is free for the next round when its result was read: all of ours are
        end = min(self.open, default=self.v) + self.config.window
        for queue in (self.again, self.unsent):
            while queue and queue[0] < end:
                if queue[0] in self.open:
                    if not self.may_leave(queue[0]):
                        break
                    self.contribute(queue[0], now)
                queue.pop(0)

    def timer(self, now):
        for where, path in self.paths.items():
            late = [pn for pn, (_, at) in path.flying.items() if now - at > TIMEOUT]
            self.again += [path.flying.pop(pn)[0] for pn in late]
            self.repeated += len(late)
            if path.missing and now - path.pulled > TIMEOUT:
                self.pull(where, path, now)
        if self.open and now - self.last > TIMEOUT:
            self.last = now
            self.query(now)
        self.refill(now)

    def pull(self, where, path, now):
        path.pulled = now
        first = min(path.missing)
        run = 1
        while first + run in path.missing and run < self.config.window:
            run += 1
        self.asked += 1
        self.send(*where, self.message(wire.PULL, pn=first, run=run))

    def query(self, now, flags=0):
        """the oldest open chunk of each home that has been acknowledged"""
        asked = set()
        flying = {v for p in self.paths.values() for v, _ in p.flying.values()}
        for v in sorted(set(self.open) - flying - set(self.unsent) - set(self.again)):
            slot, rnd, where = self.place(v)
            if where not in asked:
                asked.add(where)
                self.asked += 1
                self.send(*where, self.message(wire.QUERY, chunk=slot, round=rnd, flags=flags))

    # --- in ---

    def heard(self, sender, shard, m, now):
        path = self.paths.get((sender, shard))
        if path is None or m.epoch != self.join.epoch & 0xffffffff or \
           m.cookie != self.join.cookie or m.channel:
            return
        if m.kind == wire.ACK:
            base, _, numbers = wire.acked(m.body)
            for pn in [p for p in path.flying if p < base] + numbers:
                path.flying.pop(pn, None)
        elif m.kind == wire.RESULT:
            self.count(path, m)
            self.take(m)
            self.last = now
        elif m.kind == wire.TOLD:
            self.told(path, m)
        elif m.kind == wire.RESEND and m.aux == self.rank:
            self.again += [v for v in self.chunks(m) if v in self.open]
        self.refill(now)

    def chunks(self, m):
        return [(m.round - 1) * self.config.ring + slot
                for slot in self.config.run(m.chunk, m.run)]

    def count(self, path, m):
        """what was skipped is missing, until it comes"""
        if m.pn > path.next_result and not m.flags & wire.REPAIR:
            path.missing.update(range(path.next_result, m.pn))
        path.missing.difference_update(range(m.pn, m.pn + m.run))
        if m.pn <= path.next_result or not m.flags & wire.REPAIR:
            path.next_result = max(path.next_result, m.pn + m.run)

    def take(self, m):
        lanes = struct.unpack(f"<{m.lanes}i", m.body) if m.body else None
        for v in self.chunks(m):
            mine = self.open.get(v)
            if mine is None or v in self.unsent:
                continue
            assert m.sig == self.sig, "a result of another call"
            self.results[v] = lanes or (0,) * len(mine)
            del self.open[v]

    def told(self, path, m):
        if m.pn > path.next_result:
            path.missing.update(range(path.next_result, m.pn))
            path.next_result = m.pn
        elif not path.missing:
            for v in self.chunks(m):
                if v in self.open:
                    slot, rnd, where = self.place(v)
                    self.send(*where, self.message(wire.QUERY, chunk=slot, round=rnd,
                                                   flags=wire.REPAIR))
