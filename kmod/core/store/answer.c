// SPDX-License-Identifier: GPL-2.0
/*
 * The worker's side of a store: what comes back from its homes, or does not.
 *
 * Updates and ticks are acknowledged; reads are answered with their chunks.
 */
#include "store/way.h"

#define WINDOW_MIN	8
#define WINDOW_MAX	1024
#define WINDOW_GROW	8	/* answers that widen the window by one */
#define ASK_WAIT_MAX	(250 * GAGG_MSEC)

/* what was asked for and has not come is missing again */
static void answer_ask_again(const struct gagg_path *p, struct gagg_store_way *w, u64 now)
{
	/* only if something has come: else requests wait for a clock, and not for the network */
	if (w->answers && w->window / 2 >= WINDOW_MIN)
		w->window /= 2;
	w->next = w->low;
	w->open = 0;
	w->ask_at = GAGG_NEVER;
	w->wait = (u32)gagg_path_bound(gagg_path_patience(p), 2ULL * w->wait, ASK_WAIT_MAX, now);
}

void gagg_store_timer(const struct gagg_visit *vis)
{
	struct gagg_chan *ch = vis->ch;
	u32 l, h;

	for (l = 0; l < ch->nlocals; l++)
		for (h = 0; h < ch->nhomes; h++)
			if (gagg_way_at(ch, l, h)->ask_at <= vis->now)
				answer_ask_again(&vis->sh->path[ch->home[h]],
						 gagg_way_at(ch, l, h), vis->now);
}

/* the way that a datagram of an update belongs to, or NULL: that one is over */
static struct gagg_store_way *answer_way_of(struct gagg_chan *ch, const struct gagg_sent *s)
{
	struct gagg_store_way *w = gagg_way_at(ch, s->local, s->home);
	const struct gagg_op *op = gagg_way_op(ch, s->local, w);

	return op && w->begun && !(op->flags & GAGG_OP_READ) && gagg_op_round(op) == s->round ?
		w : NULL;
}

static bool answer_flying(const struct gagg_store_way *w, u8 state, const struct gagg_sent *s)
{
	return s->run ? state == GAGG_WAY_FLYING : w->tick == GAGG_TICK_FLYING;
}

bool gagg_store_over(const struct gagg_geom *g, struct gagg_chan *ch,
		     const struct gagg_sent *s)
{
	const struct gagg_store_way *w = answer_way_of(ch, s);

	(void)g;
	return !w || !answer_flying(w, *gagg_way_state(ch, s->slot, s->local, s->home), s);
}

void gagg_store_acked(const struct gagg_geom *g, struct gagg_chan *ch,
		      const struct gagg_sent *s)
{
	struct gagg_store_way *w = answer_way_of(ch, s);
	u8 *state = gagg_way_state(ch, s->slot, s->local, s->home);

	(void)g;
	if (!w)
		return;
	if (!s->run) {
		w->tick = GAGG_TICK_DONE;
		return;
	}
	if (*state != GAGG_WAY_FLYING && *state != GAGG_WAY_AGAIN)
		return;
	w->again -= *state == GAGG_WAY_AGAIN;
	w->open--;
	*state = GAGG_WAY_OVER;
}

void gagg_store_lost(const struct gagg_geom *g, struct gagg_chan *ch,
		     const struct gagg_sent *s)
{
	struct gagg_store_way *w = answer_way_of(ch, s);
	u8 *state = gagg_way_state(ch, s->slot, s->local, s->home);

	(void)g;
	if (!w || !answer_flying(w, *state, s))
		return;
	if (!s->run) {
		w->tick = GAGG_TICK_NONE;
		return;
	}
	*state = GAGG_WAY_AGAIN;
	if (!w->again++ || s->slot < w->again_at)
		w->again_at = s->slot;
}

