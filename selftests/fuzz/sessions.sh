#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
#
# Trainers that no libgagg is, against two twins with AddressSanitizer and UBSan, on the
# loopback of a network namespace. Without arguments, as a part of the tests, for 15 s.
#
#	selftests/fuzz/sessions.sh [SECONDS]

# shellcheck disable=SC2317 # check calls them
cd "$(dirname "$0")/../.." || exit 1
seconds=${1:-15}
if [ -z "${in_namespace:-}" ]; then
	scripts/sanitized address,undefined build/gagg-twin || exit 1
	make -s build/fuzz/sessions build/selftests/vm/rank || exit 1
	exec unshare --map-root-user --net env in_namespace=1 "$0" "$seconds"
fi
ip link set lo up
SEED=${SEED:-$RANDOM$RANDOM}
echo "# seed $SEED"
echo 1..6
tmp=$(mktemp -d) results=0 bad=0 twins=()
trap 'kill "${twins[@]}" 2>/dev/null; rm -rf "$tmp"' EXIT
export ASAN_OPTIONS=detect_leaks=1:halt_on_error=1 UBSAN_OPTIONS=print_stacktrace=1

# check DESC COMMAND...
check()
{
	local desc=$1
	shift

	results=$((results + 1))
	if "$@" >"$tmp/said" 2>&1; then
		echo "ok $results - $desc"
		return
	fi
	bad=1
	echo "not ok $results - $desc"
	sed 's/^/# /' "$tmp/said" | head -n 80
}

cat >"$tmp/gagg.conf" <<-END
	group "g" {
	ring = 256
	window = 64
	shards = 2
	channels = 4
	dead-after = 60000
	member 0 { address = 127.0.0.1 }
	member 1 { address = 127.0.0.2 }
	member 2 { address = 127.0.0.1 }
	member 3 { address = 127.0.0.1 }
	}
END

twins_up()
{
	local i

	for i in 0 1; do
		build/sanitized/address,undefined/build/gagg-twin --config "$tmp/gagg.conf" \
			--local "127.0.0.$((i + 1))" --socket "$tmp/$i.sock" >"$tmp/$i.log" 2>&1 &
		twins[i]=$!
	done
	for i in 0 1; do
		until grep -q "ready at" "$tmp/$i.log"; do
			kill -0 "${twins[i]}" || return
			sleep 0.1
		done
	done
}

# of a rank
socket()
{
	echo "$tmp/$(($1 == 1)).sock"
}

# each COMMAND...: for each rank, with its socket and number instead of SOCKET and RANK
each()
{
	local r pids=() status=0 words

	for r in 0 1 2 3; do
		words=("${@/#RANK/$r}")
		"${words[@]/#SOCKET/$(socket "$r")}" &
		pids+=($!)
	done
	for r in "${pids[@]}"; do
		wait "$r" || status=1
	done
	return "$status"
}

fuzz()
{
	each build/fuzz/sessions g SOCKET RANK "$seconds" "$SEED"
}

train()
{
	each build/selftests/vm/rank --timeout 60000 --socket SOCKET g RANK \
		allreduce:int32:sum:100000 allreduce:float32:sum:1000
}

no_report()
{
	! grep -hA30 -E "ERROR: |runtime error|SUMMARY: " "$tmp/0.log" "$tmp/1.log"
}

descriptors()
{
	find "/proc/${twins[0]}/fd" "/proc/${twins[1]}/fd" -type l | wc -l
}

# Memory of channels is kept for the next: 4 channels at once, in the group and with each
# of its sessions that is late, with 4 files each. And a session of each rank that has not
# read its answers.
few_descriptors()
{
	local i most=$((before + 4 * 4 * (1 + 3) + 4 * 4 * (1 + 1) + 4))

	# what is closed takes a moment
	for ((i = 0; i < 100; i++)); do
		[ "$(descriptors)" -gt "$most" ] || return 0
		sleep 0.1
	done
	echo "$before before, $(descriptors) after"
	return 1
}

twins_live()
{
	kill -0 "${twins[0]}" && kill -0 "${twins[1]}"
}

no_leak()
{
	local status=0 pid

	for pid in "${twins[@]}"; do
		kill "$pid" && wait "$pid" || status=1
	done
	no_report && return "$status"
}

if ! twins_up; then
	cat "$tmp"/?.log
	echo "Bail out! no twins"
	exit 1
fi
before=$(descriptors)
check "for $seconds s" fuzz
sed -n '/^# rank/p' "$tmp/said"
check "the twins live" twins_live
check "and report nothing" no_report
check "and have few descriptors" few_descriptors
check "honest trainers work" train
check "the twins end, and have freed everything" no_leak
[ $bad -eq 0 ] || echo "# to repeat: SEED=$SEED selftests/fuzz/sessions.sh $seconds"
exit $bad
