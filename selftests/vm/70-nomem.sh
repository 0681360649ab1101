#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
# kernels: uml-debug debug
#
# Each allocation fails in turn of what is asked of netlink and of /dev/gagg, of
# what works do for these, and of the module's own setup: it fails as a whole and
# says so, or succeeds all the same. Nothing is left behind. What programs print
# is how many allocations there were, and what became of them.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"

NOMEM=$TOP/build/selftests/vm/nomem
ODD=$TOP/build/selftests/vm/odd_netlink

name="group{ g.name=s:x }"
both="m.member{ m.rank=u32:0 m.address=ip:10.77.0.1 m.local= }"
both+=" m.member{ m.rank=u32:1 m.address=ip:10.77.0.2 }"
create="group-new group{ g.name=s:x g.id=u32:77 g.local=ip:10.77.0.1 g.port=u16:7500"
create+=" g.shards=u16:2 g.ring=u32:256 g.window=u32:64 g.members{ $both } }"
create_y="group-new group{ g.name=s:y g.id=u32:78 g.local=ip:10.77.0.1 g.port=u16:7600"
create_y+=" g.ring=u32:256 g.window=u32:64 g.members{ $both } }"
member2="m.member{ m.rank=u32:2 m.address=ip:10.77.0.3 }"
roles="m.rank=u32:1 m.roles=u32"

# MODES REQUEST [undo REQUEST]
requests=(
	"nth,works,slab,pages $create undo group-del $name"
	"nth group-set group{ g.name=s:y g.mode=u32:0666 } undo group-set group{ g.name=s:y g.mode=u32:0600 }"
	"nth group-set group{ g.name=s:y g.window=u32:128 } undo group-set group{ g.name=s:y g.window=u32:64 }"
	"nth,works,slab,pages group-set group{ g.name=s:y g.shards=u16:2 } undo group-set group{ g.name=s:y g.shards=u16:1 }"
	"nth,works group-set group{ g.name=s:y g.port=u16:7700 } undo group-set group{ g.name=s:y g.port=u16:7600 }"
	"nth member-add group{ g.name=s:y g.members{ $member2 } } undo member-del group{ g.name=s:y g.members{ m.member{ m.rank=u32:2 } } }"
	"nth member-set group{ g.name=s:y g.members{ m.member{ $roles:1 } } } undo member-set group{ g.name=s:y g.members{ m.member{ $roles:3 } } }"
	"nth member-del group{ g.name=s:y g.members{ m.member{ m.rank=u32:1 } } } undo member-add group{ g.name=s:y g.members{ m.member{ m.rank=u32:1 m.address=ip:10.77.0.2 } } }"
	"nth group-del group{ g.name=s:y } undo $create_y"
	"nth group-get group{ g.name=s:one }"
	"nth stats-get group{ g.name=s:one }"
	"nth member-get group{ g.name=s:one }"
)

# MODES GROUP ACTION
sessions=(
	"nth one open" "nth one bind" "nth,slab,pages one attach" "nth,pages one mmap"
	"nth,slab,pages one channel" "nth one submit" "nth one uring"
	"works g epoch" "works g elsewhere"
)

# on host 0; shows what it prints
nomem()
{
	local status

	net_exec 0 "$NOMEM" "$@" >"$tmp/nomem" 2>&1
	status=$?
	# check has our output: on its own standard output, the test's
	sed 's/^/# /' "$tmp/nomem" >&3
	return $status
}

# KASAN keeps slab objects long after they were freed; kmemleak looks after those
pages()
{
	used SUnreclaim
}

exec 3>&1
plan $((${#requests[@]} + ${#sessions[@]} + 5))

# --- the module, in the namespaces that there are ------------------------------
layout 1 1 dedicated
net_ready 1500
check "the module is loaded" nomem nth errors=10 module "$GAGG_KO"
module_load "$@"

# --- requests -----------------------------------------------------------------
ctl 0 group create one id 4712 local 10.77.0.1 ring 256 window 64 channels 4 shards 2 \
	member 0=10.77.0.1
check "two hosts have a group" group_up ring 256 window 64 port 7800
# the last one: a group that changes goes to the end of the list
# shellcheck disable=SC2086 # words
net_exec 0 "$ODD" $create_y
# who wants to hear of all of it
ctl 0 monitor >"$tmp/monitor" &
sleep 1
before=$(pages)
for line in "${requests[@]}"; do
	read -r -a words <<<"$line"
	desc=${line#* }
	check "${desc%% undo*}" nomem "${words[0]}" netlink "${words[@]:1}"
done

# --- sessions -----------------------------------------------------------------
for line in "${sessions[@]}"; do
	read -r modes group action <<<"$line"
	check "$action" nomem "$modes" session "$group" 0 "$action"
done

# --- afterwards ---------------------------------------------------------------
check "the group works" net_exec 0 "$RANK" one 0 allreduce:int32:sum:100000 split:0 barrier
# Stacks that KASAN sees for the first time stay, shadows of vmalloc() until they
# are many: up to 9 MiB were seen. A region left behind in each attempt is 30 MiB.
few_pages()
{
	after=$(pages)
	[ $((after - before)) -lt 16384 ]
}
check "no pages are left behind" wait_until 60 few_pages
note "pages before: $before KiB, after: $after KiB"
leak_scan
check "and the kernel has nothing to say" klog_scan
