#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What keeps a host from being taken for dead does not wait for memory: HELLO is sent by
# a work in a queue of its own, which has a rescuer, and listeners are told by another.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
plan 5

tracefs=/sys/kernel/tracing
[ -e $tracefs/trace ] || mount -t tracefs tracefs $tracefs
# another test may have stopped it
echo 1 >$tracefs/tracing_on
queued=$tracefs/events/workqueue/workqueue_queue_work

# queue FUNCTION: the names of the queues that it was put into
queue()
{
	sed -n "s/.* function=$1 .*workqueue=\([^ ]*\) .*/\1/p
		s/.* workqueue=\([^ ]*\) .*function=$1 .*/\1/p" $tracefs/trace | sort -u
}

# the last names are of 6.1 and of what follows
rescued()
{
	pgrep -x "gagg|kworker/R-gagg"
}

queued_in()
{
	queue "$1" | grep -x "$2"
}

module_load "$@"
check "the queue has a rescuer" rescued
echo 1 >$queued/enable
layout 2
net_ready 1500
group_up ring 256 window 64
check "hosts hear each other" wait_until 60 eval "ctl 0 member list g | grep -c heard"
ranks_run allreduce:int32:sum:1000
note "$(grep -ho 'function=[a-z_]*\|workqueue=[a-z_]*' $tracefs/trace | sort | uniq -c)"
check "HELLO is sent from it" queued_in speak_work_fn gagg
check "listeners are told from another" queued_in epoch_news_work_fn events_unbound
check_not "and nothing else is in it" queued_in "[^s].*" gagg
echo 0 >$queued/enable
echo >$tracefs/trace
