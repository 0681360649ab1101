#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 180
#
# Tables of a store get values, are saved and restored; see checkpoint.c.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
plan 10

file=$tmp/tables

# tables save|load: by all ranks, which must print the same digest
tables()
{
	local r

	for ((r = 0; r < ranks; r++)); do
		net_exec "$((r / per_host))" "$TOP/build/selftests/vm/checkpoint" g "$r" "$1" \
			"$file" >"$tmp/rank.$r" 2>&1 &
		rank_pid[r]=$!
	done
	ranks_wait || return
	digest=$(sort -u "$tmp"/rank.?)
	echo "$digest"
	[[ $digest =~ ^digest\ [0-9a-f]{16}$ ]]
}

saves_the_same()
{
	tables save && [ "$digest" = "$saved" ]
}

same_again()
{
	local was=$digest

	tables load && [ "$digest" = "$was" ]
}

module_load "$@"
layout 3 1 some
net_ready 1500
group_up ring 256 window 64 sync asp
check "values, additions, a checkpoint" tables save
saved=$digest
check "a new epoch takes them up" same_again
group_down
group_up ring 256 window 64 sync ssp:0
check "as does another sync mode" same_again
group_down
group_up ring 256 window 64 sync asp lane-type int64
check "and lanes of int64" same_again
check "which save the same" saves_the_same
group_down
group_up ring 256 window 64 shards 2 sync r2sp:80:1000
check "and one with turns, in two shards" same_again
net_impair loss random 2% duplicate 2% delay 1ms reorder 90%
check "with losses" same_again
net_clear
check "what is saved does not depend on the mode" saves_the_same
printf x | dd of="$file" bs=1 seek=200 conv=notrunc status=none
check_not "a damaged file is not taken" tables load
check "and the others hear of it" rank_says 1 "rank 0"
