#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
#
# Trainers and daemons that are killed. dead-after is far longer than all of
# this may take: a death is told, not guessed from silence.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
plan 24

# enum gagg_reason
BYE=1 DIED=2 DELETED=6

daemon_up()
{
	net_exec "$1" gaggd --socket "/run/gagg/h$1.sock" >"/run/gagg/h$1.log" 2>&1 &
	daemon[$1]=$!
	disown
	wait_until 60 test -S "/run/gagg/h$1.sock"
}

module_load "$@"
layout 3 2
net_ready 1500
group_up ring 256 window 64 dead-after 600000

# --- one trainer of six, in the middle of operations --------------------------
rank_options=(--repeat 0)
ranks_start fail allreduce:int32:sum:100000 allgather:5000
check "six trainers are under way" under_way 4
before=$(epoch_of 0)
rank_kill 5
check "SIGKILL: every other one fails, and says who died" all_blame 5 $DIED
check_not "the one that was killed has not succeeded" rank_wait 5

rank_options=()
check "all can join again, without anything being created" \
	ranks_run allreduce:int32:sum:1000 barrier
check "in a new epoch" is "$(epoch_of 0) > $before"

# --- it was waiting for the others -------------------------------------------
ranks_start fail allreduce:int32:sum:50000 @0:sleep:100000 allreduce:int32:sum:50000
check "one trainer is late" under_way 3 1
rank_kill 3
rank_kill 0
rank_wait 0
rank_wait 3
check "the others fail" ranks_wait
for r in 1 2 4 5; do
	check "and rank $r says who died" rank_says "$r" "rank [03] died"
done

# --- a forked child holds the file -------------------------------------------
rank_options=(--repeat 0)
ranks_start fail at:1:@2:fork allreduce:int32:sum:100000
check "one trainer has a child" under_way 2
child=$(rank_line 2 forked | sed 's/.* //')
rank_kill 2
check "SIGKILL: every other one fails, and says who died" all_blame 2 $DIED
check "although the child lives and holds the file" \
	eval "ls -l /proc/$child/fd | grep /dev/gagg"
rank_wait 2
# the seat may be free a moment later: others wait no longer than this for who has found it taken
rank_options=(--timeout 20000)
check "all can join again while it does" wait_until 100 ranks_run allreduce:int32:sum:1000
rank_options=()
check "and it still does" eval "ls -l /proc/$child/fd | grep /dev/gagg"
kill -KILL "$child"

# --- leaving, in order and not -----------------------------------------------
ranks_start fail allreduce:int32:sum:1000 @1:leave barrier
check "exit without a word is a death" all_blame 1 $DIED
rank_wait 1
ranks_start fail allreduce:int32:sum:1000 @1:abort barrier
check "leaving is a farewell" all_blame 1 $BYE
rank_wait 1

# --- gaggd -------------------------------------------------------------------
mkdir -p /run/gagg
for ((i = 0; i < hosts; i++)); do
	daemon_up "$i"
done
rank_socket=yes rank_options=(--repeat 40)
ranks_start allreduce:int32:sum:30000
check "six trainers have their sessions from gaggd" under_way 0
kill -KILL "${daemon[1]}" "${daemon[2]}"
pkill -KILL -x gaggd
check "SIGKILL of every gaggd: trainers notice nothing" ranks_wait
check "the groups are still there" eval "ctl 1 group list | grep -w g"
rm -f /run/gagg/*.sock
for ((i = 0; i < hosts; i++)); do
	daemon_up "$i"
done
rank_options=()
check "a new gaggd finds them" ranks_run allreduce:int32:sum:1000

# --- the host's group goes ---------------------------------------------------
rank_options=(--repeat 0)
ranks_start fail allreduce:int32:sum:100000
under_way 4
ctl 2 group delete g
check "the group is deleted on one host: all fail" ranks_wait
check "and say where" rank_says 0 "reason $DELETED rank [45] "
