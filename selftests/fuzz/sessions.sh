#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
#
# Trainers that no libgagg is, against two twins with AddressSanitizer and UBSan, or with
# SANITIZE=thread, on the loopback of a network namespace: of a group in rounds, and of one
# with a store. For 15 s each, if nothing else is said.
#
#	selftests/fuzz/sessions.sh [SECONDS]

# shellcheck disable=SC2317 # check calls them
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=selftests/fuzz/twins.sh
. selftests/fuzz/twins.sh
seconds=${1:-15}
twins_enter "$0" "$seconds"
ip link set lo up
twins_plan 8

# group NAME OPTION...
group()
{
	cat <<-END
		group "$1" {
		ring = 256
		window = 64
		shards = 2
		channels = 4
		dead-after = 60000
		$(printf '%s\n' "${@:2}")
		member 0 { address = 127.0.0.1 }
		member 1 { address = 127.0.0.2 }
		member 2 { address = 127.0.0.1 }
		member 3 { address = 127.0.0.1 }
		}
	END
}

{
	group g
	group s "sync = ssp:0" "lane-type = int64"
} >"$tmp/gagg.conf"

# of a rank
socket()
{
	echo "$tmp/$(($1 == 1)).sock"
}

# each COMMAND...: for each rank, with its socket and number where a word is RANK, or ends
# with SOCKET
each()
{
	local r pids=() status=0 words

	for r in 0 1 2 3; do
		words=("${@/#RANK/$r}")
		"${words[@]/%SOCKET/$(socket "$r")}" &
		pids+=($!)
	done
	for r in "${pids[@]}"; do
		wait "$r" || status=1
	done
	return "$status"
}

# fuzz GROUP [WORD]
fuzz()
{
	each build/fuzz/sessions "$1" SOCKET RANK "$seconds" "$SEED" "${@:2}"
}

train()
{
	each build/selftests/vm/rank --timeout 60000 --socket SOCKET g RANK \
		allreduce:int32:sum:100000 allreduce:float32:sum:1000
}

keep()
{
	each env GAGG_SOCKET=SOCKET build/selftests/vm/store s RANK 8 0
}

descriptors()
{
	find "/proc/${twins[0]}/fd" "/proc/${twins[1]}/fd" -type l | wc -l
}

# Memory of channels is kept for the next: 4 channels at once, in a group and with each
# of its sessions that is late, with 4 files each; of the store 3, and one for each rank. And
# a session of each rank that has not read its answers.
few_descriptors()
{
	local i most=$((before + 4 * 4 * (1 + 3) + 4 * 4 * (1 + 1) + 4))

	most=$((most + 4 * (3 + 3) * (1 + 3) + 4 * (3 + 1) * (1 + 1) + 4))

	# what is closed takes a moment
	for ((i = 0; i < 1200; i++)); do
		[ "$(descriptors)" -gt "$most" ] || return 0
		sleep 0.1
	done
	echo "$before before, $(descriptors) after"
	return 1
}

for i in 0 1; do
	twin_start $i "$twin" --config "$tmp/gagg.conf" --local "127.0.0.$((i + 1))" \
		--socket "$tmp/$i.sock"
done
twins_ready
before=$(descriptors)
check "for $seconds s" fuzz g
sed -n '/^# rank/p' "$tmp/said"
check "with a store" fuzz s store
sed -n '/^# rank/p' "$tmp/said"
check "the twins live" twins_live
check "and report nothing" no_report
check "and have few descriptors" few_descriptors
check "honest trainers work" train
check "of the store, too" keep
check "the twins end, and have freed everything" no_leak
[ $bad -eq 0 ] || echo "# to repeat: SEED=$SEED selftests/fuzz/sessions.sh $seconds"
exit $bad
