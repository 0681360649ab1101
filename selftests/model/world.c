// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "world.h"

#define OPS_MAX		64
#define FLIGHT_MAX	65536
#define BODY		(WORLD_LANES * 4 > sizeof(struct gagg_ack) ? \
			 WORLD_LANES * 4 : sizeof(struct gagg_ack))
#define TIME_MAX	(600 * GAGG_SEC)
#define DELAY		(50 * GAGG_USEC)

struct packet {
	u64 at;
	u64 order;
	u8 from, to, shard, ce;
	u8 hdr[GAGG_WIRE_HDRLEN];
	u8 body[BODY];
	u32 len;
};

struct trainer {
	u64 filled;		/* what the kernel sees */
	u64 read;		/* virtual chunks read */
	u32 next_op;
	u64 done_in[4];
	u64 start_at;
	struct gagg_cdesc *desc;
	s32 *contrib;
};

struct chan_host {
	struct gagg_chan *part[4];
	s32 *result;
	s32 *acc[4];		/* by shard: shards are not in step */
	struct gagg_rdesc *rdesc;
	u64 *rv;		/* virtual chunk that the slot holds, + 1 */
	struct trainer trainer[GAGG_LOCALS];
};

struct host {
	struct world *w;
	u32 id;
	struct gagg_geom g;
	struct gagg_shard *sh[4];
	struct chan_host c[WORLD_CHANS];
	u32 turn;
};

/* computed once for all hosts */
struct reference {
	s64 lanes[WORLD_LANES];
	struct gagg_rdesc desc;
	bool known;
};

struct world {
	struct world_config cfg;
	u64 rng, now, order, datagrams;
	u64 members[WORLD_CHANS];
	u64 total[WORLD_CHANS];
	u64 op_end[WORLD_CHANS][OPS_MAX];
	u16 op_last[WORLD_CHANS][OPS_MAX];
	struct reference *ref[WORLD_CHANS];
	struct host *host;
	struct packet *flight;
	u32 nflight;
	char error[400];
};

static u64 rnd(struct world *w)
{
	w->rng += 0x9e3779b97f4a7c15ULL;
	return gagg_mix64(w->rng, 1);
}

static bool chance(struct world *w, u32 permille)
{
	return permille && rnd(w) % 1000 < permille;
}

static void __attribute__((format(printf, 2, 3))) world_fail(struct world *w, const char *fmt, ...)
{
	va_list ap;

	if (w->error[0])
		return;
	va_start(ap, fmt);
	vsnprintf(w->error, sizeof(w->error), fmt, ap);
	va_end(ap);
}

/* --- what the trainers contribute: a function of (rank, channel, chunk) --- */

static u64 draw(const struct world *w, u32 rank, u32 c, u64 v, u32 what)
{
	return gagg_mix64(gagg_mix64(w->cfg.seed * 64 + rank, v), c * 1000 + what);
}

static struct gagg_cdesc contribution(const struct world *w, u32 rank, u32 c, u64 v, s32 *lanes)
{
	struct gagg_cdesc d = { 0 };
	u64 x = draw(w, rank, c, v, 10);
	u32 i;

	d.exp = w->cfg.raw ? 0 : 100 + draw(w, rank, c, v, 1) % (w->cfg.exps + 1);
	d.want = d.exp ? d.exp - draw(w, rank, c, v, 2) % 3 : draw(w, rank, c, v, 2) % 28;
	if (draw(w, rank, c, v, 3) % 1000 < w->cfg.zeros) {
		d.flags |= GAGG_C_ZERO;
		d.want = 0;
	} else if (draw(w, rank, c, v, 4) % 1000 < w->cfg.nonfinite) {
		d.flags |= GAGG_C_NONFINITE;
	}
	if (draw(w, rank, c, v, 5) % 1000 < w->cfg.noresult)
		d.flags |= GAGG_C_NORESULT;
	for (i = 0; i < WORLD_LANES; i++)
		lanes[i] = (s32)((x = x * 6364136223846793005ULL + 1) >> 32) >> 6;
	return d;
}

