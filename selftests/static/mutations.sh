#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
#
# Each mutation of selftests/model/mutations has a place: its pattern changes one file, and that
# is not the test. The mutations' own tests say so, too, after minutes; this one builds nothing.

# shellcheck source=selftests/static/lib.sh
. "$(dirname "$0")/lib.sh"
plan 4

lists=(selftests/model/mutations/*)

places()
{
	printf '%s\n' "$@" | xargs -P "$(nproc)" -n 1 selftests/model/mutate -n 2>&1
}

run_by_none()
{
	local list

	for list in "${lists[@]}"; do
		grep -hv '^#' selftests/model/mutate_*.sh | grep -w "${list##*/}" >/dev/null || echo "$list"
	done
}

clean "each mutation has one place" "$(places "${lists[@]}")"
clean "a test runs each list" "$(run_by_none)"

{
	echo "# model: selftests/unit/test_home.c"
	echo "none | s/no such text in any file/x/"
	echo "many | s/SPDX/x/"
} >"$work/list"
caught "a pattern that is nowhere" "none: changes nothing" "$(places "$work/list")"
caught "a pattern that is in several files" "many: changes .*home.c" "$(places "$work/list")"
