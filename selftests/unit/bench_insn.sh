#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What "make check-insn" lets pass, and what not.

cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0

# result STATUS DESC: and what was said, if it is not as it should be
result()
{
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
		sed 's/^/# /' "$work/said"
	fi
}

# rows DROP AGGREGATE [PLACE]; of the regimes in $regimes
regimes='whole merged'
rows()
{
	local how

	for how in $regimes; do
		echo '{"system": "kernel", "what": "drop, '"$how"'", "unit": "datagram", "instructions": '"$1"'}'
		echo '{"system": "gagg", "what": "aggregate, '"$how"'", "unit": "datagram", "instructions": '"$2"'}'
	done
	[ $# -lt 3 ] ||
		echo '{"system": "gagg", "what": "place", "unit": "datagram", "instructions": '"$3"'}'
}

insn()
{
	rows "${@:2}" >"$work/rows"
	selftests/bench/insn.py "$1" "$work/rows" "$work/json" "$work/recorded" >"$work/said" 2>&1
}

echo 1..11
insn --record 500 1000 800
result $? "figures are recorded"
insn --check 500 1029 800
result $? "2.9 % more pass"
! insn --check 500 1031 800
result $? "3.1 % more do not"
grep -q "worse: aggregate, whole: 1031.00 instead of 1000.00" "$work/said"
result $? "and are named"
insn --check 900 900 800 && grep -q "better: aggregate, merged" "$work/said"
result $? "fewer pass, and are named; the floor may do what it likes"
! insn --check 500 1000
result $? "what is not measured does not pass"
insn all 500 2000 900 && grep -q "aggregate / drop, whole: 4.00" "$work/said"
result $? "without a check, all passes"
regimes=whole
insn all 500 2000 900 && ! grep -q merged "$work/said"
result $? "one regime will do"
regimes=whole
insn --record 500 1000
{ rows 500 1040; rows 500 1020; rows 500 1050; } >"$work/rows"
selftests/bench/insn.py --check "$work/rows" "$work/json" "$work/recorded" >"$work/said" 2>&1
result $? "of several boots the least counts"
{ rows 500 1040; rows 500 1031; rows 500 1050; } >"$work/rows"
! selftests/bench/insn.py --check "$work/rows" "$work/json" "$work/recorded" >"$work/said" 2>&1
result $? "which may be worse, too"
{ rows 500 1000; rows 500 1010; } >"$work/rows"
for last in 2110 2100; do
	echo '{"system": "gagg", "what": "last, whole", "unit": "datagram", "instructions": '$last'}'
done >>"$work/rows"
selftests/bench/insn.py all "$work/rows" "$work/json" "$work/recorded" >"$work/said" 2>&1
grep -q "transmit, whole .* 1100.00" "$work/said"
result $? "what the last one has more is of the least of both"
