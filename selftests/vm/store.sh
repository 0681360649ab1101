# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Programs that are one rank each, of groups with a store above all; to be sourced after
# ranks.sh.
#
#   store_run BOUND [PAUSE...]  store.c on all ranks, with these pauses, the last
#                               repeated; with $hits, if it is set
#   breaks_bound PATTERN BOUND [PAUSE...]
#                               that fails, and says so
#   late_run CLOCKS             late.c on all ranks
#   gossip_start [PAUSE...]     gossip.c on all ranks; ranks_wait waits for them
#   replica_run STEPS [PAUSE...]
#                               replica.c on all ranks
#   elastic_run [PAUSE...]      elastic.c on all ranks

# shellcheck disable=SC2034,SC2154 # of lib.sh and ranks.sh, or for them
hits=
# clocks of a run; what holds in few of them holds in many
CLOCKS=12
! slow_kernel || CLOCKS=6
# what keeps a rank behind all others
SLOW=100000

# start_paused PROGRAM "ARGUMENT..." [PAUSE...]: by gaggd with $rank_socket, and by a twin
# where there is one
start_paused()
{
	local program=$TOP/build/selftests/vm/$1 r host socket pause=0 args
	read -ra args <<<"$2"
	shift 2

	for ((r = 0; r < ranks; r++)); do
		pause=${1:-$pause}
		[ $# -eq 0 ] || shift
		host=$((r / per_host))
		socket=${rank_socket:-}${twin_pid[host]:-}
		GAGG_SOCKET=${socket:+/run/gagg/h$host.sock} net_exec "$host" "$program" g \
			"$r" "${args[@]}" "$pause" ${hits:+"$hits"} >"$tmp/rank.$r" 2>&1 &
		rank_pid[r]=$!
	done
}

store_run()
{
	start_paused store "$CLOCKS $1" "${@:2}"
	ranks_wait
}

breaks_bound()
{
	! store_run "${@:2}" >"$tmp/run" 2>&1 && grep -E -- "$1" "$tmp/run"
}

late_run()
{
	start_paused late "$1"
	ranks_wait
}

gossip_start()
{
	start_paused gossip $((2 * CLOCKS)) "$@"
}

replica_run()
{
	start_paused replica "$1" "${@:2}"
	ranks_wait
}

elastic_run()
{
	start_paused elastic "$CLOCKS" "$@"
	ranks_wait
}
