// SPDX-License-Identifier: GPL-2.0
/*
 * Rounds without all members (R16 to R18): what must hold so that everything else still does.
 *
 * A result is a pure function of a set of contributions (R2).
 * 1. Which contributions are in the set depends on the schedule, but the home decides it once, and
 *    the result names it.
 * 2. A rank whose contribution came once stays in the set: after a void it is asked again, and the
 *    round is not complete before that has come (`seen`).
 *
 * No result that is unread is overwritten on a node.
 * 1. A node takes a result only when all its ranks have pushed its round (R20).
 * 2. It ignores a result that comes sooner (R21). The home sends it again: the late contribution
 *    is answered with it (R17), and so is QUERY.
 * 3. The same holds for ranks of the home's node, whose results are kept in memory of its own
 *    (held).
 *
 * No result is forgotten while a rank lacks it: every rank gets every result, in order.
 * 1. The result of v goes when that of v + ring is published. In BSP all members have pushed
 *    v + ring by then, so all have the result of v.
 * 2. Here a rank that pushes v has all results below v - window + 1 (chan.h). So v + ring is not
 *    complete before all members have pushed a chunk from v + window on to this home.
 * 3. So a straggler is ring - window chunks behind at most; then the others wait.
 *
 * Only sums and means of floating point may do without a member: a broadcast or a barrier requires
 * all of them.
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

bool gagg_quorum_complete(const struct gagg_visit *vis, const struct gagg_acc *a, u64 bits)
{
	const struct gagg_geom *g = vis->g;
	const struct gagg_chan *ch = vis->ch;
	u64 v = quorum_chunk(g, a->slot, a->round);
	bool due = ch->limit != GAGG_NEVER && vis->now >= a->opened + ch->limit;

	/* with all of them each has pushed the round, hence has the last result */
	if (bits == ch->members || !quorum_may_be_partial(a))
		return bits == ch->members;
	return bits == (a->seen | bits) &&
	       gagg_sync_get(g->sync.mode)->complete(&g->sync, gagg_weight64(bits),
						     gagg_weight64(ch->members), due) &&
	       (v < g->ring || ch->reached > v - g->ring + g->window);
}

void gagg_quorum_pushed(const struct gagg_visit *vis, const struct gagg_msg *m)
{
	struct gagg_chan *ch = vis->ch;
	u64 v = quorum_chunk(vis->g, m->chunk, m->round), was = ch->high[m->src];
	u32 pub = *gagg_chan_pub(ch, m->chunk);

	if ((m->round != pub && m->round != pub + 1) || !m->round || v < was)
		return;
	ch->high[m->src] = v + 1;
	if (was > ch->reached)
		return;
	ch->reached = quorum_least_high(ch);
	/* rounds that waited for this may be ripe */
	if (ch->reached > was)
		ch->due_at = gagg_min64(ch->due_at, vis->now);
}

/* a contribution came, for a chunk whose first came at @opened */
static void quorum_delay(const struct gagg_visit *vis, u64 opened)
{
	const struct gagg_geom *g = vis->g;
	struct gagg_chan *ch = vis->ch;
	u64 now = vis->now;
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
void gagg_quorum_counted(const struct gagg_visit *vis, struct gagg_acc *a, u32 rank)
{
	if (a->seen && !(a->seen & GAGG_BIT(rank)))
		quorum_delay(vis, a->opened);
	a->seen |= GAGG_BIT(rank);
}

/* R17: the round is over, and its result answers the contribution that came late */
static void quorum_late(const struct gagg_visit *vis, const struct gagg_msg *m)
{
	const struct gagg_geom *g = vis->g;
	struct gagg_chan *ch = vis->ch;
	struct gagg_late *l = gagg_chan_late(ch, m->chunk);
	const struct gagg_res *r = gagg_chan_res(ch, m->chunk);
	u32 node = g->node_of[m->src];

	if (!r->valid || (l->bits & GAGG_BIT(m->src)))
		return;
	if (r->sig != m->sig) {
		gagg_home_desync(vis, m, gagg_lowest(l->bits), r->sig, l->call);
		return;
	}
	if (!(l->late & GAGG_BIT(m->src))) {
		l->late |= GAGG_BIT(m->src);
		vis->sh->n[GAGG_N_LATE]++;
		quorum_delay(vis, l->opened);
	}
	if (node == g->self)
		gagg_result_take_held(vis, m->chunk);
	/* an answer is no longer than what it answers */
	else if (gagg_wire_has_lanes(m))
		gagg_result_repair(vis, m->chunk, GAGG_BIT(node));
	else
		gagg_repair_park(vis, m->chunk, node);
}

bool gagg_quorum_is_late(const struct gagg_visit *vis, const struct gagg_msg *m)
{
	if (m->round != *gagg_chan_pub(vis->ch, m->chunk))
		return false;
	quorum_late(vis, m);
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

void gagg_quorum_published(const struct gagg_visit *vis, const struct gagg_acc *a)
{
	struct gagg_chan *ch = vis->ch;
	struct gagg_late *late = gagg_chan_late(ch, a->slot);

	late->bits = a->bits;
	late->late = 0;
	late->opened = a->opened;
	late->call = a->call;
	*gagg_chan_pub(ch, a->slot) = a->round;
	gagg_result_take_held(vis, a->slot);
}
