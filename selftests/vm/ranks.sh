# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Groups and trainers, for tests; to be sourced after lib.sh.
#
#   layout HOSTS [PER [AGGREGATORS]]
#       HOSTS hosts of PER ranks (1), rank R on host R / PER. AGGREGATORS:
#         all        every rank (default)
#         one        rank 0
#         some       the first rank of every second host
#         dedicated  a host more, which does nothing else
#       Sets $hosts (all of them), $ranks (workers), $members.
#   net_ready [MTU] [OFFLOAD]   start_hosts for the layout
#   group_up [OPTION...]        group g on every host (address family: $family,
#                               4 or 6; OPTIONs as of gaggctl). As with all that make
#                               groups here, dead-after is a minute unless it is one of
#                               them; patience=() for the default
#   group_down                  deletes them
#   agents                      a gaggd on every host, instead of those that there were
#   ranks_run WORD...           all ranks carry out a script (rank.c), which must
#                               succeed; $rank_options go before the group, $rank_prefix
#                               before the command
#   ranks_start, ranks_wait     the same in two halves
#   rank_start R WORD...        one rank; ranks_wait waits for these, too
#   rank_wait R                 exit status of one
#   rank_kill R                 SIGKILL
#   rank_says R PATTERN         a line of rank R matches; rank_line prints it
#   ranks_say PATTERN           one of each rank does, before long
#   digests_agree [PATTERN]     results of operations that match are the same on
#                               all ranks
#   epoch_of R                  the epoch that rank R has joined last
#   under_way R [N]             wait until N (3) operations of rank R are done
#   is_running                  an epoch of g has begun on every host
#   all_blame R REASON          all others have failed because of rank R
#   twin_conf [OPTION VALUE]... a configuration file with group g of the layout
#   twin_up HOST...             gagg-twin with it on these hosts, whose ranks ask
#                               there from now on; twin_down ends all of them.
#                               $twin_prefix goes before the command
#   twin_ctl I ARGUMENT...      gaggctl of the twin on host I
#   twin_count I NAME           a counter of the twin on host I
#   mixed_up [OPTION VALUE]...  group g: the module on hosts 0 and 1, the twin on 2
#                               and 3; mixed_down deletes it
#   deaf I IPV4 [IPV6]          nothing that is sent to these addresses of multicast reaches
#                               host I, so its ranks have results by repair alone; hearing I
#   ctl I ARGUMENT...           gaggctl on host I
#   ask I ARGUMENT...           the same, of the twin if host I has one
#   count I NAME, count_all NAME  a counter of host I, sum over the hosts

# shellcheck disable=SC2154 # of lib.sh
tmp=$test_tmp
RANK=$TOP/build/selftests/vm/rank
# A guest stands still for seconds when the host has other work, and more than once: its hosts are
# not dead then. In virtual time nothing holds a guest up.
patience=(dead-after 60000)
! grep -q time-travel= /proc/cmdline || patience=()
hosts=0 ranks=0 family=4 members=() rank_pid=() rank_options=() rank_prefix=() twin_prefix=() twin_pid=()

layout()
{
	local n=$1 per=${2:-1} how=${3:-all} r role

	hosts=$n ranks=$((n * per)) per_host=$per members=()
	for ((r = 0; r < ranks; r++)); do
		role=worker
		case $how in
		all)	role=both ;;
		one)	[ $r -gt 0 ] || role=both ;;
		some)	[ $((r % (2 * per))) -ne 0 ] || role=both ;;
		esac
		members+=("$((r / per))" "$role")
	done
	if [ "$how" = dedicated ]; then
		members+=("$hosts" aggregator)
		hosts=$((hosts + 1))
	fi
}

net_ready()
{
	start_hosts "$hosts" "$@"
}

address()
{
	"net_ip$family" "$1"
}

ctl()
{
	local host=$1
	shift

	net_exec "$host" gaggctl "$@"
}

