#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
# turns: 2
# clock: skip
#
# gagg-twin: hosts without the module in one group with hosts that have it, and
# groups of nothing else.

# shellcheck disable=SC2016 # eval's
# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
plan 65

# enum gagg_reason
BYE=1 DIED=2 SILENT=3
every=(allreduce:int32:sum:1000 allreduce:int32:min:1000 allreduce:int32:max:1000
	allreduce:float32:sum:5000 allreduce:float16:mean:5000 allreduce:bfloat16:max:5000
	reduce_scatter:int32:sum:1000 reduce_scatter:float32:sum:3001
	allreduce:int64:sum:1000 reduce_scatter:int64:sum:333
	allgather:10001 broadcast:1:0 broadcast:77777:1 barrier allreduce:int32:sum:0)
long=(allreduce:int32:sum:100000 allreduce:float32:sum:20000 broadcast:100001:1)

# all ranks succeed, with the same results
agree()
{
	ranks_run "$@" && digests_agree "allreduce|allgather|broadcast"
}

# a kernel before 6.5 does not say which process has sent a datagram if that process has no
# number in the PID namespace of who reads it
says_who()
{
	printf '6.5\n%s\n' "$(uname -r)" | sort -CV
}

refused_by_name()
{
	local r

	ranks_start barrier
	ranks_wait
	for ((r = 0; r < ranks; r++)); do
		rank_says $r "rank $r FAILED join .* does not see this process, which is in another PID" ||
			return
	done
}

# what gaggctl says of the module on host 0 and of the twin on host 2, but for what differs: the
# address, paths, of whom it has heard first that it left
same_words()
{
	local i

	ctl 0 "$@" >"$tmp/words.0" && twin_ctl 2 "$@" >"$tmp/words.2" || return
	cat "$tmp/words.2"
	for i in 0 2; do
		[ -s "$tmp/words.$i" ] &&
			sed -i 's/ local [0-9].* port/ port/; s/ local / /; s/\(,[a-z]* [a-z]*\).*/\1/
				s/ ended bye rank [0-9]/ ended bye/' "$tmp/words.$i"
	done
	diff "$tmp/words.0" "$tmp/words.2"
}

# same_keys N ARGUMENT...: of the JSON, N at least
same_keys()
{
	local i least=$1
	shift

	ctl 0 -j "$@" >"$tmp/keys.0" && twin_ctl 2 -j "$@" >"$tmp/keys.2" || return
	cat "$tmp/keys.2"
	for i in 0 2; do
		grep -o '"[a-z_]*":' "$tmp/keys.$i" | sort -u >"$tmp/keys" &&
			mv "$tmp/keys" "$tmp/keys.$i"
	done
	diff "$tmp/keys.0" "$tmp/keys.2" && [ "$(wc -l <"$tmp/keys.2")" -ge "$least" ]
}

# listed PATTERN N: of $tmp/list so many members
listed()
{
	[ "$(grep -c "$1" "$tmp/list")" -eq "$2" ] || {
		cat "$tmp/list"
		return 1
	}
}

repaired()
{
	is "$(twin_count 2 retransmits) + $(count 0 retransmits) > 0"
}

# --- two hosts with the module, two without ----------------------------------
module_load "$@"
layout 4
net_ready 1500
check "the module on two hosts, the twin on two others" mixed_up ring 256 window 64
check "every collective, the same everywhere" agree "${every[@]}"
check "the twins have added" is "$(twin_count 2 chunks) > 10 && $(twin_count 3 chunks) > 10"
check "so has the module" is "$(count 0 chunks) > 10 && $(count 1 chunks) > 10"
check "gaggctl shows the twin's group as the module's" same_words group show g
check "and lists it and its members" eval 'same_words group list && same_words member list g'
check "with the same keys" eval 'same_keys 25 group show && same_keys 8 member list g'
check "and as many counters" same_keys 30 stats g
check "which are those of SIGUSR1" is "$(twin_ctl 2 stats g | awk '$1 == "chunks" { print $2 }') == \
	$(twin_count 2 chunks)"
