#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What README says to do first, on a Debian 12 that has git, make and nothing else. Root and
# debootstrap are required.
#
#   selftests/fresh/fresh.sh    make demo: by a user, who is told what is missing; by root,
#                               who is given it; by the user again. make deps, and the unit
#                               tests
#   FULL=1                      make check instead, which is more than an hour; with
#                               GAGG_CACHE=DIR kernels are taken from there and kept there
#
# The system is in build/fresh/root while this runs, in namespaces that end with it. Packages
# that were downloaded are kept in build/fresh/debs; what is said now is in build/fresh/log.

# shellcheck disable=SC2317 # check calls them
set -o pipefail
umask 022
cd "$(dirname "$0")/../.." || exit 1
PATH=$PATH:/usr/sbin:/sbin
# shellcheck source=selftests/tap.sh
. selftests/tap.sh
# shellcheck source=selftests/fresh/root.sh
. selftests/fresh/root.sh
tmp=$PWD/build/fresh
root=$tmp/root debs=$tmp/debs

refuse()
{
	echo "fresh: $*" >&2
	exit 1
}

clear_away()
{
	rm -rf --one-file-system "$root" "$root.sources"
}

# Nothing of it survives this shell, however that ends. The folder is removed when all mounts
# have gone.
in_namespaces()
{
	local pid

	[ "$(id -u)" -eq 0 ] || refuse "only root can make another system: run this as root"
	command -v debootstrap >/dev/null || refuse "no debootstrap: apt-get install debootstrap"
	mkdir -p "$debs/partial"
	exec {lock}>"$tmp/lock"
	flock -n "$lock" || refuse "another run has $tmp"
	clear_away
	setpriv --pdeathsig KILL unshare --mount --propagation private --pid --fork \
		--kill-child --mount-proc env inside=1 "$0" &
	pid=$!
	# shellcheck disable=SC2064 # as it is now
	trap "kill -KILL $pid 2>/dev/null; wait $pid 2>/dev/null; clear_away" EXIT
	trap 'exit 130' INT
	trap 'exit 143' TERM HUP
	wait "$pid"
	exit
}

# does USER SCRIPT: its end is shown; $tmp/silence has the longest time without a word
does()
{
	local status=0

	root_run "$@" 2>&1 | listen >"$tmp/log" || status=$?
	tail -n 60 "$tmp/log"
	echo "silent for $(cat "$tmp/silence") s"
	return "$status"
}

# listen: copies its input
listen()
{
	local text status=0 last=$SECONDS longest=0

	while [ "$status" -eq 0 ] || [ "$status" -gt 128 ]; do
		status=0
		IFS= read -r -N 4096 -t 1 text || status=$?
		printf %s "$text"
		[ $((SECONDS - last)) -le "$longest" ] || longest=$((SECONDS - last))
		[ -z "$text" ] || last=$SECONDS
	done
	echo "$longest" >"$tmp/silence"
}

# what is committed, as a user has it who clones
cloned_by()
{
	local home=$root/home/$1

	[ "$1" != root ] || home=$root/root
	# tests have trainers of other users, who run programs of this tree
	chmod a+x "$home" &&
		git bundle create -q "$home/gagg.bundle" HEAD && chmod 644 "$home/gagg.bundle" &&
		root_run "$1" "git clone -q gagg.bundle gagg"
}

has_user()
{
	root_add_user somebody && cloned_by somebody
}

# is_told TARGET PACKAGE: the one command, and nothing of programs that are not there
is_told()
{
	! does somebody "cd gagg && make $1" || return
	! grep -i 'not found\|no such file' "$tmp/log" || return
	sed -n 's/^ *sudo apt-get install --no-install-recommends //p' "$tmp/log" >"$tmp/told"
	[ "$(wc -l <"$tmp/told")" -eq 1 ] && grep -wq "$2" "$tmp/told"
}

# says of progress while it installs and builds: a line each ten seconds
no_silence()
{
	[ "$(cat "$tmp/silence")" -le 15 ]
}

# digest and the three lines "next"
demonstrated()
{
	grep -q '^the four replicas: *bit-identical (digest [0-9a-f]*)$' "$tmp/log" &&
		[ "$(sed '1,/^Next:$/d' "$tmp/log" | wc -l)" -eq 3 ]
}

# root installs what the user was told
by_root()
{
	cloned_by root && does root "cd gagg && make demo" && demonstrated &&
		grep -qx "  $(cat "$tmp/told")" "$tmp/log" && no_silence
}

by_user()
{
	does somebody "cd gagg && make demo" && demonstrated
}

deps()
{
	does root "cd gagg && make deps" && no_silence
}

# none_failed TARGET: of make
none_failed()
{
	does root "cd gagg && make $1" &&
		grep -q '^[1-9][0-9]* passed, 0 failed, 0 skipped$' "$tmp/log"
}

[ -n "${inside:-}" ] || in_namespaces
echo "# $(git log -1 --format='%h "%s"'), and nothing that is not committed"
echo "1..$([ -n "${FULL:-}" ] && echo 7 || echo 8)"
check "there is a Debian 12 with git and make" root_make git make
check "a user has cloned the repository" has_user
check "make check tells the user what is missing" is_told check qemu-system-x86
check "make demo tells it, too" is_told demo build-essential
check "make demo, by root, installs it" by_root
check "make demo, by the user" by_user
if [ -n "${FULL:-}" ]; then
	check "make check" none_failed check
else
	check "make deps" deps
	check "make check-unit" none_failed check-unit
fi
exit $bad
