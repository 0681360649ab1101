#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
# turns: 4
#
# Ten minutes on a network that loses in long bursts, and on one whose link is down most
# of the time: nobody is declared dead.

# shellcheck source=selftests/virtual/lib.sh
. "$(dirname "$0")/lib.sh"
plan 4

# trainers for so long, one all-reduce in a second; then one result
ten_minutes()
{
	local desc="$system, $1: nobody is dead after ten minutes" begin=$SECONDS end broken=0

	rank_options=(--quiet --repeat 600 --timeout 60000)
	rank_socket=1
	ranks_start allreduce:int32:sum:2000 sleep:1000
	shift
	"$@" || broken=1
	ranks_wait >"$tmp/ranks" 2>&1
	end=$SECONDS
	note "$system, after $((end - begin)) s: $(grep -m 1 FAILED "$tmp/ranks")"
	if [ $broken -eq 0 ] && [ $((end - begin)) -ge 600 ] && ! grep -q "exit status" "$tmp/ranks"; then
		pass "$desc"
	else
		fail "$desc"
	fi
}

for system in module twin; do
	world $system 4 ring 1024 window 256 || bail "no hosts"
	wires 10gbit 25us
	net_impair rate 10gbit delay 25us loss gemodel 3% 5% 100% 0%
	ten_minutes "bursts of loss, 3% 5%" true
	wires 10gbit 25us
	ten_minutes "a link that is down for 1 s and up for 0.15 s" net_flap 1000 150 520 2
	world_down
done
