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
plan 7

SHARDS=16
tree=$tmp/cgroup

cgroups_up()
{
	mkdir "$tree" && mount -t cgroup2 none "$tree" || return
	echo +memory >"$tree/cgroup.subtree_control" && mkdir "$tree/maker"
}

# charged [NAME]: KiB in all, or of one kind
charged()
{
	if [ $# -eq 0 ]; then
		echo "$(($(cat "$tree/maker/memory.current") / 1024))"
	else
		awk -v name="$1" '$1 == name { print int($2 / 1024) }' "$tree/maker/memory.stat"
	fi
}

# on host 0 by a process of the cgroup, on the others by one of the root's
groups_make()
{
	local args

	read -r -d '' -a args < <(member_args)
	(echo "$BASHPID" >"$tree/maker/cgroup.procs" && ctl 0 group create g local "$(address 0)" \
		ring 1024 window 64 shards $SHARDS "${args[@]}") &&
		ctl 1 group create g local "$(address 1)" ring 1024 window 64 shards $SHARDS \
			"${args[@]}"
}

show()
{
	note "$1: $(charged) KiB, of these kernel $(charged kernel), slab $(charged slab)," \
		"sock $(charged sock)"
}

little_left()
{
	is "$(charged) < 1024"
}

module_load "$@"
layout 2
net_ready 1500
check "there is a cgroup" cgroups_up
show "before"
check "it makes a group" groups_make
show "with a group"
made=$(charged)
# in works: what a port collects of bursts, 28 KiB, and its socket
check "its cgroup pays for that" is "$(charged slab) >= $SHARDS * 32"
check "trainers of another one work" ranks_run allreduce:int32:sum:1000000 \
	allreduce:int32:sum:1000000
show "after these"
check "what is sent from is charged to it: a page for each port at least" \
	is "$(charged) >= $made + $SHARDS * 32"
check "and what has waited in a socket" is "$(charged sock) > 0"
group_down
check "nothing of it is left" wait_until 20 little_left
show "without the group"
umount "$tree"
