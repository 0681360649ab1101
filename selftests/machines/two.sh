#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
#
# Two guests, each with a kernel of its own, joined by a wire: virtio-net at MTU
# 1500, what one card sends the other receives datagram by datagram, and GRO is
# the kernel's. They all-reduce, without loss and with it.
#
#   two.sh               both guests
#   two.sh guest I       in the guest: what host I does

# shellcheck disable=SC2317 # functions are called by check
set -u
TOP=$(cd "$(dirname "$0")/../.." && pwd)
PATH=$TOP/build:$PATH
rounds=3
# what both do in each round; sums are checked against an integer reference
script=(allreduce:int32:sum:1000000 allreduce:float32:sum:100000 reduce_scatter:int32:sum:50001
	allgather:20001 broadcast:300001:1 barrier)

ip_of()
{
	echo "10.78.0.$(($1 + 1))"
}

count()
{
	gaggctl stats g | awk -v name="$1" '$1 == name { print $2 }'
}

guest()
{
	local me=$1 events=/sys/kernel/tracing/events/net/netif_receive_skb status=0 i

	if [ ! -d /sys/class/net/eth0 ]; then
		modprobe virtio_net || return
	fi
	ip link set eth0 mtu 1500 up
	ip addr add "$(ip_of "$me")/24" dev eth0
	insmod "$TOP/build/kmod/$(uname -r)/gagg.ko" || return
	gaggctl group create g local "$(ip_of "$me")" dead-after 60000 \
		member 0="$(ip_of 0)" member 1="$(ip_of 1)" || return
	# longer than any frame: GRO has merged
	echo "len > 2000" >$events/filter && echo 1 >$events/enable
	"$TOP/build/selftests/vm/rank" --seed "$seed" --timeout 300000 --repeat $rounds \
		g "$me" "${script[@]}" >/out/clean || status=$?
	echo 0 >$events/enable
	grep -c netif_receive_skb: /sys/kernel/tracing/trace >/out/merged
	count retransmits >/out/again
	tc qdisc add dev eth0 root netem loss 5% || return
	"$TOP/build/selftests/vm/rank" --seed "$seed" --timeout 300000 --repeat $rounds \
		g "$me" "${script[@]}" >/out/lossy || status=$?
	echo $(($(count retransmits) + $(count repairs))) >/out/repaired
	tc qdisc del dev eth0 root
	# the other one may still need us
	sleep 3
	for ((i = 0; i < 60; i++)); do
		gaggctl member list g | grep "^$((1 - me))=" | grep -q "attached\|running" || break
		sleep 1
	done
	gaggctl group delete g && rmmod gagg && return $status
}

if [ "${1:-}" = guest ]; then
	seed=${SEED:-1}
	guest "$2"
	exit
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'kill $(jobs -p); wait; exit 143' TERM INT HUP
seed=${SEED:-$RANDOM}
echo "# seed $seed"
echo "1..7"
tmp=$work
# shellcheck source=selftests/tap.sh
. "$TOP/selftests/tap.sh"

start()
{
	local me=$1 wire=$2

	mkdir "$work/$me"
	"$TOP/vm/run" --kernel "${KERNEL:-stock}" --timeout 840 --mem 1500M --cpus 1 \
		--out "$work/$me" --nic "$wire" --mac "52:54:00:78:00:0$me" -- \
		env SEED="$seed" "$TOP/selftests/machines/two.sh" guest "$me" \
		>"$work/log.$me" 2>&1 &
	pid[me]=$!
}

ends_well()
{
	wait "${pid[$1]}" && return
	echo "exit status $?"
	tail -n 30 "$work/log.$1" "$work/$1"/{clean,lossy}
	return 1
}

# both have done everything, with the same results
same()
{
	local me

	for me in 0 1; do
		sed -n 's/^rank [01] op \([0-9]* [^ ]*\) ok digest \([0-9a-f]*\) .*/\1 \2/p' \
			"$work/$me/$1" | grep -E "allreduce|allgather|broadcast" >"$work/digests.$me"
	done
	[ "$(wc -l <"$work/digests.0")" -eq $((4 * rounds)) ] || {
		echo "not all operations were done"
		return 1
	}
	diff "$work/digests.0" "$work/digests.1"
}

above()
{
	echo "$2: $(cat "$work/$2")"
	[ "$(cat "$work/$2")" -gt "$1" ]
}

start 0 "stream,server=on,addr.type=unix,addr.path=$work/wire"
until [ -S "$work/wire" ] || ! kill -0 "${pid[0]}"; do
	sleep 0.1
done
start 1 "stream,server=off,addr.type=unix,addr.path=$work/wire"
check "guest 0: sums are exact, the kernel log is clean" ends_well 0
check "guest 1: sums are exact, the kernel log is clean" ends_well 1
check "the same results in both" same clean
check "and with 5 % of loss each way" same lossy
check "guest 0 received datagrams that GRO had merged" above 0 0/merged
check "guest 1 did, too" above 0 1/merged
check "what was lost was sent again" above 0 0/repaired
exit $bad
