# SPDX-License-Identifier: GPL-2.0
# bash completion for gagg-twin(8)                        -*- shell-script -*-

_gagg_twin()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local choice

	case $prev in
	--log)		choice="stderr journal" ;;
	--log-level)	choice="error warning info debug" ;;
	--local | --end-when-idle)
			choice= ;;
	--config | --socket)
			mapfile -t COMPREPLY < <(compgen -f -- "$cur")
			return ;;
	*)		choice="--config --local --socket --end-when-idle --log --log-level --version --help" ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$choice" -- "$cur")
}

complete -F _gagg_twin gagg-twin
