#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Every file names its licence, and LICENSES/ has the text. Not the licence
# texts themselves, nor data that has no place for it.

cd "$(dirname "$0")/../.." || exit 1
echo "1..2"

files=$(find . \( -path ./.git -o -path ./build -o -path ./LICENSES \) -prune -o \
	-type f -print | grep -vE '__pycache__|\.(json|bin|hex|golden|txt|svg|png|gz)$')

missing=$(for file in $files; do
	[ ! -f "$file" ] || head -n 5 "$file" | grep -q SPDX-License-Identifier ||
		echo "$file"
done)
[ -z "$missing" ] || printf '%s\n' "$missing" | sed 's/^/# /'
echo "$([ -z "$missing" ] || echo 'not ')ok 1 - every file names its licence"

unknown=$(for file in $files; do
	[ ! -f "$file" ] || head -n 5 "$file" |
		sed -n 's/.*SPDX-License-Identifier: \([-A-Za-z0-9.+() ]*[A-Za-z0-9.+)]\).*/\1/p'
done | tr -d '()' | sed 's/ \(OR\|AND\|WITH\) /\n/g' | sort -u |
while read -r licence; do
	base=${licence%-only}
	base=${base%-or-later}
	base=${base%+}
	ls LICENSES/*/"$base" >/dev/null 2>&1 || echo "$licence"
done)
[ -z "$unknown" ] || printf '%s\n' "$unknown" | sed 's/^/# no text of /'
echo "$([ -z "$unknown" ] || echo 'not ')ok 2 - LICENSES/ has the text of each"
