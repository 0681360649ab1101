# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Training on handwritten digits, one rank a host; to be sourced after ranks.sh.
#
#   digits_daemons HOST...      gaggd there
#   train EPOCHS [OPTION...]    all ranks, in group g
#   accuracy                    prints the least of all ranks'; fails if not all have
#                               the same weights in the end
#   learns EPOCHS [OPTION...]   train, to $WANTED percent at least; $EPOCHS are enough,
#                               $LAGGING where workers do not read what is newest
#   learns_well EPOCHS [OPTION...]
#                               the same, to 95 percent: $ENOUGH are enough where it does
#                               not depend on the scheduler how old a read is
#   learns_too_little EPOCHS [OPTION...]
#                               the same weights, but not $WANTED percent

# shellcheck disable=SC2034,SC2154 # of lib.sh and ranks.sh, or for them
WANTED=90 EPOCHS=10
# 96 percent in two runs of each mode; in 12 epochs 94.7 to 95.3
ENOUGH=16
# how stale a read is the scheduler decides, so twice what most runs need: ako:3:2 has
# come to between 85 and 96 percent in 10 epochs, to 95 at least in 20
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

learns()
{
	local a

	train "$@" && a=$(accuracy) && is "${a%.*} >= $WANTED"
}

learns_well()
{
	local WANTED=95

	learns "$@"
}

learns_too_little()
{
	local a

	train "$@" && a=$(accuracy) && is "${a%.*} < $WANTED"
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
