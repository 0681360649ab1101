#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
#
# Jobs whose ranks make their own group, as an ordinary user has them: on one host, and on several,
# which are network namespaces. gagg_job.h

# shellcheck disable=SC2317,SC2034,SC2016 # check calls them; by their names; eval's
cd "$(dirname "$0")/../.." || exit 1
[ -n "${inside:-}" ] || exec unshare --map-root-user --net --mount --pid --fork env inside=1 "$0"
mount -t tmpfs none /run && mount -t proc proc /proc || exit 1
# shellcheck source=selftests/tap.sh
. selftests/tap.sh
tmp=$(mktemp -d /run/job.XXXXXX)
# shellcheck source=selftests/docs/blocks.sh
. selftests/docs/blocks.sh
# shellcheck source=vm/net.sh
. vm/net.sh
unset GAGG_SOCKET GAGG_ADDRESS GAGG_PORTS GAGG_SOCKET_IFNAME
export XDG_RUNTIME_DIR=$tmp/user
mkdir "$XDG_RUNTIME_DIR"
export GAGG_TWIN=$PWD/build/gagg-twin
# /proc of a namespace names its processes alone
trap 'kill $(jobs -p) 2>/dev/null' EXIT
net_up 4 1500 >/dev/null 2>&1 || exit 1
ip link set lo up
jobs=0

# begin HOSTS [WHAT [MS]]: a rank on each of HOSTS, "-": this one. $id is its id; $env_R is the
# environment of rank R
begin()
{
	local r=0 host hosts=$1
	shift

	jobs=$((jobs + 1))
	folder=$tmp/$jobs
	mkdir -p "$folder"/{0..19}
	pids=()
	for host in $hosts; do
		rank_begin "$r" "$host" "${ranks:-$(wc -w <<<"$hosts")}" "$@"
		r=$((r + 1))
	done
}

# rank_begin R HOST RANKS [WHAT [MS]]
rank_begin()
{
	local r=$1 host=$2 env=env_$1 in=()
	[ "$host" = - ] || in=(ip netns exec "h$host")

	# shellcheck disable=SC2086 # words
	"${in[@]}" env ${!env:-} build/selftests/vm/job "$folder" "${id:-$folder}" "${@:3:1}" "$r" "${@:4}" \
		>"$folder/said.$r" 2>&1 &
	pids[r]=$!
}

# all ranks end, with status $1
ends()
{
	local r status=0 got

	for r in "${!pids[@]}"; do
		got=0
		wait "${pids[r]}" || got=$?
		[ "$got" -eq "$1" ] || status=1
	done
	cat "$folder"/said.?*
	return "$status"
}

# RANKS: all have the mean of so many
means()
{
	local x
	x=$(awk -v n="$1" 'BEGIN { print (n + 1) / 2 }')

	ends 0 && [ "$(cat "$folder"/said.?* | grep -c "of $1: x\[1\] is $x, x\[19999\] is $(awk -v x="$x" \
		'BEGIN { print 7 * x }')$")" -eq "$1" ]
}

runs()
{
	begin "$1" && means "$(wc -w <<<"$1")"
}

# seconds in which nothing may be left: a gagg-twin looks each second whether there is a rank
nothing_is_left()
{
	local i

	for ((i = 0; i < 600; i++)); do
		if ! pgrep -x gagg-twin >"$tmp/left" && ! compgen -G "$XDG_RUNTIME_DIR/*" >>"$tmp/left"; then
			return 0
		fi
		sleep 0.1
	done
	cat "$tmp/left"
	return 1
}

