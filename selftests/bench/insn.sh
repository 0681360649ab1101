#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In a guest with one CPU whose clock counts instructions: counts them.
#
#   insn.sh FILE REGIMES [SYSTEM...]    rows, one JSON object a line, to FILE;
#                             REGIMES: "whole", "merged" or both; and whole
#                             all-reduces of these systems
#
# A datagram is always one of 1440 bytes, and its row includes everything that is
# done for it, from send() on: the sender is a program with a UDP socket and
# UDP_SEGMENT, bursts of 45. So differences of rows are what the receivers do.
# "whole": the burst crosses the network as one skb. "merged": single datagrams
# do, and GRO merges them again.
#
#   send        to a switch that drops them
#   drop        the floor: to a host where a UDP socket with UDP_GRO has no room
#               left. The skb goes all the way to the socket, and is freed there
#   filter      to a host where nftables drops them in the input hook
#   refuse      to a home: of a group that it does not have
#   aggregate   to a home: contributions, of which no chunk has the last
#   last        to a home: contributions that complete a chunk each; it sends a
#               result, which the switch drops
#   place       to a worker that waits for them: results
#
# "aggregate, int8", "last, int16" and so on are of groups with that wire format.
#
# The home's neighbour in the group is a real host that holds the other ranks. A
# third host speaks for it.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/../vm/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/../vm/ranks.sh"
# shellcheck source=selftests/bench/systems.sh
. "$(dirname "$0")/systems.sh"

out=$1
read -ra regimes <<<"$2"
shift 2
systems=("$@")
bench=$TOP/build/selftests/bench
wire=$TOP/build/selftests/vm/wire
idle=/run/idle
lanes=344
chunks=1024			# of the ring, and of the window
TIMES=4

# row SYSTEM WHAT UNIT INSTRUCTIONS
row()
{
	printf '{"system": "%s", "what": "%s", "unit": "%s", "instructions": %s}\n' "$@" |
		tee -a "$out"
}

# what else the machine does can only add to a figure, as what the first one allocates
least()
{
	sort -g | head -n 1
}

must()
{
	"$@" >"$tmp/must" 2>&1 || {
		cat "$tmp/must"
		bail "$*"
	}
}

# the switch sends frames to host $1 back where host $2 is, that is nowhere,
# whatever host $1 says meanwhile
misdirect()
{
	bridge -n sw fdb replace "$(net_mac "$1")" dev "p$2" master static sticky
}

direct()
{
	misdirect "$1" "$1"
}

# burst TO-HOST PORT FROM-HOST FROM-PORT WORD...: instructions a datagram
burst()
{
	local to=$1 port=$2 from=$3 from_port=$4
	shift 4

	net_exec 2 "$bench/burst" "$(net_ip4 "$from"):$from_port" "$(net_ip4 "$to"):$port" \
		"$tmp/template" "$idle" "${ticks[@]}" "$@" || bail "burst $*" >&2
}

learn()
{
	net_exec 1 timeout 4 "$wire" learn eth0 "$tmp/template" "$@" lanes=$lanes &
	learner=$!
	# shellcheck disable=SC2016 # the other shell's
	must wait_until 3 net_exec 1 sh -c '[ $(wc -l </proc/net/packet) -gt 1 ]'
}

ranks_say()
{
	local r

	for ((r = 0; r < ranks; r++)); do
		wait_until 3 rank_says "$r" "$1" || return
	done
}

# nobody looks for a file meanwhile: it would be counted
idle_word=sleep:1000000

ranks_end()
{
	local r

	for ((r = 0; r < ranks; r++)); do
		rank_kill "$r"
	done
	ranks_wait >"$tmp/ended" 2>&1
	rm -f "$tmp/go"
}

hosts_up()
{
	must start_hosts 3 1500 "$offload"
	# the third host may speak for the first
	ip -n h2 addr add "$(net_ip4 0)/32" dev lo
	must group_up ring $chunks window $chunks id 4711 dead-after 600000 "$@"
}

hosts_down()
{
	must group_down
	net_down
}

# --- what does not need a group -----------------------------------------------

# a socket that takes no datagram after the first few, and that nobody reads
sink()
{
	net_exec 1 python3 -c '
import socket, signal
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.setsockopt(socket.IPPROTO_UDP, 104, 1)	# UDP_GRO
s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 1)
s.bind(("", 9999))
signal.pause()' &
	sink_pid=$!
	must wait_until 3 net_exec 1 grep -q ':270F ' /proc/net/udp
}

floors()
{
	local words=(datagrams=9000 chunks=1000) n

	sink
	net_exec 1 nft "add table ip t; add chain ip t in { type filter hook input priority 0; };
		add rule ip t in udp dport 9998 drop"
	burst 1 9999 2 9000 "${words[@]}" >/dev/null
	for ((n = 0; n < TIMES; n++)); do
		burst 1 9999 2 9000 "${words[@]}" >>"$tmp/drop"
		burst 1 9998 2 9000 "${words[@]}" >>"$tmp/filter"
		burst 1 7440 2 7440 "${words[@]}" group=99 >>"$tmp/refuse"
	done
	net_exec 1 nft delete table ip t
	kill "$sink_pid"
	misdirect 1 2
	for ((n = 0; n < TIMES; n++)); do
		burst 1 9999 2 9000 "${words[@]}" >>"$tmp/send"
	done
	direct 1
	row kernel "send, $offload_name" datagram "$(least <"$tmp/send")"
	row kernel "drop, $offload_name" datagram "$(least <"$tmp/drop")"
	row kernel "filter, $offload_name" datagram "$(least <"$tmp/filter")"
	row gagg "refuse, $offload_name" datagram "$(least <"$tmp/refuse")"
}

