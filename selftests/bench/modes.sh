#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In the VM: four hosts train on handwritten digits, in each scenario with each mode
# and each seed in turn. A row for each training to FILE, as JSON:
#
#   {"mode", "scenario", "seed", "curve": [[steps, ms, loss, accuracy], ...]}
#
#   modes.sh FILE
#
# steps and all else are rank 0's, which is never the slow one. A sample takes US (1000)
# microseconds, beside what computing it takes (in virtual time: nothing).
#
#   equal      all ranks alike
#   steady     rank 3 takes three times as long
#   transient  5 % of the batches of each rank take four times as long
#   8mbit ...  all ranks alike; each link has that rate, both ways, and a fifth host, which
#              does not train, is the home of all chunks: the papers' parameter server. Modes
#              that have none (ako, gossip) use the links between the ranks. In virtual time

set -uo pipefail
cd "$(dirname "$0")/../.." || exit
PATH=$PWD/build:$PATH
# shellcheck source=vm/net.sh
. vm/net.sh

out=$1
# words: the group's mode, options of digits, with + between; some take longer to learn.
# hpsgd and ako lack momentum, and bsp beside them has their rate without it
modes=(bsp bsp+--balance bsp-quorum:3:1 bsp-deadline:3:60:1 bsp-adaptive:3:3:1
	asp ssp:0 ssp:3 ssp:10 dssp:3:10 dssp-literal:3:10 r2sp:80:2000 r2sp:80:2000+--balance
	easgd:4:22+--epochs+24 easgd-sync:4:90 localsgd:4 localsgd:4+--balance
	gossip-pull:1+--epochs+24 gossip-push:1:2 gossip-pair:1 push-sum:1
	bsp+--rate+0.2+--momentum+0+--epochs+48 hpsgd:2+--epochs+48
	bsp+--rate+1+--momentum+0 ako:3:2+--rate+0.5+--momentum+0+--epochs+48)
[ -z "${MODES:-}" ] || read -ra modes <<<"$MODES"
read -ra scenarios <<<"${SCENARIOS:-equal steady transient 8mbit 2mbit}"
read -ra seeds <<<"${SEEDS:-1 2 3 4 5}"
epochs=${EPOCHS:-16} us=${US:-1000} ranks=4 tmp=/run/modes
mkdir -p $tmp

# every link, both ways: its rate (or none), 50 us to the other end
wires()
{
	local r

	[ "$1" != "${wired:-}" ] || return 0
	wired=$1
	if [ "$1" = none ]; then
		net_clear
		for ((r = 0; r <= ranks; r++)); do
			net_exec $r tc qdisc del dev eth0 root 2>/dev/null
		done
		return 0
	fi
	net_offload off && net_impair rate "$1" delay 50us || return
	for ((r = 0; r <= ranks; r++)); do
		# netem would let bursts pass whole
		net_exec $r tc -batch - <<-END || return
			qdisc replace dev eth0 root handle 1: tbf rate $1 burst 3028b limit 64mb
			qdisc replace dev eth0 parent 1:1 handle 2: netem delay 50us limit 20000
		END
	done
}

# members SCENARIO MODE: $members, which are on $hosts
members()
{
	local r

	members=() hosts=$ranks
	for ((r = 0; r < ranks; r++)); do
		members+=(member "$r=$(net_ip4 $r)")
	done
	case $1:$2 in
	*mbit:ako:* | *mbit:gossip* | *mbit:push-sum:*) ;;
	*mbit:*)
		for ((r = 0; r < ranks; r++)); do
			members[2 * r + 1]+=,worker
		done
		members+=(member "$ranks=$(net_ip4 $ranks),aggregator")
		hosts=$((ranks + 1))
		;;
	esac
}

# train WORD SCENARIO SEED
train()
{
	local r options status=0 pids=() pace members hosts
	IFS=+ read -ra options <<<"$1"

	members "$2" "${options[0]}"
	for ((r = 0; r < hosts; r++)); do
		net_exec $r gaggctl group create g sync "${options[0]}" ring 256 window 64 \
			local "$(net_ip4 $r)" "${members[@]}" || return
	done
	for ((r = 0; r < ranks; r++)); do
		pace=(--slow "$us")
		case $2 in
		steady)		[ $r -lt 3 ] || pace=(--slow $((3 * us))) ;;
		transient)	pace+=(--transient 5:4) ;;
		esac
		GAGG_SOCKET=/run/gagg/h$r.sock net_exec $r digits --group g --rank $r \
			--seed "$3" --epochs "$epochs" --curve "${pace[@]}" \
			"${options[@]:1}" >$tmp/rank.$r 2>&1 &
		pids+=($!)
	done
	for r in "${pids[@]}"; do
		wait "$r" || status=1
	done
	[ $status -eq 0 ] || tail -n 3 $tmp/rank.?
	for ((r = 0; r < hosts; r++)); do
		net_exec $r gaggctl group delete g
	done
	return $status
}

insmod "build/kmod/$(uname -r)/gagg.ko" || exit
net_up $((ranks + 1)) || exit
for ((r = 0; r <= ranks; r++)); do
	# nobody else may bind the groups' port: gaggctl need not warn of it
	net_exec $r sysctl -q -w net.ipv4.ip_unprivileged_port_start=8000
done
hosts_start /dev/null
for ((r = 0; r <= ranks; r++)); do
	until [ -S /run/gagg/h$r.sock ]; do
		if [ $SECONDS -gt 120 ]; then
			echo "gaggd of host $r does not start:"
			cat /run/gagg/h$r.log
			exit 1
		fi
		sleep 0.1
	done
done
for scenario in "${scenarios[@]}"; do
	case $scenario in
	*mbit)	wires "$scenario" || exit ;;
	*)	wires none ;;
	esac
	for seed in "${seeds[@]}"; do
		for mode in "${modes[@]}"; do
			train "$mode" "$scenario" "$seed" || exit
			name=${mode/+--epochs+[0-9][0-9]/}
			name=${name//+/ }
			printf '%5d s  %s %s %s\n' $SECONDS "$scenario" "$seed" "$name"
			awk -v mode="$name" -v scenario="$scenario" -v seed="$seed" '
				$1 == "curve" {
					points = points sep "[" $2 "," $3 "," $4 "," $5 "]"
					sep = ","
				}
				END {
					printf "{\"mode\":\"%s\",\"scenario\":\"%s\",", mode, scenario
					printf "\"seed\":%d,\"curve\":[%s]}\n", seed, points
				}' $tmp/rank.0 >>"$out"
		done
	done
done
