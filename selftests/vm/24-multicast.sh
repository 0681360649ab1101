#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
# turns: 2
#
# Results by multicast, of hosts with the module, with gagg-twin, and of both: exact
# whatever is lost, even if a host hears none of them; what a home sends does not grow
# with the number of hosts; who joins, who does not, and that nobody is left joined.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
plan 140

WIRE=$TOP/build/selftests/vm/wire
MC4=239.77.0.1 MC6=ff15::77
LANES=344 CHUNKS=1280
words=(allreduce:int32:sum:100000 allreduce:float32:sum:20000 broadcast:50000:1
	allgather:20000 reduce_scatter:int32:max:9000 barrier allreduce:int64:sum:5000)
# what has the group: module (on all hosts), twins (on all), or mixed_up's mixture
kind=module

made()
{
	local i all=()

	for ((i = 0; i < hosts; i++)); do
		all+=("$i")
	done
	case $kind in
	module)	group_up "$@" ;;
	twins)	twin_conf "$@" && twin_up "${all[@]}" ;;
	mixed)	mixed_up "$@" ;;
	esac
}

unmade()
{
	case $kind in
	module)	group_down ;;
	twins)	twin_down ;;
	mixed)	mixed_down ;;
	esac
}

# count_others I NAME: the sum over all hosts but host I
count_others()
{
	echo $(($(count_all "$2") - $(count "$1" "$2")))
}

# packets that the stack of host $1 has sent to multicast addresses
# shellcheck disable=SC2016 # awk's
sent_to_all()
{
	if [ "$family" = 4 ]; then
		net_exec "$1" awk '$1 == "IpExt:" {
			if (!n) for (n = 1; $n != "OutMcastPkts"; n++) ;
			else print $n }' /proc/net/netstat
	else
		net_exec "$1" awk '$1 == "Ip6OutMcastPkts" { print $2 }' /proc/net/snmp6
	fi
}

joined()
{
	net_exec "$1" ip maddr show dev eth0 | grep -qw "$2"
}

all_joined()
{
	local i

	for ((i = 0; i < hosts; i++)); do
		joined "$i" "$1" && ask "$i" group show g | grep -w "multicast $1" || return
	done
}

# all hosts have sent results to all, and hear no results of their own
all_sent()
{
	local i

	for ((i = 0; i < hosts; i++)); do
		is "$(sent_to_all "$i") - ${had[i]} >= 10" || return
		is "$(count "$i" drop_source) == 0" || return
	done
}

note_sent()
{
	local i

	for ((i = 0; i < hosts; i++)); do
		had[i]=$(sent_to_all "$i")
	done
}

# Bytes on host 0's wire, but for what a slow machine adds: repairs, to one host each, of 42 bytes
# of headers and a full chunk; and acknowledgements of 42, a header and a body, which are the more
# the fewer contributions a poll has found (once for each, at worst).
sent_by_0()
{
	local tx

	read -r tx _ < <(net_bytes 0)
	echo $((tx - $(count 0 repairs) * (4 * LANES + 106) - $(count 0 acks) * (42 + 64 + 72)))
}

# what host 0, the only home, sends in an all-reduce of $CHUNKS chunks
egress()
{
	local n=$1 a b
	shift

	layout "$n" 1 one
	net_ready 1500 off
	net_in_order
	made ring 4096 window 1024 dead-after 600000 placement root "$@" || return
	rm -f "$tmp/go" "$tmp/end"
	ranks_start allreduce:int32:sum:1000 say:ready "await:$tmp/go" \
		"allreduce:int32:sum:$((CHUNKS * LANES))" say:finished "await:$tmp/end"
	ranks_say ready || return
	a=$(sent_by_0)
	touch "$tmp/go"
	ranks_say finished || return
	b=$(sent_by_0)
	touch "$tmp/end"
	ranks_wait || return
	sent[n]=$((b - a))
	echo "$n hosts ${*:-one by one}: host 0 sends ${sent[n]} bytes, and $(count 0 acks)" \
		"acknowledgements, $(count 0 repairs) repairs"
	unmade
	net_down
}

# as much to 8 hosts as to 4, and little more than the results
once()
{
	is "10 * ${sent[8]} <= 11 * ${sent[4]}" &&
		is "100 * ${sent[8]} <= 125 * $CHUNKS * (4 * $LANES + 106)"
}