static void compute(const struct world *w, u32 c, u64 v, s64 *lanes, struct gagg_rdesc *d)
{
	u64 left;
	u32 i, zexp = 0;
	bool any = false;
	s32 q[WORLD_LANES];

	d->nonfinite = 0xff;
	for (left = w->members[c]; left; left &= left - 1) {
		u32 rank = gagg_lowest(left);
		struct gagg_cdesc k = contribution(w, rank, c, v, q);

		d->contributors++;
		if (k.want > d->want)
			d->want = k.want;
		if ((k.flags & GAGG_C_NONFINITE) && rank < d->nonfinite)
			d->nonfinite = rank;
		if (k.flags & (GAGG_C_ZERO | GAGG_C_NONFINITE)) {
			if (k.exp > zexp)
				zexp = k.exp;
			continue;
		}
		any = true;
		if (k.exp > d->exp)
			d->exp = k.exp;
	}
	if (!any)
		d->exp = zexp;
	if (d->nonfinite != 0xff)
		d->flags = GAGG_C_NONFINITE;
	else if (!any)
		d->flags = GAGG_C_ZERO;
	for (left = w->members[c]; left; left &= left - 1) {
		struct gagg_cdesc k = contribution(w, gagg_lowest(left), c, v, q);

		if (k.flags & (GAGG_C_ZERO | GAGG_C_NONFINITE))
			continue;
		for (i = 0; i < WORLD_LANES; i++) {
			u32 s = d->exp - k.exp;
			s64 down = s ? (s64)q[i] >> s : q[i];
			s64 rest = (s64)q[i] - down * ((s64)1 << s);
			s64 half = s ? (s64)1 << (s - 1) : 1;

			/* to nearest, ties to even: another way than the core's */
			if (rest > half || (s && rest == half && (down & 1)))
				down++;
			lanes[i] += down;
		}
	}
}

/* what the result of (c, v) must be */
static const struct reference *reference(const struct world *w, u32 c, u64 v)
{
	struct reference *r = &w->ref[c][v];

	if (!r->known)
		compute(w, c, v, r->lanes, &r->desc);
	r->known = true;
	return r;
}

/* --- one host --- */

static struct gagg_chan *env_chan(void *ctx, u16 id)
{
	struct gagg_chan **parts = ctx;

	return id < WORLD_CHANS ? parts[id] : NULL;
}

struct env_ctx {
	struct gagg_chan *parts[WORLD_CHANS];
	struct host *h;
};

static u64 env_filled(void *ctx, struct gagg_chan *ch, u32 local)
{
	struct env_ctx *e = ctx;

	return e->h->c[ch->id].trainer[local].filled;
}

static struct gagg_cdesc env_desc(void *ctx, struct gagg_chan *ch, u32 local, u32 slot)
{
	struct env_ctx *e = ctx;

	return e->h->c[ch->id].trainer[local].desc[slot];
}

static void env_of(struct host *h, u32 s, struct env_ctx *c, struct gagg_env *env)
{
	u32 i;

	memset(c, 0, sizeof(*c));
	for (i = 0; i < h->w->cfg.chans; i++)
		c->parts[i] = h->c[i].part[s];
	c->h = h;
	env->ctx = c;
	env->chan = env_chan;
	env->filled = env_filled;
	env->desc = env_desc;
}

/* --- the network: a heap of datagrams by the time of their arrival --- */

static bool sooner(const struct packet *a, const struct packet *b)
{
	return a->at != b->at ? a->at < b->at : a->order < b->order;
}

static void flight_push(struct world *w, const struct packet *p)
{
	u32 i = w->nflight++;

	for (; i && sooner(p, &w->flight[(i - 1) / 2]); i = (i - 1) / 2)
		w->flight[i] = w->flight[(i - 1) / 2];
	w->flight[i] = *p;
}

static void flight_pop(struct world *w, struct packet *p)
{
	const struct packet *last = &w->flight[--w->nflight];
	u32 i = 0, k;

	*p = w->flight[0];
	for (; (k = 2 * i + 1) < w->nflight; i = k) {
		if (k + 1 < w->nflight && sooner(&w->flight[k + 1], &w->flight[k]))
			k++;
		if (!sooner(&w->flight[k], last))
			break;
		w->flight[i] = w->flight[k];
	}
	w->flight[i] = *last;
}

