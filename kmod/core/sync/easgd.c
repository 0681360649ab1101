// SPDX-License-Identifier: GPL-2.0
/*
 * Elastic averaging (Zhang, Choromanska, LeCun, NIPS 2015), asynchronous: replicas and a common
 * centre draw each other closer (agent/lib/replica_easgd.c). The centre is in a store, to which
 * each rank adds whenever it comes by. So the core does what it does for asp. The synchronous
 * form is an algorithm over rounds.
 */
#include "sync/internal.h"

const struct gagg_sync_ops gagg_sync_easgd = {
	.nargs = 2,
	.arg = { { 1, 1000000 }, { 1, 100 } },
	.store = true,
	.may_read = gagg_sync_read_at_once,
};
