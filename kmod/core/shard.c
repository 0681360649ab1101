// SPDX-License-Identifier: GPL-2.0
/*
 * The door of a shard: a datagram that arrives is given to the path or the channel that it is of.
 */
#include "cookie.h"
#include "kind.h"
#include "out.h"
#include "ring/internal.h"

#define TRIP_MIN	(2 * GAGG_PATH_RTO_MIN)

u64 gagg_shard_bytes(const struct gagg_geom *g)
{
	return sizeof(struct gagg_shard) + (u64)g->nodes * sizeof(struct gagg_path);
}

static void shard_init_paths(struct gagg_shard *sh, const struct gagg_geom *g)
{
	u32 n;

	for (n = 0; n < g->nodes; n++) {
		gagg_path_init(&sh->path[n], g->cwnd);
		sh->path[n].idle_after = g->idle_after;
	}
}

void gagg_shard_init(struct gagg_shard *sh, const struct gagg_geom *g, u32 index)
{
	sh->index = (u8)index;
	shard_init_paths(sh, g);
}

void gagg_shard_start(struct gagg_shard *sh, const struct gagg_geom *g, u64 epoch, u64 cookie)
{
	gagg_shard_stop(sh);
	shard_init_paths(sh, g);
	memset(sh->wide, 0, sizeof(sh->wide));
	sh->epoch = epoch;
	sh->cookie = cookie;
	sh->cookie_of_results = gagg_cookie_of_results(cookie);
	sh->told = 0;
	sh->running = 1;
}

/*
 * The first timeouts of paths whose round trip HELLO has measured.
 * 1. A first round trip R means a timeout of R + 4 R/2 (RFC 6298 section 2.2).
 * 2. It is TRIP_MIN at least: HELLO has met no queue, and now all hosts begin at once.
 * 3. A host that has not answered yet counts as the farthest of the others: most often it is about
 *    as far away.
 */
void gagg_shard_trips(struct gagg_shard *sh, const struct gagg_geom *g,
		      const u32 trip[GAGG_NODES])
{
	u64 longest = 0;
	u32 n;

	for (n = 0; n < g->nodes; n++)
		longest = gagg_max64(longest, trip[n]);
	for (n = 0; n < g->nodes && longest; n++) {
		u64 rto = 3 * (trip[n] ? trip[n] : longest);

		sh->told |= (u64)!!trip[n] << n;
		rto = gagg_min64(gagg_max64(rto, TRIP_MIN), GAGG_PATH_RTO_INIT);
		gagg_path_hint(&sh->path[n], rto);
	}
}

void gagg_shard_stop(struct gagg_shard *sh)
{
	u32 i;

	sh->running = 0;
	sh->head = 0;
	sh->nacts = 0;
	sh->more = 0;
	for (i = 0; i < GAGG_NODES; i++)
		sh->result_run[i].m.run = 0;
	for (i = 0; i < GAGG_RANKS; i++)
		sh->resend_run[i].m.run = 0;
}

/* the context of what the path calls back */
struct sender {
	const struct gagg_geom *g;
	const struct gagg_env *env;
	struct gagg_chan *ch;	/* of the datagram before */
};

static struct gagg_chan *shard_chan_of(struct sender *c, const struct gagg_sent *s)
{
	if (!c->ch || c->ch->id != s->channel)
		c->ch = c->env->chan(c->env->ctx, s->channel);
	return c->ch;
}

static void shard_on_acked(void *ctx, const struct gagg_sent *s)
{
	struct sender *c = ctx;
	struct gagg_chan *ch = shard_chan_of(c, s);

	if (ch)
		gagg_kind(ch->store, acked, c->g, ch, s);
}

static bool shard_is_over(void *ctx, const struct gagg_sent *s)
{
	struct sender *c = ctx;
	struct gagg_chan *ch = shard_chan_of(c, s);

	return !ch || gagg_kind(ch->store, over, c->g, ch, s);
}

static void shard_take_losses(const struct gagg_geom *g, const struct gagg_env *env,
			      struct gagg_path *p)
{
	struct gagg_sent s;

	while (gagg_path_lost(p, &s)) {
		struct gagg_chan *ch = env->chan(env->ctx, s.channel);

		if (ch)
			gagg_kind(ch->store, lost, g, ch, &s);
	}
}

/*
 * A path has its first round trip. Paths of which not even HELLO has shown one take the longest
 * timeout of those that have one: most often their hosts are about as far away. Where that is too
 * short, acknowledgements that come late show it.
 */
