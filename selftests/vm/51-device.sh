#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 180
#
# Every ioctl, mmap(), io_uring command and so on of /dev/gagg in a way that has to
# fail: the right errno, and the group works.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"

ODD=$TOP/build/selftests/vm/odd_ioctl

plan 2

module_load "$@"
layout 1
net_ready 1500
ctl 0 group create one id 4712 local 10.77.0.1 ring 256 window 64 channels 2 \
	member 0=10.77.0.1
ctl 0 group create aside id 4713 local 10.77.0.1 ring 256 window 64 \
	member 0=10.77.0.1,worker member 1=10.77.0.2 member 3=10.77.0.1,aggregator
check "ioctl(), mmap(), read(): each error is the right one" \
	net_exec 0 "$ODD" one 0 aside 0 1 3
check "and the group works" net_exec 0 "$RANK" one 0 allreduce:int32:sum:100000 \
	allreduce:float32:sum:1000 broadcast:1000:0 split:0 barrier
