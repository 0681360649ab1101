#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
#
# Datagrams that no member sends (fuzz_wire.c), at four groups of three twins with
# AddressSanitizer and UBSan, on hosts that are network namespaces. For 15 s, if nothing else
# is said.
#
#	selftests/fuzz/members.sh [SECONDS]
#
#   group g   outsiders send to it, without its secrets: each result is exact, and nobody
#             ends its epoch
#   group s   is told anything by somebody who knows its secrets: nobody but its trainers
#             suffers. Its mode and its lanes are the seed's
#   group c   as g, with a store: each read is exact
#   group o   as s, with a store

# shellcheck disable=SC2317 # check calls them
cd "$(dirname "$0")/../.." || exit 1
# shellcheck source=selftests/fuzz/twins.sh
. selftests/fuzz/twins.sh
seconds=${1:-15}
twins_enter "$0" "$seconds"
# names and states of networks are this script's own
mount -t tmpfs none /run
# shellcheck source=vm/net.sh
. vm/net.sh
ATTACKER=3
twins_plan 10
net_up 4 1500 >/dev/null 2>&1 || exit 1

words=(allreduce:int32:sum:20000 allreduce:float32:sum:5000 broadcast:9000:0
	allgather:3000 reduce_scatter:int32:max:1000 iallreduce:bfloat16:mean:3000 wait
	barrier split:0 allreduce:int32:min:3000)

modes=(bsp bsp-quorum:2:1 bsp-deadline:2:20:1)
wires=(int32 int16 int8)
stores=(ssp:0 ako:2:1)
# clocks of others that a read of group c may lack
BOUND=2

# group NAME ID DEAD-AFTER [LINE]...
group()
{
	echo "group \"$1\" {"
	printf '%s\n' "id = $2" "ring = 256" "window = 64" "shards = 2" "dead-after = $3" \
		"member 0 { address = $(net_ip4 0) }" "member 1 { address = $(net_ip4 1) }" \
		"member 2 { address = $(net_ip4 2) }" "${@:4}" "}"
}

# rank GROUP R OPTION...
rank()
{
	local name=$1 r=$2
	shift 2

	net_exec "$r" build/selftests/vm/rank --socket "$tmp/$r.sock" "$@" "$name" "$r" \
		"${words[@]}"
}

# keeper GROUP R BOUND SECONDS: a rank of a group with a store, no longer than that
keeper()
{
	GAGG_SOCKET=$tmp/$2.sock net_exec "$2" timeout "$4" build/selftests/vm/store "$1" "$2" 8 \
		"$3"
}

# all COMMAND GROUP WORD...: by all three
all()
{
	local r pids=() status=0

	for r in 0 1 2; do
		"$1" "$2" "$r" "${@:3}" >"$tmp/rank.$r" 2>&1 &
		pids+=($!)
	done
	for r in "${pids[@]}"; do
		wait "$r" || status=1
	done
	cat "$tmp"/rank.?
	return "$status"
}

keepers()
{
	all keeper "$1" "$BOUND" 300 && reads=$((reads + 1))
}

# trainers GROUP: all three
trainers()
{
	all rank "$1" --timeout 300000 || return
	sessions=$((sessions + 1))
	# results are the same on all
	grep -ho "op .* digest [0-9a-f]*" "$tmp"/rank.? | grep -v " reduce_scatter" | sort |
		uniq -c | awk '{ n++ } $1 != 3 { print; bad = 1 } END { exit bad || !n }'
}

# rank $1 of groups s and o, whatever happens to it
sacrifice()
{
	until [ -e "$tmp/over" ]; do
		rank s "$1" --quiet --timeout 5000
	done >"$tmp/sacrifice.$1" 2>&1
}

sacrifice_keeper()
{
	until [ -e "$tmp/over" ]; do
		keeper o "$1" -1 5
	done >"$tmp/keeper.$1" 2>&1
}

