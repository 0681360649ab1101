#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
#
# Floating point: sums and means stay within the bound of
# Documentation/numerics.md (reference.c computes in double), every rank has the
# same bits, and so has every repetition, whatever the network and the layout.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
seed
plan 18

words=()
for type in float32 float16 bfloat16; do
	for op in sum mean min max; do
		words+=("allreduce:$type:$op:7001")
	done
	words+=("reduce_scatter:$type:sum:1001")
done
# ranks of different magnitude, not agreed upon: contributions are shifted
words+=(@1:scale:6 @2:scale:-3 iallreduce:float32:sum:9001 iallreduce:float16:mean:9001 wait
	plan allreduce:bfloat16:sum:3001 allreduce:bfloat16:sum:3001)

# the same operations give the same bits as the first time
same_as_first()
{
	ranks_run "${words[@]}" && digests_agree allreduce || return
	digests_of 0 >"$test_tmp/now"
	diff "$test_tmp/first" "$test_tmp/now"
}

# rank 2's element 1000 is $1: NaN spreads over a chunk, all ranks name rank 2
nonfinite()
{
	local r

	ranks_run "@2:data:$1:1000" "allreduce:$2:$3:5000" @3:data:nan:4000 \
		"allreduce:$2:$3:5000" data:random "allreduce:$2:$3:5000" || return
	for ((r = 0; r < ranks; r++)); do
		rank_says "$r" "op 1 .* nonfinite 2 " || return
		rank_says "$r" "op 2 .* nonfinite 2 " || return
		rank_says "$r" "op 3 .* nonfinite -1 " || return
	done
	digests_agree allreduce
}

module_load "$@"
layout 4
net_ready 1500
group_up ring 256 window 64
check "all types and operators are within their bounds" ranks_run "${words[@]}"
note "largest error in units of the bound: $(cat "$test_tmp"/rank.? |
	sed -n 's/.* error \([0-9.]*\) .*/\1/p' | sort -n | tail -n 1)"
digests_of 0 >"$test_tmp/first"
check "and the same everywhere" digests_agree allreduce
check "with other data they differ" eval \
	"SEED=1$SEED ranks_run \"\${words[@]}\" && ! diff <(digests_of 0) $test_tmp/first >&2"
check "the same bits again" same_as_first
net_loss 10
check "with loss" same_as_first
net_impair duplicate 10% delay 3ms reorder 20%
check "with duplicates and out of order" same_as_first
net_clear
group_down

group_up ring 512 window 128 shards 4 stripe 1
check "with other homes" same_as_first
group_down
layout 4 1 one
group_up ring 256 window 64
check "with one home" same_as_first
group_down
net_down
layout 2 2
net_ready 9000 gro
group_up ring 256 window 64
check "with two ranks on each host" same_as_first
group_down
net_down

layout 4
net_ready 1500
group_up ring 256 window 64
for type in float32 float16 bfloat16; do
	check "NaN in a sum of $type" nonfinite nan "$type" sum
	check "infinity in a mean of $type" nonfinite inf "$type" mean
done
check "NaN in a maximum" nonfinite nan float32 max
check "infinity in a minimum is a value" ranks_run @2:data:inf:1000 allreduce:float16:min:5000
check "the module can be unloaded" eval "group_down && module_unload"
