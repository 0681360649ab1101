#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 3600
#
# Random worlds over the module, in virtual time (world.sh): one boot for each seed, two
# at a time, one result for each.
#
#   selftests/chaos/chaos.sh [--seeds N]
#
# Without arguments: the seeds in failed-seeds, then for $MINUTES (3) such as nobody has
# run before, from a number made of the commit: a check says the same of a commit wherever
# it runs. With --seeds N: so many, one after the other from $SEED, or from a number made
# of the time, too. With $SEED alone: that one.
#
# A seed does the same again, event by event, on the same tree and kernel: $OUT/SEED/world
# (build/chaos/SEED) says what happened, and when. Its digest is printed.

set -uo pipefail
cd "$(dirname "$0")/../.." || exit 1
out=${OUT:-build/chaos}
list=selftests/chaos/failed-seeds
# of the host's time, for a boot: a world in which nothing moves ends by it, or by the
# processor's time, which does not depend on what else runs
PATIENT=3500
PROCESSOR=600
seeds=0 minutes=${MINUTES:-3} count=0 status=0 awake=0 asleep=0
declare -A running=() expected=()

usage()
{
	sed -n '5,18s/^# \{0,1\}//p' "$0" >&2
	exit 2
}

while [ $# -gt 0 ]; do
	case $1 in
	--seeds)	seeds=${2:-}; shift 2 || usage ;;
	*)		usage ;;
	esac
done
[[ $seeds =~ ^[0-9]+$ ]] || usage
[[ $minutes =~ ^[0-9]+$ ]] || usage
[[ ${SEED:-0} =~ ^[0-9]+$ ]] || {
	echo "Bail out! SEED=$SEED: expected a number"
	exit 1
}

# shellcheck disable=SC2317 # by traps
kill_running()
{
	[ ${#running[@]} -eq 0 ] || kill "${!running[@]}" 2>/dev/null
}
trap kill_running EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

# begin SEED
begin()
{
	local dir=$out/$1

	[ ${#running[@]} -lt 2 ] || end
	rm -rf "$dir"
	mkdir -p "$dir"
	(
		ulimit -t $PROCESSOR
		exec vm/run --kernel uml-virtual --seed "$1" --timeout $PATIENT --no-scan \
			--log "$dir/log" --out "$dir" -- env SEED="$1" \
			${SETTINGS:+SETTINGS="$SETTINGS"} bash selftests/chaos/world.sh
	) >"$dir/output" 2>&1 </dev/null &
	running[$!]=$1
}

# field NAME of what a world has said
field()
{
	sed -n "s/^# $1:* //p" "$dir/output" | tail -n 1
}

# one of those that are running ends
end()
{
	local pid code=0 seed dir result what

	wait -n -p pid "${!running[@]}" || code=$?
	seed=${running[$pid]} dir=$out/${running[$pid]}
	unset "running[$pid]"
	count=$((count + 1))
	result=ok
	[ $code -eq 0 ] && grep -q '^ok 1 ' "$dir/output" || result="not ok"
	awake=$((awake + $(field "seconds awake" | grep . || echo 0)))
	asleep=$((asleep + $(field "seconds asleep" | grep . || echo 0)))
	what="seed $seed: digest $(field digest)"
	if [ "${expected[$seed]:-}" = xfail ]; then
		# strict: who has mended it says so in the list
		if [ "$result" = ok ]; then
			result="not ok" what+=": passes, and $list says that it fails"
		else
			result=ok what+=": fails, as $list says"
		fi
	elif [ "$result" != ok ]; then
		sed 's/^\(# \)*/# /' "$dir/output"
		echo "# seed $seed, exit status $code; what happened is in $dir"
		echo "# to repeat: make chaos SEED=$seed"
	fi
	[ "$result" = ok ] || status=1
	echo "$result $count - $what"
}

end_all()
{
	while [ ${#running[@]} -gt 0 ]; do
		end
	done
}

# unknown SECONDS
unknown()
{
	echo $((($1 * 7919 + 0x$(git rev-parse --short=7 HEAD 2>/dev/null || echo 0) * 15485863) &
		0x3fffffff))
}

# lines of SEED [xfail] # WHY
known()
{
	local seed how

	while read -r seed how _; do
		[[ $seed =~ ^[0-9]+$ ]] || continue
		expected[$seed]=$how
	done <$list
}

known
seed=${SEED:-$(unknown $((seeds > 0 ? EPOCHSECONDS : 0)))}
began=$SECONDS
if [ "$seeds" -gt 0 ] || [ -n "${SEED:-}" ]; then
	last=$((seed + (seeds > 0 ? seeds : 1) - 1))
	echo "# seeds $seed to $last"
	for ((; seed <= last; seed++)); do
		begin "$seed"
	done
else
	for once in "${!expected[@]}"; do
		begin "$once"
	done
	began=$SECONDS first=$seed
	while [ $((SECONDS - began)) -lt $((minutes * 60)) ]; do
		begin "$seed"
		seed=$((seed + 1))
	done
	echo "# seeds $first to $((seed - 1)), and those of $list"
fi
end_all
echo "# virtual time: $((awake / 60)) minutes awake, $((asleep / 3600)) hours asleep;" \
	"the host's: $((SECONDS - began)) s"
echo "1..$count"
exit $status
