#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
#
# How actions are carried out: in memory, by the host, and in which order trainers are told.
exec "$(dirname "$0")/mutate" selftests/model/mutations/act
