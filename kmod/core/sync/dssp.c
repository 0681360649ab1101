// SPDX-License-Identifier: GPL-2.0
/*
 * Dynamic stale-synchronous parallel (Zhao et al., ICDCS 2019): SSP between two bounds, L and U.
 * A rank that is more than L clocks ahead of the slowest may run on only if it is the fastest. A
 * controller grants it as many clocks as let its pushes end close to one of the slowest's, by
 * the last interval of both.
 *
 * dssp: no rank that reads is more than U clocks ahead of the slowest.
 *
 *	1. Without a grant it reads at a lead of L at most, and L is at most U.
 *	2. At lead d it is granted U - d + 1 clocks at most, this push being the first of them,
 *	   and only if it has none left.
 *	3. Its j-th push of them is made at lead d + j - 1 at most, since the lead grows by its
 *	   own pushes only. That is U at most.
 *
 * dssp-literal is Algorithm 1 as printed, of which the paper's figures are. There the upper bound
 * does not hold:
 *
 *	1. a rank that has used up its grant and is still the fastest is granted more, without
 *	   end;
 *	2. the push at which it is granted clocks is not counted.
 */
#include "sync/internal.h"

static u64 dssp_distance(u64 a, u64 b)
{
	return a < b ? b - a : a - b;
}

u32 gagg_dssp_ahead(const u64 fast[2], const u64 slow[2], u32 most)
{
	u64 own = fast[0] - fast[1], other = slow[0] - slow[1];
	u64 push = fast[0], next = slow[0] + other, best = GAGG_NEVER;
	u32 r, k = 0, ahead = 0;

	/* the nearest push of @slow never moves back, since both sequences ascend */
	for (r = 0; r <= most; r++, push += own) {
		u64 d;

		while (k < most && next + other <= push) {
			next += other;
			k++;
		}
		d = dssp_distance(next, push);
		if (k < most && dssp_distance(next + other, push) < d)
			d = dssp_distance(next + other, push);
		if (d < best) {
			best = d;
			ahead = r;
		}
	}
	return ahead;
}

static bool dssp_is_fastest(const struct gagg_clocks *k, u32 rank)
{
	u32 other;

	gagg_for_each_worker(k, other) {
		u32 clock = k->clock[other];

		if (clock > k->clock[rank] && clock != GAGG_CLOCK_END)
			return false;
	}
	return true;
}

static u32 dssp_slowest(const struct gagg_clocks *k)
{
	u32 rank = gagg_clocks_next(k, 0);

	while (k->clock[rank] != k->min)
		rank = gagg_clocks_next(k, rank + 1);
	return rank;
}

/* clocks that the controller grants; 0: of one of the two no interval is known yet */
static u32 dssp_grant(const struct gagg_sync_param *p, const struct gagg_dssp *d,
		      const struct gagg_clocks *k, u32 rank)
{
	if (k->min < 2 || !dssp_is_fastest(k, rank))
		return 0;
	return gagg_dssp_ahead(d->worker[rank].at, d->worker[dssp_slowest(k)].at,
			       p->arg[1] - p->arg[0]);
}

static void dssp_count_push(struct gagg_dssp_worker *w, u64 now)
{
	w->at[1] = w->at[0];
	w->at[0] = now;
}

static void dssp_on_tick(const struct gagg_sync_param *p, union gagg_sync_state *st,
			 const struct gagg_clocks *k, u32 rank, u64 now)
{
	struct gagg_dssp_worker *w = &st->dssp.worker[rank];
	u32 lead = k->clock[rank] - k->min, most;

	if (k->clock[rank] == GAGG_CLOCK_END)
		return;
	dssp_count_push(w, now);
	if (!w->left && lead > p->arg[0] && lead <= p->arg[1]) {
		most = p->arg[1] - lead + 1;
		w->left = dssp_grant(p, &st->dssp, k, rank);
		w->left = w->left < most ? w->left : most;
	}
	if (w->left) {
		w->left--;
		w->pass = k->clock[rank];
	}
}

static void dssp_literal_on_tick(const struct gagg_sync_param *p, union gagg_sync_state *st,
				 const struct gagg_clocks *k, u32 rank, u64 now)
{
	struct gagg_dssp_worker *w = &st->dssp.worker[rank];

	if (k->clock[rank] == GAGG_CLOCK_END)
		return;
	dssp_count_push(w, now);
	if (w->left) {
		w->left--;
		w->pass = k->clock[rank];
	} else if (k->clock[rank] - k->min > p->arg[0]) {
		w->left = dssp_grant(p, &st->dssp, k, rank);
		if (w->left)
			w->pass = k->clock[rank];
	}
}

static bool dssp_may_read(const struct gagg_sync_param *p, union gagg_sync_state *st,
			  const struct gagg_clocks *k, u32 rank, u32 clock)
{
	return clock <= k->min || clock - k->min <= p->arg[0] ||
	       clock <= st->dssp.worker[rank].pass;
}

/* with U = 0 it is ssp:0 */
static bool dssp_snapshot(const struct gagg_sync_param *p)
{
	return !p->arg[1];
}

static bool dssp_fits(const struct gagg_sync_param *p)
{
	return p->arg[0] <= p->arg[1] && p->arg[1] - p->arg[0] <= GAGG_DSSP_AHEAD;
}

#define BOUNDS	{ { 0, 1000000 }, { 0, 1000000 } }

const struct gagg_sync_ops gagg_sync_dssp = {
	.nargs = 2,
	.arg = BOUNDS,
	.fits = dssp_fits,
	.store = true,
	.bounded = true,
	.snapshot = dssp_snapshot,
	.on_tick = dssp_on_tick,
	.may_read = dssp_may_read,
};

const struct gagg_sync_ops gagg_sync_dssp_literal = {
	.nargs = 2,
	.arg = BOUNDS,
	.fits = dssp_fits,
	.store = true,
	.snapshot = dssp_snapshot,
	.on_tick = dssp_literal_on_tick,
	.may_read = dssp_may_read,
};
