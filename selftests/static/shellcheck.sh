#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Every script in the repository passes shellcheck.

cd "$(dirname "$0")/../.." || exit 1
mapfile -t scripts < <(find . \( -path ./.git -o -path ./build \) -prune -o \
	-type f ! -name '*.md' -exec grep -lE '^#!/bin/(ba)?sh|^# shellcheck shell=' {} + |
	sort)
echo "1..${#scripts[@]}"
number=0
for script in "${scripts[@]}"; do
	number=$((number + 1))
	if findings=$(shellcheck -x "$script"); then
		echo "ok $number - $script"
	else
		echo "not ok $number - $script"
		printf '%s\n' "$findings" | sed 's/^/# /'
	fi
done
