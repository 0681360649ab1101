#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What gagg-twin says where it cannot have a group: in words that tell what to do.

# shellcheck disable=SC2317 # check calls them
cd "$(dirname "$0")/../.." || exit 1
# without the capability to bind any port, as an ordinary user
if [ -z "${inside:-}" ]; then
	exec unshare --map-root-user --net env inside=1 setpriv \
		--bounding-set=-net_bind_service "$0"
fi
# shellcheck source=selftests/tap.sh
. selftests/tap.sh
tmp=$(mktemp -d)
# shellcheck disable=SC2046 # words
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$tmp"' EXIT

# config PORT ADDRESS
config()
{
	echo "group g { port = $1 member 0 { address = \"$2\" } }" >"$tmp/gagg.conf"
}

# says WORDS OPTION...: on its error output, and it ends
says()
{
	local words=$1 status=0
	shift

	timeout 20 build/gagg-twin --config "$tmp/gagg.conf" --socket "$tmp/sock" "$@" \
		2>"$tmp/log" || status=$?
	cat "$tmp/log"
	[ "$status" -eq 1 ] && grep -qF "$words" "$tmp/log"
}

other_address()
{
	config 7440 192.0.2.1
	says 'UDP port 7440: the local address is not an address of this host' --local 192.0.2.1
}

no_group()
{
	config 7440 192.0.2.1
	says 'this host is in no group: no member has its address, which is 127.0.0.1'
}

low_port()
{
	config 811 127.0.0.1
	says 'UDP port 811: CAP_NET_BIND_SERVICE is required below'
}

taken()
{
	config 7440 127.0.0.1
	build/gagg-twin --config "$tmp/gagg.conf" --socket "$tmp/first" 2>"$tmp/first.log" &
	for ((i = 0; i < 100; i++)); do
		[ ! -S "$tmp/first" ] || break
		sleep 0.1
	done
	says 'UDP port 7440: in use by the module or another program'
}

ip link set lo up
echo "1..4"
check "an address of another host" other_address
check "no member has an address of this host, which are named" no_group
check "a port that requires a capability" low_port
check "a port that another has" taken
exit $bad
