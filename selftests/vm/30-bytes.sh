#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# turns: 2
#
# What an interface carries, without offloads, so that every datagram counts
# its headers: 14 Ethernet, 20 IPv4 (40 IPv6), 8 UDP, 64 gagg. A full chunk of
# 344 lanes has 1376 bytes more. n hosts of one rank, all of them homes of one
# n-th of the C chunks; per host, in datagrams with lanes:
#
#   all-reduce       sends a contribution for each chunk of another home,
#                    C(n-1)/n, and a result of each own chunk to all others,
#                    C/n (n-1): 2 C (n-1)/n, and receives as many
#   broadcast        a receiver gets C; the root sends contributions to others,
#                    C(n-1)/n, and results of its own, C/n (n-1); a receiver
#                    sends results of its own to the other receivers, C/n (n-2)
#   all-gather       a chunk reaches n-1 hosts, each once: C (n-1)/n per host,
#                    and receives as many
#   reduce-scatter   contributions C (n-1)/n; a result to the one host that
#                    wants it, unless it is the home: C/n (n-1)/n
#
# All else - acknowledgements, READY, DONE, HELLO - has to be within 5 % of that, beside
# what was sent again since this machine is slow, as the counters have it.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
plan 27

C=1280 lanes=344
declare -A tx rx
headers=106

group_ready()
{
	layout "$@"
	net_ready 1500 off
	net_in_order
	group_up ring 4096 window 1024 dead-after 600000
}

# of every host into files: "tx rx" of its interface, and its counters
snapshot()
{
	local i

	for ((i = 0; i < hosts; i++)); do
		net_bytes "$i" >"$tmp/bytes.$1.$i"
		ctl "$i" stats g >"$tmp/stats.$1.$i"
	done
}

# what WORD... makes the interfaces carry: tx, rx by host
measure()
{
	local i a b c d

	rm -f "$tmp/go" "$tmp/end"
	ranks_start allreduce:int32:sum:1000 say:ready "await:$tmp/go" "$@" say:finished "await:$tmp/end"
	ranks_say ready || return
	snapshot 0
	begun=$(date +%s%N)
	touch "$tmp/go"
	ranks_say finished || return
	snapshot 1
	seconds=$((($(date +%s%N) - begun) / 1000000000 + 1))
	touch "$tmp/end"
	ranks_wait || return
	for ((i = 0; i < hosts; i++)); do
		read -r a b <"$tmp/bytes.0.$i"
		read -r c d <"$tmp/bytes.1.$i"
		tx[$i]=$((c - a)) rx[$i]=$((d - b))
	done
	echo "$*: $(for ((i = 0; i < hosts; i++)); do
		echo "host $i tx ${tx[$i]} rx ${rx[$i]} acks $(grown "$i" acks) again" \
			"$(grown "$i" retransmits)+$(grown "$i" repairs);"; done)"
}

# by how much a counter of host $1 has grown
grown()
{
	awk -v name="$2" '$1 == name { v = $2 - v } END { print v }' \
		"$tmp/stats.0.$1" "$tmp/stats.1.$1"
}

grown_all()
{
	local i sum=0

	for ((i = 0; i < hosts; i++)); do
		sum=$((sum + $(grown "$i" "$1")))
	done
	echo "$sum"
}

# within WHAT BYTES DATAGRAMS AGAIN: that many full chunks, at most 5 % more, and at most so
# many again
within()
{
	local size=$((4 * lanes + headers))
	local want=$(($3 * size))

	echo "$1: $2 bytes; expected $want, and at most $4 datagrams again"
	[ "$2" -ge "$want" ] && [ "$2" -le $((want * 105 / 100 + $4 * size)) ]
}

# sent_by HOST DATAGRAMS
sent_by()
{
	within "host $1 sends" "${tx[$1]}" "$2" \
		$(($(grown "$1" retransmits) + $(grown "$1" repairs)))
}

# hosts_within FIRST LAST TX RX, in datagrams
hosts_within()
{
	local i

	for ((i = $1; i <= $2; i++)); do
		sent_by "$i" "$3" && within "host $i receives" "${rx[$i]}" "$4" \
			$(($(grown_all retransmits) + $(grown_all repairs))) || return
	done
}

# the counters say what the interface saw, apart from HELLO (218 bytes) that
# leave between the reading of the one and of the other
honest()
{
	local i diff

	for ((i = 0; i < hosts; i++)); do
		diff=$((tx[$i] - $(grown "$i" tx_bytes) -
			$(grown "$i" tx_datagrams) * (headers - 64)))
		echo "host $i: the counters and the interface differ by $diff"
		[ "${diff#-}" -le $((4 * (hosts - 1) * 218)) ] || return
	done
}

