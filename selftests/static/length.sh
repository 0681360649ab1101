#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A source is read in one sitting: 600 lines, or it says "Longer than 600 lines:" and why.

# shellcheck source=selftests/static/lib.sh
. "$(dirname "$0")/lib.sh"
plan 3

long()
{
	local file

	for file; do
		[ "$(wc -l <"$file")" -le 600 ] || grep -q "Longer than 600 lines: [a-z]" "$file" || echo "$file"
	done
}

mapfile -t files < <(find kmod agent uapi -name '*.[ch]' | sort)
clean "a source has at most 600 lines, or says why not" "$(long "${files[@]}")"

seq 601 >"$work/long.c"
caught "one that has more" "long.c" "$(long "$work/long.c")"
echo "/* Longer than 600 lines: a table */" >>"$work/long.c"
clean "and says why" "$(long "$work/long.c")"
