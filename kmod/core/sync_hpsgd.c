// SPDX-License-Identifier: GPL-2.0
/*
 * HPSGD: rounds as in bsp, of updates that replicas have made meanwhile
 * (agent/lib/replica_hpsgd.c).
 */
#include "sync.h"

const struct gagg_sync_ops gagg_sync_hpsgd = {
	.name = "hpsgd",
	.about = "replicas: an all-reduce is always under way, during at most S local steps",
	.usage = "hpsgd needs its bound, as in hpsgd:8",
	.nargs = 1,
	.arg = { { "S", "S of hpsgd:S must be from 1 to 1000000 steps", 1, 1000000 } },
	.take = gagg_sync_take_open,
};
