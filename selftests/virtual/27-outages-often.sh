#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# turns: 8
#
# A link that is down again and again, in the middle of all-reduces that are longer than it:
# no operation takes longer than without, what it lasts, and 80 ms. More of them:
# vm/run --kernel uml-virtual --timeout 3600 -- env TIMES=50 SIZES="4M 16M" THIS

# shellcheck source=selftests/virtual/lib.sh
. "$(dirname "$0")/lib.sh"
TIMES=${TIMES:-3} SIZES=${SIZES:-4M}
read -ra sizes <<<"$SIZES"
plan $((4 * ${#sizes[@]}))

# often MS: $TIMES outages of host 2
often()
{
	local i missed=0 label="$size, $TIMES times $1 ms"

	measure_start -s "$size" -n $((number * TIMES / 2)) -w 0
	under_way_all
	for ((i = 0; i < TIMES; i++)); do
		net_pause "$(seconds $((base * 5 / 2)))"
		kill -0 "${bench_pid[0]}" && net_outage "$1" cut 2 || missed=$((missed + 1))
	done
	measure_end
	figure "$label"
	bar "$label" "$missed == 0 && $wrong == 0 && $again > 0 && $max <= $base + 1000 * $1 + 80000"
}

world module 4 ring 16384 || bail "no hosts"
wires 10gbit 25us
for size in "${sizes[@]}"; do
	baseline "$size" "N=4, $size"
	for ms in 1 5 20 100; do
		often $ms
	done
done
world_down
