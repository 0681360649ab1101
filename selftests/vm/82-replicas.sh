#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
# turns: 2
#
# What the sync modes of replicas conserve, they conserve to the bit, whatever the
# network does: see replica.c, elastic.c. And four hosts train on handwritten digits,
# until they know 95 of 100. In the end all have the same.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
# shellcheck source=selftests/vm/store.sh
. "$(dirname "$0")/store.sh"
# shellcheck source=selftests/vm/digits.sh
. "$(dirname "$0")/digits.sh"
plan 26

replicas=(localsgd:3 easgd:1:22 easgd-sync:3:90 hpsgd:2)

# chunks_of MODE: that an epoch takes; $chunks
chunks_of()
{
	group_up ring 256 window 64 sync "$1" && train 1 && chunks=$(count_all chunks) &&
		group_down
}

# an eighth, but for what begins and ends the training
sends_less()
{
	local chunks often

	chunks_of localsgd:1 && often=$chunks &&
		chunks_of localsgd:8 && is "0 < 3 * $chunks && 3 * $chunks < $often"
}

period_refused()
{
	! group_up sync easgd:0:5 >"$tmp/refused" 2>&1 &&
		grep "TAU of easgd:TAU:ALPHA must be from 1" "$tmp/refused"
}

same_weights()
{
	train 2 && accuracy
}

module_load "$@"
layout 4
net_ready 1500
check_not "bad parameters are refused" group_up sync easgd-sync:4:101
check "with a sentence" period_refused
for mode in "${replicas[@]}"; do
	group_up ring 256 window 64 sync "$mode"
	check "$mode: each update counts as it has to, one late" replica_run $CLOCKS 20000 0
	group_down
done
net_offload off
net_impair loss random 2% duplicate 2% delay 1ms reorder 90%
for mode in "${replicas[@]}"; do
	group_up ring 256 window 64 sync "$mode"
	check "$mode: with losses and repetitions, too" replica_run $CLOCKS
	group_down
done
group_up ring 1024 window 64 sync asp
check "elastic averaging: centre and replicas keep their sum" elastic_run 20000 0
check "with losses, which were repaired" is "$(count_all retransmits) > 0"
group_down
net_clear
net_offload on
check "gaggd starts" digits_daemons 0 1
mixed_up ring 256 window 64 sync hpsgd:2
check "hpsgd:2, two hosts with the twin: the same weights" same_weights
check "and each update once" replica_run $CLOCKS 20000 0
check "down" mixed_down
mixed_up ring 256 window 64 sync easgd:1:22.5
check "easgd:1:22.5: the same, with a centre in a store" eval \
	"same_weights && replica_run $CLOCKS 20000 0"
mixed_down
check "gaggd starts there, too" digits_daemons 2 3
check "a longer period sends less" sends_less
for mode in localsgd:8 easgd-sync:4:90; do
	group_up ring 256 window 64 sync "$mode"
	check "$mode" learns_well "$ENOUGH"
	note "$learned"
	group_down
done
group_up ring 256 window 64 sync easgd:4:22
check "easgd:4:22" learns_well "$LAGGING"
note "$learned"
net_offload off
net_impair loss random 2% duplicate 2% delay 1ms reorder 90%
check "with losses, too: the same weights" same_weights
net_clear
net_offload on
group_down
group_up ring 256 window 64 sync hpsgd:2
# updates that come late want more of them
check "hpsgd:2" learns_well $((LAGGING * 3 / 2))
note "$learned"
net_offload off
net_impair loss random 2% duplicate 2% delay 1ms reorder 90%
check "with losses, too" same_weights
check "which were repaired" is "$(count_all retransmits) > 0"
net_clear
