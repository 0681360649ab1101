#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# Four hosts train on handwritten digits under every sync mode, until they know
# nine of ten; one epoch is not enough for that.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"

modes=(bsp ssp:0 ssp:2 dssp:1:4 dssp-literal:1:4 r2sp:80:2000 asp)
[ "${KERNEL:-}" != debug ] || modes=(bsp ssp:2 r2sp:80:2000)
plan $((${#modes[@]} + 3))

WANTED=90 EPOCHS=10

# train EPOCHS [OPTION...]
train()
{
	local r

	for ((r = 0; r < ranks; r++)); do
		GAGG_SOCKET=/run/gagg/h$r.sock net_exec "$r" digits --group g --rank "$r" \
			--data "$TOP/agent/examples/data/digits.csv.gz" --epochs "$@" \
			>"$tmp/rank.$r" 2>&1 &
		rank_pid[r]=$!
	done
	ranks_wait
}

# lines "rank R: accuracy A digest D": the least A; fails if not all have the same D
accuracy()
{
	cat "$tmp"/rank.? | awk -v ranks=$ranks '
		/^rank .* accuracy .* digest/ {
			n++
			digest[$6]
			least = n == 1 || $4 < least ? $4 : least
		}
		END {
			print least
			exit n != ranks || length(digest) != 1
		}'
}

# learns EPOCHS [OPTION...]
learns()
{
	local a

	train "$@" && a=$(accuracy) && is "${a%.*} >= $WANTED"
}

learns_too_little()
{
	local a

	train "$@" && a=$(accuracy) && is "${a%.*} < $WANTED"
}

daemons_up()
{
	local r

	mkdir -p /run/gagg
	for ((r = 0; r < ranks; r++)); do
		net_exec "$r" gaggd --socket "/run/gagg/h$r.sock" >"/run/gagg/h$r.log" 2>&1 &
	done
	for ((r = 0; r < ranks; r++)); do
		wait_until 30 test -S "/run/gagg/h$r.sock" || return
	done
}

module_load "$@"
layout 4
net_ready 1500
check "gaggd starts" daemons_up
for mode in "${modes[@]}"; do
	group_up ring 256 window 64 sync "$mode"
	check "$mode" learns $EPOCHS
	[ "$mode" != bsp ] || check "an epoch is not enough" learns_too_little 1
	group_down
done
group_up ring 256 window 64 sync asp
check "elastic averaging" learns $EPOCHS --elastic 4
