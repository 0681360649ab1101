# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Choices that follow from a seed; to be sourced after lib.sh.
#
#   dice SEED       begins anew
#   roll N          prints a number below N, 2^23 at most
#   pick WORD...    prints one of them
#   length [BITS]   prints a length whose logarithm is evenly spread, below 2^BITS (18)

# RANDOM would begin anew in each $(...); this state is in a file
# shellcheck disable=SC2154 # of lib.sh
dice_state=$test_tmp/dice

dice()
{
	echo "$(($1 & 0x7fffffff))" >"$dice_state"
}

roll()
{
	local state

	read -r state <"$dice_state"
	state=$(((state * 1103515245 + 12345) & 0x7fffffff))
	echo $state >"$dice_state"
	echo $(((state >> 8) % $1))
}

pick()
{
	local n=$(($(roll $#) + 1))

	echo "${!n}"
}

length()
{
	local bits

	bits=$(roll "${1:-18}")
	echo $(((1 << bits) + $(roll $((1 << bits)))))
}
