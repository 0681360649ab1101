#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 180
# turns: 2
#
# Netlink requests that are out of range, of the wrong size, incomplete or not
# permitted: the errno, the attribute and the sentence that fit, and no change.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
# shellcheck source=selftests/vm/refused.sh
. "$(dirname "$0")/refused.sh"

ODD=$TOP/build/selftests/vm/odd_netlink

# EXPECTED COMMAND ATTRIBUTE...
requests=(
	"EINVAL - the attribute GROUP is missing|group-new"
	"EINVAL - the attribute GROUP is missing|group-set"
	"EINVAL - the attribute GROUP is missing|group-del"
	"EINVAL - the attribute GROUP is missing|group-get"
	"EINVAL - the attribute GROUP is missing|stats-get"
	"EINVAL - the attribute GROUP is missing|member-get"
	"EOPNOTSUPP|unspec" "EOPNOTSUPP|group-ntf" "EOPNOTSUPP|member-ntf" "EOPNOTSUPP|77"
	"EINVAL group |group-new group=u32:1"
	"EINVAL group |group-new group[ g.name=s:x }"
	"EINVAL|group-new group{ g.name=s:x } stats{ }"
	"EINVAL|group-set group{ g.name=s:g } event=u32:1"
	"EINVAL|group-set group{ g.name=s:g } #9=u32:1"
	"EINVAL|group-set group{ g.name=s:g #60=u32:1 }"
	"EINVAL - the name of the group is missing|group-new group{ }"
	"EINVAL - the name of the group is missing|group-del group{ }"
	"EINVAL - the name of the group is missing|member-get group{ }"
	"EINVAL g.name a name has|group-new group{ g.name=s: g.local=ip:10.77.0.1 }"
	"EINVAL g.name a name has|group-new group{ g.name=s:a/b g.local=ip:10.77.0.1 }"
	"EINVAL g.name|group-new group{ g.name=t:x g.local=ip:10.77.0.1 }"
	"EINVAL g.name|group-new group{ g.name= g.local=ip:10.77.0.1 }"
	"EINVAL g.name|group-new group{ g.name=s:abcdefghijklmnopqrstuvwxyz012345 g.local=ip:10.77.0.1 }"
	"ENOENT g.name no group|group-set group{ g.name=s:x g.port=u16:1 }"
	"ENOENT g.name no group|group-del group{ g.name=s:x }"
	"ENOENT g.name no group|group-get group{ g.name=s:x }"
	"ENOENT g.name no group|stats-get group{ g.name=s:x }"
	"ENOENT - no group|member-get group{ g.name=s:x }"
	"EEXIST g.name a group has this name|group-new group{ g.name=s:g g.local=ip:10.77.0.1 }"
	"EINVAL - the local address is missing|group-new group{ g.name=s:x }"
	"ERANGE g.local|group-new group{ g.name=s:x g.local=x:0a4d00 }"
	"EINVAL g.local an address has 4 or 16|group-new group{ g.name=s:x g.local=x:0a4d000100 }"
	"ERANGE g.local|group-new group{ g.name=s:x g.local=x:0a4d000100000000000000000000000000 }"
	"EADDRNOTAVAIL g.local the address must be|group-new group{ g.name=s:x g.local=ip:0.0.0.0 }"
	"EADDRNOTAVAIL g.local the address must be|group-new group{ g.name=s:x g.local=ip:224.0.0.1 }"
	"EADDRNOTAVAIL g.local the address must be|group-new group{ g.name=s:x g.local=ip:255.255.255.255 }"
	"EADDRNOTAVAIL g.local the address must be|group-new group{ g.name=s:x g.local=ip:fe80::1 }"
	"EADDRNOTAVAIL - the local address is not|group-new group{ g.name=s:x g.port=u16:9999 g.local=ip:10.77.0.99 g.members{ m.member{ m.rank=u32:0 m.address=ip:10.77.0.99 m.local= } } }"
	"EADDRINUSE - another group uses|group-new group{ g.name=s:x g.shards=u16:2 g.local=ip:10.77.0.1 g.members{ m.member{ m.rank=u32:0 m.address=ip:10.77.0.1 m.local= } } }"
	"EADDRINUSE - a UDP port|group-new group{ g.name=s:x g.port=u16:9000 g.local=ip:10.77.0.1 g.members{ m.member{ m.rank=u32:0 m.address=ip:10.77.0.1 m.local= } } }"
	"EEXIST - another group on this address|group-new group{ g.name=s:x g.id=u32:4711 g.local=ip:10.77.0.1 g.members{ m.member{ m.rank=u32:0 m.address=ip:10.77.0.1 m.local= } } }"
	"ERANGE g.id|group-set group{ g.name=s:g g.id=u32:0 }"
	"EINVAL g.id|group-set group{ g.name=s:g g.id=u16:5 }"
	"ERANGE g.port|group-set group{ g.name=s:g g.port=u16:0 }"
	"EINVAL g.port|group-set group{ g.name=s:g g.port=u32:7000 }"
	"ERANGE - port must be|group-set group{ g.name=s:g g.port=u16:65530 g.shards=u16:16 }"
	"EINVAL g.uid|group-set group{ g.name=s:g g.uid=u64:1 }"
	"EINVAL g.uid the user id|group-set group{ g.name=s:g g.uid=u32:0xffffffff }"
	"EINVAL g.gid the group id|group-set group{ g.name=s:g g.gid=u32:0xffffffff }"
	"ERANGE - mode must|group-set group{ g.name=s:g g.mode=u32:0777 }"
	"ERANGE - mode must|group-set group{ g.name=s:g g.mode=u32:01600 }"
	"ERANGE - lanes must|group-set group{ g.name=s:g g.lanes=u16:4 }"
	"ERANGE - lanes must|group-set group{ g.name=s:g g.lanes=u16:345 }"
	"ERANGE - lanes must|group-set group{ g.name=s:g g.lanes=u16:2248 }"
	"EINVAL g.lanes|group-set group{ g.name=s:g g.lanes=u8:8 }"
	"ERANGE - ring must|group-set group{ g.name=s:g g.ring=u32:0 }"
	"ERANGE - ring must|group-set group{ g.name=s:g g.ring=u32:257 }"
	"ERANGE - ring must|group-set group{ g.name=s:g g.ring=u32:0x80000000 }"
	"ERANGE - window must|group-set group{ g.name=s:g g.window=u32:32 }"
	"ERANGE - window must|group-set group{ g.name=s:g g.window=u32:96 }"
	"ERANGE - window must|group-set group{ g.name=s:g g.window=u32:32768 }"
	"ERANGE - stripe must|group-set group{ g.name=s:g g.stripe=u16:0 }"
	"ERANGE - stripe must|group-set group{ g.name=s:g g.stripe=u16:65 }"
	"ERANGE - shards must|group-set group{ g.name=s:g g.shards=u16:0 }"
	"ERANGE - shards must|group-set group{ g.name=s:g g.shards=u16:17 }"
	"ERANGE - channels must|group-set group{ g.name=s:g g.channels=u16:0 }"
	"ERANGE - channels must|group-set group{ g.name=s:g g.channels=u16:65 }"
	"ERANGE - cwnd must|group-set group{ g.name=s:g g.cwnd=u32:3 }"
	"ERANGE - cwnd must|group-set group{ g.name=s:g g.cwnd=u32:513 }"
	"ERANGE - dead-after must|group-set group{ g.name=s:g g.dead-after=u32:99 }"
	"ERANGE - dead-after must|group-set group{ g.name=s:g g.dead-after=u32:600001 }"
	"EOPNOTSUPP g.sync unknown sync mode|group-set group{ g.name=s:g g.sync=m:6:8 }"
	"EOPNOTSUPP g.sync unknown sync mode|group-set group{ g.name=s:g g.sync=m:18 }"
	"EOPNOTSUPP g.sync unknown sync mode|group-set group{ g.name=s:g g.sync=m:127:1 }"
	"EOPNOTSUPP g.sync unknown sync mode|group-set group{ g.name=s:g g.sync=m:256 }"
	"EOPNOTSUPP g.sync a parameter of the sync mode|group-set group{ g.name=s:g g.sync=m:0:1 }"
	"EOPNOTSUPP g.sync a parameter of the sync mode|group-set group{ g.name=s:g g.sync=m:2:1000001 }"
	"EOPNOTSUPP g.sync the parameters of the sync mode|group-set group{ g.name=s:g g.sync=m:3:4:3 }"
	"ERANGE g.sync|group-set group{ g.name=s:g g.sync=s:bsp }"
	"ERANGE g.sync|group-set group{ g.name=s:g g.sync=x:000000000000000000000000000000000000000000000000 }"
	"EOPNOTSUPP g.placement unknown placement|group-set group{ g.name=s:g g.placement=u32:3 }"
	"EINVAL - placement tensor requires|group-set group{ g.name=s:g g.placement=u32:2 g.sync=m:1 }"
	"EOPNOTSUPP g.lane-type unknown lane type|group-set group{ g.name=s:g g.lane-type=u32:2 }"
	"EINVAL g.lane-type|group-set group{ g.name=s:g g.lane-type=u16:1 }"
	"EINVAL - lane-type int64 requires|group-set group{ g.name=s:g g.lane-type=u32:1 }"
	"EOPNOTSUPP g.wire unknown wire format|group-set group{ g.name=s:g g.wire=u32:3 }"
	"EINVAL g.wire|group-set group{ g.name=s:g g.wire=u16:1 }"
	"EINVAL - wire int16 and int8 require|group-set group{ g.name=s:g g.wire=u32:2 g.sync=m:1 }"
	"EINVAL - wire int16 and int8 require|group-set group{ g.name=s:g g.wire=u32:2 g.sync=m:243:7 }"
	"EADDRNOTAVAIL g.multicast the address must be a multicast|group-set group{ g.name=s:g g.multicast=ip:10.77.0.9 }"
	"EADDRNOTAVAIL g.multicast the address must be a multicast|group-set group{ g.name=s:g g.multicast=ip:240.0.0.1 }"
	"EADDRNOTAVAIL g.multicast the address must be a multicast|group-set group{ g.name=s:g g.multicast=ip:ff01::1 }"
	"EINVAL g.multicast an address has|group-set group{ g.name=s:g g.multicast=x:efef }"
	"ERANGE g.multicast|group-set group{ g.name=s:g g.multicast=x:ef000000000000000000000000000000ef }"
	"EAFNOSUPPORT - multicast must be|group-set group{ g.name=s:g g.multicast=ip:ff02::77 }"
	"EINVAL - multicast requires|group-set group{ g.name=s:g g.multicast=ip:239.77.0.1 g.sync=m:1 }"
	"EOPNOTSUPP g.key this version has no keys|group-set group{ g.name=s:g g.key=x:0102 }"
	"EINVAL g.state|group-set group{ g.name=s:g g.state=u32:1 }"
	"EINVAL g.epoch|group-set group{ g.name=s:g g.epoch=u64:1 }"
	"EINVAL g.reason|group-set group{ g.name=s:g g.reason=u32:1 }"
	"EINVAL g.reason-rank|group-set group{ g.name=s:g g.reason-rank=u32:1 }"
	"EINVAL g.mismatch|group-set group{ g.name=s:g g.mismatch=s:ring }"
	"EINVAL g.members members are changed with|group-set group{ g.name=s:g g.members{ m.member{ m.rank=u32:0 m.roles=u32:2 } } }"
	"EAFNOSUPPORT - all addresses|group-set group{ g.name=s:g g.local=ip:fd77::1 }"
	"EINVAL - a member is marked local|group-set group{ g.name=s:g g.local=ip:10.77.0.2 }"
	"EINVAL - the member is missing|member-add group{ g.name=s:g }"
	"EINVAL - the member is missing|member-del group{ g.name=s:g }"
	"EINVAL - the member is missing|member-set group{ g.name=s:g }"
	"EINVAL|member-add group{ g.name=s:g g.members{ #7{ m.rank=u32:5 } } }"
	"EINVAL m.member the member's rank is missing|member-add group{ g.name=s:g g.members{ m.member{ m.address=ip:10.77.0.2 } } }"
	"ERANGE m.rank|member-add group{ g.name=s:g g.members{ m.member{ m.rank=u32:64 m.address=ip:10.77.0.2 } } }"
	"EINVAL m.rank|member-add group{ g.name=s:g g.members{ m.member{ m.rank=u8:5 m.address=ip:10.77.0.2 } } }"
	"EINVAL m.rank the member's address is missing|member-add group{ g.name=s:g g.members{ m.member{ m.rank=u32:5 } } }"
	"EEXIST m.rank a member has this rank|member-add group{ g.name=s:g g.members{ m.member{ m.rank=u32:1 m.address=ip:10.77.0.2 } } }"
	"ENOENT m.rank no member|member-del group{ g.name=s:g g.members{ m.member{ m.rank=u32:5 } } }"
	"ENOENT m.rank no member|member-set group{ g.name=s:g g.members{ m.member{ m.rank=u32:5 m.roles=u32:2 } } }"
	"EINVAL m.address an address has|member-set group{ g.name=s:g g.members{ m.member{ m.rank=u32:1 m.address=x:0102030405 } } }"
	"EADDRNOTAVAIL m.address|member-set group{ g.name=s:g g.members{ m.member{ m.rank=u32:1 m.address=ip:0.0.0.0 } } }"
	"ERANGE m.roles|member-set group{ g.name=s:g g.members{ m.member{ m.rank=u32:1 m.roles=u32:0 } } }"
	"ERANGE m.roles|member-set group{ g.name=s:g g.members{ m.member{ m.rank=u32:1 m.roles=u32:4 } } }"
	"EINVAL m.reserved|member-set group{ g.name=s:g g.members{ m.member{ m.rank=u32:1 m.reserved=u32:1 } } }"
	"EINVAL m.state|member-set group{ g.name=s:g g.members{ m.member{ m.rank=u32:1 m.state=u32:1 } } }"
	"EINVAL m.heard|member-set group{ g.name=s:g g.members{ m.member{ m.rank=u32:1 m.heard=u32:1 } } }"
	"EINVAL - a member has this host's address|member-add group{ g.name=s:g g.members{ m.member{ m.rank=u32:5 m.address=ip:10.77.0.1 } } }"
	"EINVAL - a member is marked local|member-add group{ g.name=s:g g.members{ m.member{ m.rank=u32:5 m.address=ip:10.77.0.3 m.local= } } }"
	"EAFNOSUPPORT - all addresses|member-add group{ g.name=s:g g.members{ m.member{ m.rank=u32:5 m.address=ip:fd77::3 } } }"
	# nothing of a request is done when a part of it is bad
	"ERANGE - cwnd must|group-set group{ g.name=s:g g.mode=u32:0666 g.uid=u32:5 g.cwnd=u32:0 }"
	"EEXIST m.rank|member-add group{ g.name=s:g g.members{ m.member{ m.rank=u32:5 m.address=ip:10.77.0.2 } m.member{ m.rank=u32:5 m.address=ip:10.77.0.2 } } }"
)

