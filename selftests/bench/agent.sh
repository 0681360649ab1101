#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What MPI's launchers use instead of ssh:
#
#   agent.sh [OPTION...] ADDRESS COMMAND...   run it on the host of vm/net.sh with
#                                             this address
#   agent.sh --here COMMAND...                only take a name for this host
#
# A host name of its own for each namespace: MPI takes equal names for one machine.

while [[ ${1:-} == -* && $1 != --here ]]; do
	shift
done
where=$1
shift
if [ "$where" = --here ]; then
	hostname h0
	exec "$@"
fi
host=h$((${where##*.} - 1))
exec ip netns exec "$host" unshare -u sh -c "hostname $host; exec $*"
