# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Training on handwritten digits, one rank a host; to be sourced after ranks.sh.
#
#   digits_daemons HOST...      gaggd there
#   train EPOCHS [OPTION...]    all ranks, in group g
#   accuracy                    prints the least of all ranks'; fails if not all have
#                               the same weights in the end
#   learns EPOCHS [OPTION...]   train, to 90 percent at least; $EPOCHS are enough
#   learns_well EPOCHS [OPTION...]
#                               the same, to 95 percent: if that was not enough, again,
#                               with twice as many, then with four times. $ENOUGH are, $LAGGING where
#                               workers do not read what is newest. Sets $learned
#   learns_on_the_way EPOCHS [OPTION...]
#                               train, and at some point to 95 percent, maybe not in the end:
#                               where late gradients are kept. Those of a rank that was not
#                               scheduled for many rounds come at once, up to a ring of them,
#                               and if they come last nothing mends what they undo (of 36
#                               trainings whose ranks were stopped at random five ended with
#                               less than 95 percent: 94.99 twice, 93.9, 93.6 and 88.6).
#                               Sets $learned
#   learns_too_little EPOCHS [OPTION...]
#                               the same weights, but not 90 percent

# shellcheck disable=SC2034,SC2154 # of lib.sh and ranks.sh, or for them
EPOCHS=10
# 96 to 97 percent in three runs of each; in 12 epochs 94.7 to 95.3
ENOUGH=16
# how stale a read is the scheduler decides: ako:3:2 has come to between 85 and 96
# percent in 10 epochs, to 95 at least in 20
LAGGING=20
# us that a sample takes more, by rank
slow=()

train()
{
	local r

	for ((r = 0; r < ranks; r++)); do
		GAGG_SOCKET=/run/gagg/h$r.sock net_exec "$r" digits --group g --rank "$r" \
			${slow[r]:+--slow "${slow[r]}"} \
			--data "$TOP/agent/examples/data/digits.csv.gz" --epochs "$@" \
			>"$tmp/rank.$r" 2>&1 &
		rank_pid[r]=$!
	done
	ranks_wait
}

# of lines "rank R: accuracy A digest D"
accuracy()
{
	cat "$tmp"/rank.? | awk -v ranks="$ranks" '
		/^rank .* accuracy .* digest/ {
			n++
			digest[$6]
			least = n == 1 || $4 < least ? $4 : least
		}
		END {
			print least
			exit n != ranks || length(digest) != 1
		}'
}

# learns_to PERCENT EPOCHS [OPTION...]: 2, if all went well, but to less than that
learns_to()
{
	local percent=$1 a
	shift

	learned=
	train "$@" && a=$(accuracy) || return 1
	learned="$a percent in $1 epochs"
	is "${a%.*} >= $percent" || return 2
}

learns()
{
	learns_to 90 "$@"
}

learns_well()
{
	local times before=''

	for times in 1 2 4; do
		learns_to 95 $((times * $1)) "${@:2}"
		case $? in
		0)	learned=$before$learned
			return
			;;
		2)	before+="$learned, then " ;;
		*)	return 1 ;;
		esac
	done
	return 1
}

learns_on_the_way()
{
	local a best

	learned=
	train "$@" --curve && a=$(accuracy) || return
	best=$(awk '/^curve / && $5 > best { best = $5 } END { print best + 0 }' "$tmp/rank.0")
	learned="$best percent in $1 epochs, $a in the end"
	is "${best%.*} >= 95"
}

learns_too_little()
{
	learns_to 90 "$@"
	[ $? -eq 2 ]
}

digits_daemons()
{
	local r

	mkdir -p /run/gagg
	for r; do
		net_exec "$r" gaggd --socket "/run/gagg/h$r.sock" >"/run/gagg/h$r.log" 2>&1 &
	done
	for r; do
		wait_until 30 test -S "/run/gagg/h$r.sock" || return
	done
}
