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
#include "ring/quorum.h"

void gagg_quorum_init(const struct gagg_geom *g, struct gagg_chan *ch)
{
	const struct gagg_sync_ops *ops = gagg_sync_get(g->sync.mode);

	ch->limit = ops->limit ? ops->limit(&g->sync, &ch->delays) : GAGG_NEVER;
}

static bool quorum_may_be_partial(const struct gagg_acc *a)
{
	return a->sig >> 28 == GAGG_K_ALLREDUCE && !(a->flags & GAGG_WF_RAW) &&
	       (a->laneop == GAGG_LANEOP(GAGG_LANE_S32, GAGG_OP_ADD) ||
		gagg_lane_narrow(a->laneop));
}

static u64 quorum_least_high(const struct gagg_chan *ch)
{
	u64 least = GAGG_NEVER, left;

	for (left = ch->members; left; left &= left - 1)
		least = gagg_min64(least, ch->high[gagg_lowest(left)]);
	return least;
}

static u64 quorum_chunk(const struct gagg_geom *g, u32 slot, u32 round)
{
	return (u64)(round - 1) * g->ring + slot;
}

bool gagg_quorum_complete(const struct gagg_geom *g, const struct gagg_chan *ch,
			  const struct gagg_acc *a, u64 bits, u64 now)
{
	u64 v = quorum_chunk(g, a->slot, a->round);
	bool due = ch->limit != GAGG_NEVER && now >= a->opened + ch->limit;

	/* all of them: each has pushed the round, hence has the last one */
	if (bits == ch->members || !quorum_may_be_partial(a))
		return bits == ch->members;
	return bits == (a->seen | bits) &&
	       gagg_sync_get(g->sync.mode)->complete(&g->sync, gagg_weight64(bits),
						     gagg_weight64(ch->members), due) &&
	       (v < g->ring || ch->reached > v - g->ring + g->window);
}

void gagg_quorum_pushed(const struct gagg_geom *g, struct gagg_chan *ch,
			const struct gagg_msg *m, u64 now)
{
	u64 v = quorum_chunk(g, m->chunk, m->round), was = ch->high[m->src];
	u32 pub = *gagg_chan_pub(ch, m->chunk);

	if ((m->round != pub && m->round != pub + 1) || !m->round || v < was)
		return;
	ch->high[m->src] = v + 1;
	if (was > ch->reached)
		return;
	ch->reached = quorum_least_high(ch);
	/* rounds that waited for this may be ripe */
	if (ch->reached > was)
		ch->due_at = gagg_min64(ch->due_at, now);
}

/* a contribution came, for a chunk whose first came at @opened */
static void quorum_delay(const struct gagg_geom *g, struct gagg_chan *ch, u64 opened, u64 now)
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

/* the first time @rank stays in the set, and says how long after the first contribution it came */
void gagg_quorum_counted(const struct gagg_geom *g, struct gagg_chan *ch, struct gagg_acc *a,
			 u32 rank, u64 now)
{
	if (a->seen && !(a->seen & GAGG_BIT(rank)))
		quorum_delay(g, ch, a->opened, now);
	a->seen |= GAGG_BIT(rank);
}

/* the round is over: what came late is answered with its result */
static void quorum_late(struct gagg_shard *sh, const struct gagg_geom *g,
			struct gagg_chan *ch, const struct gagg_msg *m, u64 now)
{
	struct gagg_late *l = gagg_chan_late(ch, m->chunk);
	const struct gagg_res *r = gagg_chan_res(ch, m->chunk);
	u32 node = g->node_of[m->src];

	if (!r->valid || (l->bits & GAGG_BIT(m->src)))
		return;
	if (r->sig != m->sig) {
		gagg_home_desync(sh, ch, m, gagg_lowest(l->bits), r->sig, l->call);
		return;
	}
	if (!(l->late & GAGG_BIT(m->src))) {
		l->late |= GAGG_BIT(m->src);
		sh->n[GAGG_N_LATE]++;
		quorum_delay(g, ch, l->opened, now);
	}
	if (node == g->self)
		gagg_result_take_held(sh, g, ch, m->chunk, now);
	/* no more than what has come */
	else if (gagg_wire_has_lanes(m))
		gagg_result_repair(sh, g, ch, m->chunk, GAGG_BIT(node));
	else
		gagg_repair_park(sh, g, ch, m->chunk, node, now);
}

bool gagg_quorum_is_late(struct gagg_shard *sh, const struct gagg_geom *g,
			 struct gagg_chan *ch, const struct gagg_msg *m, u64 now)
{
	if (m->round != *gagg_chan_pub(ch, m->chunk))
		return false;
	quorum_late(sh, g, ch, m, now);
	return true;
}

void gagg_quorum_name(struct gagg_chan *ch, u32 slot, struct gagg_msg *m)
{
	u64 bits = gagg_chan_late(ch, slot)->bits;
	u32 nonfinite = m->aux >> 16;

	m->aux = (u32)(bits & 0xffff) | nonfinite << 16;
	m->weight = (u16)(bits >> 16);
	m->ranks = (u32)(bits >> 32);
}

u64 gagg_quorum_get(const struct gagg_msg *m)
{
	return (m->aux & 0xffff) | (u64)m->weight << 16 | (u64)m->ranks << 32;
}

/* local ranks (bit per index) among @bits */
static u16 quorum_locals(const struct gagg_chan *ch, u64 bits)
{
	u16 mask = 0;
	u32 l;

	for (l = 0; l < ch->nlocals; l++)
		if (bits & GAGG_BIT(ch->local[l].rank))
			mask |= (u16)(1U << l);
	return mask;
}

void gagg_quorum_heard(const struct gagg_chan *ch, const struct gagg_msg *m,
		       struct gagg_publish *pub)
{
	u64 bits = gagg_quorum_get(m);

	pub->contributors = (u8)gagg_weight64(bits);
	pub->counted = quorum_locals(ch, bits);
}

/* gagg_result_take_held() has it taken instead */
void gagg_quorum_announce(const struct gagg_chan *ch, u64 bits, struct gagg_publish *pub)
{
	pub->counted = quorum_locals(ch, bits);
	pub->hold = GAGG_HOLD_PUT;
}

void gagg_quorum_published(struct gagg_shard *sh, const struct gagg_geom *g,
			   struct gagg_chan *ch, const struct gagg_acc *a, u64 now)
{
	struct gagg_late *late = gagg_chan_late(ch, a->slot);

	late->bits = a->bits;
	late->late = 0;
	late->opened = a->opened;
	late->call = a->call;
	*gagg_chan_pub(ch, a->slot) = a->round;
	gagg_result_take_held(sh, g, ch, a->slot, now);
}
