#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
# turns: 2
# clock: skip
#
# Lanes "auto": hosts of different MTUs agree on what fits all of them, anew for each
# epoch.

# shellcheck disable=SC2016,SC2034 # eval's
# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
# shellcheck source=selftests/vm/store.sh
. "$(dirname "$0")/store.sh"
plan 30

MTU=9		# enum gagg_reason
options=(ring 1024 window 256 shards 2 dead-after 2000)
# of one chunk, of several, of more than the ring at 8 lanes less
work=(allreduce:int32:sum:1 allreduce:int32:sum:344 allreduce:int32:max:345
	allreduce:float32:sum:100000 allreduce:int64:sum:5000 reduce_scatter:int32:sum:3001
	allgather:10001 broadcast:77777:1 barrier allreduce:int32:sum:400000)

# mtus MTU...: of the hosts' interfaces, in their order
mtus()
{
	local i=0 mtu

	for mtu; do
		net_exec $i ip link set eth0 mtu "$mtu" || return
		i=$((i + 1))
	done
}

# exact WORD...: all ranks are right, and have the same
exact()
{
	ranks_run "$@" && digests_agree "allreduce|allgather|broadcast"
}

# lanes N MTU [HOST...]: of the next epoch, or of the one that runs; what a chunk takes
lanes()
{
	local i

	for i in "${@:3}"; do
		wait_until 20 shows "$i" "lanes $1, path MTU $2 needed" || {
			shows "$i" "lanes $1, path MTU $2 needed"
			return 1
		}
	done
}

# shows HOST PATTERN: a line of group show
shows()
{
	local lines

	lines=$(ctl "$1" group show g)
	echo "$lines"
	grep -q -- "$2" <<<"$lines"
}

# told PATTERN: nobody could join, and all were told so
told()
{
	local r status=0

	for ((r = 0; r < ranks; r++)); do
		rank_wait "$r" && status=1
		rank_says "$r" "$1" || status=1
	done
	return $status
}

module_load "$@" || bail "no module"
layout 3
net_ready 1500 off
check "lanes are auto unless they are named" eval 'group_up "${options[@]}" &&
	shows 0 " lanes auto " && lanes 344 1468 0 1 2'
check "which JSON says as well" eval 'ctl 0 -j group show g |
	grep "\"lanes\": *\"auto\"" && ctl 0 -j group show g | grep "\"lanes_now\": *344"'
mtus 1500 1450 1420
check "hosts of MTU 1500, 1450 and 1420 agree on what fits" lanes 328 1404 0 1 2
check "and train" exact "${work[@]}"
check "the coordinator's may be less" eval 'mtus 1280 1450 1500 && lanes 296 1276 0 1 2 &&
	exact "${work[@]}"'
mtus 1500 1500 1500
check "they grow again: as many as by default" eval 'lanes 344 1468 0 1 2 && exact "${work[@]}"'
mtus 9000 9000 9000
check "and never more" eval 'sleep 3; lanes 344 1468 0 1 2'
mtus 1500 1500 1500

# --- in the middle ------------------------------------------------------------
ranks_start plan allreduce:float32:sum:100000 fail allreduce:int32:sum:20000 sleep:10000 \
	allreduce:int32:sum:20000 reattach allreduce:float32:sum:100000 "${work[@]}"
ranks_say "op 2 .* ok"
net_exec 2 ip link set eth0 mtu 1420
check "an MTU that shrinks while they train ends the epoch; who joins again goes on with less" \
	eval 'ranks_wait && ranks_say "^rank . failed .* reason $MTU rank 2"'
check "namely so many" lanes 328 1404 0 1 2
ranks_start allreduce:int32:sum:20000 sleep:10000 allreduce:int32:sum:20000
ranks_say "op 1 .* ok"
net_exec 2 ip link set eth0 mtu 1500
sleep 2
check "one that grows does not change the epoch that runs" lanes 328 1404 0 1 2
check "which goes on" ranks_wait
check "but the next" lanes 344 1468 0 1 2

