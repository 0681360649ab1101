// SPDX-License-Identifier: GPL-2.0
/*
 * A host of the world: what the module does around the core.
 */
#include <stdlib.h>
#include <string.h>
#include "world_int.h"
#include "agent/conf/sync_text.h"

struct env_ctx {
	struct host *h;
	u32 shard;
};

static struct gagg_chan *env_chan(void *ctx, u16 id)
{
	struct env_ctx *e = ctx;

	return id < e->h->w->cfg.chans ? e->h->c[id].part[e->shard] : NULL;
}

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
	c->h = h;
	c->shard = s;
	env->ctx = c;
	env->chan = env_chan;
	env->filled = env_filled;
	env->desc = env_desc;
}

/* every local rank has read what the slot holds */
static void check_read(struct host *h, u32 c, u32 slot)
{
	struct chan_host *k = &h->c[c];
	u32 l;

	for (l = 0; l < k->part[0]->nlocals; l++)
		if (k->holds[slot] > k->trainer[l].read)
			world_fail(h->w, "host %u: slot %u overwritten unread", h->id, slot);
}

static u32 op_of(const struct world *w, u32 c, u64 v)
{
	u32 op = 0;

	while (w->op_end[c][op] <= v)
		op++;
	return op;
}

u16 world_chunk_lanes(const struct world *w, u32 c, u64 v)
{
	u32 op = op_of(w, c, v);

	return v + 1 == w->op_end[c][op] ? w->op_last[c][op] : WORLD_LANES;
}

static void check_publish(struct host *h, u32 c, u64 v, const struct gagg_publish *p)
{
	const struct reference *ref = world_reference(h->w, c, v);
	const struct gagg_rdesc *want = &ref->desc;
	struct chan_host *k = &h->c[c];
	s32 lanes[WORLD_LANES];
	s32 *res = &(p->hold == GAGG_HOLD_PUT ? k->held : k->result)[p->slot * WORLD_LANES];
	struct world *w = h->w;
	u32 l, i;

	if (p->contributors != want->contributors)
		world_fail(w, "host %u chunk %llu: %u contributors", h->id, (ull)v,
			   p->contributors);
	if (p->exp != want->exp || p->want != want->want ||
	    (p->flags & ~GAGG_C_NORESULT) != want->flags ||
	    ((want->flags & GAGG_C_NONFINITE) && p->nonfinite != want->nonfinite))
		world_fail(w, "host %u chunk %llu: exp %u want %u flags %x, not %u %u %x", h->id,
			   (ull)v, p->exp, p->want, p->flags, want->exp, want->want, want->flags);
	if (p->flags & GAGG_C_NORESULT) {
		for (l = 0; l < k->part[0]->nlocals; l++)
			if (!(world_contribution(w, k->part[0]->local[l].rank, c, v, lanes).flags &
			      GAGG_C_NORESULT))
				world_fail(w, "host %u chunk %llu: withheld", h->id, (ull)v);
	} else if (p->lanes != (want->flags & (GAGG_C_ZERO | GAGG_C_NONFINITE) ? 0 :
				 world_chunk_lanes(w, c, v))) {
		world_fail(w, "host %u chunk %llu: %u lanes", h->id, (ull)v, p->lanes);
	}
	for (i = 0; i < p->lanes; i++)
		if (res[i] != (s32)ref->lanes[i])
			world_fail(w, "host %u chan %u chunk %llu lane %u: %d, not %lld", h->id, c,
				   (ull)v, i, res[i], (long long)ref->lanes[i]);
}

/* a home has come to a decision */
static void decide(struct host *h, u32 c, u32 s, u64 v, const struct gagg_publish *p)
{
	const struct gagg_chan *ch = h->c[c].part[s];
	u64 bits = GAGG_CHAN_AT(ch, off_late, const struct gagg_late)[p->slot].bits;
	u64 members = h->w->members[c];
	u32 k = h->g.sync.arg[0], n = gagg_weight64(members);
	bool all = world_sig(op_of(h->w, c, v)) >> 28 != GAGG_K_ALLREDUCE || h->w->cfg.raw ||
		   (h->w->cfg.laneop && !world_narrow(h->w));

	if (v >= h->w->total[c] || h->w->decided[c][v] || (bits & ~members) ||
	    gagg_weight64(bits) < (all || k > n ? n : k)) {
		world_fail(h->w, "home %u chunk %llu: %llx of %llx, after %llx", h->id, (ull)v,
			   (ull)bits, (ull)members, (ull)h->w->decided[c][v]);
		return;
	}
	h->w->decided[c][v] = bits;
}

