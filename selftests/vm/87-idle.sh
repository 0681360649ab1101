#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# clock: skip
#
# A group that is joined and has nothing to do: no timer of its ports runs and none of
# their polls, but for one HELLO a second and neighbour, by which a death is noticed, and
# those that show every 3.75 s that chunks pass: a question, its answer, and a long one.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
plan 8

tracing=/sys/kernel/tracing

uptime_s()
{
	cut -d. -f1 /proc/uptime
}

# record COMMAND...: what timers are started and what is polled meanwhile, in $took s
record()
{
	local begun status

	echo >$tracing/trace
	echo 1 >$tracing/tracing_on
	begun=$(uptime_s)
	"$@"
	status=$?
	echo 0 >$tracing/tracing_on
	took=$(($(uptime_s) - begun))
	cp $tracing/trace "$tmp/trace"
	return $status
}

port_timers()
{
	grep -c 'hrtimer_start: .*function=gagg_port_timer' "$tmp/trace"
}

join_timers()
{
	grep -c 'timer_start: .*function=join_timer_fn' "$tmp/trace"
}

# polls of ports, whose device has no name, or that of all dummies
polls()
{
	grep -c 'napi_poll: .* for device \(dummy#\)\? work' "$tmp/trace"
}

all_done()
{
	[ -e "$tmp/done.0" ] && [ -e "$tmp/done.other" ]
}

go()
{
	touch "$tmp/go.$1"
	wait_until 60 test -e "$tmp/done.$1"
}

module_load "$@"
layout 2
net_ready 1500
# what it shows each 3.75 s is of dead-after: the default
patience=()
check "a group" group_up
mountpoint -q $tracing || mount -t tracefs none $tracing
for event in timer/hrtimer_start timer/timer_start napi/napi_poll; do
	echo 1 >$tracing/events/$event/enable
done
ranks_start allreduce:float32:sum:100000 @0:touch:"$tmp/done.0" @1:touch:"$tmp/done.other" \
	await:"$tmp/go.1" allreduce:float32:sum:100000 @0:touch:"$tmp/done.1" await:"$tmp/go.2"
check "an all-reduce" wait_until 60 all_done
# acknowledgements, and the last round trip's timer
sleep 1
record sleep 5
note "idle for $took s: $(port_timers) port timers, $(join_timers) join timers, $(polls) polls"
check "no timer of a port runs" is "$(port_timers) == 0"
# seconds begin and end somewhere
shown=$((2 * (took / 3 + 1)))
check "each host says HELLO once a second" \
	is "$(join_timers) <= 2 * ($took + 2) + 3 * $shown"
check "and is polled for that, and for what it hears, only" \
	is "$(polls) <= 2 * 2 * ($took + 2) + 4 * $shown"
# what is lost takes a timer
net_loss 10
check "the next all-reduce" record go 1
note "busy: $(port_timers) port timers, $(polls) polls"
check "timers and polls are seen" is "$(port_timers) >= 1 && $(polls) >= 3"
touch "$tmp/go.2"
check "all end well" ranks_wait
