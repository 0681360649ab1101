#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What one poll of a port does is bounded, whatever it has read: here thousands of questions
# for all that a home has. How long a softirq that receives has lasted is printed.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
plan 6

WIRE=$TOP/build/selftests/vm/wire
ACTS=512 REFILLS=4	# GAGG_ACTS, REFILLS_MAX
NET_RX=3
tracefs=/sys/kernel/tracing
events=(gagg/gagg_act napi/napi_poll irq/softirq_entry irq/softirq_exit)
[ -e $tracefs/trace ] || mount -t tracefs tracefs $tracefs

events_set()
{
	local event

	for event in "${events[@]}"; do
		echo "$1" >"$tracefs/events/$event/enable"
	done
}

trace_start()
{
	echo mono >$tracefs/trace_clock
	echo 65536 >$tracefs/buffer_size_kb
	echo "vec == $NET_RX" >$tracefs/events/irq/softirq_entry/filter
	echo "vec == $NET_RX" >$tracefs/events/irq/softirq_exit/filter
	events_set 1
	echo >$tracefs/trace
	echo 1 >$tracefs/tracing_on
}

trace_stop()
{
	echo 0 >$tracefs/tracing_on
	events_set 0
	cat $tracefs/trace >"$tmp/trace"
	echo 1 >$tracefs/buffer_size_kb
}

# most actions of a poll, and the longest softirq, us, on any CPU
longest()
{
	awk '
		{ for (i = 1; i <= NF && $i !~ /^\[[0-9]+\]$/; i++); cpu = $i }
		/ gagg_act: /	{ acts[cpu]++ }
		/ napi_poll: /	{ if (acts[cpu] > most) most = acts[cpu]; acts[cpu] = 0 }
		/ softirq_entry: / { at[cpu] = time() }
		/ softirq_exit: / { us = (time() - at[cpu]) * 1e6; if (at[cpu] && us > long) long = us }
		function time(	j) { for (j = i; $j !~ /^[0-9]+\.[0-9]+:$/; j++); return $j + 0 }
		END { printf "%d %d\n", most, long }' "$tmp/trace"
}

# recorded COMMAND...: sets $most and $long
recorded()
{
	trace_start
	"$@"
	trace_stop
	read -r most long < <(longest)
	note "${*: -1}: at most $most actions in a poll, at most $long us in a softirq"
}

# Those of 20 ms arrive together, so that a poll finds many of them.
flood()
{
	local i

	net_in sw tc qdisc replace dev p0 root netem slot 20ms 20ms limit 10000 || return
	for ((i = 0; i < 10; i++)); do
		net_exec 2 "$WIRE" send 10.77.0.2:7440 10.77.0.1:7440 "$tmp/contrib" length=64 \
			src=1 chunk=0 round=1 count=500 "$@" >"$tmp/sent"
	done
}

train()
{
	rank_options=(--quiet --repeat 2)
	ranks_run allreduce:int32:sum:800000
	rank_options=()
}

module_load "$@"
layout 3
net_ready 1500
check "a group" group_up ring 4096 window 2048
recorded train
check "training: no poll does more than $REFILLS refills and what it has read" \
	is "$most > 0 && $most <= $REFILLS * $ACTS + 2 * $ACTS"
net_exec 0 timeout 60 "$WIRE" learn eth0 "$tmp/contrib" type=4 >"$tmp/learned" &
ranks_start await:"$tmp/go" allreduce:int32:sum:800000 say:through await:"$tmp/end"
wait_until 60 grep -q listening "$tmp/learned" || bail "nobody listens"
touch "$tmp/go"
check "results" ranks_say through
was=$(count 0 repairs)
# QUERY with REPAIR, for a third of the ring
recorded flood type=11 flags=4 run=700
check "5000 questions: nor does one that reads them" \
	is "$most > 0 && $most <= $REFILLS * $ACTS + 2 * $ACTS"
# PULL of the last results
recorded flood type=14 run=700 pn=100
check "nor by number" is "$most > 0 && $most <= $REFILLS * $ACTS + 2 * $ACTS"
check "they are answered" is "$(count 0 repairs) > $was"
pkill -KILL -x rank
