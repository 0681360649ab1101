#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
# turns: 2
#
# Trainers with several threads, each of which takes a signal every millisecond: no
# update is lost, and no communicator.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
plan 6

rounds=300
! slow_kernel || rounds=50

signalled()
{
	local r

	for ((r = 0; r < ranks; r++)); do
		net_exec "$((r / per_host))" "$TOP/build/selftests/vm/signals" g "$r" "$rounds" \
			>"$tmp/rank.$r" 2>&1 &
		rank_pid[r]=$!
	done
	ranks_wait
}

# a threshold that a trainer without signals does not come near
many_signals()
{
	note "$(cat "$tmp/rank.0")"
	is "$(sed -n 's/^signals //p' "$tmp/rank.0") > 100"
}

module_load "$@"
layout 2 2
net_ready 1500
check "a group" group_up ring 4096 window 64
check "three threads all-reduce on three communicators" signalled
check "among signals" many_signals
group_down
group_up ring 4096 window 64 sync ssp:1 lane-type int64
check "a store has each update once" signalled
check "among signals, too" many_signals
group_down
check "the module can be unloaded" module_unload
