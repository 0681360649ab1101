#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# turns: 4
#
# All hosts send to one home, behind a switch whose port has room for 100 datagrams:
# it takes no longer than 1.3 times as long as the port sends.

# shellcheck source=selftests/virtual/lib.sh
. "$(dirname "$0")/lib.sh"
plan 5

# incast SYSTEM N MIB
incast()
{
	local us

	world "$1" "$2" ring 8192 placement root || bail "no hosts"
	wires 10gbit 25us
	senders 10gbit 50us
	net_buffer 10gbit 100 0
	measure -s "${3}M" -n 2 -w 0
	# datagrams of 344 lanes: 1376 bytes behind 106 of headers
	us=$(((hosts - 1) * (($3 << 20) / 1376 + 1) * 1482 * 8 / 10000))
	figure "$1, N=$2, behind 100 datagrams; the wire takes $us us"
	bar "$1, N=$2: incast behind 100 datagrams ends within 1.3 times what the wire takes" \
		"$wrong == 0 && 10 * $max <= 13 * $us" "$wrong == 0 && $max <= 2 * $us"
	world_down
}

# the same number of datagrams, or half, for each
incast module 8 4
incast module 16 2
incast module 32 1
incast twin 8 2
incast twin 16 1
