#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In a guest with virtual time: the world of one SEED. A few settings, and in each a few
# sessions (selftests/vm/sessions.sh), over links with a delay and a rate, with trainers
# that think, in a weather (weather.sh), with pauses of up to days. Beside what may happen
# to a session there:
#
#   severed     one host is cut off for longer than dead-after: all fail, and name it
#   frozen      a trainer is stopped for longer than dead-after: nobody fails
#   late        one comes half a minute later: all succeed
#   idle        all are joined, and do nothing for minutes
#   starved     a trainer is killed because its control group is out of memory
#
# In the calm all have to come out as sessions.sh says. In a weather a host may be called
# silent: then whoever fails names some rank. In both, results are exact, everybody is
# answered, and in the end no memory is missing, and the module unloads.
#
# /out/world has all that happened, with times; the last line printed is its digest.

here=$(dirname "$0")
# shellcheck source=selftests/vm/lib.sh
. "$here/../vm/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$here/../vm/ranks.sh"
# shellcheck source=selftests/vm/store.sh
. "$here/../vm/store.sh"
# shellcheck source=selftests/vm/dice.sh
. "$here/../vm/dice.sh"
# shellcheck source=selftests/vm/sessions.sh
. "$here/../vm/sessions.sh"
# shellcheck source=selftests/chaos/weather.sh
. "$here/weather.sh"

# shellcheck disable=SC2034,SC2154 # of the files above, or for them
plan 1
seed
dice "$SEED"
SETTINGS=${SETTINGS:-2}
world=/out/world
think=(1 10 100 300 1000) paces=(1000 20000 100000)
rounds_faults+=(none severed frozen late idle starved)
# KiB, of caches whose pages are not all in use
LEFT=8192

impair_none()
{
	links_up
}

# shellcheck disable=SC2034 # of sessions.sh
impair()
{
	local n

	times=$(pick 1 3 10)
	n=$(pick 0 0 3 10 30)
	case $fault in
	# these say how long a silence is
	severed|frozen|idle|late)	n=0 ;;
	esac
	network=calm rough=
	links_up || return
	weather_draw "$n"
	if [ "$n" -gt 0 ]; then
		network="weather of $n events"
		rough=yes
	fi
	weather_begin
}

seconds_after()
{
	echo $(((dead_after + $1) / 1000))
}

severed()
{
	local h r

	h=$(roll $((ranks / per_host)))
	[ "$ranks" -gt "$per_host" ] || return 0
	start_for_ever "${script[@]}" || return
	told "severed $h"
	net_outage $((dead_after + 30000)) both "$h" || return
	ranks_wait || return
	told "severed: over"
	for ((r = 0; r < ranks; r++)); do
		rank_says "$r" "reason $SILENT rank [0-9]*" || return
	done
}

frozen()
{
	local pid

	rank_options=("${every_rank[@]}" --repeat "$times")
	ranks_start "${script[@]}"
	wait_until 120 all_attached || return
	pid=$(pgrep -x rank | sort -n | sed -n "$((1 + $(roll "$ranks")))p")
	# it may have succeeded already
	kill -STOP "$pid" 2>/dev/null
	sleep "$(seconds_after 30000)"
	kill -CONT "$pid" 2>/dev/null
	ranks_well && results_agree
}

late()
{
	local r who

	who=$(roll "$ranks")
	for ((r = 0; r < ranks; r++)); do
		[ "$r" -eq "$who" ] || rank_start "$r" "${script[@]}"
	done
	sleep 30
	rank_start "$who" "${script[@]}"
	ranks_well && results_agree
}

idle()
{
	ranks_run "${script[@]}" "sleep:$(pick 1000 60000 600000)" "${script[@]}" &&
		results_agree
}

# It may be refused the memory of a channel before it is killed: then a split fails, and
# all say because of whom.
starved()
{
	local r pid names

	r=$(roll "$ranks")
	[ "$ranks" -gt 1 ] || return 0
	names="failed split .*: rank $r: out of memory"
	if [ -n "$rough" ]; then
		names+="|$NAMES"
	else
		names+="|failed .* reason $DIED rank $r .*rank $r died"
	fi
	start_for_ever "${script[@]}" allreduce:int32:sum:400000 || [ -n "$rough" ] || return
	pid=$(pgrep -P "${rank_pid[r]}" -x rank)
	mkdir -p $cgroup.starved
	echo 65536 >$cgroup.starved/memory.max
	[ -z "$pid" ] || echo "$pid" >$cgroup.starved/cgroup.procs
	all_name "$r" "$names" || return
	rank_wait "$r"
	rmdir $cgroup.starved
}

