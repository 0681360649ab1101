#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# turns: 2
#
# Ranks that do not agree. Different calls end the epoch with a sentence that
# names two ranks which differ, the same on every rank; but where two homes may see
# it at once they may name two pairs, and each host keeps the reason that it learns
# first. Differently configured hosts say which field differs, and work as soon as it
# does not. Nothing waits until its time is over: that would be another sentence.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"

# GAGG_ERR_DESYNC
DESYNC=-9

# what ranks 0, 1 and 3 call, what rank 2 calls, what the sentence says of each
reduction="blocking reduction of"
calls=(
	allreduce:int32:sum:1000 barrier "all-reduce of int32 \(1000 elements, sum\)" barrier
	allreduce:int32:sum:1000 reduce_scatter:int32:sum:250 "all-reduce of int32 \(1000 elements" "reduce-scatter of int32 \([0-9]+ elements"
	allreduce:int32:sum:1000 allgather:1000 "all-reduce of int32 \(1000 " "all-gather \(1000 bytes\)"
	allreduce:int32:sum:1000 broadcast:4000:0 "all-reduce of int32 \(1000 " "broadcast \(4000 bytes from rank 0\)"
	allreduce:int32:sum:1000 split:0 "all-reduce of int32 \(1000 " "all-gather \([0-9]+ byte"
	allreduce:int32:sum:300000 allreduce:int32:sum:300001 "all-reduce of int32 \(300000 elements, sum\)" "all-reduce of int32 \(300001 elements, sum\)"
	allreduce:int32:sum:1 allreduce:int32:sum:100000 "all-reduce of int32 \(1 element, sum\)" "all-reduce of int32 \(100000 elements, sum\)"
	allreduce:int32:max:1000 allreduce:int32:min:1000 "all-reduce of int32 \(1000 elements, maximum\)" "all-reduce of int32 \(1000 elements, minimum\)"
	broadcast:1000:0 broadcast:1000:1 "broadcast \(1000 bytes from rank 0\)" "broadcast \(1000 bytes from rank 1\)"
	broadcast:1000:0 broadcast:1001:0 "broadcast \(1000 bytes from rank 0\)" "broadcast \(1001 bytes from rank 0\)"
	allgather:1000 allgather:1001 "all-gather \(1000 bytes\)" "all-gather \(1001 bytes\)"
	allreduce:float32:max:1000 allreduce:int32:max:1000 "all-reduce of float32 \(1000 " "all-reduce of int32 \(1000 "
	iallreduce:float32:sum:1000 iallreduce:bfloat16:sum:1000 "all-reduce of float32 \(1000 " "all-reduce of bfloat16 \(1000 "
	allreduce:float32:sum:1000 allreduce:float16:sum:1000 "$reduction float32" "$reduction float16"
	allreduce:float32:sum:1000 allreduce:float32:sum:9000 "$reduction float32 without a plan \(1000 elements, sum, all-reduce\)" "$reduction float32 without a plan \(9000 elements, sum, all-reduce\)"
	allreduce:float32:sum:1000 iallreduce:float32:sum:1000 "$reduction float32 without a plan \(1000 " "all-reduce of float32 \(1000 "
)

# FIELD OPTION VALUE GOOD: how one host differs
fields=(
	lanes "lanes" 344 auto
	ring "ring" 512 256
	window "window" 128 64
	stripe "stripe" 4 8
	shards "shards" 2 1
	placement "placement" root striped
	dead-after "dead-after" 500000 600000
)

