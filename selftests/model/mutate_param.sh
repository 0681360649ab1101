#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
# turns: 8
#
# The table of parameters, and what is derived from it.

exec "$(dirname "$0")/mutate" selftests/model/mutations/param
