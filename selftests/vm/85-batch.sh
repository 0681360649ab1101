#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# clock: skip
# kernels: uml uml-6.1
#
# Batches divided by speed: four hosts train on handwritten digits, one of them
# three times as slow as the others. With the times that kernels measure it comes to
# about a third of their shares, others wait less for it than with equal parts, and all
# have the same weights and know nine of ten. How long it takes is told, not tested. In
# turns (r2sp) the others have larger batches instead, each by itself. With replicas
# (localsgd) means count them by their samples. Shares follow measured times, which an emulated processor makes double at random.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
# shellcheck source=selftests/vm/digits.sh
. "$(dirname "$0")/digits.sh"
plan 26

# what a sample takes, far more than computing it; of a batch of 128
FAST=2000 SLOW=6000

# speeds US...: what a sample takes on each rank
speeds()
{
	slow=("$@")
}

# share R: in the end
share()
{
	sed -n "s/^rank $1: share \([0-9]*\) of 128$/\1/p" "$tmp/rank.$1"
}

# the sum is the batch, to the sample
shares_add_up()
{
	is "$(share 0) + $(share 1) + $(share 2) + $(share 3) == 128"
}

# rank R has a third of what others have: 12.8 of 38.4, where equal parts are 32; on
# a busy machine nobody sleeps exactly as long as he wants to
third()
{
	local r

	is "$(share "$1") >= 8 && $(share "$1") <= 24" || return
	for ((r = 0; r < ranks; r++)); do
		[ "$r" -eq "$1" ] || is "$(share $r) > $(share "$1")" || return
	done
}

# who is not slow, rank 3, has more than half as many again as the 32 of the beginning,
# of 96 at which it would not be blocked; the slow one has what it had, or little more
blocked_have_grown()
{
	local r

	is "$(share 3) >= 32 && $(share 3) <= 44" || return
	for r in 0 1 2; do
		is "$(share $r) > 48 && $(share $r) <= 128" || return
	done
}

# told R KEY: what gaggctl says of rank R
told()
{
	ctl "$1" -j batch show g | grep -o "\"$2\":[0-9]*" | cut -d: -f2
}

times_are_told()
{
	local compute wait

	compute=$(told 0 compute_us) wait=$(told 0 wait_us)
	is "$(told 0 rank) == 0 && $(told 0 batch) == 128 && $(told 0 share) == $(share 0)" &&
		is "$compute > 0 && $wait > 0 && $(told 0 ops) > 20"
}

# what rank R waits of its time, in percent
waits()
{
	echo $((100 * $(told "$1" wait_us) / ($(told "$1" wait_us) + $(told "$1" compute_us))))
}

# timed EPOCHS [OPTION...]: ms of a training; $took
timed()
{
	local from=${EPOCHREALTIME/./}

	train "$@" && took=$(((${EPOCHREALTIME/./} - from) / 1000))
}

# who is refused first leaves, which is what others may see
refused_in()
{
	local bad=0

	group_up ring 256 window 64 sync "$1" || return
	! train 1 --balance && grep -q "sync mode bsp, localsgd or r2sp, not $1" "$tmp"/rank.[0-3] || bad=1
	group_down && [ $bad -eq 0 ]
}

module_load "$@"
layout 4
net_ready 1500
check "gaggd starts" digits_daemons 0 1
mixed_up ring 256 window 64
speeds $FAST $FAST $FAST $SLOW
check "two hosts with the twin, one of them slow" train 3 --balance
check "it has a third, by the twin's clock" third 3
check "the weights are the same" accuracy
check "down" mixed_down
check "gaggd starts there, too" digits_daemons 2 3

group_up ring 256 window 64
check "before any op there is nothing to tell" is "$(ctl 0 batch show g | wc -l) == 0"
check "one is slow: it learns" learns "$EPOCHS" --balance
check "the shares add up" shares_add_up
check "and it has a third" third 3
check "the times are told" times_are_told
timed 4 --balance
balanced=$took waited=$(waits 0)
check "a batch in equal parts" timed 4
note "$took ms, balanced: $balanced ms; rank 0 waits $(waits 0) % of it, balanced: $waited %"
check "makes the others wait for longer" is "$(waits 0) > $waited"
speeds $FAST $SLOW $FAST $FAST
net_offload off
net_impair loss random 2% duplicate 2% delay 1ms reorder 90%
check "another one is, with losses" train 3 --balance
check "it has a third" third 1
check "and the weights are the same" accuracy
net_clear
net_offload on
group_down
group_up ring 256 window 64 sync r2sp:80:0
speeds $FAST $FAST $FAST $SLOW
check "in turns: one is slow" train 3 --balance
check "who is blocked computes more" blocked_have_grown
check "and all have the same weights" accuracy
check "which is told" is "$(told 0 share) == $(share 0) && $(told 0 batch) == 128"
group_down
group_up ring 256 window 64 sync localsgd:4
speeds $FAST $FAST $SLOW $FAST
check "means of replicas, by samples: one is slow, and it learns" learns 10 --balance
check "the shares add up there" shares_add_up
check "it has a third" third 2
group_down
for mode in ssp:2 hpsgd:4; do
	check "$mode: refused, with a sentence" refused_in $mode
done
check_not "no such group" ctl 0 batch show nosuch
