#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
# clock: instructions
# turns: 2
#
# Instructions for a datagram, on a kernel whose clock counts them: none has
# become more than 3 % worse than what selftests/bench/insn.json has. A change
# that is worth it records its own: make record-insn.

cd "$(dirname "$0")/../.." || exit 1
echo 1..1
if said=$(selftests/bench/insn --check 2>&1); then
	verdict=ok
else
	verdict="not ok"
fi
printf '%s\n' "$said" | sed 's/^/# /'
echo "$verdict 1 - instructions for a datagram"
