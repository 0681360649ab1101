#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
# kernels: uml-debug debug
#
# All that takes one of our locks and one of the kernel's, in one boot: lockdep finds
# orders that exclude each other though no two of them ever met.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
plan 4

# user memory is written under rtnl_lock: names of an interface's statistics, interfaces
under_rtnl()
{
	net_exec 0 python3 -c '
import array, fcntl, socket, struct
SIOCETHTOOL, SIOCGIFCONF, ETHTOOL_GSTRINGS, ETH_SS_FEATURES = 0x8946, 0x8912, 0x1b, 4
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
names = array.array("B", struct.pack("III", ETHTOOL_GSTRINGS, ETH_SS_FEATURES, 0) +
		    bytes(128 * 32))
fcntl.ioctl(s, SIOCETHTOOL, struct.pack("16sP", b"eth0", names.buffer_info()[0]))
assert b"tx-udp-segmentation" in names.tobytes()
list = array.array("B", bytes(400))
fcntl.ioctl(s, SIOCGIFCONF, struct.pack("iP", 400, list.buffer_info()[0]))
assert b"eth0" in list.tobytes()'
}

module_load "$@"
layout 2
net_ready 1500
# gagg_net.lock, rtnl_lock: joining and leaving
check "groups with an address for all" group_up ring 256 window 64 multicast 239.77.0.1
# what OPEN takes; mmap_lock, session.lock
check "trainers open, and map" ranks_run allreduce:int32:sum:1000
group_down
# rtnl_lock, mmap_lock
check "who asks about interfaces" under_rtnl
check "the kernel has nothing to say about the order" klog_scan
