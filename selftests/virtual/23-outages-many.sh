#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# turns: 8
#
# As 20-outages, with 16 and 32 hosts.

# shellcheck source=selftests/virtual/lib.sh
. "$(dirname "$0")/lib.sh"
plan 5

for n in 16 32; do
	world module $n ring 2048 || bail "no hosts"
	wires 10gbit 25us
	baseline 512K "N=$n"
	outages "N=$n" 1 cut 2
	outages "N=$n" 5 cut
	[ $n -eq 32 ] || outages "N=$n" 20 cut 2
	world_down
done
