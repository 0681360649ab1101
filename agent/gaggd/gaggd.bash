# SPDX-License-Identifier: GPL-2.0
# bash completion for gaggd(8)                            -*- shell-script -*-

_gaggd()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local choice

	case $prev in
	--log)		choice="stderr journal" ;;
	--log-level)	choice="error warning info debug" ;;
	--local | --checkpoints | --checkpoint-bytes)
			choice= ;;
	--config | --socket | --state)
			mapfile -t COMPREPLY < <(compgen -f -- "$cur")
			return ;;
	*)		choice="--config --local --socket --state --checkpoints --checkpoint-bytes
				--log --log-level --version --help" ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$choice" -- "$cur")
}

complete -F _gaggd gaggd
