#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
#
# What vm/net.sh does to a network is what it says: the other tests rely on it.

# shellcheck source=selftests/virtual/lib.sh
. "$(dirname "$0")/lib.sh"
plan 21

# pings FROM TO WORD...: sets answers, out of as many as asked
pings()
{
	local from=$1 to
	to=$(net_ip4 "$2")
	shift 2

	answers=$(net_exec "$from" ping -q "$@" "$to" | sed -n 's/.* \([0-9]*\) received.*/\1/p')
}

# send_start BURSTS SEGMENTS: host 0 sends to host 1, a burst each 1.05 ms. send_end
# NAME: sets got, what host 1 has counted of that
send_start()
{
	local to
	to=$(net_ip4 1)

	net_exec 1 udp recv "$to" 9000 "$@" >"$tmp/udp" <"$tmp/sends" &
	receiver=$!
	# the sender holds it open
	exec 3>"$tmp/sends"
	wait_until 5 grep -q ready "$tmp/udp"
	net_exec 0 udp send "$to" 9000 "$@" &
	exec 3>&-
}

send_end()
{
	wait "$receiver"
	got=$(sed -n "s/.*\b$1=\([0-9]*\).*/\1/p" "$tmp/udp")
}

# lost_in MS HOW [HOST]: got, of 100 datagrams
lost_in()
{
	send_start 100 1
	sleep 0.02
	net_outage "$@"
	send_end lost
}

PATH=$TOP/build/selftests/vm:$PATH
mkfifo "$tmp/sends"
layout 3
net_ready 1500
net_offload off
wires 1gbit 100us
for how in in out both cut down; do
	# a host that sends has no outage of what it receives
	lost_in 50 $how 1
	want="$got >= 47 && $got <= 49"
	[ $how != out ] || want="$got == 0"
	bar "an outage of 50 ms, $how, of the host that receives" "$want"
done
lost_in 50 out 0
bar "and of the one that sends" "$got >= 47 && $got <= 49"
for how in both cut; do
	lost_in 50 $how 2
	bar "$how: one of another host loses nothing" "$got == 0"
	lost_in 50 $how
	bar "$how: one of all hosts does" "$got >= 47 && $got <= 49"
done
pings 0 1 -c 1
bar "and then it is over" "$answers == 1"
check_not "another kind of outage is refused" net_outage 5 sideways

# 60 datagrams come within 51 us, in which it sends six
senders 10gbit 10us
net_buffer 1gbit 20 1
send_start 1 60
send_end datagrams
bar "a port with room for 20 datagrams, which come ten times as fast as it sends" \
	"$got >= 25 && $got <= 27"
bar "counts what it drops" "$(net_dropped) == 60 - $got"
# 1042 bytes each; four frames are sent at once
net_buffer 1gbit 20kb 1
send_start 1 60
send_end datagrams
bar "one with room for 20 KiB" "$got >= 19 + 2 + 2 && $got <= 20 + 6 + 6"

# 3 / (3 + 30) of them
net_gilbert 3 30
send_start 200 50
send_end datagrams
bar "bursts of loss: one in eleven of 10000 is lost" "10000 - $got >= 700 && 10000 - $got <= 1200"
net_clear

pings 0 1 -c 1 -s 1472 -M "do"
bar "1500 bytes pass" "$answers == 1"
net_path_mtu 1400 1
pings 0 1 -c 1 -W 0.1 -s 1472 -M "do"
bar "not where a path carries 1400" "$answers == 0"
pings 0 1 -c 1 -W 0.1 -s 1372 -M "do"
bar "1400 do" "$answers == 1"
net_path_mtu 0

send_start 40 50
net_swing 4 1 0.01 5
send_end late
net_clear
bar "a path that becomes shorter lets datagrams overtake" "$got > 0"
pings 0 1 -c 1 -s 1472 -M "do"
bar "without all that the network is as before" "$answers == 1"
net_down
