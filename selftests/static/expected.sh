#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The list of expected failures (selftests/virtual/expected): what it turns around, and
# that its lines are of tests that there are.

# shellcheck source=selftests/static/lib.sh
. "$(dirname "$0")/lib.sh"
plan 11

cat >"$work/list" <<-END
	# other: a comment
	some: slow
	some: slower - by far
	other: quick
END

# filtered NAME STATUS WANT: what comes of these results, from standard input
filtered()
{
	local status=0 got

	got=$(selftests/virtual/expected "$1" "$work/list" 2>&1) || status=$?
	[ "$got" = "$3" ] || printf '%s\n' "wanted:" "$3" "got:" "$got"
	[ $status -eq "$2" ] || echo "exit status $status, not $2"
}

say()
{
	printf '%s\n' "$@"
}

clean "what is listed and fails is expected" "$(
	say "1..2" "not ok 1 - slow" "# 3 > 2" "not ok 2 - slower - by far" | filtered some 3 \
		"$(say "1..2" "ok 1 - slow # XFAIL" "# 3 > 2" "ok 2 - slower - by far # XFAIL")")"
clean "what is not listed fails" "$(
	say "1..3" "not ok 1 - slow" "not ok 2 - slower - by far" "not ok 3 - slowest" |
		filtered some 1 "$(say "1..3" "ok 1 - slow # XFAIL" \
			"ok 2 - slower - by far # XFAIL" "not ok 3 - slowest")")"
clean "a description is matched whole" "$(
	say "1..1" "not ok 1 - quick and more" | filtered other 1 "$(
		say "1..1" "not ok 1 - quick and more" "1..1" "not ok - quick" \
			"# there is no such result of other: mend selftests/virtual/expected-failures")")"
clean "what is listed and passes has to be taken off" "$(
	say "1..1" "ok 1 - quick" | filtered other 1 "$(say "1..1" "not ok 1 - quick" \
		"# passes now: take it off selftests/virtual/expected-failures")")"
clean "what is near its bar is as good, listed or not" "$(
	say "1..2" "ok 1 - slow # NEAR" "ok 2 - slower - by far # NEAR" "ok 3 - slowest # NEAR" |
		filtered some 0 "$(say "1..2" "ok 1 - slow # NEAR" \
			"ok 2 - slower - by far # NEAR" "ok 3 - slowest # NEAR")")"
clean "what is listed and does not appear fails" "$(
	say "1..1" "ok 1 - slow down" | filtered other 1 "$(say "1..1" "ok 1 - slow down" \
		"1..1" "not ok - quick" \
		"# there is no such result of other: mend selftests/virtual/expected-failures")")"
clean "a test that is not listed passes as it is" "$(
	say "1..1" "ok 1 - slow" | filtered none 0 "$(say "1..1" "ok 1 - slow")")"
clean "and fails as it is" "$(
	say "1..1" "not ok 1 - slow" "Bail out! no" | filtered none 1 \
		"$(say "1..1" "not ok 1 - slow" "Bail out! no")")"
clean "another test's lines are not its own" "$(
	say "1..1" "not ok 1 - quick" | filtered none 1 "$(say "1..1" "not ok 1 - quick")")"
rm "$work/list"
caught "a list that cannot be read" "cannot be read" "$(say "1..0" | filtered none 1 "1..0")"

# lines that are neither a comment nor "TEST: DESCRIPTION" with a test that is there
odd_lines()
{
	local line

	while IFS= read -r line; do
		case $line in
		'#'*|'')	continue ;;
		[0-9][0-9]-*': '*) [ ! -x "selftests/virtual/${line%%: *}.sh" ] || continue ;;
		esac
		echo "no such test: $line"
	done <selftests/virtual/expected-failures
}
clean "each line of selftests/virtual/expected-failures has a test" "$(odd_lines)"
