#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
#
# libgagg's own threads, and those of its callers, with ThreadSanitizer: the programs of
# test_lib_order.

cd "$(dirname "$0")/../.." || exit 1
scripts/sanitized thread build/selftests/unit/test_lib_order || exit 1
export TSAN_OPTIONS=halt_on_error=0:history_size=4:exitcode=66
exec build/sanitized/thread/build/selftests/unit/test_lib_order --full
