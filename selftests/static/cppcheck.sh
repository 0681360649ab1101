#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# cppcheck over userspace and over the core; sparse looks at the whole module.

# shellcheck source=selftests/static/lib.sh
. "$(dirname "$0")/lib.sh"

options=(--quiet --std=c11 --library=posix --library=gnu
	--enable=warning --enable=performance --enable=portability
	--template='{file}:{line}: {id}: {message}'
	-Iuapi -Ikmod/core -Iagent -Iagent/lib -j "$(nproc)")

# Suppressed, and why: SO_PEERGROUPS tells the length it needs when it is given
# no buffer; "failed ? NULL : mapping" is taken for a loss of the mapping; and
# the programs have one thread, unlike those that use the library.
options+=(--suppress=nullPointer:agent/gaggd/broker.c
	--suppress=memleak:agent/lib/sys.c)
for program in gaggd gaggctl conf; do
	for function in getpwnam getgrnam strtok; do
		options+=(--suppress="${function}Called:agent/$program/*")
	done
done

plan 4
clean "agent" "$(cppcheck "${options[@]}" agent 2>&1)"
clean "kmod/core" "$(cppcheck "${options[@]}" kmod/core 2>&1)"

cat >"$work/planted.c" <<'END'
#include <stdlib.h>
int last(void)
{
	int a[4] = { 0 };

	return a[4];
}

int leaks(int n)
{
	char *p = malloc(n);

	if (!p)
		return -1;
	return n;
}
END
found=$(cppcheck "${options[@]}" "$work/planted.c" 2>&1)
caught "an access beyond an array" arrayIndexOutOfBounds "$found"
caught "a leak" memleak "$found"
