#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# Four hosts train on handwritten digits under every sync mode, until they know 95 of
# 100; one epoch is not enough for nine of ten.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
# shellcheck source=selftests/vm/digits.sh
. "$(dirname "$0")/digits.sh"

modes=(bsp bsp-quorum:3:1 bsp-deadline:3:20:1 bsp-adaptive:3:4:1
	ssp:0 ssp:2 dssp:1:4 dssp-literal:1:4 r2sp:80:2000 asp)
! slow_kernel || modes=(bsp ssp:2 r2sp:80:2000)
plan $((${#modes[@]} + 2))

module_load "$@"
layout 4
net_ready 1500
check "gaggd starts" digits_daemons 0 1 2 3
for mode in "${modes[@]}"; do
	group_up ring 256 window 64 sync "$mode"
	epochs=$LAGGING
	[[ $mode != bsp* ]] || epochs=$ENOUGH
	check "$mode" learns_well "$epochs"
	note "$learned"
	[ "$mode" != bsp ] || check "an epoch is not enough" learns_too_little 1
	group_down
done
