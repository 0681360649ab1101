#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# In the guest: runs the tests it is given one after the other and tells
# selftests/run about each, between the tests' own lines:
#
#   @begin TEST
#   @splat             the kernel log holds one; the lines "# klog: " say which
#   @end TEST STATUS   124: took too long
#
# PATIENCE (1): times as long as a test says it may take.

dir=$(cd "$(dirname "$0")" && pwd)

for test in "$@"; do
	script=$dir/$test.sh
	limit=$(sed -n 's/^# timeout: *\([0-9]*\).*/\1/p' "$script" | head -n 1)

	echo "@begin $test"
	echo "gagg-test: $test" >/dev/kmsg
	timeout -k 10 $((${limit:-120} * ${PATIENCE:-1})) bash "$script" 2>&1
	status=$?
	if [ $status -ge 124 ]; then
		# killed: it could not clean up
		bash -c ". '$dir/lib.sh'" cleanup 2>&1 | sed 's/^/# cleanup: /'
	fi
	if ! splats=$(bash -c ". '$dir/lib.sh'; trap - EXIT; klog_scan"); then
		echo "@splat"
		printf '%s\n' "$splats" | sed 's/^/# klog: /'
	fi
	echo "@end $test $status"
done
