# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Random groups, and what their trainers do and suffer; to be sourced after ranks.sh,
# store.sh and dice.sh.
#
# A setting is a net and a group on it, in some of them one with a store, with replicas
# or with rounds that need not wait for all (see sessions-store.sh). In each there are a
# few sessions: all ranks carry out a random script, on a random network, and something
# may happen to them:
#
#   none        all succeed, with the same results
#   trainer     SIGKILL: the others fail and name its rank
#   forked      the same, with a child that still holds its file
#   agent       SIGKILL of every gaggd: nobody notices
#   group       one host's group is deleted: all fail and say where
#   namespace   one host's namespace is deleted: all elsewhere fail
#   reload      rmmod is refused, and works when they have gone
#
# (other sync modes than bsp: none, trainer, agent, group.)
# Then the next session has to succeed.
#
#   setting_draw    chooses one; $dead_after is its dead-after, in ms
#   setting_up      makes it
#   setting_down    unless $ended says that it has ended already
#   session FAULT   one of these, or another function; session_fault prints one that the
#                   setting allows, out of $rounds_faults or $store_faults
#   report          what there was so far
#   failure WHAT    says what there is to say, and ends the test
#
# Who sources this has two functions: impair sets $network to a word and makes the network
# what it says; impair_none makes it what it was. And $rough, if the network may be such
# that a host is called silent: then whoever fails names some rank, and results are exact
# as always.
#
#   $every_rank     options of all trainers (rank.c)
#   $times          how often a script is carried out (1)
#   $think          milliseconds between two operations, one of these for each
#   $paces          microseconds between two steps in other sync modes, one for each rank

# shellcheck disable=SC2034,SC2154 # of lib.sh and ranks.sh, or for them
# shellcheck disable=SC2119 # digests_agree as it is
# shellcheck source=selftests/vm/sessions-store.sh
. "$(dirname "${BASH_SOURCE[0]}")/sessions-store.sh"
settings=0 sessions=0 operations=0 clocks=0
dead_after=60000 rough='' every_rank=() times=1 think=() paces=(0 0 1000 20000)
rounds_faults=(none none none trainer forked agent group namespace reload)
store_faults=(none none none trainer agent group)
declare -A faults
# enum gagg_reason
DIED=2 SILENT=3 DELETED=6
# how an error that names someone ends
NAMES='(rank [0-9]+ (died|has left)|host of rank [0-9]+.*) \(epoch [0-9]+ has ended\)'
# what a rank says that has waited in vain for another to join
ABSENT='time is over; not joined yet: rank [0-9]+'
# and one for whom chunks do not pass, which only an event of the weather called mtu does
CUT='(join code -8|init): the host of rank [0-9]+ is heard, but chunks do not pass'

operation()
{
	case $(pick sum order float scatter gather broadcast barrier split) in
	sum)		echo "allreduce:$(pick int32 int64):sum:$(length)" ;;
	order)		echo "allreduce:int32:$(pick min max):$(length)" ;;
	float)		echo "$(pick allreduce allreduce iallreduce):$(pick float32 float16 \
				bfloat16):$(pick sum mean):$(length 16)" ;;
	scatter)	echo "reduce_scatter:int32:sum:$(length 15)" ;;
	gather)		echo "allgather:$(length 16)" ;;
	broadcast)	echo "broadcast:$(length):$(roll "$ranks")" ;;
	barrier)	echo barrier ;;
	# a channel keeps its place until the epoch ends
	split)		echo "at:1:split:0 at:1:allreduce:int32:sum:$(length 12) at:1:free" ;;
	esac
}

