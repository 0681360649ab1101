#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# A static function's name has a word of its file's: in an oops, a profile or a grep it is one
# function's, of a file that one can guess. Not in headers, whose functions have their callers'
# prefix.

# shellcheck source=selftests/static/lib.sh
. "$(dirname "$0")/lib.sh"
plan 3

# files whose functions have another word: namesakes, and what would be the kernel's own
words="
kmod/core/store/home.c store_home
kmod/core/store/worker.c store_worker
kmod/core/sync/quorum.c sync_quorum
kmod/netlink.c nl
kmod/main.c gagg
agent/bench/gagg.c system
"

# FILE...: static functions without the word
nameless()
{
	awk -v words="$(xargs <<<"$words")" '
	function word(file,	base) {
		base = file
		sub(/.*\//, "", base)
		sub(/\.c$/, "", base)
		return base
	}
	BEGIN {
		n = split(words, w, " ")
		for (i = 1; i < n; i++)
			if (w[i] ~ /\.c$/)
				other[w[i]] = w[i + 1]
	}
	FNR == 1 {
		pattern = FILENAME in other ? other[FILENAME] : word(FILENAME)
		if (pattern !~ /ss$/)
			sub(/s$/, "", pattern)
		if (!(FILENAME in other))
			gsub(/_/, "|", pattern)
	}
	/^static [^=;{}]*\(/ {
		name = $0
		sub(/\(.*/, "", name)
		sub(/.*[ *]/, "", name)
		if (name !~ /^[A-Z_]+$/ && name !~ /#/ &&
		    name !~ ("(^|_)(" pattern ")s?(_|$)"))
			print FILENAME ": " name "()"
	}' "$@"
}

mapfile -t files < <(find kmod agent -name '*.c' -not -path 'kmod/compat/*' | sort)
clean "static functions have a word of their files" "$(nameless "${files[@]}")"

mkdir "$work/kmod"
printf 'static int other_thing(void)\n{\n}\n' >"$work/kmod/port.c"
caught "one that has none" "port.c: other_thing" "$(nameless "$work/kmod/port.c")"
printf 'static inline u32 *port_thing(void)\n{\n}\n' >"$work/kmod/port.c"
clean "and no other" "$(nameless "$work/kmod/port.c")"
