#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 180
#
# What the module did, with loss, the core does again in userspace: a recorded
# trace of all shards, carried out call by call, has the same actions.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
plan 14
SEED=${SEED:-1}
seed
tracefs=/sys/kernel/tracing
programs=$TOP/build/selftests/vm
[ -e $tracefs/trace ] || mount -t tracefs tracefs $tracefs

# one clock for all CPUs, room for all
trace_start()
{
	echo 0 >$tracefs/tracing_on
	echo counter >$tracefs/trace_clock
	echo 32768 >$tracefs/buffer_size_kb
	echo >$tracefs/trace
	echo 1 >$tracefs/events/gagg/enable
	echo 1 >$tracefs/tracing_on
}

trace_stop()
{
	echo 0 >$tracefs/tracing_on
	echo 0 >$tracefs/events/gagg/enable
	cat $tracefs/trace >"$tmp/trace"
	echo 1 >$tracefs/buffer_size_kb
	grep -c gagg_ "$tmp/trace"
}

# acts TYPE: how many of them (enum gagg_act_type: 7 is FOLD, 8 ADD_LOCAL, 9 READ)
acts()
{
	grep -c "gagg_act: .* act=$1 " "$tmp/trace"
}

# store "MODE [OPTION...]" SHARDS PROGRAM ARGUMENT...: a group with a store, and PROGRAM on
# all ranks
store()
{
	local r

	# shellcheck disable=SC2086 # words
	group_up ring 256 window 64 stripe 2 shards "$2" sync $1 || return
	for ((r = 0; r < ranks; r++)); do
		net_exec "$((r / per_host))" "$programs/$3" g "$r" "${@:4}" \
			>"$tmp/rank.$r" 2>&1 &
		rank_pid[r]=$!
	done
	ranks_wait && group_down
}

# clocks of updates and reads in each of these modes
each_store()
{
	local mode

	for mode; do
		store "$mode" 2 store 2 -1 || return
	done
}

# copies: hosts have a rank each
copies()
{
	layout 3
	each_store ako:2:1 && store gossip-push:1:0 1 gossip 4
}

# differs_by PROGRAM TRACE: it must find a difference, which is shown
differs_by()
{
	"$@" >"$tmp/difference" && return 1
	grep -q "^line [0-9]*: gagg_" "$tmp/difference"
}

check "the module loads" module_load
layout 3 2
net_ready 1500 off
check "a group of six ranks on three hosts" group_up ring 256 window 64 stripe 2 shards 2
check "the network loses 5 %" net_loss 5
check "a trace is begun" trace_start
check "collectives, with voided sums, in one epoch" ranks_run \
	allreduce:int32:sum:40000 allreduce:float32:sum:30000 broadcast:20000:3 \
	allgather:999 reduce_scatter:int32:sum:5000 barrier
check "and in another, on two channels" ranks_run @0,2,4:split:0 @1,3,5:split:1 \
	allreduce:int32:sum:20000 world allreduce:int32:max:9000
check "something was lost, voided, asked for again" \
	is "$(count_all retransmits) && $(count_all repairs) && $(count_all queries)"
check "the groups are deleted" group_down
check "stores: in whole clocks, between two bounds, in turns" each_store "ssp:0 lane-type int64" dssp:1:3 r2sp:80:0
check "copies: partitions, whole replicas" copies
check "the trace is read" trace_stop
check "actions of stores are in it" is "$(acts 7) && $(acts 8) && \
	$(acts 9)"
check "the core in userspace does the same" "$programs/replay" "$tmp/trace"
note "$("$programs/replay" "$tmp/trace")"
check "a core that takes one more datagram for a loss does not" \
	differs_by "$programs/replay-changed" "$tmp/trace"
note "$(tail -n 3 "$tmp/difference")"