static void put(struct host *h, u32 to, u32 s, struct gagg_msg *m, const void *body, u32 len)
{
	struct world *w = h->w;
	u32 copies = 1 + chance(w, w->cfg.dup);

	m->len = len;
	w->datagrams++;
	if (chance(w, w->cfg.loss))
		return;
	while (copies--) {
		struct packet p = {
			.at = w->now + DELAY + (w->cfg.jitter ? rnd(w) % w->cfg.jitter : 0),
			.order = w->order++,
			.from = (u8)h->id,
			.to = (u8)to,
			.shard = (u8)s,
			.len = len,
		};

		if (w->nflight == FLIGHT_MAX) {
			world_fail(w, "storm: %u datagrams in flight", w->nflight);
			return;
		}
		gagg_wire_build(p.hdr, m);
		memcpy(p.body, body, len);
		flight_push(w, &p);
	}
}

static void do_publish(struct host *h, u32 c, u32 s, const struct gagg_publish *p)
{
	struct world *w = h->w;
	struct chan_host *k = &h->c[c];
	struct gagg_chan *ch = k->part[s];
	s32 *res = &k->result[p->slot * WORLD_LANES];
	u64 v = (u64)(p->round - 1) * h->g.ring + p->slot;
	struct gagg_rdesc want, *rd = &k->rdesc[p->slot];
	const struct reference *ref;
	const void *src = p->from_acc ? &k->acc[s][(p->slot & (h->g.window - 1)) * WORLD_LANES] :
			  p->placed ? res : NULL;
	u32 l, i;

	for (l = 0; l < ch->nlocals; l++)
		if (k->rv[p->slot] > k->trainer[l].read)
			world_fail(w, "host %u: slot %u overwritten unread", h->id, p->slot);
	if (k->rv[p->slot] && k->rv[p->slot] != v + 1 - h->g.ring)
		world_fail(w, "host %u: round %u after %llu", h->id, p->round,
			   (unsigned long long)k->rv[p->slot]);
	for (l = 0; l < ch->nlocals; l++) {
		const s32 *q = &k->trainer[l].contrib[p->slot * WORLD_LANES];

		if (!(p->locals & (1U << l)))
			continue;
		gagg_reduce_chunk(p->laneop, res, src, q, p->lanes,
				  p->raw ? 0 : p->exp - gagg_chan_pushed(ch, p->slot, l)->exp);
		src = res;
	}
	if (src && src != res)
		memcpy(res, src, p->lanes * 4);
	k->rv[p->slot] = v + 1;
	rd->published = p->round;

	ref = reference(w, c, v);
	want = ref->desc;
	if (p->contributors != want.contributors && !(p->flags & GAGG_C_NORESULT))
		world_fail(w, "host %u chunk %llu: %u contributors", h->id,
			   (unsigned long long)v, p->contributors);
	if (p->flags & GAGG_C_NORESULT)
		return;
	if (p->exp != want.exp || p->want != want.want ||
	    (p->flags & ~GAGG_C_OVERFLOW) != want.flags ||
	    ((want.flags & GAGG_C_NONFINITE) && p->nonfinite != want.nonfinite))
		world_fail(w, "host %u chunk %llu: exp %u want %u flags %x, not %u %u %x", h->id,
			   (unsigned long long)v, p->exp, p->want, p->flags, want.exp, want.want,
			   want.flags);
	for (i = 0; i < p->lanes; i++)
		if (res[i] != (s32)ref->lanes[i])
			world_fail(w, "host %u chan %u chunk %llu lane %u: %d, not %lld", h->id, c,
				   (unsigned long long)v, i, res[i], (long long)ref->lanes[i]);
}

