// SPDX-License-Identifier: GPL-2.0
/*
 * The ring of a channel: shape, cursors, and the window that moves with rounds.
 */
#include "ring/round.h"

struct ring_shape {
	u64 way;
	u64 gaps;
	u64 lack;
	u64 res;
	u64 acc;
	u64 late;
	u64 parked;
	u64 done;
	u64 pushed;
	u64 publog;
	u64 pub;
	u64 bytes;
};

static void ring_shape_of(const struct gagg_geom *g, const struct gagg_stake *stake,
			  struct ring_shape *s)
{
	const struct gagg_round_ops *round = g->quorum ? &gagg_quorum_ops : &gagg_all_ops;
	u64 at = GAGG_CHAN_END;

	s->way = at;
	at += (u64)stake->nlocals * stake->nhomes * sizeof(struct gagg_way);
	s->gaps = at;
	at += (u64)stake->nhomes * sizeof(struct gagg_gaps);
	s->lack = at;
	at += (u64)stake->nhomes * sizeof(struct gagg_lack);
	s->res = at;
	at += stake->home ? (u64)g->ring * sizeof(struct gagg_res) : 0;
	s->acc = at;
	at += stake->home ? (u64)g->window * sizeof(struct gagg_acc) : 0;
	s->late = at;
	at += stake->home ? (u64)g->ring * round->late : 0;
	s->parked = at;
	at += stake->home ? (u64)g->nodes * gagg_repair_words(g) * sizeof(u64) : 0;
	s->done = at;
	at += (u64)g->ring * sizeof(u32);
	s->pushed = at;
	at += (u64)g->ring * stake->nlocals * sizeof(struct gagg_pushed);
	s->publog = at;
	at += stake->home ? (u64)g->window * sizeof(u32) : 0;
	s->pub = round->pub ? at : s->done;
	at += stake->home ? (u64)g->ring * round->pub : 0;
	s->bytes = ((at + 7) & ~7ULL) - GAGG_CHAN_END;
}

u64 gagg_ring_bytes(const struct gagg_geom *g, const struct gagg_stake *stake)
{
	struct ring_shape s;

	ring_shape_of(g, stake, &s);
	return s.bytes;
}

static void ring_init_home(const struct gagg_geom *g, struct gagg_chan *ch, u32 h)
{
	struct gagg_cur *c = &ch->home_base[h];
	u32 l;

	ch->home_rpn[h] = 1;
	gagg_chan_gaps(ch, h)->at = GAGG_NEVER;
	c->slot = gagg_geom_first(g, ch->nhomes, h, ch->shard, 0);
	c->round = 1;
	/* a home that has no chunk in this shard holds nothing up */
	c->v = c->slot < g->ring ? c->slot : GAGG_NEVER;
	for (l = 0; l < ch->nlocals; l++) {
		gagg_chan_way(ch, l, h)->next = *c;
		gagg_chan_way(ch, l, h)->again = *c;
	}
}

static void ring_update_base(struct gagg_chan *ch)
{
	u32 h;

	ch->base = GAGG_NEVER;
	for (h = 0; h < ch->nhomes; h++)
		ch->base = gagg_min64(ch->base, ch->home_base[h].v);
}

static void ring_init_offsets(const struct gagg_geom *g, struct gagg_chan *ch,
			      const struct gagg_stake *stake)
{
	struct ring_shape s;

	ring_shape_of(g, stake, &s);
	ch->off_way = (u32)s.way;
	ch->off_gaps = (u32)s.gaps;
	ch->off_lack = (u32)s.lack;
	ch->off_done = (u32)s.done;
	ch->off_pushed = (u32)s.pushed;
	ch->off_res = (u32)s.res;
	ch->off_acc = (u32)s.acc;
	ch->off_publog = (u32)s.publog;
	ch->off_parked = (u32)s.parked;
	ch->off_pub = (u32)s.pub;
	ch->off_late = (u32)s.late;
}