/* quorum: those of @h that are in a result */
static void check_counted(struct host *h, u32 c, u32 s, u64 v, const struct gagg_publish *p)
{
	const struct gagg_chan *ch = h->c[c].part[s];
	u64 in = h->g.quorum ? h->w->decided[c][v] : h->w->members[c];
	u32 l, mask = 0;

	for (l = 0; l < ch->nlocals; l++)
		if (in & GAGG_BIT(ch->local[l].rank))
			mask |= 1U << l;
	if (p->counted != mask)
		world_fail(h->w, "host %u chunk %llu: %x are counted, not %x", h->id, (ull)v,
			   p->counted, mask);
}

/* narrow lanes: what a result is worth */
static void check_shift(struct host *h, u32 c, u32 s, u64 v, const struct gagg_publish *p)
{
	const struct gagg_rdesc *want = &world_reference(h->w, c, v)->desc;
	struct gagg_rdesc rd;

	gagg_publish_desc(p, h->c[c].part[s], &rd);
	if (world_narrow(h->w) && p->lanes && p->hold != GAGG_HOLD_PUT &&
	    rd.nonfinite != want->nonfinite)
		world_fail(h->w, "host %u chunk %llu: shifted by %u, not %u", h->id, (ull)v,
			   rd.nonfinite, want->nonfinite);
}

static s32 *acc_at(struct host *h, u32 c, u32 s, u32 i)
{
	return &h->c[c].acc[s][(i * WORLD_LANES) << h->g.wire];
}

static void on_publish(struct host *h, u32 c, u32 s, const struct gagg_publish *p)
{
	struct chan_host *k = &h->c[c];
	struct gagg_chan *ch = k->part[s];
	bool hold = p->hold == GAGG_HOLD_PUT;
	s32 *held = &k->held[p->slot * WORLD_LANES];
	s32 *res = hold ? held : &k->result[p->slot * WORLD_LANES];
	u64 v = (u64)(p->round - 1) * h->g.ring + p->slot;
	s32 *acc = acc_at(h, c, s, p->slot & (h->g.window - 1));
	struct gagg_lanes lanes = { .result = res, .acc = acc };
	u32 l;

	if (hold)
		decide(h, c, s, v, p);
	else
		check_read(h, c, p->slot);
	if (v >= h->w->total[c] || (!hold &&
	    k->holds[p->slot] != (v < h->g.ring ? 0 : v + 1 - h->g.ring))) {
		world_fail(h->w, "host %u: slot %u has %llu, then round %u", h->id, p->slot,
			   (ull)k->holds[p->slot], p->round);
		return;
	}
	for (l = 0; l < ch->nlocals; l++)
		lanes.local[l] = &k->trainer[l].contrib[p->slot * WORLD_LANES];
	if (p->hold == GAGG_HOLD_TAKE)
		lanes.acc = held;
	if (p->lanes)
		gagg_publish_lanes(p, ch, &lanes, &gagg_loops);
	if (!hold) {
		k->holds[p->slot] = v + 1;
		k->lanes[p->slot] = p->lanes;
	}
	check_counted(h, c, s, v, p);
	check_publish(h, c, v, p);
	check_shift(h, c, s, v, p);
}

/* an op is done in shard s when its chunks there are */
static void on_op_done(struct host *h, u32 c, u32 s, u32 l, u64 number)
{
	struct chan_host *k = &h->c[c];
	struct trainer *t = &k->trainer[l];
	u64 v;

	if (number <= t->done_in[s] || number > t->next_op) {
		world_fail(h->w, "host %u: op %llu of %u done after %llu", h->id, (ull)number,
			   t->next_op, (ull)t->done_in[s]);
		return;
	}
	for (v = t->done_in[s] ? h->w->op_end[c][t->done_in[s] - 1] : 0;
	     v < h->w->op_end[c][number - 1]; v++)
		if (gagg_geom_shard(&h->g, k->part[s]->nhomes, v % h->g.ring) == s &&
		    k->holds[v % h->g.ring] <= v)
			world_fail(h->w, "host %u: op %llu done without chunk %llu", h->id,
				   (ull)number, (ull)v);
	t->done_in[s] = number;
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
			world_put(h, a->node, s, &m,
				  &k->trainer[a->local].contrib[m.chunk * WORLD_LANES],
				  m.lanes * 4);
			break;
		case GAGG_ACT_SEND_RESULT:
			if (gagg_lane_narrow(m.laneop))
				gagg_publish_shift(k->part[s], &m);
			for (left = a->nodes; left; left &= left - 1)
				world_put(h, gagg_lowest(left), s, &m,
					  &(h->g.quorum ? k->held : k->result)[m.chunk * WORLD_LANES],
					  m.lanes * 4);
			break;
		case GAGG_ACT_SEND_CTRL:
			world_put(h, a->node, s, &m, &a->ack, m.len);
			break;
		case GAGG_ACT_PUBLISH:
			on_publish(h, a->channel, s, &a->pub);
			break;
		case GAGG_ACT_OP_DONE:
			on_op_done(h, a->channel, s, a->local, a->number);
			break;
		default:
			world_fail(h->w, "host %u: action %u", h->id, a->type);
		}
	}
}

