// SPDX-License-Identifier: GPL-2.0
/*
 * The worker's side of a store: its ops, one home at a time.
 *
 * Every local rank has a way to every home, and each way works on the oldest op that is not over
 * there. No op is given up: one that cannot go on ends with the epoch.
 */
#include "store/way.h"

#define STEP		4	/* actions that one step of a way may cause */
#define SCAN		4096	/* chunks that one call of gagg_store_refill() looks at */
#define WINDOW_START	64

/**
 * struct step - a way at work
 * @vis:	the visit in which it works
 * @env:	has the trainer's side of what it sends
 * @w:		the way
 * @op:		what it works on
 * @l:		its local rank
 * @h:		its home
 * @scan:	chunks that may still be looked at in this visit
 *
 * gagg_store_refill() begins it, and it lasts for one visit; store_worker_refill_ways() sets the
 * way, its rank and its home, store_worker_refill_way() the op.
 */
struct step {
	const struct gagg_visit *vis;
	const struct gagg_env *env;
	struct gagg_store_way *w;
	const struct gagg_op *op;
	u32 l;
	u32 h;
	u32 scan;
};

/* is the op about what home @h holds? (An update may bring it no more than a tick.) */
static bool store_worker_concerns(const struct gagg_geom *g, const struct gagg_chan *ch,
				  const struct gagg_op *op, u32 h)
{
	if (!g->copies)
		return true;
	if (!(op->flags & GAGG_OP_READ) && gagg_store_divides(g))
		return h != ch->self_home;
	return op->copy == h;
}

/* a chunk of an update that the home is to have */
static bool store_worker_sends(const struct step *s, u32 slot)
{
	const struct gagg_geom *g = s->vis->g;
	struct gagg_chan *ch = s->vis->ch;
	u64 there = g->ranks_of[ch->home[s->h]] & ch->members;

	return !gagg_store_divides(g) ||
	       gagg_sync_get(g->sync.mode)->sends(&g->sync, gagg_lowest(there), s->op->clock,
						  slot);
}

static u32 store_worker_next_chunk(const struct step *s, u32 slot)
{
	return gagg_way_next(s->vis->g, s->vis->ch, s->op, slot);
}

/* the first chunk of the op that the home holds; ring: none */
static u32 store_worker_first_chunk(const struct step *s)
{
	const struct gagg_geom *g = s->vis->g;
	struct gagg_chan *ch = s->vis->ch;

	if (!store_worker_concerns(g, ch, s->op, s->h))
		return g->ring;
	return gagg_way_within(g, s->op, gagg_store_first(g, ch, s->h, (u32)s->op->start));
}

static void store_worker_begin(struct step *s)
{
	struct gagg_store_way *w = s->w;
	struct gagg_store_way was = *w;
	u32 first = store_worker_first_chunk(s);

	memset(w, 0, sizeof(*w));
	w->done = was.done;
	w->seen = was.seen;
	w->ask_at = GAGG_NEVER;
	w->wait = (u32)gagg_path_rto(&s->vis->sh->path[s->vis->ch->home[s->h]]);
	w->next = first;
	w->fresh = first;
	w->low = first;
	w->window = (u32)gagg_min64(WINDOW_START, s->vis->g->window);
	w->begun = 1;
}

static void store_worker_end(struct step *s)
{
	s->w->done++;
	s->w->begun = 0;
	s->w->ask_at = GAGG_NEVER;
}

/* the next packet number of the path, for an update (@run 1) or a tick (0) */
static u32 store_worker_take_pn(struct step *s, u32 slot, u16 run)
{
	struct gagg_chan *ch = s->vis->ch;
	const struct gagg_sent what = {
		.slot = slot,
		.round = gagg_op_round(s->op),
		.channel = ch->id,
		.run = run,
		.local = (u8)s->l,
		.home = (u8)s->h,
	};

	return gagg_path_send(&s->vis->sh->path[ch->home[s->h]], &what, s->vis->now);
}

static bool store_worker_may_send(const struct step *s)
{
	return gagg_shard_spare(s->vis->sh) >= STEP &&
	       gagg_path_room(&s->vis->sh->path[s->vis->ch->home[s->h]]);
}

