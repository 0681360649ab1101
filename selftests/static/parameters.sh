#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A function has at most five parameters: what more belong together are a struct, whose fields
# have names where it is filled in, and whose kernel-doc says whose they are and for how long.

# shellcheck source=selftests/static/lib.sh
. "$(dirname "$0")/lib.sh"
plan 10

most=5

# FUNCTIONS: why these have more
exceptions="
gagg_allreduce gagg_iallreduce gagg_reduce_scatter gagg_ireduce_scatter gagg_batch_mean: \
public, with the parameters that the interfaces of the field have: MPI_Allreduce(), ncclAllReduce()
gagg_reduce_chunk simd_reduce_lanes gagg_simd_add gagg_simd_add_narrow: \
loops of struct gagg_loops: all six are in registers on x86-64 and arm64, a struct is in memory
"

excepted()
{
	local names why

	while IFS=: read -r names why; do
		[ -z "$why" ] || tr ' ' '\n' <<<"$names"
	done <<<"$exceptions"
}

# FILE...: functions with more, each once
crowded()
{
	selftests/static/parameters.py "$@" |
		awk -v most="$most" '$3 > most { print $1 ": " $2 "() has " $3 " parameters" }' |
		sort -u
}

# names that are no exception's
unexcused()
{
	grep -vE ": ($(excepted | xargs | tr ' ' '|'))\(\)"
}

# exceptions that no function needs; FINDINGS
needless()
{
	local name

	for name in $(excepted); do
		grep -q ": $name()" <<<"$1" || echo "$name"
	done
}

mapfile -t files < <(find kmod agent -name '*.[ch]' | sort)
found=$(crowded "${files[@]}")
clean "functions have at most $most parameters" "$(unexcused <<<"$found")"
clean "each exception is one" "$(needless "$found")"

# SOURCE: what is found in it
in_source()
{
	printf '%s\n' "$1" >"$work/x.c"
	crowded "$work/x.c"
}

caught "one with six, in several lines" "x.c: f\(\) has 6 parameters" \
	"$(in_source $'static int f(int a, int b,\n\t     int c /* of two, at most */, int d,\n\t     int e, int g)\n{\n}')"
caught "one whose last is a function, and that has an attribute" "x.c: f\(\) has 6 parameters" \
	"$(in_source $'void __printf(1, 2) f(int a, int b, int c, int d, int e,\n\t\t\tvoid (*g)(int, int))\n{\n}')"
caught "one that returns a function" "x.c: f\(\) has 6 parameters" \
	"$(in_source $'int (*f(int a, int b, int c, int d, int e, int g))(int)\n{\n\treturn 0;\n}')"
caught "one behind a macro's call" "x.c: f\(\) has 6 parameters" \
	"$(in_source $'WORDS(g, 1, 2)\nint f(int a, int b, int c, int d, int e, int g) __must_hold(a)\n{\n}')"
caught "one in a macro" "x.c: f\(\) has 6 parameters" \
	"$(in_source $'#define F(x) \\\nstatic int f(int a, int b, int c, int d, \\\n\t     int e, int g) \\\n{ \\\n}')"
caught "the second of two behind branches" "x.c: f\(\) has 6 parameters" \
	"$(in_source $'#if A\nint g(void) {\n#else\nint g(int a) {\n#endif\n}\nint f(int a, int b, int c, int d, int e, int g)\n{\n}')"
clean "but none with five, one of them a function of six" \
	"$(in_source $'int f(int a, int b, int c, int d, int (*e)(int, int, int, int, int, int))\n{\n\treturn g(1, 2, 3, 4, 5, 6);\n}')"
clean "nor a declaration, a call, a table or a string" \
	"$(in_source $'WORDS(1, 2, 3, 4, 5, 6)\nstruct v {\n};\nint f(int a, int b, int c, int d, int e, int g);\nint t[] = { X(1, 2, 3, 4, 5, 6) };\nstruct s u = S(1, 2, 3, 4, 5, 6) {\n};\nchar *s = "int f(a, b, c, d, e, g) {";')"