refuses()
{
	local want=$1 got
	shift

	got=$(ctl 0 "$@" 2>&1) && return 1
	echo "$got"
	[[ $got == *"$want"* ]]
}

# the first port at the address has a socket on host $1 that shares it with nobody
taken()
{
	net_exec "$1" python3 -c "
import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(('$MC4', 7440))
print('bound', flush=True)
time.sleep(1000)" >"$tmp/bound" &
	taker=$!
	wait_until 60 grep -q bound "$tmp/bound"
}

given_back()
{
	pkill -P "$taker"
	wait "$taker" 2>/dev/null
}

shown()
{
	ctl 0 group show l | grep -w "multicast $MC4" && joined 0 $MC4
}

taken_back()
{
	ctl 0 group set l multicast none || return
	! joined 0 239.77.0.2 && ! ctl 0 group show l | grep multicast
}

# twin_refuses WORDS [OPTION VALUE]...
twin_refuses()
{
	twin_conf ring 256 window 64 "${@:2}"
	net_exec 0 timeout 20 gagg-twin --config "$tmp/gagg.conf" --socket "$tmp/s" \
		>"$tmp/said" 2>&1 && return 1
	cat "$tmp/said"
	grep -q "$1" "$tmp/said"
}

# what another host of the network hears of host 0's results, as a TYPE of host 1's
says()
{
	net_exec 3 "$WIRE" send 10.77.0.2:7440 10.77.0.1:7440 "$tmp/heard" count=5 src=1 \
		"$@" || return
	wait_until 20 has_dropped
}

has_dropped()
{
	is "$(count 0 drop_cookie) - $dropped >= 5"
}

# mismatch HOST FIELD
mismatch()
{
	ask "$1" group show g | grep "config-mismatch $2"
}

# of either kind
have_come()
{
	is "$(count 0 drop_type) >= 5 && $(count 0 drop_epoch) >= 5"
}

# to all: a contribution, and a result
only_results()
{
	local type

	for type in 4 7; do
		net_exec 1 "$WIRE" send "$(net_ip4 1):7440" "$MC4:7440" type=$type \
			magic=0x4147 ver=1 hdrlen=64 run=1 lanes=26 group=4711 length=168 count=5 ||
			return
	done
	wait_until 20 have_come
	is "$(count 0 drop_type) == 5 && $(count 0 drop_epoch) >= 5"
}

module_load "$@"

# --- exact ------------------------------------------------------------------
exact()
{
	local to=$MC4 i repairs placed rest had=() parts

	[ "$family" = 4 ] || to=$MC6
	if [ $kind = mixed ]; then
		layout 4 2
	else
		layout 3 2
	fi
	rest=$(seq -s , 4 $((ranks - 1)))
	# channels of some of the hosts
	parts=("@0,1,2,3:split:0" "@$rest:split:1" allreduce:int32:sum:30000 world
		allreduce:int32:sum:20000)
	net_ready 1500
	note_sent
	# a processor that is shared with others may be away for seconds; how long repairs take by
	# themselves is seen in virtual time (virtual/48-deaf)
	check "IPv$family, $kind: a group with an address for all" made ring 4096 window 256 \
		shards 2 dead-after 60000 multicast "$to"
	check "all hosts hear it" all_joined "$to"
	check "results are exact" ranks_run "${words[@]}"
	check "and the same everywhere" digests_agree
	check "they were sent to all" all_sent
	check "so they are in parts" ranks_run "${parts[@]}"
	repairs=$(count_all repairs)
	check "5 % of datagrams lost" net_loss 5
	check "results are exact" ranks_run "${words[@]}"
	check "and the same everywhere" digests_agree
	check "what was lost was repaired" is "$(count_all repairs) > $repairs + 10"
	net_clear
	deaf 2 $MC4 $MC6
	repairs=$(count_others 2 repairs)
	placed=$(count 2 results)
	check "host 2 hears none of them: results are exact" ranks_run allreduce:int32:sum:40000
	placed=$(($(count 2 results) - placed))
	check "all that it has was sent to it alone" \
		is "$(count_others 2 repairs) - $repairs >= $placed && $placed >= 70"
	for ((i = 0; i < hosts; i++)); do
		[ $i -eq 2 ] || deaf $i $MC4 $MC6
	done
	check "nobody hears any: results are exact" ranks_run allreduce:int32:sum:40000
	for ((i = 0; i < hosts; i++)); do
		hearing $i
	done
	unmade
	check "nobody is left joined" eval "fails joined 0 $to && fails joined 2 $to"
	net_down
}

