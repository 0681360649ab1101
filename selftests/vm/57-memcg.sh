#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
#
# Who makes a group pays for what its ports have: what they send from, sockets, and what
# waits in these. Its cgroup is charged while they are there, and not afterwards.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
# shellcheck source=selftests/vm/memcg.sh
. "$(dirname "$0")/memcg.sh"
plan 7

SHARDS=16

# on host 0 by a process of the cgroup, on the others by one of the root's
groups_make()
{
	local args=()

	member_args
	(echo "$BASHPID" >"$memcg_tree/maker/cgroup.procs" && ctl 0 group create g local "$(address 0)" \
		ring 1024 window 64 shards $SHARDS "${args[@]}") &&
		ctl 1 group create g local "$(address 1)" ring 1024 window 64 shards $SHARDS \
			"${args[@]}"
}

show()
{
	note "$1: $(charged maker) KiB, of these kernel $(charged maker kernel), slab $(charged maker slab)," \
		"sock $(charged maker sock)"
}

# RCU frees what the process that made the group leaves (stack, page tables, a file), and the kernel
# sums its statistics each 2 s
settled()
{
	local before

	before=$(charged maker kernel)
	sleep 2.5
	is "$(charged maker kernel) == $before"
}

pages_paid()
{
	is "$(charged maker kernel) >= $made + $SHARDS * 32"
}

little_left()
{
	is "$(charged maker) < 1024"
}

module_load "$@"
layout 2
net_ready 1500
check "there is a cgroup" memcg_up maker
# whoever reads a program first pays for its pages
ctl 0 group list >"$tmp/list"
show "before"
check "it makes a group" groups_make
wait_until 20 settled
show "with a group"
made=$(charged maker kernel)
# in works: what a port collects of bursts, 28 KiB, and its socket
check "its cgroup pays for that" is "$(charged maker slab) >= $SHARDS * 32"
check "trainers of another one work" ranks_run allreduce:int32:sum:1000000 \
	allreduce:int32:sum:1000000
show "after these"
check "what is sent from is charged to it: a page for each port at least" wait_until 30 pages_paid
check "and what has waited in a socket" is "$(charged maker sock) > 0"
group_down
check "nothing of it is left" wait_until 20 little_left
show "without the group"
memcg_down
