# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Requests that have to be refused and change nothing; to be sourced after
# ranks.sh.
#
#   one_group               group g on host 0; its members elsewhere are unheard
#   unchanged               all groups of host 0 are as they were after one_group
#   refused REGEX COMMAND   on host 0; prints what REGEX begins, changes nothing

# shellcheck disable=SC2154 # of lib.sh
one_group()
{
	ctl 0 group create g id 4711 local 10.77.0.1 ring 256 window 64 \
		member 0=10.77.0.1 member 1=10.77.0.2 member 2=10.77.0.3,aggregator
	all_groups >"$tmp/groups"
}

# groups without what changes by itself
all_groups()
{
	ctl 0 group show | sed 's/ heard [0-9]*ms ago//; s/ rtt [0-9]*us//'
}

unchanged()
{
	all_groups | diff "$tmp/groups" -
}

refused()
{
	local want=$1 got
	shift

	got=$(net_exec 0 "$@" 2>&1)
	echo "$got"
	[[ $got =~ ^$want ]] || {
		echo "expected: $want"
		return 1
	}
	unchanged
}
