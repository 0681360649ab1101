#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# turns: 8
#
# As 20-outages, without the module.

# shellcheck source=selftests/virtual/lib.sh
. "$(dirname "$0")/lib.sh"
plan 9

world twin 4 ring 8192 || bail "no hosts"
wires 10gbit 25us
baseline 1M "N=4"
for ms in 1 5 20; do
	outages "N=4" $ms cut 2
	outages "N=4" $ms cut
done
outages "N=4" 20 both 2
world_down
world twin 16 ring 2048 || bail "no hosts"
wires 10gbit 25us
# some take 2 ms, some 4: their clocks take time (Documentation/lab/2026-11-28-clock.md)
baseline 512K "N=16" 4
outages "N=16" 1 cut 2
outages "N=16" 20 cut 2
world_down
