#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The kernel-doc comments of public headers and of the module's headers
# describe what is there, all of it, and nothing else.

# shellcheck source=selftests/static/lib.sh
. "$(dirname "$0")/lib.sh"

# the kernel's script is part of its headers
kdir=$(vm/kernels kdir stock) || bail "no kernel headers: vm/kernels get stock"
script=$kdir/scripts/kernel-doc
[ -x "$script" ] || bail "no $script"

# excess FILE: descriptions of members that a struct does not have, which the
# script accepts
excess()
{
	awk '
	/^\/\*\*/ { described = ""; comment = 1 }
	comment && /^ \* @[a-z_0-9]+:/ { described = described " " substr($2, 2) }
	/\*\// { comment = 0; next }
	!comment && /^struct [a-z_0-9]+ \{/ { name = $2; body = "" }
	name { body = body " " $0 }
	name && /^\}/ {
		gsub(/\/\*[^*]*\*\/|[^A-Za-z_0-9]/, " ", body)
		n = split(described, member, /[ :]+/)
		for (i = 1; i <= n; i++)
			if (member[i] && !index(body " ", " " member[i] " "))
				print FILENAME ":" FNR ": excess member " \
					member[i] " described in " name
		name = described = ""
	}
	/;/ && !name { described = "" }
	' "$1"
}

# findings FILE
findings()
{
	"$script" -none -Werror "$1" 2>&1 || echo "$1: status $?"
	excess "$1"
}

headers=(uapi/linux/*.h kmod/*.h kmod/*/*.h kmod/*/*/*.h agent/lib/gagg*.h)
plan $((${#headers[@]} + 4))
for header in "${headers[@]}"; do
	clean "$header" "$(findings "$header")"
done

cat >"$work/planted.h" <<'END'
/**
 * struct missing - a member is not described
 * @a:	one
 */
struct missing {
	int a;
	int missing_member;
};

/**
 * struct excess - a member is described that does not exist
 * @a:	one
 * @excess_member: none
 */
struct excess {
	int a;
};

/**
 * argument() - an argument is not described
 * @a:	one
 */
int argument(int a, int missing_argument);

/**
 * other() - not what follows
 * @a:	one
 */
int name_differs(int a);
END
found=$(findings "$work/planted.h")
caught "a member without description" missing_member "$found"
caught "a description without member" excess_member "$found"
caught "an argument without description" missing_argument "$found"
caught "a comment on something else" 'Prototype was for name_differs' "$found"
