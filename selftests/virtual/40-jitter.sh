#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# turns: 8
#
# Nothing is lost, but comes late: of what is sent at most 0.1 % is sent again, and where
# delays vary 2 %.

# shellcheck source=selftests/virtual/lib.sh
. "$(dirname "$0")/lib.sh"
plan 14

# late LABEL SIZE PERMILLE NETEM...: at the ports
late()
{
	local label="$system, N=$hosts, $1" size=$2 most=$3 sent rounds=1 total=0
	shift 3

	senders 10gbit 10us
	net_impair "$@"
	sent=$(sum_of tx_datagrams)
	# what is chance is summed over four runs, in each of which paths begin anew
	[ "$most" -le 1 ] || rounds=4
	for ((; rounds; rounds--)); do
		measure -s "$size" -n 3 -w 0
		[ "$wrong$lost" = 00 ] || break
		total=$((total + again))
	done
	again=$total
	sent=$(($(sum_of tx_datagrams) - sent))
	figure "$label: of $sent"
	bar "$label: at most $most of 1000 are sent again" \
		"$wrong == 0 && $lost == 0 && 1000 * $again <= $most * $sent" \
		"$wrong == 0 && $lost == 0 && 1000 * $again <= ($most + $most / 2 + 5) * $sent"
}

world module 4 ring 8192 || bail "no hosts"
late "nothing" 4M 1 rate 10gbit delay 25us
late "delay 3ms" 4M 1 delay 3ms
late "delay 5ms 0.5ms" 2M 20 delay 5ms 0.5ms
late "delay 3ms 5ms" 2M 20 delay 3ms 5ms
late "delay 2ms reorder 25% 50%" 2M 20 delay 2ms reorder 25% 50%
world_down
world module 16 ring 2048 || bail "no hosts"
late "nothing" 512K 1 rate 10gbit delay 25us
late "delay 5ms 0.5ms" 512K 20 delay 5ms 0.5ms
world_down
world module 32 ring 2048 || bail "no hosts"
late "nothing" 512K 1 rate 10gbit delay 25us
late "delay 3ms" 512K 1 delay 3ms
world_down
world twin 4 ring 8192 || bail "no hosts"
late "nothing" 512K 1 rate 10gbit delay 25us
late "delay 3ms" 512K 1 delay 3ms
late "delay 5ms 0.5ms" 512K 20 delay 5ms 0.5ms
late "delay 2ms reorder 25% 50%" 512K 20 delay 2ms reorder 25% 50%
world_down
world twin 16 ring 2048 || bail "no hosts"
late "nothing" 512K 1 rate 10gbit delay 25us
world_down
