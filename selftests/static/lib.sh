# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What the static tests share; they source it first. It goes to the top of the
# checkout and makes a folder for temporary files, $work.
#
#   plan N
#   clean DESC FINDINGS          one result: there are no FINDINGS (text)
#   caught DESC WORDS FINDINGS   one result: FINDINGS has WORDS, an extended
#                                regular expression. A test plants a fault, to
#                                show that it would see one.
#   bail REASON                  give up

cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
# a jobserver, or goals, of the make that has started the tests
unset MAKEFLAGS MFLAGS MAKELEVEL
export LC_ALL=C
results=0
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

plan()
{
	echo "1..$1"
}

clean()
{
	results=$((results + 1))
	if [ -z "$2" ]; then
		echo "ok $results - $1"
	else
		echo "not ok $results - $1"
		printf '%s\n' "$2" | sed 's/^/# /'
	fi
}

caught()
{
	if grep -qE -e "$2" <<<"$3"; then
		clean "finds $1" ''
	else
		clean "finds $1" "not found: $2${3:+
$3}"
	fi
}

bail()
{
	echo "Bail out! $1"
	exit 1
}
