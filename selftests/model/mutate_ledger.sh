#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
#
# The ops of a rank over all shards, and how far all of those have come.

status=0
for list in front ledger; do
	"$(dirname "$0")/mutate" selftests/model/mutations/$list || status=1
done
exit $status