static void store_worker_send_update(struct step *s, u32 slot)
{
	const struct gagg_geom *g = s->vis->g;
	struct gagg_chan *ch = s->vis->ch;
	struct gagg_act *a = gagg_shard_emit(s->vis->sh, GAGG_ACT_SEND_CONTRIB, ch->id);
	u32 rank = ch->local[s->l].rank;

	a->node = ch->home[s->h];
	a->local = (u8)s->l;
	gagg_visit_msg(s->vis, GAGG_T_CONTRIB, (u16)rank, &a->m);
	a->m.flags = GAGG_WF_RAW;
	a->m.laneop = gagg_store_laneop(g);
	a->m.chunk = slot;
	a->m.round = gagg_op_round(s->op);
	a->m.lanes = g->lanes;
	a->m.weight = 1;
	a->m.pn = store_worker_take_pn(s, slot, 1);
	*gagg_way_state(ch, slot, s->l, s->h) = GAGG_WAY_FLYING;
}

static void store_worker_send_again(struct step *s)
{
	struct gagg_store_way *w = s->w;

	while (w->again && s->scan && store_worker_may_send(s)) {
		s->scan--;
		if (*gagg_way_state(s->vis->ch, w->again_at, s->l, s->h) == GAGG_WAY_AGAIN) {
			w->again--;
			s->vis->sh->n[GAGG_N_RETRANSMITS]++;
			store_worker_send_update(s, w->again_at);
		}
		w->again_at = store_worker_next_chunk(s, w->again_at);
	}
}

/* one chunk of an update; false: not now */
static bool store_worker_push(struct step *s, u32 slot)
{
	struct gagg_chan *ch = s->vis->ch;

	if (!store_worker_sends(s, slot) ||
	    (s->env->desc(s->env->ctx, ch, s->l, slot).flags & GAGG_C_ZERO)) {
		*gagg_way_state(ch, slot, s->l, s->h) = GAGG_WAY_NONE;
		return true;
	}
	if (s->h != ch->self_home) {
		if (!store_worker_may_send(s))
			return false;
		s->w->open++;
		store_worker_send_update(s, slot);
		return true;
	}
	return gagg_shard_spare(s->vis->sh) >= STEP &&
	       gagg_store_add(s->vis, s->l, slot, gagg_op_round(s->op));
}

static u32 store_worker_clock_after(const struct gagg_op *op)
{
	return op->flags & GAGG_OP_LAST ? GAGG_CLOCK_END : gagg_op_round(op);
}

/* at this host's own home; an update with chunks has had its turn to be there */
static bool store_worker_takes_turn(const struct step *s)
{
	return !s->vis->g->ordered || (s->op->flags & GAGG_OP_LAST) ||
	       gagg_store_open(s->vis, s->vis->ch->local[s->l].rank, GAGG_GATE_UPDATE,
			       s->op->clock);
}

/* all chunks are confirmed: so is the clock; false: not now */
static bool store_worker_tick(struct step *s)
{
	const struct gagg_geom *g = s->vis->g;
	struct gagg_chan *ch = s->vis->ch;
	u32 rank = ch->local[s->l].rank;
	u32 first = gagg_store_first(g, ch, s->h, 0);
	struct gagg_act *a;

	/* nothing of this shard lives there */
	if (first >= g->ring)
		return true;
	if (s->h == ch->self_home) {
		if (!store_worker_takes_turn(s))
			return false;
		gagg_store_tick(s->vis, rank, store_worker_clock_after(s->op));
		return true;
	}
	if (s->w->tick != GAGG_TICK_NONE || !store_worker_may_send(s))
		return s->w->tick == GAGG_TICK_DONE;
	s->w->tick = GAGG_TICK_FLYING;
	a = gagg_shard_emit(s->vis->sh, GAGG_ACT_SEND_CTRL, ch->id);
	a->node = ch->home[s->h];
	gagg_visit_msg(s->vis, GAGG_T_READY, (u16)rank, &a->m);
	a->m.chunk = first;
	a->m.round = store_worker_clock_after(s->op);
	a->m.pn = store_worker_take_pn(s, first, 0);
	return false;
}

static enum gagg_gate store_worker_gate_of(const struct gagg_op *op)
{
	return op->flags & GAGG_OP_FENCE ? GAGG_GATE_FENCE : GAGG_GATE_READ;
}

