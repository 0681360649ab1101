#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# kernels: uml
#
# A host that shares no code with gagg (selftests/peer, in Python) trains with three that run
# the module, and with three that run the twin.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
plan 16

counts=(1 344 345 5000 20000 20000)
settings=(ring 256 window 64 stripe 4 shards 2 dead-after 60000)

words()
{
	printf 'allreduce:int32:sum:%d\n' "${counts[@]}"
}

# shellcheck disable=SC2154 # of ranks.sh
peer_start()
{
	local i args=()

	for ((i = 0; i < hosts; i++)); do
		args+=(--member "$i=$(address "$i"),${members[2 * i + 1]}")
	done
	for ((i = 0; i < ${#settings[@]}; i += 2)); do
		args+=(--set "${settings[i]}=${settings[i + 1]}")
	done
	net_exec 3 python3 -B "$TOP/selftests/peer/peer.py" --rank 3 "${args[@]}" \
		${SEED:+--seed "$SEED"} "${counts[@]}" >"$tmp/peer" 2>&1 &
	peer=$!
}

peer_end()
{
	wait "$peer" || {
		cat "$tmp/peer"
		return 1
	}
}

peer_said()
{
	grep -q "$@" "$tmp/peer" || {
		cat "$tmp/peer"
		return 1
	}
}

# trains LABEL
trains()
{
	local r script

	mapfile -t script < <(words)
	for r in 0 1 2; do
		rank_start "$r" "${script[@]}"
	done
	peer_start
	check "$1: three ranks have their sums" ranks_wait
	check "$1: so has the peer" peer_end
	check "$1: of all operations" peer_said "op ${#counts[@]} .* ok"
}

layout 4
# Python begins slowly on a machine that has other work
rank_options=(--timeout 120000)
members=(0 both 1 both 2 both 3 worker)
net_ready 1500
# shellcheck disable=SC2119 # it has no parameters
module_load || bail "no module"
create_on "0 1 2" "${settings[@]}" || bail "no group"
trains "module"
net_impair loss 3%
trains "module, 3 % loss"
# of its 147 contributions all arrive in one of five million runs
net_impair loss 10% delay 3ms 2ms
net_exec 1 ip link set eth0 mtu 1400
trains "module, 10 % loss, reordering, MTU 1400 on a host"
net_exec 1 ip link set eth0 mtu 1500
# an IP and a UDP header of 28 bytes, 64 of gagg, and a multiple of 32
check "chunks have as many lanes as fit an MTU of 1400" peer_said "^epoch .* of 320 lanes"
check "it has repeated contributions" peer_said '^repeated [1-9]'
net_clear
settings+=(window 128)
rank_options=(--timeout 30000)
rank_start 0 barrier
peer_start
check_not "a peer with another window does not train" rank_wait 0
check "both know both values" eval '
	rank_says 0 "config-mismatch: window is 128 on the host of rank 3, 64 here" &&
	! peer_end && peer_said "another configuration: field 6 (64 there, 128 here)"'
settings=("${settings[@]:0:10}")
rank_options=(--timeout 120000)
for i in 0 1 2; do
	ctl "$i" group delete g
done

family=6
twin_conf "${settings[@]}"
twin_up 0 1 2 || bail "no twins"
net_impair loss 3%
trains "twin, IPv6, 3 % loss"
twin_down
