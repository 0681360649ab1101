// SPDX-License-Identifier: GPL-2.0
/*
 * Contributions go out, as far as the window, their trainer and the paths allow (R19).
 */
#include "ring/internal.h"

#define LEAD_TRIPS	8	/* windows that a host may be ahead */

/**
 * struct sender - contributions of a local rank on their way to a home
 * @vis:	the visit that sends them
 * @env:	has the trainer's side of them
 * @path:	to the home's node
 * @ready:	READY that may grow; of the way
 * @l:		local rank
 * @h:		home
 * @again:	what is sent was sent before
 *
 * push_sender() fills it; it lasts for the turn of one way.
 */
struct sender {
	const struct gagg_visit *vis;
	const struct gagg_env *env;
	struct gagg_path *path;
	struct gagg_run *ready;
	u32 l;
	u32 h;
	bool again;
};

/* the header of a pushed contribution; its round is open, hence its op is in flight */
static void push_contrib_msg(const struct sender *s, const struct gagg_cur *c, struct gagg_msg *m)
{
	struct gagg_chan *ch = s->vis->ch;
	const struct gagg_pushed *p = gagg_chan_pushed(ch, c->slot, s->l);
	const struct gagg_op *op = gagg_ring_op(ch, s->l, c->v);
	bool empty = p->flags & (GAGG_C_ZERO | GAGG_C_NONFINITE);

	gagg_visit_msg(s->vis, empty ? GAGG_T_READY : GAGG_T_CONTRIB, ch->local[s->l].rank, m);
	m->laneop = op->laneop;
	m->flags = gagg_c_to_w(p->flags) | (op->flags & GAGG_OP_RAW ? GAGG_WF_RAW : 0);
	m->sig = op->sig;
	m->aux = op->call;
	m->chunk = c->slot;
	m->round = c->round;
	m->lanes = gagg_op_lanes(s->vis->g, op, c->v);
	m->exp = p->exp;
	m->want = p->want;
	m->weight = 1;
}

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

	m->pn = gagg_path_send(s->path, &what, s->vis->now);
}

static void push_flush_ready(struct sender *s)
{
	if (!s->ready->m.run)
		return;
	push_take_pn(s, &s->ready->m);
	gagg_run_flush(s->vis->sh, s->ready, s->vis->ch->home[s->h]);
}

static bool push_same_ready(const struct gagg_run *r, const struct gagg_msg *m)
{
	return m->type == GAGG_T_READY && r->m.run && r->m.run < 0xffff &&
	       r->next == m->chunk && r->m.round == m->round && r->m.flags == m->flags &&
	       r->m.sig == m->sig && r->m.laneop == m->laneop && r->m.lanes == m->lanes &&
	       r->m.exp == m->exp && r->m.want == m->want;
}

/* is the next contribution worth a look? It may be sent, or be in the READY that waits */
static bool push_may_send(const struct sender *s)
{
	return gagg_path_room(s->path) && gagg_shard_spare(s->vis->sh) >= GAGG_ACTS_STEP;
}

/* There is room for @m, and for the READY that waits; or that grows by @m. */
static bool push_fits(const struct sender *s, const struct gagg_msg *m)
{
	return gagg_path_room(s->path) > (s->ready->m.run ? 1U : 0U) ||
	       push_same_ready(s->ready, m);
}

/* returns the action; NULL: @m is the READY that waits now, or is in it */
static struct gagg_act *push_send(struct sender *s, struct gagg_msg *m)
{
	struct gagg_chan *ch = s->vis->ch;
	struct gagg_act *a;

	if (push_same_ready(s->ready, m)) {
		s->ready->m.run++;
		s->ready->next = gagg_geom_next(s->vis->g, ch->nhomes, m->chunk);
		return NULL;
	}
	push_flush_ready(s);
	if (m->type == GAGG_T_READY) {
		s->ready->m = *m;
		s->ready->next = gagg_geom_next(s->vis->g, ch->nhomes, m->chunk);
		return NULL;
	}
	push_take_pn(s, m);
	a = gagg_shard_emit(s->vis->sh, GAGG_ACT_SEND_CONTRIB, ch->id);
	a->node = ch->home[s->h];
	a->local = (u8)s->l;
	a->m = *m;
	return a;
}

/*
 * sends again what was lost (R26) or asked for (R28)
 *
 * nagain counts what is left of it: gagg_ring_taken() subtracts chunks that are done meanwhile.
 */
