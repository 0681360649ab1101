#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 900
# turns: 8
exec "$(dirname "$0")/mutate" selftests/model/mutations/gossip
