#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
# turns: 8
#
# Policies, each with its own test: among what is broken are mistakes of their papers,
# and of the authors' code.

status=0
for list in sync dssp r2sp large share pace switch; do
	"$(dirname "$0")/mutate" selftests/model/mutations/$list || status=1
done
exit $status