enum gagg_rx gagg_store_result(struct gagg_arrival *in, const struct gagg_msg *m)
{
	const struct gagg_visit *vis = &in->vis;
	const struct gagg_geom *g = vis->g;
	struct gagg_chan *ch = vis->ch;
	struct gagg_todo *todo = &in->todo;
	int h = gagg_chan_home(ch, in->node);
	int l = m->aux < GAGG_RANKS ? gagg_chan_local(ch, m->aux) : -1;
	struct gagg_store_way *w;
	const struct gagg_op *op;

	if (h < 0 || m->src != in->node || !gagg_store_at(g, ch, (u32)h, m->chunk))
		return gagg_drop(in, GAGG_DROP_CHUNK);
	if (l < 0)
		return gagg_drop(in, GAGG_DROP_RANK);
	if (m->laneop != gagg_store_laneop(g) || m->lanes != g->lanes)
		return gagg_drop(in, GAGG_DROP_OP);
	w = gagg_way_at(ch, (u32)l, (u32)h);
	op = gagg_way_op(ch, (u32)l, w);
	if (m->round > w->seen)
		w->seen = m->round;
	if (op && w->begun && !(op->flags & GAGG_OP_READ) && (u32)op->number == m->number)
		w->admitted = 1;
	/* it is of an older read, or of another copy (whose way is over), or is here already */
	if (!op || !w->begun || !(op->flags & GAGG_OP_READ) || (u32)op->number != m->number ||
	    m->chunk < op->start || m->chunk >= w->fresh ||
	    *gagg_way_state(ch, m->chunk, (u32)l, (u32)h) == GAGG_WAY_OVER)
		return GAGG_RX_OK;
	if (!gagg_wire_has_lanes(m))
		return gagg_drop(in, GAGG_DROP_OP);
	todo->slot = m->chunk;
	todo->area = GAGG_AREA_COPY;
	todo->alone = 1;	/* each copy tells a clock */
	todo->local = (u8)l;
	todo->lanes = m->lanes;
	todo->laneop = m->laneop;
	return GAGG_RX_PLACE;
}

/* the chunk that @todo has brought is here */
static void answer_answered(const struct gagg_arrival *in, struct gagg_store_way *w, u32 h)
{
	const struct gagg_visit *vis = &in->vis;
	const struct gagg_geom *g = vis->g;
	const struct gagg_todo *todo = &in->todo;
	struct gagg_chan *ch = vis->ch;
	const struct gagg_op *op = gagg_way_op(ch, todo->local, w);

	/* a chunk from next on was given up: no request for it counts any more */
	if (todo->slot < w->next)
		w->open--;
	*gagg_way_state(ch, todo->slot, todo->local, h) = GAGG_WAY_OVER;
	while (w->low < w->fresh && *gagg_way_state(ch, w->low, todo->local, h) == GAGG_WAY_OVER)
		w->low = gagg_way_next(g, ch, op, w->low);
	if (++w->answers % WINDOW_GROW == 0 && w->window < WINDOW_MAX && w->window < g->window)
		w->window++;
}

void gagg_store_placed(const struct gagg_arrival *in)
{
	const struct gagg_visit *vis = &in->vis;
	struct gagg_shard *sh = vis->sh;
	const struct gagg_todo *todo = &in->todo;
	struct gagg_chan *ch = vis->ch;
	u32 h = (u32)gagg_chan_home(ch, in->node);
	struct gagg_store_way *w = gagg_way_at(ch, todo->local, h);
	struct gagg_act *a = gagg_shard_emit(sh, GAGG_ACT_READ, ch->id);

	answer_answered(in, w, h);
	w->wait = (u32)gagg_path_rto(&sh->path[in->node]);
	w->ask_at = w->open ? vis->now + w->wait : GAGG_NEVER;
	a->local = todo->local;
	a->keep.slot = todo->slot;
	a->keep.placed = 1;
	a->keep.fresh = todo->m.round;
	sh->n[GAGG_N_RESULTS]++;
}
