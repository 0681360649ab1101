// SPDX-License-Identifier: GPL-2.0
/*
 * Stale-synchronous parallel (Ho et al., NIPS 2013). A worker that has come to
 * clock c must see every update stamped c - s - 1 or less, and may see more: it
 * reads when the least clock is at least c - s. So no worker that reads is more
 * than s clocks ahead of the slowest, and the slowest never waits.
 *
 * With s = 0 this is bulk-synchronous, but only if a read shows nothing of a
 * clock that others are still at: the paper lets it ("may see more"), which
 * makes results depend on the schedule. gagg shows whole clocks then.
 */
#include "sync/internal.h"

static bool ssp_may_read(const struct gagg_sync_param *p, union gagg_sync_state *st,
			 const struct gagg_clocks *k, u32 rank, u32 clock)
{
	(void)st;
	(void)rank;
	return clock - k->min <= p->arg[0] || clock <= k->min;
}

static bool ssp_snapshot(const struct gagg_sync_param *p)
{
	return !p->arg[0];
}

const struct gagg_sync_ops gagg_sync_ssp = {
	.name = "ssp",
	.about = "stale-synchronous store: no reader is more than S clocks ahead of the slowest",
	.usage = "ssp needs its bound, as in ssp:4",
	.nargs = 1,
	.arg = { { "S", "S of ssp:S must be from 0 to 1000000 clocks", 0, 1000000 } },
	.store = true,
	.bounded = true,
	.snapshot = ssp_snapshot,
	.may_read = ssp_may_read,
};
