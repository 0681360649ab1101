# SPDX-License-Identifier: GPL-2.0
# bash completion for gaggctl(8)                          -*- shell-script -*-

_gaggctl_groups()
{
	gaggctl "${asked[@]}" group list 2>/dev/null | cut -d' ' -f1
}

# "NAME VALUE" of each option of "group create|set", as the program's help has them
_gaggctl_help()
{
	gaggctl group help 2>/dev/null | sed -n 's/^    \([a-z-]*\) \([^ ]*\) .*/\1 \2/p'
}

# Options of "group create|set" and "member set", or, after one, its values.
# By the word before and not by counting: readline splits 0=10.0.0.1.
_gaggctl_options()
{
	local previous=$1
	shift
	case $previous in
	sync)		echo bsp asp ssp: dssp: dssp-literal: r2sp: ako: bsp-quorum: bsp-deadline: \
			     bsp-adaptive: localsgd: easgd: easgd-sync: hpsgd: \
			     gossip-pull: gossip-push: gossip-pair: push-sum: ;;
	role)		echo worker aggregator both ;;
	uid)		compgen -u ;;
	gid)		compgen -g ;;
	*)		case " $* " in
			*" $previous "*) _gaggctl_help | sed -n "s/^$previous //p" |
						 tr '|' '\n' | grep '^[a-z]' ;;
			*)		 echo "$@" ;;
			esac ;;
	esac
}

# Those of "group create|set"; $2, if it is there, is one more.
_gaggctl_group_options()
{
	local options

	mapfile -t options < <(_gaggctl_help | cut -d' ' -f1)
	_gaggctl_options "$1" "${options[@]}" "${@:2}"
}

# What may follow the words in "$@"; the last of them is the one before.
_gaggctl_choice()
{
	local previous=${*: -1}

	case "$#:$1 ${2-}" in
	1:group*)	echo create delete set show list help ;;
	1:member*)	echo add delete set list help ;;
	2:"group create") ;;
	*:"group create") _gaggctl_group_options "$previous" member ;;
	2:"group set" | 2:"group delete" | 2:"group show")
			_gaggctl_groups ;;
	*:"group set")	_gaggctl_group_options "$previous" ;;
	2:member*)	_gaggctl_groups ;;
	3:"member set" | 3:"member delete")
			gaggctl "${asked[@]}" member list "$3" 2>/dev/null | cut -d= -f1 ;;
	3:"checkpoint delete")
			gaggctl checkpoint list "$3" 2>/dev/null | cut -d/ -f2 | cut -d' ' -f1 ;;
	3:*)		;;
	*:"member set")	_gaggctl_options "$previous" address role ;;
	*:stats*)	_gaggctl_groups
			echo --nonzero ;;
	1:sync*)	echo list help ;;
	1:batch*)	echo show help ;;
	2:"batch show")	_gaggctl_groups ;;
	1:checkpoint*)	echo list delete help ;;
	2:"checkpoint list" | 2:"checkpoint delete")
			gaggctl checkpoint list 2>/dev/null | cut -d/ -f1 | sort -u ;;
	*:checkpoint*)	echo --state ;;
	*:apply*)	echo --dry-run --check ;;
	esac
}

_gaggctl()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local words=() asked=() word last='' choice

	for word in "${COMP_WORDS[@]:1:COMP_CWORD - 1}"; do
		case $last:$word in
		--twin:*)	asked=(--twin "$word") ;;
		*:-j | *:--json | *:--twin)
				;;
		*)		words+=("$word") ;;
		esac
		last=$word
	done
	if [ ${#words[@]} -eq 0 ]; then
		choice="group member stats monitor apply sync batch checkpoint version help --json
			--twin --version --help"
	else
		choice=$(_gaggctl_choice "${words[@]}")
	fi
	[ "$prev" != --twin ] || choice=
	mapfile -t COMPREPLY < <(compgen -W "$choice" -- "$cur")
	if [ "$prev" = --state ] || [ "$prev" = --twin ] || [ "${words[0]-}" = apply ]; then
		mapfile -t -O ${#COMPREPLY[@]} COMPREPLY < <(compgen -f -- "$cur")
	fi
}

complete -F _gaggctl gaggctl
