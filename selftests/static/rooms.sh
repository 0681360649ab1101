#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Which room of the tree includes headers of which other one: those that are listed here, and
# no others. An arrow that nobody uses any more goes out of the list.

# shellcheck source=selftests/static/lib.sh
. "$(dirname "$0")/lib.sh"

# ROOM: the others that it knows. The ring and the store do not know each other. libgagg
# knows nothing but its own headers and the interface, since its licence is another one.
cat >"$work/allowed" <<'END'
agent/archive: agent/lib kmod/core/group
agent/bench: agent/nl
agent/conf: agent/lib agent/nl kmod/core/group kmod/core/sync
agent/gaggctl: agent/archive agent/conf agent/lib agent/nl
agent/gaggd: agent/archive agent/conf agent/lib agent/nl
agent/nl: agent/lib kmod/core/group
agent/twin: agent/conf agent/gaggd agent/lib kmod/core
kmod: kmod/compat kmod/core
kmod/core: kmod/core/group kmod/core/ring kmod/core/store kmod/core/sync
kmod/core/group: kmod/core kmod/core/sync
kmod/core/ring: kmod/core
kmod/core/store: kmod/core kmod/core/sync
kmod/core/sync: kmod/core
END

# room ROOM HEADER: $to is whose header that is; folders are looked at as the compiler does
declare -A room_names=()
room()
{
	local at

	for at in "$1" kmod/core kmod agent/lib; do
		if [ -e "$at/$2" ]; then
			at=$at/$2
			at=${at%/*}
			: "${room_names[$at]:=$(realpath --relative-to=. "$at")}"
			to=${room_names[$at]}
			return
		fi
	done
	to=nowhere:$2
}

# arrows TOP: "ROOM OTHER SOURCE" for each header of another room that is included below it
arrows()
{
	local source header from to

	while IFS=: read -r source header; do
		from=${source%/*}
		room "$from" "$header"
		[ "$from" = "$to" ] || echo "$from $to $source"
	done < <(grep -roE --include='*.[ch]' '^#include "[^"]+"' "$@" |
		sed 's/#include "//; s/"$//')
}

# listed: the list, an arrow a line
listed()
{
	awk -F '[: ]+' '{ for (i = 2; i <= NF; i++) print $1, $i }' "$work/allowed"
}

arrows kmod agent >"$work/arrows"
[ "$(wc -l <"$work/arrows")" -gt 50 ] || bail "where are the sources?"
plan 4
clean "no room includes what it may not know" \
	"$(grep -vf <(listed | sed 's/.*/^& /') "$work/arrows")"
clean "what each may know is used" \
	"$(listed | grep -vxFf <(cut -d ' ' -f 1,2 "$work/arrows" | sort -u))"

mkdir -p "$work/kmod/core/ring"
echo '#include "store/store.h"' >"$work/kmod/core/ring/new.c"
echo '#include "none.h"' >"$work/kmod/core/ring/lost.c"
caught "a ring that knows the store" " kmod/core/store .*/ring/new.c" "$(arrows "$work/kmod")"
caught "a header that is nowhere" " nowhere:none.h .*/ring/lost.c" "$(arrows "$work/kmod")"
