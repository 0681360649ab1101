#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
#
# Four hosts train on handwritten digits, to 95 % at least, under every sync mode.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"

modes=(bsp ssp:0 ssp:2 dssp:1:4 dssp-literal:1:4 r2sp:80:2000 asp)
plan $((${#modes[@]} + 5))

# train EPOCHS [OPTION...]
train()
{
	local r status=0 pids=()

	for ((r = 0; r < ranks; r++)); do
		GAGG_SOCKET=/run/gagg/h$r.sock net_exec "$r" "$TOP/build/digits" --group g --rank "$r" --epochs "$@" \
			--data "$TOP/agent/examples/data/digits.csv.gz" \
			>"$tmp/digits.$r" 2>&1 &
		pids+=($!)
	done
	for ((r = 0; r < ranks; r++)); do
		wait "${pids[r]}" || status=1
		tail -n 2 "$tmp/digits.$r"
	done
	return $status
}

# learned ACCURACY: every rank, and all have the same weights
learned()
{
	cat "$tmp"/digits.* | awk -v want="$1" -v ranks=$ranks '
		/accuracy .* digest/ { n += $4 >= want; seen[$6] = 1 }
		END { for (d in seen) kinds++
		      exit n != ranks || kinds != 1 }'
}

daemons_up()
{
	local r

	mkdir -p /run/gagg
	for ((r = 0; r < ranks; r++)); do
		net_exec "$r" gaggd --socket "/run/gagg/h$r.sock" >"/run/gagg/h$r.log" 2>&1 &
		wait_until 30 test -S "/run/gagg/h$r.sock" || return
	done
}

trains_well()
{
	train 30 "$@" && learned 95
}

check "the module loads" module_load
layout 4
net_ready 1500
check "gaggd starts" daemons_up
for mode in "${modes[@]}"; do
	group_up ring 256 window 64 sync "$mode"
	check "$mode" trains_well
	group_down
done
group_up ring 256 window 64 sync asp
check "elastic averaging" trains_well --elastic 4
group_down
group_up ring 256 window 64
train 1
check_not "an epoch is not enough" learned 95
group_down
pkill -TERM -x gaggd
check "the module can be unloaded" module_unload
