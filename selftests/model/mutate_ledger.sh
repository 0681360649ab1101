#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# turns: 8
#
# The ops of a rank over all shards, how far all of those have come, and what is counted of them.

status=0
for list in front ledger ledger_op; do
	"$(dirname "$0")/mutate" selftests/model/mutations/$list || status=1
done
exit $status
