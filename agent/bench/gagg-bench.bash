# SPDX-License-Identifier: GPL-2.0
# bash completion for gagg-bench(1)                       -*- shell-script -*-

_gagg_bench()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local choice

	case $prev in
	-d | --dtype)	choice="float32 float16 bfloat16 int32 int64" ;;
	-o | --redop)	choice="sum mean min max" ;;
	-g | --group)	choice=$(gaggctl group list 2>/dev/null | cut -d' ' -f1) ;;
	-b | --min | -e | --max | -i | --step | -s | --sizes)
			choice="4K 64K 1M 4M 64M" ;;
	-f | --factor | -r | --root | -n | --iters | -w | --warmup | --pause | -t | --budget | \
	-c | --check | --local | --rank | --ranks | --seed | --timeout)
			choice= ;;
	--socket | --idle-file)
			mapfile -t COMPREPLY < <(compgen -f -- "$cur")
			return ;;
	*)		choice="all_reduce reduce_scatter all_gather broadcast overlap
				--min --max --factor --step --sizes
				--dtype --redop --root
				--iters --warmup --pause --budget --no-plan --seed --json
				--group --rank --socket --timeout --check --local --help" ;;
	esac
	mapfile -t COMPREPLY < <(compgen -W "$choice" -- "$cur")
}

complete -F _gagg_bench gagg-bench