# all ranks of the job say $1
says()
{
	ends 1 && [ "$(cat "$folder"/said.?* | grep -c "$1")" -eq ${#pids[@]} ]
}

twins()
{
	pgrep -cx gagg-twin
}

one_twin_a_host()
{
	nothing_is_left || return
	begin "0 1 0 1" wait
	await 3
	echo "$(twins) twins"
	[ "$(twins)" -eq 2 ] || return
	kill -TERM "$(pgrep -f "job $folder .* 3 wait$")"
	wait "${pids[@]:0:3}"
	cat "$folder"/said.?*
	[ "$(cat "$folder"/said.[012] | grep -c "failed: rank 3 died")" -eq 3 ]
}

# rank R of the job is ready
await()
{
	local i

	for ((i = 0; i < 600; i++)); do
		! grep -q "is ready" "$folder/said.$1" || return 0
		sleep 0.1
	done
}

killed()
{
	begin "0 1 2" wait
	await 2
	pkill -KILL -f "job $folder"
	wait "${pids[@]}" 2>/dev/null
	nothing_is_left
}

# host 0's gagg-twin is there, and no rank has asked it: that of host 1 is something else, for ever
killed_early()
{
	local i

	printf '#!/bin/sh\nexec sleep 1000\n' >"$tmp/sleeper"
	chmod +x "$tmp/sleeper"
	mkdir "$tmp/user1"
	env_1="GAGG_TWIN=$tmp/sleeper XDG_RUNTIME_DIR=$tmp/user1"
	begin "0 1"
	unset env_1
	for ((i = 0; i < 600; i++)); do
		! compgen -G "$XDG_RUNTIME_DIR/*/sock" || break
		sleep 0.1
	done
	[ "$i" -lt 600 ] || return
	pkill -KILL -f "job $folder"
	wait "${pids[@]}" 2>/dev/null
	pkill -KILL -x sleep
	nothing_is_left
}

beside()
{
	local first=() saved

	begin "0 1 2 3" again
	first=("${pids[@]}") saved=$folder
	begin "0 0 1 1" again
	ends 0 || return
	pids=("${first[@]}") folder=$saved
	ends 0 && [ "$(cat "$tmp/$jobs"/said.?* "$saved"/said.?* | grep -c "of 4: x\[1\] is 2.5, ")" -eq 160 ]
}

# all ports but one are in use on one host or the other
a_port_in_use()
{
	local i users=()

	for i in 0 1; do
		ip netns exec "h$i" python3 - "$i" <<-'END' &
			import socket, sys, time
			held = []
			for port in range(20000, 20004):
			    if port % 2 == int(sys.argv[1]) and port != 20003:
			        held.append(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))
			        held[-1].bind(("0.0.0.0", port))
			open(f"/run/held.{sys.argv[1]}", "w")
			time.sleep(1000)
		END
		users+=($!)
	done
	until [ -e /run/held.0 ] && [ -e /run/held.1 ]; do
		kill -0 "${users[@]}" || return
		sleep 0.1
	done
	env_0=GAGG_PORTS=20000-20003 env_1=GAGG_PORTS=20000-20003
	begin "0 1"
	means 2 || {
		unset env_0 env_1
		return 1
	}
	env_0=GAGG_PORTS=20000-20002 env_1=GAGG_PORTS=20000-20002
	begin "0 1"
	says 'failed: job .*: 3 UDP ports of 20000-20002 are in use'
	set -- $?
	unset env_0 env_1
	kill "${users[@]}"
	return "$1"
}

# with env_1=$1, rank 1 of two hosts has something that all say: $2
is_told()
{
	env_1=$1
	begin "0 1"
	says "$2"
	set -- $?
	unset env_1
	return "$1"
}

wrong_size()
{
	begin "0"
	rank_begin 1 1 2
	wait "${pids[@]}"
	cat "$folder"/said.?*
	grep "has 1 ranks on rank 0, 2 here" "$folder/said.1"
}

wrong_job()
{
	begin ""
	id=one rank_begin 0 0 2
	id=two rank_begin 1 1 2
	ends 1 && grep 'failed: rank 1 is of job "two", this one of job "one"' "$folder/said.0" &&
		grep 'failed: rank 0 is of job "one", this one of job "two"' "$folder/said.1"
}

a_rank_that_never_comes()
{
	ranks=3
	begin "0 1" mean 1000
	unset ranks
	says "ranks do not find each other: its all-gather returned -110"
}

bad_arguments()
{
	begin ""
	rank_begin 0 - 65
	rank_begin 1 - 1
	id=$(printf %0128d 1) rank_begin 2 - 3
	ends 1 && grep "a job has 1 to 64 ranks, not 65" "$folder/said.0" &&
		grep "rank 1 of a job of 1 ranks: ranks are counted from 0" "$folder/said.1" &&
		grep "a job's id has 1 to 127 bytes" "$folder/said.2"
}

# the program of Documentation/trainers.md, with its commands
of_the_page()
{
	local page=Documentation/trainers.md

	block "$page" c 1 >"$tmp/job.c" && block "$page" sh 1 | sed "s|\$(pkg-config .*)|\
		-Wall -Werror -I$PWD/agent/lib $PWD/build/libgagg.a -pthread|" >"$tmp/commands" &&
		(cd "$tmp" && bash -e ./commands) >"$tmp/six"
	cat "$tmp/six"
	[ "$(grep -cx 6 "$tmp/six")" -eq 4 ]
}

echo "1..23"
check "four ranks on one host" runs "- - - -"
check "the program of the page" of_the_page
check "one rank" runs "-"
check "four hosts" runs "0 1 2 3"
check "four hosts with two ranks each, in any order" runs "3 0 1 2 0 1 2 3"
check "towards the address where ranks meet" eval 'RENDEZVOUS=$(net_ip4 0) && export RENDEZVOUS &&
	runs "0 1 2" && unset RENDEZVOUS'
check "a gagg-twin on each host, and who dies is named" one_twin_a_host
check "nothing is left of a job" nothing_is_left
check "nor of one that was killed" killed
check "nor of one that was killed while ranks waited for others" killed_early
check "two jobs beside each other on the same hosts, 20 times" beside
check "a port that one of the hosts has in use" a_port_in_use
check "no gagg-twin on a host" is_told GAGG_TWIN=/nonexistent \
	"no gagg-twin on the host of rank 1: /nonexistent: No such file or directory; GAGG_TWIN may say"
check "a gagg-twin that ends" is_told GAGG_TWIN=false \
	"no gagg-twin on the host of rank 1: false has ended, with status 1"
check "an address that is none" is_told GAGG_ADDRESS=host1 \
	"rank 1 cannot take part: GAGG_ADDRESS=host1 is no address in digits"
check "one that others do not reach" is_told GAGG_ADDRESS=127.0.0.1 \
	"rank 1 has address 127.0.0.1: set GAGG_ADDRESS"
check "one that the host does not have" is_told GAGG_ADDRESS=10.99.99.99 \
	"no gagg-twin on the host of rank 1: 10.99.99.99, UDP port [0-9]*: Cannot assign requested address"
check "no such interface" is_told GAGG_SOCKET_IFNAME=ib,=eth \
	"rank 1 cannot take part: GAGG_SOCKET_IFNAME=ib,=eth: no interface of that name"
check "ports that are none" is_told GAGG_PORTS=7-5 "rank 1 cannot take part: GAGG_PORTS=7-5 is not FIRST-LAST"
check "17 ranks on a host" eval 'begin "$(printf "%.0s0 " {1..17})" &&
	says "17 ranks are on the host of rank 0; a host has room for 16"'
check "another size, another job" eval 'wrong_size && wrong_job'
check "a rank that never comes" a_rank_that_never_comes
check "bad arguments" bad_arguments
exit $bad
