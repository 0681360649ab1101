#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# Programs that are legal in MPI end: ranks start operations on three communicators in
# one order, more than the kernel takes at once and longer than the ring, and each
# blocks in those that it likes, and waits when it likes.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
plan 9

programs=200
! slow_kernel || programs=20
rank_options=(--timeout 30000 --quiet)

# what follows sets variables: a process each would take longer than what is tested

# $n elements: seldom many, of a ring of 64 chunks of 344
elements()
{
	n=$((RANDOM % 1000))
	[ $((RANDOM % 8)) -ne 0 ] || n=$((RANDOM * 2))
}

# $who: ranks by chance, one of $1, as rank.c wants them; "99": none
some()
{
	local r

	who=99
	for ((r = 0; r < ranks; r++)); do
		[ $((RANDOM % $1)) -ne 0 ] || who+=",$r"
	done
}

# the words of a program: it ends when all has. One in sixteen starts more on one communicator
# than the kernel takes at once
program()
{
	local i n who count=12 most=3 blocks=4 waits=3

	[ $((RANDOM % 16)) -ne 0 ] || count=50 most=$((RANDOM % 3)) blocks=50 waits=50
	for ((i = 0; i < count; i++)); do
		case $((most == 3 || i % 8 == 7 ? RANDOM % 3 : most)) in
		0)	words+=(world) ;;
		1)	words+=(part:0) ;;
		2)	words+=(part:1) ;;
		esac
		elements
		some "$blocks"
		words+=("@$who:allreduce:int32:sum:$n" again "!$who:iallreduce:int32:sum:$n")
		some 3
		[ $((RANDOM % waits)) -ne 0 ] || words+=("@$who:wait")
	done
	words+=(wait)
}

random_run()
{
	local i

	words=(split:0 split:0)
	for ((i = 0; i < programs; i++)); do
		program
	done
	ranks_run "${words[@]}"
}

# 40 operations, or one of $1 elements, on all ranks; rank 0 waits elsewhere first
cross()
{
	local i

	words=(split:0)
	for ((i = 0; i < $1; i++)); do
		words+=(world "iallreduce:int32:sum:$2")
	done
	words+=(part:0 @0:allreduce:int32:sum:1 @0:wait again !0:wait !0:allreduce:int32:sum:1)
	ranks_run "${words[@]}"
}

seed
module_load "$@"
layout 3
net_ready 1500
check "a group" group_up ring 64 window 64
check "40 operations, and a call elsewhere" cross 40 1000
check "one longer than the ring, and a call elsewhere" cross 1 100000
check "$programs random programs" random_run
check "the group is deleted" group_down
check "twins" eval 'twin_conf ring 64 window 64 && twin_up 0 1 2'
check "40 operations, and a call elsewhere" cross 40 1000
check "one longer than the ring, and a call elsewhere" cross 1 100000
check "$programs random programs" random_run
twin_down
