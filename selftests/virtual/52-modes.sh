#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
# turns: 4
#
# In every sync mode, a rank, its host, or the path to it stops in the middle: everybody
# else has an error that names it, when dead-after has passed at the latest.

# shellcheck source=selftests/virtual/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/store.sh
. "$(dirname "$0")/../vm/store.sh"

DEAD=3000	# dead-after, ms
LATE=100	# ms, until the last one has heard of it

# sync mode: program and arguments that take longer than dead-after twice, a step a pause
modes=(
	"bsp: rank"
	"bsp-quorum:4:0: quorum 344 4000 1"
	"bsp-deadline:4:20:1: quorum 344 4000 1"
	"bsp-adaptive:4:3:0: quorum 344 4000 1"
	"asp: store 10+390 -1"
	"ssp:2: store 10+390 2"
	"dssp:1:3: store 10+390 3"
	"dssp-literal:1:3: store 10+390 -1"
	"r2sp:80:0: store 10+390 1"
	"ako:2:1: store 10+390 4"
	"gossip-pull:2: gossip 400"
	"gossip-push:2:1: gossip 400"
	"gossip-pair:2: gossip 400"
	"push-sum:2: gossip 400"
	"localsgd:2: replica 5+400"
	"easgd-sync:2:90: replica 5+400"
	"easgd:2:20: replica 5+400"
	"hpsgd:2: replica 5+400"
)
plan $((3 * ${#modes[@]} + 3))

trainers()
{
	local program=$1
	shift

	rank_options=(--quiet --repeat 0)
	if [ "$program" = rank ]; then
		ranks_start fail allreduce:int32:sum:20000 sleep:10
	else
		start_paused "$program" "$*" 100000
	fi
	sleep 1
}

# all_name DESC PATTERN: what the ranks of other hosts say, and when
all_name()
{
	local r now named=0

	for r in 0 1 3; do
		rank_wait $r
		now=$(date +%s%3N)
		if grep -qE -- "$2" "$tmp/rank.$r"; then
			named=$((named + 1))
		else
			note "rank $r: $(tail -n 1 "$tmp/rank.$r")"
		fi
	done
	bar "$1" "$named == 3 && $now - $begin <= $DEAD + $LATE" \
		"$named == 3 && $now - $begin <= $DEAD + 2 * $LATE"
}

# stops MODE PROGRAM...: three times, in three ways
stops()
{
	local mode=$1
	shift

	trainers "$@"
	begin=$(date +%s%3N)
	rank_kill 2
	all_name "$mode: rank 2 is killed" "rank 2 died"
	rank_wait 2

	trainers "$@"
	begin=$(date +%s%3N)
	net_in sw ip link set p2 down
	all_name "$mode: the link of host 2 is down" "host of rank 2 is not heard any more"
	net_in sw ip link set p2 up
	rank_wait 2
	sleep 2

	trainers "$@"
	begin=$(date +%s%3N)
	net_path_mtu 1400 2
	all_name "$mode: the path to host 2 carries no chunks any more" \
		"chunks from the host of rank (2 do not|[013] do not reach the host of rank 2)"
	net_path_mtu 0 2
	rank_wait 2
	sleep 2
}

world module 4 ring 4096 window 256 dead-after $DEAD || bail "no hosts"
wires 10gbit 25us
rank_socket=1
for mode in "${modes[@]}"; do
	group_down || bail "sync ${mode%: *}"
	group_up ring 4096 window 256 dead-after $DEAD sync "${mode%: *}" ||
		bail "sync ${mode%: *}"
	read -ra program <<<"${mode##*: }"
	stops "${mode%: *}" "${program[@]}"
done
world_down
world twin 4 ring 1024 window 256 dead-after $DEAD || bail "no twins"
wires 10gbit 25us
stops twin rank
world_down