check_not "a change is refused" twin_ctl 2 group set g cwnd 100
check "with what to edit" eval 'twin_ctl 2 group delete g 2>&1 |
	grep "has its groups from $tmp/gagg.conf: edit that, and restart gagg-twin"'
check "non-blocking, several in flight" ranks_run \
	iallreduce:int32:sum:100000 iallreduce:int32:max:7 ibroadcast:1234:1 \
	iallgather:999 ibarrier ireduce_scatter:int32:sum:500 wait
check "and asleep in poll()" eval 'ranks_run events iallreduce:int32:sum:50000 \
	iallreduce:int32:sum:500 poll && rank_says 0 "counted [12]" && rank_says 3 "counted [12]"'
check "two channels at once, each with a host of either kind" ranks_run \
	@0,2:split:0 @1,3:split:1 allreduce:int32:sum:3000 broadcast:5000:1 \
	world allreduce:int32:sum:2000 part:0 allreduce:float32:sum:100 barrier free
check "children that leave, of a trainer with the module and of one without" ranks_run \
	split:0 allreduce:int32:sum:1000 @1,3:children part:0 allreduce:int32:sum:1000 \
	iallreduce:int32:sum:500000 @0,2:children wait
net_loss 3
check "3 % of datagrams are lost" agree "${long[@]}"
net_offload on
net_impair duplicate 10% delay 5ms reorder 10%
check "bursts are repeated, and overtake" agree "${long[@]}"
net_clear
check "and were repaired" wait_until 20 repaired
net_offload gro
check "single datagrams, merged on receipt" agree "${long[@]}"
net_offload on
check "down" mixed_down

# --- what goes wrong ----------------------------------------------------------
mixed_up ring 256 window 64 dead-after 15000
rank_options=(--timeout 20000)
ranks_start fail exits @0,1,3:sleep:40000 barrier
check "who waits for others is told so after ten seconds" \
	wait_until 60 rank_says 2 "^gagg: rank 2 has waited for 10 s: no end of barrier .*; no other rank has contributed to it yet"
check "a twin's trainer that gives up and exits has left" all_blame 2 $BYE
check "and was told of what" eval 'rank_wait 2 && rank_says 2 "no end after 20000 ms of barrier"'
rank_options=(--timeout 10000)
ranks_start fail exits @1,2,3:sleep:30000 barrier
check "and so has one with the module" all_blame 0 $BYE
rank_wait 0
rank_options=(--repeat 0)
ranks_start fail allreduce:int32:sum:100000
check "trainers are under way" under_way 0
check "which gaggctl shows of twins as of the module" eval 'twin_ctl 3 group list | grep "^g running epoch" &&
	same_words group list && same_words member list g &&
	[ "$(twin_ctl 3 member list g | grep -c "both.* running")" -eq 4 ] &&
	twin_ctl 3 batch show g | grep "^3 running computing .* ops [1-9]"'
rank_kill 3
check "SIGKILL of a twin's trainer: every other one says who died" all_blame 3 $DIED
rank_wait 3
ranks_start fail at:1:@2:fork allreduce:int32:sum:100000
check "a trainer of a twin has a child" under_way 2
child=$(rank_line 2 forked | sed 's/.* //')
rank_kill 2
check "its death is told, though the child holds the socket" all_blame 2 $DIED
rank_wait 2
kill -KILL "$child"
rank_options=()
ranks_start fail events !2:iallreduce:int32:sum:100 !2:poll @2:sleep:500 @2:kill
check "who sleeps in poll() hears of a death" all_blame 2 $DIED
rank_wait 2
rank_options=(--repeat 400 --timeout 100000 --quiet)
check "a trainer that clogs what tells of its operations holds up nobody" \
	ranks_run at:1:events at:1:@3:clog barrier
rank_options=(--repeat 0 --timeout 15000)
ranks_start fail allreduce:int32:sum:100000
check "a twin is stopped" eval 'under_way 3 && pkill -STOP -P "${twin_pid[3]}"'
check "its trainer gives up in time, and ends" eval 'timeout 60 tail --pid="${rank_pid[3]}" -f /dev/null &&
	rank_wait 3 && rank_says 3 "no end after 15000 ms of .*; gagg-twin on this host does not answer"'
