#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Documents: prose is at most 100 columns wide, links and quoted paths lead somewhere, rules of
# the protocol have numbers of their own, who cites one cites one that there is, and the picture
# of the architecture is that of its text.

# shellcheck source=selftests/static/lib.sh
. "$(dirname "$0")/lib.sh"

# prose PAGE: it, with an empty line for each one of a table or of a block of code
prose()
{
	awk '/^ *```/ { code = !code; print ""; next }
		{ print code || /^ *\|[ -]/ ? "" : $0 }' "$1"
}

# wide PAGE...: lines that could have been broken
wide()
{
	local page

	for page; do
		prose "$page" | LC_ALL=C.UTF-8 grep -nE '^.{101,}$' |
			grep -vE '^[0-9]+: *[^ ]+$' | sed "s|^|$page:|"
	done
}

# slugs PAGE: the anchors of its headings
slugs()
{
	prose "$1" | sed -n 's/^##* *//p' | tr '[:upper:]' '[:lower:]' |
		sed 's/[^-a-z0-9 _]//g; s/ /-/g'
}

# links PAGE: where each of them leads to, PATH#ANCHOR
links()
{
	grep -o '](\([^)]*\))' "$1" | sed 's/^](//; s/)$//' | grep -v '^https*:'
}

# dead PAGE...: links that lead nowhere
dead()
{
	local page to anchor

	for page; do
		while IFS='#' read -r to anchor; do
			to=${to:+$(dirname "$page")/$to}
			to=${to:-$page}
			[ -e "$to" ] && { [ -z "$anchor" ] || slugs "$to" | grep -qx -- "$anchor"; } ||
				echo "$page: $to${anchor:+#$anchor}"
		done < <(links "$page")
	done
}

# quoted FILE...: paths of the checkout that pages quote
# shellcheck disable=SC2016 # a quote of Markdown
quoted()
{
	grep -ohI '`\(agent\|kmod\|uapi\|scripts\|selftests\|vm\)/[a-z0-9_./-]*`' "$@" |
		tr -d '\140' | sort -u
}

# named FILE...: pages that code, scripts and manuals name
named()
{
	grep -ohI '\bDocumentation/[a-z0-9/-]*\.md\b' "$@" | sort -u
}

# missing: of the paths on standard input those that are not there
missing()
{
	local path

	while read -r path; do
		[ -e "$path" ] || echo "$path"
	done
}

# rules PAGE: the numbers of its rules
rules()
{
	grep -o '\*\*R[0-9][0-9]*\*\*' "$1" | tr -d '*R'
}

# twice PAGE: numbers that more than one rule has; or that there are none
twice()
{
	rules "$1" | sort -n | uniq -c | awk '$1 > 1 { print "R" $2 } END { if (!NR) print "no rules" }'
}

# cited FILE...: rules of protocol.md that there are not
cited()
{
	local rule

	while read -r rule; do
		rules Documentation/protocol.md | grep -qx "$rule" || echo "R$rule"
	done < <(grep -ohI 'protocol\.md R[0-9]*' "$@" | sed 's/.* R//' | sort -nu)
}

# stale TEXT PICTURE: where the one is not what the other says
stale()
{
	scripts/picture "$1" 2>&1 | diff "$2" -
}

mapfile -t pages < <(find . \( -path ./.git -o -path ./build \) -prune -o \
	-type f -name '*.md' -print | sort)
mapfile -t others < <(find agent kmod uapi scripts selftests vm -type f ! -name '*.bin' \
	! -path selftests/static/documents.sh)
if [ ${#pages[@]} -lt 20 ] || [ ${#others[@]} -lt 500 ]; then
	bail "where are the pages?"
fi

plan 14
clean "prose is at most 100 columns wide" "$(wide "${pages[@]}")"
clean "links lead somewhere" "$(dead "${pages[@]}")"
clean "paths that pages quote are there" "$(quoted "${pages[@]}" | missing)"
clean "pages that others name are there" "$(named "${others[@]}" "${pages[@]}" | missing)"
clean "each rule has a number of its own" "$(twice Documentation/protocol.md)"
clean "rules that others cite are there" "$(cited "${others[@]}")"
clean "the picture is that of its text" "$(stale Documentation/architecture.{pic,svg})"

page=$work/page.md
{
	printf '# A heading\n\n'
	printf 'a %.0s' {1..51}
	# shellcheck disable=SC2016 # a quote of Markdown
	printf '\n| a table %0100d | of one row |\n```\na block of code %0100d\n```\n' 0 0
	# shellcheck disable=SC2016 # a quote of Markdown
	echo '[here](#a-heading) [there](page.md#none) `kmod/none.c`, Documentation/none.md'
	echo '**R1** **R3** **R3** protocol.md R1 protocol.md R1000'
} >"$page"
caught "a line that is too wide, and nothing else" "^1 $page:3:a a" \
	"$(wide "$page" | wc -l) $(wide "$page")"
caught "a link to a heading that is not there" "^1 $page: $work/page.md#none\$" \
	"$(dead "$page" | wc -l) $(dead "$page")"
caught "a path that is not there" '^kmod/none.c$' "$(quoted "$page" | missing)"
caught "a page that is not there" '^Documentation/none.md$' "$(named "$page" | missing)"
caught "two rules with one number" '^R3$' "$(twice "$page")"
caught "a citation of no rule" '^R1000$' "$(cited "$page")"
sed 's/NAPI/none/' Documentation/architecture.pic >"$work/picture.pic"
caught "a picture of an older text" '^<.*NAPI' \
	"$(stale "$work/picture.pic" Documentation/architecture.svg)"
