// SPDX-License-Identifier: GPL-2.0
/* Parameter averaging: rounds as in bsp, of the weights of replicas (agent/lib/replica.c). */
#include "sync.h"

const struct gagg_sync_ops gagg_sync_localsgd = {
	.name = "localsgd",
	.about = "replicas: each trains alone, every TAU steps they take the mean of all",
	.usage = "localsgd needs its period, as in localsgd:8",
	.nargs = 1,
	.arg = { { "TAU", "TAU of localsgd:TAU must be from 1 to 1000000 steps", 1, 1000000 } },
	.take = gagg_sync_take_open,
};
