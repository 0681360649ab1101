#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# gaggctl's completion, tried out, and that completion and man page know every
# word that the program takes.

cd "$(dirname "$0")/../.." || exit 1
man=agent/gaggctl/gaggctl.8
completion=agent/gaggctl/gaggctl.bash
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

# Stands in for the program, which completion asks for groups and ranks; what it says of
# itself it says.
gaggctl()
{
	case "$*" in
	"--twin /s group list")	printf 't1 waiting\n' ;;
	"--twin /s member list t1") printf '5=10.0.0.1,both\n' ;;
	"group help")		build/gaggctl group help ;;
	"group list")		printf 'g1 waiting\ng2 running\n' ;;
	"checkpoint list")	printf 'g1/a bytes 1\ng1/b bytes 1\nold/c bytes 1\n' ;;
	"checkpoint list g1")	printf 'g1/a bytes 1\ng1/b bytes 1\n' ;;
	"member list g1")	printf '0=10.0.0.1,both\n7=10.0.0.2,both\n' ;;
	esac
}

# shellcheck source=/dev/null
. "$completion"

# offers "WORDS BEFORE" WORD CHOICE...
offers()
{
	local before word=$2 COMP_WORDS COMP_CWORD COMPREPLY

	read -ra before <<<"$1"
	shift 2
	COMP_WORDS=(gaggctl "${before[@]}" "$word")
	COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
	_gaggctl
	[ "${COMPREPLY[*]}" = "$*" ]
	result $? "offers: ${before[*]} '$word'"
	[ "${COMPREPLY[*]}" = "$*" ] || echo "# ${COMPREPLY[*]}"
}

# knows_words FILE WORD...
knows_words()
{
	local text word missing=0

	text=$(<"$1")
	text=${text//\\-/-}
	for word in "${@:2}"; do
		[[ $text =~ (^|[^[:alnum:]_])"$word"($|[^[:alnum:]_]) ]] && continue
		echo "# $word"
		missing=1
	done
	result $missing "$1 knows every word"
}

offers "" g group
offers "" ve version
offers "group" "" create delete set show list help
offers "group create" ""
offers "group create g" p port placement
offers "group create g local" ""
offers "group create g placement" "" striped root tensor
offers "group create g lanes" "" auto
offers "group create g lane-type" "" int32 int64
offers "group create g multicast" "" none
offers "group create g" mu multicast
offers "group create g wire" "" int32 int16 int8
offers "group create g window" ""
offers "group create g ring" ""
offers "group set g l" l local lanes lane-type
offers "group create g member 0 = 10.0.0.1" me member
offers "group set g1" me
offers "group set" "" g1 g2
offers "-j group delete" "" g1 g2
offers "--twin /s group show" "" t1
offers "--twin /s -j member set t1" "" 5
offers "stats --twin /s" "" t1 --nonzero
offers "group list --twin" agent/gaggctl/gaggctl.ba agent/gaggctl/gaggctl.bash
offers "" --t --twin
offers "member" a add
offers "member set" "" g1 g2
offers "member set g1" "" 0 7
offers "member delete g1" "" 0 7
offers "member set g1 7" "" address role
offers "member set g1 7 role" "" worker aggregator both
offers "member add g1" ""
offers "stats" "" g1 g2 --nonzero
offers "batch" "" show help
offers "batch show" g g1 g2
offers "checkpoint" "" list delete help
offers "checkpoint list" "" g1 old
offers "checkpoint delete" g g1
offers "checkpoint delete g1" "" a b
offers "checkpoint delete g1 a" "" --state
offers "checkpoint list --state" agent/gaggctl/gaggctl.ba agent/gaggctl/gaggctl.bash
offers "apply" agent/gaggctl/gaggctl.ba agent/gaggctl/gaggctl.bash
offers "apply" --d --dry-run
offers "apply" --c --check

mapfile -t words < <(
	sed -n 's/^\t*{ "\([a-z]*\)", [a-z_]* },$/\1/p' agent/gaggctl/*.c
	echo address; echo role; echo --nonzero; echo --twin; echo --dry-run; echo --check; echo --state
	echo local; echo member; echo worker; echo aggregator; echo both
)
[ ${#words[@]} -ge 34 ]
result $? "words found in the sources: ${#words[@]}"
knows_words "$man" "${words[@]}"
knows_words "$completion" "${words[@]}"

mapfile -t stats < <(sed -n 's/^\tSTAT([A-Z_]*, "\([a-z_]*\)".*/\1/p' agent/nl/names.c)
[ ${#stats[@]} -ge 34 ]
result $? "counters found in the sources: ${#stats[@]}"
knows_words "$man" "${stats[@]}"

# features, in the order of their bits
features=$(sed -n 's/^#define GAGG_FEAT_\([A-Z0-9_]*\).*/\L\1/p' uapi/linux/gagg.h | xargs)
known=$(sed -n '/feature_names\[\] = {/,/^}/p' agent/gaggctl/version.c | grep -o '"[a-z0-9_]*"' | xargs)
[ -n "$features" ] && [ "$features" = "$known" ]
result $? "gaggctl version knows the features: $known"

echo "1..$n"
