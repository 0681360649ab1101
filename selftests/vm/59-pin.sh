#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 480
# turns: 2
#
# Who pays for the memory of a twin's trainers. What a trainer writes is its own, what the
# twin has made is used again: a trainer that attaches and leaves for ever, and holds every
# file that it was passed, takes nothing from anybody else.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
# shellcheck source=selftests/vm/memcg.sh
. "$(dirname "$0")/memcg.sh"
plan 16

PIN=$TOP/build/selftests/vm/pin_twin
# KiB of a ring of 16384 chunks, contributions or results
RING=$((16384 * 1440 / 1024))

# the one trainer's files
holds()
{
	# until its standard input ends
	sleep 1000 | net_exec 0 "${MEMCG_EXEC[@]}" "$memcg_tree/trainer" \
		"$PIN" g /run/gagg/h0.sock 0 20 keep >"$tmp/pin" 2>&1 &
	pid=$!
	wait_until 60 grep kept "$tmp/pin"
}

comes_and_goes()
{
	net_exec 0 "$PIN" g /run/gagg/h0.sock 0 "$1" close || {
		tail -n 3 /run/gagg/h0.log
		return 1
	}
}

# what trainers have left is given back, by processes that the twins pay for, too
all_swept()
{
	[ "$(pgrep -c -x gagg-sweep)" -eq 2 ]
}

# KiB, of both twins: their own, and the files that they pay for
twin_memory()
{
	wait_until 20 all_swept
	echo $(($(charged twin anon) + $(charged twin shmem)))
}

show()
{
	note "$1: twins $(twin_memory), of these shmem $(charged twin shmem);" \
		"trainers shmem $(charged trainer shmem) KiB"
}

check "there are cgroups" memcg_up twin trainer
echo 256M >"$memcg_tree/twin/memory.max"
layout 2
net_ready 1500
twin_prefix=("${MEMCG_EXEC[@]}" "$memcg_tree/twin")
twin_conf ring 16384 window 256
check "twins in 256 MiB" twin_up 0 1
check "a trainer attaches 20 times, and holds the files of each time" holds
show "held"
check "that killed nobody" is "$(memcg_killed twin) + $(memcg_killed trainer) == 0"
check "the twins have the memory of one time" is "$(charged twin shmem) < 2 * $RING"
check "and so has the trainer" is "$(charged trainer shmem) < 2 * $RING"
pkill -x sleep
wait "$pid"
twin_down

# chunks, and what the rank has read of them
twin_conf ring 16384 window 256 sync asp
check "twins with a store" eval "twin_up 0 1 && holds"
show "held of a store"
check "that killed nobody, either" is "$(memcg_killed twin) + $(memcg_killed trainer) == 0"
check "and they have the memory of one time" is "$(charged twin shmem) < 3 * $RING"
pkill -x sleep
wait "$pid"
twin_down

twin_conf ring 16384 window 256
twin_up 0 1
rank_options=(--repeat 0)
rank_prefix=("${MEMCG_EXEC[@]}" "$memcg_tree/trainer")
ranks_start allreduce:int32:sum:4000000
check "trainers are under way" under_way 0 1
show "training"
check "what they write is theirs" is "$(charged trainer shmem) >= 2 * 4000000 / 1024 * 4"
check "and the results are the twins'" is "$(charged twin shmem) < 3 * $RING"
for r in 0 1; do
	rank_kill $r
done
twin_down

twin_conf ring 1024 window 64
check "twins with a small ring" twin_up 0 1
rounds=1000
! slow_kernel || rounds=500
comes_and_goes 200
# Again, up to twice: the heap of a twin grows by 16 to 24 KiB once, after a thousand times or
# after four, and not in the 30000 that follow; what is left behind is left behind each time.
for turn in 1 2 3; do
	before=$(twin_memory) kernel=$(charged twin slab)
	comes_and_goes $rounds >"$tmp/goes" 2>&1 || { rounds=0; break; }
	after=$(twin_memory)
	note "turn $turn: $before KiB before, $after KiB after; of the kernel $kernel, $(charged twin slab)"
	[ $((100 * (after - before))) -ge "$before" ] || break
done
check "a trainer comes and goes, again and again" is "$rounds > 0" || cat "$tmp/goes"
check "which takes the twins less than 1 %" is "100 * ($after - $before) < $before"
# what RCU has still to free counts for a while
little_slab()
{
	is "$(charged twin slab) - $kernel < $rounds * 128 / 1024"
}
check "and the kernel no 128 bytes a round" wait_until 20 little_slab
twin_down
memcg_down