/* the core has worked */
static void has_news(struct host *h)
{
	h->news = true;
	h->due = 0;
}

void host_refill(struct host *h, u32 s)
{
	struct env_ctx c;
	struct gagg_env env;
	u32 i;
	bool more;

	has_news(h);
	env_of(h, s, &c, &env);
	/* in turns: what a path has room for goes to the channel that asks first */
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

/* does what the core has said of lanes; true if they were taken */
static bool take_lanes(struct host *h, const struct packet *p, enum gagg_rx rx,
		       const struct gagg_todo *todo)
{
	struct chan_host *k;

	if (p->life != h->w->life && rx == GAGG_RX_DROP)
		return false;
	if (p->life != h->w->life || rx == GAGG_RX_DROP)
		world_fail(h->w, "host %u dropped type %u: %d", h->id,
			   p->hdr[offsetof(struct gagg_hdr, type)], todo->drop);
	if (rx != GAGG_RX_ADD && rx != GAGG_RX_PLACE)
		return false;
	k = &h->c[todo->m.channel];
	if (rx == GAGG_RX_PLACE || todo->to_result)
		check_read(h, todo->m.channel, todo->slot);
	if (rx == GAGG_RX_ADD) {
		s32 *acc = acc_at(h, todo->m.channel, p->shard, todo->acc);
		s32 *dst = todo->to_result ? &k->result[todo->slot * WORLD_LANES] : acc;

		gagg_reduce_chunk(todo->laneop, dst, todo->first ? NULL : acc, p->body,
				  todo->lanes, todo->shift);
	} else {
		memcpy(&k->result[todo->slot * WORLD_LANES], p->body, todo->lanes * 4);
	}
	return true;
}

static void end_run(struct host *h)
{
	if (h->burst.in.vis.sh)
		drain(h, h->burst.in.vis.sh->index);
	h->burst.len = 0;
}

/* true if it follows what the host has received before, as in a burst */
static bool receive_next(struct host *h, const struct packet *p)
{
	struct gagg_burst *b = &h->burst;

	if (b->in.vis.sh != h->sh[p->shard] || b->in.node != p->from ||
	    !gagg_burst_follows(b, p->hdr, sizeof(p->hdr) + p->len))
		return false;
	b->in.vis.now = h->w->now;
	if (!take_lanes(h, p, gagg_burst_next(b), &b->in.todo))
		end_run(h);
	else if (gagg_shard_must_act(b->in.vis.sh, &h->g))
		drain(h, p->shard);
	return true;
}

void host_receive(struct host *h, const struct packet *p)
{
	u8 raw[GAGG_WIRE_HDRLEN + WORLD_BODY];
	struct gagg_burst *b = &h->burst;
	struct env_ctx c;
	struct gagg_env env;
	struct gagg_msg m;
	enum gagg_rx rx;
	enum gagg_drop bad;

	has_news(h);
	if (receive_next(h, p))
		return;
	end_run(h);
	env_of(h, p->shard, &c, &env);
	memcpy(raw, p->hdr, sizeof(p->hdr));
	memcpy(raw + sizeof(p->hdr), p->body, p->len);
	bad = gagg_wire_parse(raw, sizeof(p->hdr) + p->len, &m);
	if (bad) {
		world_fail(h->w, "host %u: type %u does not parse: %d", h->id, p->hdr[3], bad);
		return;
	}
	*b = (struct gagg_burst) {
		.in.vis = { .sh = h->sh[p->shard], .g = &h->g, .now = h->w->now },
		.in.node = p->from,
	};
	do {
		rx = gagg_burst_rx(b, &env, &m, p->body);
		if (take_lanes(h, p, rx, &b->in.todo))
			gagg_burst_commit(b, p->hdr);
		drain(h, p->shard);
	} while (rx == GAGG_RX_AGAIN);
	h->batch |= GAGG_BIT(p->shard);
}

void host_end_batch(struct host *h)
{
	end_run(h);
	for (; h->batch; h->batch &= h->batch - 1)
		host_refill(h, gagg_lowest(h->batch));
}

/* when the first of its timers is */
u64 host_due(struct host *h)
{
	u32 s, i;

	if (h->due)
		return h->due;
	h->due = GAGG_NEVER;
	for (s = 0; s < h->w->cfg.shards; s++) {
		h->due = gagg_min64(h->due, gagg_shard_deadline(h->sh[s], &h->g));
		for (i = 0; i < h->w->cfg.chans; i++)
			h->due = gagg_min64(h->due, gagg_chan_deadline(h->c[i].part[s]));
	}
	return h->due;
}

void host_timers(struct host *h)
{
	struct env_ctx c;
	struct gagg_env env;
	u32 s, i;

	if (host_due(h) > h->w->now)
		return;
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
		host_refill(h, s);
	}
}

