#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 180
#
# io_uring commands that wait for an epoch that never starts, on files that are
# closed and in processes that are killed: none keeps the module. A userfaultfd
# puts a close between a command and its wait.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"

HELD=$TOP/build/selftests/vm/held

killed()
{
	net_exec 0 "$HELD" g 0 die
	is "$? == 128 + $(kill -l KILL)"
}

plan 4
module_load "$@"
layout 2
net_ready 1500
group_up ring 256 window 64 || bail "no group"
check "each command ends when its file is closed" net_exec 0 "$HELD" g 0
check "and when its process is killed" killed
check "the module can be unloaded, groups and all" module_unload
check "nothing is in the kernel's log" klog_scan
