// SPDX-License-Identifier: GPL-2.0
/*
 * A worker: results come back (R20, R21, R24). What goes out is in push.c, questions in query.c.
 *
 * Only its result ends a contribution. An acknowledgement frees no more than the path's window
 * (R25): the chunk stays open, and the timer asks about it (query.c).
 */
#include "ring/round.h"

bool gagg_worker_all_pushed(struct gagg_chan *ch, u32 slot)
{
	u32 l;

	for (l = 0; l < ch->nlocals; l++)
		if (!(gagg_chan_pushed(ch, slot, l)->state & GAGG_PUSHED))
			return false;
	return ch->nlocals;
}

static void worker_published(const struct gagg_visit *vis, const struct gagg_msg *m)
{
	vis->sh->n[GAGG_N_RESULTS]++;
	gagg_ring_taken(vis, m->chunk, m->round);
}

static void worker_publish(const struct gagg_visit *vis, const struct gagg_msg *m, bool lanes)
{
	struct gagg_chan *ch = vis->ch;
	struct gagg_publish *pub = &gagg_shard_emit(vis->sh, GAGG_ACT_PUBLISH, ch->id)->pub;

	pub->slot = m->chunk;
	pub->round = m->round;
	pub->lanes = lanes ? m->lanes : 0;
	pub->placed = lanes;
	pub->laneop = m->laneop;
	pub->raw = !!(m->flags & GAGG_WF_RAW);
	pub->exp = m->exp;
	pub->want = m->want;
	pub->flags = (m->flags & GAGG_WF_ZERO ? GAGG_C_ZERO : 0) |
		     (m->flags & GAGG_WF_NONFINITE ? GAGG_C_NONFINITE : 0) |
		     (m->flags & GAGG_WF_OVERFLOW ? GAGG_C_OVERFLOW : 0) |
		     (m->type == GAGG_T_DONE ? GAGG_C_NORESULT : 0);
	gagg_round(vis->g, heard, ch, m, pub);
	if (m->flags & GAGG_WF_NONFINITE)
		pub->nonfinite = (u8)(m->aux >> 16);
	else
		pub->shift = (u8)(m->aux >> 16);
	worker_published(vis, m);
}

/*
 * Does a result that was placed join the PUBLISH of the one before it? All actions in the queue are
 * of results that it follows: they differ from it by slot, packet number and exponents only
 * (gagg_shard_next()).
 */
static bool worker_publish_joins(struct gagg_shard *sh, const struct gagg_msg *m)
{
	struct gagg_act *a = sh->nacts ? &sh->act[sh->nacts - 1] : NULL;

	if (!a || a->type != GAGG_ACT_PUBLISH || a->more == GAGG_RUN - 1 ||
	    a->pub.slot + a->more + 1 != m->chunk)
		return false;
	a->each[a->more].exp = m->exp;
	a->each[a->more].want = m->want;
	a->more++;
	return true;
}

/* verdict on a result with lanes */
static inline enum gagg_rx worker_place(struct gagg_arrival *in, const struct gagg_msg *m)
{
	const struct gagg_visit *vis = &in->vis;
	struct gagg_chan *ch = vis->ch;
	struct gagg_todo *todo = &in->todo;
	s32 ahead = (s32)(m->round - (*gagg_chan_done(ch, m->chunk) + 1));

	if (ahead < 0)
		return GAGG_RX_OK;
	if (ahead || !gagg_worker_all_pushed(ch, m->chunk))
		return gagg_round(vis->g, early, in);
	todo->area = GAGG_AREA_RESULT;
	todo->slot = m->chunk;
	todo->lanes = m->lanes;
	todo->laneop = m->laneop;
	return GAGG_RX_PLACE;
}

enum gagg_rx gagg_worker_result(struct gagg_arrival *in, struct gagg_msg *m)
{
	const struct gagg_visit *vis = &in->vis;
	const struct gagg_geom *g = vis->g;
	struct gagg_chan *ch = vis->ch;
	int h = gagg_chan_home(ch, in->node);

	if (h < 0 || (int)gagg_geom_home(g, ch->nhomes, m->chunk) != h)
		return gagg_drop(in, GAGG_DROP_CHUNK);
	if (!ch->nlocals)
		return gagg_drop(in, GAGG_DROP_RANK);
	if (m->lanes > g->lanes)
		return gagg_drop(in, GAGG_DROP_OP);
	gagg_gap_seen(vis, (u32)h, m);

	if (gagg_wire_has_lanes(m))
		return worker_place(in, m);
	while (m->run) {
		if (gagg_shard_spare(vis->sh) < GAGG_ACTS_STEP)
			return GAGG_RX_AGAIN;
		if (m->chunk >= g->ring)
			return gagg_drop(in, GAGG_DROP_CHUNK);
		if (m->round == *gagg_chan_done(ch, m->chunk) + 1 &&
		    gagg_worker_all_pushed(ch, m->chunk))
			worker_publish(vis, m, false);
		m->chunk = gagg_geom_next(g, ch->nhomes, m->chunk);
		m->run--;
	}
	return GAGG_RX_OK;
}

void gagg_worker_commit(const struct gagg_arrival *in)
{
	const struct gagg_visit *vis = &in->vis;
	const struct gagg_msg *m = &in->todo.m;

	worker_publish(vis, m, true);
}

enum gagg_rx gagg_worker_next(struct gagg_arrival *in)
{
	const struct gagg_visit *vis = &in->vis;
	const struct gagg_msg *m = &in->todo.m;
	enum gagg_rx rx;

