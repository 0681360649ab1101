#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
#
# User-mode Linux as an engine of vm/run keeps its contract: what a command returns, a
# splat, a report of KASAN, a guest that hangs and one that dies each come out as such;
# the host stays as it is; virtual time does the same again.

# shellcheck disable=SC2317 # functions are called by check
cd "$(dirname "$0")/../.." || exit 1
count=0
tmp=$(mktemp -d build/engine.XXXXXX)
trap 'rm -rf "$tmp"' EXIT
provoke=/sys/kernel/debug/provoke-crash/DIRECT

# check DESC COMMAND...: one result
check()
{
	local desc=$1
	shift

	count=$((count + 1))
	: >"$tmp/stdout"
	: >"$tmp/stderr"
	if "$@"; then
		echo "ok $count - $desc"
	else
		echo "not ok $count - $desc"
		sed 's/^/# /' "$tmp/stdout" "$tmp/stderr"
	fi
}

# ends STATUS KERNEL [OPTION...] -- COMMAND...
ends()
{
	local expected=$1 kernel=$2 status=0
	shift 2

	vm/run --kernel "$kernel" --timeout 300 "$@" >"$tmp/stdout" 2>"$tmp/stderr" || status=$?
	echo "# exit status $status" >>"$tmp/stderr"
	[ $status -eq "$expected" ]
}

said()
{
	grep -q "$1" "$tmp/stderr"
}

passes_on()
{
	mkdir "$tmp/out"
	ends 7 uml --out "$tmp/out" --log "$tmp/log" -- sh -c \
		"pwd; echo words; echo kept >/out/file; echo >$tmp/changed; exit 7" || return
	[ "$(cat "$tmp/stdout")" = "$(printf '%s\nwords' "$PWD")" ] &&
		[ "$(cat "$tmp/out/file")" = kept ] && [ ! -e "$tmp/changed" ] &&
		grep -q 'reboot: Power down' "$tmp/log"
}

has_cpus()
{
	ends 0 uml --cpus 3 --mem 1G --append gagg_word=1 -- sh -c \
		'nproc; cat /proc/cmdline /proc/meminfo' &&
		grep -qx 3 "$tmp/stdout" && grep -q gagg_word=1 "$tmp/stdout" &&
		awk '$1 == "MemTotal:" { found = $2 < 1048576 } END { exit !found }' "$tmp/stdout"
}

splat()
{
	ends 123 uml -- sh -c 'echo "BUG: planted" >/dev/kmsg' && said 'BUG: planted'
}

unscanned()
{
	ends 0 uml --no-scan -- sh -c 'echo "BUG: planted" >/dev/kmsg'
}

kasan()
{
	ends 123 uml-debug -- sh -c "echo READ_AFTER_FREE >$provoke" &&
		said 'KASAN: .*use-after-free'
}

waits()
{
	ends 124 uml --timeout 5 -- sleep 1000 && said 'killed after 5 seconds'
}

stays_up()
{
	ends 3 uml -- sh -c 'mount --bind /dev/null /proc/sysrq-trigger; exit 3' &&
		said 'after its status: killed'
}

hangs()
{
	ends 124 uml-debug --timeout 20 -- sh -c "echo HARDLOCKUP >$provoke" &&
		said 'killed after 20 seconds'
}

panics()
{
	ends 125 uml -- sh -c 'echo c >/proc/sysrq-trigger' && said 'Kernel panic' &&
		said 'the guest died'
}

# the folder in which a guest runs names its processes
guests()
{
	pgrep -f "gagg_engine=$$" || true
}

# the guest runs, not only what starts it
guest_runs()
{
	until pgrep -f "^[^ ]*vmlinuz .*gagg_engine=$$" >/dev/null; do
		kill -0 "$1" 2>/dev/null || return
		sleep 0.1
	done
	sleep 3
}

# what has been killed needs a moment to be gone
guests_go()
{
	local i

	for ((i = 0; i < 600; i++)); do
		[ -n "$(guests)" ] || return 0
		sleep 0.1
	done
	return 1
}

killed()
{
	local pid

	vm/run --kernel uml --append "gagg_engine=$$" -- sleep 1000 2>"$tmp/stderr" &
	pid=$!
	guest_runs $pid
	pkill -KILL -f "^[^ ]*vmlinuz .*gagg_engine=$$"
	wait $pid
	[ $? -eq 125 ] && said 'the guest died' && guests_go
}

interrupted()
{
	local pid

	vm/run --kernel uml --append "gagg_engine=$$" -- sleep 1000 2>"$tmp/stderr" &
	pid=$!
	guest_runs $pid
	kill $pid
	wait $pid
	[ $? -eq 143 ] && guests_go
}

refused()
{
	ends 2 uml --icount -- true && said 'require a kernel for QEMU' &&
		ends 2 uml --seed 1 -- true && said 'virtual time' &&
		ends 2 uml-debug --cpus 2 -- true && said 'one CPU' &&
		ends 2 uml-virtual --clock sun -- true && said 'expected virtual or skip'
}

# what a virtual hour and its random numbers were with a seed
hour()
{
	ends 0 uml-virtual --seed "$1" -- sh -c \
		'date +%s.%N; sleep 3600; date +%s.%N; cat /proc/sys/kernel/random/uuid' || return
	cp "$tmp/stdout" "$2"
}

repeats()
{
	hour 1 "$tmp/first" && hour 1 "$tmp/again" && hour 2 "$tmp/other" || return
	cat "$tmp/first" "$tmp/again" "$tmp/other" >"$tmp/stdout"
	cmp -s "$tmp/first" "$tmp/again" && ! cmp -s "$tmp/first" "$tmp/other" &&
		awk 'NR == 1 { t = $1 } NR == 2 { exit !($1 - t >= 3600 && $1 - t < 3601) }' "$tmp/first"
}

# computing lasts, waiting does not
skips()
{
	ends 0 uml-virtual --clock skip -- sleep 3600
}

echo 1..14
check "exit status, output, /out and log are handed on, nothing else is changed" passes_on
check "CPUs, memory, parameters" has_cpus
check "a splat" splat
check "a splat that is not looked for" unscanned
check "a report of KASAN" kasan
check "a command that does not end" waits
check "a guest that does not power off has its command's status" stays_up
check "a kernel that hangs" hangs
check "a kernel that panics" panics
check "a guest that is killed" killed
check "vm/run that is interrupted leaves nothing" interrupted
check "what an engine cannot do is refused" refused
check "a virtual hour is over at once, the same for one seed" repeats
check "waiting is skipped" skips
