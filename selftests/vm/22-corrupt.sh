#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 180
#
# Bits that turn on the way: such datagrams are counted and never added.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
plan 11

sum=allreduce:int32:sum:60000

module_load "$@"
for family in 4 6; do
	layout 4
	net_ready 1500
	group_up ring 256 window 64
	check "IPv$family: a clean network drops nothing" ranks_run "$sum"
	check "no checksum was wrong" is "$(count_all drop_checksum) == 0"
	net_corrupt 5
	check "5 % of the datagrams have a wrong bit: the results are exact" \
		ranks_run "$sum" "$sum" allgather:50000 broadcast:50000:2 reduce_scatter:int32:min:5000
	check "and the same everywhere" digests_agree "allreduce|allgather|broadcast"
	wrong=$(count_all drop_checksum)
	note "$wrong checksums, $(count_all drop_version) versions"
	# 2 x 175 chunks x 3 x 2 x 2 operations, and then some; 5 % of that, less a
	# generous part for headers that are hit and found out before
	check "wrong checksums are counted" is "$wrong > 50"
	net_clear
	group_down
done
check "the module can be unloaded" module_unload