for kind in module twins mixed; do
	for family in 4 6; do
		exact
	done
done
kind=module family=4

# --- who joins --------------------------------------------------------------
layout 2 1 dedicated
net_ready 1500
group_up ring 256 window 64 multicast $MC4
check "workers join" eval "joined 0 $MC4 && joined 1 $MC4"
check_not "who only adds does not" joined 2 $MC4
check "results are exact" ranks_run allreduce:int32:sum:30000
# a burst counts once
check "they were sent to all" is "$(sent_to_all 2) >= 2"
check "another group with the address" ctl 0 group create k local 10.77.0.1 ring 256 \
	window 64 member 0=10.77.0.1 member 1=10.77.0.2 member 2=10.77.0.3 multicast $MC4
check "one with another address" ctl 0 group create l local 10.77.0.1 ring 256 window 64 \
	member 0=10.77.0.1 member 1=10.77.0.2 member 2=10.77.0.3 multicast 239.77.0.2
check "and one on other ports" ctl 0 group create m local 10.77.0.1 port 7600 ring 256 \
	window 64 member 0=10.77.0.1 member 1=10.77.0.2 multicast $MC4
check "the first works among them" ranks_run allreduce:int32:sum:30000
ctl 0 group delete g
ctl 0 group delete m
check "the last one leaves, not the first" eval "joined 0 $MC4 && joined 0 239.77.0.2"
ctl 0 group delete k
check_not "then it is left" joined 0 $MC4
check "an address is taken back" taken_back
ctl 0 group set l multicast $MC4
check "what is set is shown, and heard" shown
# alone at its ports: they are bound anew
ctl 0 group set l shards 2
check "also with more ports" shown
ctl 0 group delete l

# --- what is refused ----------------------------------------------------------
create=(group create k local 10.77.0.1 ring 256 window 64 member "0=10.77.0.1"
	member "1=10.77.0.2")
check "a host's address" refuses "multicast: expected a multicast address" \
	"${create[@]}" multicast 10.77.0.9
check "another family" refuses "multicast must be an address of the members' family" \
	"${create[@]}" multicast $MC6
check "a store" refuses "multicast requires a sync mode without a store" \
	"${create[@]}" multicast $MC4 sync asp
net_exec 0 ip link set eth0 multicast off
check "an interface without multicast" refuses "multicast: no interface" \
	"${create[@]}" multicast $MC4
net_exec 0 ip link set eth0 multicast on
taken 0
check "a port that somebody has there" refuses "multicast: a socket of this host" \
	"${create[@]}" multicast $MC4
given_back
ctl 1 group delete g
ctl 2 group delete g
layout 2
group_up ring 256 window 64 id 4711 multicast $MC4
ctl 1 group set g multicast 239.77.0.3
check "hosts compare it" wait_until 20 mismatch 0 address
ctl 1 group set g multicast $MC4
net_exec 1 ip route add 239.77.0.0/24 dev eth0
check "only results come that way" only_results
group_down
net_down

# --- the same of gagg-twin --------------------------------------------------------
layout 2 1 dedicated
net_ready 1500
kind=twins
check "twins: of those that share an address" eval "twin_conf ring 256 window 64 id 4711 \
	multicast $MC4 && sed 's/\"g\"/\"k\"/; s/4711/4712/' '$tmp/gagg.conf' >'$tmp/k.conf' &&
	cat '$tmp/k.conf' >>'$tmp/gagg.conf' && twin_up 0 1 2"
check "workers join" eval "joined 0 $MC4 && joined 1 $MC4"
check_not "a host that only adds does not" joined 2 $MC4
check "results are exact" ranks_run allreduce:int32:sum:30000
check "they were sent to all" is "$(sent_to_all 2) >= 2"
net_exec 1 ip route add 239.77.0.0/24 dev eth0
check "only results come that way" only_results
twin_down
check_not "at their end it is left" joined 0 $MC4
check "another family is refused" twin_refuses "multicast must be an address of the members' family" \
	multicast $MC6
check "and a store" twin_refuses "multicast = .*: multicast requires a sync mode without a store" \
	multicast $MC4 sync asp
