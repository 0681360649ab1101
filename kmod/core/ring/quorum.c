// SPDX-License-Identifier: GPL-2.0
/*
 * Rounds without all members: what must hold so that everything else still does.
 *
 * The set. Which contributions count depends on the schedule; the result is a
 * pure function of that set, decided once, by the home, and names it. A rank
 * whose contribution came once stays in the set: after a void it is asked
 * again, and the round is not complete before it is back (`seen`).
 *
 * Taking results. A node takes a result only when all its ranks have pushed its
 * round, as ever: so nothing unread is overwritten. A result that comes sooner
 * is ignored; the late contribution is answered with it, and so is QUERY. The
 * home's own ranks are served alike, from memory of its own (held).
 *
 * Who has what. In BSP a round is complete when all have pushed it, so all have
 * the last one, and its result may go. Here: who pushes v has all results below
 * v - window + 1 (chan.h). So the result of v may go, for that of v + ring, when
 * all members have pushed a chunk from v + window on to this home. A straggler
 * is at most ring - window chunks behind; then the others wait. So every rank
 * gets every result, in order, and no rank ever skips a round.
 *
 * Only sums and means of floating point may do without a member: of a broadcast
 * or a barrier everybody is needed.
 */
#include "ring/internal.h"

void gagg_quorum_init(const struct gagg_geom *g, struct gagg_chan *ch)
{
	const struct gagg_sync_ops *ops = gagg_sync_get(g->sync.mode);

	ch->limit = g->quorum && ops->limit ? ops->limit(&g->sync, &ch->delays) : GAGG_NEVER;
}

static bool partial(const struct gagg_acc *a)
{
	return a->sig >> 28 == GAGG_K_ALLREDUCE && !(a->flags & GAGG_WF_RAW) &&
	       (a->laneop == GAGG_LANEOP(GAGG_LANE_S32, GAGG_OP_ADD) ||
		gagg_lane_narrow(a->laneop));
}

static u64 least_high(const struct gagg_chan *ch)
{
	u64 least = GAGG_NEVER, left;

	for (left = ch->members; left; left &= left - 1)
		least = gagg_min64(least, ch->high[gagg_lowest(left)]);
	return least;
}

static u64 chunk_of(const struct gagg_geom *g, u32 slot, u32 round)
{
	return (u64)(round - 1) * g->ring + slot;
}

bool gagg_quorum_ripe(const struct gagg_geom *g, const struct gagg_chan *ch,
		      const struct gagg_acc *a, u64 bits, u64 now)
{
	u64 v = chunk_of(g, a->slot, a->round);
	bool due = ch->limit != GAGG_NEVER && now >= a->opened + ch->limit;

	/* all of them: each has pushed the round, hence has the last one */
	if (bits == ch->members || !partial(a))
		return bits == ch->members;
	return bits == (a->seen | bits) &&
	       gagg_sync_get(g->sync.mode)->complete(&g->sync, gagg_weight64(bits),
						     gagg_weight64(ch->members), due) &&
	       (v < g->ring || ch->reached > v - g->ring + g->window);
}

void gagg_quorum_pushed(const struct gagg_geom *g, struct gagg_chan *ch, u32 rank, u32 slot,
			u32 round, u64 now)
{
	u64 v = chunk_of(g, slot, round), was = ch->high[rank];

	if (!round || v < was)
		return;
	ch->high[rank] = v + 1;
	if (was > ch->reached)
		return;
	ch->reached = least_high(ch);
	/* rounds that waited for this may be ripe */
	if (ch->reached > was)
		ch->due_at = gagg_min64(ch->due_at, now);
}

void gagg_quorum_delay(const struct gagg_geom *g, struct gagg_chan *ch, u64 opened, u64 now)
{
	const struct gagg_sync_ops *ops = gagg_sync_get(g->sync.mode);

	gagg_delays_add(&ch->delays, now > opened ? now - opened : 0);
	if (!ops->limit || ch->delays.n % (GAGG_DELAYS / 4))
		return;
	ch->limit = ops->limit(&g->sync, &ch->delays);
	/* rounds were begun when there was none */
	if (ch->limit != GAGG_NEVER)
		ch->due_at = gagg_min64(ch->due_at, now + ch->limit);
}

void gagg_quorum_count(const struct gagg_geom *g, struct gagg_chan *ch, struct gagg_acc *a,
		       u32 rank, u64 now)
{
	if (a->seen && !(a->seen & GAGG_BIT(rank)))
		gagg_quorum_delay(g, ch, a->opened, now);
	a->seen |= GAGG_BIT(rank);
}

void gagg_quorum_put(u64 bits, u32 nonfinite, struct gagg_msg *m)
{
	m->aux = (u32)(bits & 0xffff) | nonfinite << 16;
	m->weight = (u16)(bits >> 16);
	m->ranks = (u32)(bits >> 32);
}

u64 gagg_quorum_get(const struct gagg_msg *m)
{
	return (m->aux & 0xffff) | (u64)m->weight << 16 | (u64)m->ranks << 32;
}

u16 gagg_quorum_locals(const struct gagg_chan *ch, u64 bits)
{
	u16 mask = 0;
	u32 l;

	for (l = 0; l < ch->nlocals; l++)
		if (bits & GAGG_BIT(ch->local[l].rank))
			mask |= (u16)(1U << l);
	return mask;
}