static void drain(struct host *h, u32 s)
{
	struct gagg_shard *sh = h->sh[s];
	const struct gagg_act *a;

	if (sh->nacts > GAGG_ACTS - 2)
		world_fail(h->w, "host %u: %u actions", h->id, sh->nacts);
	while ((a = gagg_shard_act(sh))) {
		struct chan_host *k = &h->c[a->channel];
		struct gagg_msg m = a->m;
		u64 left;

		switch (a->type) {
		case GAGG_ACT_SEND_CONTRIB:
			put(h, a->node, s, &m,
			    &k->trainer[a->local].contrib[m.chunk * WORLD_LANES], m.lanes * 4);
			break;
		case GAGG_ACT_SEND_RESULT:
			for (left = a->nodes; left; left &= left - 1)
				put(h, gagg_lowest(left), s, &m,
				    &k->result[m.chunk * WORLD_LANES], m.lanes * 4);
			break;
		case GAGG_ACT_SEND_CTRL:
			put(h, a->node, s, &m, &a->ack, m.len);
			break;
		case GAGG_ACT_PUBLISH:
			do_publish(h, a->channel, s, &a->pub);
			break;
		case GAGG_ACT_OP_DONE:
			k->trainer[a->local].done_in[s] = a->number;
			break;
		default:
			world_fail(h->w, "host %u: action %u", h->id, a->type);
		}
	}
}

static void refill(struct host *h, u32 s)
{
	struct env_ctx c;
	struct gagg_env env;
	u32 i;
	bool more;

	env_of(h, s, &c, &env);
	/* in turns: what a path has room for goes to who asks first */
	h->turn++;
	for (i = 0; i < h->w->cfg.chans; i++) {
		struct chan_host *k = &h->c[(h->turn + i) % h->w->cfg.chans];

		do {
			more = gagg_chan_refill(h->sh[s], &h->g, &env, k->part[s], h->w->now);
			drain(h, s);
		} while (more);
	}
	gagg_shard_flush(h->sh[s], &h->g);
	drain(h, s);
}

static void receive(struct host *h, const struct packet *p)
{
	struct gagg_shard *sh = h->sh[p->shard];
	u8 raw[GAGG_WIRE_HDRLEN + BODY];
	struct gagg_todo todo;
	struct env_ctx c;
	struct gagg_env env;
	struct gagg_msg m;
	enum gagg_rx rx;
	enum gagg_drop bad;

	env_of(h, p->shard, &c, &env);
	memcpy(raw, p->hdr, sizeof(p->hdr));
	memcpy(raw + sizeof(p->hdr), p->body, p->len);
	bad = gagg_wire_parse(raw, sizeof(p->hdr) + p->len, &m);
	if (bad) {
		world_fail(h->w, "host %u: type %u does not parse: %d", h->id, p->hdr[3], bad);
		return;
	}
	do {
		rx = gagg_shard_rx(sh, &h->g, &env, p->from, &m, p->body, p->ce, h->w->now, &todo);
		if (rx == GAGG_RX_ADD) {
			struct chan_host *k = &h->c[m.channel];
			s32 *acc = &k->acc[p->shard][todo.acc * WORLD_LANES];
			s32 *dst = todo.to_result ? &k->result[todo.slot * WORLD_LANES] : acc;

			gagg_reduce_chunk(todo.laneop, dst, todo.store ? NULL : acc, p->body,
					  todo.lanes, todo.shift);
		}
		if (rx == GAGG_RX_PLACE)
			memcpy(&h->c[m.channel].result[todo.slot * WORLD_LANES], p->body,
			       todo.lanes * 4);
		if (rx == GAGG_RX_ADD || rx == GAGG_RX_PLACE)
			gagg_shard_commit(sh, &h->g, &todo, h->w->now);
		if (rx == GAGG_RX_DROP && todo.drop != GAGG_DROP_ROUND)
			world_fail(h->w, "host %u dropped type %u: %d", h->id, m.type, todo.drop);
		drain(h, p->shard);
	} while (rx == GAGG_RX_AGAIN);
	refill(h, p->shard);
}

/* --- trainers --- */

