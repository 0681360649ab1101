#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
# turns: 2
#
# Integer results are exact, whatever the shape of the group and whatever the
# network does: a cover of all pairs of values, drawn by SEED (1). The whole product
# (hours): vm/run --timeout 0 -- env FULL=1 selftests/vm/20-exact.sh
# One case: vm/run -- env CASE="mtu=1500 shape=..." selftests/vm/20-exact.sh

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
SEED=${SEED:-1}
seed

# ring of 256 chunks: the long ones go round it several times
mapfile -t cases < <("$TOP/selftests/vm/pairwise.py" ${FULL:+--full} "$SEED" \
	mtu=1500,9000 shape=1x4,2x1,3x1,4x4,16x1 aggregators=all,one,some,dedicated \
	length=30000,two_rings,1000000 \
	impair=none,loss_1,loss_5,loss_20,burst_loss_5,dup_and_reorder \
	offload=on,off,gro family=4,6 shards=1,2,4 \
	not:impair=loss_1,loss_5,loss_20:offload=on \
	not:impair=burst_loss_5:offload=off,gro \
	not:length=1000000:shape=4x4,16x1 not:length=two_rings:shape=16x1 \
	not:impair=loss_1,loss_5,burst_loss_5:shape=16x1)
# a group of one, whose network is not used
cases=("mtu=1500 shape=1x1 aggregators=all length=1000000 impair=none offload=on family=4 shards=1"
	"${cases[@]}")
[ -z "${CASE:-}" ] || cases=("$CASE")
plan $((${#cases[@]} + 1))

impair_with()
{
	case $1 in
	none)		net_clear ;;
	loss_*)		net_loss "${1#loss_}" ;;
	burst_loss_*)	net_burst_loss "${1#burst_loss_}" ;;
	dup_and_reorder) net_impair duplicate 10% delay 5ms reorder 10% ;;
	esac
}

# Nothing that a host of the group has said was refused, but for what came late from an epoch that
# is over, and for a HELLO that comes again or after a later one: what it says is old. Each case has
# some, without impairment, too, and they count as drop_window (rx_hello()).
none_refused()
{
	local i

	for ((i = 0; i < hosts; i++)); do
		ctl "$i" stats g | awk -v host="$i" '
			$1 ~ /^drop_/ && $1 !~ /^drop_(epoch|cookie|channel|window)/ &&
			$2 > 0 {
				print "host " host ": " $0
				bad = 1
			}
			END { exit bad }' || return
	done
}

# one case, from the variables that its words set
run_case()
{
	local mtu shape aggregators length impair offload family shards
	local lanes=344 ring=256 word

	for word in "$@"; do
		local "${word%%=*}=${word#*=}"
	done
	[ "$mtu" = 1500 ] || lanes=2048
	# 2 * stripe * shards for each host; that many take long enough without length
	[ "$shape" != 16x1 ] || { ring=512; length=$((length / 3)); }
	[ "$length" != two_rings ] || length=$((2 * ring * lanes))
	! slow_kernel || length=$((length / 8))
	layout "${shape%x*}" "${shape#*x}" "$aggregators"
	# the namespaces of the last case, if they will do
	[ "$(cat /run/gagg-net/shape 2>/dev/null)" = "$hosts hosts, MTU $mtu" ] || {
		net_ready "$mtu"
		echo "$hosts hosts, MTU $mtu" >/run/gagg-net/shape
	}
	net_clear
	net_offload "$offload" || return
	# of 17 hosts on two slow CPUs one may be silent for seconds
	group_up dead-after 60000 ring $ring window 64 stripe 2 lanes "$lanes" shards "$shards" || return
	impair_with "$impair"
	ranks_run allreduce:int32:sum:1 allreduce:int32:min:$((lanes - 1)) \
		allreduce:int32:sum:$lanes allreduce:int32:max:$((lanes + 1)) \
		allreduce:int32:sum:"$length" allreduce:int64:sum:$((2 * lanes + 1)) \
		reduce_scatter:int32:sum:$((lanes + 1)) \
		allgather:2001 broadcast:30001:$((ranks - 1)) barrier &&
		digests_agree "allreduce|allgather|broadcast" && none_refused || return
	net_clear
	group_down
}

module_load "$@"
for case in "${cases[@]}"; do
	was=$SECONDS
	# shellcheck disable=SC2086 # words
	check "$case" run_case $case || group_down
	note "$((SECONDS - was)) s"
done
net_down
check "the module can be unloaded" module_unload
