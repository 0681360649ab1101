// SPDX-License-Identifier: GPL-2.0
/*
 * Contributions go out, as far as the window, their trainer and the paths allow.
 */
#include "ring/internal.h"

#define LEAD_TRIPS	8	/* windows that a host may be ahead */

/* the datagram of a pushed contribution; it is open, hence its op is in flight */
static void push_contrib_msg(const struct gagg_shard *sh, const struct gagg_geom *g,
			     struct gagg_chan *ch, u32 l, const struct gagg_cur *c,
			     struct gagg_msg *m)
{
	const struct gagg_pushed *p = gagg_chan_pushed(ch, c->slot, l);
	const struct gagg_op *op = gagg_ring_op(ch, l, c->v);
	bool empty = p->flags & (GAGG_C_ZERO | GAGG_C_NONFINITE);

	gagg_shard_msg(sh, g, empty ? GAGG_T_READY : GAGG_T_CONTRIB, ch->id,
		       ch->local[l].rank, m);
	m->laneop = op->laneop;
	m->flags = gagg_c_to_w(p->flags) | (op->flags & GAGG_OP_RAW ? GAGG_WF_RAW : 0);
	m->sig = op->sig;
	m->aux = op->call;
	m->chunk = c->slot;
	m->round = c->round;
	m->lanes = gagg_op_lanes(g, op, c->v);
	m->exp = p->exp;
	m->want = p->want;
	m->weight = 1;
}

/* where contributions of one way are on their way to a datagram */
struct sender {
	struct gagg_shard *sh;
	const struct gagg_geom *g;
	struct gagg_chan *ch;
	struct gagg_path *path;
	struct gagg_run *ready;	/* READY that may grow; of the way */
	u32 l;
	u32 node;
	bool again;		/* what is sent was sent before */
	u64 now;
};

/* the log's entry for a datagram */
static struct gagg_sent push_sent(const struct sender *s, const struct gagg_msg *m)
{
	return (struct gagg_sent){
		.slot = m->chunk,
		.round = m->round,
		.channel = m->channel,
		.run = m->run,
		.local = (u8)s->l,
		.again = s->again,
	};
}

static void push_take_pn(struct sender *s, struct gagg_msg *m)
{
	struct gagg_sent what = push_sent(s, m);

	m->pn = gagg_path_send(s->path, &what, s->now);
}

static void push_flush_ready(struct sender *s)
{
	if (!s->ready->m.run)
		return;
	push_take_pn(s, &s->ready->m);
	gagg_run_flush(s->sh, s->ready, s->node);
}

static bool push_same_ready(const struct gagg_run *r, const struct gagg_msg *m)
{
	return m->type == GAGG_T_READY && r->m.run && r->m.run < 0xffff &&
	       r->next == m->chunk && r->m.round == m->round && r->m.flags == m->flags &&
	       r->m.sig == m->sig && r->m.laneop == m->laneop && r->m.lanes == m->lanes &&
	       r->m.exp == m->exp && r->m.want == m->want;
}

/* worth looking at what comes next: it may be sent, or the READY that waits may
 * grow by it
 */
static bool push_may_send(const struct sender *s)
{
	return gagg_path_room(s->path) && gagg_shard_spare(s->sh) >= GAGG_ACTS_STEP;
}

/* room for it, and for the READY that waits unless that grows by it */
static bool push_fits(const struct sender *s, const struct gagg_msg *m)
{
	return gagg_path_room(s->path) > (s->ready->m.run ? 1U : 0U) ||
	       push_same_ready(s->ready, m);
}

/* returns the action; NULL: it is, or joins, the READY that waits */
static struct gagg_act *push_send(struct sender *s, struct gagg_msg *m)
{
	struct gagg_act *a;