static bool trainer_step(struct host *h, u32 c, u32 l)
{
	struct world *w = h->w;
	struct chan_host *k = &h->c[c];
	struct trainer *t = &k->trainer[l];
	u32 rank = k->part[0]->local[l].rank, ring = h->g.ring, s;
	u64 filled = t->filled;
	bool moved = false;

	if (w->now < t->start_at)
		return false;
	while (t->read < w->total[c] && k->rv[t->read % ring] == t->read + 1) {
		t->read++;
		moved = true;
	}
	while (filled < w->total[c] && filled < t->read + ring) {
		u32 slot = (u32)(filled % ring);

		t->desc[slot] = contribution(w, rank, c, filled, &t->contrib[slot * WORLD_LANES]);
		filled++;
		/* a trainer is slow now and then */
		if (rnd(w) % 64 == 0)
			break;
	}
	moved |= filled != t->filled;
	t->filled = filled;
	while (t->next_op < w->cfg.ops && t->next_op < t->done_in[0] + GAGG_OPS) {
		u32 op = t->next_op;
		u64 chunks = w->op_end[c][op] - (op ? w->op_end[c][op - 1] : 0);
		bool ok = true;

		for (s = 0; s < w->cfg.shards; s++) {
			struct gagg_local *lo = &k->part[s]->local[l];

			ok &= lo->numbers - lo->finished < GAGG_OPS;
		}
		if (!ok)
			break;
		for (s = 0; s < w->cfg.shards; s++)
			gagg_chan_submit(k->part[s], l, op, GAGG_LANEOP(0, GAGG_OP_ADD),
					 w->cfg.raw ? GAGG_OP_RAW : 0, w->op_last[c][op], chunks);
		t->next_op++;
		moved = true;
		for (s = 0; s < w->cfg.shards; s++)
			refill(h, s);
	}
	return moved;
}

static bool finished(const struct world *w)
{
	u32 i, c, l, s;

	for (i = 0; i < w->cfg.nodes; i++)
		for (c = 0; c < w->cfg.chans; c++)
			for (l = 0; l < w->host[i].c[c].part[0]->nlocals; l++) {
				const struct trainer *t = &w->host[i].c[c].trainer[l];

				if (t->read < w->total[c])
					return false;
				for (s = 0; s < w->cfg.shards; s++)
					if (t->done_in[s] < w->cfg.ops)
						return false;
			}
	return true;
}

static void fire_timers(struct host *h)
{
	struct env_ctx c;
	struct gagg_env env;
	u32 s, i;

	for (s = 0; s < h->w->cfg.shards; s++) {
		bool due = gagg_shard_deadline(h->sh[s], &h->g) <= h->w->now;

		for (i = 0; i < h->w->cfg.chans; i++)
			due |= gagg_chan_deadline(h->c[i].part[s]) <= h->w->now;
		if (!due)
			continue;
		env_of(h, s, &c, &env);
		gagg_shard_timer(h->sh[s], &h->g, &env, h->w->now);
		drain(h, s);
		for (i = 0; i < h->w->cfg.chans; i++) {
			gagg_chan_timer(h->sh[s], &h->g, h->c[i].part[s], h->w->now);
			drain(h, s);
		}
		refill(h, s);
	}
}

static u64 next_time(const struct world *w)
{
	u64 at = GAGG_NEVER;
	u32 i, s, c, l;

	if (w->nflight)
		at = w->flight[0].at;
	for (i = 0; i < w->cfg.nodes; i++)
		for (s = 0; s < w->cfg.shards; s++) {
			const struct host *h = &w->host[i];

			at = gagg_min64(at, gagg_shard_deadline(h->sh[s], &h->g));
			for (c = 0; c < w->cfg.chans; c++) {
				at = gagg_min64(at, gagg_chan_deadline(h->c[c].part[s]));
				for (l = 0; l < h->c[c].part[s]->nlocals; l++)
					if (h->c[c].trainer[l].start_at > w->now)
						at = gagg_min64(at, h->c[c].trainer[l].start_at);
			}
		}
	return at;
}

static void deliver(struct world *w)
{
	struct packet p;

	while (w->nflight && w->flight[0].at <= w->now && !w->error[0]) {
		flight_pop(w, &p);
		receive(&w->host[p.to], &p);
	}
}

