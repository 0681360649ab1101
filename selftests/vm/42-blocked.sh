#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
# clock: skip
#
# A path that carries no chunks, or a firewall that lets one port through and not the
# next: no epoch starts, or the one that runs ends, and everybody says between whom.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
plan 22

BLOCKED=8 MTU=9		# enum gagg_reason

# close_port HOST PORT: what comes to that UDP port is dropped there
close_port()
{
	net_exec "$1" nft -f - <<-END
		table inet closed {
			chain in {
				type filter hook input priority 0;
				udp dport $2 drop;
			}
		}
	END
}

open_port()
{
	net_exec "$1" nft delete table inet closed
}

# lists I PATTERN: a line of member list on host I
lists()
{
	local lines

	lines=$(ctl "$1" member list g)
	echo "$lines"
	grep -qE -- "$2" <<<"$lines"
}

# none_blocked HOST...: no host says that of another
none_blocked()
{
	local i

	for i; do
		fails lists "$i" blocked || return
	done
}

again()
{
	wait_until 20 none_blocked 0 1 2 || bail "chunks still do not pass"
}

# all that wait to join have an error that names a host
told()
{
	local r status=0

	for ((r = 0; r < ranks; r++)); do
		rank_wait "$r" && status=1
		grep -E "the host of rank [0-9]+ is heard, but chunks do not pass" "$tmp/rank.$r" ||
			{ status=1; tail -n 2 "$tmp/rank.$r"; }
	done
	return $status
}

# ended REASON: so has the epoch on every rank, and each names one
ended()
{
	local r status=0

	for ((r = 0; r < ranks; r++)); do
		rank_wait "$r" || status=1
		rank_says "$r" "^rank $r failed .* reason $1 rank " || status=1
	done
	return $status
}

module_load "$@" || bail "no module"
layout 3
net_ready 1500 off
group_up ring 1024 window 256 shards 2 dead-after 2000
check "group show prints what the path must carry" \
	eval 'ctl 0 group show g | grep "path MTU 1468 needed, interface 1500"'

# --- the path ---------------------------------------------------------------
net_path_mtu 1400 2
sleep 3
ranks_start allreduce:int32:sum:20000
check "MTU of the path: ranks are not left waiting" told
check "the host behind it says so" \
	lists 2 "^0=.* blocked .*do not pass between it and this host on UDP port 7440, 7441: the path's MTU is less than 1468"
check "and those that it lacks" \
	lists 0 "^2=.* blocked .*: it is heard, but chunks do not pass .* on UDP port 7440, 7441"
check "the group's state" eval 'ctl 1 group show g | grep "^g: blocked"'
net_path_mtu 0 2
again
check "it passes again: they train" ranks_run allreduce:int32:sum:20000

# --- a firewall -------------------------------------------------------------
close_port 1 7441
sleep 3
ranks_start allreduce:int32:sum:20000
check "one port of two: ranks are not left waiting" told
check "the host behind it says so" \
	lists 1 "^0=.* blocked .*do not pass from it to this host on UDP port 7441: is a firewall in the way"
check "and those that it lacks" \
	lists 0 "^1=.* blocked .*do not pass from this host to it on UDP port 7441: is a firewall"
check "and who is not concerned knows the port that is" \
	lists 2 "^1=.* blocked"
open_port 1
again
check "it is open again: they train" ranks_run allreduce:int32:sum:20000

# --- in the middle ----------------------------------------------------------
rank_options=(--repeat 0 --quiet)
ranks_start fail allreduce:int32:sum:20000 sleep:10
sleep 2
net_path_mtu 1400 2
check "the MTU shrinks while they train: the epoch ends" ended $BLOCKED
net_path_mtu 0 2
again
ranks_start fail allreduce:int32:sum:20000 sleep:10
sleep 4
close_port 1 7441
check "a port is closed while they train: the epoch ends" ended $BLOCKED
open_port 1
again
ranks_start fail allreduce:int32:sum:20000 sleep:10
sleep 4
# bursts become datagrams before the interface counts them
net_exec 2 ethtool -K eth0 tx-udp-segmentation off
others=$(($(packets 2) - $(count 2 tx_datagrams)))
errors=$(count 2 tx_errors)
net_exec 2 ip link set eth0 mtu 1400
check "the interface's own MTU shrinks: the epoch ends" ended $MTU
note "$(count 2 tx_errors) errors, $errors before"
check "what did not leave is not counted as sent" is "$(count 2 tx_errors) > $errors &&
	$(count 2 tx_datagrams) <= $(packets 2) - $others"
net_exec 2 ip link set eth0 mtu 1500
again
rank_options=()

# --- ICMP -------------------------------------------------------------------
# of a route, as a forged "fragmentation needed" makes one
for i in 0 1; do
	net_exec $i ip route replace "$(net_ip4 2)/32" dev eth0 mtu 1000
	net_exec $i ip -6 route replace "$(net_ip6 2)/128" dev eth0 mtu 1300
done
check "a path MTU that is told, and not the interface's, is not believed" \
	ranks_run allreduce:int32:sum:20000
group_down
family=6
group_up ring 1024 window 256 shards 2 dead-after 2000
check "nor with IPv6" ranks_run allreduce:int32:sum:20000
group_down
family=4

# --- the twin ---------------------------------------------------------------
twin_conf ring 1024 window 256 shards 2 dead-after 2000
twin_up 0 1 2 || bail "no twins"
check "the twin does not believe it, either" ranks_run allreduce:int32:sum:20000
net_path_mtu 1400 2
sleep 4
ranks_start allreduce:int32:sum:20000
check "twin, MTU of the path: ranks are not left waiting" told
check "it logs between whom" \
	grep "the host of rank 0 is heard, but chunks do not pass either way" /run/gagg/h2.log
net_path_mtu 0 2
sleep 3
rank_options=(--repeat 0 --quiet)
ranks_start fail allreduce:int32:sum:20000 sleep:10
sleep 4
close_port 1 7441
check "twin, a port is closed while they train: the epoch ends" ended $BLOCKED
open_port 1
sleep 3
ranks_start fail allreduce:int32:sum:20000 sleep:10
sleep 4
net_exec 2 ip link set eth0 mtu 1400
check "twin, the interface's own MTU shrinks: the epoch ends" ended $MTU
twin_down
