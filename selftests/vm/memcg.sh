# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Memory cgroups of a test.
#
#   memcg_up NAME...         make them
#   memcg_down
#   "${MEMCG_EXEC[@]}" $memcg_tree/NAME COMMAND...  in a cgroup
#   charged NAME [FIELD]     KiB in all, or of one line of memory.stat
#   memcg_killed NAME        processes that were killed for want of memory
#   $memcg_tree/NAME         its folder

# shellcheck disable=SC2154 # of lib.sh
memcg_tree=$test_tmp/cgroup
# shellcheck disable=SC2016,SC2034 # sh expands it; for tests
MEMCG_EXEC=(sh -c 'echo $$ >"$0/cgroup.procs" && exec "$@"')

memcg_up()
{
	local name

	mkdir -p "$memcg_tree" && mount -t cgroup2 none "$memcg_tree" || return
	echo +memory >"$memcg_tree/cgroup.subtree_control" || return
	for name; do
		mkdir "$memcg_tree/$name" || return
	done
}

memcg_down()
{
	umount "$memcg_tree"
}

charged()
{
	local stat=$memcg_tree/$1

	if [ $# -eq 1 ]; then
		echo "$(($(cat "$stat/memory.current") / 1024))"
	else
		awk -v name="$2" '$1 == name { print int($2 / 1024) }' "$stat/memory.stat"
	fi
}

memcg_killed()
{
	awk '$1 == "oom_kill" { print $2 }' "$memcg_tree/$1/memory.events"
}
