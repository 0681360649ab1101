#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
# turns: 2
#
# Wire formats int16 and int8: what comes of a sum is what reference.c computes from the
# elements with another arithmetic, on every rank, whatever the network does and
# wherever it is added; with a plan it is within its bound. Raw operations of such a group
# are what they are elsewhere. And the bytes: a half and a quarter.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
plan 43

# without a plan results are known to the bit, with one they have a bound
known=(allreduce:float32:sum:1 allreduce:float32:sum:7 allreduce:float32:mean:1375
	allreduce:float32:sum:50000 iallreduce:float32:mean:20000 wait
	allreduce:float16:sum:5000 allreduce:bfloat16:mean:5001
	reduce_scatter:float32:sum:3001 ireduce_scatter:float16:mean:777 wait)
scaled=(@1:scale:9 allreduce:float32:sum:9000 iallreduce:float32:sum:9001 wait
	@1:scale:-5 iallreduce:float32:sum:9001 wait @0:scale:-60 @1:scale:0
	iallreduce:float32:sum:5000 wait @1:data:zero allreduce:float32:sum:4000 data:zero
	allreduce:float32:sum:4000 @0:data:nan:99 allreduce:float32:sum:4000 data:random
	scale:120 allreduce:float32:mean:4000 scale:-120 allreduce:float32:sum:4000
	scale:-140 iallreduce:float32:sum:3000 wait scale:0)
planned=(plan allreduce:float32:sum:30000 allreduce:float32:sum:30000 @0:scale:5
	allreduce:float32:sum:30000 iallreduce:float32:mean:30000 wait noplan @0:scale:0)
raw=(allreduce:int32:sum:3000 allreduce:int64:sum:3000 allreduce:float32:min:3000
	allreduce:float16:max:3000 allgather:1001 broadcast:9999:1 barrier)
every=("${known[@]}" "${scaled[@]}" "${planned[@]}" "${raw[@]}")
# several times around the ring
long=(iallreduce:float32:sum:700000 wait @0:scale:3 iallreduce:float32:sum:700000 wait
	@0:scale:0)
options=(ring 256 window 64 stripe 2)

agree()
{
	ranks_run "$@" && digests_agree "allreduce"
}

# what a result is does not depend on how it came about
same_bits()
{
	agree "$@" && digests_of 0 | diff "$tmp/want.$wire" -
}

first_bits()
{
	agree "$@" && digests_of 0 >"$tmp/want.$wire"
}

ready()
{
	group_up "${options[@]}" wire "$wire" "$@"
}

# a lane has so many bytes
lane_bytes()
{
	case $wire in
	int16)	echo 2 ;;
	int8)	echo 1 ;;
	esac
}

mixed()
{
	mixed_up "${options[@]}" wire "$wire" && agree "${every[@]}"
}

twins()
{
	twin_conf "${options[@]}" wire "$wire" && twin_up 0 1 2 3 &&
		same_bits "${known[@]}" "${scaled[@]}" "${long[@]}"
}

# bytes that host 0 sends in an all-reduce of float32, and how many datagrams of lanes again,
# since this machine is slow
bytes_of()
{
	local bytes again

	bytes=$(count 0 tx_bytes) again=$(sent_again)
	ranks_run plan allreduce:float32:sum:500000 >&2 || return
	echo "$(($(count 0 tx_bytes) - bytes)) $(($(sent_again) - again))"
}

sent_again()
{
	echo $(($(count 0 retransmits) + $(count 0 repairs)))
}

# 500000 elements of two ranks: each sends its half of the contributions, and the results
# of its own half
carried()
{
	local bytes again want=$((500000 * $1 * 1440 / 1376))

	read -r bytes again <<<"$(bytes_of)"
	echo "$bytes bytes, expected $want, and at most $again datagrams again"
	[ "$bytes" -ge "$want" ] && [ "$bytes" -le $((want * 105 / 100 + again * 1440)) ]
}

