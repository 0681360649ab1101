#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Marks of congestion (ECN): what a path's window holds may be marked. All else may not,
# since nobody would react. (What the window does then: unit/test_path.)

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
plan 8

CONTRIB=4 READY=5 RESULT=7
ECT_0=2

# Counts what comes to host 0, by type and ECN bits. The type is the fourth byte of the
# payload.
observe()
{
	net_exec 0 nft -f - <<-END
		table inet marks {
			counter numbered { }
			counter others { }
			counter results { }
			counter wrong { }
			chain input {
				type filter hook prerouting priority -300
				meta l4proto != udp return
				@th,88,8 $RESULT counter name results
				@th,88,8 { $CONTRIB, $READY } jump numbered
				@th,88,8 != { $CONTRIB, $READY } jump others
			}
			chain numbered {
				counter name numbered
				ip ecn < $ECT_0 counter name wrong
				ip6 ecn < $ECT_0 counter name wrong
			}
			chain others {
				counter name others
				ip ecn != 0 counter name wrong
				ip6 ecn != 0 counter name wrong
			}
		}
	END
}

# packets of a counter
seen()
{
	net_exec 0 nft list counter inet marks "$1" | sed -n 's/.*packets \([0-9]*\).*/\1/p'
}

group_ready()
{
	case $1 in
	module)	group_up ring 4096 window 1024 cwnd 256 ;;
	twin)	twin_conf ring 4096 window 1024 cwnd 256 && twin_up 0 1 2 ;;
	esac
}

group_gone()
{
	case $1 in
	module)	group_down ;;
	twin)	twin_down ;;
	esac
}

module_load "$@"
for family in 4 6; do
	for system in module twin; do
		layout 3
		net_ready 1500
		[ $system = module ] && rank_socket='' || rank_socket=1
		check "IPv$family, $system: a group" group_ready $system
		observe
		ranks_run allreduce:int32:sum:20000 allreduce:int32:sum:20000 barrier
		check "contributions may be marked, results and all else may not" \
			is "$(seen numbered) > 0 && $(seen results) > 0 &&
			$(seen others) > $(seen results) && $(seen wrong) == 0"
		group_gone $system
		net_down
	done
done
