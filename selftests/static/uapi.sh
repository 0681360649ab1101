#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Each public header compiles alone, as C99 and as C++11, with all warnings;
# every constant in it can be evaluated; and no struct of uapi/ has padding, in
# which case its layout is the same on 32 and on 64 bits.

# shellcheck source=selftests/static/lib.sh
. "$(dirname "$0")/lib.sh"

flags=(-pedantic -Wall -Wextra -Werror -fsyntax-only -iquote "$work")

# user HEADER NAME: a program that includes HEADER as NAME and uses each macro
# that has a value and no parameters
user()
{
	echo "#include <$2>"
	sed -nE 's/^#[ \t]*define[ \t]+([A-Za-z_0-9]+)[ \t]+[^ \t].*/\1/p' "$1" |
		while read -r macro; do
			echo "extern char size_of_${macro}[sizeof($macro)];"
		done
}

# faults HEADER DIR FLAG...: what compilers say of HEADER in the include folder DIR
faults()
{
	local header=$1 dir=$2
	shift 2

	user "$header" "${header#"$dir/"}" >"$work/user.c"
	"${CC:-gcc}" -std=c99 "${flags[@]}" "$@" -I"$dir" "$work/user.c" 2>&1 ||
		echo "not valid C99"
	"${CXX:-g++}" -std=c++11 -x c++ "${flags[@]}" "$@" -I"$dir" "$work/user.c" 2>&1 ||
		echo "not valid C++11"
}

# planted NAME WORDS: standard input is a header that must be found faulty
planted()
{
	mkdir -p "$work/planted"
	cat >"$work/planted/planted.h"
	caught "$1" "$2" "$(faults "$work/planted/planted.h" "$work/planted" -Wpadded)"
}

kernel=(uapi/linux/*.h)
library=(agent/lib/gagg*.h)
plan $((${#kernel[@]} + ${#library[@]} + 7))

for header in "${kernel[@]}"; do
	clean "$header" "$(faults "$header" uapi -Wpadded)"
done
for header in "${library[@]}"; do
	clean "$header" "$(faults "$header" agent/lib -Iuapi)"
done

planted "a hole in a struct" 'padding struct to align' <<'END'
#include <linux/types.h>
struct a { __u32 x; __u64 y; };
END
planted "padding at the end of a struct" 'padding struct size' <<'END'
#include <linux/types.h>
struct a { __u64 x; __u32 y; };
END
planted "a header that does not stand alone" 'unknown type name .*__le32' <<'END'
struct a { __le32 x; };
END
planted "a macro that cannot be evaluated" 'struct nowhere' <<'END'
#include <linux/ioctl.h>
#define A_IOC _IOWR('a', 1, struct nowhere)
END
planted "an extension of C99" 'zero-size array' <<'END'
#include <linux/types.h>
struct a { __u32 n; __u32 x[0]; };
END
planted "a keyword of C++" 'not valid C\+\+11' <<'END'
#include <linux/types.h>
struct a { __u32 class; };
END
results=$((results + 1))
user uapi/linux/gagg.h linux/gagg.h >"$work/user.c"
if grep -q size_of_GAGG_IOC_OPEN "$work/user.c"; then
	echo "ok $results - uses the macros of a header"
else
	echo "not ok $results - uses the macros of a header"
fi