check "gaggctl names it, after five seconds" eval '! twin_ctl 3 group list 2>"$tmp/said"
	cat "$tmp/said"; grep "gagg-twin at /run/gagg/h3.sock has not answered within 5 s" "$tmp/said"'
pkill -CONT -P "${twin_pid[3]}"
ranks_wait
rank_options=(--repeat 0)
ranks_start fail allreduce:int32:sum:100000
check "all have joined again" under_way 0
check "who asks for a taken rank is told whose it is" eval '
	! net_exec 3 "$RANK" --socket /run/gagg/h3.sock g 3 barrier >"$tmp/taken" 2>&1
	cat "$tmp/taken"
	grep -q "has a session, which is of pid $(pgrep -P "${rank_pid[3]}") (uid 0): end" "$tmp/taken"'
pkill -KILL -P "${twin_pid[3]}"
check "SIGKILL of a twin: its host is silent, the others say so" eval '
	for r in 0 1 2; do rank_wait $r; rank_says $r "reason '$SILENT' rank 3"; done'
check "its own trainer fails as well" eval 'timeout 60 tail --pid="${rank_pid[3]}" -f /dev/null &&
	rank_says 3 "failed"'
rank_wait 3
rank_options=()
twin_up 3
check "it can be started again" agree allreduce:int32:sum:1000 barrier
ranks_start allreduce:int32:sum:1000 say:ready await:"$tmp/killed" fail \
	allreduce:int32:sum:1000 reattach allreduce:int32:sum:1000
ranks_say ready
pkill -KILL -P "${twin_pid[3]}"
touch "$tmp/killed"
check "its trainer hears of its end" wait_until 60 rank_says 3 "failed .* gagg-twin on this host has ended"
twin_up 3
check "and joins again when it is there again, with all others" ranks_wait
pkill -HUP -P "${twin_pid[3]}"
check "SIGHUP ends no twin" eval 'wait_until 60 grep -q "SIGHUP: the configuration" /run/gagg/h3.log &&
	agree allreduce:int32:sum:1000'
rank_prefix=(unshare --pid --fork --kill-child)
check "trainers in PID namespaces of their own" agree allreduce:int32:sum:1000
rank_prefix=()
ranks_start allreduce:int32:sum:100 fail @0,1,2:allreduce:int32:sum:100 @3:allgather:100
check "different collectives are told, with both ranks" eval '
	ranks_wait && rank_says 3 "rank 3 called all-gather" &&
	rank_says 0 "rank 3 called all-gather"'
rank_options=(--timeout 15000)
twin_down
twin_conf ring 512 window 64 dead-after 15000
twin_up 2 3
ranks_start fail
ranks_wait
check "another ring: the difference has a name, and both values" eval '
	rank_says 2 "config-mismatch: ring is 256 on the host of rank 0, 512 here\$" &&
	rank_says 0 "config-mismatch: ring is 512 on the host of rank 2, 256 here\$"'
check "the twin logs them" \
	grep "rank 0 is configured differently: ring (256 there, 512 here)\$" /run/gagg/h2.log
check "members whose hosts differ, as the module shows them and a twin" eval '
	ctl 0 member list g >"$tmp/list" && listed "^[23]=.* config-mismatch ring (512 there, 256 here) " 2 &&
	twin_ctl 2 member list g >"$tmp/list" &&
	listed "^[01]=.* config-mismatch ring (256 there, 512 here) " 2 &&
	listed "^[23]=.* heard" 2 &&
	twin_ctl 2 group list | grep "^g config-mismatch ring "'
rank_options=()
mixed_down

# --- nothing but twins ---------------------------------------------------------
module_unload
family=6
layout 2 2 dedicated
net_ready 1500
check "four ranks on two hosts, a third adds; IPv6, two shards" eval '
	twin_conf ring 256 window 64 shards 2 stripe 4 && twin_up 0 1 2'
