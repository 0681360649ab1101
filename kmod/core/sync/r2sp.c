// SPDX-License-Identifier: GPL-2.0
/*
 * Round-robin synchronous parallel (Chen et al., INFOCOM 2019). Workers take
 * turns: one after the other is released to its next clock, in the order of their
 * ranks, with a gap between two of them of G % of T / n, where T is the time that
 * a clock takes a worker (moving average, waiting left out) and n how many they
 * are. So their updates come evenly spread, instead of all at once.
 *
 * Staleness. The authors' code orders the releases alone; then a slow worker's
 * update meets a store that others may have changed often since it read. Here
 * the updates are ordered, too: a worker's are admitted when it is the one that
 * was released longest ago of those that are still at work. Whoever was released
 * after it waits, so what comes between its release and its update are those
 * of workers released before it, one each: n - 1 at most.
 *
 * A worker that is dead, or for a long time busy, stops such a ring: the paper has
 * no rule for that. Here it is passed over when the ring has waited for it for P
 * ms (0: never). It is no longer in the order then, so nobody waits for its update,
 * which is admitted whenever it comes; after that it takes its turns again. Its
 * own staleness is the price. Who has finished, or left, has no turns.
 */
#include "sync/internal.h"

#define EMA	8	/* 1/8 of a new sample goes into the average */
#define OUTLIER	4	/* times the average that a sample counts at most */

/* a clock's update is admitted in this order, after its rank was released */
static bool r2sp_at_work(const struct gagg_r2sp_worker *w, const struct gagg_clocks *k, u32 rank)
{
	return w->released > k->clock[rank] && !w->late;
}

static bool r2sp_plays(const struct gagg_clocks *k, u32 rank)
{
	return gagg_clocks_has(k, rank) && k->clock[rank] != GAGG_CLOCK_END;
}

static u32 r2sp_players(const struct gagg_clocks *k)
{
	u32 rank, n = 0;

	gagg_for_each_worker(k, rank)
		n += r2sp_plays(k, rank);
	return n;
}

/* the next one after @rank */
static u32 r2sp_after(const struct gagg_clocks *k, u32 rank)
{
	u32 i;

	for (i = 1; i <= GAGG_CLOCK_RANKS; i++)
		if (r2sp_plays(k, (rank + i) % GAGG_CLOCK_RANKS))
			return (rank + i) % GAGG_CLOCK_RANKS;
	return rank;
}

static void r2sp_release(const struct gagg_sync_param *p, struct gagg_r2sp *s,
			 const struct gagg_clocks *k, u32 rank, u64 now)
{
	struct gagg_r2sp_worker *w = &s->worker[rank];

	w->released = k->clock[rank] + 1;
	w->turn = ++s->turns;
	w->since = now;
	w->asked = 0;
	s->next_at = now + s->clock_time * p->arg[0] / 100 / r2sp_players(k);
}

static u64 r2sp_run(const struct gagg_sync_param *p, union gagg_sync_state *st,
		    const struct gagg_clocks *k, u64 now)
{
	u64 patience = p->arg[1] * GAGG_MSEC;
	struct gagg_r2sp *s = &st->r2sp;
	u32 n;

	for (n = r2sp_players(k); n; n--) {
		struct gagg_r2sp_worker *w;

		if (!r2sp_plays(k, s->next))
			s->next = r2sp_after(k, s->next);
		if (now < s->next_at)
			return s->next_at;
		w = &s->worker[s->next];
		if (w->released <= k->clock[s->next]) {
			r2sp_release(p, s, k, s->next, now);
		} else if (!w->late) {
			if (!patience)
				return GAGG_NEVER;
			if (now < s->next_at + patience)
				return s->next_at + patience;
			w->late = 1;
			s->next_at = now;
		}
		s->next = r2sp_after(k, s->next);
	}
	return GAGG_NEVER;
}

static void r2sp_on_tick(const struct gagg_sync_param *p, union gagg_sync_state *st,
			 const struct gagg_clocks *k, u32 rank, u64 now)
{
	(void)p;
	(void)k;
	(void)now;
	st->r2sp.worker[rank].late = 0;
}

/*
 * The first time that it asks its clock is over, but for waiting. What programs do
 * once is in the first one, which is no sample; and one that took a minute must not
 * keep all others a minute apart.
 */
static void r2sp_sample(struct gagg_r2sp *s, const struct gagg_clocks *k, u32 rank, u64 now)
{
	struct gagg_r2sp_worker *w = &s->worker[rank];
	u64 took = now - w->since;

	if (w->asked)
		return;
	w->asked = 1;
	if (!k->clock[rank])
		return;
	if (!s->clock_time) {
		s->clock_time = took;
		return;
	}
	took = gagg_min64(took, OUTLIER * s->clock_time);
	s->clock_time += took / EMA - s->clock_time / EMA;
}

/* of those that are at work, one at least, the one that was released longest ago: it
 * stays the first until it is done, as turns only grow
 */
static u32 r2sp_first(struct gagg_r2sp *s, const struct gagg_clocks *k)
{
	u32 rank;

	if (s->worker[s->first].turn == s->first_turn &&
	    r2sp_at_work(&s->worker[s->first], k, s->first))
		return s->first;
	s->first_turn = GAGG_NEVER;
	gagg_for_each_worker(k, rank) {
		const struct gagg_r2sp_worker *w = &s->worker[rank];

		if (r2sp_at_work(w, k, rank) && w->turn < s->first_turn) {
			s->first = rank;
			s->first_turn = w->turn;
		}
	}
	return s->first;
}

static bool r2sp_may_update(const struct gagg_sync_param *p, union gagg_sync_state *st,
			    const struct gagg_clocks *k, u32 rank, u64 now)
{
	struct gagg_r2sp *s = &st->r2sp;
	struct gagg_r2sp_worker *w = &s->worker[rank];

	(void)p;
	if (w->released <= k->clock[rank])
		return false;
	if (w->late)
		return true;
	r2sp_sample(s, k, rank, now);
	return r2sp_first(s, k) == rank;
}

static bool r2sp_may_read(const struct gagg_sync_param *p, union gagg_sync_state *st,
			  const struct gagg_clocks *k, u32 rank, u32 clock)
{
	(void)p;
	(void)k;
	return st->r2sp.worker[rank].released > clock;
}

const struct gagg_sync_ops gagg_sync_r2sp = {
	.name = "r2sp",
	.about = "workers take turns, G % of an even share apart; one that is P ms late is passed over",
	.usage = "r2sp needs a gap and a patience, as in r2sp:80:5000",
	.nargs = 2,
	.arg = {
		{ "G", "the gap of r2sp must be from 0 to 100 % of an even share", 0, 100 },
		{ "P", "the patience of r2sp must be from 0 (no end) to 600000 ms", 0, 600000 },
	},
	.store = true,
	.on_tick = r2sp_on_tick,
	.run = r2sp_run,
	.may_update = r2sp_may_update,
	.may_read = r2sp_may_read,
};
