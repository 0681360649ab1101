#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Random groups, collectives, networks, deaths, until MINUTES are over; every
# result is checked against an integer reference. Run by "make soak MINUTES=N";
# SEED repeats the choices, though not the moments.
#
# A setting is a net and a group on it, in some of them one with a store, with replicas
# or with rounds that need not wait for all (see soak-store.sh). In each there are a few
# sessions: all ranks carry out a random script, on a random network, and something may
# happen to them:
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

# shellcheck disable=SC2119 # digests_agree as it is
# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
# shellcheck source=selftests/vm/store.sh
. "$(dirname "$0")/store.sh"
# shellcheck source=selftests/vm/soak-store.sh
. "$(dirname "$0")/soak-store.sh"
plan 1
seed
echo "$((SEED & 0x7fffffff))" >"$tmp/dice"
minutes=${MINUTES:-5}
settings=0 sessions=0 operations=0 clocks=0
declare -A faults
# enum gagg_reason
DIED=2 SILENT=3 DELETED=6

# roll N: prints a number below N, 2^23 at most. RANDOM would begin anew in each $(...);
# this one's state is in a file
roll()
{
	local state

	read -r state <"$tmp/dice"
	state=$(((state * 1103515245 + 12345) & 0x7fffffff))
	echo $state >"$tmp/dice"
	echo $(((state >> 8) % $1))
}

