#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Four hosts learn to read digits together; gagg.ko makes the mean of their
# gradients. Run by "make demo", as root in the VM.

set -euo pipefail
top=$(cd "$(dirname "$0")/../.." && pwd)
cd "$top"
# shellcheck source=vm/net.sh
. vm/net.sh

if [ -z "${GAGG_VM:-}" ]; then
	echo "demo: this would change the host's network: make demo" >&2
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

# counters NAME...: each added over the hosts
counters()
{
	local i

	for ((i = 0; i < hosts; i++)); do
		net_exec "$i" build/gaggctl -j stats demo >"$out/stats.$i"
	done
	python3 - "$@" "$out"/stats.* <<-'END'
		import json, sys
		names = [a for a in sys.argv[1:] if not a.startswith("/")]
		files = [json.load(open(a)) for a in sys.argv[1:] if a.startswith("/")]
		print(*(sum(f[0]["stats"][n] for f in files) for n in names))
	END
}

echo "Four hosts (network namespaces h0 to h3, 10.77.0.1 to .4), gagg.ko, gaggd on each."
net_up $hosts
insmod "build/kmod/$(uname -r)/gagg.ko"
agent/examples/up.sh $hosts demo port 811
net_exec 0 build/gaggctl group show demo

echo
echo "A trainer on each host; a quarter of every batch each:"
start=$SECONDS
pids=()
for ((i = hosts - 1; i >= 0; i--)); do
	GAGG_SOCKET=/run/gagg/h$i.sock net_exec "$i" build/digits --group demo --rank "$i" \
		>"$out/$i" 2>&1 &
	pids+=($!)
done
# progress is rank 0's, as it comes
tail -q -n +1 -F --pid="${pids[-1]}" "$out/0" 2>/dev/null | grep --line-buffered '^epoch' || true
failed=
for pid in "${pids[@]}"; do
	wait "$pid" || failed=1
done
if [ -n "$failed" ]; then
	echo "demo: a trainer has failed:" >&2
	cat "$out"/[0-9] >&2
	exit 1
fi
seconds=$((SECONDS - start))

single=$(build/digits --single | sed -n 's/^single: //p')
replicas=$(sed -n 's/^rank [0-9]*: //p' "$out"/[0-9])
test "$(wc -l <<<"$replicas")" -eq $hosts

echo
echo "test accuracy, four hosts:            $(awk 'NR == 1 { print $2 }' <<<"$replicas") %  ($seconds s)"
echo "test accuracy, one process, float32:  $(awk '{ print $2 }' <<<"$single") %"
if [ "$(sort -u <<<"$replicas" | wc -l)" -eq 1 ]; then
	echo "the four replicas:                    bit-identical (digest $(awk 'NR == 1 { print $4 }' <<<"$replicas"))"
else
	echo "the four replicas:                    DIFFER"
	failed=1
fi
read -r rounds chunks contributions datagrams repeated < <(counters rounds chunks \
	contributions tx_datagrams retransmits)
echo "added up in the kernels:              $((rounds / hosts)) all-reduces: $chunks chunks, $contributions contributions"
echo "datagrams:                            $datagrams sent, $repeated contributions sent again"
[ -z "$failed" ] || exit 1

awk -v s="$(awk '{ print $2 }' <<<"$single")" 'NR == 1 {
	d = $2 - s
	if ($2 < 95 || d > 1 || d < -1) {
		print "demo: accuracy is not what it should be" > "/dev/stderr"
		exit 1
	}
}' <<<"$replicas"