# adds the members to args
# shellcheck disable=SC2034 # read as ${!address}
member_args()
{
	local i ip4 ip6 mac address=ip$family

	for ((i = 0; i < ${#members[@]}; i += 2)); do
		net_addresses "${members[i]}"
		args+=(member "$((i / 2))=${!address},${members[i + 1]}")
	done
}

# create_on "HOST..." [OPTION...]
# shellcheck disable=SC2034 # the same
create_on()
{
	local i ip4 ip6 mac address=ip$family args=()

	[[ " ${*:2} " == *" dead-after "* ]] || args+=("${patience[@]}")
	member_args
	for i in $1; do
		net_addresses "$i"
		ctl "$i" group create g local "${!address}" "${@:2}" "${args[@]}" || return
	done
}

group_up()
{
	local i all=()

	for ((i = 0; i < hosts; i++)); do
		all+=("$i")
	done
	create_on "${all[*]}" "$@"
}

group_down()
{
	local i

	for ((i = 0; i < hosts; i++)); do
		ctl "$i" group delete g || return
	done
}

rank_start()
{
	local r=$1 host=$(($1 / per_host))
	shift

	# at once: what the last one said is not to be taken for this one's
	: >"$tmp/rank.$r"
	net_exec "$host" "${rank_prefix[@]}" "$RANK" ${SEED:+--seed "$SEED"} \
		${rank_socket:+--socket "/run/gagg/h$host.sock"} \
		${twin_pid[host]:+--socket "/run/gagg/h$host.sock"} \
		"${rank_options[@]}" g "$r" "$@" >"$tmp/rank.$r" 2>&1 &
	rank_pid[r]=$!
}

ranks_start()
{
	local r

	for ((r = 0; r < ranks; r++)); do
		rank_start "$r" "$@"
	done
}

# what libgagg tells of a long wait on a slow machine is not said by the program
rank_forget_waits()
{
	local lines

	mapfile -t lines <"$tmp/rank.$1"
	[[ "${lines[*]}" != *"gagg: rank "*" has waited for "* ]] ||
		sed -i '/^gagg: rank [0-9]* has waited for /d' "$tmp/rank.$1"
}

rank_wait()
{
	local status

	wait "${rank_pid[$1]}"
	status=$?
	unset "rank_pid[$1]"
	rank_forget_waits "$1"
	return $status
}

rank_kill()
{
	pkill -KILL -P "${rank_pid[$1]}"
}

ranks_wait()
{
	local r status=0

	for r in "${!rank_pid[@]}"; do
		rank_wait "$r" || {
			echo "rank $r: exit status $?"
			tail -n 5 "$tmp/rank.$r"
			tail -n 3 "/run/gagg/h$((r / per_host)).log" 2>/dev/null
			status=1
		}
	done
	return $status
}

ranks_run()
{
	ranks_start "$@"
	ranks_wait
}

ranks_say()
{
	local r

	for ((r = 0; r < ranks; r++)); do
		wait_until 90 rank_says "$r" "$1" || return
	done
}

rank_line()
{
	grep -E -- "$2" "$tmp/rank.$1"
}

# as rank_line, without a process: tests ask this again and again
rank_says()
{
	local lines line

	mapfile -t lines <"$tmp/rank.$1"
	for line in "${lines[@]}"; do
		[[ ! $line =~ $2 ]] || return 0
	done
	echo "rank $1 does not say '$2':"
	tail -n 5 "$tmp/rank.$1"
	return 1
}

epoch_of()
{
	rank_line "$1" "attached epoch" | tail -n 1 | sed 's/.*epoch \([0-9]*\) .*/\1/'
}

under_way()
{
	wait_until 90 rank_says "$1" "op ${2:-3} .* ok"
}

# START takes its time, and a rank that dies before it has come leaves those beside it waiting for
# another epoch
is_running()
{
	local i

	for ((i = 0; i < hosts; i++)); do
		ctl "$i" group show g | grep -q running || return
	done
}

# REASON: number of enum gagg_reason
all_blame()
{
	local r status=0

	for ((r = 0; r < ranks; r++)); do
		[ "$r" -ne "$1" ] || continue
		rank_wait "$r" || {
			echo "rank $r: exit status $?"
			status=1
		}
		rank_says "$r" "^rank $r failed .* reason $2 rank $1 .*rank $1 " || status=1
	done
	return $status
}

twin_conf()
{
	local i

	[[ " $* " == *" dead-after "* ]] || set -- "$@" "${patience[@]}"
	{
		echo 'group "g" {'
		for ((i = 1; i < $#; i += 2)); do
			echo "${!i} = ${*:i + 1:1}"
		done
		for ((i = 0; i < ${#members[@]}; i += 2)); do
			echo "member $((i / 2)) { address = \"$(address "${members[i]}")\"" \
				"role = ${members[i + 1]} }"
		done
		echo '}'
	} >"$tmp/gagg.conf"
}

twin_up()
{
	local i

	mkdir -p /run/gagg
	for i; do
		# what an earlier one has said is not to be taken for this one's
		: >"/run/gagg/h$i.log"
		net_exec "$i" "${twin_prefix[@]}" gagg-twin --config "$tmp/gagg.conf" \
			--socket "/run/gagg/h$i.sock" \
			>"/run/gagg/h$i.out" 2>"/run/gagg/h$i.log" &
		twin_pid[i]=$!
		disown
	done
	for i; do
		wait_until 90 grep -q "ready at" "/run/gagg/h$i.log" || {
			cat "/run/gagg/h$i.log"
			return 1
		}
	done
}

twin_down()
{
	local i status=0

	for i in "${!twin_pid[@]}"; do
		pkill -TERM -P "${twin_pid[i]}"
	done
	for i in "${!twin_pid[@]}"; do
		wait_until 90 fails kill -0 "${twin_pid[i]}" || {
			pkill -KILL -P "${twin_pid[i]}"
			status=1
		}
	done
	twin_pid=()
	return $status
}

mixed_up()
{
	create_on "0 1" "$@" && twin_conf "$@" && twin_up 2 3
}

mixed_down()
{
	ctl 0 group delete g && ctl 1 group delete g && twin_down
}

deaf()
{
	net_exec "$1" nft -f - <<-END
		table inet deaf {
			chain input {
				type filter hook prerouting priority -300
				ip daddr $2 counter drop
				${3:+ip6 daddr $3 counter drop}
			}
		}
	END
}

hearing()
{
	net_exec "$1" nft delete table inet deaf
}

twin_ctl()
{
	ctl "$1" --twin "/run/gagg/h$1.sock" "${@:2}"
}

ask()
{
	if [ -n "${twin_pid[$1]:-}" ]; then
		twin_ctl "$@"
	else
		ctl "$@"
	fi
}

twin_count()
{
	: >"/run/gagg/h$1.out"
	pkill -USR1 -P "${twin_pid[$1]}"
	wait_until 60 grep -q "\"$2\":" "/run/gagg/h$1.out" || return
	sed "s/.*\"$2\":\([0-9]*\).*/\1/" "/run/gagg/h$1.out"
}

# lines "N WORD DIGEST": as many different ones as operations
digests_agree()
{
	local r files=()

	for ((r = 0; r < ranks; r++)); do
		files+=("$tmp/rank.$r")
	done
	sed -n 's/^rank [0-9]* op \([0-9]*\) \([^ ]*\) ok digest \([0-9a-f]*\) .*/\1 \2 \3/p' \
		"${files[@]}" | grep -E -- "${1:-allreduce|allgather|broadcast}" >"$tmp/digests"
	[ -s "$tmp/digests" ] || {
		echo "no operation"
		return 1
	}
	sort -u "$tmp/digests" | awk '
		seen[$1]++ { print "operation " $1 " " $2 " differs between ranks"; bad = 1 }
		END { exit bad }'
}

# digests of all operations of rank $1, to be compared with another run
digests_of()
{
	sed -n 's/.* digest \([0-9a-f]*\) .*/\1/p' "$tmp/rank.$1"
}

count()
{
	ask "$1" stats g | awk -v name="$2" '$1 == name { print $2; n++ } END { exit !n }' || {
		echo "no counter $2 on host $1" >&2
		echo 0
		return 1
	}
}

count_all()
{
	local i sum=0

	for ((i = 0; i < hosts; i++)); do
		sum=$((sum + $(count "$i" "$1")))
	done
	echo "$sum"
}

# packets that the interface of host $1 has sent
# shellcheck disable=SC2016 # awk's
packets()
{
	net_exec "$1" awk '$1 == "eth0:" { print $11 }' /proc/net/dev
}

# is EXPRESSION: arithmetic, printed when it fails
is()
{
	# shellcheck disable=SC2319
	echo "$*: $(($*))"
	[ $(($*)) -ne 0 ]
}

agents()
{
	local i

	mkdir -p /run/gagg
	rm -f /run/gagg/*.sock
	for ((i = 0; i < hosts; i++)); do
		net_exec "$i" gaggd --socket "/run/gagg/h$i.sock" >"/run/gagg/h$i.log" 2>&1 &
		disown
	done
	for ((i = 0; i < hosts; i++)); do
		wait_until 60 test -S "/run/gagg/h$i.sock" || return
	done
}
