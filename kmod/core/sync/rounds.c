// SPDX-License-Identifier: GPL-2.0
/*
 * Bulk-synchronous rounds: one is complete when every member has contributed to it, and
 * nobody can be more than one round away from the open one. In all modes here the core does
 * the same; what is summed up, and when, is libgagg's (agent/lib/replica.c).
 */
#include "sync/internal.h"

const struct gagg_sync_ops gagg_sync_bsp = {
	.name = "bsp",
	.about = "bulk-synchronous rounds: collectives, complete when all have contributed",
	.usage = "bsp has no parameters",
	.narrow = true,
};

/* Parameter averaging: of the weights of replicas. */
const struct gagg_sync_ops gagg_sync_localsgd = {
	.name = "localsgd",
	.about = "replicas: each trains alone, every TAU steps they take the mean of all",
	.usage = "localsgd needs its period, as in localsgd:8",
	.nargs = 1,
	.arg = { { "TAU", "TAU of localsgd:TAU must be from 1 to 1000000 steps", 1, 1000000 } },
};

/* Of updates that replicas have made meanwhile (agent/lib/replica_hpsgd.c). */
const struct gagg_sync_ops gagg_sync_hpsgd = {
	.name = "hpsgd",
	.about = "replicas: an all-reduce is always under way, during at most S local steps",
	.usage = "hpsgd needs its bound, as in hpsgd:8",
	.nargs = 1,
	.arg = { { "S", "S of hpsgd:S must be from 1 to 1000000 steps", 1, 1000000 } },
};

/* Elastic averaging (easgd.c), synchronous: every rank has the centre, and the rounds sum up
 * what all give it.
 */
const struct gagg_sync_ops gagg_sync_easgd_sync = {
	.name = "easgd-sync",
	.about = "replicas: every TAU steps each of n gives a common centre BETA/n percent of its distance to it",
	.usage = "easgd-sync needs its period and its pull, as in easgd-sync:10:90",
	.nargs = 2,
	.arg = {
		{ "TAU", "TAU of easgd-sync:TAU:BETA must be from 1 to 1000000 steps",
		  1, 1000000 },
		{ "BETA", "BETA of easgd-sync:TAU:BETA must be from 1 to 100 percent", 1, 100 },
	},
};
