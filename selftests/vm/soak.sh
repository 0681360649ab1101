#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Random groups, collectives, networks, deaths (sessions.sh), until MINUTES are over;
# every result is checked against an integer reference. Run by "make soak MINUTES=N";
# SEED repeats the choices, though not the moments: "make chaos" repeats these, too.

# shellcheck source=selftests/vm/lib.sh
. "$(dirname "$0")/lib.sh"
# shellcheck source=selftests/vm/ranks.sh
. "$(dirname "$0")/ranks.sh"
# shellcheck source=selftests/vm/store.sh
. "$(dirname "$0")/store.sh"
# shellcheck source=selftests/vm/dice.sh
. "$(dirname "$0")/dice.sh"
# shellcheck source=selftests/vm/sessions.sh
. "$(dirname "$0")/sessions.sh"
plan 1
seed
dice "$SEED"
minutes=${MINUTES:-5}

# outages SEED: one after the other, until outages_end; far shorter than dead-after. How many
# there are depends on moments: the choices that come later must not.
outages()
{
	local dice_state=$tmp/dice.outages

	dice "$1"
	# shellcheck disable=SC2154 # of sessions.sh
	while [ -e "$tmp/outages" ]; do
		sleep "0.$(pick 01 1 3)"
		net_outage "$(length 9)" "$(pick in out both cut down)" "$(roll "$hosts")"
	done >"$tmp/outages.log" 2>&1
}

outages_begin()
{
	: >"$tmp/outages"
	outages "$(roll 100000)" &
	outages_pid=$!
}

# the last one is over when this returns
outages_end()
{
	[ -n "${outages_pid:-}" ] || return 0
	rm -f "$tmp/outages"
	wait "$outages_pid"
	outages_pid=
}

# shellcheck disable=SC2034,SC2154 # of sessions.sh, or for it
impair()
{
	network=$(pick none none loss burst gilbert buffer outages disorder delay)
	case $network in
	loss)		net_loss "$(pick 1 5 10)" ;;
	burst)		net_burst_loss "$(pick 1 5)" ;;
	gilbert)	net_gilbert "$(pick 1 3)" "$(pick 5 30)" ;;
	buffer)		net_buffer "$(pick 100mbit 1gbit)" "$(pick 20 100)" ;;
	outages)	net_clear && outages_begin ;;
	disorder)	net_impair duplicate 10% delay 5ms reorder 10% ;;
	delay)		net_delay "$(pick 1 10)" 1 ;;
	*)		net_clear ;;
	esac
}

impair_none()
{
	net_clear
}

module_load "$@"
klog_mark soak
ticks=0
while [ $SECONDS -lt $((minutes * 60)) ]; do
	setting_draw
	setting_up >"$tmp/log" 2>&1 || { cat "$tmp/log"; failure "setting up"; }
	cat "$tmp/log"
	for ((i = $(roll 5) + 1; i > 0; i--)); do
		session "$(session_fault)" >"$tmp/log" 2>&1 || { cat "$tmp/log"; failure session; }
		outages_end
		grep "^# " "$tmp/log"
		rm -f "$tmp"/rank.*
		[ -z "$ended" ] || break
	done
	[ -n "$ended" ] || setting_down >"$tmp/log" 2>&1 || { cat "$tmp/log"; failure "the end"; }
	ticks=$((ticks + 1))
	[ $((ticks % 10)) -ne 0 ] || report
done
report
pass "$operations operations and $clocks clocks of ranks, all of them exact"