/* a run of chunks that are missing, from w->next on; none: 0 */
static u32 store_worker_missing_run(struct step *s, u32 most, u32 *first)
{
	struct gagg_chan *ch = s->vis->ch;
	struct gagg_store_way *w = s->w;
	u32 run = 0;

	while (w->next < s->vis->g->ring && run < most && s->scan) {
		bool known = w->next < w->fresh;

		if (!known)
			w->fresh = w->next + 1;
		if (known && *gagg_way_state(ch, w->next, s->l, s->h) == GAGG_WAY_OVER) {
			if (run)
				break;
		} else {
			*gagg_way_state(ch, w->next, s->l, s->h) = GAGG_WAY_FLYING;
			if (!run++)
				*first = w->next;
		}
		s->scan--;
		w->next = store_worker_next_chunk(s, w->next);
	}
	return run;
}

static void store_worker_ask(struct step *s, u32 first, u32 run, enum gagg_gate gate)
{
	struct gagg_chan *ch = s->vis->ch;
	struct gagg_act *a = gagg_shard_emit(s->vis->sh, GAGG_ACT_SEND_CTRL, ch->id);

	a->node = ch->home[s->h];
	gagg_visit_msg(s->vis, GAGG_T_PULL, ch->local[s->l].rank, &a->m);
	a->m.chunk = first;
	a->m.run = (u16)run;
	a->m.round = s->op->clock;
	a->m.number = (u32)s->op->number;
	a->m.aux = gate;
	s->w->open += run;
	if (s->w->ask_at == GAGG_NEVER)
		s->w->ask_at = s->vis->now + s->w->wait;
	s->vis->sh->n[GAGG_N_PULLS]++;
}

/*
 * May the update be sent? Some sync modes add an update only when its turn has come: sent earlier,
 * it would be dropped.
 * 1. So the worker asks, naming a chunk, and an answer without lanes says that the home takes the
 *    update now.
 * 2. Without turns (ordered) it waits for the clock of the slowest rank only, which is the one that
 *    has room beside the store. Where an answer to a read has said that the slowest has come as
 *    far, the worker need not ask.
 */
static bool store_worker_admitted(struct step *s)
{
	const struct gagg_geom *g = s->vis->g;
	struct gagg_store_way *w = s->w;
	u32 first = gagg_store_first(g, s->vis->ch, s->h, 0);
	/* the update has no chunk there */
	bool none = w->low >= g->ring;

	/* first: nothing of this shard lives there. The last update takes no turn if empty */
	if (w->admitted || first >= g->ring ||
	    (none && (!g->ordered || g->copies || (s->op->flags & GAGG_OP_LAST))) ||
	    (!g->ordered && w->seen >= s->op->clock)) {
		w->ask_at = GAGG_NEVER;
		return true;
	}
	if (w->ask_at == GAGG_NEVER) {
		store_worker_ask(s, first, 1, GAGG_GATE_UPDATE);
		w->open = 0;
	}
	return false;
}

/* true: the op is over at this home */
static bool store_worker_update(struct step *s)
{
	const struct gagg_geom *g = s->vis->g;
	struct gagg_store_way *w = s->w;

	if (g->admits && s->h != s->vis->ch->self_home && !store_worker_admitted(s))
		return false;
	store_worker_send_again(s);
	while (w->next < g->ring) {
		if (!s->scan || !store_worker_push(s, w->next))
			return false;
		s->scan--;
		w->next = store_worker_next_chunk(s, w->next);
	}
	return !w->open && store_worker_tick(s);
}

static bool store_worker_read_remote(struct step *s)
{
	const struct gagg_geom *g = s->vis->g;
	struct gagg_store_way *w = s->w;
	u32 first = 0, run;

	/* in large pieces: a request for every half window */
	while (w->next < g->ring && w->open <= w->window / 2 &&
	       gagg_shard_spare(s->vis->sh) >= STEP) {
		run = store_worker_missing_run(s, w->window - w->open, &first);
		if (!run)
			break;
		store_worker_ask(s, first, run, store_worker_gate_of(s->op));
	}
	return w->low >= g->ring;
}

static bool store_worker_read_local(struct step *s)
{
	const struct gagg_geom *g = s->vis->g;
	struct gagg_store_way *w = s->w;

	if (w->next >= g->ring)
		return true;
	if (!gagg_store_open(s->vis, s->vis->ch->local[s->l].rank, store_worker_gate_of(s->op),
			     s->op->clock))
		return false;
	while (w->next < g->ring && s->scan && gagg_shard_spare(s->vis->sh) >= STEP) {
		gagg_store_read(s->vis, s->l, w->next);
		s->scan--;
		w->next = store_worker_next_chunk(s, w->next);
	}
	return w->next >= g->ring;
}

