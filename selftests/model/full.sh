#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
# turns: 2
#
# Tests that have more to do than each commit has time for: all of it.

cd "$(dirname "$0")/../.." || exit 1
mapfile -t sources < <(grep -l '^#include "\(../unit/\)\?full.h"' selftests/unit/test_*.c selftests/model/model_*.c)
status=0
for source in "${sources[@]}"; do
	test=build/${source%.c}
	echo "# $test --full"
	"$test" --full || status=1
done
exit $status
