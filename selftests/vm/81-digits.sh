#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# Four hosts train on handwritten digits under every sync mode, until they know
# nine of ten, or 95 of 100 where rounds are of all or of a quorum; one epoch is not
# enough for that.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
# shellcheck source=selftests/vm/digits.sh
. "$(dirname "$0")/digits.sh"

rounds=(bsp bsp-quorum:3:1 bsp-deadline:3:20:1 bsp-adaptive:3:4:1 ssp:0)
modes=(ssp:2 dssp:1:4 dssp-literal:1:4 r2sp:80:2000 asp)
[ "${KERNEL:-}" != debug ] || rounds=(bsp) modes=(ssp:2 r2sp:80:2000)
plan $((${#rounds[@]} + ${#modes[@]} + 2))

module_load "$@"
layout 4
net_ready 1500
check "gaggd starts" digits_daemons 0 1 2 3
for mode in "${rounds[@]}"; do
	group_up ring 256 window 64 sync "$mode"
	epochs=$ENOUGH
	[ "$mode" != ssp:0 ] || epochs=$LAGGING
	check "$mode" learns_well "$epochs"
	[ "$mode" != bsp ] || check "an epoch is not enough" learns_too_little 1
	group_down
done
for mode in "${modes[@]}"; do
	group_up ring 256 window 64 sync "$mode"
	check "$mode" learns "$LAGGING"
	group_down
done
