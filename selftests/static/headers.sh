#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
# timeout: 600
#
# What a source of the module or of the twin gives to others is declared in the header that has
# its name; and what sends calls nothing that is above it.

# shellcheck source=selftests/static/lib.sh
. "$(dirname "$0")/lib.sh"

kdir=${KDIR:-$(vm/kernels kdir "${KERNEL:-stock}")} || bail "no kernel headers: vm/kernels get stock"
release=$(sed -n 's/.*UTS_RELEASE "\(.*\)"/\1/p' "$kdir/include/generated/utsrelease.h")
objects=build/kmod/$release/kmod

make -s KDIR="$kdir" module build/gagg-twin >"$work/log" 2>&1 || {
	sed 's/^/# /' "$work/log"
	bail "the module or the twin cannot be built"
}

# names OBJECT: what it gives, but for the module's and the program's beginning and end and
# what the kernel's macros make
names()
{
	nm -g --defined-only "$1" | awk '{ print $NF }' |
		grep -vE '^(main|init_module|cleanup_module)$' |
		grep -vE '^__(tracepoint|traceiter|probestub|SC[KT]__tp_func|pfx|cfi)_gagg_'
}

# homeless SOURCES OBJECTS: what sources give and their headers do not declare; faults are in no
# object of a stock kernel
homeless()
{
	local source name header object

	for source in "$1"/*.c; do
		[ "$source" != kmod/faults.c ] || continue
		header=${source%.c}.h
		object=$2/$(basename "$source" .c).o
		[ -e "$object" ] || echo "there is no $object"
		for name in $(names "$object"); do
			grep -qsw -- "$name" "$header" || echo "$name: not in $header"
		done
	done
}

# calls OBJECT WORDS: names that begin so, and that it takes from others
calls()
{
	nm -u "$1" | awk '{ print $NF }' | grep -E "^(gagg_)?($2)s?_"
}

above='act|channel|epoch|op|rx|seat|session|uring|wish'
plan 7
clean "each name of the module is in the header of its source" "$(homeless kmod "$objects")"
clean "each name of the twin is, too" "$(homeless agent/twin build/agent/twin)"
clean "the module's tx calls nothing above it" "$(calls "$objects/tx.o" "$above")"
clean "the twin's tx does not, either" "$(calls build/agent/twin/tx.o "$above")"

mkdir "$work/planted"
echo 'int elsewhere(void); int elsewhere(void) { return 0; }' >"$work/planted/room.c"
echo 'int gagg_session_planted(void); int call(void) { return gagg_session_planted(); }' \
	>"$work/planted/tx.c"
echo 'int call(void);' >"$work/planted/tx.h"
for source in "$work"/planted/*.c; do
	gcc -c -o "${source%.c}.o" "$source"
done
planted=$(homeless "$work/planted" "$work/planted")
caught "a name that its own header does not have" '^elsewhere: not in .*/room\.h$' "$planted"
clean "and takes one that it has" "$(grep '^call:' <<<"$planted")"
caught "a call of what is above" '^gagg_session_planted$' "$(calls "$work/planted/tx.o" "$above")"
