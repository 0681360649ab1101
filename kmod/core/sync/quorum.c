// SPDX-License-Identifier: GPL-2.0
/*
 * Bulk-synchronous rounds that do not wait for every member (backup workers: Chen et al.,
 * Revisiting Distributed Synchronous SGD, 2016). A round is complete
 *
 *	bsp-quorum	with K of n contributions
 *	bsp-deadline	with all of them; or with K at least, MS milliseconds after the first
 *	bsp-adaptive	the same, where the deadline follows from how late others have come
 *
 * In a channel of fewer than K members K is all of them: it could not be reached otherwise. What
 * becomes of late contributions is in ring/quorum.c.
 */
#include "sync/internal.h"

/* a deadline closer than that is noise of the timer */
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
	/* wrapped to 0: it holds GAGG_DELAYS all the same */
	if (!d->n)
		d->n = GAGG_DELAYS;
}

/* the upper median; sorts @x */
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
 * The median of the delays plus M times their median absolute deviation: a few stragglers move
 * neither. While there are fewer than GAGG_DELAYS of them rounds wait for all, so the first
 * GAGG_DELAYS are not only of the ranks that are fast.
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
	.nargs = 2,
	.arg = { { 1, 64 }, { 0, 1 } },
	.complete = sync_quorum_quorum_complete,
	.quorum = true,
	.narrow = true,
};

const struct gagg_sync_ops gagg_sync_bsp_deadline = {
	.nargs = 3,
	.arg = { { 1, 64 }, { 1, 60000 }, { 0, 1 } },
	.complete = sync_quorum_deadline_complete,
	.quorum = true,
	.narrow = true,
	.limit = sync_quorum_deadline_limit,
};

const struct gagg_sync_ops gagg_sync_bsp_adaptive = {
	.nargs = 3,
	.arg = { { 1, 64 }, { 0, 1000 }, { 0, 1 } },
	.complete = sync_quorum_deadline_complete,
	.quorum = true,
	.narrow = true,
	.limit = sync_quorum_adaptive_limit,
};
