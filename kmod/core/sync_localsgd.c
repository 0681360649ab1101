// SPDX-License-Identifier: GPL-2.0
/*
 * Parameter averaging. The modes of replicas are bulk-synchronous rounds, or an
 * asynchronous store, here: each rank trains weights of its own, and what is
 * exchanged when is libgagg's matter (agent/lib/replica.c). They have names and
 * parameters of their own so that all hosts agree on them.
 */
#include "sync.h"

const struct gagg_sync_ops gagg_sync_localsgd = {
	.name = "localsgd",
	.about = "replicas: each trains alone, every TAU steps they take the mean of all",
	.usage = "localsgd needs its period, as in localsgd:8",
	.nargs = 1,
	.arg = { { "TAU", "TAU of localsgd:TAU must be from 1 to 1000000 steps", 1, 1000000 } },
	.take = gagg_sync_take_open,
};
