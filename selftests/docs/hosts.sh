#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# turns: 2
#
# README's section on real hosts, to the letter: the module is built for the kernel that runs,
# installed and loaded, and a group made on four hosts. In User-mode Linux, where hosts are
# network namespaces with other addresses; systemctl is a stand-in that starts what the unit
# says.

# shellcheck disable=SC2317 # check calls them
set -o pipefail
cd "$(dirname "$0")/../.." || exit 1
[ -n "${GAGG_VM:-}" ] || exec vm/run --kernel uml -- "$PWD/selftests/docs/hosts.sh"
# shellcheck source=selftests/tap.sh
. selftests/tap.sh
# shellcheck source=selftests/docs/blocks.sh
. selftests/docs/blocks.sh
# shellcheck source=vm/net.sh
. vm/net.sh
tmp=$(mktemp -d)
trap net_down EXIT
unset MAKEFLAGS MFLAGS MAKELEVEL KERNEL
export PATH=$tmp/bin:/usr/local/sbin:/usr/local/bin:$PATH

# four hosts, the headers of the kernel, and the group whose members may train
a_site()
{
	net_up 4 && groupadd ml && mkdir -p "$tmp/bin" /run/gagg || return
	ln -s "$(vm/kernels kdir uml)" "/lib/modules/$(uname -r)/build" || return
	cat >"$tmp/bin/systemctl" <<-'END'
		#!/bin/sh
		[ "$*" = "enable --now gaggd" ] || exit 1
		unit=/usr/local/lib/systemd/system/gaggd.service
		program=$(sed -n 's/^ExecStart=\([^ ]*\) .*/\1/p' $unit)
		"$program" --socket "$GAGG_SOCKET" >"$GAGG_SOCKET.log" 2>&1 &
		until [ -S "$GAGG_SOCKET" ]; do
			kill -0 $! || { cat "$GAGG_SOCKET.log"; exit 1; }
			sleep 0.1
		done
	END
	chmod +x "$tmp/bin/systemctl"
}

# on I COMMAND...
on()
{
	GAGG_SOCKET=/run/gagg/h$1.sock net_exec "$@"
}

# what is done once, and what on each host
built()
{
	block README.md sh 3 | sed 's/10\.0\.0\./10.77.0./g' >"$tmp/script" || return
	sed '/^systemctl/,$d' "$tmp/script" >"$tmp/once"
	sed -n '/^systemctl/,$p' "$tmp/script" >"$tmp/each"
	cat "$tmp/once" "$tmp/each"
	bash -e "$tmp/once" && [ -d /sys/module/gagg ]
}

has_group()
{
	local i

	for i in 0 1 2 3; do
		sed "s/ local [0-9.]* / local $(net_ip4 "$i") /" "$tmp/each" >"$tmp/each.$i"
		on "$i" bash -e "$tmp/each.$i" || return
	done
}

# the last of the commands goes on for ever
is_seen()
{
	block README.md sh 4 | sed 's/^gaggctl monitor/timeout --preserve-status -s TERM 10 &/' >"$tmp/look" &&
		on 0 bash -e "$tmp/look" | tee "$tmp/seen" && "$@"
}

# everybody has been heard, and nobody trains
waits()
{
	local i

	for ((i = 0; i < 50; i++)); do
		[ "$(on 0 gaggctl member list train | grep -c ' heard')" -lt 4 ] || break
		sleep 0.2
	done
	is_seen grep -q waiting "$tmp/seen" && grep '"tx_datagrams"' "$tmp/seen"
}

# who is in the group ml may train, and nobody else
trains()
{
	local i pids=() status=0

	! on 0 setpriv --reuid 1001 --regid 1001 --clear-groups gagg-bench all_reduce \
		--group train -e 4K || return
	for i in 0 1 2 3; do
		on "$i" setpriv --reuid 1001 --regid ml --clear-groups gagg-bench all_reduce \
			--group train -b 4K -e 64K >"$tmp/rows.$i" &
		pids+=($!)
	done
	for i in "${pids[@]}"; do
		wait "$i" || status=1
	done
	cat "$tmp/rows.0"
	[ "$(awk '$1 + 0 >= 4096 && $9 == 0' "$tmp/rows.0" | wc -l)" -eq 3 ] && return "$status"
}

taken_away()
{
	net_down
	rmmod gagg && make uninstall && [ ! -e /usr/local/sbin/gaggd ] && ! modprobe -n gagg
}

echo "1..6"
check "there are four hosts" a_site
check "README: built, installed, loaded" built
check "README: the group is made on each host" has_group
check "README: what is shown of it" waits
check "its trainers train" trains
check "README: make uninstall" taken_away
exit $bad