check "every collective" agree "${every[@]}"
check "gaggctl asks a twin by itself where no module is loaded, and says so" eval '
	GAGG_SOCKET=/run/gagg/h1.sock ctl 1 member list g 2>&1 | tee "$tmp/list" &&
	grep "no kernel module gagg is loaded: this is about gagg-twin at /run/gagg/h1.sock" "$tmp/list" &&
	[ "$(grep -c "^[0-4]=" "$tmp/list")" -eq 5 ]'
net_loss 5
check "5 % of datagrams are lost" agree "${long[@]}"
net_clear
net_exec 0 ethtool -K eth0 tx off
check "an interface that takes no bursts" agree "${long[@]}"
check "none was refused" is "$(twin_count 2 drop_chunk) + $(twin_count 2 drop_op) == 0"
twin_down
family=4
layout 3
net_ready 1500
too_large()
{
	twin_conf ring 1024 window 64 lanes 2048
	! net_exec 0 timeout 60 gagg-twin --config "$tmp/gagg.conf" --socket /run/gagg/h0.sock \
		>"$tmp/refused" 2>&1 && cat "$tmp/refused" &&
		grep -q "datagrams of 2048 lanes take 8284 bytes, and the MTU to the host of rank 1 is 1500" \
			"$tmp/refused"
}
check "lanes that the MTU does not take are refused" too_large
# its bursts become datagrams before the interface counts them
net_exec 1 ethtool -K eth0 tx-udp-segmentation off
check "twins" eval 'twin_conf ring 256 window 64 && sent=$(packets 1) && twin_up 0 1 2'
rank_options=(--repeat 0)
ranks_start fail allreduce:int32:sum:100000
check "trainers are under way" under_way 0
net_exec 1 ip link set eth0 mtu 1400
check "an MTU that shrinks ends the epoch, and is named" eval 'ranks_wait &&
	grep "do not fit the MTU to the host of rank [02] any more, which is 1400" /run/gagg/h1.log'
check "what did not leave is not counted as sent" eval 'is "$(twin_count 1 tx_errors) > 0" &&
	is "$(twin_count 1 tx_datagrams) <= $(packets 1) - $sent"'
rank_options=()
twin_down
layout 1 3
net_ready 1500
check "one host, three ranks" eval 'twin_conf ring 256 window 64 && twin_up 0 && agree "${every[@]}"'
twin_down
twin_prefix=(unshare --pid --fork --kill-child)
check "a twin in a PID namespace of its own adds, or says that it cannot" eval '
	twin_up 0 && if says_who; then agree "${every[@]}"; else refused_by_name; fi'
# the twin itself: unshare ignores the signal
pkill -TERM -x gagg-twin
twin_down
twin_prefix=(prlimit --nofile=40:4096)
check "a twin takes all the descriptors that it may have" eval 'twin_up 0 &&
	grep -E "^Max open files +4096 +4096 " "/proc/$(pgrep -x gagg-twin)/limits"'
twin_prefix=()
twin_down

# --- who may be a member ------------------------------------------------------
# it has ended, or is ready and goes on
has_decided()
{
	! kill -0 "$his" || grep "ready at" "$tmp/his/log"
}

# a twin of somebody else's, while root's is away
impostor()
{
	local his

	mkdir -p "$tmp/his"
	chmod 777 "$tmp/his"
	chmod 755 "$tmp"
	net_exec 0 setpriv --reuid 4242 --regid 4242 --clear-groups --inh-caps=-all \
		gagg-twin --config "$tmp/gagg.conf" --socket "$tmp/his/socket" >"$tmp/his/log" 2>&1 &
	his=$!
	wait_until 60 has_decided || echo "it says nothing"
	pkill -KILL -x gagg-twin
	wait "$his"
	cat "$tmp/his/log"
	grep -q "ready at" "$tmp/his/log"
}
twin_conf ring 256 window 64
check "ports from 1024 on are anybody's" impostor
check "which is warned of" eval 'twin_up 0 &&
	grep "group \"g\": anybody on this host may bind UDP port 7440" /run/gagg/h0.log'
twin_down
twin_conf ring 256 window 64 port 811
check_not "those below are not" impostor
check "and root's twin trains there, without a warning" eval 'twin_up 0 &&
	agree allreduce:int32:sum:1000 && ! grep "anybody on this host" /run/gagg/h0.log'
twin_down