void gagg_ring_init(const struct gagg_geom *g, struct gagg_chan *ch,
		    const struct gagg_stake *stake)
{
	u32 h;

	ring_init_offsets(g, ch, stake);
	ch->rpn = 1;
	ch->query_at = GAGG_NEVER;
	ch->pull_at = GAGG_NEVER;
	ch->poll_at = GAGG_NEVER;
	ch->due_at = GAGG_NEVER;
	ch->repair_at = GAGG_NEVER;
	ch->poll_wait = GAGG_POLL_WAIT_MIN;
	gagg_round(g, init, g, ch);
	while (GAGG_BIT(ch->headroom) < gagg_weight64(ch->members))
		ch->headroom++;
	for (h = 0; h < ch->nhomes; h++)
		ring_init_home(g, ch, h);
	ring_update_base(ch);
}

void gagg_cur_next(const struct gagg_geom *g, const struct gagg_chan *ch, struct gagg_cur *c)
{
	u32 next = c->slot + 1;

	/* most often in the same stripe */
	if (next % g->stripe == 0 || next >= g->ring)
		next = gagg_geom_next(g, ch->nhomes, c->slot);
	if (next < g->ring) {
		c->v += next - c->slot;
	} else {
		next = gagg_geom_first(g, ch->nhomes,
				       gagg_geom_home(g, ch->nhomes, c->slot), ch->shard, 0);
		c->v += g->ring - c->slot + next;
		c->round++;
	}
	c->slot = next;
}

const struct gagg_op *gagg_ring_op(const struct gagg_chan *ch, u32 local, u64 v)
{
	const struct gagg_local *lo = &ch->local[local];
	u64 k;

	for (k = lo->finished + 1; k <= lo->numbers; k++)
		if (v < lo->op[k % GAGG_OPS].end)
			return &lo->op[k % GAGG_OPS];
	return NULL;
}

void gagg_ring_finish(const struct gagg_visit *vis)
{
	struct gagg_chan *ch = vis->ch;
	struct gagg_act *a;
	u32 l;

	for (l = 0; l < ch->nlocals; l++) {
		struct gagg_local *lo = &ch->local[l];
		u64 was = lo->finished;

		while (lo->finished < lo->numbers &&
		       lo->op[(lo->finished + 1) % GAGG_OPS].end <= ch->base)
			lo->finished++;
		if (lo->finished == was)
			continue;
		a = gagg_shard_emit(vis->sh, GAGG_ACT_OP_DONE, ch->id);
		a->local = (u8)l;
		a->number = lo->finished;
	}
}

void gagg_ring_watch(const struct gagg_visit *vis)
{
	struct gagg_chan *ch = vis->ch;
	u64 now = vis->now;
	u64 wait = GAGG_PATH_RTO_MIN, stuck = wait;
	u8 home = 0xff;
	u32 h;

	for (h = 0; h < ch->nhomes; h++)
		if (ch->home_base[h].v == ch->base && h != ch->self_home)
			home = (u8)h;
	ch->moved = 0;
	/* results of a burst move the base at one time: nothing else has changed */
	if (ch->watched_at == now && ch->watched == home && ch->query_at != GAGG_NEVER)
		return;
	if (home != 0xff) {
		const struct gagg_path *p = &vis->sh->path[ch->home[home]];

		wait = gagg_path_quiet(p);
		stuck = gagg_path_rto(p);
	}
	ch->watched_at = now;
	ch->watched = home;
	ch->query_wait = (u32)wait;
	ch->query_at = now + wait;
	ch->stuck_at = now + stuck;
}

void gagg_ring_taken(const struct gagg_visit *vis, u32 slot, u32 round)
{
	const struct gagg_geom *g = vis->g;
	struct gagg_chan *ch = vis->ch;
	u32 h = gagg_geom_home(g, ch->nhomes, slot);
	struct gagg_cur *b = &ch->home_base[h];
	u64 was = b->v;
	u32 l;

	*gagg_chan_done(ch, slot) = round;
	for (l = 0; l < ch->nlocals; l++) {
		struct gagg_pushed *p = gagg_chan_pushed(ch, slot, l);

		if (p->state & GAGG_AGAIN)
			gagg_chan_way(ch, l, h)->nagain--;
		p->state = 0;
	}
	if (b->slot != slot)
		return;
	while (*gagg_chan_done(ch, b->slot) == b->round)
		gagg_cur_next(g, ch, b);
	ch->moved |= GAGG_BIT(h);
	/* the base is another home's lowest chunk */
	if (was != ch->base)
		return;
	ring_update_base(ch);
	if (ch->query_at != GAGG_NEVER)
		gagg_ring_watch(vis);
	gagg_ring_finish(vis);
}
