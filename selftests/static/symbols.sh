#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
#
# The names that the module and the library take from others, and give to them.

# shellcheck source=selftests/static/lib.sh
. "$(dirname "$0")/lib.sh"

kdir=${KDIR:-$(vm/kernels kdir "${KERNEL:-stock}")} || bail "no kernel headers: vm/kernels get stock"
release=$(sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' "$kdir/include/generated/utsrelease.h")
module=build/kmod/$release/gagg.ko
library=build/libgagg.so

make -s KDIR="$kdir" module libgagg-code >"$work/log" 2>&1 || {
	sed 's/^/# /' "$work/log"
	bail "the module or the library cannot be built"
}

# unknown OBJECT: what it takes that neither the kernel nor its modules export
unknown()
{
	comm -23 <(nm -u "$1" | awk '{ print $NF }' | sort -u) \
		<(awk '{ print $2 }' "$kdir/Module.symvers" | sort -u)
}

# foreign OBJECT: global names without the module's prefix, other than those
# that the kernel's macros make
foreign()
{
	nm -g --defined-only "$1" | awk '{ print $NF }' |
		grep -vE '^(gagg_|__this_module$|init_module$|cleanup_module$)' |
		grep -vE '^__(tracepoint|traceiter|probestub|SC[KT]__tp_func|pfx|cfi)_gagg_'
}

# functions HEADER: those that it declares
functions()
{
	gcc -std=c99 -Iuapi -Iagent/lib -fsyntax-only -aux-info "$work/aux" "$1"
	sed -nE "s|^/\* $1:.*\*/ extern [^(]*\<([A-Za-z_0-9]+) \(.*|\1|p" "$work/aux" | sort
}

# given LIBRARY: what it gives to programs, with versions
given()
{
	nm -D --defined-only "$1" | awk '$2 != "A" { print $NF }' | sort
}

# unversioned LIBRARY: what it gives that has another prefix, or no version
unversioned()
{
	given "$1" | grep -vE '^gagg_[a-z0-9_]+@@?GAGG_[0-9.]+$'
}

plan 11
clean "the module takes what the kernel exports" "$(unknown "$module")"
clean "its global names begin with gagg_" "$(foreign "$module")"
clean "it exports nothing" "$(cat "build/kmod/$release/Module.symvers")"
for header in agent/lib/gagg*.h; do functions "$header"; done | sort >"$work/declared"
clean "the library gives gagg_*, with versions" "$(unversioned "$library")"
clean "which is what its headers declare" "$(given "$library" | sed 's/@.*//' |
	diff "$work/declared" - 2>&1)"
clean "and so does the static one" "$(nm -g --defined-only "${library%.so}.a" 2>&1 |
	awk 'NF == 3 { print $3 }' | sort | diff "$work/declared" - 2>&1)"

cat >"$work/planted.c" <<'END'
int not_of_the_kernel(void);
int planted(void);
int planted(void)
{
	return not_of_the_kernel();
}
END
gcc -c -fPIC -o "$work/planted.o" "$work/planted.c"
gcc -shared -o "$work/planted.so" "$work/planted.o"
echo 'extern int gagg_planted(int (*f)(int), char *s);' >"$work/planted.h"
caught "a name that the kernel does not export" '^not_of_the_kernel$' "$(unknown "$work/planted.o")"
caught "a global name of others" '^planted$' "$(foreign "$work/planted.o")"
caught "a name that the library should not give" '^planted$' "$(unversioned "$work/planted.so")"
caught "a function of a header" '^gagg_planted$' "$(functions "$work/planted.h")"
[ "$(wc -l <"$work/declared")" -gt 10 ] && few='' || few=$(cat "$work/declared")
clean "finds the functions of the headers" "$few"
