#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
# turns: 2
# stock: the vDSO: a clock that is read without a call
#
# System calls do not grow with data: a blocking all-reduce of 64 MiB makes two,
# SUBMIT and one that sleeps, once the group is warm; sums of floating point without
# a plan make as many for their exponents before.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
plan 9

# 64 MiB of int32: one ring
count=$((16 * 1024 * 1024))

# calls between the begin and the end of operation $2 of trace $1
calls()
{
	awk -v want="$2" '
		/write\(-1, "end"/ { inside = 0 }
		inside { print }
		/write\(-1, "begin"/ { inside = ++n == want }' "$1"
}

# the traced rank goes the same way as all others, one process deeper
traced_start()
{
	net_exec "$1" "${TRACED[@]}" -o "$test_tmp/trace.$1" "$RANK" g "$1" "${@:2}" \
		>"$test_tmp/rank.$1" 2>&1 &
	rank_pid[$1]=$!
}

# few_calls TRACE OPERATION MOST. Who has waited for ten seconds, on a slow machine, says so, which
# takes four: STATUS, poll, write, and WAIT again
few_calls()
{
	local told

	calls "$1" "$2" >"$test_tmp/calls"
	cat "$test_tmp/calls"
	told=$(grep -c 'write(2, .* has waited for' "$test_tmp/calls")
	is "$(wc -l <"$test_tmp/calls") <= $3 + 4 * $told"
}

module_load "$@"
layout 2
net_ready 1500
check "a group with the default ring" group_up
words=(allreduce:int32:sum:1000 allreduce:int32:sum:"$count"
	allreduce:float32:sum:"$count"
	plan allreduce:float32:sum:"$count" allreduce:float32:sum:"$count")
traced_start 0 "${words[@]}"
rank_start 1 "${words[@]}"
check "64 MiB are all-reduced five times under strace" ranks_wait
note "$(rank_line 0 ok)"
check "strace has seen the operations" is "$(grep -c '"begin"' "$test_tmp/trace.0") == 5"
check "a small int32 all-reduce makes at most two calls" few_calls "$test_tmp/trace.0" 1 2
check "64 MiB of int32: at most two calls" few_calls "$test_tmp/trace.0" 2 2
check "64 MiB of float32 without a plan: at most four calls" few_calls "$test_tmp/trace.0" 3 4
check "with a plan: at most two calls" few_calls "$test_tmp/trace.0" 4 2
check "and again" few_calls "$test_tmp/trace.0" 5 2
check "there is at least one: calls are counted" \
	is "$(calls "$test_tmp/trace.0" 2 | grep -c ioctl) >= 1"
