// SPDX-License-Identifier: GPL-2.0
/*
 * Dynamic stale-synchronous parallel (Zhao et al., ICDCS 2019): SSP between two
 * bounds. Who is more than L clocks ahead of the slowest may run on only if it is
 * the fastest: for as many clocks as let its pushes end close to one of
 * the slowest, by the last interval of both.
 *
 * As printed (Alg. 1) the upper bound does not hold: when the clocks granted are
 * used up and the worker is still the fastest, it is granted more, without end;
 * and the push at which they are granted is not counted. That is dssp-literal,
 * which is what the paper's figures are of. In dssp a worker that is granted g
 * clocks at lead d gets g <= U - d + 1 with this push as the first of them: the
 * j-th is made at lead d + j - 1 <= U or less, because the lead grows by own
 * pushes only. So none that reads is more than U ahead.
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

	/* both sequences ascend: the one of @slow next to a push only moves on */
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

/* clocks that the controller grants; 0 while an interval is not known */
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

/* as ssp:0 */
static bool dssp_snapshot(const struct gagg_sync_param *p)
{
	return !p->arg[1];
}

static const char *dssp_check(const struct gagg_sync_param *p)
{
	if (p->arg[0] > p->arg[1])
		return "the lower bound of dssp must not be above the upper one, as in dssp:3:15";
	if (p->arg[1] - p->arg[0] > GAGG_DSSP_AHEAD)
		return "the bounds of dssp must be at most 1024 clocks apart";
	return NULL;
}

#define ARGS { \
	{ "L", "the lower bound of dssp must be from 0 to 1000000 clocks", 0, 1000000 }, \
	{ "U", "the upper bound of dssp must be from 0 to 1000000 clocks", 0, 1000000 }, \
}

const struct gagg_sync_ops gagg_sync_dssp = {
	.name = "dssp",
	.about = "ssp:L, and the fastest may run on to U where it then waits less",
	.usage = "dssp needs a lower and an upper bound, as in dssp:3:15",
	.nargs = 2,
	.arg = ARGS,
	.check = dssp_check,
	.store = true,
	.bounded = true,
	.snapshot = dssp_snapshot,
	.on_tick = dssp_on_tick,
	.may_read = dssp_may_read,
};

const struct gagg_sync_ops gagg_sync_dssp_literal = {
	.name = "dssp-literal",
	.about = "dssp as printed: the upper bound does not hold",
	.usage = "dssp-literal needs a lower and an upper bound, as in dssp-literal:3:15",
	.nargs = 2,
	.arg = ARGS,
	.check = dssp_check,
	.store = true,
	.snapshot = dssp_snapshot,
	.on_tick = dssp_literal_on_tick,
	.may_read = dssp_may_read,
};
