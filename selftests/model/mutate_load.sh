#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 300
# turns: 8
#
# Which datagrams join a burst that leaves.
exec "$(dirname "$0")/mutate" selftests/model/mutations/load
