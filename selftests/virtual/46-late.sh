#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# turns: 4
#
# A host whose trainer comes late completes what all others have sent. It does not send all
# of that at once into ports with room for 100 datagrams.

# shellcheck source=selftests/virtual/lib.sh
. "$(dirname "$0")/lib.sh"
plan 4

# late SYSTEM N: host 0 does, but for the first operation, from which round trips are known
late()
{
	local lost sent share

	world "$1" "$2" ring 8192 || bail "no hosts"
	senders 10gbit 50us
	net_buffer 1gbit 100
	sent=$(sum_of tx_datagrams)
	rank_options=(--quiet)
	check "$1, N=$2: sums are right" ranks_run allreduce:int32:sum:500000 \
		@0:sleep:30 allreduce:int32:sum:500000 @0:sleep:30 allreduce:int32:sum:500000 \
		@0:sleep:30 allreduce:int32:sum:500000
	lost=$(net_dropped)
	sent=$(($(sum_of tx_datagrams) - sent))
	share=$((1000 * lost / sent))
	note "$1, N=$2: lost $lost of $sent"
	bar "$1, N=$2: at most 1 of 25 is lost" "$share <= 40" "$share <= 50"
	world_down
}

late module 4
late twin 4
