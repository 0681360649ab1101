#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# turns: 8
#
# What administrators read of a group's members, and of their times.

status=0
for list in state times; do
	"$(dirname "$0")/mutate" selftests/model/mutations/$list || status=1
done
exit $status
