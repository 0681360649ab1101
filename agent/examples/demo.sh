#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# "make demo": four hosts learn to read digits together. The hosts are gagg-twins on
# 127.0.0.1 to .4: no root, no VM. Where the kernel of User-mode Linux has been built,
# the module does the same in it, and comes to the same bits.

set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=agent/examples/train.sh
. agent/examples/train.sh
# shellcheck source=agent/examples/twins.sh
. agent/examples/twins.sh

hosts=4
out=$(mktemp -d)
cleanup()
{
	twins_end
	rm -rf "$out"
}
trap cleanup EXIT
trap 'exit 130' INT
trap 'exit 143' TERM

die()
{
	echo "demo: $*" >&2
	exit 1
}

# build WORD...: make with these, and a dot for every eighth line of what it says
build()
{
	local line n=0

	make -j"$(nproc)" "$@" 2>&1 | while IFS= read -r line; do
		echo "$line" >>"$out/build"
		((++n % 8)) || echo -n .
	done || {
		echo
		tail -n 50 "$out/build" >&2
		die "the build has failed"
	}
	echo " done"
}

on_loopback()
{
	local start=$SECONDS

	echo "Four hosts: gagg-twin on 127.0.0.1 to .4. A trainer on each; a quarter of every batch each:"
	twins_begin $hosts demo
	train demo
	report $((SECONDS - start))
	twins_count
	say_counters "userspace"
}

in_uml()
{
	echo -n "the module for User-mode Linux "
	build KERNEL=uml module
	vm/run --kernel uml -- agent/examples/demo-vm.sh | tee "$out/vm"
	grep -q "(digest $digest)" "$out/vm" || die "the module has come to other bits than the twins"
	echo "twins and module:                     bit-identical"
}

echo "1/3 build"
scripts/deps build
echo -n "the library and the programs "
build agent
echo
echo "2/3 in userspace"
on_loopback
echo
echo "3/3 in the kernel"
if vm/kernels release uml >/dev/null 2>&1; then
	in_uml
else
	echo "gagg.ko does this in a VM: make demo-vm (fetches Debian's kernel into build/ and boots it in QEMU)"
fi
cat <<-'END'

	Next:
	  build/gagg-bench all_reduce --local 4     measures, on loopback
	  make demo-vm; make check                  the module on Debian's kernel; all tests
	  README.md                                 programs of your own, and real hosts
END
