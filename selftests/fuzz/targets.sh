#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
#
# Replays the corpora and fuzzes, all targets in a minute.
#
#   selftests/fuzz/targets.sh [SECONDS [TARGET]...]
#
# Without arguments, as a part of the tests, it begins with the same seed each
# time: who changes one thing is not told of another. By hand it does not.
#
# What was found is in build/fuzz/failed/; new inputs that reach more are kept in
# build/fuzz/new/TARGET and used again. SEED in the environment is libFuzzer's.

cd "$(dirname "$0")/../.." || exit 1
seed=$(($(date +%s) & 0xffffff))
[ $# -gt 0 ] || seed=1
seed=$((${SEED:-$seed}))
# seconds for an input; as a part of the tests, beside a VM, it may wait long for a CPU
patience=20
[ $# -gt 0 ] || patience=100
seconds=${1:-60}
shift
# jobserver, or goals, of the make that has started this
unset MAKEFLAGS MFLAGS MAKELEVEL
export ASAN_OPTIONS=quarantine_size_mb=16 UBSAN_OPTIONS=print_stacktrace=1
results=0 bad=0

# shares of the time, and the longest input
declare -A share=([wire]=1 [chunk]=6 [store]=6 [join]=3 [conf]=2 [args]=2 [facts]=1)
declare -A longest=([wire]=96 [chunk]=1024 [store]=1024 [join]=1024 [conf]=4096 [args]=2048 [facts]=4096)

result()
{
	results=$((results + 1))
	echo "${1:+not }ok $results - $2"
	[ -z "$1" ] || bad=1
}

# failed TARGET: say how to repeat what libFuzzer has written of in $log
failed()
{
	local file

	grep -vE '^#[0-9]+|^INFO:|^"|^###|^\./' "$log" | head -n 60 | sed 's/^/# /'
	file=$(sed -n 's/.*Test unit written to \(.*\)/\1/p' "$log" | head -n 1)
	[ -n "$file" ] || file=$(sed -n 's/^Running: //p' "$log" | tail -n 1)
	echo "# to repeat: build/fuzz/$1 ${file:-selftests/fuzz/corpus/$1/*}"
}

# fuzz TARGET ARGUMENT...: libFuzzer, with what all calls have in common
fuzz()
{
	local target=$1
	shift

	"build/fuzz/$target" -seed=$seed -max_len="${longest[$target]:-4096}" -timeout=$patience \
		-rss_limit_mb=1024 -print_final_stats=1 -len_control=20 \
		-artifact_prefix="build/fuzz/failed/$target-" "$@" \
		>"$log" 2>&1 </dev/null
}

if [ $# -eq 0 ]; then
	for file in selftests/fuzz/fuzz_*.c; do
		file=${file##*/fuzz_}
		set -- "$@" "${file%.c}"
	done
fi
echo "# seed: $seed"
echo "1..$((2 * $#))"
log=$(mktemp)
trap 'rm -f "$log"' EXIT
make -s -j"$(nproc)" "${@/#/build/fuzz/}" || exit 1
mkdir -p build/fuzz/failed
total=0
for target; do
	total=$((total + ${share[$target]:-2}))
done

for target; do
	corpus=selftests/fuzz/corpus/$target new=build/fuzz/new/$target
	mkdir -p "$new"
	options=()
	[ ! -f "selftests/fuzz/$target.dict" ] || options+=(-dict="selftests/fuzz/$target.dict")

	# as single inputs: each runs once, and the one that fails is known
	inputs=("$corpus"/*)
	fuzz "$target" "${inputs[@]}"
	status=$?
	result "${status#0}" "$target: ${#inputs[@]} inputs of the corpus"
	[ $status -eq 0 ] || failed "$target"

	slice=$((seconds * ${share[$target]:-2} / total))
	[ $slice -gt 0 ] || slice=1
	fuzz "$target" "${options[@]}" -max_total_time=$slice "$new" "$corpus"
	status=$?
	runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log")
	rate=$(sed -n 's/^stat::average_exec_per_sec: *//p' "$log")
	result "${status#0}" "$target: $slice s, ${runs:-some} executions, ${rate:-?} a second"
	[ $status -eq 0 ] || failed "$target"
done
exit $bad
