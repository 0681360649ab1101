# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What stands in pages to be carried out; to be sourced in the top folder.

docs_top=$PWD

# block FILE KIND N: the N-th block of that kind
block()
{
	awk -v kind="$2" -v n="$3" '
		/^```/ && inside { exit }
		inside { print; found = 1 }
		$0 == "```" kind && ++i == n { inside = 1 }
		END { exit !found }' "$docs_top/$1"
}

# example PAGE SECTION [N]: what stands there the N-th time (1) between .nf and .fi
example()
{
	sed -n "/^\.SH $2\$/,/^\.SH /p" "$docs_top/Documentation/man/$1" |
		awk -v n="${3:-1}" '/^\.fi/ { inside = 0 }
			inside && !/^\.R[SE]/ { print; found = 1 }
			/^\.nf/ && ++i == n { inside = 1 }
			END { exit !found }' | sed 's/\\(dq/"/g; s/\\e/\x01/g; s/\\//g; s/\x01/\\/g'
}