static void init_geom(struct world *w, u32 id)
{
	const struct world_config *cfg = &w->cfg;
	struct gagg_geom *g = &w->host[id].g;
	struct gagg_sync_param sync;
	u32 n, r;

	g->group = 1;
	g->self = (u8)id;
	g->nodes = (u8)cfg->nodes;
	g->lanes = WORLD_LANES;
	g->wire = (u8)world_narrow(w);
	g->stripe = (u16)cfg->stripe;
	g->shards = (u16)cfg->shards;
	g->ring = cfg->ring;
	g->window = cfg->window;
	g->cwnd = cfg->cwnd;
	g->aggregators = cfg->home_nodes;
	sync_text_parse(cfg->sync ? cfg->sync : "bsp", &sync, NULL, 0);
	gagg_sync_apply(g, &sync);
	memset(g->node_of, 0xff, sizeof(g->node_of));
	for (n = 0; n < cfg->nodes; n++)
		for (r = 0; r < cfg->per_node; r++) {
			u32 rank = n * cfg->per_node + r;

			g->node_of[rank] = (u8)n;
			g->ranks_of[n] |= GAGG_BIT(rank);
			if (cfg->worker_nodes & GAGG_BIT(n))
				g->workers |= GAGG_BIT(rank);
		}
}

static void init_chan(struct host *h, u32 c)
{
	static const u64 some[] = { ~0ULL, 0x5555555555555555ULL, 0xaaaaaaaaaaaaaaaaULL };
	const struct world_config *cfg = &h->w->cfg;
	struct gagg_geom *g = &h->g;
	struct chan_host *k = &h->c[c];
	u64 members = g->workers & some[c];
	u32 s, l;

	h->w->members[c] = members;
	k->result = calloc(g->ring * WORLD_LANES, 4);
	k->held = calloc(g->ring * WORLD_LANES, 4);
	k->lanes = calloc(g->ring, sizeof(*k->lanes));
	k->holds = calloc(g->ring, sizeof(*k->holds));
	for (s = 0; s < cfg->shards; s++) {
		k->acc[s] = calloc(g->window * WORLD_LANES, 4 << g->wire);
		k->part[s] = gagg_chan_init(calloc(1, gagg_chan_bytes(g, members)), g, s,
					    (u16)c, members);
	}
	for (l = 0; l < k->part[0]->nlocals; l++) {
		struct trainer *t = &k->trainer[l];

		t->desc = calloc(g->ring, sizeof(*t->desc));
		t->contrib = calloc(g->ring * WORLD_LANES, 4);
		if (h->id == cfg->nodes - 1 && l == 0 &&
		    (!cfg->late_chans || (cfg->late_chans & (1U << c))))
			t->busy_until = h->w->now + cfg->late;
	}
}

void host_init(struct world *w, u32 id)
{
	struct host *h = &w->host[id];
	u32 s;

	h->w = w;
	h->id = id;
	init_geom(w, id);
	for (s = 0; s < w->cfg.shards; s++) {
		h->sh[s] = calloc(1, gagg_shard_bytes(&h->g));
		gagg_shard_init(h->sh[s], &h->g, s);
	}
	host_begin(h);
}

/* an epoch, with nothing of the last one but the shards' memory */
void host_begin(struct host *h)
{
	u32 s, c;

	for (s = 0; s < h->w->cfg.shards; s++) {
		memset(h->sh[s]->n, 0, sizeof(h->sh[s]->n));
		gagg_shard_start(h->sh[s], &h->g, h->w->epoch, h->w->cookie);
	}
	for (c = 0; c < h->w->cfg.chans; c++)
		init_chan(h, c);
	has_news(h);
}

void host_end(struct host *h)
{
	u32 c, s, l;

	for (c = 0; c < h->w->cfg.chans; c++) {
		struct chan_host *k = &h->c[c];

		for (l = 0; l < k->part[0]->nlocals; l++) {
			free(k->trainer[l].desc);
			free(k->trainer[l].contrib);
		}
		for (s = 0; s < h->w->cfg.shards; s++) {
			free(k->part[s]);
			free(k->acc[s]);
		}
		free(k->result);
		free(k->held);
		free(k->lanes);
		free(k->holds);
		memset(k, 0, sizeof(*k));
	}
	for (s = 0; s < h->w->cfg.shards; s++)
		gagg_shard_stop(h->sh[s]);
	h->burst.len = 0;
	h->batch = 0;
}

void host_free(struct host *h)
{
	u32 s;

	host_end(h);
	for (s = 0; s < h->w->cfg.shards; s++)
		free(h->sh[s]);
}