new_script()
{
	local i

	script=("allreduce:int32:sum:$(length)")
	for ((i = $(roll 6) + 1; i > 0; i--)); do
		[ ${#think[@]} -eq 0 ] || script+=("@$(roll "$ranks"):sleep:$(pick "${think[@]}")")
		# shellcheck disable=SC2207 # words
		script+=($(operation))
	done
	script+=(wait)
	[ ${#think[@]} -eq 0 ] || script+=("sleep:$(pick "${think[@]}")")
}

# what was drawn is said, so that a failure can be read
say()
{
	echo "# $*"
}

setting_draw()
{
	local per lanes=344 shards stripe ring kind

	settings=$((settings + 1))
	rank_socket=$(pick '' yes)
	per=$(pick 1 1 2 3)
	kind=$(pick rounds rounds store copies quorum replicas)
	sync=bsp lane_type=int32
	[ "$kind" != copies ] || per=1
	mtu=$(pick 1500 1500 9000)
	[ "$mtu" = 1500 ] || lanes=2048
	family=$(pick 4 6)
	shards=$(pick 1 2 4)
	# gossip.c knows the mean of so many
	if [ "$kind" = copies ]; then
		layout "$(pick 2 3 4)"
	else
		layout "$(pick 2 2 3 4 5)" "$per" "$(pick all all one some dedicated)"
	fi
	[ "$kind" = rounds ] || "${kind}_setting"
	offload=$(pick on off gro)
	stripe=$(pick 1 2 8)
	ring=$(pick 256 1024)
	# as many chunks as it has to have at least
	[ "$ring" -ge $((2 * stripe * hosts * shards)) ] || ring=512
	# what store.c and gossip.c keep takes twice as many, replica.c has sums there
	[[ $lane_type = int32 && $sync != easgd:* ]] || ring=1024
	group=(ring "$ring" window "$(pick 64 128)" stripe "$stripe"
		lanes "$lanes" shards "$shards" sync "$sync"
		lane-type "$lane_type" dead-after "$dead_after")
	say "setting $settings: $hosts hosts of $per, MTU $mtu, offloads $offload, IPv$family," \
		"${group[*]}, ${members[*]}"
}

setting_up()
{
	ended=
	net_up "$hosts" "$mtu" && net_offload "$offload" && impair_none || return
	group_up "${group[@]}" || return
	mkdir -p /run/gagg
	agents
}

setting_down()
{
	pkill -KILL -x gaggd
	impair_none
	group_down
	net_down
}

all_attached()
{
	local r

	for r in "${!rank_pid[@]}"; do
		rank_says "$r" attached || return
	done
}

# everybody works, until something happens
start_for_ever()
{
	rank_options=("${every_rank[@]}" --repeat 0)
	ranks_start fail "$@"
	wait_until 120 all_attached || return
	sleep "$(pick 0 0.1 0.5 1)"
}

# names_someone R [NAMES]: rank R has failed, and says because of whom
names_someone()
{
	local wrong names="${2:-$NAMES}|$ABSENT"

	[[ ${events:-} != *" mtu "* ]] || names+="|$CUT"
	wrong=$(grep -E "FAILED" "$tmp/rank.$1" | grep -vE "$names")
	if [ -n "$wrong" ] || ! rank_says "$1" "$names"; then
		echo "rank $1 fails and names nobody: $wrong"
		tail -n 5 "$tmp/rank.$1"
		return 1
	fi
}

# all succeed; on a rough network, or fail and name someone
ranks_well()
{
	local r status=0

	[ -n "$rough" ] || {
		ranks_wait
		return
	}
	for r in "${!rank_pid[@]}"; do
		rank_wait "$r" || names_someone "$r" || status=1
	done
	return $status
}

# what they have of results is the same; there may be none
results_agree()
{
	digests_agree || { [ -n "$rough" ] && [ ! -s "$tmp/digests" ]; }
}

none()
{
	rank_options=("${every_rank[@]}" --repeat "$times")
	ranks_start "${script[@]}"
	ranks_well && results_agree
}

# all_name R [NAMES]: all others than rank R have failed, and say because of whom
all_name()
{
	local r status=0

	for ((r = 0; r < ranks; r++)); do
		[ "$r" -ne "$1" ] || continue
		rank_wait "$r"
		names_someone "$r" "${2:-}" || status=1
	done
	return $status
}

# all others have failed because of rank R, which died; on a rough network, of some rank
all_mourn()
{
	if [ -n "$rough" ]; then
		all_name "$1"
	else
		all_blame "$1" $DIED
	fi
}

trainer()
{
	local r

	r=$(roll "$ranks")
	[ "$ranks" -gt 1 ] || return 0
	start_for_ever "$@" "${script[@]}" || [ -n "$rough" ] || return
	rank_kill "$r"
	all_mourn "$r" || return
	rank_wait "$r"
	true
}

forked()
{
	trainer at:1:fork || return
	pkill -KILL -x rank
	true
}

agent()
{
	rank_options=("${every_rank[@]}" --repeat $((3 * times)))
	ranks_start "${script[@]}"
	wait_until 120 all_attached || [ -n "$rough" ] || return
	pkill -KILL -x gaggd
	ranks_well && results_agree && agents
}

# of_host H: their exit status does not matter
of_host()
{
	local r

	for ((r = $1 * per_host; r < ($1 + 1) * per_host && r < ranks; r++)); do
		rank_wait "$r"
	done
}

# all_tell REASONS [HOST]: all, but those on HOST, say one of them
all_tell()
{
	local r

	for ((r = 0; r < ranks; r++)); do
		[ $((r / per_host)) -ne "${2:-$hosts}" ] || continue
		if [ -n "$rough" ]; then
			names_someone "$r" || return
		else
			rank_says "$r" "reason ($1) rank [0-9]*" || return
		fi
	done
}

# others_deleted H: their groups
others_deleted()
{
	local i

	for ((i = 0; i < hosts; i++)); do
		[ "$i" -eq "$1" ] || ctl "$i" group delete g || return
	done
}

group()
{
	local h

	h=$(roll $((ranks / per_host)))
	start_for_ever "${script[@]}" || [ -n "$rough" ] || return
	ctl "$h" group delete g || return
	ranks_wait || [ -n "$rough" ] || return
	all_tell $DELETED || return
	impair_none
	others_deleted "$h" && group_up "${group[@]}"
}

namespace()
{
	local h

	h=$(roll $((ranks / per_host)))
	start_for_ever "${script[@]}" || [ -n "$rough" ] || return
	# it lives as long as a process does
	ip netns pids "h$h" | xargs -r kill -KILL
	ip netns del "h$h"
	of_host "$h"
	ranks_wait || [ -n "$rough" ] || return
	all_tell "$DIED|$SILENT|$DELETED" "$h" || return
	pkill -KILL -x gaggd
	others_deleted "$h" || return
	net_down
	ended=yes
}

reload()
{
	rm -f "$tmp/go"
	rank_options=("${every_rank[@]}" --repeat "$times")
	ranks_start "${script[@]}" "await:$tmp/go"
	wait_until 120 all_attached || [ -n "$rough" ] || return
	# who has failed on a rough network is no trainer any more
	if [ -z "$rough" ] && rmmod gagg 2>/dev/null; then
		echo "the module was unloaded under its trainers"
		return 1
	fi
	touch "$tmp/go"
	ranks_well && results_agree || return
	wait_until 10 rmmod gagg && module_load && group_up "${group[@]}" || return
	pkill -KILL -x gaggd
	agents
}

session_fault()
{
	if [ "$sync" = bsp ]; then
		pick "${rounds_faults[@]}"
	else
		echo "store_$(pick "${store_faults[@]}")"
	fi
}

session()
{
	local fault=$1

	rank_options=("${every_rank[@]}")
	script=()	# other modes say their own
	[ "$sync" != bsp ] || new_script
	impair || return
	say "session $((sessions + 1)): $fault, network: $network, ${script[*]}"
	"$fault" || return
	pkill -KILL -x rank
	sessions=$((sessions + 1))
	operations=$((operations + $(cat "$tmp"/rank.* | grep -c " ok digest")))
	faults[$fault]=$((${faults[$fault]:-0} + 1))
	faults[sync ${sync%%:*}]=$((${faults[sync ${sync%%:*}]:-0} + 1))
	faults[network ${network%% *}]=$((${faults[network ${network%% *}]:-0} + 1))
	klog_scan
}

report()
{
	local name

	say "seed $SEED, $settings settings, $sessions sessions, $operations operations," \
		"$clocks clocks of ranks, $((SECONDS / 60)) minutes"
	for name in "${!faults[@]}"; do
		say "  ${faults[$name]} $name"
	done | sort
}

failure()
{
	fail "${0##*/}: setting $settings, session $((sessions + 1)): $1"
	tail -n 20 "$tmp"/rank.* 2>/dev/null | sed 's/^/# /'
	klog | tail -n 50 | sed 's/^/# klog: /'
	report
	exit 1
}