# no datagram has lanes: what is not header are acknowledgements and HELLO
bare()
{
	local i rest hello

	for ((i = 0; i < hosts; i++)); do
		rest=$(($(grown "$i" tx_bytes) - 64 * $(grown "$i" tx_datagrams) -
			72 * $(grown "$i" acks)))
		hello=$((112 * (hosts - 1) * (seconds + 1)))
		echo "host $i: $rest bytes of bodies, HELLO may have $hello"
		[ "$rest" -ge 0 ] && [ "$rest" -le "$hello" ] || return
	done
}

few_bytes()
{
	local i

	for ((i = 0; i < hosts; i++)); do
		is "20 * ${tx[$i]} <= 2 * $C * 3 / 4 * (4 * $lanes + $headers)" || return
	done
}

module_load "$@"

# --- every host adds ----------------------------------------------------------
for n in 2 4; do
	group_ready $n
	full=$((C * lanes))
	check "$n hosts all-reduce" measure allreduce:int32:sum:"$full"
	check "$n hosts: 2 V (n-1)/n each way" hosts_within 0 $((n - 1)) \
		$((2 * C * (n - 1) / n)) $((2 * C * (n - 1) / n))
	check "$n hosts: the counters say so, too" honest
	group_down
	net_down
done

group_ready 4
n=4
check "float32 with a plan" measure plan allreduce:float32:sum:"$full"
check "carries no more" hosts_within 0 3 $((2 * C * 3 / 4)) $((2 * C * 3 / 4))
check "broadcast" measure broadcast:$((4 * full)):0
check "the root sends 2 V (n-1)/n" sent_by 0 $((2 * C * 3 / 4))
check "a receiver gets V, and sends V (n-2)/n" hosts_within 1 3 $((C * 2 / 4)) $C
check "all-gather" measure allgather:$((full))
check "V (n-1)/n each way, of all parts" hosts_within 0 3 $((C * 3 / 4)) $((C * 3 / 4))
check "reduce-scatter" measure reduce_scatter:int32:sum:$((full / 4))
check "V (n-1)/n (1 + 1/n) each way" hosts_within 0 3 \
	$((C * 15 / 16)) $((C * 15 / 16))
check "the counters say so, too" honest

# --- nothing to add -----------------------------------------------------------
check "all-reduce of zeros" measure data:zero allreduce:int32:sum:"$full"
check "no lanes travel" bare
check "5 % of the bytes at most" few_bytes

# a barrier: n-1 READY to the home, its n-1 RESULT, without lanes; each READY is
# acknowledged at most once. A repetition is one more, a QUERY may cause one
barriers=()
for ((i = 0; i < 100; i++)); do
	barriers+=(barrier)
done

barrier_datagrams()
{
	local all least again hello

	all=$(grown_all tx_datagrams)
	least=$((2 * 100 * (n - 1)))
	again=$(($(grown_all retransmits) + $(grown_all repairs) + $(grown_all queries) +
		$(grown_all pulls)))
	hello=$((n * (n - 1) * (seconds + 1)))
	echo "100 barriers: $all datagrams, $(grown_all acks) of them acknowledgements;" \
		"$again repeated or asked for, at most $hello HELLO"
	is "$(grown_all acks) <= $least / 2 + $(grown_all retransmits)" &&
		is "$all - $(grown_all acks) >= $least" &&
		is "$all - $(grown_all acks) <= $least + 2 * $again + $hello"
}

check "100 barriers" measure "${barriers[@]}"
check "2 (n-1) datagrams each, and at most n-1 acknowledgements" barrier_datagrams
check "no lanes travel in barriers" bare
group_down
net_down

# --- others add ---------------------------------------------------------------
group_ready 3 1 dedicated
check "three workers and a host that adds" measure allreduce:int32:sum:"$full"
check "a worker sends V and receives V" hosts_within 0 2 $C $C
check "who adds receives and sends n V" hosts_within 3 3 $((3 * C)) $((3 * C))
group_down
net_down

# --- IPv6 ---------------------------------------------------------------------
family=6 headers=126
group_ready 2
check "two hosts all-reduce over IPv6" measure allreduce:int32:sum:"$full"
check "V each way" hosts_within 0 1 $C $C
group_down
