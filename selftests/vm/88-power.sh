#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# kernels: stock 6.12 7
# stock: ext4 and device mapper
# timeout: 300
#
# The archive's disk: the power goes, it is full, it has errors. Trainers save checkpoint
# after checkpoint. A power cut is a copy of the disk while nothing is written to it: what
# gaggd has acknowledged is in it, whole, or a later one. So it is when gaggd is killed, or
# the disk fails, at any moment.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
plan 14
seed

SAVER=$TOP/build/selftests/vm/saver
DISK=gagg-disk
CUTS=20 KILLS=20 ERRORS=10
MIB=64
mounted=$tmp/mounted copies=$tmp/copies

disk_up()
{
	modprobe -a loop dm-mod ext4 || return
	mkdir -p "$mounted" "$copies"
	mount -t tmpfs tmpfs "$copies" || return
	truncate -s ${MIB}M "$copies/disk"
	loop=$(losetup --find --show "$copies/disk") || return
	dm create $DISK --table "$(table linear)" || return
	mkfs.ext4 -q "/dev/mapper/$DISK" && mount "/dev/mapper/$DISK" "$mounted"
}

dm()
{
	DM_DISABLE_UDEV=1 dmsetup "$@"
}

# table linear|error
table()
{
	local sectors=$((MIB * 2048))

	case $1 in
	linear)	echo "0 $sectors linear $loop 0" ;;
	error)	echo "0 $sectors error" ;;
	esac
}

# become linear|error
become()
{
	dm suspend --nolockfs --noflush $DISK && dm load $DISK --table "$(table "$1")" &&
		dm resume $DISK
}

# the number of the last one that was acknowledged
kept()
{
	sed -n '$s/^kept //p' "$tmp/kept" | grep . || echo 0
}

saver_start()
{
	: >"$tmp/kept"
	net_exec 0 "$SAVER" save g /run/gagg/h0.sock x "$1" >"$tmp/kept" 2>"$tmp/why" &
	pid=$!
}

saves()
{
	saver_start 1
	wait "$pid" || {
		cat "$tmp/why"
		return 1
	}
}

# in the middle of whatever there is
power_goes()
{
	sleep "0.$((RANDOM % 5))$((RANDOM % 10))"
	least[$1]=$(kept)
	dm suspend --nolockfs --noflush $DISK || return
	cp --sparse=always "$copies/disk" "$copies/cut"
	# it has come as far as this before, or at least begun with the next
	most[$1]=$(($(kept) + 1))
	dm resume $DISK
	look_at "$1"
}

# what is on the disk when there is power again
look_at()
{
	local found

	mkdir -p "$copies/mounted"
	mount -o loop "$copies/cut" "$copies/mounted" || return
	found=$("$SAVER" look "$copies/mounted/state/g/x" 2>&1)
	umount "$copies/mounted"
	note "cut $1: $found is there; ${least[$1]} to ${most[$1]}"
	[[ $found =~ ^[0-9]+$ ]] && is "$found >= ${least[$1]} && $found <= ${most[$1]}"
}

cuts()
{
	local i status=0

	for ((i = 0; i < CUTS; i++)); do
		power_goes $i || status=1
	done
	kill -0 "$pid" || return
	return $status
}

agent_up()
{
	: >/run/gagg/h0.log
	net_exec 0 gaggd --socket /run/gagg/h0.sock --state "$mounted/state" \
		>/run/gagg/h0.log 2>&1 &
	disown
	wait_until 30 grep -q "ready at" /run/gagg/h0.log
}

# last N: what a saver that was disturbed has left; N was there before it began
last()
{
	local found least

	least=$(kept)
	found=$("$SAVER" look "$mounted/state/g/x") || return
	note "$found is there; $least was acknowledged, $1 was there before"
	if [ "$least" -gt 0 ]; then
		is "$found >= $least && $found <= $least + 1"
	else
		is "$found == $1 || $found == 1"
	fi
}

# times N COMMAND...: to a saver, in the middle of whatever there is
times()
{
	local n=$1 i before status=0
	shift

	for ((i = 0; i < n; i++)); do
		before=$("$SAVER" look "$mounted/state/g/x") || return
		saver_start 1000000
		sleep "0.$((RANDOM % 5))$((RANDOM % 10))"
		"$@" && last "$before" || status=1
	done
	return $status
}

no_agent()
{
	! pgrep -x gaggd
}

# One that is still ending answers at its socket: the next one would refuse to start.
agent_dies()
{
	pkill -KILL -x gaggd
	! wait "$pid" && wait_until 30 no_agent && agent_up
}

disk_fails()
{
	become error
	refused "Input/output error\|Read-only file system"
	umount "$mounted" && become linear && mount "/dev/mapper/$DISK" "$mounted"
}

is_there()
{
	local found

	found=$("$SAVER" look "$mounted/state/g/x") && is "$found == $1"
}

refused()
{
	! wait "$pid" && cat "$tmp/why" && grep -q "$1" "$tmp/why"
}

# To the last block: what does not fit may be refused as a whole, and what a file system has
# set aside for what it has not written yet it gives back afterwards.
fill()
{
	local size

	for size in 1M 4K 4K; do
		dd if=/dev/zero of="$mounted/full" bs=$size oflag=append conv=notrunc
		sync -f "$mounted"
	done 2>"$tmp/dd"
}

module_load "$@"
layout 1
net_ready 1500
group_up ring 256 window 64 sync asp
check "a disk" disk_up
mkdir -p /run/gagg
agent_up
declare -A least most
check "one is saved" saves
saver_start 1000000
check "the power goes $CUTS times: what was acknowledged is there" cuts
kill "$pid"
wait "$pid"

# what was under way may still be kept; the next comes behind it
check "one more is saved" wait_until 20 saves
fill
saver_start 1
check "a full disk is told" refused "into gaggd's directory: No space left on device"
check "and the older one is there" is_there 1
rm "$mounted/full"
check "with room again one is saved" saves

check "gaggd is killed $KILLS times: what it has acknowledged is there" \
	times $KILLS agent_dies
check "the disk fails $ERRORS times, in the middle of a save: the same" times $ERRORS disk_fails
check "one more is saved" saves
become error
saver_start 1
check "errors of the disk are told" refused "Input/output error\|Read-only file system"
umount "$mounted"
become linear
mount "/dev/mapper/$DISK" "$mounted"
check "and the older one is there" is_there 1
check "with a disk again one is saved" saves
check "and is there" is_there 1
pkill -KILL -x gaggd
umount "$mounted"
dm remove $DISK
losetup -d "$loop"
umount "$copies"
