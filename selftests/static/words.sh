#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Words: comments, sentences to users and pages have none of the phrases that hide a subject or
# a verb, and the glossary has the nouns of the core's structs.

# shellcheck source=selftests/static/lib.sh
. "$(dirname "$0")/lib.sh"

# phrases, extended regular expressions of whole words; what to write instead is behind a tab
everywhere='needs not	need not, does not need
as ever	as before, as always
takes (a|one|no) (sync mode|store|shard)	requires'
# objects are "that" or "which"; a sentence begins with its subject
objects='chan(nel)?|chunk|contribution|cop(y|ie)|datagram|epoch|event|file|group|home|host|message'
objects="$objects|node|op|path|port|request|result|ring|seat|session|shard|slot|socket|store"
in_code="$everywhere
($objects|update|window)s?,? (who|whom) [a-z]+	that, which
[.;] Of [a-z]+	a subject
[.;:] [Ww]ho(m|ever)? [a-z]+	a rank, host, client, ... that"

# phrases_in LIST FILE...: where they occur, with the words around them
phrases_in()
{
	local list=$1
	shift

	awk -v list="$list" '
	function look(	i, rest, at)
	{
		for (i = 1; i <= n; i++) {
			rest = text
			while (match(rest, before[i] "(" phrase[i] ")([^A-Za-z_-]|$)")) {
				at = RSTART > 30 ? RSTART - 30 : 1
				print file ": ..." substr(rest, at, RSTART + RLENGTH - at) "...: " \
					better[i]
				rest = substr(rest, RSTART + RLENGTH)
			}
		}
	}
	BEGIN {
		n = split(list, line, "\n")
		for (i = 1; i <= n; i++) {
			split(line[i], part, "\t")
			phrase[i] = part[1]
			better[i] = part[2]
			before[i] = phrase[i] ~ /^\[/ ? "" : "(^|[^A-Za-z_-])"
		}
	}
	FNR == 1 {
		look()
		text = ""
		file = FILENAME
	}
	{
		# the lines of a comment follow one another, its first sentence some end
		gsub(/\/\*+/, " . ")
		sub(/^[ \t]*\*+\/?/, "")
		gsub(/[ \t]+/, " ")
		text = text " " $0
		gsub(/  +/, " ", text)
	}
	END { look() }' "$@"
}

# nouns FILE...: of the structs that they define
nouns()
{
	sed -nE 's/^struct gagg_([a-z_]+) \{$/\1/p' "$@" | sort -u
}

# structs whose names are plain words, or those of the wire format
plain="
abort ack chan_ops delays diff dssp dssp_worker end gossip hello hdr join_act loops mismatch msg
open param params place pulled pushed rne round_ops start stats step sync_arg sync_ops
sync_param sync_range join_dgram join_epoch receipt sum times word
"

# unexplained GLOSSARY NOUN...: those that it lacks: as a word of a first column, or by the
# name of the struct
unexplained()
{
	local glossary=$1 noun

	shift
	for noun; do
		case " $(xargs <<<"$plain") " in
		*" $noun "*) continue ;;
		esac
		grep -qiE "gagg_$noun\`|^\|[^|]*\b${noun%s}s?\b[^|]*\|" "$glossary" ||
			echo "$noun"
	done
}

mapfile -t code < <(find agent kmod uapi selftests -name '*.[ch]' | sort)
mapfile -t pages < <(find Documentation README.md CONTRIBUTING.md -type f \
	! -path 'Documentation/lab/*' ! -name '*.svg' ! -name '*.json' | sort)
mapfile -t core < <(find kmod/core -name '*.[ch]' | sort)
mapfile -t structs < <(nouns "${core[@]}")
if [ ${#code[@]} -lt 300 ] || [ ${#pages[@]} -lt 20 ] || [ ${#structs[@]} -lt 30 ]; then
	bail "where are the files?"
fi

plan 8
clean "comments and sentences in code have plain phrases" "$(phrases_in "$in_code" "${code[@]}")"
clean "so have pages" "$(phrases_in "$everywhere" "${pages[@]}")"
clean "the glossary has the nouns of the core" \
	"$(unexplained Documentation/glossary.md "${structs[@]}")"

file=$work/words.c
cat >"$file" <<'END'
/*
 * A rank needs
 * not wait. Need not is well, and so is: a rank of the group who trains.
 */
static int a;	/* Of many one */
/* a host, who sends */
/* who sends, waits */
END
found=$(phrases_in "$in_code" "$file")
caught "a phrase over two lines, and nothing else" '^1 .*needs not.*need not' \
	"$(grep -c 'need not' <<<"$found") $(grep 'need not' <<<"$found")"
caught "a sentence that begins with Of" 'Of many.*: a subject$' "$found"
caught "an object that is who" 'host, who.*: that, which$' "$found"
caught "a sentence that begins with who" 'who sends,.*: a rank' "$found"
echo "struct gagg_$(tr -d '\n' <<<"none_such") {" >"$work/core.h"
mapfile -t structs < <(nouns "$work/core.h")
caught "a struct that is explained nowhere" '^none_such$' \
	"$(unexplained Documentation/glossary.md "${structs[@]}")"
