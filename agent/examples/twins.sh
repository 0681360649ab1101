#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Hosts on the loopback of this machine, each with its gagg-twin and one rank. Neither root
# nor a namespace is required.
#
#   agent/examples/twins.sh N GROUP COMMAND [ARGUMENT...]
#
# runs COMMAND on each of N hosts, with GAGG_SOCKET; it joins GROUP. Or to be sourced, with
# a folder $out:
#
#   twins_begin N GROUP [OPTION=VALUE...]    options as of gagg.conf(5)
#   on I COMMAND...     on host I
#   twins_count         their counters, as JSON, come to $out/stats.I
#   twins_end

twins=()
twins_bin=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)/build

twins_die()
{
	echo "twins: $*" >&2
	exit 1
}

# a UDP port that nobody has, below those that the kernel gives out
free_port()
{
	local port

	for ((port = 7440; port < 32768; port++)); do
		if ! grep -qi ":$(printf %04X "$port") " /proc/net/udp; then
			echo "$port"
			return
		fi
	done
}

# twins_config N GROUP [OPTION=VALUE...]
twins_config()
{
	local i option

	echo "group $2 {"
	echo "	port = $(free_port)"
	echo "	uid = $(id -u)"
	for option in "${@:3}"; do
		echo "	$option"
	done
	for ((i = 0; i < $1; i++)); do
		echo "	member $i { address = \"127.0.0.$((i + 1))\" }"
	done
	echo "}"
}

twins_begin()
{
	local i

	twins_config "$@" >"$out/gagg.conf"
	for ((i = 0; i < $1; i++)); do
		"$twins_bin/gagg-twin" --config "$out/gagg.conf" --local "127.0.0.$((i + 1))" \
			--socket "$out/$i.sock" >"$out/stats.$i" 2>"$out/log.$i" &
		twins+=($!)
	done
	for i in "${!twins[@]}"; do
		until [ -S "$out/$i.sock" ]; do
			twin_lives "$i"
			sleep 0.05
		done
	done
}

twin_lives()
{
	kill -0 "${twins[$1]}" 2>/dev/null && return
	cat "$out/log.$1" >&2
	twins_die "gagg-twin of host $1 has ended"
}

on()
{
	GAGG_SOCKET=$out/$1.sock "${@:2}"
}

twins_count()
{
	local i

	kill -USR1 "${twins[@]}"
	for i in "${!twins[@]}"; do
		until grep -q . "$out/stats.$i"; do
			twin_lives "$i"
			sleep 0.05
		done
	done
}

twins_end()
{
	[ ${#twins[@]} -eq 0 ] || kill "${twins[@]}" 2>/dev/null || true
	wait
}

twins_run()
{
	local hosts=$1 i pids=() status=0

	out=$(mktemp -d)
	trap 'twins_end; rm -rf "$out"' EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM
	twins_begin "$hosts" "$2"
	shift 2
	for ((i = 0; i < hosts; i++)); do
		on "$i" "$@" &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || status=1
	done
	return $status
}

if [ "${BASH_SOURCE[0]}" = "$0" ]; then
	if [ $# -lt 3 ] || ! [ "$1" -ge 1 ] || [ "$1" -gt 64 ]; then
		sed -n '4,10s/^# \{0,1\}//p' "$0" >&2
		exit 2
	fi
	twins_run "$@"
fi
