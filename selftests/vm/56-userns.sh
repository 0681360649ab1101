#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 180
#
# Groups in user namespaces: ceilings, whom they hold for, that they are given back; and
# that a user without rights does not load the module.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
NOBODY=(setpriv --reuid 65534 --regid 65534 --clear-groups)
SOMEBODY=(setpriv --reuid 65533 --regid 65533 --clear-groups)
ROOT=(env)
declare -A user_pid

# limit NAME N
limit()
{
	echo "$2" >"/sys/module/gagg/parameters/userns_$1"
}

# inside SOCKET: a shell that carries out what it is sent, line by line
inside()
{
	trap - EXIT
	ip link set lo up && ip addr add 10.99.0.1/32 dev lo || return
	while read -r line <"$1.in"; do
		eval "$line" >"$1.out" 2>&1
		echo $? >"$1.status"
	done
}

# user_up NAME COMMAND...: root of new user and network namespaces, made by who COMMAND
# makes it
user_up()
{
	local name=$1 at=$spool/$1
	shift

	mkfifo -m 666 "$at.in" "$at.status"
	install -m 666 /dev/null "$at.out"
	"$@" unshare -Urn bash "$0" inside "$at" &
	user_pid[$name]=$!
}

user_down()
{
	echo exit >"$spool/$1.in"
	wait "${user_pid[$1]}"
}

# in_user NAME COMMAND...
in_user()
{
	local at=$spool/$1
	shift

	echo "$*" >"$at.in"
	status=$(cat "$at.status")
	cat "$at.out"
	return "$status"
}

# a group NAME of USER, on ports from PORT; more options
group()
{
	local user=$1 name=$2 port=$3
	shift 3

	in_user "$user" gaggctl group create "$name" local 10.99.0.1 port "$port" ring 256 \
		window 64 "$@" member 0=10.99.0.1
}

# refuses WORD COMMAND...
refuses()
{
	local word=$1
	shift

	"$@" >"$tmp/said" && return 1
	cat "$tmp/said"
	grep -q "$word" "$tmp/said"
}

# a channel more than there may be
splits()
{
	in_user "$1" "$RANK" "$2" 0 allreduce:int32:sum:1000 split:0 allreduce:int32:sum:1000
}

if [ "${1:-}" = inside ]; then
	inside "$2"
	exit
fi

plan 30

# in the environment of a user who cannot read the test's own
spool=$(mktemp -d /tmp/users.XXXXXX)
chmod 755 "$spool"
check_not "the module is not loaded for who asks for its family" \
	eval "modinfo -F alias $GAGG_KO | grep family"
module_load "$@"
chmod 666 /dev/gagg
limit groups 2
user_up a "${NOBODY[@]}"

# --- groups ---------------------------------------------------------------------
check "a user namespace has a group" group a one 7500
check "and two" group a two 7501
check "the third is refused, and why" refuses userns_groups group a three 7502
check "one that is changed keeps its place" in_user a gaggctl group set two window 128
check "also on other ports" in_user a gaggctl group set two shards 2
check "one that is deleted makes room" in_user a gaggctl group delete one
check "for another" group a three 7503
user_up b "${NOBODY[@]}"
check "another namespace of the same user has none" refuses userns_groups group b one 7500
user_up c "${NOBODY[@]}" unshare -U --map-root-user
check "nor has one within another" refuses userns_groups group c one 7500
user_up d "${SOMEBODY[@]}"
check "another user has" group d one 7500
user_up e "${ROOT[@]}"
user_up f "${ROOT[@]}"
check "so has a namespace of root's" group e one 7500
check "with all there may be" group e two 7501
check "and each by itself" group f one 7500
ip link set lo up
check "root itself has no limit" eval "limit groups 0 &&
	gaggctl group create r local 127.0.0.1 ring 256 window 64 member 0=127.0.0.1"
check "where others are kept out" refuses userns_groups group f two 7501
gaggctl group delete r
limit groups 64

# --- ports ----------------------------------------------------------------------
limit ports 5
check "two and one of the user's ports are in use: two more" group a four 7510 shards 2
check "a sixth is refused, and why" refuses userns_ports group a five 7520
check "or one that a change requires" refuses userns_ports \
	in_user a gaggctl group set three shards 4
in_user a gaggctl group delete four
in_user a ip link set lo multicast on
check "of two more, one hears results for all" group a four 7510 multicast 239.99.0.1
limit ports 6
check "with one port for two sockets it could not" refuses userns_ports \
	group a five 7520 multicast 239.99.0.2
check "nothing of that is left" group a five 7520
limit ports 256

# --- channels -------------------------------------------------------------------
limit channels 1
check "one channel is refused, and why" refuses userns_channels splits a three
check "what there is goes on" in_user a "$RANK" three 0 allreduce:int32:sum:1000
limit channels 2
check "two are enough" splits a three
limit channels 0
check "no channel, no epoch" refuses userns_channels \
	in_user a "$RANK" three 0 allreduce:int32:sum:1000
limit channels 1024

# --- the end --------------------------------------------------------------------
limit groups 2
for name in a b c d e f; do
	user_down $name
done
user_up g "${NOBODY[@]}"
check "what has ended is given back" wait_until 20 group g one 7500
check "all of it" group g two 7501
check "and no more" refuses userns_groups group g three 7502
user_down g
check "the module goes" module_unload
rm -r "$spool"