	gagg_gap_seen(vis, gagg_geom_home(vis->g, vis->ch->nhomes, m->chunk), m);
	rx = worker_place(in, m);
	if (rx != GAGG_RX_PLACE)
		return rx;
	if (worker_publish_joins(vis->sh, m))
		worker_published(vis, m);
	else
		worker_publish(vis, m, true);
	return rx;
}

static void worker_ask_repair(const struct gagg_visit *vis, u32 h, u32 round, u32 slot, u32 run)
{
	struct gagg_act *a = gagg_query_ask(vis, h);

	a->m.flags = GAGG_WF_REPAIR;
	a->m.chunk = slot;
	a->m.round = round;
	a->m.run = (u16)run;
}

/*
 * A home says that these chunks are published.
 * 1. If results are missing by their packet numbers, a PULL asks for them (R22).
 * 2. If none is, and a chunk is open, its result was lost after a PULL: QUERY asks for it again
 *    (R24).
 */
enum gagg_rx gagg_worker_told(struct gagg_arrival *in, const struct gagg_msg *m)
{
	const struct gagg_visit *vis = &in->vis;
	const struct gagg_geom *g = vis->g;
	struct gagg_chan *ch = vis->ch;
	int h = gagg_chan_home(ch, in->node);
	u32 slot = m->chunk, first = slot, run = 0, n;

	if (h < 0 || (int)gagg_geom_home(g, ch->nhomes, slot) != h)
		return gagg_drop(in, GAGG_DROP_CHUNK);
	if (!ch->nlocals)
		return gagg_drop(in, GAGG_DROP_RANK);
	if (gagg_gap_note(vis, (u32)h, m->pn, false))
		return GAGG_RX_OK;
	for (n = 0; n < m->run && slot < g->ring; n++) {
		bool open = m->round == *gagg_chan_done(ch, slot) + 1 &&
			    gagg_worker_all_pushed(ch, slot);

		if (open && !run++)
			first = slot;
		if (run && !open) {
			if (gagg_shard_spare(vis->sh) < GAGG_ACTS_STEP)
				return GAGG_RX_OK;
			worker_ask_repair(vis, (u32)h, m->round, first, run);
			run = 0;
		}
		slot = gagg_geom_next(g, ch->nhomes, slot);
	}
	if (run)
		worker_ask_repair(vis, (u32)h, m->round, first, run);
	return GAGG_RX_OK;
}

static void worker_mark_again(const struct gagg_geom *g, struct gagg_chan *ch, u32 l, u32 slot,
			      u32 round)
{
	u32 h = gagg_geom_home(g, ch->nhomes, slot);
	struct gagg_pushed *p = gagg_chan_pushed(ch, slot, l);
	struct gagg_way *w = gagg_chan_way(ch, l, h);
	u64 v = gagg_chan_v(g, ch, h, slot, round);

	if (p->state & GAGG_AGAIN)
		return;
	p->state = GAGG_PUSHED | GAGG_AGAIN;
	if (!w->nagain++ || v < w->again.v) {
		w->again.v = v;
		w->again.slot = slot;
		w->again.round = round;
	}
}

enum gagg_rx gagg_worker_resend(struct gagg_arrival *in, const struct gagg_msg *m)
{
	const struct gagg_visit *vis = &in->vis;
	const struct gagg_geom *g = vis->g;
	struct gagg_chan *ch = vis->ch;
	int h = gagg_chan_home(ch, in->node);
	int l = m->aux < GAGG_RANKS ? gagg_chan_local(ch, m->aux) : -1;
	u32 slot = m->chunk, n;

	if (l < 0)
		return gagg_drop(in, GAGG_DROP_RANK);
	if (h < 0 || (int)gagg_geom_home(g, ch->nhomes, slot) != h)
		return gagg_drop(in, GAGG_DROP_CHUNK);
	for (n = 0; n < m->run && slot < g->ring; n++) {
		if (m->round == *gagg_chan_done(ch, slot) + 1 &&
		    (gagg_chan_pushed(ch, slot, (u32)l)->state & GAGG_PUSHED))
			worker_mark_again(g, ch, (u32)l, slot, m->round);
		slot = gagg_geom_next(g, ch->nhomes, slot);
	}
	return GAGG_RX_OK;
}

static void worker_sent_each(const struct gagg_geom *g, struct gagg_chan *ch,
			     const struct gagg_sent *s, bool acked)
{
	u32 slot = s->slot, n = 0;

	while (slot < g->ring) {
		struct gagg_pushed *p = gagg_chan_pushed(ch, slot, s->local);

		if (s->round == *gagg_chan_done(ch, slot) + 1 && (p->state & GAGG_PUSHED)) {
			if (acked)
				p->state |= GAGG_ACKED;
			else if (!(p->state & GAGG_ACKED))
				worker_mark_again(g, ch, s->local, slot, s->round);
		}
		/* most often it was one */
		if (++n >= s->run)
			break;
		slot = gagg_geom_next(g, ch->nhomes, slot);
	}
}

bool gagg_worker_over(const struct gagg_geom *g, struct gagg_chan *ch,
		      const struct gagg_sent *s)
{
	u32 slot = s->slot, n;

	for (n = 0; n < s->run && slot < g->ring; n++) {
		if ((s32)(*gagg_chan_done(ch, slot) - s->round) < 0)
			return false;
		slot = gagg_geom_next(g, ch->nhomes, slot);
	}
	return true;
}

void gagg_worker_acked(const struct gagg_geom *g, struct gagg_chan *ch,
		       const struct gagg_sent *s)
{
	worker_sent_each(g, ch, s, true);
}

void gagg_worker_lost(const struct gagg_geom *g, struct gagg_chan *ch,
		      const struct gagg_sent *s)
{
	worker_sent_each(g, ch, s, false);
}
