#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
#
# gagg-twin is heard, and hears, while it makes memory for another group's ring.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
plan 3

# goes_on GROUP LOG...: no epoch of it has ended
goes_on()
{
	! grep "\"$1\": epoch .* has ended" "${@:2}"
}

# one group trains, the other's ring is made: 360 MB for each host
large_ring()
{
	local i

	for i in 0 1; do
		net_exec "$i" "$RANK" --timeout 60000 --socket "/run/gagg/h$i.sock" \
			large "$i" barrier barrier >"$tmp/large.$i" 2>&1 &
	done
	for i in 0 1; do
		wait_until 60 grep -q "op 2 .* ok" "$tmp/large.$i" || {
			cat "$tmp/large.$i"
			return 1
		}
	done
}

layout 2
net_ready 1500
twin_conf ring 256 window 64 dead-after 400
sed 's/"g"/"large"/; s/ring = 256/ring = 262144\nport = 7640/' "$tmp/gagg.conf" >"$tmp/large"
cat "$tmp/large" >>"$tmp/gagg.conf"
check "two groups" twin_up 0 1
rank_options=(--repeat 0 --quiet --timeout 60000)
ranks_start allreduce:int32:sum:1000
sleep 1
check "a large ring is made while the other group trains" large_ring
check "whose epoch goes on" goes_on g /run/gagg/h[01].log
for r in 0 1; do
	rank_kill $r
done
twin_down
