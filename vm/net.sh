#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# N hosts on one Ethernet, out of network namespaces. To be sourced; or run
# as "vm/net.sh FUNCTION ARGUMENT...". Only for the VM: the names are global.
#
#      netns h0            netns h1                 netns h(N-1)
#   +-----------+       +-----------+              +-----------+
#   |   eth0    |       |   eth0    |              |   eth0    |
#   | 10.77.0.1 |       | 10.77.0.2 |     ...      | 10.77.0.N |
#   |  fd77::1  |       |  fd77::2  |              |  fd77::N  |
#   +-----+-----+       +-----+-----+              +-----+-----+
#         | veth              |                          |
#   +-----+-------------------+--------------------------+-----+
#   |    p0                  p1       br0             p(N-1)   |
#   +--------------------------- netns sw ---------------------+
#
# eth0 of hI has the MAC 02:00:00:00:77:0I (hexadecimal I). Neighbours, also
# of the bridge, are permanent and nobody speaks unasked, so that an interface
# counts the bytes of the test and nothing else.
#
# Impairments are netem qdiscs on the ports p*, where a frame leaves the
# switch towards its host. They see what the senders' interfaces emit:
# whole GSO bursts while the offloads are on, single datagrams otherwise.
# A burst passes a qdisc of its sender whole even if the offloads are off, unless that
# is a tbf whose burst is less; at the ports its datagrams then come all at once.
# Each call replaces the impairment before it; net_impair combines them.
#
#   net_up N [MTU]          make N hosts (MTU 1500)
#   net_down                remove them, and every process that runs in them
#   net_exec I COMMAND...   run COMMAND on host I
#   net_in NAME COMMAND...  in a network namespace: hI, or sw
#   net_ip4 I, net_ip6 I    the addresses of host I
#   net_offload on          GSO bursts cross the network whole (as after net_up)
#   net_offload off         single datagrams are sent and received
#   net_offload gro         single datagrams are sent; the receiver merges them
#   net_in_order            one CPU receives for all hosts, so that no datagram
#                           overtakes another
#   net_impair ARGS...      netem ARGS at every port; net_impair_host I ARGS...
#   net_loss PERCENT        of datagrams      (sets offloads: "off" if "on")
#   net_burst_loss PERCENT  of GSO bursts     (sets offloads: "on")
#   net_dup PERCENT         of what is sent, twice
#   net_reorder PERCENT     of what is sent overtakes the rest, which waits 5 ms
#   net_corrupt PERCENT     of datagrams, one bit each, mostly of the payload
#                           (sets offloads: "off" if "on")
#   net_delay MS [JITTER]   each way
#   net_rate RATE           of each port, such as 1gbit; a queue of 2 MB
#   net_buffer RATE SIZE [I]  a port that sends at RATE and drops what its queue has
#                           no room for: SIZE datagrams (100), or bytes (100kb). Of
#                           host I, or every port (sets offloads: "off" if "on")
#   net_gilbert P R [BAD [GOOD]]  loss in bursts (Gilbert-Elliott): with each
#                           datagram a burst begins with P percent, or ends with R;
#                           in one BAD percent are lost (100), else GOOD (0)
#                           (sets offloads: "off" if "on")
#   net_swing MS MS SECONDS N [ARGS...]  the way to each host becomes longer, or
#                           shorter, every SECONDS, N times in all; what is sent by
#                           the shorter one overtakes. Returns afterwards
#   net_clear               no impairment
#
# These go with any impairment:
#
#   net_outage MS [HOW [I]] for so long all is lost, also of what is not gagg's.
#                           HOW: in (towards the host), out, both (default); cut: the
#                           switch takes nothing and passes nothing on, but for what
#                           waits in the port's queue already; down: the port itself,
#                           with the queue that it has. Of host I, or all. Returns
#                           afterwards. But for cut and down it is where a host receives
#                           that datagrams are lost; cut is cheaper than both, and ends
#                           when the port goes down and up. Both last less by what the
#                           program takes to start that does them; in virtual time nothing
#   net_flap MS UP N [I]    N outages (down) of so long, with UP ms between them
#   net_path_mtu MTU [I]    less than the interfaces have: the switch drops in
#                           silence what is longer on its way to or from host I, or
#                           all (sets offloads: "off" if "on"). MTU 0: as in net_up
#   net_dropped             how many frames the ports' qdiscs have dropped
#   net_bytes I             "TX RX": bytes of host I's interface. A GSO burst
#                           counts its headers once: turn offloads off first
#                           where bytes are to be compared with those of a wire
#   hosts_start [CONFIG]    gaggd on every host; see below

