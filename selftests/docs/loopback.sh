# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0
#
# Twins on the loopback of a network namespace, as an ordinary user has them. What sources it
# is begun anew in there: source it first. Afterwards the top folder is the current one, and
# $tmp is removed with all jobs in the end.

cd "$(dirname "${BASH_SOURCE[0]}")/../.." || exit 1
[ -n "${inside:-}" ] || exec unshare --map-root-user --net env inside=1 "$0"
# shellcheck source=selftests/tap.sh
. selftests/tap.sh
tmp=$(mktemp -d)
# shellcheck disable=SC2034 # of twins.sh
out=$tmp
# shellcheck source=agent/examples/twins.sh
. agent/examples/twins.sh
# shellcheck disable=SC2046,SC2154 # words; of twins.sh. One that was stopped has to hear of its end
trap 'kill -CONT "${twins[@]}" 2>/dev/null; kill $(jobs -p) 2>/dev/null; rm -rf "$tmp"' EXIT
unset GAGG_SOCKET
ip link set lo up