	if (push_same_ready(s->ready, m)) {
		s->ready->m.run++;
		s->ready->next = gagg_geom_next(s->g, s->ch->nhomes, m->chunk);
		return NULL;
	}
	push_flush_ready(s);
	if (m->type == GAGG_T_READY) {
		s->ready->m = *m;
		s->ready->next = gagg_geom_next(s->g, s->ch->nhomes, m->chunk);
		return NULL;
	}
	push_take_pn(s, m);
	a = gagg_shard_emit(s->sh, GAGG_ACT_SEND_CONTRIB, s->ch->id);
	a->node = (u8)s->node;
	a->local = (u8)s->l;
	a->m = *m;
	return a;
}

/* send what was lost or asked for; those that are done meanwhile are counted
 * out of nagain by gagg_ring_taken()
 */
static void push_send_again(struct sender *s, struct gagg_way *w)
{
	s->again = true;
	while (w->nagain && w->again.v < w->next.v && push_may_send(s)) {
		struct gagg_pushed *p = gagg_chan_pushed(s->ch, w->again.slot, s->l);
		struct gagg_msg m;

		if ((p->state & GAGG_AGAIN) &&
		    w->again.round == *gagg_chan_done(s->ch, w->again.slot) + 1) {
			push_contrib_msg(s->sh, s->g, s->ch, s->l, &w->again, &m);
			if (!push_fits(s, &m))
				return;
			p->state &= (u8)~GAGG_AGAIN;
			w->nagain--;
			s->sh->n[GAGG_N_RETRANSMITS]++;
			push_send(s, &m);
		}
		gagg_cur_next(s->g, s->ch, &w->again);
	}
	/* a READY that waits is sent again, too */
	push_flush_ready(s);
}

/* what the trainer says of a contribution, made sane */
static void push_take_desc(const struct gagg_cdesc *d, const struct gagg_op *op, u16 lanes,
			   struct gagg_pushed *p)
{
	p->exp = op->flags & GAGG_OP_RAW ? 0 : d->exp;
	p->want = d->want;
	p->flags = d->flags & (GAGG_C_ZERO | GAGG_C_NONFINITE | GAGG_C_NORESULT);
	if (!lanes)
		p->flags |= GAGG_C_ZERO;
	p->state = GAGG_PUSHED;
}

/* how many of those that follow @c are of its stripe and op, and of its length, below @end */
static u32 push_alike(const struct sender *s, const struct gagg_op *op, const struct gagg_cur *c,
		      u64 end)
{
	const struct gagg_geom *g = s->g;
	u32 stripe = g->stripe - 1 - c->slot % g->stripe, ring = g->ring - 1 - c->slot;

	end = gagg_min64(end, op->last_lanes == g->lanes ? op->end : op->end - 1);
	return end > c->v ? (u32)gagg_min64(end - 1 - c->v, stripe < ring ? stripe : ring) : 0;
}

/*
 * The contribution at @c is sent by @a. Those that follow and are like it but for
 * slot, packet number and exponents are pushed, too; @c is then at the last of them.
 */
static void push_run(struct sender *s, const struct gagg_env *env, const struct gagg_op *op,
		     struct gagg_cur *c, u64 end, struct gagg_act *a)
{
	u32 n = (u32)gagg_min64(gagg_min64(push_alike(s, op, c, end), GAGG_RUN - 1),
				gagg_path_room(s->path));
	u8 flags = gagg_chan_pushed(s->ch, c->slot, s->l)->flags;
	struct gagg_sent what = push_sent(s, &a->m);

	for (; a->more < n; a->more++) {
		u32 slot = c->slot + 1;
		struct gagg_pushed *p = gagg_chan_pushed(s->ch, slot, s->l);
		struct gagg_cdesc d = env->desc(env->ctx, s->ch, s->l, slot);

		push_take_desc(&d, op, a->m.lanes, p);
		if (p->flags != flags) {
			p->state = 0;
			break;
		}
		a->each[a->more].exp = p->exp;
		a->each[a->more].want = p->want;
		c->slot = slot;
		c->v++;
	}
	what.slot++;
	s->sh->more += a->more;
	gagg_path_send_run(s->path, &what, a->more, s->now);
}

