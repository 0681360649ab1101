#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
# turns: 8
#
# How actions are carried out: in memory, by the host, and in which order trainers are told; and
# what the core reads of trainers.

status=0
for list in act trainer; do
	"$(dirname "$0")/mutate" selftests/model/mutations/$list || status=1
done
exit $status
