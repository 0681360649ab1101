#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
# turns: 8
#
# What hosts have set differently, from the digests to the sentence.

status=0
for list in digest mismatch mismatch_error; do
	"$(dirname "$0")/mutate" selftests/model/mutations/$list || status=1
done
exit $status
