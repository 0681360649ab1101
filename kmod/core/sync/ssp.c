// SPDX-License-Identifier: GPL-2.0
/*
 * Stale-synchronous parallel (Ho et al., NIPS 2013). A rank that has come to clock c must see
 * every update stamped c - s - 1 or less, and may see more. So it reads when the least clock is
 * c - s at least. Then
 *
 *	1. no rank that reads is more than s clocks ahead of the slowest;
 *	2. the slowest never waits.
 *
 * With s = 0 this is bulk-synchronous, but only if a read shows nothing of a clock that others
 * are still at. The paper lets it show that ("may see more"), by which results depend on the
 * schedule. Here a read shows whole clocks then.
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
	.nargs = 1,
	.arg = { { 0, 1000000 } },
	.store = true,
	.bounded = true,
	.snapshot = ssp_snapshot,
	.may_read = ssp_may_read,
};
