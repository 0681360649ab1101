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

	timeout 60 build/gagg-twin --config "$tmp/gagg.conf" --socket "$tmp/sock" "$@" \
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
	for ((i = 0; i < 600; i++)); do
		[ ! -S "$tmp/first" ] || break
		sleep 0.1
	done
	says 'UDP port 7440: a UDP port of the range is in use: choose another base port'
}

# beside WORDS PORT PARAMETERS: said of a group with these beside one with ports 7460 to 7463
beside()
{
	echo "group g { port = 7460 shards = 4 member 0 { address = \"127.0.0.1\" } }
		group h { port = $2 $3 member 0 { address = \"127.0.0.1\" } }" >"$tmp/gagg.conf"
	says "group \"h\", beside \"g\": $1"
}

other_ports()
{
	beside 'another group uses these UDP ports with another base' 7462 'shards = 2' &&
		beside 'another group uses these UDP ports with another base' 7459 'shards = 2' &&
		beside 'another group uses these UDP ports with another base' 7460 'shards = 2'
}

# the id of a group without one follows from its name
same_id()
{
	beside 'another group on this address and port has the same id' 7460 \
		'shards = 4 id = 3488240469'
}

# with other ids, or other ports
fit_beside()
{
	cat >"$tmp/gagg.conf" <<-'END'
		group g { port = 7460 shards = 4 member 0 { address = "127.0.0.1" } }
		group h { port = 7460 shards = 4 member 0 { address = "127.0.0.1" } }
		group i { port = 7464 shards = 2 id = 3488240469 member 0 { address = "127.0.0.1" } }
	END
	build/gagg-twin --config "$tmp/gagg.conf" --socket "$tmp/beside" 2>"$tmp/beside.log" &
	for ((i = 0; i < 600; i++)); do
		[ ! -S "$tmp/beside" ] || break
		sleep 0.1
	done
	cat "$tmp/beside.log"
	[ -S "$tmp/beside" ]
}

ip link set lo up
echo "1..7"
check "an address of another host" other_address
check "no member has an address of this host, which are named" no_group
check "a port that requires a capability" low_port
check "a port that another has" taken
check "groups on one address with some ports in common" other_ports
check "groups on the same ports with the same id" same_id
check "but not groups that share all ports, or none" fit_beside
exit $bad
