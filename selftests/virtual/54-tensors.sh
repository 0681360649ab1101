#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# turns: 4
#
# Whole tensors at homes (placement tensor, greedily by size) beside chunks that are striped
# over them: eight hosts train, four of them are homes, links of 100 Mbit/s. Tensors have a
# thousandth of the elements of the networks' own.

# shellcheck source=selftests/virtual/lib.sh
. "$(dirname "$0")/lib.sh"
plan 3

STEPS=3
# Simonyan and Zisserman 2015, table 1, configuration D: 16 layers
vgg=(102760 16777 4096 2359 2359 2359 2359 2359 1180 590 590 295 147 74 37 2)
# He et al. 2016, table 1, 50 layers: convolutions of more than 60000 weights, and the classes
resnet=(2359 2359 2359 2097 2048 1049 1049 1049 1049 1049 590 590 590 590 590 590 524 524
	262 262 262 262 262 262 262 262 262 262 262 147 147 147 147 131 131
	66 66 66 66 66 66 66)

# sums PLACEMENT one|own ELEMENTS...: $taken, us of a step
sums()
{
	local r placement=$1
	shift

	group_up ring 128 window 64 channels 64 placement "$placement" || bail "$placement"
	for ((r = 0; r < ranks; r++)); do
		net_exec "$r" "$TOP/build/selftests/vm/tensors" g "$r" $STEPS "$@" \
			>"$tmp/rank.$r" 2>&1 &
		rank_pid[r]=$!
	done
	ranks_wait || bail "$(tail -n 1 "$tmp"/rank.?)"
	taken=$(($(sed -n 's/^us //p' "$tmp/rank.0") / (STEPS - 1)))
	group_down
}

# beside NAME PERCENT NEAR ELEMENTS...: chunks of all tensors in a row, whole tensors, and chunks of
# each tensor in a communicator of its own
beside()
{
	local name=$1 percent=$2 near=$3 striped
	shift 3

	sums striped one "$@"
	striped=$taken
	sums striped own "$@"
	note "$name: chunks, and a communicator for each tensor: $taken us"
	sums tensor own "$@"
	bar "$name: chunks take at most $percent % of the time of whole tensors" \
		"100 * $striped <= $percent * $taken" "100 * $striped <= $near * $taken"
}

[ -d /sys/module/gagg ] || insmod "$GAGG_KO" || bail "no module"
layout 8 1 some
net_ready 1500 off
wires 100mbit 250us
beside "VGG-16" 45 50 "${vgg[@]}"
beside "ResNet-50" 110 120 "${resnet[@]}"
check "a mode with a store refuses it" eval '! ctl 0 group set g sync asp placement tensor'
net_down
