#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# The examples of the manual are carried out over twins; manual and completions know each
# option of the daemons; the table of sync modes is what gaggctl says of them.

# shellcheck disable=SC2317 # check calls them
set -o pipefail
cd "$(dirname "$0")/../.." || exit 1
[ -n "${inside:-}" ] || exec unshare --map-root-user --net env inside=1 "$0"
# shellcheck source=selftests/tap.sh
. selftests/tap.sh
# shellcheck source=selftests/docs/blocks.sh
. selftests/docs/blocks.sh
top=$PWD
tmp=$(mktemp -d)
# shellcheck disable=SC2046 # words
trap 'kill $(jobs -p) 2>/dev/null; rm -rf "$tmp"' EXIT
export PATH=$top/build:$PATH
ip link set lo up
ip address add 10.0.0.0/8 dev lo

# each is carried out below, and by twin.sh the one on monitoring
examples_are_known()
{
	grep -c '^\.nf' Documentation/man/*.[1-8] | LC_ALL=C sort | tee "$tmp/counts"
	diff "$tmp/counts" - <<-'END'
		Documentation/man/gagg-twin.8:3
		Documentation/man/gagg.3:2
		Documentation/man/gagg.conf.5:1
		Documentation/man/gaggd.8:0
	END
}

# the functions at the head of gagg(3) are those of the header
synopsis()
{
	groff -man -T ascii -P -cbou Documentation/man/gagg.3 |
		sed -n '/^SYNOPSIS/,/^DESCRIPTION/{/^ .*[;>,(]$/p}' >"$tmp/synopsis.c"
	cat "$tmp/synopsis.c"
	[ "$(grep -c ';$' "$tmp/synopsis.c")" -eq 3 ] &&
		cc -Wall -Werror -fsyntax-only -Iagent/lib "$tmp/synopsis.c"
}

# the program of gagg(3)
library()
{
	example gagg.3 EXAMPLES >"$tmp/mean.c" || return
	cc -Wall -Werror -Iagent/lib -o "$tmp/mean" "$tmp/mean.c" build/libgagg.a -pthread &&
		agent/examples/twins.sh 3 train "$tmp/mean" | tee "$tmp/means" &&
		[ "$(grep -o 'rank [0-2]: mean 4' "$tmp/means" | sort -u | wc -l)" -eq 3 ]
}

# rows of two ranks, with sizes from 4K to $2; none is wrong
rows()
{
	cat "$1"
	grep -q '^# gagg: all_reduce, 2 ranks,' "$1" &&
		[ "$(awk '$1 + 0 >= 4096 && $9 == 0' "$1" | wc -l)" -eq "$2" ]
}

# the commands of gagg-twin(8)
twin()
{
	mkdir "$tmp/twin" && example gagg-twin.8 EXAMPLES >"$tmp/twin/script" || return
	(cd "$tmp/twin" && timeout 300 bash ./script) >"$tmp/rows" 2>"$tmp/log" || {
		cat "$tmp/log"
		return 1
	}
	rows "$tmp/rows" 3
}

# what is asked of one of them while it runs: after the first commands, which start them
twin_asked()
{
	mkdir "$tmp/asked" && example gagg-twin.8 EXAMPLES >"$tmp/asked/all" || return
	{
		sed '/^until/q' "$tmp/asked/all"
		example gagg-twin.8 EXAMPLES 2
		echo 'kill %1 %2'
	} >"$tmp/asked/script" || return
	(cd "$tmp/asked" && timeout 300 bash ./script) | tee "$tmp/members"
	[ "$(grep -c '^[01]=127\.0\.0\.[12],both' "$tmp/members")" -eq 2 ]
}

# the file of gagg.conf(5); its third member is no worker
conf()
{
	local i pids=() ranks=() status=0

	example gagg.conf.5 DESCRIPTION | sed "s/gid = trainers/gid = $(id -gn)/" >"$tmp/gagg.conf" ||
		return
	for i in 1 2 3; do
		gagg-twin --config "$tmp/gagg.conf" --local "10.0.0.$i" --socket "$tmp/$i" \
			2>"$tmp/log.$i" &
		pids+=($!)
	done
	for i in 1 2 3; do
		until [ -S "$tmp/$i" ]; do
			kill -0 "${pids[i - 1]}" || { cat "$tmp/log.$i"; return 1; }
			sleep 0.1
		done
	done
	for i in 1 2; do
		gagg-bench all_reduce --group train --socket "$tmp/$i" -e 4K >"$tmp/rows.$i" &
		ranks+=($!)
	done
	for i in "${ranks[@]}"; do
		wait "$i" || status=1
	done
	kill "${pids[@]}"
	wait "${pids[@]}"
	rows "$tmp/rows.1" 1 && return "$status"
}

# knows WHAT FILE WORD...
knows()
{
	local name=$1 text word missing=0

	text=$(sed 's/\\-/-/g' "$2")
	shift 2
	for word in "$@"; do
		grep -qEe "(^|[^-a-z])$word($|[^-a-z])" <<<"$text" && continue
		echo "$name does not know $word"
		missing=1
	done
	return "$missing"
}

# daemon PROGRAM COMPLETION FUNCTION
daemon()
{
	local words COMP_WORDS=("$1" --) COMP_CWORD=1 COMPREPLY

	mapfile -t words < <("$1" --help | grep -o '^  --[a-z-]*' | tr -d ' ')
	# shellcheck source=/dev/null
	. "$2" && "$3" && printf '%s\n' "${COMPREPLY[@]}" >"$tmp/offers" || return
	echo "${words[@]}"
	[ ${#words[@]} -ge 7 ] && [ "${#words[@]}" -eq "$(wc -l <"$tmp/offers")" ] &&
		knows completion "$tmp/offers" "${words[@]}" &&
		knows "the manual" "Documentation/man/$1.8" "${words[@]}"
}

# of those without replicas the functions, too
# shellcheck disable=SC2016 # a quote of Markdown
modes()
{
	sed -n 's/^| `\([^`]*\)` |[^|]*| \(collectives\|tables\|replicas\) |.*/\1 \2/p' \
		Documentation/sync-modes.md | sort >"$tmp/table"
	gaggctl sync list | awk '/^[^ ]/ { mode = $1; has = /replicas: / ? "replicas" : "" }
		/^    store$/ { print mode, has ? has : "tables" }
		/^    collectives$/ { print mode, has ? has : "collectives" }' | sort >"$tmp/modes"
	[ -s "$tmp/modes" ] && diff "$tmp/modes" "$tmp/table"
}

echo "1..9"
check "each example is one that is carried out here" examples_are_known
check "gagg(3): the synopsis" synopsis
check "gagg(3): the program" library
check "gagg-twin(8): two hosts" twin
check "gagg-twin(8): one of them is asked" twin_asked
check "gagg.conf(5): the file" conf
check "gaggd: manual and completion have its options" daemon gaggd agent/gaggd/gaggd.bash _gaggd
check "gagg-twin: the same" daemon gagg-twin agent/twin/gagg-twin.bash _gagg_twin
check "sync modes: those of the table, with their functions" modes
exit $bad
