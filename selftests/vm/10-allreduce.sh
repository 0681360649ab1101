#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 180
# stock: vector code of the kernel, under kernel_fpu_begin()
#
# The thinnest path first; then every collective once.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
plan 16

check "the module loads" module_load
layout 2
net_ready 1500
check "a group is created on two hosts" group_up ring 256 window 64
check "one chunk is all-reduced" ranks_run allreduce:int32:sum:344
check "both ranks have the same result" digests_agree
check "each contribution was counted once, and so were the farewell's" \
	is "$(count_all contributions) == 4"
check "and a session can be opened again" ranks_run allreduce:int32:sum:1 barrier
rank_start 0 allreduce:int32:sum:5
SEED=2 rank_start 1 allreduce:int32:sum:5
check_not "a result that is not the sum is noticed" ranks_wait
check "the groups are deleted" group_down
net_down

layout 4
net_ready 1500
check "a group is created on four hosts" group_up ring 256 window 64
check "every collective" ranks_run \
	allreduce:int32:sum:1000 allreduce:int32:min:1000 allreduce:int32:max:1000 \
	allreduce:int64:sum:1000 reduce_scatter:int64:sum:333 \
	allreduce:float32:sum:5000 allreduce:float16:mean:5000 allreduce:bfloat16:max:5000 \
	reduce_scatter:int32:sum:1000 reduce_scatter:float32:sum:3001 \
	allgather:1 allgather:10001 broadcast:1:0 broadcast:77777:2 barrier \
	allreduce:int32:sum:0 allgather:0
check "with the same results everywhere" digests_agree
check "more than the ring holds" ranks_run allreduce:int32:sum:300000 broadcast:1000000:3
check "non-blocking, several in flight" ranks_run \
	iallreduce:int32:sum:100000 iallreduce:int32:max:7 ibroadcast:1234:1 \
	iallgather:999 ibarrier ireduce_scatter:int32:sum:500 wait
rank_options=(--repeat 10)
check "repeated with a plan" ranks_run plan allreduce:float32:sum:20000 \
	reduce_scatter:float32:mean:2000
rank_options=()
check "two channels at once" ranks_run @0,2:split:0 @1,3:split:1 \
	allreduce:int32:sum:3000 broadcast:5000:1 world allreduce:int32:sum:2000 \
	part:0 allreduce:float32:sum:100 barrier free
check "the module can be unloaded" eval "group_down && module_unload"
