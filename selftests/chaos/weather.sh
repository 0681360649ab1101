# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What happens to a world while its trainers work; to be sourced by world.sh.
#
#   links_draw          a link for each host: delay, rate, and a queue that drops what it
#                       has no room for
#   links_up            all of them, both ways, as they were drawn
#   weather_draw N      N events, each so long after the one before; sets $events, lines
#                       of "MS EVENT ARGUMENT..."
#   weather_begin       carries them out, in the background; kills all trainers if they
#                       are at work for longer than $OVERDUE seconds, which is a failure
#   weather_end         begins no more of them, and lets those that have begun end
#
# Events, all of which pass but for "path". I is a host, MS how long it lasts.
#
#   down I MS           its port is down, with the queue that it has
#   outage I MS HOW     all is lost that it receives (in), sends (out), or both
#   impair I MS WORD... netem's words, at both ends of its link; "corrupt" at the switch's end
#                       alone, so that a datagram has one bit turned: UDP's checksum cannot
#                       see two of the same column, and whoever adds up finds another sum
#   path I DELAY RATE   its link is another one from here on
#   buffer I MS N       its queues have room for N
#   mtu I MS MTU        datagrams that are longer are dropped on their way to it
#   stop N MS           SIGSTOP of the N-th trainer
#   squeeze MS          memory.high of all processes: they reclaim and are throttled
#   caches              drop_caches
#   agents              SIGKILL of all gaggds, and new ones, once all ranks are joined

# shellcheck disable=SC2034,SC2154 # of lib.sh, ranks.sh and sessions.sh, or for them
OVERDUE=1200
events=''
cgroup=/sys/fs/cgroup/world
trainers='rank|store|elastic|gossip|quorum|replica'

links_draw()
{
	local i

	for ((i = 0; i < hosts; i++)); do
		echo "$(pick 20us 100us 100us 1ms 10ms) $(pick 100mbit 1gbit 10gbit)" \
			"$(pick 100 1000 10000)" >"$tmp/link.$i"
	done
	say "links: $(for ((i = 0; i < hosts; i++)); do cat "$tmp/link.$i"; done | paste -sd,)"
}

# link I [WORD...]: both ends of host I's link, impaired in this way
link()
{
	local i=$1 delay rate limit words=() corrupt=0%
	shift

	read -r delay rate limit <"$tmp/link.$i"
	# a jitter goes with the delay, and a limit is the last that is said
	case ${1:-} in
	limit)	limit=$2; shift 2 ;;
	jitter)	words=("$2"); shift 2 ;;
	corrupt)	corrupt=$2; shift 2 ;;
	esac
	words=(delay "$delay" "${words[@]}" rate "$rate" limit "$limit" "$@")
	# a netem that is told nothing of it goes on to corrupt
	net_in sw tc qdisc replace dev "p$i" root netem "${words[@]}" corrupt "$corrupt" &&
		net_exec "$i" tc qdisc replace dev eth0 root netem "${words[@]}"
}

links_up()
{
	local i

	for ((i = 0; i < hosts; i++)); do
		link "$i" || return
	done
}

# a duration whose logarithm is evenly spread, ms
lasting()
{
	length "${1:-11}"
}

event()
{
	local i

	i=$(roll "$hosts")
	case $(pick down outage outage impair impair impair path buffer mtu stop squeeze caches \
		agents) in
	down)		echo "down $i $(lasting)" ;;
	outage)		echo "outage $i $(lasting) $(pick in out both)" ;;
	impair)
		echo "impair $i $(lasting) $(pick \
			"loss random $(pick 1 5 20)%" \
			"loss gemodel $(pick 1 3)% $(pick 5 30)%" \
			"duplicate 10%" "corrupt 2%" "reorder 25% 50%" \
			"jitter $(pick 50us 500us 5ms)")"
		;;
	path)		echo "path $i $(pick 20us 1ms 20ms) $(pick 20mbit 1gbit 10gbit)" ;;
	buffer)		echo "buffer $i $(lasting) $(pick 5 20 60)" ;;
	mtu)		echo "mtu $i $(lasting) $(pick 1280 1400)" ;;
	stop)		echo "stop $((1 + $(roll "$ranks"))) $(lasting 14)" ;;
	squeeze)	echo "squeeze $(lasting 13)" ;;
	*)		pick caches agents ;;
	esac
}

weather_draw()
{
	local n

	events=
	for ((n = $1; n > 0; n--)); do
		events+="$(lasting 10) $(event)"$'\n'
	done
}

# told WORD...: what happens, and when
told()
{
	echo "$EPOCHREALTIME $*" >>"$tmp/told"
}

seconds_of()
{
	printf '%d.%03d' $(($1 / 1000)) $(($1 % 1000))
}

# happens EVENT ARGUMENT...: returns when it is over
happens()
{
	local what=$1 i=${2:-} pid
	shift $(($# < 2 ? $# : 2))

	told "$what $i $*"
	case $what in
	down|outage)
		net_outage "$1" "${2:-down}" "$i"
		;;
	impair)
		link "$i" "${@:2}"
		sleep "$(seconds_of "$1")"
		link "$i"
		;;
	path)
		read -r _ _ limit <"$tmp/link.$i"
		echo "$1 $2 $limit" >"$tmp/link.$i"
		link "$i"
		;;
	buffer)
		link "$i" limit "$2"
		sleep "$(seconds_of "$1")"
		link "$i"
		;;
	mtu)
		ip -n sw link set "p$i" mtu "$2"
		sleep "$(seconds_of "$1")"
		ip -n sw link set "p$i" mtu "$mtu"
		;;
	stop)
		pid=$(pgrep -x "$trainers" | sort -n | sed -n "${i}p")
		[ -n "$pid" ] || return
		kill -STOP "$pid"
		sleep "$(seconds_of "$1")"
		kill -CONT "$pid"
		;;
	squeeze)
		echo 4M >$cgroup/memory.high
		sleep "$(seconds_of "$i")"
		echo max >$cgroup/memory.high
		;;
	caches)
		echo 3 >/proc/sys/vm/drop_caches
		;;
	agents)
		# before that they are needed
		is_running || return
		pkill -KILL -x gaggd
		agents
		;;
	esac
	told "  $what $i: over"
}

# pause MS: fails if the session has ended meanwhile
pause()
{
	! read -r -t "$(seconds_of "$1")" <&"$weather_pipe"
}

weather()
{
	local ms event

	while read -r ms event; do
		[ -n "$ms" ] || continue
		pause "$ms" || {
			wait
			return
		}
		# shellcheck disable=SC2086 # words
		happens $event </dev/null >>"$tmp/weather" 2>&1 &
	done <<<"$events"
	pause $((OVERDUE * 1000)) || {
		wait
		return
	}
	told overdue
	touch "$tmp/overdue"
	pkill -KILL -x "$trainers"
}

weather_begin()
{
	rm -f "$tmp/overdue" "$tmp/pipe"
	mkfifo "$tmp/pipe"
	exec {weather_pipe}<>"$tmp/pipe"
	weather &
	weather_pid=$!
}

weather_end()
{
	[ -n "${weather_pid:-}" ] || return 0
	echo end >&"$weather_pipe"
	wait "$weather_pid"
	weather_pid=
	exec {weather_pipe}>&-
	[ ! -e "$tmp/overdue" ] || {
		echo "not all were answered within $OVERDUE s"
		return 1
	}
}
