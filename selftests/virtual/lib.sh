# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What tests in virtual time share; they source it first. Waiting and computing are done
# at once there (vm/run --kernel uml-virtual), so what is measured is what the protocol
# makes of the network, to the digit. It sources selftests/vm/lib.sh and ranks.sh.
#
#   world SYSTEM N [OPTION VALUE]...  N hosts with group g, of which single datagrams
#                            leave. SYSTEM: module or twin
#   world_down
#   wires RATE DELAY         each link, both ways: its rate, so long to the other end
#   senders RATE DELAY       that from the hosts to the switch alone
#   measure [WORD...]        gagg-bench with these words on every host, then what it has
#                            measured: $mean $p50 $p99 $max in microseconds, $ops, $wrong, and
#                            of all that it has done, warm-up included, $again (sent again)
#                            and $lost (by the ports). With less than 100 operations the
#                            99th percentile is the maximum
#   measure_start WORD..., measure_end   the same in two halves
#   under_way_all BYTES      wait until host 0 has sent so much since measure_start
#   figure LABEL             a note with what measure has found
#   bar DESC EXPRESSION      one result, arithmetic; a note says it with its figures
#   sum_of NAME              of the hosts, a counter of the group
#
# A link without a rate or a delay takes no time at all, and what is repeated until the
# time has come then never ends.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "${BASH_SOURCE[0]}")/../vm/ranks.sh"

# shellcheck disable=SC2154 # of ranks.sh
queue=20000		# datagrams that a link's queue has room for
system='' bench_pid=() bench_before=() bench_bytes=0

world()
{
	local n=$2 all
	system=$1
	shift 2

	layout "$n"
	net_ready 1500 off
	case $system in
	module)
		[ -d /sys/module/gagg ] || insmod "$GAGG_KO" || return
		"$TOP/agent/examples/up.sh" "$n" g "$@"
		;;
	twin)
		twin_conf "$@"
		mapfile -t all < <(seq 0 $((n - 1)))
		twin_up "${all[@]}"
		;;
	esac
}

world_down()
{
	if [ "$system" = twin ]; then
		twin_down
	fi
	net_down
}

# The kernel hands a GSO burst to a qdisc whole, and cuts it behind that. A tbf cuts what
# is more than its burst, so that a datagram leaves when its predecessors have left.
senders()
{
	local i

	for ((i = 0; i < hosts; i++)); do
		net_exec "$i" tc -batch - <<-END || return
			qdisc replace dev eth0 root handle 1: tbf rate $1 burst 3028b limit 64mb
			qdisc replace dev eth0 parent 1:1 handle 2: netem delay $2 limit $queue
		END
	done
}

wires()
{
	senders "$1" "$2" && net_impair rate "$1" delay "$2" limit $queue
}

sum_of()
{
	local i sum=0

	for ((i = 0; i < hosts; i++)); do
		if [ "$system" = twin ]; then
			sum=$((sum + $(twin_count "$i" "$1")))
		else
			sum=$((sum + $(count "$i" "$1")))
		fi
	done
	echo $sum
}

sent_again()
{
	echo $(($(sum_of retransmits) + $(sum_of repairs)))
}

measure_start()
{
	local i

	bench_before=("$(sent_again)" "$(net_dropped)")
	read -r bench_bytes _ < <(net_bytes 0)
	for ((i = hosts - 1; i >= 0; i--)); do
		net_exec "$i" gagg-bench all_reduce --json --group g --rank "$i" \
			--socket "/run/gagg/h$i.sock" "$@" >"$tmp/bench.$i" 2>&1 &
		bench_pid[i]=$!
	done
}

under_way_all()
{
	local bytes

	until read -r bytes _ < <(net_bytes 0) && [ $((bytes - bench_bytes)) -ge "$1" ]; do
		kill -0 "${bench_pid[0]}" || return
		sleep 0.001
	done
}

# found KEY: what rank 0 says, without decimals
found()
{
	local value

	value=$(sed -n "s/.*\"$1\": \([0-9]*\).*/\1/p" "$tmp/bench.0")
	echo "${value:--1}"
}

# shellcheck disable=SC2034 # read by the tests
measure_end()
{
	local i status=0

	for ((i = 0; i < hosts; i++)); do
		wait "${bench_pid[i]}" || {
			status=$?
			sed "s/^/# host $i: /" "$tmp/bench.$i"
		}
	done
	mean=$(found time_us) p50=$(found p50_us) p99=$(found p99_us) max=$(found max_us)
	ops=$(found ops) wrong=$(found wrong)
	again=$(($(sent_again) - bench_before[0]))
	lost=$(($(net_dropped) - bench_before[1]))
	return $status
}

measure()
{
	measure_start "$@"
	measure_end
}

# bar DESC EXPRESSION
bar()
{
	if (($2)); then
		pass "$1"
	else
		fail "$1"
	fi
	note "$2"
	return 0
}

figure()
{
	note "$1: mean $mean p50 $p50 max $max us, $ops operations, again $again lost $lost"
}
