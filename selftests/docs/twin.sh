#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What gaggctl shows an ordinary user of gagg-twins, and says of what is none.

# shellcheck disable=SC2317,SC2016 # check calls them; eval's
# shellcheck source=selftests/docs/loopback.sh
. "$(dirname "$0")/loopback.sh"
PATH=$PWD/build:$PATH

# soon COMMAND...: within a minute
soon()
{
	local i

	for ((i = 0; i < 600; i++)); do
		! "$@" >"$tmp/soon" 2>&1 || break
		sleep 0.1
	done
	cat "$tmp/soon"
	[ "$i" -lt 600 ]
}

# of TWIN ARGUMENT...
of()
{
	gaggctl --twin "$tmp/$1.sock" "${@:2}"
}

# says PATTERN COMMAND...: it fails, with these words on its error output
says()
{
	! "${@:2}" >"$tmp/out" 2>"$tmp/err" || return
	cat "$tmp/out" "$tmp/err"
	[ ! -s "$tmp/out" ] && grep -q "$1" "$tmp/err"
}

heard()
{
	of 0 member list train && [ "$(of 0 member list train | grep -c ' heard ')" -eq 2 ]
}

# the commands of gagg-twin(8)
monitoring()
{
	local n=0 line

	while read -r line; do
		n=$((n + 1))
		on 1 bash -c "$line" || return
	done < <(sed -n '/^\.SH MONITORING/,/^\.SH LIMITS/p' Documentation/man/gagg-twin.8 |
		sed -n 's/\\-/-/g; s/^gaggctl /gaggctl /p')
	[ "$n" -eq 4 ]
}

# a file in which the rings differ, and a twin for each
differs()
{
	sed 's/^group train/group other/; s/port = .*/port = 8000/; s/member 2 .*//' "$tmp/gagg.conf" \
		>"$tmp/3.conf"
	sed 's/port = .*/&\n	ring = "32M"/' "$tmp/3.conf" >"$tmp/4.conf"
	for i in 3 4; do
		gagg-twin --config "$tmp/$i.conf" --local "127.0.0.$((i - 2))" --socket "$tmp/$i.sock" \
			2>"$tmp/log.$i" &
		twins+=($!)
	done
	soon shows_difference
}

# no timeout of its own is as short
is_told()
{
	local status=0

	GAGG_SOCKET=$tmp/3.sock timeout 40 gagg-bench all_reduce --group other --rank 0 \
		>"$tmp/told" 2>&1 || status=$?
	cat "$tmp/told"
	echo "exit status $status"
	[ "$status" -ne 124 ] &&
		grep 'config-mismatch: ring is 24576 on the host of rank 1, 49152 here$' "$tmp/told"
}

shows_difference()
{
	of 3 member list other && of 4 group list &&
		of 3 member list other | grep '^1=.* config-mismatch ring (24576 there, 49152 here)' &&
		of 4 member list other | grep '^0=.* config-mismatch ring (49152 there, 24576 here)' &&
		of 4 -j member list other | grep '"mismatch":"ring","mismatch_there":49152,"mismatch_here":24576' &&
		of 4 -j group list | grep '"state":"config-mismatch","mismatch":"ring"'
}

# questions without end, and some that nobody hears answered, hold up no training
crowd()
{
	local i asking=() ranks=() status=0

	for i in 1 2 3; do
		while :; do of 0 stats; of 0 group show; done >/dev/null 2>&1 &
		asking+=($!)
	done
	python3 - "$tmp/0.sock" <<'END' &
import socket, struct, sys, time
while True:
    for op, group in (5, b"-"), (6, b"train"), (7, b"train"), (6, b""), (99, b"x"):
        s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        try:
            s.connect(sys.argv[1])
            s.send(struct.pack("<IIIIQ32s32s", 88, 3, op, 0, 0, group, b""))
        except OSError:
            pass
    time.sleep(0.001)
END
	asking+=($!)
	for i in 0 1 2; do
		on "$i" gagg-bench all_reduce --group train -b 4K -e 1M >"$tmp/rows.$i" &
		ranks+=($!)
	done
	for i in "${ranks[@]}"; do
		wait "$i" || status=1
	done
	kill "${asking[@]}"
	wait "${asking[@]}" 2>/dev/null
	cat "$tmp/rows.0" "$tmp/log.0"
	[ "$status" -eq 0 ] && [ "$(awk '$1 + 0 >= 4096 && $9 == 0' "$tmp/rows.0" | wc -l)" -eq 5 ]
}

has_ended()
{
	of 1 -j group list | grep '"epoch":[1-9].*,"reason":"bye"'
}

counters()
{
	of 1 stats train --nonzero && of 1 stats train | grep '^    chunks [1-9]' &&
		soon has_ended
}

real_gaggd()
{
	: >"$tmp/none.conf"
	gaggd --config "$tmp/none.conf" --socket "$tmp/gaggd.sock" --state "$tmp/state" 2>"$tmp/gaggd.log" &
	soon test -S "$tmp/gaggd.sock" &&
		says 'gaggd.sock: gaggd keeps its groups in the kernel: ask for them without --twin' \
			gaggctl --twin "$tmp/gaggd.sock" group list
}

stopped()
{
	kill -STOP "${twins[2]}"
	says "gagg-twin at $tmp/2.sock has not answered within 5 s" of 2 group list &&
		kill -CONT "${twins[2]}" && of 2 group list
}

echo "1..12"
twins_begin 3 train
check "members that are heard" soon heard
check "the commands of gagg-twin(8), where no module is loaded" monitoring
check "which twin it is" eval 'of 1 version | grep "^gagg-twin .* at $tmp/1.sock of $tmp/gagg.conf wire "'
check "the field that differs, on both hosts" differs
check "a trainer that comes later is told at once" is_told
check "who asks without end holds up no training" crowd
check "counters, and how the epoch has ended" counters
check "a change says which file to edit" says \
	"has its groups from $tmp/gagg.conf: edit that, and restart gagg-twin" of 0 group set train uid 0
check "a file that is to be applied, the same" says "edit that, and restart gagg-twin" \
	of 0 apply "$tmp/gagg.conf"
check "gaggd is told from a twin" real_gaggd
check "a twin that is stopped is named, after five seconds" stopped
check "so is who does not listen" says "no gagg-twin listens at $tmp/nobody" \
	gaggctl --twin "$tmp/nobody" group list
exit $bad
