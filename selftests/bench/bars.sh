#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In the VM: comparisons that bench.sh, one operation in one network at a time, does
# not make. Rows, one JSON object a line, to FILE.
#
#   bars.sh FILE
#
# Environment: BARS (which, words), REPS, RATE (of links, such as 100mbit), SIZE (of
# a vector), LARGE (of a larger one), WIRES (formats of floating point).
#
#   overlap      a non-blocking all-reduce beside computing of equal length, N=4,
#                links of $RATE: gagg, Gloo, OpenMPI
#   aggregators  8 workers, and for gagg 8 hosts more that only add, links of $RATE:
#                gagg, Gloo
#   groups       groups of two hosts, each with a CPU of its own: one, the other, both
#   loss         $LARGE, N=4, single datagrams: with 1 % of loss, and without
#   wire         $LARGE, N=4, links of $RATE, in each of $WIRES
#
# What is compared takes turns.

# shellcheck disable=SC2153 # RATE and SIZE are of the environment
set -uo pipefail
cd "$(dirname "$0")/../.." || exit
# shellcheck source=vm/net.sh
. vm/net.sh
# shellcheck source=selftests/bench/systems.sh
. selftests/bench/systems.sh

out=$1
tmp=/run/bars.tmp
mkdir -p $tmp

# keep BAR CASE [NAME=VALUE...]: rows of gagg-bench on standard input
keep()
{
	python3 - "$@" "rep=$rep" 3<&0 >>"$out" <<-'END'
		import json, os, sys
		for row in json.load(os.fdopen(3)):
		    row |= {"bar": sys.argv[1], "case": sys.argv[2]}
		    row |= dict(word.split("=", 1) for word in sys.argv[3:])
		    print(json.dumps(row))
	END
}

# measure BAR CASE SYSTEM WORD...
measure()
{
	local bar=$1 case=$2 begun=$SECONDS
	shift 2

	if system_run "$1" 300 "${@:2}" -j >$tmp/out 2>$tmp/err; then
		keep "$bar" "$case" "rate=$RATE" <$tmp/out
	else
		cat $tmp/err
	fi
	printf '%4d s  %s %s: %d s\n' $SECONDS "$bar" "$case" $((SECONDS - begun))
}

# turns COMMAND: $REPS times, with $rep
turns()
{
	for ((rep = 1; rep <= REPS; rep++)); do
		"$@"
	done
}

overlap_turn()
{
	measure overlap gagg gagg overlap -s "$SIZE" -n 1
	measure overlap gloo gloo overlap -s "$SIZE" -n 1
	measure overlap openmpi openmpi overlap -s "$SIZE" -n 1
}

overlap()
{
	systems_up 4 && links "$RATE" && turns overlap_turn
	systems_down
}

aggregators_turn()
{
	measure aggregators gagg gagg all_reduce -s "$SIZE" -n 1
	measure aggregators gloo gloo all_reduce -s "$SIZE" -n 1
}

# group_conf NAME FIRST LAST [WORKERS]: hosts; all but the first WORKERS only add
group_conf()
{
	local i

	echo "group $1 {"
	for ((i = $2; i <= $3; i++)); do
		echo "	member $((i - $2)) {"
		echo "		address = $(net_ip4 "$i")"
		[ $# -lt 4 ] || echo "		role = $([ "$i" -lt "$4" ] && echo worker || echo aggregator)"
		echo "	}"
	done
	echo "}"
}

# conf_up HOSTS: gaggd with the groups of standard input
conf_up()
{
	local i

	mkdir -p "$systems_run"
	cat >"$systems_run/conf"
	net_up "$1" && hosts_start "$systems_run/conf" || return
	for ((i = 0; i < 100; i++)); do
		[ "$(find /run/gagg -name 'h*.sock' | wc -l)" -lt "$1" ] || return 0
		sleep 0.1
	done
	cat /run/gagg/h*.log
	return 1
}

aggregators()
{
	# the first eight are those that train; links() shapes all
	group_conf bench 0 15 8 | conf_up 16 &&
		systems_n=16 && links "$RATE" && systems_n=8 && turns aggregators_turn
	systems_down
}

# start GROUP FIRST CPU: gagg-bench on two hosts, both on one CPU
start()
{
	local i

	for i in 1 0; do
		net_exec $(($2 + i)) taskset -c "$3" timeout 120 "$net_top/build/gagg-bench" \
			all_reduce -j -s "$SIZE" -n 1000 -w 1 -t 3 --group "$1" --rank $i \
			--socket "/run/gagg/h$(($2 + i)).sock" >"$tmp/$1.$i" &
		started+=($!)
	done
}

finish()
{
	wait "${started[@]}"
	started=()
}

groups_turn()
{
	start one 0 0
	finish
	keep groups alone group=one <$tmp/one.0
	start two 2 1
	finish
	keep groups alone group=two <$tmp/two.0
	start one 0 0
	start two 2 1
	finish
	keep groups both group=one <$tmp/one.0
	keep groups both group=two <$tmp/two.0
}

groups()
{
	started=()
	{ group_conf one 0 1; group_conf two 2 3; } | conf_up 4 && turns groups_turn
	systems_down
}

loss_turn()
{
	net_clear
	measure loss without gagg all_reduce -s "$LARGE" -n 1
	net_loss 1
	measure loss with gagg all_reduce -s "$LARGE" -n 1
}

loss()
{
	systems_up 4 && net_offload off && turns loss_turn
	systems_down
}

wire_turn()
{
	measure wire "$1" gagg all_reduce -s "$LARGE" -n 1
}

wire()
{
	local wire

	for wire in $WIRES; do
		systems_up 4 wire "$wire" && links "$RATE" && turns wire_turn "$wire"
		systems_down
	done
}

: >"$out"
insmod "build/kmod/$(uname -r)/gagg.ko" || exit
for bar in $BARS; do
	case $bar in
	overlap|aggregators|groups|loss|wire)	"$bar" ;;
	*)	echo "bars: no '$bar'" >&2; exit 2 ;;
	esac
done
