#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# turns: 8
#
# Links that are down for a while, in each way, at 10 Gbit/s: they cost what they last
# and two timeouts.

# shellcheck source=selftests/virtual/lib.sh
. "$(dirname "$0")/lib.sh"
plan 17

world module 4 ring 8192 || bail "no hosts"
wires 10gbit 25us
baseline 1M "N=4"
for ms in 1 5 20 100; do
	outages "N=4" $ms cut 2
	outages "N=4" $ms cut
	outages "N=4" $ms down 2
done
outages "N=4" 20 both 2
for ms in 5 20; do
	outages "N=4" $ms in 2
	outages "N=4" $ms out 2
done
world_down
