# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Twins with sanitizers, natively, in namespaces of their own; to be sourced.
#
#   twins_enter "$0" ARGUMENT...    builds, and runs the script again in a network and a mount
#                                   namespace; $SANITIZE: -fsanitize=
#   twins_plan N                    seed, plan, $tmp
#   twin_start I COMMAND...         twin I; its log is $tmp/I.log
#   twins_ready                     all of them
#   check DESC COMMAND...           of tap.sh
#   twins_live, no_report           ... and sanitizers have said nothing
#   no_leak                         they end in order, and have freed everything

# shellcheck disable=SC2034 # of those that source it
SANITIZE=${SANITIZE:-address,undefined}
twin=build/sanitized/$SANITIZE/build/gagg-twin
twins=()
# shellcheck source=selftests/tap.sh
. selftests/tap.sh
export ASAN_OPTIONS=detect_leaks=1:halt_on_error=1 UBSAN_OPTIONS=print_stacktrace=1
# a race does not end it
export TSAN_OPTIONS=halt_on_error=0:history_size=4

twins_enter()
{
	[ -z "${inside:-}" ] || return 0
	scripts/sanitized "$SANITIZE" build/gagg-twin || exit 1
	flock build/sanitized make -s build/fuzz/sessions build/selftests/vm/{rank,store} \
		build/selftests/vm/fuzz_wire || exit 1
	exec unshare --map-root-user --net --mount env inside=1 "$@"
}

twins_plan()
{
	SEED=${SEED:-$RANDOM$RANDOM}
	echo "# seed $SEED"
	echo "1..$1"
	tmp=$(mktemp -d)
	# shellcheck disable=SC2046 # words
	trap 'touch "$tmp/over"; kill $(jobs -p) 2>/dev/null; rm -rf "$tmp"' EXIT
}

twin_start()
{
	local i=$1
	shift

	"$@" >"$tmp/$i.log" 2>&1 &
	twins[i]=$!
}

twins_ready()
{
	local i

	for i in "${!twins[@]}"; do
		until grep -q "ready at" "$tmp/$i.log"; do
			kill -0 "${twins[i]}" || {
				cat "$tmp"/?.log
				echo "Bail out! no twins"
				exit 1
			}
			sleep 0.1
		done
	done
}

twins_live()
{
	kill -0 "${twins[@]}"
}

no_report()
{
	! grep -hA30 -E "ERROR: |runtime error|SUMMARY: |WARNING: ThreadSan" "$tmp"/?.log
}

no_leak()
{
	local status=0 pid

	for pid in "${twins[@]}"; do
		kill "$pid" && wait "$pid" || status=1
	done
	no_report && return "$status"
}
