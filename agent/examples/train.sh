# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Trainers of the demonstrations, one on each of $hosts; to be sourced. Who does says how
# to reach host I, and has a folder $out for temporary files:
#
#   on I COMMAND...     runs COMMAND there, with GAGG_SOCKET
#   train GROUP         rank I trains on host I; the progress of rank 0 is printed
#   report SECONDS      what the replicas are like; sets $digest
#   counters NAME...    of the hosts' JSON in $out/stats.I: each, added over the hosts

# shellcheck disable=SC2154 # hosts and out

train()
{
	local i pids=() failed=

	for ((i = hosts - 1; i >= 0; i--)); do
		on "$i" build/digits --group "$1" --rank "$i" >"$out/rank.$i" 2>&1 &
		pids+=($!)
	done
	# as it comes
	tail -q -s 0.1 -n +1 -F --pid="${pids[-1]}" "$out/rank.0" 2>/dev/null |
		grep --line-buffered '^epoch' || true
	for i in "${pids[@]}"; do
		wait "$i" || failed=1
	done
	[ -n "$failed" ] || return 0
	echo "demo: a trainer has failed:" >&2
	cat "$out"/rank.* >&2
	return 1
}

report()
{
	local replicas single accuracy

	replicas=$(sed -n 's/^rank [0-9]*: //p' "$out"/rank.*)
	single=$(build/digits --single | awk '/^single: / { print $3 }')
	if [ "$(wc -l <<<"$replicas")" -ne "$hosts" ]; then
		echo "demo: not every rank has a result" >&2
		return 1
	fi
	read -r _ accuracy _ digest < <(head -n 1 <<<"$replicas")
	echo
	echo "test accuracy, four hosts:            $accuracy %  ($1 s)"
	echo "test accuracy, one process, float32:  $single %"
	if [ "$(sort -u <<<"$replicas" | wc -l)" -ne 1 ]; then
		echo "the four replicas:                    DIFFER"
		return 1
	fi
	echo "the four replicas:                    bit-identical (digest $digest)"
	awk -v a="$accuracy" -v s="$single" 'BEGIN { exit a < 95 || a - s > 1 || s - a > 1 }' && return
	echo "demo: accuracy is not what it should be" >&2
	return 1
}

counters()
{
	local name

	for name; do
		grep -ho "\"$name\": *[0-9]*" "$out"/stats.* |
			awk -F: '{ n += $2 } END { printf "%d ", n }'
	done
	echo
}

# say_counters WHERE
say_counters()
{
	local rounds chunks contributions datagrams repeated

	read -r rounds chunks contributions datagrams repeated < <(counters rounds chunks \
		contributions tx_datagrams retransmits)
	printf '%-37s %d all-reduces: %d chunks, %d contributions\n' "added up in $1:" \
		$((rounds / hosts)) "$chunks" "$contributions"
	echo "datagrams:                            $datagrams sent, $repeated contributions sent again"
}