/* what the counters must say at the end */
static void check_counts(struct world *w)
{
	const struct world_config *cfg = &w->cfg;
	u64 chunks = 0, contribs = 0;
	u32 c, k;

	for (c = 0; c < cfg->chans; c++) {
		chunks += w->total[c];
		contribs += w->total[c] * gagg_weight64(w->members[c]);
	}
	if (world_count(w, GAGG_N_CHUNKS) != chunks)
		world_fail(w, "%llu chunks were published, not %llu",
			   (unsigned long long)world_count(w, GAGG_N_CHUNKS),
			   (unsigned long long)chunks);
	if (cfg->loss || cfg->dup || cfg->jitter)
		return;
	/* nothing was lost: nothing is said twice */
	for (k = 0; k < GAGG_N_MAX; k++) {
		bool repeats = k == GAGG_N_PULLS || k == GAGG_N_REPAIRS ||
			       k == GAGG_N_DUPLICATES || k == GAGG_N_STALE;

		repeats |= !cfg->exps && (k == GAGG_N_VOIDS || k == GAGG_N_RETRANSMITS);
		/* what waits in its own queue for long asks, too */
		repeats |= !cfg->late && cfg->cwnd >= cfg->window && k == GAGG_N_QUERIES;
		if (repeats && world_count(w, k))
			world_fail(w, "no loss, but counter %u is %llu", k,
				   (unsigned long long)world_count(w, k));
	}
	if (!cfg->exps && world_count(w, GAGG_N_CONTRIBUTIONS) != contribs)
		world_fail(w, "%llu contributions were counted, not %llu",
			   (unsigned long long)world_count(w, GAGG_N_CONTRIBUTIONS),
			   (unsigned long long)contribs);
}

int world_run(struct world *w)
{
	u32 i, c, l;
	bool moved;

	while (!w->error[0] && !finished(w)) {
		do {
			moved = false;
			for (i = 0; i < w->cfg.nodes; i++)
				for (c = 0; c < w->cfg.chans; c++)
					for (l = 0; l < w->host[i].c[c].part[0]->nlocals; l++)
						moved |= trainer_step(&w->host[i], c, l);
		} while (moved && !w->error[0]);
		if (finished(w))
			break;
		w->now = next_time(w);
		if (w->now > TIME_MAX) {
			world_fail(w, "stuck: nothing will happen before %llu s",
				   (unsigned long long)(w->now / GAGG_SEC));
			break;
		}
		deliver(w);
		for (i = 0; i < w->cfg.nodes; i++)
			fire_timers(&w->host[i]);
	}
	if (!w->error[0])
		check_counts(w);
	return w->error[0] ? -1 : 0;
}

