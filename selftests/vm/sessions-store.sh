# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Settings whose group has another sync mode than bsp, and their sessions; to be sourced
# by sessions.sh.
#
#   store_setting     a sync mode with a store, for the layout that there is
#   copies_setting    one with copies; needs hosts with one rank each
#   quorum_setting    one with rounds that need not wait for all
#   replicas_setting  one with replicas, in rounds, or with a centre in a store
#                     They set $sync and $lane_type, and $shards if it takes just one
#   store_none, store_trainer, store_agent, store_group
#                     as of sessions.sh. All reads are checked by store.c; what
#                     elastic averaging keeps, by elastic.c; that replicas are
#                     whole, and their mean, by gossip.c; where each update is, by
#                     replica.c; and sums of those who were in time, by quorum.c.

# shellcheck disable=SC2034,SC2154 # of lib.sh, ranks.sh and sessions.sh, or for them

# a read may lack so many clocks of others; -1: any number
bound=-1
# steps more
idle=0
# longer than anything is waited for, with a second each
FOR_EVER=600

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

quorum_setting()
{
	local k carry

	k=$(pick 1 $(((ranks + 1) / 2)) $((ranks - 1)) "$ranks") carry=$(pick 0 1)
	case $(pick quorum deadline adaptive) in
	quorum)		sync=bsp-quorum:$k:$carry ;;
	deadline)	sync=bsp-deadline:$k:$(pick 1 5 20):$carry ;;
	adaptive)	sync=bsp-adaptive:$k:$(pick 0 3 300):$carry ;;
	esac
}

replicas_setting()
{
	local tau

	tau=$(pick 1 2 4)
	case $(pick mean elastic centre behind) in
	mean)		sync=localsgd:$tau ;;
	elastic)	sync=easgd-sync:$tau:$(pick 20 90 100) ;;
	# of all ranks together, as above
	centre)		sync=easgd:$tau:$(($(pick 30 90) / ranks))
			lane_type=$(pick int32 int64) ;;
	behind)		sync=hpsgd:$tau ;;
	esac
}

# of each rank as many; without CARRY all in a chunk
quorum_elements()
{
	local most=3000

	[ "${sync##*:}" -eq 1 ] || most=$((344 / ranks))
	echo $((ranks * (1 + $(roll "$most"))))
}

# store_start PAUSE...: PAUSE is in microseconds, one of them for each rank. Sets $steps
store_start()
{
	local r script pauses=()

	# as many clocks as fit into the smallest ring
	case $sync in
	gossip*|push-sum*)
		steps=$((4 + $(roll 20)))
		script=(gossip $((steps + idle)))
		;;
	localsgd*|easgd*|hpsgd*)
		steps=$((5 + $(roll 10)))
		script=(replica "$steps+$idle")
		;;
	# one of them is late, to every fourth
	bsp-*)
		steps=$((20 + $(roll 20)))
		script=(quorum "$(quorum_elements) $((steps + idle)) $(roll "$ranks")")
		;;
	*)
		steps=$((5 + $(roll 5)))
		script=(store "$steps+$idle $bound")
		[ "$sync $(pick store elastic)" != "asp elastic" ] ||
			script=(elastic $((steps + idle)))
		;;
	esac
	for ((r = 0; r < ranks; r++)); do
		pauses+=("$(pick "$@")")
	done
	say "  ${script[*]}, pauses: ${pauses[*]}"
	start_paused "${script[@]}" "${pauses[@]}"
}

# all succeed, as of ranks_well
store_wait()
{
	ranks_well && clocks=$((clocks + ranks * steps))
}

store_none()
{
	store_start "${paces[@]}"
	store_wait
}

# [STEPS]: everybody works, and takes long, until something happens
store_start_long()
{
	local idle=${1:-0}

	store_start 1000000
	wait_until 120 is_running || [ -n "$rough" ] || return
	sleep "$(pick 0 0.1 0.5)"
}

# all_say PATTERN [RANK]: all but that rank have failed, and say why; on a rough network,
# name someone
all_say()
{
	local r status=0

	for ((r = 0; r < ranks; r++)); do
		[ "$r" -ne "${2:-$ranks}" ] || continue
		! rank_wait "$r" || {
			echo "rank $r does not fail"
			status=1
		}
		if [ -n "$rough" ]; then
			names_someone "$r" || status=1
		else
			rank_says "$r" "$1" || status=1
		fi
	done
	return $status
}

store_trainer()
{
	local r

	r=$(roll "$ranks")
	store_start_long $FOR_EVER || return
	# it may have failed already
	rank_kill "$r" || [ -n "$rough" ] || return
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
	local h

	h=$(roll $((ranks / per_host)))
	store_start_long $FOR_EVER && ctl "$h" group delete g || return
	all_say "the group was deleted" || return
	impair_none
	others_deleted "$h" && group_up "${group[@]}"
}
