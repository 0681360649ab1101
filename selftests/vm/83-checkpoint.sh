#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 180
#
# Tables of a store get values, are saved and restored; see checkpoint.c.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
plan 32

file=$tmp/tables
program=$TOP/build/selftests/vm/checkpoint
state=$tmp/state

# as_rank R WORD...: the program, asking the gaggd or the twin of its host if there is one
as_rank()
{
	local host=$(($1 / per_host)) socket
	shift

	socket=${rank_socket:-}${twin_pid[host]:-}
	net_exec "$host" env ${socket:+"GAGG_SOCKET=/run/gagg/h$host.sock"} "$@"
}

tables_start()
{
	local r

	for ((r = 0; r < ranks; r++)); do
		as_rank "$r" "$program" g "$r" "$1" "$file" >"$tmp/rank.$r" 2>&1 &
		rank_pid[r]=$!
	done
}

same_digest()
{
	digest=$(sort -u "$tmp"/rank.?)
	echo "$digest"
	[[ $digest =~ ^digest\ [0-9a-f]{16}$ ]]
}

# tables save|load: by all ranks, which must print the same digest
tables()
{
	tables_start "$1"
	ranks_wait && same_digest
}

saves_the_same()
{
	tables save && [ "$digest" = "$saved" ]
}

same_again()
{
	local was=$digest

	tables load && [ "$digest" = "$was" ]
}

module_load "$@"
layout 3 1 some
net_ready 1500
group_up ring 256 window 64 sync asp
check "values, additions, a checkpoint" tables save
saved=$digest
check "a new epoch takes them up" same_again
group_down
group_up ring 256 window 64 sync ssp:0
check "as does another sync mode" same_again
group_down
group_up ring 256 window 64 sync asp lane-type int64
check "and lanes of int64" same_again
check "which save the same" saves_the_same
group_down
group_up ring 256 window 64 shards 2 sync r2sp:80:1000
check "and one with turns, in two shards" same_again
net_impair loss random 2% duplicate 2% delay 1ms reorder 90%
check "with losses" same_again
net_clear
check "what is saved does not depend on the mode" saves_the_same
printf x | dd of="$file" bs=1 seek=200 conv=notrunc status=none
check_not "a damaged file is not taken" tables load
check "and the others hear of it" rank_says 1 "rank 0"
group_down

# --- over twins ------------------------------------------------------------
check "twins" eval "twin_conf ring 256 window 64 sync ssp:0 && twin_up 0 1 2"
check "they save the same" saves_the_same
check "and take it up" same_again
file=agent:best
check_not "they keep none" tables save
check "which is told" rank_says 1 "gagg-twin keeps no checkpoints: give the path of a file"
twin_down

# --- gaggd keeps it ------------------------------------------------------
# agent_up DIR: gaggd on each host, of which that of host 1 has DIR
agent_up()
{
	local i

	mkdir -p /run/gagg
	for ((i = 0; i < hosts; i++)); do
		: >"/run/gagg/h$i.log"
		net_exec "$i" gaggd --socket "/run/gagg/h$i.sock" --checkpoints 2 \
			--state "$([ $i -eq 1 ] && echo "$1" || echo "$state.$i")" \
			>>"/run/gagg/h$i.log" 2>&1 &
		disown
		wait_until 30 grep -q "ready at" "/run/gagg/h$i.log" || return
	done
}

agent_down()
{
	pkill -KILL -x gaggd
	wait_until 20 fails pgrep -x gaggd
}

kept()
{
	gaggctl checkpoint list --state "$state" | sed 's/ saved .*//'
}

takes_as()
{
	as_rank 1 setpriv --reuid "$1" --regid "$1" --clear-groups "$program" g 1 take best \
		2>"$tmp/take"
}

all_are_killed()
{
	local r

	tables_start stay
	for ((r = 0; r < ranks; r++)); do
		wait_until 60 rank_says "$r" "^digest" || return
	done
	same_digest || return
	for ((r = 0; r < ranks; r++)); do
		rank_kill "$r"
	done
	fails ranks_wait
}

# has_free DIR BLOCKS
has_free()
{
	[ "$(stat -f -c %f "$1")" -eq "$2" ]
}

group_up ring 256 window 64 sync asp uid 1001
rank_socket=yes
mkdir "$tmp/full"
mount -t tmpfs -o size=8k,mode=0700 tmpfs "$tmp/full"
free=$(stat -f -c %f "$tmp/full")
agent_up "$tmp/full"
file=agent:best
check_not "a full disk" tables save
check "is told" rank_says 1 "checkpoint .best., into gaggd's directory: No space left"
# a file without a name is found by its blocks alone
check "and nothing is left of it" wait_until 60 has_free "$tmp/full" "$free"
agent_down
umount "$tmp/full"
agent_up "$state"
check "saved with gaggd, and all trainers are killed" all_are_killed
saved=$digest
check "gaggctl lists it" diff <(echo "g/best bytes 17696 tables 3") <(kept)
agent_down
group_down
group_up ring 256 window 64 sync ssp:0 uid 1001
agent_up "$state"
check "a new gaggd gives it to a new group of that name, bit for bit" same_again
check "whose trainers save the same" saves_the_same
file=agent:none
check_not "what was not saved" tables load
check "is told, with what there is" rank_says 1 'no checkpoint "none" on this host; there are: best'
check "the group's owner may have it" takes_as 1001
check_not "another uid may not" takes_as 1003
check "and is told" grep "does not let uid 1003 train" "$tmp/take"
cp -p "$state/g/best" "$state/g/second"
file=agent:third
check_not "more than there may be" tables save
check "is told" rank_says 1 "has 2 checkpoints, as many as it may"
check "gaggctl deletes one" gaggctl checkpoint delete g second --state "$state"
printf x | dd of="$state/g/best" bs=1 seek=200 conv=notrunc status=none
file=agent:best
check_not "a damaged one is not taken" tables load
check "and why is told" rank_says 1 "agent:best is damaged: its checksum is wrong"
agent_down
