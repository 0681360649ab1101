#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 1200
# turns: 8
#
# What both hosts do alike: channels that are made and go, epochs that begin and end, ranks that
# attach and leave, and what is counted.

status=0
for list in sites step rank stats; do
	"$(dirname "$0")/mutate" selftests/model/mutations/$list || status=1
done
exit $status
