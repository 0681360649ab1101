#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# turns: 8
#
# Which channels a host has, and which others have asked it for.

status=0
for list in table wants; do
	"$(dirname "$0")/mutate" selftests/model/mutations/$list || status=1
done
exit $status
