#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# turns: 4
#
# One host that loses a fifth of what it sends makes all-reduces no slower than one that
# loses a fifth of what it receives, and none takes much longer than the others.

# shellcheck source=selftests/virtual/lib.sh
. "$(dirname "$0")/lib.sh"
plan 4

# one_way SYSTEM SIZE
one_way()
{
	local received

	world "$1" 4 ring 8192 || bail "no hosts"
	wires 10gbit 25us
	net_impair_host 1 rate 10gbit delay 25us loss 20%
	measure -s "$2" -n 20 -w 0
	figure "$1, host 1 receives with 20 % loss"
	received=$mean
	wires 10gbit 25us
	net_exec 1 tc qdisc change dev eth0 parent 1:1 handle 2: netem delay 25us limit $queue loss 20%
	measure -s "$2" -n 20 -w 0
	figure "$1, host 1 sends with 20 % loss"
	bar "$1: loss of what a host sends costs no more than of what it receives" \
		"$wrong == 0 && $mean <= $received" "$wrong == 0 && 2 * $mean <= 3 * $received"
	bar "$1: and at the 99th percentile no more than twice the median" \
		"$wrong == 0 && $p99 <= 2 * $p50" "$wrong == 0 && $p99 <= 3 * $p50"
	world_down
}

one_way module 4M
one_way twin 1M
