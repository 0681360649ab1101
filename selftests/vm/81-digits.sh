#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# Four hosts train on handwritten digits under every sync mode, until they know 95 of
# 100; one epoch is not enough for nine of ten. Where nothing but the data decides, twins
# learn what the module does.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
# shellcheck source=selftests/vm/digits.sh
. "$(dirname "$0")/digits.sh"

modes=(bsp bsp-quorum:3:1 bsp-deadline:3:20:1 bsp-adaptive:3:4:1
	ssp:0 ssp:2 dssp:1:4 dssp-literal:1:4 r2sp:80:2000 asp)
! slow_kernel || modes=(bsp ssp:2 r2sp:80:2000)
plan $((${#modes[@]} + 6))

# digest_into FILE: of all ranks. With whole clocks only it depends on nothing but the data
digest_into()
{
	train 2 && accuracy && sed -n 's/.* digest //p' "$tmp"/rank.? | sort -u >"$tmp/$1"
	cat "$tmp/$1"
	[ "$(wc -l <"$tmp/$1")" -eq 1 ]
}

module_load "$@"
layout 4
net_ready 1500
twin_conf ring 256 window 64 sync ssp:0
check "ssp:0, nothing but twins" eval "twin_up 0 1 2 3 && digest_into twins"
twin_down
check "gaggd starts" digits_daemons 0 1
mixed_up ring 256 window 64 sync ssp:0
check "ssp:0, two hosts with the twin: the same digest" \
	eval "digest_into mixed && cmp $tmp/twins $tmp/mixed"
mixed_down
check "gaggd starts there, too" digits_daemons 2 3
group_up ring 256 window 64 sync ssp:0
check "ssp:0, the module everywhere: the same" \
	eval "digest_into module && cmp $tmp/twins $tmp/module"
group_down
for mode in "${modes[@]}"; do
	group_up ring 256 window 64 sync "$mode"
	case $mode in
	bsp)	check "$mode" learns_well "$ENOUGH" ;;
	bsp-*)	check "$mode" learns_on_the_way "$ENOUGH" ;;
	*)	check "$mode" learns_well "$LAGGING" ;;
	esac
	note "$learned"
	[ "$mode" != bsp ] || check "an epoch is not enough" learns_too_little 1
	group_down
done
