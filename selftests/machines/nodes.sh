#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
#
# A guest with two NUMA nodes of a CPU each, and a host on either: what a rank maps,
# and what the module allocates for it besides (accumulators), is memory of the node
# on which it attaches.
#
#   nodes.sh           the guest
#   nodes.sh guest     in it

cd "$(dirname "$0")/../.." || exit 1
if [ "${1:-}" != guest ]; then
	exec vm/run --kernel "${KERNEL:-stock}" --nodes 2 --timeout 580 -- \
		selftests/machines/nodes.sh guest
fi

# shellcheck source=selftests/vm/lib.sh
. selftests/vm/lib.sh
# shellcheck source=selftests/vm/ranks.sh
. selftests/vm/ranks.sh
plan 7

event=/sys/kernel/tracing/events/kmem/mm_page_alloc
chunks=1024
blocks=$((chunks * 1376 / 65536))	# of 64 KiB, for the lanes of so many chunks

# every node has a CPU, and pages of its own
two_nodes()
{
	cat /sys/devices/system/node/node?/cpulist
	is "$(cat /sys/devices/system/node/node0/cpulist) == 0" &&
		is "$(cat /sys/devices/system/node/node1/cpulist) == 1"
}

# the ranks attach on the CPU of their number
attach()
{
	local r

	echo "order == 4" >$event/filter && echo 1 >$event/enable || return
	for r in 0 1; do
		net_exec $r taskset -c $r "$RANK" g $r allreduce:int32:sum:100000 say:attached \
			sleep:1000000 >"$tmp/rank.$r" 2>&1 &
		rank_pid[r]=$!
	done
	ranks_say attached || return
	echo 0 >$event/enable
}

pid_of()
{
	pgrep -P "${rank_pid[$1]}"
}

# maps R: the device's pages that rank R maps, of its node and of others
maps()
{
	grep -h /dev/gagg "/proc/$(pid_of "$1")/numa_maps" | tr ' ' '\n' | awk -F= -v own="N$1" '
		/^N[0-9]+=/ { if ($1 == own) here += $2; else away += $2 }
		END { print here + 0, away + 0 }'
}

# allocates R: blocks that rank R has allocated, of its node and of the other
allocates()
{
	local start

	start=$(awk '$1 == "Node" { node = $2 } $1 == "start_pfn:" && node == "1," { print $2; exit }' \
		/proc/zoneinfo)
	sed -n "s/^ *rank-$(pid_of "$1") .* pfn=\(0x[0-9a-f]*\) .*GFP_KERNEL_ACCOUNT.*/\1/p" \
		/sys/kernel/tracing/trace | while read -r pfn; do
		echo $((pfn >= start))
	done | awk -v own="$1" '$1 == own { here++ } $1 != own { away++ }
		END { print here + 0, away + 0 }'
}

# near LEAST HERE AWAY
near()
{
	echo "$2 on its node, $3 away; at least $1 expected"
	is "$2 >= $1 && $3 == 0"
}

module_load "${@:2}"
layout 2
net_ready 1500
check "two nodes with a CPU each" two_nodes
check "a group" group_up ring $chunks window $chunks dead-after 60000
check "two ranks attach, each on its node, and all-reduce" attach
for r in 0 1; do
	# shellcheck disable=SC2046 # two numbers
	check "what rank $r maps is of its node" near $((2 * 16 * blocks)) $(maps $r)
	# shellcheck disable=SC2046
	check "and so are all its blocks, with accumulators" near $((3 * blocks)) $(allocates $r)
done