net_state=/run/gagg-net		# holds: hosts, mtu, offload
net_top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

net_hosts()
{
	if [ -r "$net_state/hosts" ]; then
		echo "$(<"$net_state/hosts")"
	else
		echo 0
	fi
}

# net_seconds VARIABLE MS
net_seconds()
{
	printf -v "$1" '%d.%03d' $(($2 / 1000)) $(($2 % 1000))
}

# net_pause SECONDS: as sleep, but starts no program, which takes longer. Nobody writes into
# the pipe, which each shell opens once.
net_pause()
{
	[ "${net_pipe_of:-}" = $BASHPID ] || {
		exec {net_pipe}<> <(:)
		net_pipe_of=$BASHPID
	}
	read -rt "$1" -u "$net_pipe" _ || true
}

net_in()
{
	ip netns exec "$@"
}

net_exec()
{
	net_in "h$1" "${@:2}"
}

# net_addresses I: sets ip4, ip6 and mac, and starts no process
net_addresses()
{
	printf -v ip4 '10.77.0.%d' $(($1 + 1))
	printf -v ip6 'fd77::%x' $(($1 + 1))
	printf -v mac '02:00:00:00:77:%02x' "$1"
}

net_ip4()
{
	local ip4 ip6 mac

	net_addresses "$1"
	echo "$ip4"
}

net_ip6()
{
	local ip4 ip6 mac

	net_addresses "$1"
	echo "$ip6"
}

net_mac()
{
	local ip4 ip6 mac

	net_addresses "$1"
	echo "$mac"
}

