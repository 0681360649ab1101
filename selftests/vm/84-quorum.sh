#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# Rounds that need not wait for all: the sums of those who are in them, the same
# on all ranks; what is late counts never, or once; see quorum.c.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
# shellcheck source=selftests/vm/store.sh
. "$(dirname "$0")/store.sh"
plan 16

# sums ELEMENTS CALLS [MS]: all ranks make them, the last one MS late to every
# fourth; $digest, of which all have the same
sums()
{
	start_paused quorum "$1 $2 $((ranks - 1))" $((${3:-0} * 1000))
	ranks_wait || return
	digest=$(grep -h '^digest' "$tmp"/rank.? | sort -u)
	echo "$digest"
	[[ $digest =~ ^digest\ [0-9a-f]{16}\ of\ $2\ calls,\ least\ [0-9]+$ ]]
}

# of all four: in every call somebody was missing
three_were_enough()
{
	[[ $digest =~ least\ 3$ ]]
}

module_load "$@"
layout 4
net_ready 1500
check_not "no rounds of nobody" group_up sync bsp-quorum:0:0
check_not "no deadline at once" group_up sync bsp-deadline:2:0:0
check_not "no rounds of more than there are" group_up sync bsp-quorum:5:0
check "which is said" eval "group_up sync bsp-quorum:5:0 2>&1 |
	grep 'K of the sync mode must be at most the number of workers'"

group_up ring 256 window 64 sync bsp-quorum:3:0
check "what is late is dropped" sums 300 40 50
check "three were enough" three_were_enough
check "the slow rank was late" rank_says 3 "^late [1-9]"
check "and is counted" is "$(count_all late) > 0"
group_down

group_up ring 256 window 64 sync bsp-quorum:3:1
check "what is late is carried" sums 5000 40 50
# more chunks than the ring has
check "also of long sums" sums 120000 8 300
net_offload off
net_impair loss random 2% duplicate 2% delay 1ms reorder 90%
check "with losses" sums 5000 20 50
check "which were repaired" is "$(count_all retransmits) > 0"
net_clear
group_down

group_up ring 256 window 64 shards 2 sync bsp-deadline:2:20:1
check "a deadline, two shards" sums 5000 40 100
group_down

group_up ring 256 window 64 sync bsp-adaptive:2:4:1
check "a deadline that follows delays" sums 40000 20 100
group_down

mixed_up ring 256 window 64 sync bsp-quorum:2:1
check "two hosts with the twin" sums 5000 40 50
check "the module can be unloaded" eval "mixed_down && module_unload"
