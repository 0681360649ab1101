#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
# turns: 8
#
# Which homes a channel has, and how libgagg chooses one for a tensor.

status=0
for list in placement tensors; do
	"$(dirname "$0")/mutate" selftests/model/mutations/$list || status=1
done
exit $status