/*
 * Where contributions with lanes end that may leave: so far ahead of the oldest chunk whose
 * result has not come. Only where a link is crowded, which small windows show. Hosts that are
 * ahead of others win nothing there, and take the home's link from those for whom all wait. What
 * these bring later completes chunks for all at once, and the results wait for the link out.
 */
static u64 push_lead_end(const struct sender *s, u32 h)
{
	u64 lead = LEAD_TRIPS * (u64)s->path->cwnd;

	if (s->path->cwnd >= GAGG_PATH_CWND_CALM)
		return GAGG_NEVER;
	return s->ch->home_base[h].v + lead * s->ch->nhomes * s->g->shards;
}

/* may it leave for home h? If that is here, it takes the room of what it completes. */
static bool push_has_room(const struct sender *s, u32 h, u64 v, const struct gagg_msg *m)
{
	if (h == s->ch->self_home)
		return gagg_home_take_room(s->sh, s->g, s->ch, m, s->now);
	return push_fits(s, m) && (m->type == GAGG_T_READY || v < push_lead_end(s, h));
}

/* push the next contribution of a way, and what is like it; false: there is no room for it */
static bool push(struct sender *s, const struct gagg_env *env, u32 h, u64 end)
{
	struct gagg_way *w = gagg_chan_way(s->ch, s->l, h);
	const struct gagg_op *op = gagg_ring_op(s->ch, s->l, w->next.v);
	struct gagg_pushed *p = gagg_chan_pushed(s->ch, w->next.slot, s->l);
	struct gagg_cdesc d = env->desc(env->ctx, s->ch, s->l, w->next.slot);
	struct gagg_act *a;
	struct gagg_msg m;

	push_take_desc(&d, op, gagg_op_lanes(s->g, op, w->next.v), p);
	push_contrib_msg(s->sh, s->g, s->ch, s->l, &w->next, &m);
	if (!push_has_room(s, h, w->next.v, &m)) {
		p->state = 0;
		return false;
	}
	if (h == s->ch->self_home) {
		gagg_cur_next(s->g, s->ch, &w->next);
		gagg_home_push(s->sh, s->g, s->ch, &m, s->now);
		return true;
	}
	a = push_send(s, &m);
	if (a)
		push_run(s, env, op, &w->next, gagg_min64(end, push_lead_end(s, h)), a);
	gagg_cur_next(s->g, s->ch, &w->next);
	return true;
}

static struct sender push_sender(struct gagg_shard *sh, const struct gagg_geom *g,
				 struct gagg_chan *ch, u32 l, u32 h, u64 now)
{
	return (struct sender){
		.sh = sh, .g = g, .ch = ch, .l = l, .node = ch->home[h], .now = now,
		.path = &sh->path[ch->home[h]],
		.ready = &gagg_chan_way(ch, l, h)->ready,
	};
}

static inline u64 push_window_end(const struct gagg_geom *g, const struct gagg_chan *ch, u32 l,
				  u64 filled)
{
	return gagg_min64(gagg_min64(ch->local[l].issued, filled), ch->base + g->window);
}

static inline bool may_push(const struct sender *s, bool home)
{
	return home ? gagg_shard_spare(s->sh) >= GAGG_ACTS_STEP : push_may_send(s);
}

/* one way's turn, up to @front; returns where it would go on, GAGG_NEVER: it cannot */
static u64 push_refill_way(struct sender *s, const struct gagg_env *env, u32 h, u64 filled,
			   u64 front)
{
	struct gagg_way *w = gagg_chan_way(s->ch, s->l, h);
	bool home = h == s->ch->self_home;
	u64 end, turn;

	do {
		/* the window moves with what is pushed here */
		end = push_window_end(s->g, s->ch, s->l, filled);
		turn = gagg_min64(end, front);
	} while (w->next.v < turn && may_push(s, home) && push(s, env, h, turn));
	return front <= w->next.v && w->next.v < end && may_push(s, home) ? w->next.v :
									   GAGG_NEVER;
}

