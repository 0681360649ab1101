#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# turns: 4
#
# Results by multicast that no host hears: all of them are repaired, one by one, and no
# operation stands still for it.

# shellcheck source=selftests/virtual/lib.sh
. "$(dirname "$0")/lib.sh"
plan 4

MC4=239.77.0.1

for system in module twin; do
	world $system 3 ring 4096 window 256 shards 2 multicast $MC4 || bail "no hosts"
	wires 10gbit 25us
	measure -s 160K -n 20 -w 0
	figure "$system, heard"
	check "$system: next to nothing is sent again" is "$wrong == 0 && $again <= 10"
	for ((i = 0; i < hosts; i++)); do
		deaf $i $MC4
	done
	measure -s 160K -n 20 -w 0
	figure "$system, not heard"
	# twice the least timeout of a path, and some round trips of repair
	bar "$system: no operation takes more than 6 ms" \
		"$wrong == 0 && $again >= 1000 && $max <= 6000" \
		"$wrong == 0 && $again >= 1000 && $max <= 10000"
	world_down
done
