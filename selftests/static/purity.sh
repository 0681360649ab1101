#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The core is pure.

cd "$(dirname "$0")/../.." && exec scripts/check-purity
