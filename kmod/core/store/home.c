// SPDX-License-Identifier: GPL-2.0
/*
 * The home's side of a store: updates and ticks come in, copies go out.
 */
#include "store/internal.h"

/* actions that one chunk may cause: FOLD and one more */
#define STEP	2

static u32 *store_home_applied_at(struct gagg_chan *ch, u32 slot, u32 rank)
{
	struct gagg_store *st = gagg_store_of(ch);
	u32 *row = (u32 *)((char *)st + st->off_applied) +
		   (u64)slot * gagg_weight64(ch->members);

	return row + gagg_weight64(ch->members & (GAGG_BIT(rank) - 1));
}

static u32 *store_home_home_beside(struct gagg_chan *ch, u32 slot)
{
	struct gagg_store *st = gagg_store_of(ch);

	return (u32 *)((char *)st + st->off_beside) + slot;
}

struct shape {
	u64 applied;
	u64 beside;
	u64 state;
	u64 bytes;
};

static void store_home_shape_of(const struct gagg_geom *g, const struct gagg_stake *stake,
				struct shape *s)
{
	u64 at = sizeof(struct gagg_store);

	at += (u64)stake->nlocals * stake->nhomes * sizeof(struct gagg_store_way);
	s->applied = at;
	at += stake->home ? (u64)g->ring * gagg_weight64(stake->members) * sizeof(u32) : 0;
	s->beside = at;
	at += stake->home && g->snapshot ? (u64)g->ring * sizeof(u32) : 0;
	s->state = at;
	at += (u64)g->ring * stake->nlocals * (g->copies ? stake->nhomes : 1);
	s->bytes = (at + 7) & ~7ULL;
}

u64 gagg_store_bytes(const struct gagg_geom *g, const struct gagg_stake *stake)
{
	struct shape s;

	store_home_shape_of(g, stake, &s);
	return s.bytes;
}

void gagg_store_init(const struct gagg_geom *g, struct gagg_chan *ch,
		     const struct gagg_stake *stake)
{
	struct gagg_store_way *w;
	struct gagg_store *st;
	struct shape s;
	u32 i;

	/* no chunk is ever done */
	ch->base = GAGG_NEVER;
	ch->spread = g->copies ? 1 : ch->nhomes;
	ch->off_store = GAGG_CHAN_END;
	st = gagg_store_of(ch);
	w = (struct gagg_store_way *)(st + 1);
	store_home_shape_of(g, stake, &s);
	st->ask_at = GAGG_NEVER;
	st->run_at = GAGG_NEVER;
	st->off_way = sizeof(*st);
	st->off_applied = s.applied;
	st->off_beside = s.beside;
	st->off_state = s.state;
	for (i = 0; i < (u32)ch->nlocals * ch->nhomes; i++)
		w[i].ask_at = GAGG_NEVER;
	gagg_clocks_init(&st->clocks, &ch->members);
	st->clocks.homes = ch->spread;
	if (g->copies && ch->nlocals)
		st->clocks.owner = ch->local[0].rank;
}

/* what lies beside the store belongs into it */
static void store_home_fold(const struct gagg_visit *vis, u32 slot)
{
	struct gagg_chan *ch = vis->ch;

	gagg_shard_emit(vis->sh, GAGG_ACT_FOLD, ch->id)->keep.slot = slot;
	*store_home_home_beside(ch, slot) = 0;
}

/* does an update lie beside the store whose clock is complete by now? */
static bool store_home_must_fold(const struct gagg_visit *vis, u32 slot)
{
	struct gagg_chan *ch = vis->ch;
	u32 open = vis->g->snapshot ? *store_home_home_beside(ch, slot) : 0;

	return open && open <= gagg_store_of(ch)->clocks.min;
}

/* may an update of @rank, which has come to @clock, be added now? Beside the store is room for one
 * clock only, that of the slowest rank.
 */
static bool store_home_may_update(const struct gagg_visit *vis, u32 rank, u32 clock)
{
	const struct gagg_geom *g = vis->g;
	const struct gagg_sync_ops *ops = gagg_sync_get(g->sync.mode);
	struct gagg_store *st = gagg_store_of(vis->ch);

	if (!g->admits)
		return true;
	if (clock != st->clocks.clock[rank] || (g->snapshot && clock != st->clocks.min))
		return false;
	return !ops->may_update ||
	       ops->may_update(&g->sync, &st->sync, &st->clocks, rank, vis->now);
}