# --- a home: host 1; eight workers on host 0 ----------------------------------

# home WIRE OP: an op takes 4 chunks; the rest of the ring is in round 1
home()
{
	local others=$((chunks - 4)) n before after of="$1, "

	[ "$1" != int32 ] || of=
	rm -f "$tmp"/{aggregate,last}
	layout 1 8 dedicated
	hosts_up wire "$1"
	learn type=4
	ranks_start "$2" wait say:ready $idle_word
	must ranks_say ready
	must wait $learner
	[ -e "$tmp/drop" ] || floors
	misdirect 0 1
	for ((n = 1; n <= TIMES; n++)); do
		before=$(count 1 contributions)
		burst 1 7440 0 7440 src=0 chunk=4 chunks=$others datagrams=$((7 * others)) \
			round=$n pn=$((n * 100000)) >>"$tmp/aggregate"
		after=$(count 1 contributions)
		must is "$after - $before == 7 * $others"
		before=$(count 1 chunks)
		burst 1 7440 0 7440 src=7 chunk=4 chunks=$others datagrams=$others \
			round=$n pn=$((n * 100000 + 50000)) >>"$tmp/last"
		after=$(count 1 chunks)
		must is "$after - $before == $others"
	done
	direct 0
	ranks_end
	hosts_down
	row gagg "aggregate, $of$offload_name" datagram "$(least <"$tmp/aggregate")"
	row gagg "last, $of$offload_name" datagram "$(least <"$tmp/last")"
}

# --- a worker: host 1; the home is host 0 -------------------------------------

# one all-reduce of a ring, then another, to which rank 0 contributes nothing
worker()
{
	local n before after
	local op=allreduce:int32:sum:$((chunks * lanes))

	layout 2 1 one
	hosts_up
	for ((n = 0; n < TIMES; n++)); do
		learn type=7
		ranks_start $op say:ready "await:$tmp/go" @1:i$op say:started $idle_word
		must ranks_say ready
		must wait $learner
		before=$(count 0 contributions)
		touch "$tmp/go"
		must ranks_say started
		must wait_until 3 eval "[ \$(count 0 contributions) -eq $((before + chunks)) ]"
		before=$(count 1 results)
		burst 1 7440 0 7440 chunk=0 chunks=$chunks datagrams=$chunks steps=0 round=2 \
			pn=$((chunks + 1)) >>"$tmp/place"
		after=$(count 1 results)
		must is "$after - $before == $chunks"
		ranks_end
	done
	hosts_down
	row gagg "place, $offload_name" datagram "$(least <"$tmp/place")"
}

# --- elements -----------------------------------------------------------------

elements()
{
	local figure what

	while read -r figure what; do
		row gagg "$what" element "$figure"
	done < <("$bench/quant")
}

# whole_once SYSTEM SEED WORD...: nanoseconds of CPU time a byte are instructions a
# byte. The algorithm that it has found to be the best goes to $tmp/algorithm
whole_once()
{
	system_run "$1" 200 all_reduce -j -s 4M -n 3 -w 1 --seed "$2" --idle-file "$idle" \
		"${@:3}" >"$tmp/whole" 2>"$tmp/errors" || {
		cat "$tmp/errors" "$tmp/whole" >&2
		return 1
	}
	python3 - "$tmp/whole" "$tmp/algorithm" <<-'END'
		import json, sys
		row = json.load(open(sys.argv[1]))[0]
		assert row["wrong"] == 0
		open(sys.argv[2], "w").write(row["algorithm"] or "")
		print(row["cpu_s_per_gb"] * 4 / row["n"])
	END
}

whole()
{
	local system n words

	systems_up 4 || bail "no hosts"
	for system in "${systems[@]}"; do
		words=()
		for ((n = 1; n <= TIMES; n++)); do
			whole_once "$system" $n "${words[@]}" >>"$tmp/whole.$system" || continue 2
			[ ! -s "$tmp/algorithm" ] || words=(--algorithm "$(cat "$tmp/algorithm")")
		done
		row "$system" "all-reduce of 4 MiB, N=4" "element and rank" \
			"$(least <"$tmp/whole.$system")"
	done
	systems_down
}

: >"$out"
"$bench/spin" "$idle" &
wait_until 10 test -s "$idle"
insmod "$GAGG_KO" || bail "no module"
for offload_name in "${regimes[@]}"; do
	offload=$([ "$offload_name" = whole ] && echo on || echo gro)
	# GRO makes them five times as dear
	ticks=(ticks="$([ "$offload_name" = whole ] && echo 8 || echo 24)")
	home int32 iallreduce:int32:sum:$((4 * lanes))
	home int16 iallreduce:float32:sum:$((8 * lanes))
	home int8 iallreduce:float32:sum:$((16 * lanes))
	worker
	rm -f "$tmp"/{send,drop,filter,refuse,place}
done
elements
[ ${#systems[@]} -eq 0 ] || whole
kill %1
