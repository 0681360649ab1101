// SPDX-License-Identifier: GPL-2.0
/*
 * Bulk-synchronous rounds that need not wait for everybody: complete with K of
 * n, or when a time has passed since the first contribution and at least K have
 * come (backup workers: Chen et al., Revisiting Distributed Synchronous SGD,
 * 2016). In a channel of fewer than K members K is all of them.
 *
 * What else there is to it is in ring/quorum.c.
 */
#include "sync/internal.h"

/* deadlines closer than that are noise of the timer */
#define LIMIT_MIN	GAGG_MSEC

static bool sync_quorum_enough(const struct gagg_sync_param *p, u32 contributed, u32 members)
{
	return contributed >= (p->arg[0] < members ? p->arg[0] : members);
}

static bool sync_quorum_quorum_complete(const struct gagg_sync_param *p,
					u32 contributed, u32 members, bool due)
{
	(void)due;
	return sync_quorum_enough(p, contributed, members);
}

static bool sync_quorum_deadline_complete(const struct gagg_sync_param *p,
					  u32 contributed, u32 members,
					  bool due)
{
	return contributed == members || (due && sync_quorum_enough(p, contributed, members));
}

static u64 sync_quorum_deadline_limit(const struct gagg_sync_param *p, const struct gagg_delays *d)
{
	(void)d;
	return p->arg[1] * GAGG_MSEC;
}

void gagg_delays_add(struct gagg_delays *d, u64 ns)
{
	d->us[d->n++ % GAGG_DELAYS] = (u32)gagg_min64(ns / GAGG_USEC, 0xffffffff);
	/* it has wrapped: as full as before */
	if (!d->n)
		d->n = GAGG_DELAYS;
}

/* the upper median; sorts */
static u32 sync_quorum_median(u32 *x)
{
	u32 i, k;

	for (i = 1; i < GAGG_DELAYS; i++) {
		u32 v = x[i];

		for (k = i; k && x[k - 1] > v; k--)
			x[k] = x[k - 1];
		x[k] = v;
	}
	return x[GAGG_DELAYS / 2];
}

/*
 * The median of the delays plus M times their median absolute deviation, which
 * a few stragglers do not move. Until there are enough of them rounds wait for
 * all, so that they are those of everybody.
 */
static u64 sync_quorum_adaptive_limit(const struct gagg_sync_param *p, const struct gagg_delays *d)
{
	u32 x[GAGG_DELAYS], mid, i;
	u64 limit;

	if (d->n < GAGG_DELAYS)
		return GAGG_NEVER;
	memcpy(x, d->us, sizeof(x));
	mid = sync_quorum_median(x);
	for (i = 0; i < GAGG_DELAYS; i++)
		x[i] = x[i] < mid ? mid - x[i] : x[i] - mid;
	limit = (mid + (u64)p->arg[1] * sync_quorum_median(x)) * GAGG_USEC;
	return gagg_max64(limit, LIMIT_MIN);
}

const struct gagg_sync_ops gagg_sync_bsp_quorum = {
	.name = "bsp-quorum",
	.about = "rounds of all-reduces are complete with K contributions; CARRY 1: late ones count in the next call of their plan, 0: not at all",
	.usage = "bsp-quorum needs its size, and what becomes of late contributions, as in bsp-quorum:3:1",
	.nargs = 2,
	.arg = {
		{ "K", "K of bsp-quorum:K:CARRY must be from 1 to 64 ranks", 1, 64 },
		{ "CARRY", "CARRY of bsp-quorum:K:CARRY must be 0 or 1", 0, 1 },
	},
	.complete = sync_quorum_quorum_complete,
	.quorum = true,
	.narrow = true,
};

const struct gagg_sync_ops gagg_sync_bsp_deadline = {
	.name = "bsp-deadline",
	.about = "the same, with all contributions, or MS milliseconds after the first with K at least",
	.usage = "bsp-deadline needs K, MS and CARRY, as in bsp-deadline:2:50:1",
	.nargs = 3,
	.arg = {
		{ "K", "K of bsp-deadline:K:MS:CARRY must be from 1 to 64 ranks", 1, 64 },
		{ "MS", "MS of bsp-deadline:K:MS:CARRY must be from 1 to 60000 milliseconds",
		  1, 60000 },
		{ "CARRY", "CARRY of bsp-deadline:K:MS:CARRY must be 0 or 1", 0, 1 },
	},
	.complete = sync_quorum_deadline_complete,
	.quorum = true,
	.narrow = true,
	.limit = sync_quorum_deadline_limit,
};

const struct gagg_sync_ops gagg_sync_bsp_adaptive = {
	.name = "bsp-adaptive",
	.about = "the same, with a deadline of the median of recent delays plus M times their median absolute deviation",
	.usage = "bsp-adaptive needs K, M and CARRY, as in bsp-adaptive:2:4:1",
	.nargs = 3,
	.arg = {
		{ "K", "K of bsp-adaptive:K:M:CARRY must be from 1 to 64 ranks", 1, 64 },
		{ "M", "M of bsp-adaptive:K:M:CARRY must be from 0 to 1000", 0, 1000 },
		{ "CARRY", "CARRY of bsp-adaptive:K:M:CARRY must be 0 or 1", 0, 1 },
	},
	.complete = sync_quorum_deadline_complete,
	.quorum = true,
	.narrow = true,
	.limit = sync_quorum_adaptive_limit,
};
