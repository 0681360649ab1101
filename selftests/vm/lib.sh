# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What every test in the VM starts with:
#
#	#!/bin/bash
#	# timeout: 120          (seconds; this is the default)
#	. "$(dirname "$0")/lib.sh"
#	plan 2
#	start_hosts 4
#	check "hosts reach each other" net_exec 0 ping -c 1 10.77.0.2
#	...
#
#   plan N                    first: how many results follow
#   check DESC COMMAND...     one result; what COMMAND prints is shown if it fails
#   check_not DESC COMMAND... one result: COMMAND must fail
#   pass DESC, fail DESC      one result
#   skip DESC REASON          one result; counts as failure, unless the test is
#                             in the allow list of selftests/run
#   bail REASON               give up
#   note TEXT                 a line of commentary
#   seed                      sets $SEED (from the environment, or random),
#                             and says so in a way that selftests/run repeats
#   start_hosts N [MTU] [OFFLOAD]   see vm/net.sh, whose functions are all here
#   module_load [ARG...]      insmod gagg.ko
#   module_unload
#   wait_until S COMMAND...   retry COMMAND for S seconds
#   used [FIELD...]           memory in KiB
#   klog_scan                 fails, and prints, if the kernel log holds a splat
#                             since the test began
#
#   "${TRACED[@]}"            strace that writes down each call but those that read a
#                             clock: there are none where there is a vDSO, which
#                             User-mode Linux lacks
#   slow_kernel               true on kernels that look for mistakes, where a test does
#                             less of what it does many times
#
# At exit everything is undone: daemons killed, namespaces deleted, module
# unloaded, so that tests do not depend on each other.

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
# shellcheck source=vm/net.sh
. "$TOP/vm/net.sh"
GAGG_KO=$TOP/build/kmod/$(uname -r)/gagg.ko
PATH=$TOP/build:$PATH
# shellcheck disable=SC2034 # read by tests
TRACED=(strace -f -e 'trace=!clock_gettime,gettimeofday')
test_tmp=/tmp/test.$$
test_count=0
test_planned=0

slow_kernel()
{
	case ${KERNEL:-} in
	*debug|kcsan)	return 0 ;;
	esac
	return 1
}

# takes half as long as "ip netns exec", which mounts a /sys first
net_in()
{
	"$TOP/build/selftests/vm/netns" "$@"
}

if [ -z "${GAGG_VM:-}" ]; then
	echo "Bail out! This test would change the host: make check-vm TEST=$(basename "$0" .sh)"
	exit 1
fi

note()
{
	local text=$*

	echo "# ${text//$'\n'/$'\n'# }"
}

plan()
{
	test_planned=$1
	echo "1..$1"
}

pass()
{
	test_count=$((test_count + 1))
	echo "ok $test_count - $1"
}

fail()
{
	test_count=$((test_count + 1))
	echo "not ok $test_count - $1"
}

skip()
{
	test_count=$((test_count + 1))
	echo "ok $test_count - $1 # SKIP $2"
}

bail()
{
	echo "Bail out! $*"
	exit 1
}

check()
{
	local desc=$1 status
	shift

	"$@" >"$test_tmp/output" 2>&1
	status=$?
	if [ $status -eq 0 ]; then
		pass "$desc"
		return
	fi
	fail "$desc"
	note "exit status $status of: $*"
	sed 's/^/# /' "$test_tmp/output"
	return 1
}

fails()
{
	! "$@"
}

check_not()
{
	local desc=$1
	shift

	check "$desc" fails "$@"
}

seed()
{
	SEED=${SEED:-$RANDOM$RANDOM}
	RANDOM=$SEED
	note "seed $SEED"
}

start_hosts()
{
	net_up "$1" "${2:-1500}" || bail "no hosts"
	[ $# -lt 3 ] || net_offload "$3" || bail "no offload $3"
}

module_load()
{
	insmod "$GAGG_KO" "$@"
}

# A ring gives back its files in a work item, after its process has gone.
module_unload()
{
	wait_until 60 module_unused
	[ ! -d /sys/module/gagg ] || rmmod gagg
}

module_unused()
{
	[ "$(cat /sys/module/gagg/refcnt 2>/dev/null || echo 0)" -eq 0 ]
}

wait_until()
{
	local end=$((SECONDS + $1))
	shift

	until "$@" >/dev/null 2>&1; do
		[ $SECONDS -lt $end ] || return 1
		sleep 0.1
	done
}

# The kernel log since klog_mark; the runner marks before each test.
klog_mark()
{
	echo "gagg-test: $1" >/dev/kmsg
}

klog()
{
	dmesg | awk '/gagg-test: / { text = ""; next } { text = text $0 "\n" } END { printf "%s", text }'
}

klog_scan()
{
	klog | "$TOP/vm/splats"
}

# On a kernel with kmemleak: what nobody refers to any more is told in the log.
# It takes two scans, and is to be 5 seconds old when the second begins.
leak_scan()
{
	local oldest=$((SECONDS + 6))

	[ -e /sys/kernel/debug/kmemleak ] || return 0
	leaks_known=1
	echo scan >/sys/kernel/debug/kmemleak
	[ $SECONDS -ge $oldest ] || sleep $((oldest - SECONDS))
	echo scan >/sys/kernel/debug/kmemleak
}

# KiB that are neither free, nor a cache, nor free pages that a CPU keeps at hand
# (tens of MiB after a large region was freed), nor in a FIELD of /proc/meminfo
used()
{
	sync
	echo 3 >/proc/sys/vm/drop_caches
	awk -v fields="MemFree Buffers Cached SReclaimable $*" '
		FILENAME ~ /meminfo/ { m[$1] = $2 }
		FILENAME ~ /zoneinfo/ && $1 == "count:" { kept += $2 }
		END {
			n = m["MemTotal:"] - 4 * kept
			split(fields, field)
			for (i in field)
				n -= m[field[i] ":"]
			print n
		}' /proc/meminfo /proc/zoneinfo
}

# Undo what a test did; also called by the runner after one that was killed.
test_cleanup()
{
	local name

	pkill -KILL -x 'gagg.*'
	net_down
	for name in $(ip netns list | cut -d' ' -f1); do
		ip netns pids "$name" | xargs -r kill -KILL
		ip netns del "$name"
	done
	# while the module is there, its functions have names; not after a test whose
	# last but for unloading was a scan
	[ ! -d /sys/module/gagg ] || [ -n "${leaks_known:-}" ] || leak_scan
	# an open file may be let go of a moment after its process has died
	wait_until 60 module_unload || {
		rmmod gagg
		return 1
	}
}

test_exit()
{
	local status=$?

	trap - EXIT
	test_cleanup 2>&1 | sed 's/^/# cleanup: /'
	[ "${PIPESTATUS[0]}" -eq 0 ] || status=1
	[ "$test_count" -eq "$test_planned" ] ||
		note "planned $test_planned results, printed $test_count"
	rm -rf "$test_tmp"
	exit $status
}

mkdir -p "$test_tmp"
trap test_exit EXIT