pick()
{
	local n=$(($(roll $#) + 1))

	echo "${!n}"
}

# a length whose logarithm is evenly spread
length()
{
	local bits

	bits=$(roll "${1:-18}")
	echo $(((1 << bits) + $(roll $((1 << bits)))))
}

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
		# shellcheck disable=SC2207 # words
		script+=($(operation))
	done
	script+=(wait)
}

# what was drawn is said, so that a failure can be read
say()
{
	echo "# $*"
}

new_setting()
{
	local per mtu offload lanes=344 shards stripe ring kind

	settings=$((settings + 1))
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
	net_up "$hosts" "$mtu" && net_offload "$offload" || return
	stripe=$(pick 1 2 8)
	ring=$(pick 256 1024)
	# as many chunks as it has to have at least
	[ "$ring" -ge $((2 * stripe * hosts * shards)) ] || ring=512
	# what store.c and gossip.c keep takes twice as many, replica.c has sums there
	[[ $lane_type = int32 && $sync != easgd:* ]] || ring=1024
	group=(ring "$ring" window "$(pick 64 128)" stripe "$stripe"
		lanes "$lanes" shards "$shards" sync "$sync"
		lane-type "$lane_type" dead-after 60000)
	say "setting $settings: $hosts hosts of $per, MTU $mtu, offloads $offload, IPv$family," \
		"${group[*]}, ${members[*]}"
	group_up "${group[@]}" || return
	mkdir -p /run/gagg
	agents
}

agents()
{
	local i

	rm -f /run/gagg/*.sock
	for ((i = 0; i < hosts; i++)); do
		net_exec "$i" gaggd --socket "/run/gagg/h$i.sock" >"/run/gagg/h$i.log" 2>&1 &
		disown
	done
	for ((i = 0; i < hosts; i++)); do
		wait_until 60 test -S "/run/gagg/h$i.sock" || return
	done
}

end_setting()
{
	pkill -KILL -x gaggd
	net_clear
	group_down
	net_down
}

impair()
{
	local how

	how=$(pick none none loss burst disorder delay)
	case $how in
	loss)		net_loss "$(pick 1 5 10)" ;;
	burst)		net_burst_loss "$(pick 1 5)" ;;
	disorder)	net_impair duplicate 10% delay 5ms reorder 10% ;;
	delay)		net_delay "$(pick 1 10)" 1 ;;
	*)		net_clear ;;
	esac || return
	echo "$how"
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
	rank_options=(--repeat 0)
	ranks_start fail "$@"
	wait_until 120 all_attached || return
	sleep "$(pick 0 0.1 0.5 1)"
}

none()
{
	ranks_run "${script[@]}" && digests_agree
}

trainer()
{
	local r

	r=$(roll "$ranks")
	[ "$ranks" -gt 1 ] || return 0
	start_for_ever "$@" "${script[@]}" || return
	rank_kill "$r"
	all_blame "$r" $DIED || return
	rank_wait "$r"
	true
}

forked()
{
	trainer at:1:fork && pkill -KILL -x rank
	true
}

agent()
{
	rank_options=(--repeat 3)
	ranks_start "${script[@]}"
	wait_until 120 all_attached || return
	pkill -KILL -x gaggd
	ranks_wait && digests_agree && agents
}

# of_host H: their exit status does not matter
of_host()
{
	local r

	for ((r = $1 * per_host; r < ($1 + 1) * per_host && r < ranks; r++)); do
		rank_wait "$r"
	done
}

group()
{
	local h r

	h=$(roll $((ranks / per_host)))
	start_for_ever "${script[@]}" || return
	ctl "$h" group delete g || return
	ranks_wait || return
	for ((r = 0; r < ranks; r++)); do
		rank_says "$r" "reason $DELETED rank [0-9]*" || return
	done
	net_clear
	for ((r = 0; r < hosts; r++)); do
		[ "$r" -eq "$h" ] || ctl "$r" group delete g || return
	done
	group_up "${group[@]}"
}

namespace()
{
	local h r

	h=$(roll $((ranks / per_host)))
	start_for_ever "${script[@]}" || return
	# it lives as long as a process does
	ip netns pids "h$h" | xargs -r kill -KILL
	ip netns del "h$h"
	of_host "$h"
	ranks_wait || return
	for ((r = 0; r < ranks; r++)); do
		[ $((r / per_host)) -eq "$h" ] ||
			rank_says "$r" "reason ($DIED|$SILENT|$DELETED) rank" || return
	done
	pkill -KILL -x gaggd
	for ((r = 0; r < hosts; r++)); do
		[ "$r" -eq "$h" ] || ctl "$r" group delete g || return
	done
	net_down
	ended=yes
}

reload()
{
	rm -f "$tmp/go"
	ranks_start "${script[@]}" "await:$tmp/go"
	wait_until 120 all_attached || return
	if rmmod gagg 2>/dev/null; then
		echo "the module was unloaded under its trainers"
		return 1
	fi
	touch "$tmp/go"
	ranks_wait && digests_agree || return
	wait_until 10 rmmod gagg && module_load && group_up "${group[@]}" || return
	pkill -KILL -x gaggd
	agents
}

session()
{
	local fault network

	rank_options=()
	if [ "$sync" = bsp ]; then
		fault=$(pick none none none trainer forked agent group namespace reload)
		new_script
	else
		fault=store_$(pick none none none trainer agent group)
		script=()	# it says its own
	fi
	network=$(impair) || return
	say "session $((sessions + 1)): $fault, network: $network, ${script[*]}"
	"$fault" || return
	pkill -KILL -x rank
	sessions=$((sessions + 1))
	operations=$((operations + $(cat "$tmp"/rank.* | grep -c " ok digest")))
	faults[$fault]=$((${faults[$fault]:-0} + 1))
	faults[sync ${sync%%:*}]=$((${faults[sync ${sync%%:*}]:-0} + 1))
	faults[network $network]=$((${faults[network $network]:-0} + 1))
	rm -f "$tmp"/rank.*
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
	fail "soak: setting $settings, session $((sessions + 1)): $1"
	tail -n 20 "$tmp"/rank.* 2>/dev/null | sed 's/^/# /'
	klog | tail -n 50 | sed 's/^/# klog: /'
	report
	exit 1
}

module_load "$@"
klog_mark soak
ticks=0
while [ $SECONDS -lt $((minutes * 60)) ]; do
	rank_socket=$(pick '' yes)
	ended=
	new_setting >"$tmp/log" 2>&1 || { cat "$tmp/log"; failure "setting up"; }
	cat "$tmp/log"
	for ((i = $(roll 5) + 1; i > 0; i--)); do
		session >"$tmp/log" 2>&1 || { cat "$tmp/log"; failure session; }
		grep "^# " "$tmp/log"
		[ -z "$ended" ] || break
	done
	[ -n "$ended" ] || end_setting >"$tmp/log" 2>&1 || { cat "$tmp/log"; failure "the end"; }
	ticks=$((ticks + 1))
	[ $((ticks % 10)) -ne 0 ] || report
done
report
pass "$operations operations and $clocks clocks of ranks, all of them exact"
