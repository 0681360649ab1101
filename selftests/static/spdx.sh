#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Every file names its licence, and LICENSES/ has the text. Not the licence
# texts themselves, nor data that has no place for it.

cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
echo "1..2"

find . \( -path ./.git -o -path ./build -o -path ./LICENSES \) -prune -o \
	-type f -print | grep -vE '__pycache__|\.(json|bin|hex|golden|txt|svg|png|gz)$' |
	sort >"$work/files"

# lines of FILE:LICENCE, one for each file that names one in its first lines
# shellcheck disable=SC2016 # awk's
xargs -d '\n' awk '
	FNR > 5 { nextfile }
	sub(/.*SPDX-License-Identifier: */, "") {
		match($0, /^[-A-Za-z0-9.+() ]*[A-Za-z0-9.+)]/)
		print FILENAME ":" substr($0, 1, RLENGTH)
		nextfile
	}' <"$work/files" >"$work/named"

missing=$(cut -d : -f 1 "$work/named" | sort | comm -13 - "$work/files")
[ -z "$missing" ] || printf '%s\n' "$missing" | sed 's/^/# /'
echo "$([ -z "$missing" ] || echo 'not ')ok 1 - every file names its licence"

unknown=$(cut -d : -f 2- "$work/named" | tr -d '()' | sed 's/ \(OR\|AND\|WITH\) /\n/g' | sort -u |
while read -r licence; do
	base=${licence%-only}
	base=${base%-or-later}
	base=${base%+}
	ls LICENSES/*/"$base" >/dev/null 2>&1 || echo "$licence"
done)
[ -z "$unknown" ] || printf '%s\n' "$unknown" | sed 's/^/# no text of /'
echo "$([ -z "$unknown" ] || echo 'not ')ok 2 - LICENSES/ has the text of each"
