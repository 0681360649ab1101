#!/usr/bin/python3 -IS
# SPDX-License-Identifier: GPL-2.0
#
# Numbered UDP datagrams in GSO bursts, to see what a network does to them.
#
#   udp.py recv ADDRESS PORT BURSTS SEGMENTS [gro]
#       prints "ready", then, after half a second of silence, one line NAME=COUNT...
#         datagrams  received, copies included     reads    calls that took
#         whole      bursts with all segments      part     with some
#         lost       with none                     copies   beyond the first
#         late       after one with a higher number
#         bad        whose content is not what was sent
#   udp.py send ADDRESS PORT BURSTS SEGMENTS

import socket
import struct
import sys
import time

UDP_SEGMENT = 103
UDP_GRO = 104
SO_RCVBUFFORCE = 33
SIZE = 1000


def datagram(number):
    return (struct.pack("<I", number) * (SIZE // 4))


def open_socket(address):
    return socket.socket(socket.AF_INET6 if ":" in address else socket.AF_INET,
                         socket.SOCK_DGRAM)


def send(address, port, bursts, segments):
    sock = open_socket(address)
    sock.setsockopt(socket.IPPROTO_UDP, UDP_SEGMENT, SIZE)
    sock.connect((address, port))
    for burst in range(bursts):
        first = burst * segments
        sock.send(b"".join(map(datagram, range(first, first + segments))))
        time.sleep(0.001)


def recv(address, port, bursts, segments, gro):
    sock = open_socket(address)
    sock.setsockopt(socket.SOL_SOCKET, SO_RCVBUFFORCE, 64 << 20)
    if gro:
        sock.setsockopt(socket.IPPROTO_UDP, UDP_GRO, 1)
    sock.bind((address, port))
    print("ready", flush=True)

    seen = [0] * (bursts * segments)
    reads = late = bad = 0
    highest = -1
    sock.settimeout(20)
    try:
        while True:
            data = sock.recv(65536)
            sock.settimeout(0.5)
            reads += 1
            for offset in range(0, len(data), SIZE):
                part = data[offset:offset + SIZE]
                number = struct.unpack_from("<I", part)[0]
                if number >= len(seen) or part != datagram(number):
                    bad += 1
                    continue
                seen[number] += 1
                if number < highest:
                    late += 1
                highest = max(highest, number)
    except socket.timeout:
        pass

    held = [sum(1 for n in seen[i:i + segments] if n)
            for i in range(0, len(seen), segments)]
    print(f"datagrams={sum(seen)}", f"reads={reads}",
          f"whole={held.count(segments)}",
          f"part={sum(1 for n in held if 0 < n < segments)}",
          f"lost={held.count(0)}",
          f"copies={sum(n - 1 for n in seen if n)}",
          f"late={late}", f"bad={bad}")


def main():
    what, address = sys.argv[1:3]
    port, bursts, segments = map(int, sys.argv[3:6])
    if what == "send":
        send(address, port, bursts, segments)
    else:
        recv(address, port, bursts, segments, "gro" in sys.argv[6:])


main()
