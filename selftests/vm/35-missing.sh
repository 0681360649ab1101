#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# clock: skip
#
# Whose time is over is told who has not contributed, wherever the sum is made: with the
# module, with twins, and with both in one group.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
plan 24

# rank $1 has five seconds to join, and for $3, which ranks $2 do not begin before it has left
gives_up()
{
	local r

	rm -f "$tmp/go"
	for ((r = 0; r < ranks; r++)); do
		rank_options=(--timeout 60000)
		[ "$r" != "$1" ] || rank_options=(--timeout 5000)
		rank_start "$r" barrier fail "@$2:await:$tmp/go" "$3"
	done
	rank_wait "$1" || tail -n 5 "$tmp/rank.$1"
	touch "$tmp/go"
	ranks_wait
}

# the sentence of rank $1 ends with $4
told()
{
	gives_up "$@"
	rank_says "$1" "(no end after 5000 ms of|time is over;) .*; $4\$"
}

# a chunk has one home: of four barriers each host makes one
each_is_told()
{
	local r

	for r in 0 1 3; do
		check "$1: rank $r waits for rank 2, in an operation of one chunk" \
			told "$r" 2 barrier "rank 2 has not contributed to it yet"
	done
	check "$1: in one of many" \
		told 3 2 allreduce:int32:sum:100000 "rank 2 has not contributed to it yet"
	check "$1: for two" \
		told 1 0,2 allreduce:int32:sum:1 "ranks 0, 2 have not contributed to it yet"
	check "$1: for all" told 2 0,1,3 broadcast:4000:1 "no other rank has contributed to it yet"
}

module_load "$@"
layout 4
net_ready 1500
group_up ring 256 window 64
each_is_told "module"
group_down

twin_conf ring 256 window 64
twin_up 0 1 2 3
each_is_told "twins"
twin_down

mixed_up ring 256 window 64
each_is_told "module and twins"
mixed_down

layout 2 2 one
net_ready 1500
group_up ring 256 window 64 shards 2
check "one home: a rank of its own host" told 0 1 barrier "rank 1 has not contributed to it yet"
check "and one of another" told 0 3 barrier "rank 3 has not contributed to it yet"
check "who is beside it knows that without a question" \
	told 2 3 barrier "rank 3 has not contributed to it yet"
check "and asks for the rest" told 2 1,3 barrier "ranks? .*3 ha(s|ve) not contributed to it yet"
group_down

layout 4
net_ready 1500
group_up ring 256 window 64 sync bsp-quorum:3:0
check "three of four are enough: it waits for two, of whom it requires one" \
	told 3 0,2 iallreduce:float32:sum:1000 "ranks 0, 2 have not contributed to it yet"
group_down
check "the module can be unloaded" module_unload
