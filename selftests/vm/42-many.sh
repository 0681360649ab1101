#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
# turns: 2
#
# The end of many groups, in one namespace or in as many, takes as many grace periods as
# that of one: nobody keeps the host from making and ending namespaces by making groups.
# A thousand of both: MANY=1000 NAMESPACES=1000, with a longer --timeout of vm/run.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
exec 3>&1
plan 6

if slow_kernel; then
	: "${MANY:=40}" "${NAMESPACES:=10}"
else
	: "${MANY:=200}" "${NAMESPACES:=40}"
fi
# grace periods of a batch, and where else its task has to wait
SLEEPS_MAX=40

# $1 groups in namespace $2, for two addresses each
groups_make()
{
	local i

	ip netns add "$2" || return
	ip -n "$2" link set lo up
	ip -n "$2" addr add 10.99.0.1/32 dev lo
	for ((i = 0; i < $1; i++)); do
		echo "group \"g$i\" {"
		echo "port = $((10000 + i))"
		echo "ring = 256"
		echo "window = 64"
		echo 'member 0 { address = "10.99.0.1" }'
		echo 'member 1 { address = "10.99.0.2" }'
		echo "}"
	done >"$test_tmp/gagg.conf"
	net_in "$2" gaggd --config "$test_tmp/gagg.conf" --socket "$test_tmp/$2.sock" \
		>"$test_tmp/$2.log" 2>&1 &
	wait_until 240 complete "$1" "$2"
	# its sockets would keep the namespace
	pkill -x gaggd
	wait_until 60 fails pgrep -x gaggd
	complete "$1" "$2" || { cat "$test_tmp/$2.log"; return 1; }
}

complete()
{
	is "$(net_in "$2" gaggctl group list | grep -c waiting)" = "$1"
}

is()
{
	[ "$@" ] || { echo "$*"; return 1; }
}

many_make()
{
	local i

	groups_make "$MANY" all || return
	for ((i = 0; i < NAMESPACES; i++)); do
		groups_make 1 "one$i" || return
	done
}

# how often a command has to wait: each grace period is one, and so is little else
sleeps()
{
	python3 -c '
import resource, subprocess, sys
status = subprocess.call(sys.argv[1:])
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_nvcsw)
sys.exit(status)' "$@"
}

unload_sleeps()
{
	module_unused || return
	n=$(sleeps rmmod gagg) || return
	echo "$1: rmmod slept $n times"
}

namespaces_end()
{
	for name in $(ip netns list | cut -d' ' -f1); do
		echo "netns del $name"
	done | ip -batch -
}

# unloading waits for the end of namespaces that is under way
all_end()
{
	local from

	from=$(date +%s%N)
	namespaces_end && rmmod gagg || return
	note "$((NAMESPACES + 1)) namespaces with $((MANY + NAMESPACES)) groups ended in" \
		"$((($(date +%s%N) - from) / 1000000)) ms" >&3
}

module_load "$@"
check "one group" groups_make 1 all
check "is unloaded" unload_sleeps "1 group"
note "1 group: rmmod slept $n times"
few=$n
namespaces_end
module_load "$@"
check "$MANY groups in one namespace, and one in each of $NAMESPACES" many_make
check "are unloaded" unload_sleeps many
note "$((MANY + NAMESPACES)) groups: rmmod slept $n times"
check "in as many grace periods" is "$n" -le $((few + SLEEPS_MAX))
namespaces_end
module_load "$@"
many_make
check "and namespaces end, too" all_end
