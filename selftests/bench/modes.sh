#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In the VM: hosts train on handwritten digits, in each scenario with each mode and each
# seed in turn, until rank 0 recognises 95 of 100 samples held out, or for EPOCHS (48).
# What rank 0 prints goes to FILE, behind a line for the trainings that it is of:
#
#   training NUMBER SCENARIO SEED[,SEED]... SYNC MODE [OPTION]...
#
# and behind it what has passed the link of the home, if there is one:
#
#   link BYTES_IN BYTES_OUT
#
# or "diverged", if weights have left what a mode can hold: that seed and those behind it have not
# come to anything.
#
#   modes.sh FILE [FIRST COUNT]    all, or COUNT pairs of a scenario and a mode, from that one on
#   modes.sh pairs                 how many pairs there are
#
# NUMBER orders all trainings. In virtual time what is found follows from FIRST, COUNT and the
# environment: who divides the pairs in another way gets other delays, within chance. Steps are
# rank 0's, which is never the slow one; with elastic averaging accuracy is that of the centre,
# as rank 0 knows it. A batch of 128 samples takes 32 ms, beside what computing it takes (in
# virtual time: nothing), with any number of ranks; or US is how many microseconds a sample
# takes. There are RANKS (4).
#
#   equal      all ranks alike
#   steady     rank 3 takes three times as long
#   transient  5 % of the batches of each rank take four times as long
#   8mbit ...  all ranks alike; each link has that rate, both ways, and one more host, which
#              does not train, is the home of all chunks: the papers' parameter server. Modes
#              that have none (ako, gossip) use the links between the ranks. In virtual time
#   slowlink   the same with links of 20 Mbit/s: of rank 3 2, of the home 100
#   eight      the same with eight ranks and links of 20 Mbit/s
#
# Of a mode's parameters K is all ranks but one, A is 90 by the number of ranks, and P what
# "digits --measure" finds for the scenario.
#
# Rates and momenta are those of modes.conf: of the mode with its options, or without them, or as
# of bsp there. A mode whose own differ from those of bsp has a second row with these, and bsp one
# with each mode's. With SEARCH=1 each mode has all that GRID names instead, as LENGTH:MOMENTUM: a
# gradient moves the weights by LENGTH in the end, RATE / (1 - MOMENTUM). --balance and --prefetch
# are not searched.

set -uo pipefail
cd "$(dirname "$0")/../.." || exit
PATH=$PWD/build:$PATH
# shellcheck source=vm/net.sh
. vm/net.sh

out=$1
# words: the group's mode, options of digits, with + between
modes=(bsp bsp+--balance bsp-quorum:K:1 bsp-deadline:K:60:1 bsp-adaptive:K:3:1
	asp asp+--prefetch ssp:0 ssp:3 ssp:3+--cache ssp:3+--prefetch ssp:3+--cache+--prefetch
	ssp:10 ssp:10+--cache dssp:3:10 dssp:3:10+--cache dssp-literal:3:10
	r2sp:80:2000 r2sp:80:2000:3 r2sp:80:2000+--balance
	easgd:4:A easgd-sync:4:90 localsgd:4 localsgd:4+--balance
	gossip-pull:1 gossip-push:1:2 gossip-pair:1 push-sum:1 hpsgd:2 hpsgd:8 ako:P:2)