net_exec 0 ip link set eth0 multicast off
check "an interface without multicast" \
	twin_refuses "multicast: no interface with the local address" multicast $MC4
net_exec 0 ip link set eth0 multicast on
taken 0
check "a port that somebody has there" \
	twin_refuses "multicast: a socket of this host has a UDP port" multicast $MC4
given_back
net_down
layout 4
net_ready 1500
create_on "0 1" ring 256 window 64 multicast $MC4
twin_conf ring 256 window 64 multicast 239.77.0.3
twin_up 2 3
check "hosts compare it, with the module and without" \
	eval "wait_until 20 mismatch 0 address && wait_until 20 mismatch 2 address"
mixed_down
net_down
kind=module

# --- who else hears ---------------------------------------------------------------
layout 4
net_ready 1500 off
layout 3
group_up ring 256 window 64 id 4711 dead-after 600000 multicast $MC4
rank_options=(--repeat 0 --quiet)
net_exec 3 timeout 60 "$WIRE" learn eth0 "$tmp/heard" type=7 lanes=$LANES >"$tmp/learned" &
learner=$!
ranks_start allreduce:int32:sum:30000
check "a host that is no member hears results" wait $learner
# CONTRIB, QUERY, PULL
for words in type=4 "type=11 length=64 run=1" "type=14 length=64 run=1"; do
	dropped=$(count 0 drop_cookie)
	# shellcheck disable=SC2086 # words
	check "but cannot say anything else with what it hears: $words" says $words
done
for ((r = 0; r < ranks; r++)); do
	rank_kill "$r"
done
ranks_wait 2>/dev/null
rank_options=()
group_down
net_down

# --- what a home sends ----------------------------------------------------------
sent=()
check "one adds for 4 hosts, one by one" egress 4
check "and for 8" egress 8
note "one by one: ${sent[4]} bytes to 4 hosts, ${sent[8]} to 8"
check "it sends to each" is "10 * ${sent[8]} > 20 * ${sent[4]}"
check "4 hosts together" egress 4 multicast $MC4
check "8 hosts together" egress 8 multicast $MC4
note "by multicast: ${sent[4]} bytes to 4 hosts, ${sent[8]} to 8"
check "it sends as much to 8 as to 4, which is little more than the results" once
kind=twins
check "4 twins together" egress 4 multicast $MC4
check "8 twins together" egress 8 multicast $MC4
note "by multicast of twins: ${sent[4]} bytes to 4 hosts, ${sent[8]} to 8"
check "so does a twin" once
kind=module

# --- both ways in turn ------------------------------------------------------------
# What leaves in order arrives in order, so a poll that has read a result of one socket
# finds those before it in the other; of a window it reads all, and no home has more than
# eight gaps in it.
in_turn()
{
	local turns=() i had=()

	layout 3
	net_ready 1500 off
	net_in_order
	made ring 256 window 64 dead-after 600000 multicast $MC4
	for ((i = 0; i < 8; i++)); do
		turns+=(data:random iallreduce:int32:sum:$((24 * LANES))
			"ibroadcast:$((24 * 4 * LANES)):$((i % 3))"
			data:zero iallreduce:int32:sum:$((24 * LANES)))
	done
	rank_options=(--repeat 20 --quiet)
	note_sent
	check "$kind: lanes, zeros and broadcasts in turn are exact" ranks_run "${turns[@]}" wait
	rank_options=()
	check "lanes were sent to all" all_sent
	check "what is read out of order is not asked for" is "$(count_all pulls) == 0"
	unmade
	net_down
}

for kind in module twins; do
	in_turn
done
kind=module

# --- in the midst ---------------------------------------------------------------
layout 3
net_ready 1500
group_up ring 4096 window 256 shards 2 multicast $MC4
rank_options=(--repeat 0 --quiet)
ranks_start fail allreduce:int32:sum:200000
ranks_say attached
sleep 1
pkill -x rank
ranks_wait >"$tmp/killed" 2>&1
module_unused || wait_until 20 module_unused
check "unloaded with sockets that have joined" rmmod gagg
check_not "they have left" joined 0 $MC4
check "loaded again" eval "module_load && group_up ring 4096 window 256 multicast $MC4"
rank_options=()
check "it works" ranks_run allreduce:int32:sum:30000
net_down
check "namespaces go with groups in them" wait_until 20 eval "! ip netns list | grep -w h0"
