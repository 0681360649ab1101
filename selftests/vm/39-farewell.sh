#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# stock: io_uring of Linux 6.1 reports the newest of several events first
#
# A twin does not run while its trainer leaves and ends: it hears the farewell before the death.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
plan 4

BYE=1

module_load "$@"
layout 4
net_ready 1500
check "the module on two hosts, the twin on two others" mixed_up ring 256 window 64 dead-after 60000
ranks_start fail barrier @2:say:ready @2:await:"$tmp/stopped" @2:abort barrier
check "a trainer of a twin waits" wait_until 90 rank_says 2 ready
pkill -STOP -P "${twin_pid[2]}"
touch "$tmp/stopped"
rank_wait 2
pkill -CONT -P "${twin_pid[2]}"
check "who has left and ended meanwhile has left" all_blame 2 $BYE
check "down" mixed_down
