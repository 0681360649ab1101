#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
# turns: 8
#
# A group shares a link with TCP flows, and with another group: nobody has less than a
# third of its fair share, behind a queue of 100 datagrams. For 20 s at 1 Gbit/s, too:
# vm/run --kernel uml-virtual --timeout 3600 -- env LONG=20 THIS

# shellcheck source=selftests/virtual/lib.sh
. "$(dirname "$0")/lib.sh"
plan 20

TCP=$TOP/build/selftests/vm/tcp
declare -A long=([100mbit]=20 [1gbit]=${LONG:-5}) warm=([100mbit]=5 [1gbit]=2)
port=5000

# of a group on host 0
sent_by()
{
	ctl 0 stats "$1" | awk '$1 == "tx_bytes" { print $2 }'
}

# train GROUP: until the end of the world
train()
{
	local r

	for r in 0 1; do
		net_exec $r "$RANK" --repeat 0 --quiet --timeout 600000 \
			--socket "/run/gagg/h$r.sock" "$1" $r allreduce:int32:sum:1000000 \
			>"$tmp/$1.$r" 2>&1 &
		disown
	done
}

# of two hosts
link_up()
{
	world module 2 ring 4096 || bail "no hosts"
	senders 10gbit 500us
	net_buffer "$1" 100

	train g
}

# flows N CC: $theirs is what they have sent meanwhile, and $ours what the group has
flows()
{
	local i pids=() before

	port=$((port + 1))
	net_exec 1 "$TCP" sink $port &
	disown
	sleep 1
	for ((i = 0; i < $1; i++)); do
		net_exec 0 "$TCP" send "$(net_ip4 1)" $port "$2" "${warm[$rate]}" "${long[$rate]}" >"$tmp/tcp.$i" &
		pids+=($!)
	done
	sleep "${warm[$rate]}"
	before=$(sent_by g)
	sleep "${long[$rate]}"
	ours=$(($(sent_by g) - before))
	for i in "${pids[@]}"; do
		wait "$i" || return
	done
	theirs=$(cat "$tmp"/tcp.* | awk '{ n += $1 } END { printf "%d\n", n }')
	rm "$tmp"/tcp.*
}

# fair LABEL N: one of us, N of them
fair()
{
	local both=$((ours + theirs))

	note "$1: the group $((ours * 8 / long[$rate] / 1000)) kbit/s," \
		"$2 others $((theirs * 8 / long[$rate] / 1000))"
	bar "$1: the group has a third of its share" "3 * (1 + $2) * $ours >= $both" \
		"5 * (1 + $2) * $ours >= $both"
	bar "$1: the others have a third of theirs" "3 * (1 + $2) * $theirs >= $2 * $both" \
		"5 * (1 + $2) * $theirs >= $2 * $both"
}

groups_beside()
{
	local i args=() before=()

	member_args
	for i in 0 1; do
		ctl $i group create h port 7700 local "$(address $i)" ring 4096 "${args[@]}"
	done
	train h
	sleep "${warm[$rate]}"
	before=("$(sent_by g)" "$(sent_by h)")
	sleep "${long[$rate]}"
	ours=$(($(sent_by g) - before[0])) theirs=$(($(sent_by h) - before[1]))
}

for rate in 100mbit 1gbit; do
	link_up $rate
	for cc in cubic bbr; do
		for n in 1 4; do
			flows $n $cc
			fair "$rate, $n of $cc" $n
		done
	done
	groups_beside
	fair "$rate, two groups" 1
	pkill -KILL -x rank
	pkill -KILL -x tcp
	world_down
	rmmod gagg
done
