#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In a guest with virtual time: one system on one network, whose processors take no
# time. The JSON of gagg-bench to FOLDER/rows, what the network lost to FOLDER/dropped.
#
#   virtual.sh FOLDER SYSTEM N RATE DELAY SIZE...
#
# RATE (of tc, such as 10gbit) and DELAY (such as 25us) are of each link, both ways: a
# host's to the switch, and the switch's to a host. Datagrams and segments are single, as
# a wire has them: a burst would be stored and forwarded as a whole. Nothing is lost but
# what 100 000 of them before it leave no room for.
#
# Environment: ITERS, OPTIONS (of the group), MTU.

set -uo pipefail
cd "$(dirname "$0")/../.." || exit
# shellcheck source=vm/net.sh
. vm/net.sh
# shellcheck source=selftests/bench/systems.sh
. selftests/bench/systems.sh

folder=$1 system=$2 n=$3 rate=$4 delay=$5
shift 5

insmod "build/kmod/$(uname -r)/gagg.ko" || exit
# shellcheck disable=SC2086 # words
systems_up "$n" ${OPTIONS:-} && net_offload off &&
	net_impair rate "$rate" delay "$delay" || exit
for ((i = 0; i < n; i++)); do
	net_exec "$i" tc qdisc replace dev eth0 root netem limit 100000 \
		rate "$rate" delay "$delay" || exit
	# TCP, too, may have as much under way as a long path holds
	net_exec "$i" sysctl -q -w "net.ipv4.tcp_rmem=4096 131072 67108864" \
		"net.ipv4.tcp_wmem=4096 131072 67108864" || exit
done
# three times over the ring, or what the first operations of a path have to learn
system_run "$system" 3600 all_reduce -j -s "$(IFS=,; echo "$*")" -n "$ITERS" -w 3 -t 60 \
	--timeout 600 >"$folder/rows"
status=$?
net_dropped >"$folder/dropped"
exit $status
