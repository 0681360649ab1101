#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Four hosts learn to read digits together; gagg.ko makes the mean of their
# gradients. Run by "make demo-vm", and by "make demo", as root in the VM.

set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top"
# shellcheck source=vm/net.sh
. vm/net.sh
# shellcheck source=agent/examples/train.sh
. agent/examples/train.sh

if [ -z "${GAGG_VM:-}" ]; then
	echo "demo: this would change the host's network: make demo-vm" >&2
	exit 1
fi

hosts=4
out=$(mktemp -d)
cleanup()
{
	net_down
	rm -rf "$out"
	[ ! -d /sys/module/gagg ] || rmmod gagg || true
}
trap cleanup EXIT

on()
{
	GAGG_SOCKET=/run/gagg/h$1.sock net_exec "$@"
}

echo "Four hosts (network namespaces h0 to h3, 10.77.0.1 to .4), gagg.ko, gaggd on each."
net_up $hosts
insmod "build/kmod/$(uname -r)/gagg.ko"
agent/examples/up.sh $hosts demo port 811
net_exec 0 build/gaggctl group show demo

echo
echo "A trainer on each host; a quarter of every batch each:"
start=$SECONDS
train demo
report $((SECONDS - start))
for ((i = 0; i < hosts; i++)); do
	net_exec "$i" build/gaggctl -j stats demo >"$out/stats.$i"
done
say_counters "the kernels"
