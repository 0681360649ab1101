#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 400
# kernels: uml-debug debug
#
# The module loses, repeats, delays and reorders what it receives and sends
# (kmod/faults.c): sums are exact all the same, one seed does the same to the same
# datagrams, and what is held back goes with its endpoint.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"

plan 15

FAULTS=/sys/kernel/debug/gagg
WIRE=$TOP/build/selftests/vm/wire
SCRIPT=(allreduce:int32:sum:30000 allreduce:float32:mean:5000 broadcast:5000:1
	reduce_scatter:int32:sum:3000)

# fault NAME=VALUE...; those of a direction that are not named are 0
fault()
{
	local file setting

	for file in "$FAULTS"/[rt]x-*; do
		echo 0 >"$file"
	done
	for setting; do
		echo "${setting#*=}" >"$FAULTS/${setting%%=*}"
	done
}

# counted WAY NAME [ADDRESS]: of all ports, or of those of an address
counted()
{
	awk -v way="$1" -v name="$2" -v address="${3:-}" '
		$3 == way && (address == "" || $1 == address) {
			for (i = 4; i < NF; i += 2)
				if ($i == name)
					n += $(i + 1)
		}
		END { print n + 0 }' "$FAULTS/counts"
}

held()
{
	echo "$(($(counted rx held) + $(counted tx held)))"
}

none_held()
{
	[ "$(held)" -eq 0 ]
}

many_held()
{
	[ "$(held)" -gt 20 ]
}

# 1000 datagrams from host 1, with a seed; prints what became of them
thousand()
{
	local before after

	echo "$1" >"$FAULTS/seed"
	before=$(count 0 rx_datagrams)
	net_exec 1 "$WIRE" send "$(net_ip4 1):7440" "$(net_ip4 0):7440" type=1 magic=0x4147 \
		ver=1 hdrlen=64 run=1 group=4711 length=168 count=1000 >/dev/null || return
	wait_until 20 none_held || return
	after=$(count 0 rx_datagrams)
	grep "^10.77.0.1 7440 rx " "$FAULTS/counts"
	is "$(counted rx passed 10.77.0.1) - $(counted rx drop 10.77.0.1) + \
		$(counted rx dup 10.77.0.1) == $after - $before"
}

same_seed()
{
	thousand "$SEED" >"$tmp/one" && thousand "$SEED" >"$tmp/two" &&
		thousand $((SEED + 1)) >"$tmp/three" || return
	grep -h passed "$tmp/one" "$tmp/two" "$tmp/three" >"$tmp/counts"
	cat "$tmp/counts"
	sort -u "$tmp/counts" | grep -c "passed 1000 " | grep -x 2 &&
		head -n 2 "$tmp/counts" | uniq | wc -l | grep -x 1
}

# every kind of fault that is set has befallen somebody
have_befallen()
{
	local file

	for file in "$FAULTS"/[rt]x-*; do
		[ "$(cat "$file")" -eq 0 ] && continue
		file=${file##*/}
		[ "$(counted "${file%%-*}" "${file#*-}")" -gt 0 ] || {
			echo "no $file"
			return 1
		}
	done
}

# exact SETTING...
exact()
{
	fault "$@"
	echo "$SEED" >"$FAULTS/seed"
	ranks_run "${SCRIPT[@]}" && digests_agree "" && have_befallen
}

seed
module_load "$@"
layout 2
net_ready 1500

# --- the same datagrams -----------------------------------------------------------
ctl 0 group create g id 4711 local 10.77.0.1 ring 256 window 64 \
	member 0=10.77.0.1 member 1=10.77.0.2
fault delay-us=2000 rx-drop=50 rx-dup=100 rx-delay=100 rx-reorder=50
check "one seed does the same to 1000 datagrams" same_seed
note "$(cat "$tmp/counts")"
ctl 0 group delete g

# --- exact sums -------------------------------------------------------------------
layout 3
net_ready 1500
check "three hosts have a group" group_up ring 256 window 64
check "a twentieth is lost, in each direction" exact rx-drop=50 tx-drop=50
check "a fifth comes twice" exact rx-dup=200 tx-dup=200
check "a fifth comes late, a fifth is overtaken" exact delay-us=5000 rx-delay=200 \
	tx-delay=200 rx-reorder=200 tx-reorder=200
all=(rx-drop=50 tx-drop=50 rx-dup=100 tx-dup=100 rx-delay=100 tx-delay=100 rx-reorder=100
	tx-reorder=100)
check "all of that" exact delay-us=5000 "${all[@]}"
check "datagrams one by one" exact segs=1 "${all[@]}"
note "$(cat "$FAULTS/counts")"
check "what was lost was sent again" is "$(count_all retransmits) > 0"
fault segs=0
check "and without faults" ranks_run "${SCRIPT[@]}"

# --- what is held back goes with its endpoint --------------------------------------
fault delay-us=60000000 rx-delay=500 tx-delay=500
rank_options=(--repeat 0 --quiet)
ranks_start fail allreduce:int32:sum:1000
check "much is held back" wait_until 60 many_held
note "$(cat "$FAULTS/counts")"
check "a group is deleted" ctl 0 group delete g
check "a namespace is deleted" ip netns del h1
ip netns add h1
fault
ctl 2 group delete g
ranks_wait
check "nothing is left of what was held back" is "$(held) == 0"
leak_scan
check "and the kernel has nothing to say" klog_scan
check "the module can be unloaded" module_unload
