#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
# boots: 2
#
# The same seed, the same run: figures and traces of two boots are equal.

# shellcheck source=selftests/virtual/lib.sh
. "$(dirname "$0")/lib.sh"
plan 3

# traced LABEL: into /out
traced()
{
	local trace=/sys/kernel/tracing

	echo 8192 >$trace/buffer_size_kb
	echo >$trace/trace
	echo 1 >$trace/events/gagg/enable
	measure -s 256K -n 3 -w 0
	echo 0 >$trace/events/gagg/enable
	figure "$1"
	cat $trace/trace >"/out/$1"
	bar "$1: right, and with a trace" "$wrong == 0 && $(wc -l <"/out/$1") > 1000"
}

world module 4 ring 8192 || bail "no hosts"
wires 10gbit 25us
net_impair rate 10gbit delay 25us loss gemodel 1% 30% 100% 0%
traced bursts
wires 10gbit 25us
net_impair delay 1ms 0.3ms loss 1%
traced jitter
world_down
world twin 4 ring 8192 || bail "no hosts"
wires 10gbit 25us
net_impair rate 10gbit delay 25us loss 1%
measure -s 256K -n 3 -w 0
figure twin
bar "twin: right" "$wrong == 0"
world_down