static enum gagg_rx store_home_rx_update(struct gagg_arrival *in, const struct gagg_msg *m)
{
	const struct gagg_visit *vis = &in->vis;
	struct gagg_shard *sh = vis->sh;
	const struct gagg_geom *g = vis->g;
	struct gagg_chan *ch = vis->ch;
	struct gagg_todo *todo = &in->todo;
	u32 clock = gagg_store_of(ch)->clocks.clock[m->src];

	/* the flags alone do not say that lanes follow the header */
	if (m->laneop != gagg_store_laneop(g) || m->lanes != g->lanes ||
	    !gagg_wire_has_lanes(m))
		return gagg_drop(in, GAGG_DROP_OP);
	if (m->round > clock + 1 || !m->round)
		return gagg_drop(in, GAGG_DROP_ROUND);
	if (m->round <= clock || *store_home_applied_at(ch, m->chunk, m->src) == m->round) {
		gagg_path_rx(&sh->path[in->node], m->pn, in->ce);
		sh->n[GAGG_N_DUPLICATES]++;
		return GAGG_RX_OK;
	}
	if (!store_home_may_update(vis, m->src, clock))
		return gagg_drop(in, GAGG_DROP_WINDOW);
	if (store_home_must_fold(vis, m->chunk)) {
		store_home_fold(vis, m->chunk);
		return GAGG_RX_AGAIN;
	}
	/* the caller adds and commits: from here on it is in the store */
	gagg_path_rx(&sh->path[in->node], m->pn, in->ce);
	todo->slot = m->chunk;
	todo->lanes = m->lanes;
	todo->laneop = m->laneop;
	todo->area = g->snapshot ? GAGG_AREA_BESIDE : GAGG_AREA_RESULT;
	todo->alone = 1;	/* each update is judged by the clocks */
	todo->first = g->snapshot && !*store_home_home_beside(ch, m->chunk);
	return GAGG_RX_ADD;
}

/* the lanes of an update are in */
static void store_home_added(const struct gagg_visit *vis, u32 rank, u32 slot, u32 round)
{
	struct gagg_chan *ch = vis->ch;

	*store_home_applied_at(ch, slot, rank) = round;
	if (vis->g->snapshot)
		*store_home_home_beside(ch, slot) = round;
	vis->sh->n[GAGG_N_CONTRIBUTIONS]++;
}

void gagg_store_tick(const struct gagg_visit *vis, u32 rank, u32 clock)
{
	const struct gagg_geom *g = vis->g;
	const struct gagg_sync_ops *ops = gagg_sync_get(g->sync.mode);
	struct gagg_store *st = gagg_store_of(vis->ch);

	if (!gagg_clocks_tick(&st->clocks, rank, clock))
		return;
	st->ticks++;
	if (ops->on_tick)
		ops->on_tick(&g->sync, &st->sync, &st->clocks, rank, vis->now);
}

static enum gagg_rx store_home_rx_tick(struct gagg_arrival *in, const struct gagg_msg *m)
{
	const struct gagg_visit *vis = &in->vis;

	gagg_store_tick(vis, m->src, m->round);
	gagg_path_rx(&vis->sh->path[in->node], m->pn, in->ce);
	return GAGG_RX_OK;
}

/*
 * Is the request of a newer op (1), an older one (-1), or the last one's? Numbers of
 * ops wrap, and a rank may go on for long without asking this home; clocks do not.
 */
static int store_home_compare(const struct gagg_parked *p, const struct gagg_msg *m)
{
	s32 ahead = (s32)(m->number - p->number);

	if (m->round != p->clock)
		return m->round > p->clock ? 1 : -1;
	return (ahead > 0) - (ahead < 0);
}

/* @m->run chunks from @m->chunk on are within the store */
static enum gagg_rx store_home_rx_pull(struct gagg_arrival *in, const struct gagg_msg *m)
{
	const struct gagg_visit *vis = &in->vis;
	struct gagg_store *st = gagg_store_of(vis->ch);
	struct gagg_parked *p = &st->park[m->src];
	int newer = store_home_compare(p, m);
	u32 i;

