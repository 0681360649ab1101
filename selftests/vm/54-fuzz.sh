#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 400
# turns: 2
# kernels: uml-debug debug
#
# Mutated datagrams at the live sockets, random calls of /dev/gagg and random
# netlink requests, while a correct group on the same hosts and ports goes on:
# each of its results is exact, nobody ends its epochs.
#
#   group g   the correct one: outsiders send to it, without its secrets
#   group k   the same, with a store: each of its reads is exact (store.c)
#   group s   is told anything by somebody who knows its secrets
#   group t   the same, with a store, of two hosts; nobody checks what is read (teller.c)
#   d, o      two hosts', one host's: random calls of their trainers
#   fuzz-N    made, changed and deleted by random requests
#
# Half of the time over IPv6, with bursts made by GRO, half over IPv4, with GSO bursts
# that stay whole. MINUTES=N: for so long (40 seconds).

# shellcheck disable=SC2119 # digests_agree as it is
# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
plan 21
seed

PROGRAMS=$TOP/build/selftests/vm
ATTACKER=3
if [ -n "${MINUTES:-}" ]; then
	seconds=$((MINUTES * 60))
else
	seconds=40
fi
# of group g: results of all kinds
words=(allreduce:int32:sum:20000 allreduce:float32:sum:5000 broadcast:9000:0
	allgather:3000 reduce_scatter:int32:max:1000 iallreduce:int32:sum:70000
	iallreduce:bfloat16:mean:3000 wait barrier split:0 allreduce:int32:min:3000)
# found before the core is asked, and by the core
early=(short version checksum type source)
late=(epoch cookie rank channel chunk round window op)

# adds the counters of group $1, of its $2 hosts (all), to those of the other half
all_counters()
{
	local i

	for ((i = 0; i < ${2:-hosts}; i++)); do
		ctl "$i" stats "$1"
	done >>"$tmp/counters.$1"
}

# group_count GROUP COUNTER: the sum, as of all_counters
group_count()
{
	awk -v name="$2" '$1 == name { n += $2 } END { print n + 0 }' "$tmp/counters.$1"
}

# epochs_of GROUP: so far, on host 0
epochs_of()
{
	ctl 0 stats "$1" | awk '$1 == "epochs" { print $2 }'
}

# create NAME ID HOSTS OPTION...: one rank on each of these hosts
create()
{
	local name=$1 id=$2 n=$3 i r members=()
	shift 3

	for ((r = 0; r < n; r++)); do
		members+=(member "$r=$(address "$r")")
	done
	for ((i = 0; i < n; i++)); do
		ctl "$i" group create "$name" id "$id" local "$(address "$i")" ring 256 \
			window 64 shards 2 "$@" "${members[@]}" || return
	done
}

groups()
{
	create g 1001 3 dead-after 600000 && create s 1002 3 dead-after 10000 &&
		create k 1005 3 dead-after 600000 sync ssp:2 &&
		create t 1006 2 dead-after 10000 sync "$lied_to" &&
		create d 1003 2 && create o 1004 1
}

no_groups()
{
	local i name

	for ((i = 0; i < hosts; i++)); do
		for name in g k s t d o; do
			ctl "$i" group delete "$name" 2>/dev/null
		done
	done
}

# rank $1 of group s, whatever happens to it
sacrifice()
{
	until [ -e "$tmp/over" ]; do
		net_exec "$1" timeout -s KILL $((RANDOM % 30 + 30)) "$PROGRAMS/rank" --quiet \
			--timeout 8000 --repeat 0 s "$1" allreduce:int32:sum:9000 \
			allgather:3000 broadcast:3000:0 at:3:split:0 barrier
	done >"$tmp/sacrifice.$1" 2>&1
}

# rank $1 of group t
listen()
{
	until [ -e "$tmp/over" ]; do
		net_exec "$1" timeout -s KILL $((RANDOM % 30 + 30)) "$PROGRAMS/teller" t "$1"
	done >>"$tmp/told.$1" 2>&1
}

# fuzzer HOST NAME ARGUMENT...: its own seed, and its status
fuzzer()
{
	local host=$1 name=$2
	shift 2

	net_exec "$host" nice -n 5 "$PROGRAMS/$name" "$time" "$RANDOM$RANDOM" "$@" \
		>"$tmp/$name.$host" 2>&1 &
	fuzzers[$!]="$name.$host"
}

attack()
{
	local i nodes=() names=(fuzz-0 fuzz-1 fuzz-2)

	for ((i = 0; i < hosts; i++)); do
		nodes+=("$(address "$i")")
	done
	fuzzers=()
	fuzzer $ATTACKER fuzz_wire h0 1001 1005 1002 1006 "$(address $ATTACKER)" "${nodes[@]}"
	fuzzer 0 fuzz_netlink "$(address 0)" "$(address 1)" "${names[@]}"
	fuzzer 0 fuzz_ioctl h0:d:0 h1:d:1 h0:o:0 h0:fuzz-0:0 -- "${names[@]}"
	rm -f "$tmp/over"
	for ((i = 0; i < hosts; i++)); do
		sacrifice "$i" &
		sacrifices+=($!)
	done
	for i in 0 1; do
		listen $i &
		sacrifices+=($!)
	done
}

# as long as one of the fuzzers runs
under_attack()
{
	local pid

	for pid in "${!fuzzers[@]}"; do
		! kill -0 "$pid" 2>/dev/null || return 0
	done
	return 1
}

# the correct group's, one after the other: each has an epoch of its own
sessions()
{
	sessions=0 operations=0
	while under_attack; do
		ranks_run "${words[@]}" && digests_agree || return
		sessions=$((sessions + 1))
		operations=$((operations + $(cat "$tmp"/rank.[0-2] | grep -c " ok digest")))
	done
}

