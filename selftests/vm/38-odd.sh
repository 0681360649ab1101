#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
# turns: 2
# kernels: uml
#
# What no honest trainer asks of gagg-twin. In real time and on several CPUs: a twin whose clients
# come again without a pause, on one CPU, refuses some as too many at once.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
plan 3

agree()
{
	ranks_run "$@" && digests_agree "allreduce"
}

layout 4
net_ready 1500
check "twins" eval 'twin_conf ring 256 window 64 && twin_up 0 1 2 3'
check "what no honest trainer does" \
	net_exec 0 "$TOP/build/selftests/vm/odd_twin" g /run/gagg/h0.sock 0
check "and the twin has survived it" agree allreduce:int32:sum:1000
twin_down