static bool store_worker_work(struct step *s)
{
	if (!s->w->begun)
		store_worker_begin(s);
	if (!(s->op->flags & GAGG_OP_READ))
		return store_worker_update(s);
	return s->h == s->vis->ch->self_home ? store_worker_read_local(s) :
					       store_worker_read_remote(s);
}

/* ops that all homes are through with are done in this shard; true: there are some */
static bool store_worker_finish(const struct gagg_visit *vis, u32 l)
{
	struct gagg_chan *ch = vis->ch;
	struct gagg_local *lo = &ch->local[l];
	u64 done = lo->numbers;
	struct gagg_act *a;
	u32 h;

	for (h = 0; h < ch->nhomes; h++)
		done = gagg_min64(done, gagg_way_at(ch, l, h)->done);
	if (done == lo->finished)
		return false;
	lo->finished = done;
	a = gagg_shard_emit(vis->sh, GAGG_ACT_OP_DONE, ch->id);
	a->local = (u8)l;
	a->number = done;
	return true;
}

/*
 * Must the op wait for the one before it? Where reads lock a copy (sync/gossip.c), a rank that
 * waits for a lock must hold none, or ranks could wait for each other.
 * 1. So an op begins at no home before the one before it is over at all: else a rank could have
 *    the lock of its next op at one home, and wait at another one for that of its last.
 * 2. The lock of a read lasts beyond it, until the tick of the update that comes next:
 *    gagg_store_may_begin() refuses another read before that.
 */
static bool store_worker_must_wait(const struct step *s)
{
	return gagg_sync_get(s->vis->g->sync.mode)->whole &&
	       s->w->done != s->vis->ch->local[s->l].finished;
}

static bool store_worker_spent(const struct step *s)
{
	return gagg_shard_spare(s->vis->sh) < STEP || !s->scan;
}

/* true: it stopped for want of room or time, not of news */
static bool store_worker_refill_way(struct step *s)
{
	while ((s->op = gagg_way_op(s->vis->ch, s->l, s->w)) && !store_worker_must_wait(s)) {
		if (store_worker_spent(s))
			return true;
		if (!store_worker_work(s))
			return store_worker_spent(s);
		store_worker_end(s);
	}
	return false;
}

/*
 * All ways work, as far as room and time go. The way that takes the last of them is the last one in
 * the next call: so each way that can go on does so within as many calls as there are ways.
 */
static bool store_worker_refill_ways(struct step *s)
{
	struct gagg_chan *ch = s->vis->ch;
	struct gagg_store *st = gagg_store_of(ch);
	u32 n = (u32)ch->nlocals * ch->nhomes, first = st->work_first, i;
	bool more = false, room;

	for (i = 0; i < n; i++) {
		u32 at = (first + i) % n;

		s->l = at / ch->nhomes;
		s->h = at % ch->nhomes;
		s->w = gagg_way_at(ch, s->l, s->h);
		room = !store_worker_spent(s);
		if (store_worker_refill_way(s)) {
			more = true;
			if (room)
				st->work_first = (at + 1) % n;
		}
		st->ask_at = gagg_min64(st->ask_at, s->w->ask_at);
	}
	return more;
}

bool gagg_store_refill(const struct gagg_visit *vis, const struct gagg_env *env)
{
	struct gagg_shard *sh = vis->sh;
	struct gagg_chan *ch = vis->ch;
	struct gagg_store *st = gagg_store_of(ch);
	struct step s = { .vis = vis, .env = env, .scan = SCAN };
	/* this host's ranks, and those that ask it, are first in turn */
	bool ways_first = ++st->calls % 2, more = false;
	u64 was = st->ticks;
	u32 l;

	st->ask_at = GAGG_NEVER;
	gagg_store_run(vis);
	if (ways_first)
		more = store_worker_refill_ways(&s);
	more |= gagg_store_serve(vis);
	if (!ways_first)
		more |= store_worker_refill_ways(&s);
	/* an op that waits for its rank's last one may begin when that is done */
	for (l = 0; l < ch->nlocals; l++)
		if (gagg_shard_spare(sh) < STEP / 2 || store_worker_finish(vis, l))
			more = true;
	/* a local tick may let ways and requests go on that were looked at before it */
	return more || st->ticks != was;
}