# --- the path -----------------------------------------------------------------
mtus 1500 1450 1500
lanes 336 1436 0 1 2 || bail "336 lanes are not agreed on"
net_path_mtu 1400 2
sleep 3
ranks_start fail barrier
check "a path that carries less than all interfaces: ranks are not left waiting" \
	told "the host of rank [0-9]* is heard, but chunks do not pass"
check "and the MTU that it lacks is that of the lanes agreed on" eval \
	'wait_until 20 eval "ctl 0 member list g | grep \"the path.s MTU is less than 1436\""'
net_path_mtu 1440 2
check "one that carries those is enough" eval 'wait_until 20 fails shows 0 blocked &&
	exact "${work[@]}"'
net_path_mtu 0 2
mtus 1500 1500 1500
lanes 344 1468 0 1 2

# --- a number -----------------------------------------------------------------
ctl 2 group set g lanes 344
ranks_start fail barrier
check "a host with a number beside auto is configured differently" \
	told "config-mismatch: lanes is (344|auto) on the host of rank [02], (auto|344) here"
group_down
check "a number that fits" eval 'group_up "${options[@]}" lanes 128 && lanes 128 604 0 1 2 &&
	exact "${work[@]}"'
group_down

# --- IPv6, narrow lanes, stores -------------------------------------------------
family=6
mtus 1500 1450 1420
check "IPv6" eval 'group_up "${options[@]}" && lanes 320 1392 0 1 2 && exact "${work[@]}"'
mtus 1280 1280 1280
check "the least MTU that it allows" eval 'lanes 288 1264 0 1 2 && exact "${work[@]}"'
group_down
family=4
mtus 1500 1450 1420
for wire in int16 int8; do
	check "wire $wire" eval 'group_up "${options[@]}" wire $wire &&
		exact allreduce:float32:sum:1313 allreduce:float32:sum:100000 allreduce:int32:sum:3000'
	group_down
done

check "parts of a group" eval 'group_up "${options[@]}" &&
	ranks_run split:0 allreduce:int32:sum:5000 @0,1:split:0 @2:split:1 allgather:3000 free world \
		allreduce:float32:sum:5000'
group_down
for mode in ssp:0 ssp:2; do
	check "a store, $mode" eval 'group_up ring 1024 window 64 sync $mode && lanes 328 1404 0 1 2 &&
		store_run ${mode#ssp:} $SLOW 0'
	group_down
done
check "of int64" eval 'group_up ring 1024 window 64 sync ssp:2 lane-type int64 &&
	store_run 2 $SLOW 0'
group_down

# --- the twin -------------------------------------------------------------------
layout 4
net_ready 1500 off
mtus 1500 1460 1420 1450
check "the module on two hosts, the twin on two others" eval 'mixed_up "${options[@]}" &&
	lanes 328 1404 0 1 && exact "${work[@]}"'
mtus 1500 1460 1450 1450
check "twin: they grow" eval 'lanes 336 1436 0 1 && exact "${work[@]}"'
ranks_start fail allreduce:int32:sum:20000 sleep:10000 allreduce:int32:sum:20000 \
	reattach "${work[@]}"
ranks_say "op 1 .* ok"
net_exec 3 ip link set eth0 mtu 1280
check "twin: an MTU that shrinks while they train ends the epoch, and they go on with less" \
	eval 'ranks_wait && ranks_say "^rank . failed .* reason $MTU rank 3" && lanes 296 1276 0 1'
mixed_down
family=6
mtus 1500 1450 1420 1280
check "IPv6, module and twin" eval 'mixed_up "${options[@]}" && lanes 288 1264 0 1 &&
	exact "${work[@]}"'
mixed_down
family=4
twin_conf "${options[@]}"
check "twins alone" eval 'twin_up 0 1 2 3 && exact "${work[@]}"'
twin_down