/* changes when something is pushed */
static u64 push_pushed(struct gagg_chan *ch, u32 l)
{
	u64 sum = 0;
	u32 h;

	for (h = 0; h < ch->nhomes; h++)
		sum += gagg_chan_way(ch, l, h)->next.v;
	return sum;
}

/*
 * Homes take turns, a stripe each: the first results can come when all hosts have sent
 * a stripe, and no home's link waits for another's.
 */
static void push_refill_local(struct gagg_shard *sh, const struct gagg_geom *g,
			      const struct gagg_env *env, struct gagg_chan *ch, u32 l, u64 filled,
			      u64 now)
{
	u64 period = (u64)g->stripe * ch->nhomes * g->shards;
	u64 was = push_pushed(ch, l), front = GAGG_NEVER, next;
	u32 i, h;

	for (h = 0; h < ch->nhomes; h++) {
		struct sender s = push_sender(sh, g, ch, l, h, now);
		struct gagg_way *w = gagg_chan_way(ch, l, h);

		push_send_again(&s, w);
		if (may_push(&s, h == ch->self_home))
			front = gagg_min64(front, w->next.v);
	}
	/* from the way on that is least far, of those that can go on */
	for (; front < push_window_end(g, ch, l, filled); front = next) {
		next = GAGG_NEVER;
		for (i = 0; i < ch->nhomes; i++) {
			struct sender s;

			/* not all hosts begin with one home, whose link is busy then alone */
			h = (g->self + 1 + i) % ch->nhomes;
			s = push_sender(sh, g, ch, l, h, now);
			next = gagg_min64(next,
					  push_refill_way(&s, env, h, filled,
							  front + period));
		}
	}
	for (h = 0; h < ch->nhomes; h++) {
		struct sender s = push_sender(sh, g, ch, l, h, now);

		push_flush_ready(&s);
	}
	if (push_pushed(ch, l) == was)
		return;
	ch->poll_wait = GAGG_POLL_WAIT_MIN;
	if (ch->query_at == GAGG_NEVER)
		gagg_ring_watch(sh, ch, now);
}

bool gagg_ring_refill(struct gagg_shard *sh, const struct gagg_geom *g,
		      const struct gagg_env *env, struct gagg_chan *ch, u64 now)
{
	bool starved = false, more = false;
	u64 base = ch->base;
	u32 l, h;

	gagg_ring_finish(sh, ch);
	if (ch->repair_at <= now)
		more = gagg_repair_serve(sh, g, ch, now);
	if (ch->pull_at <= now)
		gagg_gap_pull(sh, g, ch, now);
	for (l = 0; l < ch->nlocals; l++) {
		u64 filled = env->filled(env->ctx, ch, l);

		if (gagg_shard_spare(sh) < GAGG_ACTS_STEP)
			return true;
		push_refill_local(sh, g, env, ch, l, filled, now);
		for (h = 0; h < ch->nhomes; h++)
			starved |= gagg_chan_way(ch, l, h)->next.v >= filled &&
				   gagg_chan_way(ch, l, h)->next.v <
				   gagg_min64(ch->local[l].issued, ch->base + g->window);
	}
	/* the trainer makes no call when it has filled more: look again */
	if (!starved)
		ch->poll_at = GAGG_NEVER;
	else if (ch->poll_at > now + ch->poll_wait)
		ch->poll_at = now + ch->poll_wait;
	/* a local contribution may have been the last of a chunk that is homed
	 * here: that moves the window for ways that had their turn before
	 */
	return more || gagg_shard_spare(sh) < GAGG_ACTS_STEP || ch->base != base;
}
