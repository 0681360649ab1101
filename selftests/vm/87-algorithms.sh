#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 120
#
# Algorithms over rounds that neither the module nor any program here has heard of: a group of
# one trains, hosts compare number and parameters, and what has no name is shown by its number.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
plan 14

words=(allreduce:float32:sum:20000 reduce_scatter:int32:max:9000 broadcast:5000:1
	allreduce:float32:sum:20000 barrier)

# shellcheck disable=SC2119 # digests_agree as it is
trains()
{
	ranks_run "${words[@]}" && digests_agree
}

shown()
{
	ctl 0 group show g | tee /dev/stderr | grep -E " sync $1( |\$)"
}

# differs THERE HERE: host 1 has the one, host 0 the other
differs()
{
	wait_until 20 eval "ctl 0 member list g |
		grep '^1=.*config-mismatch sync ($1 there, $2 here) '"
	rank_start 0 barrier
	fails rank_wait 0 &&
		rank_says 0 "config-mismatch: sync is $1 on the host of rank 1, $2 here\$"
}

agreed()
{
	local i

	for ((i = 0; i < hosts; i++)); do
		! ctl "$i" group show g | grep mismatch >/dev/null || return
	done
}

# set_refused WORD OPTION...
set_refused()
{
	! ctl 0 group set g "${@:2}" >"$tmp/refused" 2>&1 && grep "$1" "$tmp/refused"
}

module_load "$@"
layout 4
net_ready 1500
group_up ring 256 window 64 sync rounds-0xf3:7
check "a number that nobody knows makes a group" shown "rounds-0xf3:7"
check "which trains in rounds" trains
check "it is no mode of gradients" set_refused "wire int16 and int8 require" wire int8
check "nor has it a store" set_refused "lane-type int64 requires" lane-type int64
ctl 1 group set g sync rounds-0xf4:7
check "another number is another algorithm" differs "rounds-0xf4:7" "rounds-0xf3:7"
ctl 1 group set g sync rounds-0xf3:0:7
check "the same with other parameters is, too" differs "rounds-0xf3:0:7" "rounds-0xf3:7"
ctl 1 group set g sync rounds-0xf3:7:0:0:1
check "and with more than are told in clear" differs "rounds-0xf3:#[0-9a-f]*" "rounds-0xf3:7"
ctl 1 group set g sync localsgd:7
check "one that has a name is called by it" differs "localsgd:7" "rounds-0xf3:7"
ctl 1 group set g sync bsp
check "and bsp is none of them" differs "bsp" "rounds-0xf3:7"
ctl 1 group set g sync rounds-0xf3:7
check "mended, it trains" eval "wait_until 20 agreed && trains"
check "a number outside is refused with a sentence" set_refused "NN from 80 to ff" sync rounds-0x7f:1
check "and changes nothing" shown "rounds-0xf3:7"
group_down
mixed_up ring 256 window 64 sync rounds-0xf3:7
check "the same over the module and twins" trains
check "of which gaggctl says the same" eval \
	"twin_ctl 2 group show g | tee /dev/stderr | grep -E ' sync rounds-0xf3:7( |\$)'"
mixed_down
