#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# gagg-bench --local: as its manual has it, and what it leaves behind.

# shellcheck disable=SC2317 # check calls them
set -o pipefail
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=selftests/tap.sh
. selftests/tap.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# the first example of the manual
example()
{
	sed -n '/^\.SH EXAMPLES/,$p' agent/bench/gagg-bench.1 | sed -n '/^\.nf/,/^\.fi/p' |
		sed -n '2{s/\\//g;p}' >"$tmp/example"
	cat "$tmp/example"
	grep -q -- --local "$tmp/example" && PATH=$PWD/build:$PATH bash "$tmp/example" | tee "$tmp/rows"
}

# sizes from 4K to 1M, by 4; of four ranks; none is wrong
five_rows()
{
	cat "$tmp/rows"
	grep -q '^# gagg: all_reduce, 4 ranks,' "$tmp/rows" &&
		[ "$(awk '$1 + 0 >= 4096 && $9 == 0' "$tmp/rows" | wc -l)" -eq 5 ]
}

as_nccl_tests()
{
	build/gagg-bench all_reduce --local 2 -b 4K -e 4K -d float -o avg -c 1 | tee "$tmp/rows" &&
		grep -q '4096 .* float32 .* mean ' "$tmp/rows"
}

# of process $1
children()
{
	pgrep -P "$1" | tr '\n' ' '
}

# what a signal ends is all of it: ranks, twins and the folder
signal()
{
	local pid all status=0 i folders

	folders=$(echo /tmp/gagg-bench.*)
	build/gagg-bench all_reduce --local 3 -b 4K -e 4K -n 1000000 >/dev/null 2>&1 &
	pid=$!
	for ((i = 0; i < 600; i++)); do
		all=$(children "$pid")
		[ "$(wc -w <<<"$all")" -ne 6 ] || break
		sleep 0.1
	done
	echo "children: $all"
	kill -TERM "$pid"
	wait "$pid" || status=$?
	[ "$(wc -w <<<"$all")" -eq 6 ] || return
	echo "status $status"
	for i in $all; do
		[ ! -d "/proc/$i" ] || { echo "$i lives"; return 1; }
	done
	[ "$status" -eq 143 ] && [ "$folders" = "$(echo /tmp/gagg-bench.*)" ]
}

# without gagg-twin it says so, and that it has joined nothing
no_twin()
{
	local status=0

	cp build/gagg-bench "$tmp/"
	PATH=/usr/bin:/bin "$tmp/gagg-bench" all_reduce --local 2 2>&1 | tee "$tmp/refused" || status=$?
	echo "status $status"
	[ "$status" -eq 3 ] && grep -q '^gagg-bench: gagg-twin: No such file' "$tmp/refused"
}

echo "1..5"
check "the example of the manual" example
check "its rows are right" five_rows
check "with words of nccl-tests" as_nccl_tests
check "a signal ends all of it" signal
check "without gagg-twin it says so" no_twin
exit $bad
