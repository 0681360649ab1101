#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# Stores: every read of every rank shows what its sync mode says, whatever the
# network loses, repeats and reorders; see store.c.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
plan 17
hits=

# store_run CLOCKS BOUND [PAUSE...]: ranks with these pauses, the last repeated; $hits
store_run()
{
	local clocks=$1 bound=$2 r pause=0 status=0 pids=()
	shift 2

	for ((r = 0; r < ranks; r++)); do
		pause=${1:-$pause}
		[ $# -eq 0 ] || shift
		net_exec "$((r / per_host))" "$TOP/build/selftests/vm/store" g "$r" "$clocks" \
			"$bound" "$pause" ${hits:+"$hits"} >"$tmp/rank.$r" 2>&1 &
		pids+=($!)
	done
	for ((r = 0; r < ranks; r++)); do
		wait "${pids[r]}" || {
			echo "rank $r:"
			tail -n 5 "$tmp/rank.$r"
			status=1
		}
	done
	return $status
}

# the first read at a clock is old enough for the next one, or two
slowest_asks_seldom()
{
	[ "$(sed -n 's/^hits //p' "$tmp/rank.0")" -ge 16 ]
}

check "the module loads" module_load
layout 3 2 some
net_ready 1500
check "a group with a store, two ranks a host" group_up ring 1024 window 64 sync ssp:2
check "says so" eval "ctl 0 group show g | grep -q 'sync ssp:2'"
check "no read breaks the bound" store_run 12 2 20000 0
hits=12
check "nor with reads that are cached" store_run 12 2 20000 0
check "the slowest seldom asks" slowest_asks_seldom
hits=25
check_not "hits are counted" store_run 12 2
hits=
check "an update is counted once" store_run 4 2
check_not "a stricter promise than it keeps is noticed" store_run 12 0 20000 0
check_not "there are no collectives" ranks_run allreduce:int32:sum:1
group_down

group_up ring 1024 window 64 sync ssp:0
check "whole clocks only" store_run 12 0 20000 0
hits=12
check "cached, too: once a clock is enough" store_run 12 0
hits=
net_offload off
net_impair loss random 2% duplicate 2% delay 1ms reorder 90%
check "with losses and repetitions, too" store_run 8 0
group_down
group_up ring 1024 window 64 sync ssp:1
check "and with a bound" store_run 8 1
group_down
net_clear
group_up ring 1024 window 64 shards 2 sync asp
check "without a bound" store_run 12 -1 20000 0
group_down
check_not "bad parameters are refused" group_up sync ssp:-1
check "the module can be unloaded" module_unload