[ -z "${SEARCH:-}" ] || mapfile -t modes < <(printf '%s\n' "${modes[@]}" | grep -v -e balance -e fetch)
[ -z "${MODES:-}" ] || read -ra modes <<<"$MODES"
read -ra scenarios <<<"${SCENARIOS:-equal steady transient 8mbit 5mbit 2mbit}"
pairs=$((${#scenarios[@]} * ${#modes[@]}))
if [ "$out" = pairs ]; then
	echo $pairs
	exit
fi
first=${2:-0} count=${3:-$pairs}
end=$((first + count < pairs ? first + count : pairs))
read -ra seeds <<<"${SEEDS:-1 2 3 4 5}"
grid=({0.25,0.5,1,2}:{0,0.5,0.9})
[ -z "${GRID:-}" ] || read -ra grid <<<"$GRID"
all=$(tr ' ' , <<<"${seeds[*]}")
tmp=/run/modes
mkdir -p $tmp

declare -A settings=()	# of a mode: options of digits, with + between
while read -r mode rate momentum; do
	[[ $mode == [a-z]* ]] || continue
	settings[$mode]=+--rate+$rate+--momentum+$momentum
done <selftests/bench/modes.conf

# words_of MODE: $words, a word for each row
words_of()
{
	local bsp=${settings[bsp]} own setting

	own=${settings[$1]:-${settings[${1%+*}]:-$bsp}}
	words=("$1$own")
	if [ -n "${SEARCH:-}" ]; then
		words=()
		for setting in "${grid[@]}"; do
			words+=("$1+--rate+$(rate_of "${setting/:/ }")+--momentum+${setting#*:}")
		done
	elif [ "$1" = bsp ]; then
		for setting in $(printf '%s\n' "${settings[@]}" | sort -u); do
			[ "$setting" = "$own" ] || words+=("$1$setting")
		done
	elif [ "$own" != "$bsp" ]; then
		words+=("$1$bsp")
	fi
}

# rate_of "LENGTH MOMENTUM"
rate_of()
{
	awk '{ print $1 * (1 - $2) }' <<<"$1"
}

# place SCENARIO: $ranks, $hosts with a home, and $us
place()
{
	ranks=${RANKS:-4}
	[ "$1" != eight ] || ranks=8
	hosts=$((ranks + 1)) us=${US:-$((250 * ranks))}
}

# link_of SCENARIO HOST: $link, or none
link_of()
{
	link=
	case $1:$2 in
	*mbit:*)	link=$1 ;;
	slowlink:3)	link=2mbit ;;
	slowlink:4)	link=100mbit ;;
	slowlink:*|eight:*) link=20mbit ;;
	esac
}

# wires SCENARIO: of every link, both ways, its rate; 50 us to the other end
wires()
{
	local r link

	net_clear
	for ((r = 0; r < places; r++)); do
		net_exec $r tc qdisc del dev eth0 root 2>/dev/null
	done
	link_of "$1" 0
	[ -n "$link" ] || return 0
	net_offload off || return
	for ((r = 0; r < hosts; r++)); do
		link_of "$1" $r
		net_impair_host $r rate "$link" delay 50us || return
		# netem would let bursts pass whole
		net_exec $r tc -batch - <<-END || return
			qdisc replace dev eth0 root handle 1: tbf rate $link burst 3028b limit 64mb
			qdisc replace dev eth0 parent 1:1 handle 2: netem delay 50us limit 20000
		END
	done
}

# members SCENARIO SYNC: $members, which are on the first $used hosts
members()
{
	local r link ip4 ip6 mac role=''

	link_of "$1" 0
	members=() used=$ranks
	case ${link:+home}:$2 in
	home:ako:* | home:gossip* | home:push-sum:*) ;;
	home:*)
		net_addresses "$ranks"
		role=,worker used=$hosts
		members=(member "$ranks=$ip4,aggregator")
		;;
	esac
	for ((r = 0; r < ranks; r++)); do
		net_addresses $r
		members+=(member "$r=$ip4$role")
	done
}

# until a whole second: what follows does not depend on when what was before has ended
second()
{
	net_pause "0.$(printf %06d $((1000000 - 10#${EPOCHREALTIME#*.})))"
}

# A process takes longer than a training: these have no shell of their own, and not the
# mounts of "ip netns exec".

# group_of SCENARIO SYNC: on the first $used hosts
group_of()
{
	local r members ip4 ip6 mac

	members "$1" "$2"
	second
	for ((r = 0; r < used; r++)); do
		net_addresses $r
		# a ring has some chunks of each host, and with 352 lanes the model has seven that
		# are nearly full
		nsenter --net=/run/netns/h$r gaggctl group create g sync "$2" window 64 lanes 352 \
			ring $((ranks > 16 ? 2048 : 256)) local "$ip4" "${members[@]}" || return
	done
	made=$used
}

group_end()
{
	local r

	for ((r = 0; r < made; r++)); do
		nsenter --net=/run/netns/h$r gaggctl group delete g
	done
	made=0
}

