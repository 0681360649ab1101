#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 180
# turns: 4
#
# A host that is gone is declared dead, by name, when dead-after has passed.

# shellcheck source=selftests/virtual/lib.sh
. "$(dirname "$0")/lib.sh"
plan 6

SILENT=3	# enum gagg_reason

# declared DESC PATTERN: host 2 goes; what the ranks of the others say, and when
declared()
{
	local desc=$1 pattern=$2 begin now r named=0

	sleep 3
	begin=$(date +%s%3N)
	net_in sw ip link set p2 down
	for r in 0 1 3; do
		rank_wait $r
		now=$(date +%s%3N)
		note "rank $r, after $((now - begin)) ms:"
		note "$(grep -E -m 1 -- "$pattern" "$tmp/rank.$r" || tail -n 1 "$tmp/rank.$r")"
		! grep -qE -- "$pattern" "$tmp/rank.$r" || named=$((named + 1))
	done
	net_in sw ip link set p2 up
	rank_wait 2
	bar "$desc: the others name it" "$named == 3"
	bar "$desc: when dead-after has passed" \
		"$now - $begin >= 3000 - 750 && $now - $begin <= 3000 + 100" \
		"$now - $begin >= 3000 - 750 && $now - $begin <= 3000 + 200"
}

# shellcheck source=selftests/vm/store.sh
. "$(dirname "$0")/../vm/store.sh"
for system in module twin; do
	world $system 4 ring 1024 window 256 dead-after 3000 || bail "no hosts"
	wires 10gbit 25us
	rank_socket=1
	rank_options=(--quiet --repeat 0)
	ranks_start fail allreduce:int32:sum:20000 sleep:10
	declared "$system" "reason $SILENT rank 2"
	world_down
done
world module 4 ring 4096 window 256 dead-after 3000 sync ssp:2 || bail "no hosts"
wires 10gbit 25us
start_paused store "10+390 2" 100000
declared "a store" "rank 2"
world_down