net_up()
{
	local n=$1 mtu=${2:-1500} i ip4 ip6 mac neighbours=()

	net_down
	mkdir -p "$net_state"
	echo "$n" >"$net_state/hosts"
	echo "$mtu" >"$net_state/mtu"
	echo on >"$net_state/offload"

	# one report of a joined group, not three over ten seconds
	sysctl -q -w net.ipv6.mld_qrv=1
	# buffers: for a GSO burst from each of many hosts
	sysctl -q -w net.core.rmem_max=67108864 net.core.wmem_max=67108864 \
		net.core.netdev_max_backlog=20000

	{
		echo "netns add sw"
		for ((i = 0; i < n; i++)); do
			echo "netns add h$i"
		done
	} | ip -batch -
	net_in sw sysctl -q -w net.ipv6.conf.default.disable_ipv6=1
	{
		echo "link add br0 type bridge stp_state 0 mcast_snooping 0 forward_delay 0"
		echo "link set br0 mtu $mtu up"
		for ((i = 0; i < n; i++)); do
			net_addresses "$i"
			echo "link add p$i mtu $mtu type veth peer name eth0 netns h$i" \
				"address $mac mtu $mtu"
			echo "link set p$i master br0 up"
		done
	} | ip -n sw -batch -
	for ((i = 0; i < n; i++)); do
		net_addresses "$i"
		echo "fdb replace $mac dev p$i master static"
	done | bridge -n sw -batch -
	for ((i = 0; i < n; i++)); do
		net_addresses "$i"
		neighbours+=("neigh replace $ip4 lladdr $mac dev eth0
neigh replace $ip6 lladdr $mac dev eth0")
	done
	for ((i = 0; i < n; i++)); do
		net_addresses "$i"
		{
			echo "link set lo up"
			echo "link set eth0 addrgenmode none"
			echo "link set eth0 up"
			echo "addr add $ip4/24 dev eth0"
			echo "addr add $ip6/64 dev eth0 nodad"
			printf '%s\n' "${neighbours[@]:0:i}" "${neighbours[@]:i + 1}"
		} | ip -n "h$i" -batch -
	done
}

net_down()
{
	local n i

	n=$(net_hosts)
	[ "$n" -gt 0 ] || return 0
	for ((i = 0; i < n; i++)); do
		ip netns pids "h$i"
	done | xargs -r kill -KILL 2>/dev/null
	# They could not: who waits for the next daemon's socket would find this one.
	rm -f /run/gagg/*.sock
	{
		for ((i = 0; i < n; i++)); do
			echo "netns del h$i"
		done
		echo "netns del sw"
	} | ip -force -batch -
	rm -rf "$net_state"
}

# the features of every host's interface: those that let a GSO burst leave
# whole, and those that merge datagrams on receipt
net_offload()
{
	local n i burst merge

	case $1 in
	on)	burst=on merge=off ;;
	off)	burst=off merge=off ;;
	gro)	burst=off merge=on ;;
	*)	echo "net_offload: on, off or gro, not '$1'" >&2; return 1 ;;
	esac
	[ "$(cat "$net_state/offload")" != "$1" ] || return 0
	n=$(net_hosts)
	for ((i = 0; i < n; i++)); do
		# veth merges only what a peer without TSO sends
		net_in sw ethtool -K "p$i" tso $burst gso $burst \
			tx-udp-segmentation $burst || return
		net_exec "$i" ethtool -K eth0 sg on tso $burst gso $burst \
			tx-udp-segmentation $burst gro $merge || return
	done
	echo "$1" >"$net_state/offload"
}

# single datagrams leave the hosts
net_singles()
{
	[ "$(cat "$net_state/offload")" != on ] || net_offload off
}

# net_which [I]: the number of that host, or of all
net_which()
{
	if [ $# -gt 0 ]; then
		echo "$1"
	else
		seq 0 $(($(net_hosts) - 1))
	fi
}

# A veth hands a frame to the CPU that sends it: a sender that moves to another
# CPU would overtake itself.
net_in_order()
{
	local n i

	n=$(net_hosts)
	for ((i = 0; i < n; i++)); do
		# there is /sys of the namespace only in this way
		ip netns exec sw sh -c "echo 1 >/sys/class/net/p$i/queues/rx-0/rps_cpus" &&
			ip netns exec "h$i" sh -c \
				"echo 1 >/sys/class/net/eth0/queues/rx-0/rps_cpus" || return
	done
}

# port_qdisc I QDISC...: lines for tc. A netem that is changed keeps what it is not
# told of, so it is made anew.
port_qdisc()
{
	echo "qdisc replace dev p$1 root pfifo"
	echo "qdisc replace dev p$1 root ${*:2}"
}

# ports_qdisc QDISC...: of every port
ports_qdisc()
{
	local i

	for i in $(net_which); do
		port_qdisc "$i" "$@"
	done | net_in sw tc -batch -
}

net_impair_host()
{
	port_qdisc "$1" netem limit 100000 "${@:2}" | net_in sw tc -batch -
}

net_impair()
{
	ports_qdisc netem limit 100000 "$@"
}

net_clear()
{
	local i

	for i in $(net_which); do
		echo "qdisc del dev p$i root"
	done | net_in sw tc -force -batch - 2>/dev/null
	true
}

net_loss()
{
	net_singles || return
	net_impair loss random "$1%"
}

net_burst_loss()
{
	if [ "$(cat "$net_state/offload")" != on ]; then
		net_offload on || return
	fi
	net_impair loss random "$1%"
}

net_dup()
{
	net_impair duplicate "$1%"
}

net_reorder()
{
	net_impair delay 5ms reorder "$1%"
}

net_corrupt()
{
	local n i

	net_singles || return
	# netem turns a bit of the linear part: without sg, all is linear
	n=$(net_hosts)
	for ((i = 0; i < n; i++)); do
		net_exec "$i" ethtool -K eth0 sg off || return
	done
	echo "off, linear" >"$net_state/offload"
	net_impair corrupt "$1%"
}

net_delay()
{
	net_impair delay "${1}ms" "${2:-0}ms"
}

net_rate()
{
	ports_qdisc tbf rate "$1" burst 128kb limit 2mb
}

net_buffer()
{
	local rate=$1 size=$2 i queue
	shift 2

	net_singles || return
	case $size in
	*[!0-9]*)
		# no more than four frames at a time
		queue="tbf rate $rate burst $((4 * ($(cat "$net_state/mtu") + 14)))b limit $size"
		;;
	*)	queue="netem rate $rate limit $size" ;;
	esac
	for i in $(net_which "$@"); do
		port_qdisc "$i" "$queue"
	done | net_in sw tc -batch -
}

net_gilbert()
{
	net_singles || return
	net_impair loss gemodel "$1%" "$2%" "${3:-100}%" "${4:-0}%"
}

net_swing()
{
	local one=$1 other=$2 seconds=$3 n=$4 i j
	shift 4

	for ((i = 0; i < n; i++)); do
		# what is in a netem's queue stays there, as it does not with net_impair
		for j in $(net_which); do
			echo "qdisc replace dev p$j root netem limit 100000" \
				"delay $((i % 2 ? other : one))ms $*"
		done | net_in sw tc -batch - || return
		net_pause "$seconds"
	done
}

# outage_begin I: on host I, while those of $which have an outage ($how)
outage_begin()
{
	local i own=

	[ "$how" = out ] || [[ " ${which[*]} " != *" $1 "* ]] || own=1
	{
		echo "table inet outage {"
		echo "chain lost { type filter hook prerouting priority -300;"
		[ -z "$own" ] || echo "iif eth0 drop;"
		for i in "${which[@]}"; do
			[ -n "$own" ] || [ "$how" = in ] || [ "$i" -eq "$1" ] ||
				echo "ip saddr $(net_ip4 "$i") drop; ip6 saddr $(net_ip6 "$i") drop;"
		done
		echo "}; }"
	} | net_exec "$1" nft -f -
}

# The table stays: nft would wait until no CPU looks at it any more.
outage_end()
{
	net_exec "$1" nft flush chain inet outage lost
}

# at_once COMMAND HOST...: for each of these
at_once()
{
	local command=$1 i pids=() status=0
	shift

	for i; do
		"$command" "$i" &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || status=1
	done
	return $status
}

# port_lines FORMAT HOST...: of their ports
port_lines()
{
	local i

	for i in "${@:2}"; do
		# shellcheck disable=SC2059 # the format
		printf "$1\n" "p$i"
	done
}

# flaps SECONDS PAUSE COUNT DOWN UP HOST...: lines for a -batch that reads them as they
# come: DOWN and UP say %s for the port
flaps()
{
	local i

	for ((i = 0; i < $3; i++)); do
		[ $i -eq 0 ] || net_pause "$2"
		port_lines "$4" "${@:6}"
		net_pause "$1"
		port_lines "$5" "${@:6}"
	done
}

net_outage()
{
	local ms=$1 how=${2:-both} seconds which where
	shift $(($# < 2 ? $# : 2))

	mapfile -t which < <(net_which "$@")
	mapfile -t where < <(net_which)
	[ "$how" != in ] || where=("${which[@]}")
	net_seconds seconds "$ms"
	case $how in
	down)
		flaps "$seconds" 0 1 "link set %s down" "link set %s up" "${which[@]}" |
			ip -n sw -batch -
		;;
	cut)
		flaps "$seconds" 0 1 "link set dev %s state 0" "link set dev %s state 3" \
			"${which[@]}" | bridge -n sw -batch -
		;;
	in|out|both)
		at_once outage_begin "${where[@]}" && net_pause "$seconds" &&
			at_once outage_end "${where[@]}"
		;;
	*)
		echo "net_outage: in, out, both, cut or down, not '$how'" >&2
		return 1
		;;
	esac
}

net_flap()
{
	local down up which

	net_seconds down "$1"
	net_seconds up "$2"
	mapfile -t which < <(net_which "${@:4}")
	flaps "$down" "$up" "$3" "link set %s down" "link set %s up" "${which[@]}" |
		ip -n sw -batch -
}

# A frame that is longer than the interface that receives it may have, or than a
# port of a bridge that it is to leave by, is dropped there.
net_path_mtu()
{
	local mtu=$1 i
	shift

	[ "$mtu" -gt 0 ] || mtu=$(cat "$net_state/mtu")
	net_singles || return
	for i in $(net_which "$@"); do
		echo "link set p$i mtu $mtu"
	done | ip -n sw -batch -
}

net_dropped()
{
	net_in sw tc -s qdisc show |
		sed -n 's/.*(dropped \([0-9]*\),.*/\1/p' | awk '{ n += $1 } END { print n + 0 }'
}

net_bytes()
{
	ip -n "h$1" -s -j link show eth0 |
		sed 's/.*"rx":{"bytes":\([0-9]*\).*"tx":{"bytes":\([0-9]*\).*/\2 \1/'
}

# gaggd on every host, as the examples start it; or, with a configuration, one
# that has just that. Host I's is asked at /run/gagg/hI.sock (so a trainer is
# started with GAGG_SOCKET=/run/gagg/hI.sock) and logs to /run/gagg/hI.log.
# Ends with net_down.
hosts_start()
{
	local n i

	n=$(net_hosts)
	if [ $# -eq 0 ] && [ -x "$net_top/agent/examples/up.sh" ]; then
		"$net_top/agent/examples/up.sh" "$n"
		return
	fi
	mkdir -p /run/gagg
	for ((i = 0; i < n; i++)); do
		net_exec "$i" "$net_top/build/gaggd" --socket "/run/gagg/h$i.sock" \
			${1:+--config "$1"} >"/run/gagg/h$i.log" 2>&1 &
	done
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
	[ $# -gt 0 ] || { sed -n '4,/^$/s/^# \{0,1\}//p' "$0"; exit 2; }
	"$@"
fi
