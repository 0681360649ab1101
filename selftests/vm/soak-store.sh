# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Settings of the soak whose group has a store, or a copy of one on every host;
# to be sourced by soak.sh.
#
#   store_setting     a sync mode with a store, for the layout that there is
#   copies_setting    one with copies; needs hosts with one rank each
#                     Both set $sync and $lane_type, and $shards if it takes just one
#   store_none, store_trainer, store_agent, store_group
#                     as of soak.sh. All reads are checked by store.c; that
#                     replicas are whole, and their mean, by gossip.c.

# shellcheck disable=SC2034,SC2154 # of lib.sh, ranks.sh and soak.sh, or for them

# a read may lack so many clocks of others; -1: any number
bound=-1

store_setting()
{
	local low s

	lane_type=$(pick int32 int64)
	s=$(pick 0 0 1 2 5) low=$(pick 0 1 2)
	case $(pick asp ssp ssp dssp literal turns patience) in
	asp)		sync=asp bound=-1 ;;
	ssp)		sync=ssp:$s bound=$s ;;
	dssp)		sync=dssp:$low:$((low + s)) bound=$((low + s)) ;;
	literal)	sync=dssp-literal:$low:$((low + s)) bound=-1 ;;
	# who is never passed over lacks one update of each
	turns)		sync=r2sp:$(pick 0 80):0 bound=1 ;;
	patience)	sync=r2sp:$(pick 0 80):$(pick 1 100) bound=-1 ;;
	esac
}

copies_setting()
{
	local late parts tau

	lane_type=$(pick int32 int64)
	late=$(pick 0 1 3) parts=$(pick 1 2 3) tau=$(pick 1 2 4)
	case $(pick ako ako pull push pair sum) in
	ako)	sync=ako:$parts:$late bound=$((2 * parts + late - 1)) ;;
	pull)	sync=gossip-pull:$tau ;;
	push)	sync=gossip-push:$tau:$late ;;
	pair)	sync=gossip-pair:$tau ;;
	sum)	sync=push-sum:$tau ;;
	esac
	case $sync in
	gossip-pu*|push-sum*)	shards=1 ;;
	esac
}

# store_start PAUSE...: PAUSE is in microseconds, one of them for each rank. Sets $steps
store_start()
{
	local r script pauses=()

	# as many clocks as fit into the smallest ring
	case $sync in
	gossip*|push-sum*)
		steps=$((4 + RANDOM % 20))
		script=(gossip "$steps")
		;;
	*)
		steps=$((5 + RANDOM % 5))
		script=(store "$steps $bound")
		;;
	esac
	for ((r = 0; r < ranks; r++)); do
		pauses+=("$(pick "$@")")
	done
	say "  ${script[*]}, pauses: ${pauses[*]}"
	start_paused "${script[@]}" "${pauses[@]}"
}

# all succeed
store_wait()
{
	ranks_wait && clocks=$((clocks + ranks * steps))
}

store_none()
{
	store_start 0 0 1000 20000
	store_wait
}

is_running()
{
	ctl 0 group show g | grep -q running
}

# everybody works, and takes long, until something happens
store_start_long()
{
	store_start 1000000
	wait_until 120 is_running || return
	sleep "$(pick 0 0.1 0.5)"
}

# all_say PATTERN [RANK]: all but that rank have failed, and say why
all_say()
{
	local r status=0

	for ((r = 0; r < ranks; r++)); do
		[ "$r" -ne "${2:-$ranks}" ] || continue
		! rank_wait "$r" || {
			echo "rank $r does not fail"
			status=1
		}
		rank_says "$r" "$1" || status=1
	done
	return $status
}

store_trainer()
{
	local r=$((RANDOM % ranks))

	store_start_long && rank_kill "$r" || return
	all_say "rank $r died" "$r" || return
	rank_wait "$r"
	true
}

store_agent()
{
	store_start_long || return
	pkill -KILL -x gaggd
	store_wait && agents
}

store_group()
{
	local h=$((RANDOM % (ranks / per_host))) r

	store_start_long && ctl "$h" group delete g || return
	all_say "the group was deleted" || return
	net_clear
	for ((r = 0; r < hosts; r++)); do
		[ "$r" -eq "$h" ] || ctl "$r" group delete g || return
	done
	group_up "${group[@]}"
}
