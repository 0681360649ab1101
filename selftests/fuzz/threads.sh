#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
SANITIZE=thread exec "$(dirname "$0")/sessions.sh" 10
