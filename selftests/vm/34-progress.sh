#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
#
# An operation in flight needs nobody: 64 MiB are all-reduced while the trainer
# computes and makes no call at all.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
plan 5

words=(allreduce:int32:sum:1000 iallreduce:int32:sum:$((16 * 1024 * 1024)) progress)

module_load "$@"
layout 2
net_ready 1500
check "a group with the default ring" group_up
net_exec 0 "${TRACED[@]}" -o "$test_tmp/trace" "$RANK" g 0 "${words[@]}" >"$test_tmp/rank.0" 2>&1 &
rank_pid[0]=$!
rank_start 1 "${words[@]}"
check "64 MiB are all-reduced" ranks_wait
check "while rank 0 computed" rank_says 0 "progress 487.. chunks .* complete 1"
check "strace has seen the begin and the end of that" \
	is "$(grep -cE '"(spin|spun|tested)"' "$test_tmp/trace") == 3"
sed -n '/"spin"/,/"tested"/p' "$test_tmp/trace" | grep -vE '"(spin|spun|tested)"' \
	>"$test_tmp/calls"
check "and no call between" eval "cat $test_tmp/calls; [ ! -s $test_tmp/calls ]"