	if (m->aux > GAGG_GATE_FENCE)
		return gagg_drop(in, GAGG_DROP_OP);
	if (newer < 0)
		return gagg_drop(in, GAGG_DROP_ROUND);
	if (newer) {
		memset(p, 0, sizeof(*p));
		p->number = m->number;
		p->clock = m->round;
	}
	for (i = 0; i < GAGG_PULLS; i++) {
		struct gagg_pull *q = &p->pull[i];

		if (q->run && q->chunk != m->chunk)
			continue;
		q->chunk = m->chunk;
		q->clock = m->round;
		q->run = m->run;
		q->gate = m->aux;
		st->parked |= GAGG_BIT(m->src);
		return GAGG_RX_OK;
	}
	return gagg_drop(in, GAGG_DROP_WINDOW);
}

enum gagg_rx gagg_store_rx(struct gagg_arrival *in, struct gagg_msg *m)
{
	const struct gagg_visit *vis = &in->vis;
	const struct gagg_geom *g = vis->g;
	struct gagg_chan *ch = vis->ch;

	if (m->chunk >= g->ring || gagg_geom_shard(g, ch->spread, m->chunk) != vis->sh->index)
		return gagg_drop(in, GAGG_DROP_CHUNK);
	if (m->type == GAGG_T_RESULT)
		return gagg_store_result(in, m);
	if (!gagg_rank_at(g, m->src, in->node, ch->members))
		return gagg_drop(in, GAGG_DROP_RANK);
	if (ch->self_home == 0xff || !gagg_store_at(g, ch, ch->self_home, m->chunk))
		return gagg_drop(in, GAGG_DROP_CHUNK);
	if (m->run > g->window)
		return gagg_drop(in, GAGG_DROP_WINDOW);
	switch (m->type) {
	case GAGG_T_CONTRIB:
		return store_home_rx_update(in, m);
	case GAGG_T_READY:
		return store_home_rx_tick(in, m);
	case GAGG_T_PULL:
		return store_home_rx_pull(in, m);
	}
	return gagg_drop(in, GAGG_DROP_TYPE);
}

void gagg_store_commit(const struct gagg_arrival *in)
{
	const struct gagg_visit *vis = &in->vis;
	const struct gagg_todo *todo = &in->todo;

	if (todo->m.type == GAGG_T_RESULT)
		gagg_store_placed(in);
	else
		store_home_added(vis, todo->m.src, todo->slot, todo->m.round);
}

bool gagg_store_add(const struct gagg_visit *vis, u32 local, u32 slot, u32 round)
{
	const struct gagg_geom *g = vis->g;
	struct gagg_chan *ch = vis->ch;
	struct gagg_act *a;

	if (!store_home_may_update(vis, ch->local[local].rank, round - 1))
		return false;
	if (store_home_must_fold(vis, slot))
		store_home_fold(vis, slot);
	a = gagg_shard_emit(vis->sh, GAGG_ACT_ADD_LOCAL, ch->id);
	a->local = (u8)local;
	a->keep.slot = slot;
	a->keep.beside = g->snapshot;
	a->keep.first = g->snapshot && !*store_home_home_beside(ch, slot);
	store_home_added(vis, ch->local[local].rank, slot, round);
	return true;
}

void gagg_store_read(const struct gagg_visit *vis, u32 local, u32 slot)
{
	struct gagg_shard *sh = vis->sh;
	struct gagg_chan *ch = vis->ch;
	struct gagg_act *a;

	if (store_home_must_fold(vis, slot))
		store_home_fold(vis, slot);
	a = gagg_shard_emit(sh, GAGG_ACT_READ, ch->id);
	a->local = (u8)local;
	a->keep.slot = slot;
	a->keep.fresh = gagg_store_of(ch)->clocks.min;
	sh->n[GAGG_N_RESULTS]++;
}