exact()
{
	sessions=0 reads=0
	while kill -0 "$attack" 2>/dev/null; do
		trainers g && keepers c || return
	done
	[ "$sessions" -gt 0 ]
}

# the counters of group $1, of all hosts
counter()
{
	grep -h "\"name\":\"$1\"" "$tmp"/[012].log | tail -n 3 |
		grep -o "\"$2\":[0-9]*" | awk -F: '{ n += $2 } END { print n + 0 }'
}

# of group o, which each twin tells of last
lines()
{
	cat "$tmp"/[012].log | grep -c '"name":"o"'
}

tell_counters()
{
	local i before

	before=$(lines)
	kill -USR1 "${twins[@]}"
	for ((i = 0; i < 3000; i++)); do
		[ "$(lines)" -lt $((before + 3)) ] || return
		sleep 0.1
	done
}

nobody_ended()
{
	echo "$(counter g epochs) epochs on three hosts, $sessions sessions"
	echo "$(counter c epochs) with a store, $reads sessions"
	[ "$(counter g epochs)" -eq $((3 * sessions)) ] &&
		[ "$(counter c epochs)" -eq $((3 * reads)) ]
}

# the other store goes on whenever it can. A busy machine has not time for so many sessions while
# the attack lasts: then it is attacked for longer.
store_went_on()
{
	local i epochs

	for ((i = 0; i < 20; i++)); do
		tell_counters
		epochs=$(counter o epochs)
		echo "$epochs epochs on three hosts"
		[ "$epochs" -lt 9 ] || return 0
		attack 5
		wait "$attack"
	done
	return 1
}

was_refused()
{
	local reason n seen=0

	for reason in short version type source epoch cookie rank channel chunk round window op; do
		n=$(counter g "drop_$reason")
		echo "# refused by group g: drop_$reason $n"
		[ "$n" -eq 0 ] || seen=$((seen + 1))
	done
	[ "$seen" -ge 8 ]
}

# attack SECONDS
attack()
{
	net_exec $ATTACKER build/selftests/vm/fuzz_wire "$1" "$SEED" h0 1001 1005 1002 1006 \
		"$(net_ip4 $ATTACKER)" "$(net_ip4 0)" "$(net_ip4 1)" "$(net_ip4 2)" \
		>"$tmp/attack" 2>&1 &
	attack=$!
}

attack_ends()
{
	wait "$attack"
	set -- $?
	cat "$tmp/attack"
	return "$1"
}

mode=${modes[SEED % 3]} wire=${wires[SEED / 3 % 3]} store=${stores[SEED % 2]}
echo "# group s: $mode, $wire; group o: $store"
{
	group g 1001 600000
	group s 1002 5000 "sync = \"$mode\"" "wire = $wire"
	group c 1005 600000 "sync = ssp:$BOUND"
	group o 1006 5000 "sync = $store"
} >"$tmp/gagg.conf"
for i in 0 1 2; do
	# not net_exec(): its process would be a shell's
	twin_start $i ip netns exec h$i "$twin" --config "$tmp/gagg.conf" --socket "$tmp/$i.sock"
done
twins_ready
attack "$seconds"
for i in 0 1 2; do
	sacrifice $i &
	sacrifice_keeper $i &
done
check "all results and reads of the groups without the secrets are exact" exact
check "the attacker has done all that it can" attack_ends
tell_counters
check "nobody has ended an epoch" nobody_ended
sed 's/^/# /' "$tmp/said"
check "the store whose secrets are known went on" store_went_on
touch "$tmp/over"
echo "# group s: $(cat "$tmp"/sacrifice.? | grep -c "attached epoch") times attached"
check "what came was refused for many reasons" was_refused
grep "^#" "$tmp/said"
check "the twins live" twins_live
check "and report nothing" no_report
check "honest trainers work" trainers g
check "of the store, too" keepers c
check "the twins end, and have freed everything" no_leak
[ $bad -eq 0 ] || echo "# to repeat: SEED=$SEED selftests/fuzz/members.sh $seconds"
exit $bad
