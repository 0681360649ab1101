# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Results of a test that is a script of its own, outside the VM; to be sourced. $tmp is a
# directory.

# shellcheck disable=SC2034,SC2154 # of those that source it
results=0 bad=0

# check DESC COMMAND...: one result, and what it said if it failed
check()
{
	local desc=$1
	shift

	results=$((results + 1))
	if "$@" >"$tmp/said" 2>&1; then
		echo "ok $results - $desc"
		return
	fi
	bad=1
	echo "not ok $results - $desc"
	sed 's/^/# /' "$tmp/said" | head -n 80
}
