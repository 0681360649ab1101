#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
# turns: 2
#
# Sync modes in which every rank has a copy of the store: what is refused, and that
# nothing is lost or counted twice, whatever the network does; see store.c, gossip.c.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
# shellcheck source=selftests/vm/store.sh
. "$(dirname "$0")/store.sh"
# shellcheck source=selftests/vm/digits.sh
. "$(dirname "$0")/digits.sh"

modes=(ako:1:1 ako:3:2 gossip-pull:4 gossip-push:4:2 gossip-pair:4 push-sum:4)
gossips=(gossip-pull:1 gossip-push:1:0 gossip-push:2:3 gossip-pair:1 push-sum:1)
# slow ones: each kind of exchange once, and no digits
if slow_kernel; then
	modes=() gossips=(gossip-pull:1 gossip-push:1:0 gossip-pair:1)
fi
plan $((22 + ${#modes[@]} + 2 * ${#gossips[@]}))

gossip_run()
{
	gossip_start "$@" && ranks_wait
}

# all say the same of the mean
one_mean()
{
	[ "$(sort -u "$tmp"/rank.? | wc -l)" -eq 1 ] || ! head "$tmp"/rank.?
}

# refused PATTERN OPTION...: a group with these options, and why
refused()
{
	! ctl 0 group create x local 10.77.0.1 port 9000 "${@:2}" >"$tmp/refused" 2>&1 &&
		grep -E -- "$1" "$tmp/refused"
}

# rank 1 dies while others train
dies()
{
	start_paused gossip 1000 $SLOW
	wait_until 60 is_running && rank_kill 1 &&
		! ranks_wait && grep "rank 1 died" "$tmp/rank.0" && grep "rank 1 died" "$tmp/rank.2"
}

# partitions_within BANDWIDTH: what all ranks have measured is no more
partitions_within()
{
	train 1 --measure && cat "$tmp"/rank.? | awk -v most="$1" '
		/clocks\/s, .* bytes: [0-9]+ partitions$/ {
			n += $3 > 0 && $5 > 0 && $5 <= most && $(NF - 1) >= 1
			print
		}
		END { exit n != 4 }'
}

module_load "$@"
layout 4
net_ready 1500
check "bad parameters are refused" refused "P of ako:P:S must be" sync ako:0:0
check "a worker alone is refused" refused "at least two workers" sync ako:1:0 \
	member 0=10.77.0.1
check "two workers on a host are refused" refused "one worker each" sync ako:1:0 \
	member 0=10.77.0.1 member 1=10.77.0.1
check "more than a shard is refused" refused "requires one shard" sync push-sum:1 shards 2

# a read lacks what was pushed in the last 2P + S - 1 clocks, at most
group_up dead-after 60000 ring 1024 window 64 sync ako:1:1
check "ako: all to all, one late" store_run 2 $SLOW 0
check "a stricter promise than it keeps is noticed" breaks_bound "there$" 0 $SLOW 0
group_down
net_offload off
net_impair loss random 2% duplicate 2% delay 1ms reorder 90%
group_up dead-after 60000 ring 1024 window 64 sync ako:3:2
check "ako: partitions, with losses and repetitions" store_run 7 $SLOW 0
check "which were repaired" is "$(count_all retransmits) > 0"
group_down
net_clear
net_offload on
group_up dead-after 60000 ring 1024 window 64 shards 2 sync ako:5:0
check "and in two shards" store_run 9
group_down

for mode in "${gossips[@]}"; do
	group_up dead-after 60000 ring 1024 window 64 sync "$mode"
	check "$mode: whole replicas, one late" eval "gossip_run $SLOW 0 && one_mean"
	group_down
done
net_offload off
net_impair loss random 2% duplicate 2% delay 1ms reorder 90%
group_up ring 1024 window 64 sync ako:3:2 lane-type int64
check "ako: lanes of int64, with losses and repetitions" store_run 7 $SLOW 0
group_down
group_up ring 1024 window 64 sync push-sum:1 lane-type int64
check "push-sum: the same" eval "gossip_run && one_mean"
group_down
for mode in "${gossips[@]}"; do
	group_up dead-after 60000 ring 1024 window 64 sync "$mode"
	check "$mode: with losses and repetitions" eval "gossip_run && one_mean"
	group_down
done
net_clear
net_offload on
group_up dead-after 60000 ring 1024 window 64 shards 2 sync gossip-pair:1
check "pairs in two shards" gossip_run
group_down
layout 3
group_up dead-after 60000 ring 1024 window 64 sync gossip-pair:1
check "one of three is left over" gossip_run
group_down
group_up dead-after 60000 ring 1024 window 64 sync gossip-pull:1
check "a rank that dies ends the epoch" dies
group_down
layout 4

mixed_up dead-after 60000 ring 1024 window 64 sync ako:3:2
check "ako: two hosts with the twin, one late" store_run 7 $SLOW 0
mixed_down
net_offload off
net_impair loss random 2% duplicate 2% delay 1ms reorder 90%
mixed_up dead-after 60000 ring 1024 window 64 shards 2 sync ako:3:2 lane-type int64
check "with losses, in two shards" store_run 7
check "which were repaired" is "$(count 0 retransmits) > 0 && $(twin_count 2 retransmits) > 0"
mixed_down
for mode in gossip-pull:1 push-sum:1; do
	mixed_up dead-after 60000 ring 1024 window 64 sync "$mode" || bail "no group with the twin"
	check "$mode: whole replicas, on hosts of both kinds" eval "gossip_run && one_mean"
	mixed_down
done
net_clear
net_offload on

check "gaggd starts" digits_daemons 0 1 2 3
for mode in "${modes[@]}"; do
	group_up dead-after 60000 ring 256 window 64 sync "$mode"
	check "$mode" learns_well "$LAGGING"
	note "$learned"
	group_down
done
# three receivers at 20 Mbit/s each, headers included
net_impair rate 20mbit
group_up dead-after 60000 ring 256 window 64 sync ako:2:2
check "ako: how many partitions there should be" partitions_within 7500000
group_down
net_clear
check "the module can be unloaded" module_unload
