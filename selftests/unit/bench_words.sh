#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# gagg-bench's completion, tried out, and that completion and man page know every
# word that the program takes.

cd "$(dirname "$0")/../.." || exit 1
man=agent/bench/gagg-bench.1
completion=agent/bench/gagg-bench.bash
n=0

result()
{
	n=$((n + 1))
	if [ "$1" -eq 0 ]; then
		echo "ok $n - $2"
	else
		echo "not ok $n - $2"
	fi
}

# shellcheck source=/dev/null
. "$completion"

# offers "WORDS BEFORE" WORD CHOICE...
offers()
{
	local before word=$2 COMP_WORDS COMP_CWORD COMPREPLY

	read -ra before <<<"$1"
	shift 2
	COMP_WORDS=(gagg-bench "${before[@]}" "$word")
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	_gagg_bench
	[ "${COMPREPLY[*]}" = "$*" ]
	result $? "offers: ${before[*]} '$word'"
	[ "${COMPREPLY[*]}" = "$*" ] || echo "# ${COMPREPLY[*]}"
}

# knows FILE WORD...
knows()
{
	local name=$1 text word missing=0
	shift

	text=$(sed 's/\\-/-/g' "$name")
	for word in "$@"; do
		grep -qFw -- "$word" <<<"$text" && continue
		echo "# $word"
		missing=1
	done
	result $missing "${name/#\/dev*/completion} knows every word"
}

echo "1..7"
mapfile -t operations < <(sed -n '/kinds\[\] = {/,/^}/s/.*= "\(.*\)",/\1/p' agent/bench/op.c)
mapfile -t types < <(sed -n '/dtypes\[\] = {/,/^}/s/.*= "\(.*\)",/\1/p' agent/bench/op.c)
mapfile -t all < <(sed -n '/options\[\] = {/,/^}/s/.*{ "\(.*\)", [01],.*/--\1/p' agent/bench/args.c)
mapfile -t ours < <(sed -n '/options\[\] = {/,/for drivers/s/.*{ "\(.*\)", [01],.*/--\1/p' \
	agent/bench/args.c)
offers "" all all_reduce all_gather
offers "--dtype" "" "${types[@]}"
offers "all_reduce -o" m mean min max
offers "all_reduce --iters" ""
knows "$man" "${operations[@]}" "${types[@]}" "${all[@]}"
COMP_WORDS=(gagg-bench "") COMP_CWORD=1
_gagg_bench
knows <(printf '%s\n' "${COMPREPLY[@]}") "${operations[@]}" "${ours[@]}"
[ ${#operations[@]} -ge 5 ] && [ ${#types[@]} -eq 5 ] && [ ${#ours[@]} -ge 17 ]
result $? "there are words: ${#operations[@]} ${#types[@]} ${#ours[@]}"
