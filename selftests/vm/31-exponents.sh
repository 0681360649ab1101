#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# turns: 2
#
# Exponents: magnitudes that grow, shrink, differ between ranks, vanish. Results
# are within their bounds (rank.c checks every element) and the same bits on
# every rank, in every order of arrival, wherever they are added. Where ranks
# can know the exponent, no sum is voided: by a plan in the steady state, by
# asking in a blocking call without one. (Where a sum has to be voided, the
# larger rank comes late.)

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
plan 28

n=20000

group_ready()
{
	layout "$@"
	net_ready 1500
	group_up ring 256 window 64 stripe 2
}

# voids N COMMAND...: COMMAND succeeds and voids N sums ("some": at least one)
voids()
{
	local want=$1 was now
	shift

	was=$(count_all voids)
	"$@" || return
	now=$(count_all voids)
	echo "voids: $((now - was)), expected: $want"
	case $want in
	some)	[ "$now" -gt "$was" ] ;;
	*)	[ "$now" -eq $((was + want)) ] ;;
	esac
}

good()
{
	ranks_run "$@" && digests_agree allreduce
}

# WARM... -- STEADY...: what WARM does may void, what STEADY does must not
steady()
{
	local warm=() r
	while [ "$1" != -- ]; do
		warm+=("$1")
		shift
	done
	rm -f "$tmp/go"
	ranks_start plan "${warm[@]}" barrier say:warm "await:$tmp/go" "${@:2}"
	for ((r = 0; r < ranks; r++)); do
		wait_until 60 rank_says "$r" warm || break
	done
	voids 0 steady_go
}

steady_go()
{
	touch "$tmp/go"
	ranks_wait && digests_agree allreduce
}

module_load "$@"
group_ready 4

# --- with a plan --------------------------------------------------------------
sum=allreduce:float32:sum:$n
part=reduce_scatter:float32:mean:$((n / 4))
check "the first time, ranks of different magnitudes void sums" \
	voids some good plan @1:scale:12 @2:scale:-9 @1:sleep:500 $sum $sum
check "the same magnitudes again void nothing" \
	steady @1:scale:12 @2:scale:-9 $sum $part -- $sum $part $sum $part $sum $sum
check "nor do those that go up and down by a factor of two" \
	steady scale:1 $sum scale:0 $sum -- scale:1 $sum scale:0 $sum scale:1 $sum $sum
check "nor do they when all grow at once" voids 0 good plan scale:-20 $sum scale:20 $sum $sum
check "a rank that grows by 2^40 alone voids what the others sent" \
	voids some good plan $sum @2:scale:40 @2:sleep:500 $sum $sum
check "and nothing the next time" steady $sum @2:scale:40 $sum -- $sum $sum
check "from the smallest to the largest" good plan scale:-120 $sum scale:120 $sum
check "one rank is 2^200 times larger than all others" \
	steady scale:-90 @3:scale:110 $sum -- $sum $sum

# the exponent falls by one each time: so do the errors, to where they belong
decay=()
for ((i = 40; i >= 0; i--)); do
	decay+=("slack:$i" allreduce:float32:sum:2000)
done
check "after a decay by 2^40, precision comes back bit by bit" \
	voids 0 good plan scale:40 allreduce:float32:sum:2000 scale:0 "${decay[@]}" \
	allreduce:float32:sum:2000
check_not "and not at once: errors are seen" ranks_run plan scale:40 $sum scale:0 $sum
check "one rank decays, the others do not" \
	steady scale:30 $sum -- @0:scale:0 $sum @0:scale:-30 $sum $sum

# --- zeros --------------------------------------------------------------------
check "zeros, and then not" good plan data:zero $sum $sum data:random $sum
check "then zeros for a while, and as it was: nothing is voided" \
	steady $sum -- data:zero $sum $sum data:random $sum $sum
check "zeros, and then something 2^40 as large as before" \
	good plan $sum data:zero $sum data:random scale:40 $sum
check "some ranks have zeros" good plan @0,3:data:zero $sum $sum data:random @1:data:zero \
	@2:scale:40 $sum @1:data:random $sum
check "zeros of one rank hide nobody's exponent" \
	steady $sum -- @1:data:zero $sum $sum @1:data:random $sum
check "a plan forgets slowly" good plan @1:scale:9 $sum @1:data:zero slack:9 $sum \
	slack:8 $sum @1:data:random slack:0 $sum

# --- without a plan -----------------------------------------------------------
check "without a plan, blocking: nothing is voided, whatever the magnitudes do" \
	voids 0 good $sum @1:scale:40 $sum @1:scale:-40 $sum data:zero $sum \
	@2:data:random $sum data:random scale:120 $sum scale:-120 $sum $part
check "nor is precision ever lost" voids 0 good scale:40 $sum scale:0 $sum scale:-60 $sum
check "without a plan, not blocking: right, though sums are voided" \
	voids some good @1:scale:40 @1:sleep:500 "i$sum" "i$sum" "i$part" wait @2:scale:-40 "i$sum" wait

# --- other types --------------------------------------------------------------
check "bfloat16" good plan allreduce:bfloat16:sum:$n scale:40 allreduce:bfloat16:sum:$n \
	@1:scale:60 allreduce:bfloat16:mean:$n noplan scale:-60 allreduce:bfloat16:sum:$n
check "float16" good plan scale:-12 allreduce:float16:sum:$n scale:12 allreduce:float16:sum:$n \
	@1:scale:-12 allreduce:float16:mean:$n noplan allreduce:float16:sum:$n
check "integers, minimum and maximum know no exponent" voids 0 good @1:scale:-20 \
	allreduce:int32:sum:$n @1:scale:30 allreduce:float32:min:$n allreduce:float32:max:$n

# --- the same bits, however they came together --------------------------------
mapfile -t story < <(printf '%s\n' plan $sum @1:scale:40 $sum i$sum wait @2:scale:80 $sum \
	@0:data:zero $sum scale:0 slack:80 $sum $sum noplan slack:0 @3:scale:20 $sum i$sum wait)

first_story()
{
	good "${story[@]}" && digests_of 0 >"$tmp/want"
}

same_story()
{
	good "${story[@]}" && digests_of 0 | diff "$tmp/want" -
}

check "a story, for comparison" first_story
net_offload off
net_impair loss random 2% delay 5ms reorder 20% duplicate 2%
check "the same bits when datagrams are lost, late and doubled" same_story
group_down
net_down
group_ready 2 2
check "the same bits when two ranks share a host" same_story
group_down
net_down
group_ready 4 1 dedicated
check "the same bits when others add" same_story
group_down
net_down
group_ready 4 1 one
check "the same bits when one adds" same_story
