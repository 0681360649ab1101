#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 180
#
# gaggd: who gets a session, what a configuration file does, and does twice.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
plan 29

conf=$test_tmp/gagg.conf
port=811
alice=(setpriv --reuid 1001 --regid 1001 --clear-groups)
bob=(setpriv --reuid 1002 --regid 1002 --groups 1001)
# what gaggd.service leaves it of root
unit=(prlimit --nofile=1024:524288 setpriv --no-new-privs
	--bounding-set "-all,+net_admin,+sys_module")
eve=(setpriv --reuid 1003 --regid 1003 --clear-groups)
chmod 755 "$test_tmp"

write_conf()
{
	cat >"$conf" <<-END
		group train {
			port = $port
			ring = 256
			window = 64
			uid = 1001
			gid = 1001
			mode = "${1:-0600}"
			member 0 { address = 10.77.0.1 }
			member 1 { address = 10.77.0.2 }
		}
	END
}

daemon_up()
{
	: >"/run/gagg/h$1.log"
	net_exec "$1" "${unit[@]}" gaggd --socket "/run/gagg/h$1.sock" --config "$conf" \
		>>"/run/gagg/h$1.log" 2>&1 &
	wait_until 60 grep -q "ready at" "/run/gagg/h$1.log"
}

# as who, rank 0 and 1 train
trains_as()
{
	local who=("$@") i status=0 pid

	for i in 0 1; do
		net_exec $i "${who[@]}" "$RANK" --timeout 60000 --socket "/run/gagg/h$i.sock" \
			train $i allreduce:int32:sum:1000 >"$test_tmp/train.$i" 2>&1 &
		pid[i]=$!
	done
	for i in 0 1; do
		wait "${pid[i]}" || status=1
	done
	cat "$test_tmp"/train.?
	return $status
}

group_is()
{
	ctl 0 group show train | grep -qw -- "$*"
}

# as group_is, on both hosts
groups_are()
{
	group_is "$@" && ctl 1 group show train | grep -qw -- "$*"
}

# group and epochs of host 0, without what changes by itself
ids()
{
	ctl 0 group show train | sed 's/ heard [0-9]*ms ago//; s/ rtt [0-9]*us//'
	ctl 0 stats train | grep epochs
}

module_load "$@"
start_hosts 2
mkdir -p /run/gagg
write_conf
for i in 0 1; do
	daemon_up $i
	wait_until 60 ctl $i group show train
done
check "gaggd makes the groups of its file" group_is ring 256
check "root trains" trains_as
check "the owner trains" trains_as "${alice[@]}"
check_not "who is in the group does not, with mode 0600" trains_as "${bob[@]}"
check "and is told" grep "mode 0600, which does not let uid 1002 train" "$test_tmp/train.0"
check_not "others do not" trains_as "${eve[@]}"

# --- the file changes ----------------------------------------------------
# how often each of them has read its file
has_read()
{
	grep -chE ': [0-9]+ groups$|not reloaded' /run/gagg/h?.log
}

both_have_read()
{
	paste <(has_read) "$test_tmp/read" | awk '$1 <= $2 { bad = 1 } END { exit bad }'
}

reload()
{
	has_read >"$test_tmp/read"
	pkill -HUP -x gaggd
	wait_until 20 both_have_read || note "not read: $(has_read)"
}

write_conf 0660
reload
check "SIGHUP: the mode changes" wait_until 20 groups_are mode 0660
check "who is in the group trains" trains_as "${bob[@]}"
check_not "others do not" trains_as "${eve[@]}"
check_not "ports that are not anybody's are not warned of" \
	grep "gaggd: warning.*anybody on this host" /run/gagg/h?.log
port=7440
write_conf 0660
reload
check "others are" eval "wait_until 20 groups_are port 7440 &&
	grep 'group .train.: anybody on this host may bind UDP port 7440' /run/gagg/h0.log"
port=811
write_conf 0666
reload
check "SIGHUP again" eval "wait_until 20 groups_are mode 0666 && wait_until 20 groups_are port 811"
check "everybody trains" trains_as "${eve[@]}"
ids >"$test_tmp/before"
reload
sleep 1
check "SIGHUP without a change changes nothing, not even the epoch" \
	diff "$test_tmp/before" <(ids)
check "gaggctl apply of the same has nothing to do" eval \
	"ctl 0 apply $conf >$test_tmp/said && ! grep -qE 'create|delete|set' $test_tmp/said"
for i in 0 1; do
	net_exec $i "${eve[@]}" "$RANK" --timeout 60000 --socket "/run/gagg/h$i.sock" \
		train $((1 - i)) barrier >"$test_tmp/wrong.$i" 2>&1
done
check "a rank of another host is refused in words" \
	grep "rank 1 of group \"train\" is at 10.77.0.2, not on this host" "$test_tmp/wrong.0"
net_exec 0 "$RANK" --socket /run/gagg/h0.sock nobody 0 barrier >"$test_tmp/wrong.0" 2>&1
check "so is a group that there is not" grep "nobody" "$test_tmp/wrong.0"
sed -i 's/ring = 256/ring = 100/' "$conf"
reload
check "a file that is wrong is told" wait_until 20 grep -q "ring" /run/gagg/h0.log
sleep 0.5
check "and changes nothing" diff "$test_tmp/before" <(ids)

# --- restarts ------------------------------------------------------------
write_conf 0666
ctl 0 group create byhand local 10.77.0.1 ring 256 window 64 member 0=10.77.0.1 \
	2>"$test_tmp/warned"
check "gaggctl warns as well" grep "warning: group .byhand.: anybody" "$test_tmp/warned"
pkill -KILL -x gaggd
wait_until 20 fails pgrep -x gaggd
ids >"$test_tmp/before"
for i in 0 1; do
	daemon_up $i
done
check "a new gaggd changes nothing" diff "$test_tmp/before" <(ids)
check "and opens sessions" trains_as "${alice[@]}"
sed -i '1,/^}/s/group train/group other/' "$conf"
reload
check "a group that is renamed in the file is made" wait_until 20 ctl 0 group show other
check "and the old one is gone" wait_until 20 fails ctl 0 group show train
check "a group made by hand stays" ctl 0 group show byhand
pkill -TERM -x gaggd
check "SIGTERM ends gaggd and removes its socket" wait_until 60 eval \
	"! pgrep -x gaggd && [ ! -e /run/gagg/h0.sock ]"
check "the group is still there" ctl 0 group show other

# --- before the module -----------------------------------------------------
for i in 0 1; do
	ctl $i group delete other
done
module_unload
sed -i 's/group other/group train/' "$conf"
for i in 0 1; do
	daemon_up $i
done
module_load
check "gaggd that was there before the module makes the groups when it comes" \
	wait_until 60 ctl 0 group show train
wait_until 60 ctl 1 group show train
check "and opens sessions" trains_as
