#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
# clock: instructions
#
# Instructions for a datagram, on a kernel whose clock counts them: none has
# become more than 3 % worse than what selftests/bench/insn.json has. A change
# that is worth it records its own: make record-insn. Figures of one tree differ by up
# to 4 % between boots, so two of three have to say so.

cd "$(dirname "$0")/../.." || exit 1
echo 1..1
worse=0 good=0
while [ $worse -lt 2 ] && [ $good -lt 1 ] || [ $((worse * good)) -eq 1 ]; do
	if said=$(selftests/bench/insn --check 2>&1); then
		good=$((good + 1))
	else
		worse=$((worse + 1))
	fi
	printf '%s\n' "$said" | sed 's/^/# /'
done
if [ $worse -lt 2 ]; then
	echo "ok 1 - instructions for a datagram"
else
	echo "not ok 1 - instructions for a datagram"
fi
