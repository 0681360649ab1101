#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# turns: 4
#
# All links are down when the first operation of an epoch begins: no host knows a round trip.

# shellcheck source=selftests/virtual/lib.sh
. "$(dirname "$0")/lib.sh"
plan 2

# first SYSTEM MS: it costs the outage and two timeouts. Ranks look for the file each 10 ms.
first()
{
	local began us most=$(($2 * 1000 + 2 * $(rto_min)))

	world "$1" 4 ring 2048 || bail "no hosts"
	wires 10gbit 25us
	rank_options=(--quiet)
	rank_socket=1
	rm -f "$tmp/go"
	ranks_start say:joined "await:$tmp/go" allreduce:int32:sum:20000
	ranks_say joined || bail "nobody joins"
	net_outage "$2" cut &
	net_pause 0.0001
	: >"$tmp/go"
	began=$(date +%s%N)
	ranks_wait || bail "$1 does not work"
	us=$((($(date +%s%N) - began) / 1000))
	bar "$1: an outage of $2 ms when the first operation begins" "$us <= $most"
	world_down
}

first module 15
first twin 15
