#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
# turns: 8
#
# What a group's ranks come to, and what does not fit in a group.

status=0
for list in roster fit; do
	"$(dirname "$0")/mutate" selftests/model/mutations/$list || status=1
done
exit $status
