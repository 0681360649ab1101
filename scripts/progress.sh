# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# What runs for long and says nothing, or too much. To be sourced.
#
#   progress WHAT COMMAND...    every ten seconds ($progress_every) a line tells how far COMMAND
#                               is, a program. Of what it says the end is shown if it fails
#   progress_apt                words that have apt-get tell a percentage

# shellcheck disable=SC2034 # of those that source it
progress_apt=(-q -o APT::Status-Fd=1)
progress_every=10

progress()
{
	local what=$1 said status=0
	shift

	said=$(mktemp)
	exec {said_fd}<>"$said"
	rm "$said"
	"$@" 2>&1 | progress_tell "$what" >&"$said_fd" || status=$?
	[ "$status" -eq 0 ] || grep -v '^\(dl\|pm\)status:' "/dev/fd/$said_fd" | tail -n 40 >&2
	exec {said_fd}>&-
	return "$status"
}

# progress_tell WHAT: copies its input
progress_tell()
{
	local line='' held='' at='' files=0 told=$SECONDS start=$SECONDS percent text status

	while :; do
		if IFS= read -r -t 1 line; then
			line=$held$line held=''
			printf '%s\n' "$line"
			case $line in
			# make of a kernel
			"  "[A-Z]*)
				files=$((files + 1))
				at=", $files files built"
				;;
			dlstatus:*|pmstatus:*)
				IFS=: read -r _ _ percent text <<<"$line"
				at=", ${percent%.*} %: $text"
				;;
			esac
		else
			# a part of a line, for which there was no time, or which is the end
			status=$?
			held+=$line
			if [ $status -le 128 ]; then
				printf '%s' "$held"
				return 0
			fi
		fi
		if [ $((SECONDS - told)) -ge "$progress_every" ]; then
			told=$SECONDS
			echo "  $1: $((told - start)) s$at" >&2
		fi
	done
}