plan $((${#requests[@]} + 12))

module_load "$@"
layout 3
net_ready 1500
one_group
# a port that somebody else has
net_exec 0 python3 -c 'import socket, time
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("10.77.0.1", 9000))
print("bound", flush=True)
time.sleep(1000)' >"$tmp/bound" &
wait_until 60 grep -q bound "$tmp/bound" || bail "nobody has the port"

for ((i = 0; i < ${#requests[@]}; i++)); do
	# shellcheck disable=SC2086 # words
	check "${requests[i]#*|}: ${requests[i]%%|*}" refused "${requests[i]%%|*}" \
		"$ODD" ${requests[i]#*|}
done
still_changed()
{
	net_exec 0 "$ODD" group-set "group{" g.name=s:g g.mode=u32:0666 "}" |
		grep "^OK" && fails unchanged && ctl 0 group set g mode 0600 && unchanged
}

check "the group is still changed by what is right" still_changed

# --- who may not --------------------------------------------------------------
nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)

for command in "group-new group{ g.name=s:x g.local=ip:10.77.0.1 }" \
	"group-set group{ g.name=s:g g.mode=u32:0666 }" "group-del group{ g.name=s:g }" \
	"member-add group{ g.name=s:g }" "member-del group{ g.name=s:g }" \
	"member-set group{ g.name=s:g }"; do
	# shellcheck disable=SC2086 # words
	check "nobody: $command" refused EPERM "${nobody[@]}" "$ODD" $command
done
check "nobody may look" refused OK "${nobody[@]}" "$ODD" group-get "group{" g.name=s:g "}"
check "nobody's gaggctl says what is missing" refused ".*CAP_NET_ADMIN" "${nobody[@]}" \
	"$TOP/build/gaggctl" group delete g
check "nobody cannot listen to events" refused ".*(CAP_NET_ADMIN|ermission|ermitted)" \
	timeout 60 "${nobody[@]}" "$TOP/build/gaggctl" monitor
check "root of another namespace has other groups" fails net_exec 1 gaggctl group delete g
check "and cannot see these" test -z "$(net_exec 1 gaggctl group list)"
