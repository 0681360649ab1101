#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# turns: 4
#
# Turns (r2sp) beside rounds (bsp) over links that are busy: what a step takes, of eight
# workers that compute for some time and have a table of 1 MB, whose chunks one of them has,
# or four. Links take 87 ms for it.
#
# Flows share the links of their hosts fairly, as on hosts out of the box. In a queue for all,
# what a home confirms to one worker waits behind what another one reads, and turns take
# longer than rounds.

# shellcheck source=selftests/virtual/lib.sh
. "$(dirname "$0")/lib.sh"
plan 3

COUNT=260000	# elements

fair_wires()
{
	local r

	wires 100mbit 250us
	for ((r = 0; r < hosts; r++)); do
		net_exec "$r" tc qdisc replace dev eth0 parent 1:1 handle 3: fq \
			limit $queue flow_limit $queue || bail "no fq"
	done
}

# lasts CLOCKS: $spent, us that so many take
lasts()
{
	local r begin

	begin=$(date +%s%N)
	for ((r = 0; r < ranks; r++)); do
		net_exec "$r" "$TOP/build/selftests/vm/clocks" g "$r" "$1" "$pause" $COUNT \
			>"$tmp/rank.$r" 2>&1 &
		rank_pid[r]=$!
	done
	ranks_wait || bail "$(tail -n 1 "$tmp"/rank.?)"
	spent=$((($(date +%s%N) - begin) / 1000))
}

# step MODE: $taken, us of a step, when all is under way
step()
{
	local first

	group_up ring 1024 window 256 sync "$1" || bail "sync $1"
	lasts 4
	first=$spent
	lasts 12
	taken=$(((spent - first) / 8))
	group_down
}

# turns HOMES PAUSE PERCENT
turns()
{
	local rounds

	layout 8 1 "$1"
	net_ready 1500 off
	fair_wires
	pause=$2
	step bsp
	rounds=$taken
	step r2sp:80:0
	bar "homes: $1, $2 us of computing: turns take $3 % of rounds" \
		"100 * $taken <= $3 * $rounds" "100 * $taken <= ($3 + 10) * $rounds"
}

[ -d /sys/module/gagg ] || insmod "$GAGG_KO" || bail "no module"
turns one 100000 90
turns one 400000 70
turns some 400000 95
net_down
