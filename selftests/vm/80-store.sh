#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
# turns: 2
#
# Stores: every read of every rank shows what its sync mode says, whatever the
# network loses, repeats and reorders; see store.c.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
# shellcheck source=selftests/vm/store.sh
. "$(dirname "$0")/store.sh"
plan 38

no_collectives()
{
	# one that joins after another has left waits for that one in vain
	local rank_options=(--timeout $((20000 * ${PATIENCE:-1})))

	# who finds out first leaves, which is what others may see
	! ranks_run allreduce:int32:sum:1 && grep -q "no collectives" "$tmp"/rank.*
}

# it reads twice a clock, and what it has read is old enough for two clocks more
slowest_asks_seldom()
{
	is "$(sed -n 's/^hits //p' "$tmp/rank.0") >= 4 * CLOCKS / 3"
}

# a mode without a store says that it adds up int64 without that
lanes_refused()
{
	! group_up sync "$1" lane-type int64 >"$tmp/refused" 2>&1 &&
		grep -q "sums of int64 need no option" "$tmp/refused"
}

# late_shows VALUE: what all ranks have read late
late_shows()
{
	[ "$(cut -d' ' -f1 "$tmp"/rank.? | sort -u)" = "$1" ]
}

# clocks_known FILE: what ranks know after each clock, the same on all, into FILE
clocks_known()
{
	local r

	start_paused clocks 20
	ranks_wait || return
	for ((r = 1; r < ranks; r++)); do
		cmp "$tmp/rank.0" "$tmp/rank.$r" || return
	done
	cp "$tmp/rank.0" "$tmp/$1" && [ "$(wc -l <"$tmp/$1")" -eq 20 ]
}

# store_run of which ranges are read
ranges_run()
{
	RANGES=1 store_run "$@"
}

module_load "$@"
layout 3 2 some
net_ready 1500
check_not "bad parameters are refused" group_up sync ssp:-1
check "an option for lanes of int64 where none is needed, too" lanes_refused bsp
check "a group with a store, two ranks a host" group_up ring 1024 window 64 sync ssp:2
check "says so" eval "ctl 0 group show g | grep -q 'sync ssp:2'"
ctl 1 group set g lane-type int64
check "hosts that differ in the lane type do not start" wait_until 60 \
	eval "ctl 0 group show g | grep -q 'config-mismatch lane-type'"
ctl 1 group set g lane-type int32
check "no read breaks the bound" store_run 2 $SLOW 0
check "a stricter promise than it keeps is noticed" breaks_bound "there$" 0 $SLOW 0
check "nor do reads of ranges, some of which lack one clock at most" ranges_run 2 $SLOW 0
hits=$CLOCKS
check "nor do reads that are cached" store_run 2 $SLOW 0
check "the slowest seldom asks" slowest_asks_seldom
hits=$((2 * CLOCKS + 1))
check "hits are counted" breaks_bound "only" 2
hits=
check "there are no collectives" no_collectives
group_down
group_up ring 1024 window 64 sync bsp
check "bsp: all ranks know the same after each clock" clocks_known bsp
group_down
group_up ring 1024 window 64 sync ssp:0
check "ssp:0: bit for bit what they know with bsp" \
	eval "clocks_known ssp && cmp $tmp/bsp $tmp/ssp"
check "whole clocks only" store_run 0 $SLOW 0
hits=$CLOCKS
check "cached, too: once a clock is enough" store_run 0
hits=
net_offload off
net_impair loss random 2% duplicate 2% delay 1ms reorder 90%
check "with losses and repetitions, too" store_run 0
group_down
group_up ring 1024 window 64 sync dssp:1:3
check "and between two bounds" store_run 3 $SLOW 0
group_down
# who is never passed over has missed one update of each, at most
group_up ring 1024 window 64 sync r2sp:80:0
check "and in turns" store_run 1
group_down
net_clear
net_offload on
group_up ring 1024 window 64 shards 2 sync asp
check "without a bound, in two shards" store_run -1 $SLOW 0
check "ranges, too" ranges_run -1 $SLOW 0
group_down

# six ranks add 2^30 each at seven clocks, before anybody reads: 42 * 2^30
group_up ring 1024 window 64 sync asp
check "int32: what was added beyond 2^31 is lost to who reads late" \
	eval "! late_run 7 >/dev/null && late_shows -2147483648"
group_down
group_up ring 1024 window 64 sync asp lane-type int64
check "int64: it is not" eval "late_run 7 && late_shows 45097156608"
group_down
group_up ring 1024 window 64 shards 2 sync ssp:0 lane-type int64
net_offload off
net_impair loss random 2% duplicate 2% delay 1ms reorder 90%
check "whole clocks of int64, in two shards, with losses and repetitions" store_run 0 $SLOW 0
check "nothing was refused for its lanes" is "$(count_all drop_op) == 0 && $(count_all retransmits)"
group_down
net_clear
net_offload on
# homes are hosts 0 and 2, so that each kind is one and asks both
layout 4 2 some
net_ready 1500
check "two hosts with the module, two with the twin" \
	mixed_up ring 1024 window 64 shards 2 sync ssp:0 lane-type int64
check "whole clocks there" store_run 0 $SLOW 0
net_offload off
net_impair loss random 2% duplicate 2% delay 1ms reorder 90%
check "with losses and repetitions, too" store_run 0
net_clear
net_offload on
check "the twins have added, and sent again" is \
	"$(twin_count 2 contributions) > 0 && $(twin_count 2 retransmits) > 0"
check "down" mixed_down
mixed_up ring 1024 window 64 sync ssp:2
check "a bound holds for both kinds" store_run 2 $SLOW 0
check "and a stricter one, of a range" ranges_run 2 $SLOW 0
check "a stricter promise than it keeps is noticed" breaks_bound "there$" 0 $SLOW 0
mixed_down
mixed_up ring 1024 window 64 sync r2sp:80:0
check "and they take turns" store_run 1
mixed_down
mixed_up ring 1024 window 64 sync dssp:1:3
check "and are between two bounds" store_run 3 $SLOW 0
mixed_down
layout 4
mixed_up ring 1024 window 64 sync bsp
check "bsp: the same after each clock" clocks_known bsp
mixed_down
mixed_up ring 1024 window 64 sync ssp:0
check "ssp:0: bit for bit the same" eval "clocks_known ssp && cmp $tmp/bsp $tmp/ssp"
mixed_down
check "the module can be unloaded" module_unload
