# SPDX-License-Identifier: GPL-2.0
"""Membership: HELLO, START, ABORT (Documentation/protocol.md, "Start and end")."""
import secrets

import config
import wire

PACE = 0.05		# seconds between HELLOs to a node that is not through
SLOW = 0.5		# and to one that is
AUTO = 344		# lanes that fit an MTU of 1500


class Node:
    """What is known of another host."""

    def __init__(self, shards, instance=0):
        self.instance, self.pn, self.knows_me = instance, 0, False
        self.other = self.other_pn = 0		# an instance that has not echoed ours
        self.lanes = 0				# that it can send; 0: not known
        self.wide = [0.0] * shards		# when one as long as a chunk came
        self.lacking = 0			# shards on which it wants one of ours
        self.sent = False			# one has left since the HELLO before


class Join:
    def __init__(self, config, rank, send):
        """send(node, shard, message)"""
        self.config, self.rank, self.send = config, rank, send
        self.me = config.node_of(rank)
        self.instance = secrets.randbits(63) + 1
        self.nodes = {n: Node(config.shards) for n in range(len(config.nodes)) if n != self.me}
        self.digests = config.digests()
        self.epoch = self.cookie = self.pn = 0
        self.phase, self.attached, self.reason, self.next = wire.IDLE, True, None, 0.0
        self.limit = self.lanes = config.lanes or AUTO

    def long(self):
        """bytes of the body of a HELLO that is as long as a chunk"""
        return max(4 * self.lanes, wire.HELLO_BODY.size)

    # --- what is said ---

    def lacks(self, node, now):
        after = self.config.dead_after / 1000 * 0.75
        return sum(1 << s for s, at in enumerate(node.wide) if not at or now - at > after)

    def through(self, now):
        return all(n.instance and not self.lacks(n, now) for n in self.nodes.values())

    def hello(self, to, now, ask=False, wide=None):
        """@wide: shards on which to send one as long as a chunk"""
        node = self.nodes[to]
        flags = wire.KNOWN if node.instance and not node.other else 0
        flags |= wire.THROUGH if self.through(now) else 0
        if wide is None:
            self.pn += 1
            flags |= (wire.ASK if ask else 0) | (wire.SENT if node.sent else 0)
            node.sent = False
        body = wire.hello_pack(wire.Hello(
            self.instance, node.other or node.instance, self.attached << self.rank, 0, 1, 1,
            self.phase, flags, self.epoch >> 32, self.digests,
            self.lacks(node, now) if node.instance else 0, 0))
        m = wire.Message(wire.HELLO, group=self.config.id, epoch=self.epoch, src=self.rank,
                         lanes=self.limit, pn=self.pn, body=body,
                         aux=node.other_pn if node.other else node.pn)
        if wide is None:
            self.send(to, 0, m)
            return
        m.body = body.ljust(self.long(), b"\0")
        for shard in wide:
            self.send(to, shard, m)
        node.sent = True

    def timer(self, now):
        if now < self.next:
            return
        done = self.through(now) and all(n.knows_me for n in self.nodes.values())
        self.next = now + (SLOW if done else PACE)
        for to, node in self.nodes.items():
            self.hello(to, now, ask=not done)

    # --- what is heard ---

    def differ(self, digest):
        return ", ".join(f"field {i} ({there} there, {here} here)" if i in config.NUMBERS
                         else f"field {i}"
                         for i, (there, here) in enumerate(zip(digest, self.digests))
                         if there != here)

    def heard(self, sender, shard, m, now):
        if m.kind == wire.HELLO:
            self.heard_hello(sender, shard, m, now)
        elif m.kind == wire.START:
            self.heard_start(sender, m, now)
        elif m.kind == wire.ABORT:
            self.heard_abort(sender, m, now)

    def heard_hello(self, sender, shard, m, now):
        h, node = wire.hello_parse(m.body), self.nodes[sender]
        if h.instance != node.instance:
            if h.echo != self.instance:
                node.other, node.other_pn = h.instance, m.pn
                self.hello(sender, now)
                return
            node = self.nodes[sender] = Node(self.config.shards, h.instance)
        if len(m.body) >= self.long():
            node.wide[shard] = now
        if m.pn <= node.pn:
            return
        node.pn, node.other, node.lanes = m.pn, 0, m.lanes
        self.agree()
        node.knows_me = h.echo == self.instance and bool(h.flags & wire.KNOWN)
        node.lacking = h.lacks if node.knows_me else 0
        # until all know this node, some cannot tell what differs
        if self.differ(h.digest) and all(n.knows_me for n in self.nodes.values()):
            raise SystemExit(f"node {sender} has another configuration: {self.differ(h.digest)}")
        if h.flags & wire.ASK:
            self.hello(sender, now)
            self.hello(sender, now, wide=[s for s in range(self.config.shards)
                                          if node.lacking >> s & 1])

    def agree(self):
        """without an epoch: what all can send, as far as they were heard"""
        least = min([self.limit] + [n.lanes for n in self.nodes.values() if n.lanes])
        if self.phase == wire.IDLE and least != self.lanes:
            if least > self.lanes:	# what has come was too short
                for node in self.nodes.values():
                    node.wide = [0.0] * self.config.shards
            self.lanes = least

    def heard_start(self, sender, m, now):
        cookie, high, instances = wire.start_parse(m.body)
        epoch = high << 32 | m.epoch
        if sender or len(instances) != len(self.config.nodes) or \
           instances[self.me] != self.instance:
            return
        if epoch > self.epoch and self.phase == wire.IDLE and self.attached:
            self.epoch, self.cookie, self.phase = epoch, cookie, wire.RUNNING
            self.lanes = m.lanes
        self.hello(sender, now)

    def heard_abort(self, sender, m, now):
        if m.epoch == self.epoch & 0xffffffff and m.cookie == self.cookie:
            self.reason = wire.ABORT_BODY.unpack_from(m.body)[0]
            self.phase, self.attached = wire.IDLE, False
        self.hello(sender, now)
