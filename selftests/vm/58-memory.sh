#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 400
# turns: 2
# clock: skip
#
# gagg-twin is heard, and hears, while it makes memory for another group's ring, and while
# its socket holds what a slow link has not carried yet.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
plan 5

# goes_on GROUP LOG...: no epoch of it has ended
goes_on()
{
	! grep "\"$1\": epoch .* has ended" "${@:2}"
}

# one group trains, the ring of the other one, whose ranks are both on host 0, is made
large_ring()
{
	local r

	for r in 0 1; do
		net_exec 0 "$RANK" --timeout 100000 --socket /run/gagg/h0.sock large "$r" \
			barrier barrier >"$tmp/large.$r" 2>&1 &
	done
	for r in 0 1; do
		wait_until 200 grep -q "op 2 .* ok" "$tmp/large.$r" || {
			cat "$tmp/large.$r"
			return 1
		}
	done
}

layout 2
net_ready 1500
twin_conf ring 256 window 64 dead-after 1000
# 750 MB of results
sed "s/\"g\"/\"large\"/; s/ring = 256/ring = 524288\nport = 7640/; s/$(address 1)/$(address 0)/" \
	"$tmp/gagg.conf" >"$tmp/large"
cat "$tmp/large" >>"$tmp/gagg.conf"
check "two groups" twin_up 0 1
rank_options=(--repeat 0 --timeout 60000)
# most of the time they say nothing: HELLO is all that is heard
ranks_start allreduce:int32:sum:1000 sleep:3000
check "trainers are under way" under_way 0 1
from=${EPOCHREALTIME/./}
check "a large ring is made while their group is silent" large_ring
note "it took $(((${EPOCHREALTIME/./} - from) / 1000)) ms"
check "whose epoch goes on" goes_on g /run/gagg/h[01].log
for r in 0 1; do
	rank_kill $r
done
twin_down

# without privileges, with Debian's net.core.wmem_max
net_down
layout 4
net_ready 1500
for ((i = 0; i < hosts; i++)); do
	net_exec $i tc qdisc replace dev eth0 root tbf rate 1mbit burst 16k limit 50m ||
		bail "no slow links"
done
echo 212992 >/proc/sys/net/core/wmem_max
twin_prefix=(setpriv --no-new-privs --bounding-set -all)
twin_conf ring 4096 window 2048 dead-after 600
twin_up 0 1 2 3 || bail "no twins"
rank_options=(--timeout 60000)
check "1 MiB over links of 1 Mbit/s" ranks_run allreduce:int32:sum:262144
twin_down
