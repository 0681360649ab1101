#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# turns: 4
#
# A pause, as a trainer computes between operations: windows that a timeout has halved
# again and again double from 10 datagrams, so the next operation takes longer. With
# idle-after longer than the pause it takes as long as one that follows at once.

# shellcheck source=selftests/virtual/lib.sh
. "$(dirname "$0")/lib.sh"
plan 4

# pauses SYSTEM: $at_once $default $kept, us of an operation
pauses()
{
	local options=(ring 8192 window 2048)

	world "$1" 4 "${options[@]}" || bail "no hosts"
	wires 10gbit 100us
	measure -s 1M -n 20 -w 4
	at_once=$mean
	measure -s 1M -n 20 -w 4 --pause 50
	default=$mean
	world_down
	world "$1" 4 "${options[@]}" idle-after 1000 || bail "no hosts"
	wires 10gbit 100us
	measure -s 1M -n 20 -w 4 --pause 50
	kept=$mean
	world_down
	note "$1, 1 MiB: $at_once us at once; after 50 ms $default us, with idle-after 1000 $kept us"
}

for system in module twin; do
	pauses "$system"
	bar "$system: after a pause an operation starts slowly" \
		"100 * $default >= 105 * $at_once"
	bar "$system: with idle-after it does not" "100 * $kept <= 103 * $at_once" \
		"100 * $kept <= 110 * $at_once"
done