# group k's: clocks of updates and reads; $tmp/stores says how many sessions
stores()
{
	local n=0

	while under_attack; do
		store_works k 3 4 2 || return
		n=$((n + 1))
	done
	echo $n >"$tmp/stores"
}

stores_are_right()
{
	wait "$stores" || {
		cat "$tmp/stores.log"
		return 1
	}
	is "$(cat "$tmp/stores") > 0"
}

fuzzer_ends()
{
	local pid

	for pid in "${!fuzzers[@]}"; do
		[ "${fuzzers[$pid]}" = "$1" ] || continue
		wait "$pid"
		set -- "$1" $?
		break
	done
	grep "^#" "$tmp/$1" >"$tmp/said"
	grep -v "^#" "$tmp/$1"
	return "$2"
}

# refusals LEAST REASON...: so many of them
refusals()
{
	local least=$1 reason name n sum said seen=0
	shift

	for reason in "$@"; do
		sum=0 said="# refused: drop_$reason:"
		for name in g k s t; do
			n=$(group_count $name "drop_$reason")
			sum=$((sum + n)) said+=" $n of group $name"
		done
		echo "$said"
		[ $sum -eq 0 ] || seen=$((seen + 1))
	done >"$tmp/said"
	is "$seen >= $least"
}

# something that no rank of group s sends; sums are voided by larger exponents, and
# all of its lanes are integers
taken()
{
	local name n sum=0

	for name in nonfinite voids duplicates stale; do
		n=$(group_count s "$name")
		echo "# taken by group s: $name $n"
		sum=$((sum + n))
	done >"$tmp/said"
	is "$sum > 0"
}

# what no rank of group t says, but with its secrets; and whether what nobody has added
# was read
store_was_told()
{
	local name n sum=0

	for name in rank chunk op; do
		n=$(group_count t "drop_$name")
		echo "# refused by group t: drop_$name $n"
		sum=$((sum + n))
	done >"$tmp/said"
	n=$(cat "$tmp"/told.* | grep -c strange)
	echo "# ranks of group t that have read lies: $n" >>"$tmp/said"
	is "$sum > 0"
}

# groups s and t again: what was told with its secrets, a number of a HELLO in the far
# future for one, is believed for as long as a group lives
renew()
{
	local i

	for ((i = 0; i < 3; i++)); do
		ctl "$i" group delete s || return
	done
	ctl 0 group delete t && ctl 1 group delete t && create s 1002 3 &&
		create t 1006 2 sync "$lied_to"
}

# store_works GROUP RANKS CLOCKS BOUND
store_works()
{
	local r pids=()

	for ((r = 0; r < $2; r++)); do
		net_exec "$r" "$PROGRAMS/store" "$1" "$r" "$3" "$4" &
		pids+=($!)
	done
	for r in "${pids[@]}"; do
		wait "$r" || return
	done
}

still_works()
{
	local name=$1 n=$2 r pids=() status=0

	for ((r = 0; r < n; r++)); do
		net_exec "$r" "$PROGRAMS/rank" "$name" "$r" "${words[@]}" &
		pids+=($!)
	done
	for r in "${pids[@]}"; do
		wait "$r" || status=1
	done
	return $status
}

# half FAMILY OFFLOAD MODE BOUND: MODE is that of group t, BOUND that of its reads
half()
{
	local name
	family=$1 lied_to=$3
	time=$((seconds / 2))

	net_offload "$2"
	groups || bail "no groups"
	sacrifices=()
	attack
	note "IPv$family: groups are there after $SECONDS s"
	rank_options=(--repeat 2 --timeout 150000)
	stores >"$tmp/stores.log" 2>&1 &
	stores=$!
	check "IPv$family: all results of the correct group are exact" sessions
	check "IPv$family: all reads of the store are" stores_are_right
	note "IPv$family: sessions are over after $SECONDS s"
	touch "$tmp/over"
	pkill -KILL -x rank
	pkill -KILL -x teller
	wait "${sacrifices[@]}"
	note "IPv$family: all is quiet after $SECONDS s"
	for name in fuzz_wire.$ATTACKER fuzz_ioctl.0 fuzz_netlink.0; do
		check "IPv$family: $name has done all that it can" fuzzer_ends "$name"
		cat "$tmp/said"
	done
	note "group g: $sessions sessions, $operations operations; group k: $(cat "$tmp/stores") sessions"
	check "IPv$family: nobody ended an epoch" is "$(count 0 epochs) == $sessions && \
		$sessions > 0 && $(epochs_of k) == $(cat "$tmp/stores")"
	all_counters g
	all_counters k
	all_counters s
	all_counters t 2
	check "IPv$family: groups d and o work afterwards, and s and t, made again" eval \
		"renew && still_works s 3 && store_works t 2 2 $4 && still_works d 2 && \
			still_works o 1"
	no_groups
	note "IPv$family: groups are deleted after $SECONDS s"
}

module_load "$@"
layout 3
net_up 4 1500 || bail "no hosts"
half 6 gro ssp:0 0
half 4 on ako:2:1 4
check "datagrams were refused for each reason that takes no state" \
	refusals ${#early[@]} "${early[@]}"
cat "$tmp/said"
check "and for reasons of the core" refusals 4 "${late[@]}"
cat "$tmp/said"
check "some that no trainer sends were taken" taken
cat "$tmp/said"
check "and told to a store" store_was_told
cat "$tmp/said"
leak_scan
check "nothing is in the kernel's log" klog_scan
check "the module can be unloaded" module_unload
check "and loaded again" module_load
