#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Each sync mode over twins: what it promises its ranks, as of the tests in the VM, and
# digits, which leaves all of them with the same weights. More options of digits.

# shellcheck disable=SC2317 # check calls them
# shellcheck source=selftests/docs/loopback.sh
. "$(dirname "$0")/loopback.sh"
ranks=4

# a mode, options of its group, and what is to hold: PROGRAM WORD... for each rank
cases=(
	"bsp|clocks 12"
	"bsp-quorum:3:1|quorum 300 20 3 1000"
	"bsp-deadline:3:20:1|quorum 300 20 3 1000"
	"bsp-adaptive:3:4:1|quorum 300 20 3 1000"
	"asp|store 8 -1"
	"asp shards=2 lane-type=int64|late 7"
	"asp lane-type=int64|elastic 8"
	"ssp:0|store 8 0 1000 8"
	"ssp:0 shards=2 stripe=2 lane-type=int64|store 8 0"
	"ssp:2|store 8 2 1000 8"
	"dssp:1:3|store 8 3"
	"dssp-literal:1:3|store 8 -1"
	"r2sp:80:0|store 8 1"
	"ako:3:2 shards=2|store 8 7"
	"localsgd:3|replica 12"
	"easgd:1:22|replica 12"
	"easgd-sync:3:90|replica 12"
	"hpsgd:2|replica 12"
	"gossip-pull:1|gossip 16"
	"gossip-push:2:3|gossip 16"
	"gossip-pair:1 shards=2|gossip 16"
	"push-sum:1 lane-type=int64|gossip 16"
)

# by each rank, with its number between: COMMAND... RANK WORD...
each()
{
	local command=() pids=() r status=0

	while [ "$1" != RANK ]; do
		command+=("$1")
		shift
	done
	shift
	for ((r = 0; r < ranks; r++)); do
		on "$r" "${command[@]}" "$r" "$@" >"$tmp/rank.$r" 2>&1 &
		pids+=($!)
	done
	for r in "${pids[@]}"; do
		wait "$r" || status=1
	done
	tail -n 3 "$tmp"/rank.?
	return "$status"
}

# over MODE OPTION... COMMAND: on twins that end then
over()
{
	local status=0

	twins=()
	twins_begin "$ranks" train ring=1024 window=64 dead-after=60000 sync="$1" "${@:2:$#-2}" &&
		${!#} || status=1
	tail -n 2 "$tmp"/log.?
	# they end in order
	kill "${twins[@]}" && wait "${twins[@]}" || status=1
	return "$status"
}

# clocks says a digest for each clock, quorum one for all calls: the same on all ranks
promises()
{
	each "build/selftests/vm/${words[0]}" train RANK "${words[@]:1}" || return
	case ${words[0]} in
	clocks)	[ "$(sort -u "$tmp"/rank.? | wc -l)" -eq "${words[1]}" ] ;;
	quorum)	[ "$(grep -h '^digest' "$tmp"/rank.? | sort -u | wc -l)" -eq 1 ] ;;
	esac
}

# digits_of EPOCHS OPTION...
digits_of()
{
	each build/digits --group train --data agent/examples/data/digits.csv.gz --epochs "$1" \
		"${@:2}" --rank RANK
}

# lines "rank R: accuracy A digest D"
digits()
{
	digits_of 1 "$@" && [ "$(sed -n 's/.* digest //p' "$tmp"/rank.? | sort -u | wc -l)" -eq 1 ] &&
		grep -h ' digest ' "$tmp/rank.3"
}

# a read at each clock, or one in S + 1 where ranks keep step
cache()
{
	digits --cache "$@" && grep -h ' reads used ' "$tmp"/rank.? &&
		[ "$(awk '/ reads used / && $3 > 0 { n++ } END { print n }' "$tmp"/rank.?)" -eq "$ranks" ]
}

# ahead of its last epoch, for each seed, on all ranks
until_enough()
{
	digits_of 40 --seed 3,4 --until 80 --curve "$@" || return
	! grep -h '^curve 440 ' "$tmp"/rank.? &&
		[ "$(grep -c '^rank .*: accuracy' "$tmp"/rank.? | grep -c ':2$')" -eq "$ranks" ] &&
		[ "$(awk '/^rank 0: accuracy/ && $4 >= 80' "$tmp/rank.0" | wc -l)" -eq 2 ]
}

# those that there are, by name
all_are_here()
{
	build/gaggctl sync list | sed -n 's/^\([a-z][a-z0-9-]*\)[: ].*/\1/p' | sort >"$tmp/there"
	printf '%s\n' "${cases[@]}" | sed 's/[: |].*//' | sort -u >"$tmp/here"
	[ "$(wc -l <"$tmp/there")" -ge 18 ] && diff "$tmp/there" "$tmp/here"
}

echo "1..$((2 * ${#cases[@]} + 7))"
check "all sync modes are here" all_are_here
for case in "${cases[@]}"; do
	read -ra group <<<"${case%|*}"
	read -ra words <<<"${case#*|}"
	check "${group[*]}: ${words[*]}" over "${group[@]}" promises
	check "${group[*]}: digits" over "${group[@]}" digits
done
check "ssp:2: digits --cache" over ssp:2 cache
check "ssp:2: digits --prefetch" over ssp:2 "digits --prefetch"
check "ssp:2: digits --prefetch --until" over ssp:2 "until_enough --prefetch"
check "bsp: digits --until" over bsp until_enough
check "asp: digits --until" over asp until_enough
check "dssp:1:3: digits --cache --prefetch" over dssp:1:3 "cache --prefetch"
exit $bad
