# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Links of a rate between the hosts. To be sourced after systems.sh.
#
#   links RATE    such as 1gbit, both ways, on the hosts of systems_up
#   links_clear   as fast as they can

# links RATE: both ways
# shellcheck disable=SC2154 # of systems.sh
links()
{
	local i

	net_rate "$1" || return
	for ((i = 0; i < systems_n; i++)); do
		net_exec "$i" tc qdisc replace dev eth0 root tbf rate "$1" burst 256kb limit 8mb ||
			return
	done
}

links_clear()
{
	local i

	for ((i = 0; i < systems_n; i++)); do
		net_exec "$i" tc qdisc del dev eth0 root 2>/dev/null
	done
	net_clear
}
