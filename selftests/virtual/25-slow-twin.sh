#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
# turns: 4
#
# gagg-twin without privileges, whose sockets have little room (212992 bytes, as
# net.core.wmem_max has it), over links that are slow: it waits for them, and is heard, and hears, meanwhile.

# shellcheck source=selftests/virtual/lib.sh
. "$(dirname "$0")/lib.sh"
plan 4

twin_prefix=(setpriv --no-new-privs --bounding-set -all)
rank_options=(--timeout 200000)

nobody_silent()
{
	! grep "epoch .* has ended: silent" /run/gagg/h?.log
}

# the hosts' own interfaces: what waits there is the sockets', where netem would let it go
slow()
{
	local i

	for ((i = 0; i < hosts; i++)); do
		net_exec "$i" tc qdisc replace dev eth0 root tbf rate "$1" burst 16k \
			limit 50m || return
	done
}

for rate in 2mbit 1mbit; do
	layout 4
	net_ready 1500
	slow $rate || bail "no links"
	# net_up has set another
	echo 212992 >/proc/sys/net/core/wmem_max
	twin_conf ring 4096 window 2048 dead-after 400
	twin_up 0 1 2 3 || bail "no twins"
	check "links of $rate: 1 MiB is all-reduced" ranks_run allreduce:int32:sum:262144
	check "and nobody was declared silent" nobody_silent
	twin_down
	net_down
done
