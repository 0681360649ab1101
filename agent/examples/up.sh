#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# On each of N hosts of vm/net.sh (made by net_up, module loaded): gaggd, and a
# group of all of them, host I being rank I.
#
#   up.sh N [GROUP [OPTION...]]     GROUP: demo; OPTION: of gaggctl group create
#
# Host I's gaggd is asked at /run/gagg/hI.sock and logs to /run/gagg/hI.log. The
# daemons end with net_down.

set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
# shellcheck source=vm/net.sh
. "$top/vm/net.sh"
hosts=${1:?how many hosts}
group=${2:-demo}

members=()
for ((i = 0; i < hosts; i++)); do
	members+=(member "$i=$(net_ip4 "$i")")
done

mkdir -p /run/gagg
for ((i = 0; i < hosts; i++)); do
	net_exec "$i" "$top/build/gaggd" --socket "/run/gagg/h$i.sock" \
		>"/run/gagg/h$i.log" 2>&1 &
	net_exec "$i" "$top/build/gaggctl" group create "$group" \
		local "$(net_ip4 "$i")" "${@:3}" "${members[@]}"
done

for ((i = 0; i < hosts; i++)); do
	tries=0
	until [ -S "/run/gagg/h$i.sock" ]; do
		if [ $((tries++)) -eq 600 ]; then
			echo "up: gaggd of host $i does not start:" >&2
			cat "/run/gagg/h$i.log" >&2
			exit 1
		fi
		sleep 0.1
	done
done