static void host_init(struct world *w, u32 id)
{
	const struct world_config *cfg = &w->cfg;
	struct host *h = &w->host[id];
	struct gagg_geom *g = &h->g;
	u32 n, r, s, c, l;

	h->w = w;
	h->id = id;
	g->group = 1;
	g->self = (u8)id;
	g->nodes = (u8)cfg->nodes;
	g->lanes = WORLD_LANES;
	g->stripe = (u16)cfg->stripe;
	g->shards = (u16)cfg->shards;
	g->ring = cfg->ring;
	g->window = cfg->window;
	g->cwnd = cfg->cwnd;
	g->aggregators = cfg->home_nodes;
	memset(g->node_of, 0xff, sizeof(g->node_of));
	for (n = 0; n < cfg->nodes; n++)
		for (r = 0; r < cfg->per_node; r++) {
			u32 rank = n * cfg->per_node + r;

			g->node_of[rank] = (u8)n;
			g->weight[rank] = 1;
			g->ranks_of[n] |= GAGG_BIT(rank);
			if (cfg->worker_nodes & GAGG_BIT(n))
				g->workers |= GAGG_BIT(rank);
		}
	for (c = 0; c < cfg->chans; c++) {
		w->members[c] = g->workers & (c == 0 ? ~0ULL : c == 1 ? 0x5555555555555555ULL :
					      0xaaaaaaaaaaaaaaaaULL);
		h->c[c].result = calloc(g->ring * WORLD_LANES, 4);
		for (s = 0; s < cfg->shards; s++)
			h->c[c].acc[s] = calloc(g->window * WORLD_LANES, 4);
		h->c[c].rdesc = calloc(g->ring, sizeof(struct gagg_rdesc));
		h->c[c].rv = calloc(g->ring, sizeof(u64));
	}
	for (s = 0; s < cfg->shards; s++) {
		h->sh[s] = calloc(1, gagg_shard_bytes(g));
		gagg_shard_init(h->sh[s], g, s, 0);
		gagg_shard_start(h->sh[s], g, 7, 0x1234567890abcdefULL);
		for (c = 0; c < cfg->chans; c++)
			h->c[c].part[s] = gagg_chan_init(calloc(1, gagg_chan_bytes(g, w->members[c])),
							 g, s, (u16)c, w->members[c]);
	}
	for (c = 0; c < cfg->chans; c++)
		for (l = 0; l < h->c[c].part[0]->nlocals; l++) {
			struct trainer *t = &h->c[c].trainer[l];

			t->desc = calloc(g->ring, sizeof(*t->desc));
			t->contrib = calloc(g->ring * WORLD_LANES, 4);
			if (id == cfg->nodes - 1 && l == 0)
				t->start_at = cfg->late;
		}
}

struct world *world_new(const struct world_config *cfg)
{
	struct world *w = calloc(1, sizeof(*w));
	u32 c, k, i;

	w->cfg = *cfg;
	w->rng = cfg->seed;
	if (!w->cfg.worker_nodes)
		w->cfg.worker_nodes = ~0ULL >> (64 - cfg->nodes);
	if (!w->cfg.home_nodes)
		w->cfg.home_nodes = ~0ULL >> (64 - cfg->nodes);
	w->flight = calloc(FLIGHT_MAX, sizeof(*w->flight));
	w->host = calloc(cfg->nodes, sizeof(*w->host));
	for (c = 0; c < cfg->chans; c++)
		for (k = 0; k < cfg->ops; k++) {
			w->total[c] += 1 + rnd(w) % cfg->max_chunks;
			w->op_end[c][k] = w->total[c];
			w->op_last[c][k] = 1 + rnd(w) % WORLD_LANES;
		}
	for (c = 0; c < cfg->chans; c++)
		w->ref[c] = calloc(w->total[c], sizeof(*w->ref[c]));
	for (i = 0; i < cfg->nodes; i++)
		host_init(w, i);
	return w;
}

void world_free(struct world *w)
{
	u32 i, c, s, l;

	for (i = 0; i < w->cfg.nodes; i++) {
		struct host *h = &w->host[i];

		for (c = 0; c < w->cfg.chans; c++) {
			for (l = 0; l < h->c[c].part[0]->nlocals; l++) {
				free(h->c[c].trainer[l].desc);
				free(h->c[c].trainer[l].contrib);
			}
			for (s = 0; s < w->cfg.shards; s++) {
				free(h->c[c].part[s]);
				free(h->c[c].acc[s]);
			}
			free(h->c[c].result);
			free(h->c[c].rdesc);
			free(h->c[c].rv);
		}
		for (s = 0; s < w->cfg.shards; s++)
			free(h->sh[s]);
	}
	for (c = 0; c < w->cfg.chans; c++)
		free(w->ref[c]);
	free(w->host);
	free(w->flight);
	free(w);
}

const char *world_error(const struct world *w)
{
	return w->error;
}

u64 world_count(const struct world *w, enum gagg_count what)
{
	u64 n = 0;
	u32 i, s;

	for (i = 0; i < w->cfg.nodes; i++)
		for (s = 0; s < w->cfg.shards; s++)
			n += w->host[i].sh[s]->n[what];
	return n;
}

u64 world_datagrams(const struct world *w)
{
	return w->datagrams;
}

u64 world_time(const struct world *w)
{
	return w->now;
}
