#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In the guest of scripts/profile: runs a command, and meanwhile notes where the module
# and the programs are in memory: FOLDER/kallsyms, FOLDER/maps.
#
#   profile-guest.sh FOLDER COMMAND...

set -u
folder=$1
shift

note()
{
	local last='' line exe process
	local -A seen

	while :; do
		line=$(grep '^gagg ' /proc/modules)
		line=${line##* }
		if [ -n "$line" ] && [ "$line" != "$last" ]; then
			last=$line
			grep '\[gagg\]' /proc/kallsyms >>"$folder/kallsyms"
		fi
		for process in /proc/[0-9]*; do
			exe=$(readlink "$process/exe") || continue
			[ -z "${seen[$exe]:-}" ] || continue
			# all libraries are there when there is a heap
			grep -q '\[heap\]' "$process/maps" 2>/dev/null || continue
			seen[$exe]=1
			{ echo "program $exe"; cat "$process/maps"; } >>"$folder/maps"
		done
		sleep 0.3
	done 2>/dev/null
}

echo 0 >/proc/sys/kernel/kptr_restrict
note &
noting=$!
"$@"
status=$?
kill $noting
exit $status
