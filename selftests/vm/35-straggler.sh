#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 180
#
# A rank that is late costs the others a few questions, no storm; and a channel
# that waits does not hold up another.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
plan 9

# milliseconds that operation $2 has taken on rank $1
took()
{
	rank_line "$1" " op $2 .* ok " | sed 's/.* ms \([0-9]*\)$/\1/'
}

snapshot()
{
	queries=$(count_all queries)
	retransmits=$(count_all retransmits)
}

module_load "$@"
layout 4
net_ready 1500
group_up ring 256 window 64

snapshot
check "nobody is late" ranks_run allreduce:int32:sum:50000 allreduce:int32:sum:50000
unhindered=$(($(count_all queries) - queries))
repeated=$(($(count_all retransmits) - retransmits))
note "two unhindered: $(took 0 2) ms, $unhindered queries, $repeated retransmits"

snapshot
check "rank 3 is two seconds late" ranks_run allreduce:int32:sum:50000 \
	@3:sleep:2000 allreduce:int32:sum:50000
queries=$(($(count_all queries) - queries))
retransmits=$(($(count_all retransmits) - retransmits))
note "$queries queries, $retransmits retransmits; rank 0 waited $(took 0 2) ms, rank 3 $(took 3 2) ms"
check "the others have waited, who is late has not" is "$(took 3 2) < $(took 0 2)"
# each 2 ms, after 32 ms each sixteenth of the silence, 250 ms at most: 83 times in two
# seconds at most and 8 times in each more, for each of 3 ranks and 3 homes; 150 for the rest of two
# operations; and on a slow machine as many as two had that nobody hinders, or twice as many now
longer=$(($(took 0 2) - 2000))
asked=$((9 * (83 + 8 * (longer > 0 ? longer : 0) / 1000)))
check "they have asked now and then" is \
	"$queries >= 3 && $queries <= $asked + 150 + 2 * $unhindered"
# one window was on its way, and arrived
check "they have not repeated themselves" is "$retransmits <= 64 + 2 * $repeated"

# channel 1 waits for rank 3, which meanwhile works on channel 0
check "operations of one channel go on while another waits" ranks_run \
	split:0 !3:number:100 !3:iallreduce:int32:sum:100000 world number:10 \
	allreduce:int32:sum:50000 allgather:1000 allreduce:int32:max:1000 barrier say:through \
	@3:sleep:500 @3:part:0 @3:number:100 @3:iallreduce:int32:sum:100000 wait
check "all were through before rank 3 began" eval \
	"rank_line 3 'through|op 101' | head -n 1 | grep through"
check "and channel 1 was as it should be" rank_says 0 "op 101 .* ok"
check "the module can be unloaded" eval "group_down && module_unload"
