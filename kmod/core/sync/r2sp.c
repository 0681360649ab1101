// SPDX-License-Identifier: GPL-2.0
/*
 * Round-robin synchronous parallel (Chen et al., INFOCOM 2019). Ranks take turns: they are
 * released to their next clocks one after the other, in the order of ranks. Between two releases
 * is a gap of G % of T / n, where T is the time that a clock takes a rank (a moving average,
 * without what it waits) and n the number of ranks. So updates come evenly spread, instead of all
 * at once.
 *
 * Between a rank's release and its update are n - 1 updates of others at most:
 *
 *	1. Updates are admitted in order, too: of the ranks at work the next is the one that was
 *	   released longest ago.
 *	2. So a rank that was released after it waits, and what comes in between is of ranks
 *	   that were released before it.
 *	3. Each of those ranks has one update for one release.
 *
 * The authors' code orders releases alone, by which the update of a slow rank meets a store that
 * others have changed any number of times.
 *
 * A rank that is dead, or busy for long, would stop such a ring; the paper has no rule for that.
 * Here it is passed over when the ring has waited P ms for it (0: never). Then
 *
 *	1. it is not in the order any more, so no rank waits for its update;
 *	2. its update is admitted whenever it comes, which costs it its own bound;
 *	3. after that update it takes its turns again.
 *
 * A rank that has finished, or left, has no turns.
 */
#include "sync/internal.h"

#define EMA	8	/* 1/8 of a new sample goes into the average */
#define OUTLIER	4	/* times the average that a sample counts at most */

/* it was released, has not updated since, and was not passed over: it is in the order */
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

/* the rank whose turn is after that of @rank; itself, if it plays alone */
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
 * How long a clock has taken a rank: from its release until it first asks to update, since all
 * that follows is waiting. Two kinds of clocks count less:
 *
 *	1. the first one counts nothing: in it is what programs do once;
 *	2. a long one counts OUTLIER times the average: one that took a minute must not keep all
 *	   others a minute apart.
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

/*
 * The rank at work that was released longest ago; one must be at work. It stays the first until
 * its update is in, since later releases have larger turns.
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
	.nargs = 2,
	.arg = { { 0, 100 }, { 0, 600000 } },
	.store = true,
	.on_tick = r2sp_on_tick,
	.run = r2sp_run,
	.may_update = r2sp_may_update,
	.may_read = r2sp_may_read,
};
