#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# turns: 4
#
# A member that asks for the same results all the time gets no more of them than its window
# holds in a round trip, twice at most; and who is no member gets nothing.

# shellcheck source=selftests/virtual/lib.sh
. "$(dirname "$0")/lib.sh"
plan 4

WIRE=$TOP/build/selftests/vm/wire
cwnd=64 trip=10	# ms

# 100 questions for up to 64 results, each ms; what follows as words
flood()
{
	local i

	for ((i = 0; i < 100; i++)); do
		net_exec 2 "$WIRE" send "$1" 10.77.0.1:7440 "$tmp/contrib" length=64 type=11 src=1 \
			flags=4 round=1 run=64 count=100 >"$tmp/sent" || return
		sleep 0.001
	done
}

# what host 0 repeats while host 2 says that it is FROM
asked_by()
{
	local before began

	before=$(sum_of repairs) began=$(date +%s%N)
	flood "$1" || return
	took=$((($(date +%s%N) - began) / 1000000))
	sleep 1
	repairs=$(($(sum_of repairs) - before))
}

for system in module twin; do
	world $system 3 ring 1024 window 512 cwnd $cwnd || bail "no hosts"
	wires 10gbit 2500us
	net_exec 0 timeout 60 "$WIRE" learn eth0 "$tmp/contrib" type=4 chunk=0 >"$tmp/learned" &
	rank_options=(--quiet --timeout 60000)
	rank_socket=1
	ranks_start allreduce:int32:sum:60000 say:through sleep:20000
	ranks_say through || bail "no results"
	asked_by 10.77.0.2:7440
	bar "$system: of 10000 questions in $took ms, $repairs results are sent" \
		"$repairs > $cwnd && $repairs * $trip <= ($took + 2 * $trip) * $cwnd"
	asked_by 10.77.0.99:7440
	bar "$system: a stranger gets nothing" "$repairs == 0"
	ranks_wait
	world_down
done
