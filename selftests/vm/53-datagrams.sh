#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 240
# turns: 2
#
# Datagrams that are malformed, of strangers, or of something else than what is
# going on: dropped, counted by reason, never answered, never added.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"

WIRE=$TOP/build/selftests/vm/wire

# WHAT FIELD=VALUE...: the counter that counts a contribution so changed
datagrams=(
	"drop_short length=64" "drop_short length=100" "drop_short length=1441"
	"drop_short length=1444" "drop_short lanes=343" "drop_short type=10"
	"drop_short type=1 length=168" "drop_short type=3" "drop_short type=2 length=72"
	"drop_version magic=0" "drop_version ver=0" "drop_version ver=2"
	"drop_version hdrlen=60" "drop_version flags=0x2000" "drop_version flags=0x8000"
	"drop_type type=0" "drop_type type=6" "drop_type type=12" "drop_type type=20"
	"drop_type type=255" "drop_checksum checksum=1" "drop_checksum checksum=0"
	"drop_chunk run=0" "drop_chunk lanes=2241" "drop_chunk run=2" "drop_chunk lanes=0"
	"drop_chunk chunk=256" "drop_chunk chunk=0xffffffff" "drop_chunk chunk=^8"
	"drop_chunk type=7" "drop_chunk type=9 length=64 aux=0"
	"drop_epoch epoch=+1" "drop_epoch epoch=0" "drop_cookie cookie=^1" "drop_cookie cookie=0"
	"drop_channel channel=1" "drop_channel channel=65535"
	"drop_channel type=16 length=64 channel=5"
	"drop_rank src=0" "drop_rank src=2" "drop_rank src=64" "drop_rank src=65535"
	"drop_rank type=9 length=64 aux=1" "drop_rank type=17 length=72 src=0"
	"drop_window type=5 length=64 run=65" "drop_window type=5 length=64 run=65535"
	"drop_round round=+1000000" "drop_round round=0x7fffffff"
	"drop_op laneop=3" "drop_op laneop=0x21" "drop_op laneop=0x30" "drop_op laneop=0xff"
	"stale round=0" "stale round=1"
)

plan $((2 * ${#datagrams[@]} + 10))

module_load "$@"
layout 3
net_ready 1500
# host 2 is another one on the same network, with host 1's address when it likes
net_offload off
layout 2
group_up ring 256 window 64 id 4711 dead-after 600000
rank_options=(--repeat 0 --quiet)

net_exec 0 timeout 60 "$WIRE" learn eth0 "$tmp/contrib" type=4 lanes=344 >"$tmp/learned" &
learner=$!
ranks_start allreduce:int32:sum:30000
check "a contribution is seen on the wire" wait $learner

# softirqs of a busy machine run late
has_grown()
{
	is "$(count 0 "$1") - $2 >= 5"
}

# counted COUNTER SENDER WORD...: five such datagrams are counted, not answered
counted()
{
	local counter=$1 from=$2 before out
	shift 2

	before=$(count 0 "$counter")
	out=$(net_exec 2 "$WIRE" send "$from" 10.77.0.1:7440 "$tmp/contrib" count=5 "$@")
	echo "$out"
	wait_until 20 has_grown "$counter" "$before"
}

for line in "${datagrams[@]}"; do
	read -r -a words <<<"$line"
	check "a datagram with ${words[*]:1} is counted as ${words[0]}" \
		counted "${words[0]}" 10.77.0.2:7440 "${words[@]:1}"
done
# of no group that there is: only the socket can count it
socket_drops()
{
	# shellcheck disable=SC2016 # awk's
	net_exec 0 awk '$2 ~ /:1D10$/ { n += $NF } END { print n + 0 }' /proc/net/udp
}

# what the trainers have begun has come to an end
is_quiet()
{
	local was now

	was="$(socket_drops) $(count 0 rx_bytes)"
	sleep 0.5
	now="$(socket_drops) $(count 0 rx_bytes)"
	[ "$was" = "$now" ]
}

five_more()
{
	is "$(socket_drops) - $1 >= 5"
}

no_group()
{
	local before

	before=$(socket_drops)
	net_exec 2 "$WIRE" send 10.77.0.2:7440 10.77.0.1:7440 "$tmp/contrib" count=5 "$@"
	wait_until 20 five_more "$before"
	is "$(socket_drops) - $before == 5"
}

# a socket whose reader is late drops what trainers send, too
pkill -STOP -x rank
wait_until 20 is_quiet
check "of another group" no_group group=+1
check "shorter than a header" no_group length=63
check "without anything" no_group length=0
pkill -CONT -x rank
check "from another port: drop_source" counted drop_source 10.77.0.2:7441
check "from a stranger: drop_source" counted drop_source 10.77.0.3:7440
check "from oneself, so to speak: drop_source" counted drop_source 10.77.0.9:7440

# a stranger hears nothing, whatever it says
unanswered()
{
	net_exec 2 "$WIRE" send 10.77.0.3:7440 10.77.0.1:7440 "$tmp/contrib" "$@" replies=20 |
		tee /dev/stderr | grep "replies 0"
}

for line in "${datagrams[@]}"; do
	read -r -a words <<<"$line"
	check "a stranger that says ${words[*]:1} hears nothing" unanswered "${words[@]:1}"
done
more_rounds()
{
	is "$(count 0 rounds) > $rounds"
}

rounds=$(count 0 rounds)
check "the trainers still add" wait_until 20 more_rounds
check "and are alive" kill -0 "${rank_pid[0]}" "${rank_pid[1]}"
check_not "meanwhile no sum was wrong" grep FAILED "$tmp/rank.0" "$tmp/rank.1"
