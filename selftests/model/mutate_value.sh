#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
# turns: 8
#
# Tables: values of every type, ranges of them, and what a replica and a table exchange.

status=0
for list in elastic value ranges; do
	"$(dirname "$0")/mutate" selftests/model/mutations/$list || status=1
done
exit $status
