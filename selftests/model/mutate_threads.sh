#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
# turns: 8
#
# A communicator belongs to one thread: every call on a table or a batch of it refuses a
# second one, and leaves it to the next. Replicas are in mutations/replicas.

status=0
for list in threads threads_batch; do
	"$(dirname "$0")/mutate" selftests/model/mutations/$list || status=1
done
exit $status
