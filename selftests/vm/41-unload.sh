#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 400
# turns: 2
#
# The module can be unloaded whenever no session is open, whoever knocks at its
# ports; groups and namespaces go away under full traffic, and nothing is left.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
plan 18

WIRE=$TOP/build/selftests/vm/wire
# ten times as slow on the debug kernel
LOOPS=50 BETWEEN=20
! slow_kernel || LOOPS=4 BETWEEN=2
# enum gagg_reason
DELETED=6 SILENT=3

# Objects of the slab caches of network buffers. What has been freed counts as long
# as some CPU keeps its slab, or KASAN the object; a shrunk cache has neither. One
# that is merged with others is not listed.
buffers()
{
	local cache

	for cache in skbuff_head_cache skbuff_fclone_cache; do
		echo 1 >/sys/kernel/slab/$cache/shrink
	done
	awk '$1 ~ /^(skbuff_head_cache|skbuff_fclone_cache)$/ { n += $2 } END { print n + 0 }' \
		/proc/slabinfo
}

few_buffers()
{
	is "$(buffers) - $buffers < 100"
}

# KiB in use, without what KASAN keeps of freed buffers: up to 6 MiB after traffic
memory()
{
	buffers >/dev/null
	used ""
}

# sets after; what has ended is freed a moment later
little_left()
{
	after=$(memory)
	is "$after - $before < 4096"
}

knock()
{
	net_exec 1 "$WIRE" send "$(net_ip4 1):7440" "$(net_ip4 0):7440" \
		type=1 magic=0x4147 ver=1 hdrlen=64 run=1 group="$id" length=168 "$@"
}

is_knocked_at()
{
	is "$(count 0 rx_datagrams) >= 20"
}

loops()
{
	local i

	for ((i = 0; i < LOOPS; i++)); do
		insmod "$GAGG_KO" || return
		ctl 0 group create g local 10.77.0.1 ring 256 window 64 id "$id" \
			member 0=10.77.0.1 member 1=10.77.0.2 || return
		rmmod gagg || return
	done
}

# all trainers run until the group of host $1 goes the way of the other arguments
gone_under_traffic()
{
	local host=$1
	shift

	group_up ring 4096 window 256 || return
	rank_options=(--repeat 0 --quiet)
	ranks_start fail allreduce:int32:sum:200000
	wait_until 60 all_attached || return
	sleep 1
	"$@" || return
	ranks_wait || return
	rank_says 0 "reason $DELETED rank $((host * per_host)) " || return
	rank_options=()
}

# deletion falls between two operations of some rank, most often
told_between_operations()
{
	local i r

	rank_options=(--repeat 0 --quiet)
	for ((i = 0; i < BETWEEN; i++)); do
		group_up ring 256 window 64 || return
		ranks_start fail allreduce:int32:sum:1
		wait_until 60 all_attached || return
		ctl 0 group delete g || return
		ranks_wait || return
		for ((r = 0; r < ranks; r++)); do
			rank_says "$r" "reason $DELETED rank 0 " || return
		done
	done
	rank_options=()
}

all_attached()
{
	local r

	for ((r = 0; r < ranks; r++)); do
		rank_says "$r" attached || return
	done
}

module_load "$@"
layout 2
net_ready 1500
id=4711
group_up id $id ring 256 window 64

# --- sessions ------------------------------------------------------------
ranks_start allreduce:int32:sum:1000 barrier await:"$tmp/go"
check "two trainers are attached" wait_until 30 all_attached
check_not "the module cannot be unloaded" rmmod gagg
touch "$tmp/go"
check "which disturbs nobody" ranks_wait
wait_until 60 module_unused
check "it can when they have gone, groups or not" rmmod gagg
check "and loaded again" module_load
check_not "groups do not survive that" eval "ctl 0 group list | grep -w g"

# --- knocking ------------------------------------------------------------
group_up id $id ring 256 window 64
note "$(knock count=20)"
check "host 1 knocks at host 0's door" wait_until 20 is_knocked_at
module_unload
knock seconds=1000 >/dev/null &
knocker=$!
check "loaded and unloaded $LOOPS times" loops
check "with somebody at the door all the time" pkill -P $knocker -x wire
wait $knocker 2>/dev/null
check "and works afterwards" eval \
	"module_load && group_up ring 256 window 64 && ranks_run allreduce:int32:sum:1000"
group_down

# --- under full traffic --------------------------------------------------
layout 3 2
net_ready 1500
# what is allocated once is allocated now
check "a group is deleted under full traffic" gone_under_traffic 1 ctl 1 group delete g
ctl 0 group delete g
ctl 2 group delete g
buffers=$(buffers)
# Three times: what is used then and was not before. KASAN keeps some MiB of what else was
# freed, up to a limit; what is left behind is left behind each time.
for round in 1 2 3; do
	before=$(memory)
	for i in 1 2 3; do
		gone_under_traffic "$((i % 3))" ctl "$((i % 3))" group delete g \
			>"$test_tmp/again" 2>&1 ||
			fail "repetition $i: $(tail -n 3 "$test_tmp/again")"
		for ((h = 0; h < hosts; h++)); do
			ctl "$h" group delete g 2>/dev/null
		done
	done
	wait_until 20 little_left
	note "round $round: used before $before KiB, after $after KiB; buffers $buffers, $(buffers)"
	[ $((after - before)) -ge 4096 ] || break
done
# each repetition allocates 6 x 5.6 MiB of contributions and 3 x 5.6 MiB of results
check "no memory is left behind" is "$after - $before < 4096"
check "no network buffers" wait_until 20 few_buffers

layout 1 4
check "whoever is between two operations is told, too" told_between_operations
layout 3 2

# --- a namespace goes, whose trainers have left it --------------------------
group_up ring 4096 window 256 dead-after 5000
rank_options=(--repeat 0 --quiet)
ranks_start fail @4,5:unshare allreduce:int32:sum:200000
check "six trainers work, two have left their namespace" wait_until 30 all_attached
sleep 1
ip netns del h2
check "the namespace is deleted under full traffic: all fail" ranks_wait
# its last words may be lost in the traffic: then it is silent
check "and say where" rank_says 0 "reason ($DELETED|$SILENT) rank [45] "
ctl 0 group delete g
ctl 1 group delete g
ip netns add h2
check "the module can be unloaded" module_unload
