#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# turns: 8
#
# As 20-outages, with fewer hosts and more, and with one home for all.

# shellcheck source=selftests/virtual/lib.sh
. "$(dirname "$0")/lib.sh"
plan 12

# few LABEL SIZE N [OPTION...]
few()
{
	local label=$1 size=$2 ms
	shift 2

	world module "$@" ring 8192 || bail "no hosts"
	wires 10gbit 25us
	baseline "$size" "$label"
	for ms in 1 5 20; do
		outages "$label" $ms cut 1
	done
	world_down
}

few N=3 2M 3
few N=8 1M 8
few "N=4, one home" 1M 4 placement root
few "N=8, one home" 512K 8 placement root