static void shard_share_timeouts(struct gagg_shard *sh, const struct gagg_geom *g)
{
	u64 longest = 0;
	u32 n;

	for (n = 0; n < g->nodes; n++)
		if (sh->path[n].srtt)
			longest = gagg_max64(longest, gagg_path_rto(&sh->path[n]));
	for (n = 0; n < g->nodes; n++)
		if (!(sh->told >> n & 1))
			gagg_path_hint(&sh->path[n], gagg_min64(longest, GAGG_PATH_RTO_INIT));
}

static enum gagg_rx shard_rx_ack(struct gagg_arrival *in, const struct gagg_env *env,
				 const struct gagg_msg *m, const void *body)
{
	const struct gagg_visit *vis = &in->vis;
	struct gagg_shard *sh = vis->sh;
	const struct gagg_geom *g = vis->g;
	u32 node = in->node;
	struct sender c = { .g = g, .env = env };
	bool first = !sh->path[node].srtt;
	struct gagg_ack ack;
	const struct gagg_receipt r = {
		.ack = &ack, .fresh = m->flags & GAGG_WF_FRESH ? m->aux : 0, .marks = m->pn,
		.now = vis->now,
	};

	memcpy(&ack, body, sizeof(ack));
	gagg_path_ack(&sh->path[node], &r, shard_on_acked, &c);
	if (first && sh->path[node].srtt)
		shard_share_timeouts(sh, g);
	shard_take_losses(g, env, &sh->path[node]);
	return GAGG_RX_OK;
}

/* a home does not know our channel: tells it the members (R46) */
static enum gagg_rx shard_rx_nak(struct gagg_arrival *in, const struct gagg_env *env,
				 const struct gagg_msg *m)
{
	struct gagg_chan *ch = env->chan(env->ctx, m->channel);
	struct gagg_shard *sh = in->vis.sh;
	struct gagg_act *a;

	if (!ch || !ch->nlocals)
		return gagg_drop(in, GAGG_DROP_CHANNEL);
	a = gagg_shard_emit(sh, GAGG_ACT_SEND_CTRL, ch->id);
	a->node = (u8)in->node;
	gagg_shard_msg(sh, in->vis.g, GAGG_T_OPEN, ch->local[0].rank, &a->m);
	a->m.channel = ch->id;
	a->m.len = sizeof(a->open);
	a->open.members = cpu_to_le64(ch->members);
	return GAGG_RX_OK;
}

static enum gagg_rx shard_rx_open(struct gagg_arrival *in, const struct gagg_env *env,
				  const struct gagg_msg *m, const void *body)
{
	const struct gagg_visit *vis = &in->vis;
	const struct gagg_geom *g = vis->g;
	struct gagg_open open;
	struct gagg_act *a;
	u64 members;

	memcpy(&open, body, sizeof(open));
	members = le64_to_cpu(open.members);
	if (!gagg_rank_at(g, m->src, in->node, members) || (members & ~g->workers))
		return gagg_drop(in, GAGG_DROP_RANK);
	if (env->chan(env->ctx, m->channel))
		return GAGG_RX_OK;
	a = gagg_shard_emit(vis->sh, GAGG_ACT_OPEN, m->channel);
	a->members = members;
	return GAGG_RX_OK;
}

static enum gagg_rx shard_unknown_channel(struct gagg_arrival *in, const struct gagg_msg *m)
{
	const struct gagg_visit *vis = &in->vis;
	struct gagg_shard *sh = vis->sh;
	const struct gagg_geom *g = vis->g;
	u32 node = in->node;
	struct gagg_act *a;

	if (gagg_kind(g->store, waits, m->type) && !(sh->nak_nodes & GAGG_BIT(node))) {
		sh->nak_nodes |= GAGG_BIT(node);
		a = gagg_shard_emit(sh, GAGG_ACT_SEND_CTRL, m->channel);
		a->node = (u8)node;
		gagg_shard_msg(sh, g, GAGG_T_NAK, g->self, &a->m);
		a->m.channel = m->channel;
		a->m.aux = m->src;
	}
	return gagg_drop(in, GAGG_DROP_CHANNEL);
}

enum gagg_rx gagg_shard_rx(struct gagg_arrival *in, const struct gagg_env *env,
			   struct gagg_msg *m, const void *body)
{
	struct gagg_shard *sh = in->vis.sh;
	const struct gagg_geom *g = in->vis.g;
	struct gagg_chan *ch;
	enum gagg_rx rx;

