#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# scripts/progress.sh: a line at a time of what runs for long, and what is left of it.

# shellcheck disable=SC2317 # check calls them
set -o pipefail
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=selftests/tap.sh
. selftests/tap.sh
# shellcheck source=scripts/progress.sh
. scripts/progress.sh
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT

# shellcheck disable=SC2034 # of progress.sh
every() { progress_every=$1; }

# tells PATTERN SCRIPT [BEFORE]: a line says how long, and what PATTERN matches, before SCRIPT ends.
# No line says anything else, but for one that came before SCRIPT had said all (that, or nothing).
tells()
{
	every 1
	: >"$tmp/told"
	progress building bash -c "$2
		for ((i = 0; i < 300; i++)); do
			! grep -qx \"  building: [0-9]* s$1\" '$tmp/told' || break
			sleep 0.1
		done" 2>&1 | tee "$tmp/told" || return
	grep -qx "  building: [0-9]* s$1" "$tmp/told" &&
		! grep -vx "  building: [0-9]* s\($1\|${3-}\|\)" "$tmp/told"
}

# says nothing of what ends before the first line is due
quick()
{
	every 3600
	test -z "$(progress building true 2>&1)"
}

# shows its end, and its status, and not what apt tells programs
fails()
{
	local status=0

	every 3600
	progress building bash -c 'seq 100; echo dlstatus:1:2:3; echo last words; exit 3' \
		2>"$tmp/told" || status=$?
	cat "$tmp/told"
	[ "$status" -eq 3 ] && [ "$(tail -n 1 "$tmp/told")" = "last words" ] &&
		! grep dlstatus "$tmp/told" && [ "$(wc -l <"$tmp/told")" -eq 40 ]
}

echo "1..5"
check "who says nothing is told of" tells '' true
check "files that make has built are counted" tells ', 2 files built' \
	'echo "  CC      a.o"; echo noise; echo "  LD [M]  b.ko"' ', 1 files built'
check "apt's percentage is" tells ', 31 %: Retrieving file 2 of 9' \
	'echo "dlstatus:2:31.2345:Retrieving file 2 of 9"'
check "nor is there a line for what is quick" quick
check "a failure shows its end" fails
exit $bad
