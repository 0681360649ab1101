#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# turns: 8
#
# As 20-outages, at 1 and 100 Gbit/s.

# shellcheck source=selftests/virtual/lib.sh
. "$(dirname "$0")/lib.sh"
plan 12

world module 4 ring 8192 || bail "no hosts"
for rate in 1gbit 100gbit; do
	wires $rate 25us
	baseline 1M $rate
	for ms in 1 5 20; do
		outages $rate $ms cut 2
		outages $rate $ms cut
	done
done
world_down
