#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# turns: 8
#
# What is lost is sent again, and little else.

# shellcheck source=selftests/virtual/lib.sh
. "$(dirname "$0")/lib.sh"
plan 10

# losses SIZE LABEL LOSS...: once all hosts have begun. Who has not, since START was lost,
# drops what others send: that is another matter.
losses()
{
	local size=$1 label="$system, N=$hosts, $2" i
	shift 2

	wires 10gbit 25us
	measure_start -s "$size" -n 3 -w 0
	under_way_all
	# what is in the queue stays there, as it does not with net_impair
	for i in $(net_which); do
		echo "qdisc change dev p$i root netem limit $queue rate 10gbit delay 25us loss $*"
	done | net_in sw tc -batch -
	measure_end
	figure "$label"
	bar "$label: at most 1.3 datagrams are sent again for one that is lost" \
		"$wrong == 0 && $lost > 0 && 10 * $again <= 13 * $lost" \
		"$wrong == 0 && $lost > 0 && $again <= 2 * $lost"
}

# some SIZE
some()
{
	losses "$1" "loss 0.2%" 0.2%
	losses "$1" "loss 1%" 1%
	losses "$1" "bursts of loss, 1% 30%" gemodel 1% 30% 100% 0%
}

world module 4 ring 8192 || bail "no hosts"
some 4M
world_down
world module 16 ring 2048 || bail "no hosts"
some 1M
world_down
world module 32 ring 2048 || bail "no hosts"
losses 1M "loss 1%" 1%
world_down
world twin 4 ring 8192 || bail "no hosts"
some 1M
world_down