# train SCENARIO FILE OPTION...: what rank 0 prints is added to FILE. 2: it has diverged
train()
{
	local r status=0 pids=() pace to scenario=$1 file=$2
	shift 2

	rm -f $tmp/error.*
	for ((r = 0; r < ranks; r++)); do
		pace=(--slow "$us") to=$tmp/rank.$r
		case $scenario in
		steady)		[ $r -ne 3 ] || pace=(--slow $((3 * us))) ;;
		transient)	pace+=(--transient 5:4) ;;
		esac
		[ $r -gt 0 ] || to=$file
		GAGG_SOCKET=/run/gagg/h$r.sock nsenter --net=/run/netns/h$r digits --group g \
			--rank $r "${pace[@]}" "$@" >>"$to" 2>$tmp/error.$r &
		pids+=($!)
	done
	for r in "${pids[@]}"; do
		wait "$r" || status=1
	done
	[ $status -eq 0 ] || ! grep -q 'is not finite' $tmp/error.* || return 2
	[ $status -eq 0 ] || cat $tmp/error.*
	return $status
}

# partitions SCENARIO SYNC: $found, of an ako whose P is not known
partitions()
{
	rm -f $tmp/rank.*
	group_of "$1" "${2/P/1}" && train "$1" $tmp/rank.0 --epochs 1 --measure || return
	group_end
	found=$(sed -n 's/.*: \([0-9]*\) partitions/\1/p' $tmp/rank.* | sort -n | tail -n 1)
	# no more than the table has chunks
	[ "$found" -le 7 ] || found=7
	echo "$1: ako: $found partitions"
}

# trainings SCENARIO MODE: all of a mode's
trainings()
{
	local sync words word options found rx tx rx_was tx_was status

	sync=${2%%+*}
	case $sync in
	ako:P:*)	partitions "$1" "$sync" && sync=${sync/P/$found} || return ;;
	easgd:*:A)	sync=${sync/%A/$((90 / ranks))} ;;
	*:K:*)		sync=${sync/K/$((ranks - 1))} ;;
	esac
	words_of "$2"
	group_of "$1" "$sync" || return
	for word in "${words[@]}"; do
		IFS=+ read -ra options <<<"$word"
		echo "training $number $1 $all $sync ${options[*]}" >>"$out"
		read -r tx_was rx_was < <(net_bytes "$ranks")
		status=0
		train "$1" "$out" --seed "$all" --epochs "${EPOCHS:-48}" --curve --until 95 \
			--scatter $((us * 128 / ranks)) "${options[@]:1}" || status=$?
		[ $status -ne 1 ] || return
		read -r tx rx < <(net_bytes "$ranks")
		if [ $status -eq 2 ]; then
			echo diverged >>"$out"
		elif [ "$used" -gt "$ranks" ]; then
			echo "link $((rx - rx_was)) $((tx - tx_was))" >>"$out"
		fi
		number=$((number + 1))
	done
	group_end
	printf '%5d s  %s %s\n' $SECONDS "$1" "$2"
}

insmod "build/kmod/$(uname -r)/gagg.ko" || exit
places=0
for ((pair = first; pair < end; pair++)); do
	place "${scenarios[pair / ${#modes[@]}]}"
	[ $hosts -le $places ] || places=$hosts
done
net_up $places || exit
for ((r = 0; r < places; r++)); do
	# nobody else may bind the groups' port: gaggctl need not warn of it
	net_exec $r sysctl -q -w net.ipv4.ip_unprivileged_port_start=8000
done
second
hosts_start /dev/null
for ((r = 0; r < places; r++)); do
	until [ -S /run/gagg/h$r.sock ]; do
		if [ $SECONDS -gt 120 ]; then
			echo "gaggd of host $r does not start:"
			cat /run/gagg/h$r.log
			exit 1
		fi
		sleep 0.1
	done
done
made=0 used=0 before=
for ((pair = first; pair < end; pair++)); do
	scenario=${scenarios[pair / ${#modes[@]}]} number=$((100 * pair))
	place "$scenario"
	[ "$scenario" = "$before" ] || wires "$scenario" || exit
	trainings "$scenario" "${modes[pair % ${#modes[@]}]}" || exit
	before=$scenario
done
