// SPDX-License-Identifier: GPL-2.0
/*
 * Round-robin synchronous parallel (Chen et al., INFOCOM 2019). Ranks take turns: they are
 * released to their next clocks one after the other, in the order of ranks. Between two releases
 * is a gap of G % of T / n, where T is the time that a clock takes a rank (a moving average,
 * without what it waits) and n the number of ranks. So updates come evenly spread, instead of all
 * at once.
 *
 * Updates are admitted in the order of releases as well, K at a time: an update is admitted when
 * its turn is one of the K turns that begin with that of the rank at work that was released
 * longest ago. More than one keep the links of all homes busy:
 *
 *	1. chunks are spread over the homes, so an update has a part at each of them;
 *	2. each part has 1/H of the worker's link, if there are H homes: so H updates fill the
 *	   links of the homes;
 *	3. between two updates that are admitted in turn a home waits for the network: one update
 *	   more fills that time. So K is H + 1 if it is not given.
 *
 * Between a rank's release and its update are n + K - 2 updates of others at most:
 *
 *	1. Each other rank has one at most for which it was released before. These are n - 1.
 *	2. While the rank is at work, the first of the K turns is its own or an earlier one. So at
 *	   most K - 1 of the turns after its own are admitted.
 *
 * The authors' code orders releases alone, by which the update of a slow rank meets a store that
 * all others have changed twice.
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

/* what a rank that was released does */
enum r2sp_stage {
	R2SP_COMPUTES,	/* it reads and computes */
	R2SP_ASKS,	/* it waits until its update is admitted */
	R2SP_PUSHES,	/* it sends its update */
};

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
	w->stage = R2SP_COMPUTES;
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

/*
 * How long a clock has taken a rank: from its release until it first asks to update, and from the
 * admission of its update until that is in, since what is between is waiting. Two kinds of clocks
 * count less:
 *
 *	1. the first one counts nothing: in it is what programs do once;
 *	2. a long one counts OUTLIER times the average: one that took a minute must not keep all
 *	   others a minute apart.
 */
static void r2sp_sample(struct gagg_r2sp *s, u64 took)
{
	if (!s->clock_time) {
		s->clock_time = took;
		return;
	}
	took = gagg_min64(took, OUTLIER * s->clock_time);
	s->clock_time += took / EMA - s->clock_time / EMA;
}

/* by now the clock of @rank is beyond the one that it was released for */
static void r2sp_on_tick(const struct gagg_sync_param *p, union gagg_sync_state *st,
			 const struct gagg_clocks *k, u32 rank, u64 now)
{
	struct gagg_r2sp *s = &st->r2sp;
	struct gagg_r2sp_worker *w = &s->worker[rank];

	(void)p;
	(void)k;
	if (w->stage == R2SP_PUSHES && w->released > 1)
		r2sp_sample(s, w->computed + (now - w->since));
	/* once: the tick of an empty last update may follow before the next release */
	w->stage = R2SP_COMPUTES;
	w->late = 0;
}

/*
 * Turn of the rank at work that was released longest ago; one must be at work. It stays the first
 * until its update is in, since later releases have larger turns.
 */
static u64 r2sp_first_turn(struct gagg_r2sp *s, const struct gagg_clocks *k)
{
	u32 rank;

	if (s->worker[s->first].turn == s->first_turn &&
	    r2sp_at_work(&s->worker[s->first], k, s->first))
		return s->first_turn;
	s->first_turn = GAGG_NEVER;
	gagg_for_each_worker(k, rank) {
		const struct gagg_r2sp_worker *w = &s->worker[rank];

		if (r2sp_at_work(w, k, rank) && w->turn < s->first_turn) {
			s->first = rank;
			s->first_turn = w->turn;
		}
	}
	return s->first_turn;
}

/* updates that are admitted at a time */
static u64 r2sp_at_a_time(const struct gagg_sync_param *p, const struct gagg_clocks *k)
{
	return p->arg[2] ? p->arg[2] : k->homes + 1;
}

static bool r2sp_admits(const struct gagg_sync_param *p, struct gagg_r2sp *s,
			const struct gagg_clocks *k, const struct gagg_r2sp_worker *w)
{
	return w->late || w->turn - r2sp_first_turn(s, k) < r2sp_at_a_time(p, k);
}

static bool r2sp_may_update(const struct gagg_sync_param *p, union gagg_sync_state *st,
			    const struct gagg_clocks *k, u32 rank, u64 now)
{
	struct gagg_r2sp *s = &st->r2sp;
	struct gagg_r2sp_worker *w = &s->worker[rank];

	if (w->released <= k->clock[rank])
		return false;
	if (w->stage == R2SP_COMPUTES) {
		w->computed = now - w->since;
		w->stage = R2SP_ASKS;
	}
	if (w->stage == R2SP_ASKS && r2sp_admits(p, s, k, w)) {
		w->since = now;
		w->stage = R2SP_PUSHES;
	}
	return w->stage == R2SP_PUSHES;
}

static bool r2sp_may_read(const struct gagg_sync_param *p, union gagg_sync_state *st,
			  const struct gagg_clocks *k, u32 rank, u32 clock)
{
	(void)p;
	(void)k;
	return st->r2sp.worker[rank].released > clock;
}

const struct gagg_sync_ops gagg_sync_r2sp = {
	.nargs = 3,
	.optional = 1,
	.arg = { { 0, 100 }, { 0, 600000 }, { 0, GAGG_CLOCK_RANKS } },
	.store = true,
	.on_tick = r2sp_on_tick,
	.run = r2sp_run,
	.may_update = r2sp_may_update,
	.may_read = r2sp_may_read,
};
