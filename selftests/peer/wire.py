# SPDX-License-Identifier: GPL-2.0
"""Datagrams: uapi/linux/gagg_wire.h, in Python."""
import collections
import struct

MAGIC, VERSION, HEADER = 0x4147, 1, 64

HELLO, START, ABORT, CONTRIB, READY = 1, 2, 3, 4, 5
RESULT, DONE, RESEND, ACK, QUERY, PULL, TOLD = 7, 8, 9, 10, 11, 14, 18

REPAIR, ZERO, NONFINITE, RAW = 0x0004, 0x0100, 0x0200, 0x1000

KNOWN, ASK, THROUGH, SENT = 0x01, 0x02, 0x04, 0x10
IDLE, RUNNING = 0, 1

HDR = struct.Struct("<HBBHBBIIHHIIIHHBBHIIQQ")
HELLO_BODY = struct.Struct("<QQQQBBBBI16IHHI")
START_HEAD = struct.Struct("<QII")
ABORT_BODY = struct.Struct("<IHHII")
ACK_BODY = struct.Struct("<II64s")

Hello = collections.namedtuple("Hello", "instance echo attached reserved0 ver_min ver_max"
                               " phase flags epoch_hi digest lacks blocked")


class Message:
    """A header, and what follows it. Fields that are not named are zero; run is 1."""

    def __init__(self, kind, **fields):
        self.kind, self.flags, self.laneop, self.group, self.epoch = kind, 0, 0, 0, 0
        self.channel = self.src = self.sig = self.chunk = self.round = self.lanes = 0
        self.run, self.exp, self.want, self.weight, self.pn, self.aux = 1, 0, 0, 0, 0, 0
        self.cookie, self.body = 0, b""
        self.__dict__.update(fields)

    def pack(self):
        return HDR.pack(MAGIC, VERSION, self.kind, self.flags, HEADER, self.laneop, self.group,
                        self.epoch & 0xffffffff, self.channel, self.src, self.sig, self.chunk,
                        self.round, self.run, self.lanes, self.exp, self.want, self.weight,
                        self.pn & 0xffffffff, self.aux & 0xffffffff, self.cookie, 0) + self.body


def parse(data):
    """The message in a datagram, or None."""
    if len(data) < HEADER:
        return None
    m = Message(0)
    (magic, version, m.kind, m.flags, length, m.laneop, m.group, m.epoch, m.channel, m.src,
     m.sig, m.chunk, m.round, m.run, m.lanes, m.exp, m.want, m.weight, m.pn, m.aux,
     m.cookie, _) = HDR.unpack_from(data)
    if (magic, version, length) != (MAGIC, VERSION, HEADER):
        return None
    m.body = data[HEADER:]
    return m


def hello_pack(h):
    return HELLO_BODY.pack(*h[:9], *h.digest, h.lacks, h.blocked, 0)


def hello_parse(body):
    f = HELLO_BODY.unpack_from(body)
    return Hello(*f[:9], f[9:25], f[25], f[26])


def start_parse(body):
    """cookie, high half of the epoch, instances of all nodes"""
    cookie, high, nodes = START_HEAD.unpack_from(body)
    return cookie, high, struct.unpack_from(f"<{nodes}Q", body, START_HEAD.size)


def acked(body):
    """base, largest, and the numbers from base on that have arrived"""
    base, largest, bits = ACK_BODY.unpack_from(body)
    bits = int.from_bytes(bits, "little")
    return base, largest, [base + i for i in range(512) if bits >> i & 1]