static void push_send_again(struct sender *s, struct gagg_way *w)
{
	struct gagg_chan *ch = s->vis->ch;

	s->again = true;
	while (w->nagain && w->again.v < w->next.v && push_may_send(s)) {
		struct gagg_pushed *p = gagg_chan_pushed(ch, w->again.slot, s->l);
		struct gagg_msg m;

		if ((p->state & GAGG_AGAIN) &&
		    w->again.round == *gagg_chan_done(ch, w->again.slot) + 1) {
			push_contrib_msg(s, &w->again, &m);
			if (!push_fits(s, &m))
				break;
			p->state &= (u8)~GAGG_AGAIN;
			w->nagain--;
			s->vis->sh->n[GAGG_N_RETRANSMITS]++;
			push_send(s, &m);
		}
		gagg_cur_next(s->vis->g, ch, &w->again);
	}
	/* a READY with what is sent again does not grow by what is sent first */
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

/* how many chunks behind @c, below @end, are of its stripe and op, and as long */
static u32 push_alike(const struct sender *s, const struct gagg_op *op, const struct gagg_cur *c,
		      u64 end)
{
	const struct gagg_geom *g = s->vis->g;
	u32 stripe = g->stripe - 1 - c->slot % g->stripe, ring = g->ring - 1 - c->slot;

	end = gagg_min64(end, op->last_lanes == g->lanes ? op->end : op->end - 1);
	return end > c->v ? (u32)gagg_min64(end - 1 - c->v, stripe < ring ? stripe : ring) : 0;
}

/*
 * @a sends the contribution at @c, and those behind it that differ by slot, packet number and
 * exponents only; @c is then at the last of them.
 */
static void push_run(struct sender *s, const struct gagg_op *op, struct gagg_cur *c, u64 end,
		     struct gagg_act *a)
{
	struct gagg_chan *ch = s->vis->ch;
	u32 n = (u32)gagg_min64(gagg_min64(push_alike(s, op, c, end), GAGG_RUN - 1),
				gagg_path_room(s->path));
	u8 flags = gagg_chan_pushed(ch, c->slot, s->l)->flags;
	struct gagg_sent what = push_sent(s, &a->m);

	for (; a->more < n; a->more++) {
		u32 slot = c->slot + 1;
		struct gagg_pushed *p = gagg_chan_pushed(ch, slot, s->l);
		struct gagg_cdesc d = s->env->desc(s->env->ctx, ch, s->l, slot);

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
	s->vis->sh->more += a->more;
	gagg_path_send_run(s->path, &what, a->more, s->vis->now);
}

/*
 * Contributions with lanes below that chunk may leave: so far may a host be ahead of the oldest
 * chunk whose result has not come. The bound is for crowded links, which small windows show.
 * There a host that is ahead of the others
 * 1. wins nothing, since its chunks are complete only with theirs;
 * 2. takes the home's link from the hosts that all wait for; and
 * 3. makes many chunks wait for these: then many are complete at once, and their results wait for
 *    the home's link out.
 */
static u64 push_lead_end(const struct sender *s)
{
	const struct gagg_chan *ch = s->vis->ch;
	u64 lead = LEAD_TRIPS * (u64)s->path->cwnd;

	if (s->path->cwnd >= GAGG_PATH_CWND_CALM)
		return GAGG_NEVER;
	return ch->home_base[s->h].v + lead * ch->nhomes * s->vis->g->shards;
}

/* is the home of the way this node? */
static inline bool push_stays(const struct sender *s)
{
	return s->h == s->vis->ch->self_home;
}

/* May chunk @v leave? If its home is here, it takes the room of what it completes. */
static bool push_has_room(const struct sender *s, u64 v, const struct gagg_msg *m)
{
	if (push_stays(s))
		return gagg_home_take_room(s->vis, m);
	return push_fits(s, m) && (m->type == GAGG_T_READY || v < push_lead_end(s));
}

/* push the next contribution of a way, and what is like it; false: there is no room for it */
static bool push(struct sender *s, u64 end)
{
	const struct gagg_geom *g = s->vis->g;
	struct gagg_chan *ch = s->vis->ch;
	struct gagg_way *w = gagg_chan_way(ch, s->l, s->h);
	const struct gagg_op *op = gagg_ring_op(ch, s->l, w->next.v);
	struct gagg_pushed *p = gagg_chan_pushed(ch, w->next.slot, s->l);
	struct gagg_cdesc d = s->env->desc(s->env->ctx, ch, s->l, w->next.slot);
	struct gagg_act *a;
	struct gagg_msg m;

	push_take_desc(&d, op, gagg_op_lanes(g, op, w->next.v), p);
	push_contrib_msg(s, &w->next, &m);
	if (!push_has_room(s, w->next.v, &m)) {
		p->state = 0;
		return false;
	}
	if (push_stays(s)) {
		gagg_cur_next(g, ch, &w->next);
		gagg_home_push(s->vis, &m);
		return true;
	}
	a = push_send(s, &m);
	if (a)
		push_run(s, op, &w->next, gagg_min64(end, push_lead_end(s)), a);
	gagg_cur_next(g, ch, &w->next);
	return true;
}

static struct sender push_sender(const struct gagg_visit *vis, const struct gagg_env *env, u32 l,
				 u32 h)
{
	return (struct sender){
		.vis = vis, .env = env, .l = l, .h = h,
		.path = &vis->sh->path[vis->ch->home[h]],
		.ready = &gagg_chan_way(vis->ch, l, h)->ready,
	};
}

static inline u64 push_window_end(const struct gagg_geom *g, const struct gagg_chan *ch, u32 l,
				  u64 filled)
{
	return gagg_min64(gagg_min64(ch->local[l].issued, filled), ch->base + g->window);
}

static inline bool may_push(const struct sender *s)
{
	return push_stays(s) ? gagg_shard_spare(s->vis->sh) >= GAGG_ACTS_STEP : push_may_send(s);
}

/* one way's turn, up to @front; returns where it would go on, GAGG_NEVER: it cannot */
static u64 push_refill_way(struct sender *s, u64 filled, u64 front)
{
	struct gagg_way *w = gagg_chan_way(s->vis->ch, s->l, s->h);
	u64 end, turn;

	do {
		/* the window moves with what is pushed here */
		end = push_window_end(s->vis->g, s->vis->ch, s->l, filled);
		turn = gagg_min64(end, front);
	} while (w->next.v < turn && may_push(s) && push(s, turn));
	return front <= w->next.v && w->next.v < end && may_push(s) ? w->next.v : GAGG_NEVER;
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
 * Homes take turns, a stripe each.
 * 1. The first results can come as soon as all hosts have sent one stripe.
 * 2. No home's link is idle while another one's is busy.
 */
static void push_refill_local(const struct gagg_visit *vis, const struct gagg_env *env, u32 l,
			      u64 filled)
{
	const struct gagg_geom *g = vis->g;
	struct gagg_chan *ch = vis->ch;
	u64 period = (u64)g->stripe * ch->nhomes * g->shards;
	u64 was, front = GAGG_NEVER, next;
	u32 i, h;

	for (h = 0; h < ch->nhomes; h++) {
		struct sender s = push_sender(vis, env, l, h);
		struct gagg_way *w = gagg_chan_way(ch, l, h);

		if (w->nagain)
			push_send_again(&s, w);
		if (may_push(&s))
			front = gagg_min64(front, w->next.v);
	}
	/* most polls have nothing to push, or no room for it */
	if (front >= push_window_end(g, ch, l, filled))
		return;
	was = push_pushed(ch, l);
	/* begins with the least advanced of the ways that can go on */
	for (; front < push_window_end(g, ch, l, filled); front = next) {
		next = GAGG_NEVER;
		for (i = 0; i < ch->nhomes; i++) {
			struct sender s;

			/* R38: if all began with one home, only its link would be busy */
			h = (g->self + 1 + i) % ch->nhomes;
			s = push_sender(vis, env, l, h);
			next = gagg_min64(next, push_refill_way(&s, filled, front + period));
		}
	}
	for (h = 0; h < ch->nhomes; h++) {
		struct sender s = push_sender(vis, env, l, h);

		push_flush_ready(&s);
	}
	if (push_pushed(ch, l) == was)
		return;
	ch->poll_wait = GAGG_POLL_WAIT_MIN;
	if (ch->query_at == GAGG_NEVER)
		gagg_ring_watch(vis);
}

bool gagg_ring_refill(const struct gagg_visit *vis, const struct gagg_env *env)
{
	struct gagg_shard *sh = vis->sh;
	const struct gagg_geom *g = vis->g;
	struct gagg_chan *ch = vis->ch;
	u64 now = vis->now;
	bool starved = false, more = false;
	u64 base = ch->base;
	u32 l, h;

	gagg_ring_finish(vis);
	if (ch->repair_at <= now)
		more = gagg_repair_serve(vis);
	if (ch->pull_at <= now)
		gagg_gap_pull(vis);
	for (l = 0; l < ch->nlocals; l++) {
		u64 filled = env->filled(env->ctx, ch, l), end;

		if (gagg_shard_spare(sh) < GAGG_ACTS_STEP)
			return true;
		push_refill_local(vis, env, l, filled);
		end = gagg_min64(ch->local[l].issued, ch->base + g->window);
		for (h = 0; filled < end && h < ch->nhomes; h++)
			starved |= gagg_chan_way(ch, l, h)->next.v >= filled &&
				   gagg_chan_way(ch, l, h)->next.v < end;
	}
	/* no call says that the trainer has filled more: look again */
	if (!starved)
		ch->poll_at = GAGG_NEVER;
	else if (ch->poll_at > now + ch->poll_wait)
		ch->poll_at = now + ch->poll_wait;
	/* A local contribution may have completed a chunk that is homed here, which moves the
	 * window: ways that had their turn before may go on.
	 */
	return more || gagg_shard_spare(sh) < GAGG_ACTS_STEP || ch->base != base;
}
