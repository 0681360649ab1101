#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# turns: 4
#
# A path that becomes longer and shorter while all-reduces are under way: what overtakes is
# not lost.

# shellcheck source=selftests/virtual/lib.sh
. "$(dirname "$0")/lib.sh"
plan 2

world module 4 ring 8192 || bail "no hosts"
senders 10gbit 10us
for there in 2 5; do
	# the first step takes the place of another qdisc, and of what is in its queue
	net_swing 1 $there 0 1
	sent=$(sum_of tx_datagrams)
	measure_start -s 2M -n 20 -w 0
	under_way_all
	net_swing 1 $there 0.05 8
	measure_end
	sent=$(($(sum_of tx_datagrams) - sent))
	figure "1 ms and $there ms in turn, of $sent"
	bar "delays of 1 ms and $there ms in turn: at most 1 of 1000 are sent again" \
		"$wrong == 0 && $lost == 0 && 1000 * $again <= $sent" \
		"$wrong == 0 && $lost == 0 && 1000 * $again <= 2 * $sent"
done
world_down
