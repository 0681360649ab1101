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
#                            of all that it has done, warm-up and barriers included,
#                            $spent (microseconds), $again (sent again), $lost (by the
#                            ports). A warm-up is many operations: -w 0. With less than 100
#                            operations the 99th percentile is the maximum
#   measure_start WORD..., measure_end   the same in two halves
#   under_way_all            wait until an operation has begun since measure_start. $spent
#                            begins then: how long a group takes to start is another matter
#   figure LABEL             a note with what measure has found
#   outages LABEL MS HOW [HOST]  two outages (net_outage) while operations of $size are
#                            under way, $base being the time that one takes. Then one
#                            result: none took longer than that, the outage and twice the
#                            least timeout of a path, and a sixteenth of one of 100 ms;
#                            nor did all together, so that what falls between two
#                            operations counts. baseline SIZE LABEL [N] sets $size and
#                            $base, the longest of N times as many [1] undisturbed ones
#   bar DESC EXPRESSION [WIDER]   one result, arithmetic; a note says it with its figures.
#                            If it is not true, but WIDER is, it is "ok ... # NEAR". Figures
#                            depend on the moment within a round trip, and any change moves
#                            it: a result between the two does not fail, and need not be
#                            taken off the list of those that do (see "expected")
#   sum_of NAME...           of all hosts, counters of the group
#
# A link without a rate or a delay takes no time at all, and what is repeated until the
# time has come then never ends.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/../vm/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "${BASH_SOURCE[0]}")/../vm/ranks.sh"

# shellcheck disable=SC2154 # of ranks.sh
queue=20000		# datagrams that a link's queue has room for
rto=0 base=0 base_spent=0 size=0 number=0
# shellcheck disable=SC2034 # read by the tests
mean=0 p50=0 p99=0 max=0 ops=0 wrong=0
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
		group_up "$@" && agents || return
		;;
	twin)
		twin_conf "$@"
		mapfile -t all < <(seq 0 $((n - 1)))
		twin_up "${all[@]}" || return
		;;
	esac
	# what it takes to have the first one is done
	net_outage 0
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

# what all twins print, when all have
twin_stats()
{
	local i

	for ((i = 0; i < hosts; i++)); do
		: >"/run/gagg/h$i.out"
	done
	pkill -USR1 -x gagg-twin
	until [ "$(grep -al '"repairs":' /run/gagg/h*.out | wc -l)" -eq "$hosts" ]; do
		sleep 0.01
	done
	grep -aoh '"[a-z_]*":[0-9]*' /run/gagg/h*.out | tr -d '"' | tr : ' '
}

module_stats()
{
	local i

	for ((i = 0; i < hosts; i++)); do
		ctl "$i" stats g
	done
}

sum_of()
{
	"${system}_stats" | awk -v names="$*" '
		index(" " names " ", " " $1 " ") { sum += $2; found++ }
		END { print sum + 0; exit !found }'
}

sent_again()
{
	sum_of retransmits repairs
}

measure_start()
{
	local i

	bench_before=("$(sent_again)" "$(net_dropped)" "$(date +%s%N)")
	read -r bench_bytes _ < <(net_bytes 0)
	for ((i = hosts - 1; i >= 0; i--)); do
		net_exec "$i" gagg-bench all_reduce --json --group g --rank "$i" \
			--socket "/run/gagg/h$i.sock" "$@" >"$tmp/bench.$i" 2>&1 &
		bench_pid[i]=$!
	done
}

under_way_all()
{
	# many hosts have much to say until all have joined
	local bytes least=$((hosts > 16 ? 1000000 : 200000))

	until read -r bytes _ < <(net_bytes 0) && [ $((bytes - bench_bytes)) -ge $least ]; do
		kill -0 "${bench_pid[0]}" || return
		sleep 0.001
	done
	bench_before[2]=$(date +%s%N)
}

# found VARIABLE KEY: what rank 0 says, without decimals; -1: nothing
# shellcheck disable=SC2034 # the variable that it names
found()
{
	declare -n value=$1

	value=-1
	[[ $(<"$tmp/bench.0") =~ \"$2\":\ ([0-9]+) ]] && value=${BASH_REMATCH[1]}
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
	spent=$((($(date +%s%N) - bench_before[2]) / 1000))
	found mean time_us
	found p50 p50_us
	found p99 p99_us
	found max max_us
	found ops ops
	found wrong wrong
	again=$(($(sent_again) - bench_before[0]))
	lost=$(($(net_dropped) - bench_before[1]))
	return $status
}

measure()
{
	measure_start "$@"
	measure_end
}

# bar DESC EXPRESSION [WIDER]
bar()
{
	if (($2)); then
		pass "$1"
	elif ((${3:-0})); then
		pass "$1 # NEAR"
	else
		fail "$1"
	fi
	note "$(tr -s '[:space:]' ' ' <<<"$2")"
	return 0
}

figure()
{
	note "$1: mean $mean p50 $p50 max $max, $ops in $spent us, again $again lost $lost"
}

# seconds US
seconds()
{
	printf '%d.%06d' $(($1 / 1000000)) $(($1 % 1000000))
}

# GAGG_PATH_RTO_MIN, us
rto_min()
{
	local ms

	ms=$(sed -n 's/^#define GAGG_PATH_RTO_MIN.*(\([0-9]*\) \* GAGG_MSEC)$/\1/p' \
		"$TOP/kmod/core/path.h")
	[ -n "$ms" ] || bail "kmod/core/path.h: GAGG_PATH_RTO_MIN is not in milliseconds"
	echo $((ms * 1000))
}

baseline()
{
	local times=${3:-1}

	size=$1 rto=$(rto_min)
	measure -s "$size" -n 3 -w 0 || bail "$system does not work"
	# of the mean, as many as there are in the pauses, one in each outage, and what comes
	# until the shell goes on
	number=$((4 + 5 * max / mean + 2000 / max))
	measure_start -s "$size" -n $((number * times)) -w 0
	if ! under_way_all || ! measure_end; then
		bail "$system does not work"
	fi
	base=$max base_spent=$((spent / times))
	figure "$2, undisturbed"
}

outages()
{
	local label=$1 i cost most wide missed=0
	shift

	# a long silence is asked into each sixteenth of it (gagg_path_pause)
	cost=$(($1 * 1000 + 2 * rto))
	[ "$1" -lt 100 ] || cost=$((cost + $1 * 1000 / 16))
	# and the second outage may begin before that is over, in the same operation
	most=$(($1 < 100 ? cost : 2 * cost))
	wide=$((2 * rto + cost / 4))
	measure_start -s "$size" -n $number -w 0
	under_way_all
	for ((i = 0; i < 2; i++)); do
		net_pause "$(seconds $((base * 5 / 2)))"
		kill -0 "${bench_pid[0]}" && net_outage "$@" || missed=$((missed + 1))
	done
	measure_end
	figure "$label, $* (ms, how, host)"
	bar "$label: $1 ms, $2, $([ $# -gt 2 ] && echo "one host" || echo "all hosts")" \
		"$missed == 0 && $wrong == 0 && $again > 0 && $max <= $base + $most &&
		$spent <= $base_spent + 2 * $cost" \
		"$missed == 0 && $wrong == 0 && $again > 0 && $max <= $base + $most + $wide &&
		$spent <= $base_spent + 2 * ($cost + $wide)"
}
