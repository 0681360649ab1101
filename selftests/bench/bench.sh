#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In the VM: all-reduces by all systems side by side. Rows of gagg-bench, with
# "regime" and "rep", one JSON object a line, to FILE.
#
#   bench.sh FILE
#
# Environment: HOSTS, SIZES, DTYPES, REGIMES, SYSTEMS (words), REPS, ITERS (most
# operations of a size), BUDGET (seconds for them), LIMIT (seconds for all sizes
# of a system), OPERATION, MTU, SHARDS; CALIBRATE=once. WALK=1: operations walk once through the
# ring before each size (at most 400; BUDGET), which is a run of its own; WALK=all: 400
# (BUDGET) before each size, and one run for all sizes. IDLE_FILE, as of gagg-bench.
# NATIVE=1: as in systems.sh.
#
# In each regime the systems take turns, A B C A B C ..., all sizes at each turn. A
# system that has several algorithms tries all of them once in each regime (or in the
# first), up to 4 MiB; those that were best somewhere take part, and the best of these
# at each size counts.

# shellcheck disable=SC2153 # SIZES is the environment's

set -uo pipefail
cd "$(dirname "$0")/../.." || exit
# shellcheck source=vm/net.sh
. vm/net.sh
# shellcheck source=selftests/bench/systems.sh
. selftests/bench/systems.sh

out=$1
declare -A algorithms
tmp=/run/bench.tmp
mkdir -p $tmp

say()
{
	printf '%4d s  %s\n' $SECONDS "$*"
}

# what the network does to what is sent
regime()
{
	links_clear
	net_offload on || return
	case $1 in
	unshaped)	;;
	single)		net_offload off ;;
	*bit)		links "$1" ;;
	loss)		net_loss 1 ;;
	jitter)		net_offload off && net_impair delay 5ms 0.5ms ;;
	reorder)	net_offload off && net_impair delay 2ms reorder 25% 50% ;;
	*)		return 2 ;;
	esac
}

# what it has to choose from
several()
{
	case $1 in
	gagg*|twin*)	return 1 ;;
	esac
}

# names of the algorithms that won at any size, with commas between
winners()
{
	python3 -c 'import json, sys
print(",".join(sorted({row["algorithm"] for row in json.load(open(sys.argv[1]))})))' "$1"
}

small_sizes()
{
	local size small=()

	for size in $SIZES; do
		[ "$size" = 64M ] || small+=("$size")
	done
	(IFS=,; echo "${small[*]}")
}

calibrate()
{
	local system=$1

	several "$system" || return 0
	[ "${CALIBRATE:-}" != once ] || [ -z "${algorithms[$system]:-}" ] || return 0
	if system_run "$system" "$LIMIT" "$OPERATION" -j -s "$(small_sizes)" -n 1 -w 0 \
		>"$tmp/out" 2>"$tmp/err"; then
		algorithms[$system]=$(winners "$tmp/out")
		say "  $system: ${algorithms[$system]}"
	else
		say "  $system: does not work here"
		tail -n 3 "$tmp/err"
		algorithms[$system]=none
	fi
}

# operations SYSTEM DTYPE REP [WORD...]: of all sizes; each by itself if its walk is
operations()
{
	local system=$1 dtype=$2 rep=$3 sizes=("${SIZES// /,}") size warmup=1
	shift 3

	[ "${WALK:-}" != all ] || warmup=400
	[ "${WALK:-}" != 1 ] || read -ra sizes <<<"$SIZES"
	for size in "${sizes[@]}"; do
		if [ "${WALK:-}" = 1 ]; then
			warmup=$(((64 << 20) / $(numfmt --from=iec "$size")))
			warmup=$((warmup > 400 ? 400 : warmup < 40 ? 40 : warmup))
		fi
		system_run "$system" "$LIMIT" "$OPERATION" -j -s "$size" -d "$dtype" -n "$ITERS" \
			-w $warmup -t "$BUDGET" --seed "$rep" --timeout "$LIMIT" \
			${IDLE_FILE:+--idle-file "$IDLE_FILE"} "$@" || return
	done
}

sent()
{
	net_bytes 0 | cut -d' ' -f1
}

# turn SYSTEM REGIME DTYPE REP
turn()
{
	local system=$1 begun=$SECONDS words=() sent

	[ "${algorithms[$system]:-}" != none ] || return 0
	[ -z "${algorithms[$system]:-}" ] || words=(--algorithm "${algorithms[$system]}")
	sent=$(sent)
	if operations "$system" "$3" "$4" "${words[@]}" >"$tmp/out" 2>"$tmp/err"; then
		say "  $system $3: $((SECONDS - begun)) s"
	else
		say "  $system $3: failed after $((SECONDS - begun)) s"
		tail -n 3 "$tmp/err"
	fi
	# rows that were complete count, whatever came then
	python3 - "$system" "$2" "$4" "$tmp/out" $(($(sent) - sent)) "$MTU" >>"$out" <<-'END'
		import json, sys
		system, regime, rep, path, sent, mtu = sys.argv[1:]
		rows = []
		for line in open(path):
		    if line.startswith("{"):
		        rows.append(json.loads(line.rstrip().rstrip(",")))
		# some take shared memory when nobody looks
		if int(sent) < 0.2 * sum(row["bytes"] * row["ops"] for row in rows):
		    sys.exit(f"{system} does not use the network")
		for row in rows:
		    row |= {"system": system, "regime": regime, "rep": int(rep), "mtu": int(mtu)}
		    print(json.dumps(row))
	END
}

: >"$out"
[ -n "${NATIVE:-}" ] || insmod "build/kmod/$(uname -r)/gagg.ko" || exit
# nobody but who asks may hear the answer
if [ -n "${IDLE_FILE:-}" ]; then
	# as long as we live: a terminal that nobody has open forgets what it was told
	exec 9<>"$IDLE_FILE" && stty raw -echo <&9 || exit
fi
for n in $HOSTS; do
	algorithms=()
	systems_up "$n" ${RING:+ring "$RING"} || exit
	for regime in $REGIMES; do
		regime "$regime" || exit
		say "N=$n $regime"
		for system in $SYSTEMS; do
			calibrate "$system"
		done
		for ((rep = 1; rep <= REPS; rep++)); do
			for dtype in $DTYPES; do
				for system in $SYSTEMS; do
					turn "$system" "$regime" "$dtype" "$rep"
				done
			done
		done
	done
	links_clear
	systems_down
done
