#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# stock: the distribution's kernel and its modules
#
# The environment itself: if this fails, no other failure means anything.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
plan 22

# udp FROM TO BURSTS SEGMENTS [gro]: numbered datagrams from host to host; sets
# datagrams, reads, whole, part, lost, copies, late, bad (see udp.c)
udp()
{
	local from=$1 to=$2 bursts=$3 segments=$4 address line in
	address=$("${udp_address:-net_ip4}" "$to")

	coproc RECEIVER {
		net_exec "$to" "$TOP/build/selftests/vm/udp" \
			recv "$address" 9000 "$bursts" "$segments" "${5:-}"
	}
	read -r line <&"${RECEIVER[0]}"
	net_exec "$from" "$TOP/build/selftests/vm/udp" \
		send "$address" 9000 "$bursts" "$segments"
	in=${RECEIVER[1]}
	exec {in}>&-
	read -r line <&"${RECEIVER[0]}"
	wait "$RECEIVER_PID"
	note "$line"
	eval "$line"
}

# how many datagrams host $1 refused for their checksum
checksum_errors()
{
	# shellcheck disable=SC2016 # awk's
	net_exec "$1" awk '$1 == "Udp:" { n = $8 } END { print n }' /proc/net/snmp
}

is()
{
	# shellcheck disable=SC2319
	echo "$*: $(($*))"
	[ $(($*)) -ne 0 ]
}

splat_found()
{
	! echo "[ 1.0] BUG: made up" | "$TOP/vm/splats"
}

check "the kernel is the one that the module is built for" \
	test "$(uname -r)" = "$("$TOP/vm/kernels" release "${KERNEL:-stock}")"
check_not "the host's root is out of reach" mount -o remount,rw /host
check "a splat is recognised" splat_found

start_hosts 4
check "hosts reach each other over IPv4" net_exec 0 ping -q -c 3 -i 0.1 -W 5 10.77.0.4
check "hosts reach each other over IPv6" net_exec 3 ping -q -c 3 -i 0.1 -W 5 fd77::1

# --- bursts -------------------------------------------------------------
udp 0 1 20 40 gro
check "IPv4 GSO bursts arrive whole" is "datagrams == 800 && reads == 20 && bad == 0"
udp_address=net_ip6 udp 0 1 20 40 gro
check "IPv6 GSO bursts arrive whole" is "datagrams == 800 && reads == 20 && bad == 0"
net_offload gro
udp 0 1 20 40 gro
check "with offload gro, single datagrams are merged by the receiver" \
	is "datagrams == 800 && reads >= 20 && reads < 200 && bad == 0"
net_offload off
udp 0 1 20 40 gro
check "with offload off, single datagrams arrive" \
	is "datagrams == 800 && reads == 800 && bad == 0"

# --- bytes --------------------------------------------------------------
read -r _ rx < <(net_bytes 2)
sleep 1
udp 1 2 10 40
read -r _ rx_after < <(net_bytes 2)
check "an interface counts the test's bytes and no others" \
	is "$rx_after - $rx == 400 * (1000 + 42)"

# --- impairments: bounds of five standard deviations --------------------
net_loss 10
udp 0 1 50 40
check "net_loss drops its share of datagrams" \
	is "datagrams > 1800 - 68 && datagrams < 1800 + 68"
check "net_loss drops single datagrams" is "part > 40"
check "the switch counts what it dropped" is "$(net_dropped) == 2000 - datagrams"
net_offload gro
net_loss 10
udp 0 1 50 40 gro
check "net_loss works with offload gro" \
	is "datagrams > 1800 - 68 && datagrams < 1800 + 68 && part > 40"
net_burst_loss 20
udp 0 1 200 4
check "net_burst_loss drops its share of bursts" is "lost > 40 - 29 && lost < 40 + 29"
check "net_burst_loss drops bursts whole" is "part == 0"
net_offload off
net_dup 10
udp 0 1 50 40
check "net_dup copies its share" is "datagrams - copies == 2000 && copies > 132 && copies < 268"
net_reorder 10
udp 0 1 50 40
check "net_reorder makes datagrams late, and loses none" is "datagrams == 2000 && late > 500"
net_corrupt 10
udp 0 1 50 40
check "net_corrupt loses its share to checksums" \
	is "bad == 0 && datagrams > 1800 - 68 && datagrams < 1800 + 68"
check "and the receiver has counted them" is "$(checksum_errors 1) > 100"
net_clear
udp 0 1 10 40
check "net_clear ends it" is "datagrams == 400 && bad == 0"

net_down
check "net_down leaves no namespace" test -z "$(ip netns list)"