module_load "$@"
for wire in int16 int8; do
	layout 2
	net_ready 1500
	ready
	check "$wire: two hosts" agree "${every[@]}"
	check "it is told" eval "ctl 0 group show g | grep -q 'wire $wire'"
	net_in_order
	check "a datagram is full of lanes: bytes" carried "$(lane_bytes)"
	group_down
	net_down

	layout 4
	net_ready 1500
	ready
	check "$wire: four hosts" agree "${every[@]}"
	check "four hosts, for comparison" first_bits "${known[@]}" "${scaled[@]}" "${long[@]}"
	net_offload off
	net_impair loss random 3% delay 3ms reorder 10% duplicate 2%
	check "the same bits when datagrams are lost, late and doubled" \
		same_bits "${known[@]}" "${scaled[@]}" "${long[@]}"
	check "some were lost" is "$(count_all retransmits) + $(count_all repairs) > 0"
	group_down
	net_down

	layout 2 2
	net_ready 9000
	options+=(lanes 2048)
	ready shards 2
	check "$wire: two ranks on a host, jumbo frames, two shards" agree "${every[@]}"
	group_down
	options=("${options[@]:0:6}")
	net_down
	layout 2 2 one
	net_ready 1500
	ready
	check "the same bits when one adds, and ranks share hosts" \
		same_bits "${known[@]}" "${scaled[@]}" "${long[@]}"
	group_down
	net_down

	layout 3 1 dedicated
	net_ready 1500
	ready
	check "$wire: who adds does not train" agree "${every[@]}"
	group_down
	net_down

	layout 1 3
	net_ready 1500
	ready
	check "$wire: all on one host" agree "${every[@]}"
	group_down
	net_down

	layout 4
	net_ready 1500
	check "$wire: two hosts with the module, two with the twin" mixed
	check "the same bits" same_bits "${known[@]}" "${scaled[@]}" "${long[@]}"
	net_loss 3
	check "with losses, too" same_bits "${known[@]}" "${scaled[@]}" "${long[@]}"
	mixed_down
	net_clear
	check "$wire: twins alone: the same bits" twins
	twin_down

	group_up "${options[@]}" wire "$wire" sync bsp-quorum:4:0
	check "$wire: rounds of a quorum, which is all" \
		agree plan allreduce:float32:sum:20000 allreduce:float32:sum:20000
	group_down
	net_down
done

# --- what is refused -----------------------------------------------------------
layout 2
net_ready 1500
group_up "${options[@]}" wire int16
ctl 1 group set g wire int8
check "hosts that differ: the difference has a name" wait_until 20 \
	eval "ctl 0 group show g | grep -q 'config-mismatch wire'"
group_down
refused()
{
	! group_up "${options[@]}" "$@" >"$tmp/refused" 2>&1 && cat "$tmp/refused" &&
		grep -q "wire int16 and int8 require a sync mode" "$tmp/refused"
}
for sync in asp ssp:1 localsgd:4 hpsgd:4 easgd-sync:4:50; do
	check "wire int8 with $sync is refused, by name" refused wire int8 sync "$sync"
done

# --- a trainer ------------------------------------------------------------------
# shellcheck source=selftests/vm/digits.sh
. "$(dirname "$0")/digits.sh"
net_down
layout 4
net_ready 1500
digits_daemons 0 1 2 3
group_up ring 1024 window 256 wire int8
check "digits learns 95 of 100 with int8 and feedback" learns_well "$ENOUGH" --feedback
bench()
{
	local r

	for ((r = 0; r < 4; r++)); do
		net_exec "$r" gagg-bench all_reduce --group g --rank "$r" -j \
			--socket "/run/gagg/h$r.sock" -b 256K -e 256K -n 3 -w 1 "$@" >"$tmp/bench.$r" 2>&1 &
		rank_pid[r]=$!
	done
	ranks_wait
	cat "$tmp/bench.0"
}
check "gagg-bench: sums are within their bound" bench
says()
{
	grep -q "\"wire\": *\"$1\"" "$tmp/bench.0" && grep -q "\"wrong\": *0[,}]" "$tmp/bench.0"
}
check "and it says how they travelled" says int8
check "of a minimum as well" bench -o min
check "which travels as it does everywhere" says int32
