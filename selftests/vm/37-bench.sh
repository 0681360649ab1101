#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
#
# gagg-bench: every operation, what it prints, and that it sees a wrong result.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
plan 17

# every rank by itself, with gaggd, in the background
bench_start()
{
	local r=$1
	shift

	net_exec "$r" gagg-bench "$@" --group g --rank "$r" --socket "/run/gagg/h$r.sock" \
		>"$tmp/bench.$r" 2>"$tmp/bench.$r.err" &
	rank_pid[r]=$!
	: >"$tmp/rank.$r"
}

# all ranks; the last one's words are printed if it fails
bench()
{
	local r

	for ((r = ranks - 1; r >= 0; r--)); do
		bench_start "$r" "$@"
	done
	ranks_wait || {
		cat "$tmp"/bench.?.err "$tmp/bench.0"
		return 1
	}
}

# rows EXPRESSION: true of every row of the JSON, in Python
rows()
{
	python3 - "$tmp/bench.0" "$1" <<-'END'
		import json, sys
		rows = json.load(open(sys.argv[1]))
		assert rows, "no rows"
		for row in rows:
		    assert eval(sys.argv[2], {}, row), row
	END
}

silent_but_0()
{
	cat "$tmp"/bench.[1-9]
	[ -s "$tmp/bench.0" ] && [ ! -s "$tmp/bench.1" ] && [ ! -s "$tmp/bench.2" ] &&
		[ ! -s "$tmp/bench.3" ]
}

module_load "$@"
layout 4
net_ready 1500
check "gaggd and a group on every host" \
	"$TOP/agent/examples/up.sh" 4 g ring 1024 window 256

sizes=(-b 4K -e 256K -f 8 -n 3 -w 1)
check "all_reduce" bench all_reduce "${sizes[@]}"
check "has the columns of nccl-tests" grep -E \
	'^# *size +count +type +redop +root +time +algbw +busbw +#wrong ' "$tmp/bench.0"
check "a row for each size" is "$(grep -c '^ ' "$tmp/bench.0") == 3"
check "and only rank 0 prints" silent_but_0

# User-mode Linux does not know how busy it is
case ${KERNEL:-} in
uml*)	busy=True ;;
*)	busy='cpu_s_per_gb > 0' ;;
esac
# shellcheck disable=SC2016 # Python's
sane="$busy and "'wrong == 0 and n == 4 and ops == 3 and 0 < p50_us <= p99_us <= max_us and algbw > 0'
for op in all_reduce reduce_scatter all_gather "broadcast -r 2"; do
	# shellcheck disable=SC2086
	check "$op in JSON" eval "bench $op -j ${sizes[*]} && rows '$sane and op == \"${op% -*}\"'"
done
check "datagrams are counted: a round trip to three hosts at least" \
	rows 'datagrams >= 6 and resent >= 0'
check "int32, minimum" eval "bench all_reduce -j -d int32 -o min ${sizes[*]} && rows '$sane'"
check "int64" eval "bench all_reduce -j -d int64 ${sizes[*]} &&
	rows '$sane and wire == \"int64\"'"
check "bfloat16, mean, no plan" eval \
	"bench all_reduce -j -d bfloat16 -o mean --no-plan ${sizes[*]} && rows '$sane'"
check "overlap" eval "bench overlap -j -b 256K -e 256K -n 2 &&
	rows 'wrong == 0 and comm_us > 0 and compute_us > 0 and ratio > 0.5'"

# rank 3 adds something else than the others think
wrong_seen()
{
	local r status=0

	for ((r = 0; r < 4; r++)); do
		bench_start "$r" all_reduce -j -b 64K -e 64K -n 2 --seed $((r == 3 ? 2 : 1))
	done
	for ((r = 0; r < 4; r++)); do
		rank_wait "$r"
		[ $? -eq 1 ] || status=1
	done
	cat "$tmp/bench.0"
	return $status
}

check "a wrong sum is an exit status" wrong_seen
check "and is counted" rows 'wrong > 40000'
check_not "nobody joins without a group" \
	net_exec 0 gagg-bench all_reduce --group none --socket /run/gagg/h0.sock --timeout 5