	memset(&in->todo, 0, sizeof(in->todo));
	if (!sh->running || m->epoch != (u32)sh->epoch)
		return gagg_drop(in, GAGG_DROP_EPOCH);
	if (m->cookie != gagg_shard_cookie(sh, g, m->type))
		return gagg_drop(in, GAGG_DROP_COOKIE);
	sh->heard[in->node] = in->vis.now;
	if (m->len >= 4u * g->lanes)
		sh->wide[in->node] = in->vis.now;
	switch (m->type) {
	case GAGG_T_ACK:
		return shard_rx_ack(in, env, m, body);
	case GAGG_T_NAK:
		return shard_rx_nak(in, env, m);
	case GAGG_T_OPEN:
		return shard_rx_open(in, env, m, body);
	}
	ch = env->chan(env->ctx, m->channel);
	if (!ch)
		return shard_unknown_channel(in, m);
	in->vis.ch = ch;
	rx = gagg_kind(ch->store, rx, in, m);
	in->todo.m = *m;
	return rx;
}

/* Is the chunk of what follows of this shard, and of the home of the one before? In the same
 * stripe it is.
 */
static inline bool shard_stays(struct gagg_arrival *in)
{
	const struct gagg_visit *vis = &in->vis;
	const struct gagg_geom *g = vis->g;
	struct gagg_todo *todo = &in->todo;
	u32 homes = vis->ch->nhomes, slot = todo->m.chunk;

	if (slot - todo->stripe < todo->stripe_len)
		return true;
	if (slot >= g->ring || gagg_geom_shard(g, homes, slot) != vis->sh->index ||
	    gagg_geom_home(g, homes, slot) != gagg_geom_home(g, homes, todo->slot))
		return false;
	todo->stripe = slot - slot % g->stripe;
	todo->stripe_len = (u32)gagg_min64(g->stripe, g->ring - todo->stripe);
	return true;
}

enum gagg_rx gagg_shard_next(struct gagg_arrival *in)
{
	const struct gagg_msg *m = &in->todo.m;

	if (!shard_stays(in))
		return gagg_drop(in, GAGG_DROP_CHUNK);
	if (m->type == GAGG_T_RESULT)
		return gagg_worker_next(in);
	gagg_path_rx(&in->vis.sh->path[in->node], m->pn, in->ce);
	return gagg_home_next(in);
}

void gagg_shard_commit(const struct gagg_arrival *in)
{
	gagg_kind(in->vis.ch->store, commit, in);
}

static void shard_flush_ack(struct gagg_shard *sh, const struct gagg_geom *g, u32 node)
{
	struct gagg_act *a = gagg_shard_emit(sh, GAGG_ACT_SEND_CTRL, 0);

	a->node = (u8)node;
	gagg_shard_msg(sh, g, GAGG_T_ACK, g->self, &a->m);
	a->m.len = sizeof(a->ack);
	a->m.aux = gagg_path_ack_build(&sh->path[node], &a->ack);
	a->m.pn = sh->path[node].rx_marks;
	a->m.flags = GAGG_WF_FRESH;
	sh->n[GAGG_N_ACKS]++;
}

void gagg_shard_flush(struct gagg_shard *sh, const struct gagg_geom *g)
{
	u32 i;

	sh->nak_nodes = 0;
	if (!sh->running)
		return;
	for (i = 0; i < g->nodes; i++) {
		if (sh->result_run[i].m.run)
			gagg_run_flush(sh, &sh->result_run[i], i);
		if (sh->path[i].ack_due)
			shard_flush_ack(sh, g, i);
	}
	for (i = 0; sh->resends && i < GAGG_RANKS; i++)
		gagg_run_flush(sh, &sh->resend_run[i], g->node_of[i]);
	sh->resends = 0;
}

u64 gagg_shard_deadline(const struct gagg_shard *sh, const struct gagg_geom *g)
{
	u64 at = GAGG_NEVER;
	u32 n;

	if (sh->running)
		for (n = 0; n < g->nodes; n++)
			at = gagg_min64(at, sh->path[n].rto_at);
	return at;
}

void gagg_shard_timer(struct gagg_shard *sh, const struct gagg_geom *g,
		      const struct gagg_env *env, u64 now)
{
	struct sender c = { .g = g, .env = env };
	u32 n;

	if (!sh->running)
		return;
	for (n = 0; n < g->nodes; n++) {
		if (sh->path[n].rto_at <= now)
			gagg_path_forget(&sh->path[n], shard_is_over, &c);
		gagg_path_timer(&sh->path[n], now);
		shard_take_losses(g, env, &sh->path[n]);
	}
}