# klog_scan, but for what the kernel says of a control group that is out of memory
klog_scan()
{
	klog | sed '/invoked oom-killer/,/Memory cgroup out of memory: Killed process/d' |
		"$TOP/vm/splats"
}

# what happened, for the digest: what was said, by whom, and what the hosts counted
chronicle()
{
	local i

	{
		echo "--- $* at $EPOCHREALTIME"
		cat "$tmp/log"
		for i in "$tmp"/told "$tmp"/weather "$tmp"/rank.*; do
			# numbers of processes depend on what the host starts a guest with
			[ ! -e "$i" ] || sed "s/^/${i##*/}: /; s/: line [0-9]*: *[0-9]* Killed .*/: Killed/" "$i"
		done
		for ((i = 0; i < hosts; i++)); do
			ctl "$i" stats g 2>/dev/null | sed "s/^/host $i: /"
		done
	} >>$world
	rm -f "$tmp"/rank.* "$tmp"/told "$tmp"/weather
}

# step COMMAND...: what it says of itself is printed
step()
{
	local status

	"$@" >"$tmp/log" 2>&1
	status=$?
	[ $status -ne 0 ] || grep "^# " "$tmp/log"
	return $status
}

# ends_badly WHAT
ends_badly()
{
	cat "$tmp/log"
	cp "$tmp/log" "$tmp/said"
	tail -n 20 "$tmp/told" 2>/dev/null | sed 's/^/# weather: /'
	tail -n 20 "$tmp"/rank.* 2>/dev/null | sed 's/^/# /'
	chronicle "$1 fails"
	digest_tell
	failure "$1"
}

digest_tell()
{
	say "seconds awake: $((EPOCHSECONDS - begun - asleep))"
	say "seconds asleep: $asleep"
	say "digest $(sha256sum <$world | cut -c 1-32)"
}

# nap SECONDS...: one of these
nap()
{
	local seconds

	seconds=$(pick "$@")
	say "asleep for $seconds s"
	sleep "$seconds"
	asleep=$((asleep + seconds))
}

# of hosts that have the group
chunks_pass()
{
	local i

	for ((i = 0; i < hosts; i++)); do
		! ctl "$i" member list g 2>/dev/null | grep -q blocked || return
	done
}

one_session()
{
	local status=0

	"$@" || status=$?
	weather_end || status=1
	# who is called blocked is asked once a second; before that nobody can join
	[ -z "$rough" ] || wait_until 60 chunks_pass || status=1
	return $status
}

one_world()
{
	local i n

	for ((n = 0; n < SETTINGS; n++)); do
		dead_after=$(pick 5000 15000 60000)
		every_rank=(--timeout $((dead_after + 60000)))
		setting_draw
		links_draw
		step setting_up || ends_badly "setting up"
		for ((i = $(roll 4) + 1; i > 0; i--)); do
			step one_session session "$(session_fault)" || ends_badly session
			chronicle "session $sessions"
			[ -z "$ended" ] || break
			nap 0 0 1 60 600 3600
		done
		[ -n "$ended" ] || step setting_down || ends_badly "the end"
		chronicle "setting $settings"
		# what is allocated once is allocated now
		[ "$n" -gt 0 ] || before=$(used "")
		# a group says HELLO every second, and days of that take the host long
		nap 0 86400 864000
	done
}

mkdir -p $cgroup
echo +memory >/sys/fs/cgroup/cgroup.subtree_control
echo $$ >$cgroup/cgroup.procs
begun=$EPOCHSECONDS asleep=0
: >$world
module_load "$@"
klog_mark chaos
one_world
step module_unload || ends_badly "unloading"
after=$(used "")
say "used $before KiB after the first setting, $after KiB in the end"
klog >>$world
step klog_scan || ends_badly "the kernel log"
report
digest_tell
check "$operations operations and $clocks clocks of ranks, all of them exact; nothing is left" \
	is "$after - $before < $LEFT"
