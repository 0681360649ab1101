#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
#
# Datagrams that are larger than a page while the kernel gives single pages only, as it
# does when memory is fragmented: they are lost, and all is well as soon as it gives
# larger ones.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
plan 6

# 1: single pages only
single_pages()
{
	sysctl -q -w net.core.high_order_alloc_disable="$1"
}

module_load "$@"
layout 2
net_ready 9000
check "a group with chunks of two pages" group_up ring 256 window 64 lanes 2048 dead-after 60000
check "single pages only" single_pages 1
ranks_start allreduce:int32:sum:300000
# more often than a port has pages in use
check "nothing can be sent" wait_until 60 eval "is \"\$(count_all tx_errors) > 30\""
check "larger ones, too" single_pages 0
check "all goes on" eval "ranks_wait && digests_agree"
lost=$(count_all tx_errors)
check "and nothing is lost any more" eval "ranks_run allreduce:int32:sum:300000 && \
	is \"\$(count_all tx_errors) == $lost\""
