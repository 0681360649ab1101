// SPDX-License-Identifier: GPL-2.0
/*
 * Elastic averaging (Zhang, Choromanska, LeCun, NIPS 2015): replicas and a common
 * centre draw each other closer (agent/lib/replica_easgd.c). Asynchronous: the centre is in
 * a store, to which each adds whenever it comes by. The synchronous form is in rounds.c.
 */
#include "sync/internal.h"

const struct gagg_sync_ops gagg_sync_easgd = {
	.name = "easgd",
	.about = "replicas: every TAU steps each gives a common centre ALPHA percent of its distance to it, waiting for nobody",
	.usage = "easgd needs its period and its pull, as in easgd:4:20",
	.nargs = 2,
	.arg = {
		{ "TAU", "TAU of easgd:TAU:ALPHA must be from 1 to 1000000 steps", 1, 1000000 },
		{ "ALPHA", "ALPHA of easgd:TAU:ALPHA must be from 1 to 100 percent", 1, 100 },
	},
	.store = true,
	.may_read = gagg_sync_read_at_once,
};