plan $((${#calls[@]} / 4 + 4 + ${#fields[@]} / 4 + 13))

# the ranks of host $1 have failed with GAGG_ERR_DESYNC and the same sentence, about
# ranks $2 and $3; it matches all further patterns
host_disagrees()
{
	local r status=0 pattern first=$(($1 * per_host))

	shift
	: >"$tmp/sentences"
	for ((r = first; r < first + per_host; r++)); do
		rank_wait "$r" || {
			echo "rank $r: exit status $?"
			status=1
		}
		rank_says "$r" "^rank $r failed .* code $DESYNC.*: " || return
		rank_line "$r" "^rank $r failed .* code $DESYNC" | head -n 1 |
			sed 's/^[^:]*.* code [^:]*: //' >>"$tmp/sentences"
	done
	sort -u "$tmp/sentences" >"$tmp/sentence"
	cat "$tmp/sentence"
	[ "$(wc -l <"$tmp/sentence")" = 1 ] || return
	for pattern in "rank $1 " "rank $2 " "${@:3}"; do
		grep -Eq "$pattern" "$tmp/sentence" || {
			echo "not there: $pattern"
			return 1
		}
	done
	return $status
}

# all hosts say the same, unless $several homes may have seen it
several=
all_disagree()
{
	local h status=0

	: >"$tmp/hosts"
	for ((h = 0; h < hosts; h++)); do
		host_disagrees "$h" "$@" || status=1
		cat "$tmp/sentence" >>"$tmp/hosts"
	done
	[ -n "$several" ] || [ "$(sort -u "$tmp/hosts" | wc -l)" = 1 ] || return
	return $status
}

# words of the sentence after the rank that is meant. The barrier: a rank that
# still joins would be told that it cannot
differ()
{
	# both have chunks beyond the first stripe
	several=
	[[ ! $1 =~ :[0-9]{5} || ! $2 =~ :[0-9]{5} ]] || several=yes
	ranks_start fail barrier "!2:$1" "@2:$2" wait
	all_disagree 2 "[013]" "rank [013] called (a )?$3" "rank 2 called (a )?$4"
}

module_load "$@"
layout 2 2
net_ready 1500
group_up ring 256 window 64 dead-after 600000
rank_options=(--timeout 60000)

# --- different calls ----------------------------------------------------------
for ((i = 0; i < ${#calls[@]}; i += 4)); do
	check "${calls[i]}, but of rank 2 ${calls[i + 1]}: all say so" \
		differ "${calls[@]:i:4}"
done
several=
check "gaggctl says how the epoch ended" \
	eval 'ctl 0 group show g | tee /dev/stderr | grep -E "ended desync rank [0-3]"'

ranks_start fail allreduce:int32:sum:100000 @1:barrier !1:allreduce:int32:sum:5 \
	allreduce:int32:sum:100000
check "in the middle, two ranks of a host" all_disagree 1 "[023]"
ranks_start fail @0,2:split:0 @1,3:split:1 allreduce:int32:sum:1000 \
	@0:allgather:5 @2:allgather:50 @1,3:allreduce:int32:sum:100 \
	world barrier
check "in a channel that two of four have: all say so" all_disagree 0 2
check "the group is as good as before" ranks_run \
	fail barrier !0:broadcast:8:1 @0:allgather:5 reattach allreduce:int32:sum:30000 barrier
group_down

# --- different configurations -------------------------------------------------
layout 3
net_ready 1500
group_up ring 256 window 64 dead-after 600000

state()
{
	ctl "$1" member list g | grep "^$2=" | grep "$3"
}

# all hosts hear each other and agree
agreed()
{
	local i r

	for i in 0 1 2; do
		for r in 0 1 2; do
			state "$i" "$r" "heard" >/dev/null || return
		done
		! ctl "$i" group show g | grep mismatch >/dev/null || return
	done
}

# mismatch_seen FIELD [VALUE GOOD]: host 1 differs from the others: they say so, and it says so
# of them. With both values, or without any
mismatch_seen()
{
	local theirs="config-mismatch $1 [^(]" own

	own=$theirs
	if [ $# -eq 3 ]; then
		theirs="config-mismatch $1 ($2 there, $3 here) "
		own="config-mismatch $1 ($3 there, $2 here) "
	fi
	if ! wait_until 20 state 0 1 "$theirs" || ! wait_until 20 state 2 1 "$theirs" ||
	   ! wait_until 20 state 1 0 "$own" || ! wait_until 20 state 1 2 "$own"; then
		ctl 0 member list g
		ctl 1 member list g
		return 1
	fi
	ctl 0 group show g | tee /dev/stderr | grep "^g: *config-mismatch $1"
}

# refused FIELD [VALUE GOOD]: nobody can join: rank R blames the host of the rank that differs
# from it
refused()
{
	local r said

	ranks_start barrier
	for r in 0 1 2; do
		said="differs on the host of rank $((r != 1))"
		[ $# -eq 1 ] || said="is $2 on the host of rank 1, $3 here"
		[ $# -eq 1 ] || [ $r -ne 1 ] || said="is $3 on the host of rank 0, $2 here"
		rank_wait $r && echo "rank $r has joined" && return 1
		rank_says $r "FAILED join .*: config-mismatch: $1 $said\$" || return
	done
}

differ_and_mend()
{
	ctl 1 group set g "$2" "$3" || return
	if ! mismatch_seen "$1" "$3" "$4" || ! refused "$1" "$3" "$4"; then
		ctl 1 group set g "$2" "$4"
		return 1
	fi
	ctl 1 group set g "$2" "$4" && wait_until 20 agreed &&
		ranks_run allreduce:int32:sum:3000
}

check "hosts that agree" wait_until 20 agreed
for ((i = 0; i < ${#fields[@]}; i += 4)); do
	check "${fields[i]} differs on a host: it is named, and mended by group set" \
		differ_and_mend "${fields[@]:i:4}"
done

ctl 1 member set g 2 role worker
check "the role of a member differs" eval \
	'mismatch_seen role && refused "role of a member"'
ctl 1 member set g 2 role both
ctl 1 member add g 9=10.77.0.9
check "a host has a member more" eval \
	'mismatch_seen members 4 3 && refused "number of members" 4 3'
ctl 1 member delete g 9
check "mended" eval "wait_until 20 agreed && ranks_run allreduce:int32:sum:3000"

# host 1 does not know host 2: strangers get no answer
ctl 1 member delete g 2
check "a host has a member less" eval \
	'wait_until 20 state 0 1 "config-mismatch members (2 there, 3 here)" &&
	 wait_until 20 state 1 0 "config-mismatch members (3 there, 2 here)"'
rank_start 0 barrier
check_not "a trainer cannot join" rank_wait 0
check "and says why" rank_says 0 "config-mismatch: number of members is 2 on the host of rank 1, 3 here"
ctl 1 member add g 2=10.77.0.3
check "mended" eval "wait_until 20 agreed && ranks_run allreduce:int32:sum:3000"

# who waits already is told
net_exec 0 gaggd --socket "$tmp/gaggd.sock" >"$tmp/gaggd.log" 2>&1 &
disown
wait_until 20 test -S "$tmp/gaggd.sock"
rank_start 0 barrier
wait_until 20 state 1 0 attached
check_not "a group in use is not changed" ctl 0 group set g window 128
ctl 1 group set g window 128
check_not "a trainer that waits when the other host changes" rank_wait 0
check "is told" rank_says 0 "config-mismatch: window is 128 on the host of rank 1, 64 here"
check "gaggd logs it" wait_until 20 \
	grep "(rank 1) is configured differently: window (128 there, 64 here)\$" "$tmp/gaggd.log"
ctl 1 group set g window 64
check "mended" eval "wait_until 20 agreed && ranks_run allreduce:int32:sum:3000"