static bool store_home_may_read(const struct gagg_visit *vis, u32 rank, u32 clock)
{
	const struct gagg_geom *g = vis->g;
	struct gagg_store *st = gagg_store_of(vis->ch);

	/* in every mode a rank that has finished waits for the others */
	if (clock == GAGG_CLOCK_END)
		return st->clocks.min == GAGG_CLOCK_END;
	return gagg_sync_get(g->sync.mode)->may_read(&g->sync, &st->sync, &st->clocks, rank,
						     clock);
}

bool gagg_store_open(const struct gagg_visit *vis, u32 rank, enum gagg_gate gate, u32 clock)
{
	switch (gate) {
	case GAGG_GATE_READ:
		return store_home_may_read(vis, rank, clock);
	case GAGG_GATE_UPDATE:
		return store_home_may_update(vis, rank, clock);
	case GAGG_GATE_FENCE:
		return gagg_store_of(vis->ch)->clocks.min >= clock;
	}
	return false;
}

/* with a copy of the chunk; a worker that only asks whether the gate is open gets no lanes */
static void store_home_answer(const struct gagg_visit *vis, u32 slot, u32 rank, bool lanes)
{
	const struct gagg_geom *g = vis->g;
	struct gagg_chan *ch = vis->ch;
	struct gagg_store *st = gagg_store_of(ch);
	struct gagg_act *a;

	if (lanes && store_home_must_fold(vis, slot))
		store_home_fold(vis, slot);
	a = gagg_shard_emit(vis->sh, GAGG_ACT_SEND_RESULT, ch->id);
	gagg_visit_msg(vis, GAGG_T_RESULT, g->self, &a->m);
	a->nodes = GAGG_BIT(g->node_of[rank]);
	a->m.flags = lanes ? GAGG_WF_RAW : GAGG_WF_RAW | GAGG_WF_ZERO;
	a->m.laneop = gagg_store_laneop(g);
	a->m.number = st->park[rank].number;
	a->m.chunk = slot;
	a->m.round = st->clocks.min;
	a->m.lanes = g->lanes;
	a->m.aux = rank;
}

/* true: there is no room for more actions */
static bool store_home_serve_pull(const struct gagg_visit *vis, u32 rank, struct gagg_pull *q)
{
	const struct gagg_geom *g = vis->g;

	while (q->run) {
		if (gagg_shard_spare(vis->sh) < STEP)
			return true;
		store_home_answer(vis, q->chunk, rank, q->gate != GAGG_GATE_UPDATE);
		q->chunk = gagg_geom_next(g, vis->ch->spread, q->chunk);
		q->run = q->chunk < g->ring ? q->run - 1 : 0;
	}
	return false;
}

static bool store_home_serve_rank(const struct gagg_visit *vis, u32 rank)
{
	struct gagg_store *st = gagg_store_of(vis->ch);
	bool waits = false;
	u32 i;

	for (i = 0; i < GAGG_PULLS; i++) {
		struct gagg_pull *q = &st->park[rank].pull[i];

		if (q->run && !gagg_store_open(vis, rank, q->gate, q->clock))
			waits = true;
		else if (store_home_serve_pull(vis, rank, q))
			return true;
	}
	if (!waits)
		st->parked &= ~GAGG_BIT(rank);
	return false;
}

void gagg_store_run(const struct gagg_visit *vis)
{
	const struct gagg_geom *g = vis->g;
	const struct gagg_sync_ops *ops = gagg_sync_get(g->sync.mode);
	struct gagg_store *st = gagg_store_of(vis->ch);

	if (ops->run && vis->ch->self_home != 0xff)
		st->run_at = ops->run(&g->sync, &st->sync, &st->clocks, vis->now);
}

bool gagg_store_serve(const struct gagg_visit *vis)
{
	struct gagg_store *st = gagg_store_of(vis->ch);
	u32 first = st->serve_first;
	u64 left;

	for (left = gagg_rotate(st->parked, first); left; left &= left - 1) {
		u32 rank = (first + gagg_lowest(left)) % GAGG_RANKS;
		bool room = gagg_shard_spare(vis->sh) >= STEP;

		if (store_home_serve_rank(vis, rank)) {
			/* the rank that was given the last room is the last one next time */
			st->serve_first = (rank + room) % GAGG_RANKS;
			return true;
		}
	}
	return false;
}
