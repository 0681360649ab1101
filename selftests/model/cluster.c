// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "cluster_int.h"

#define NOW		(1000 * GAGG_SEC)	/* all deadlines are before it */
#define FAIR_TURNS	60
#define QUEUE		4096

struct setup su;
struct gagg_geom geom[GAGG_NODES];
struct state *cur;
struct giving_up giving_up;
static struct gagg_shard *shard[GAGG_NODES];
static struct datagram known[C_MSGS];
static u32 nknown;
static struct datagram queue[QUEUE];	/* of a fair run */
static u32 nqueue;
static bool fair;
static char error[256];

void fail(const char *fmt, ...)
{
	va_list ap;

	if (error[0])
		return;
	va_start(ap, fmt);
	vsnprintf(error, sizeof(error), fmt, ap);
	va_end(ap);
}

const char *cluster_error(void)
{
	return error;
}

static void check_result(u32 n, u64 v, const char *when)
{
	struct node *nd = &cur->node[n];
	struct gagg_rdesc want;
	s32 sum = sum_of(v, &want);

	if (!(want.flags & ~GAGG_C_OVERFLOW) && nd->result[v % su.ring] != sum)
		fail("node %u chunk %llu: %d %s, not %d", n, (unsigned long long)v,
		     nd->result[v % su.ring], when, sum);
}

/* --- what the core asks for -------------------------------------------- */

static void put(u32 from, u32 to, const struct gagg_msg *m, const void *body, u32 len)
{
	struct datagram d;
	struct gagg_msg whole = *m;
	u32 i;

	/* an acknowledgement lies in arrived[], for ever */
	if (m->type == GAGG_T_ACK && !fair)
		return;
	memset(&d, 0, sizeof(d));
	whole.len = len;
	gagg_wire_build(d.hdr, &whole);
	memcpy(d.body, body, len);
	d.from = (u8)from;
	d.to = (u8)to;
	d.len = len;
	if (fair) {
		if (nqueue < QUEUE)
			queue[nqueue++] = d;
		else
			fail("a storm of datagrams");
		return;
	}
	for (i = 0; i < nknown; i++)
		if (!memcmp(&known[i], &d, sizeof(d)))
			break;
	if (i == C_MSGS) {
		fail("more than %u datagrams", C_MSGS);
		return;
	}
	if (i == nknown)
		known[nknown++] = d;
	cur->net[i / 64] |= GAGG_BIT(i % 64);
}

static void on_publish(u32 n, const struct gagg_publish *p)
{
	struct node *nd = &cur->node[n];
	struct gagg_chan *ch = chan_of(n);
	u64 v = (u64)(p->round - 1) * su.ring + p->slot;
	struct gagg_rdesc want;
	s32 *res = &nd->result[p->slot];
	const s32 *src = p->from_acc ? &nd->acc[p->slot & (su.window - 1)] :
			 p->placed ? res : NULL;
	u32 l;

	if (!reads_all(n, p->slot))
		fail("node %u: slot %u overwritten unread", n, p->slot);
	if (v >= (u64)su.ring * su.rounds ||
	    nd->holds[p->slot] != (v < su.ring ? 0 : v + 1 - su.ring)) {
		fail("node %u: slot %u has %llu, then round %u", n, p->slot,
		     (unsigned long long)nd->holds[p->slot], p->round);
		return;
	}
	for (l = 0; l < ch->nlocals; l++) {
		s32 q = lane_of(ch->local[l].rank, v);

		if (!(p->locals & (1U << l)))
			continue;
		gagg_reduce_chunk(p->laneop, res, src, &q, p->lanes,
				  p->raw ? 0 : p->exp - gagg_chan_pushed(ch, p->slot, l)->exp);
		src = res;
	}
	if (src && src != res)
		*res = *src;
	nd->holds[p->slot] = v + 1;

	sum_of(v, &want);
	if (p->contributors != want.contributors)
		fail("node %u chunk %llu: %u contributors", n, (unsigned long long)v,
		     p->contributors);
	for (l = 0; l < ch->nlocals && (p->flags & GAGG_C_NORESULT); l++)
		if (!(su.kind[ch->local[l].rank][v] & K_NORESULT))
			fail("node %u chunk %llu: result withheld", n, (unsigned long long)v);
	if (p->exp != want.exp || p->want != want.want ||
	    (p->flags & ~GAGG_C_NORESULT) != want.flags ||
	    (want.flags == GAGG_C_NONFINITE && p->nonfinite != want.nonfinite))
		fail("node %u chunk %llu: exp %u want %u flags %x", n, (unsigned long long)v,
		     p->exp, p->want, p->flags);
	if (!(p->flags & GAGG_C_NORESULT))
		check_result(n, v, "published");
}

static void on_op_done(u32 n, u32 local, u64 number)
{
	struct node *nd = &cur->node[n];
	u64 v, end = number * (su.ring * su.rounds / su.ops);

	if (number <= nd->ops_done[local] || number > su.ops)
		fail("node %u: op %llu done after %llu", n, (unsigned long long)number,
		     (unsigned long long)nd->ops_done[local]);
	for (v = 0; v < end; v++)
		if (nd->holds[v % su.ring] <= v)
			fail("node %u: op %llu done without chunk %llu", n,
			     (unsigned long long)number, (unsigned long long)v);
	nd->ops_done[local] = number;
}

static void drain(u32 n)
{
	const struct gagg_act *a;
	u64 left;
	s32 lane;

	while ((a = gagg_shard_act(shard[n]))) {
		switch (a->type) {
		case GAGG_ACT_SEND_CONTRIB:
			lane = lane_of(chan_of(n)->local[a->local].rank,
				       (u64)(a->m.round - 1) * su.ring + a->m.chunk);
			put(n, a->node, &a->m, &lane, 4);
			break;
		case GAGG_ACT_SEND_RESULT:
			for (left = a->nodes; left; left &= left - 1)
				put(n, gagg_lowest(left), &a->m,
				    &cur->node[n].result[a->m.chunk], 4);
			break;
		case GAGG_ACT_SEND_CTRL:
			put(n, a->node, &a->m, &a->ack, a->m.len);
			break;
		case GAGG_ACT_PUBLISH:
			on_publish(n, &a->pub);
			break;
		case GAGG_ACT_OP_DONE:
			on_op_done(n, a->local, a->number);
			break;
		default:
			fail("node %u: action %u", n, a->type);
		}
	}
}

static struct gagg_chan *env_chan(void *ctx, u16 id)
{
	return id ? NULL : chan_of((u32)(u64)ctx);
}

static u64 env_filled(void *ctx, struct gagg_chan *ch, u32 local)
{
	(void)ch;
	return cur->node[(u32)(u64)ctx].filled[local];
}

static struct gagg_cdesc env_desc(void *ctx, struct gagg_chan *ch, u32 local, u32 slot)
{
	u64 v = cur->node[(u32)(u64)ctx].filled[local] - 1;

	/* the last filled one that lies in the slot */
	while (v % su.ring != slot)
		v--;
	return desc_of(ch->local[local].rank, v);
}

static struct gagg_env env_of(u32 n)
{
	struct gagg_env env = {
		.ctx = (void *)(u64)n, .chan = env_chan, .filled = env_filled, .desc = env_desc,
	};

	return env;
}

/* --- steps ------------------------------------------------------------- */

/* the end of a batch on a node */
static void finish(u32 n)
{
	struct gagg_env env = env_of(n);
	struct node *nd = &cur->node[n];
	u64 per_op = su.ring * su.rounds / su.ops, v = 0;
	u32 i, l;

	while (gagg_chan_refill(shard[n], &geom[n], &env, chan_of(n), NOW))
		drain(n);
	drain(n);
	gagg_shard_flush(shard[n], &geom[n]);
	drain(n);
	while (v < (u64)su.ring * su.rounds && nd->holds[v % su.ring] > v)
		v++;
	for (l = 0; l < chan_of(n)->nlocals; l++)
		if (nd->ops_done[l] != v / per_op)
			fail("node %u: %llu chunks, %llu ops done", n, (unsigned long long)v,
			     (unsigned long long)nd->ops_done[l]);
	for (i = 0; i < GAGG_NODES; i++)
		if (shard[n]->result_run[i].m.run || shard[n]->resend_run[i].m.run)
			fail("node %u: a run was not flushed", n);
	normalise(n);
	for (i = 0; i < nknown; i++)
		if ((cur->net[i / 64] & GAGG_BIT(i % 64)) && is_dead(&known[i]))
			cur->net[i / 64] &= ~GAGG_BIT(i % 64);
}

static void check_write(u32 n, u32 slot)
{
	if (!reads_all(n, slot))
		fail("node %u: slot %u written over unread", n, slot);
}

static void receive(const struct datagram *d)
{
	struct node *nd = &cur->node[d->to];
	struct gagg_env env = env_of(d->to);
	struct gagg_todo todo;
	struct gagg_msg m;
	enum gagg_rx rx;

	if (gagg_wire_parse(d->hdr, GAGG_WIRE_HDRLEN + d->len, &m)) {
		fail("node %u: type %u does not parse", d->to, d->hdr[3]);
		return;
	}
	do {
		rx = gagg_shard_rx(shard[d->to], &geom[d->to], &env, d->from, &m, d->body,
				   false, NOW, &todo);
		if (rx == GAGG_RX_ADD) {
			s32 *acc = &nd->acc[todo.acc];

			if (todo.to_result)
				check_write(d->to, todo.slot);
			gagg_reduce_chunk(todo.laneop,
					  todo.to_result ? &nd->result[todo.slot] : acc,
					  todo.store ? NULL : acc, d->body, todo.lanes,
					  todo.shift);
		}
		if (rx == GAGG_RX_PLACE) {
			check_write(d->to, todo.slot);
			memcpy(&nd->result[todo.slot], d->body, 4);
		}
		if (rx == GAGG_RX_ADD || rx == GAGG_RX_PLACE)
			gagg_shard_commit(shard[d->to], &geom[d->to], &todo, NOW);
		if (rx == GAGG_RX_DROP)
			fail("node %u drops type %u: %d", d->to, m.type, todo.drop);
		drain(d->to);
	} while (rx == GAGG_RX_AGAIN);
	finish(d->to);
}

static void give_up(u32 n, u32 peer, u64 ids)
{
	struct gagg_env env = env_of(n);

	giving_up.node = n;
	giving_up.peer = peer;
	giving_up.ids = ids;
	gagg_shard_timer(shard[n], &geom[n], &env, NOW);
	drain(n);
	finish(n);
}

static void timer(u32 n)
{
	gagg_chan_timer(shard[n], &geom[n], chan_of(n), NOW);
	drain(n);
	finish(n);
}

/* the next chunk to fill has been read in its last round */
static bool may_fill(const struct state *st, u32 n, u32 l)
{
	const struct node *nd = &st->node[n];
	u64 v = nd->filled[l];

	return v < (u64)su.ring * su.rounds &&
	       nd->holds[v % su.ring] == (v < su.ring ? 0 : v + 1 - su.ring);
}

static void fill_one(u32 n, u32 l)
{
	struct node *nd = &cur->node[n];
	u32 rank = chan_of(n)->local[l].rank;
	u64 v = nd->filled[l]++;

	if (v >= su.ring) {
		u64 old = v - su.ring;

		if (nd->holds[old % su.ring] != old + 1)
			fail("node %u: chunk %llu is gone", n, (unsigned long long)old);
		if (!(su.kind[rank][old] & K_NORESULT))
			check_result(n, old, "read");
		nd->read[l] = old + 1;
	}
}

static void fill(u32 n, u32 l, u32 count)
{
	while (count-- && may_fill(cur, n, l))
		fill_one(n, l);
	finish(n);
}

void cluster_take(struct state *st, const struct step *step)
{
	struct datagram d;
	struct gagg_msg m = {
		.type = GAGG_T_ACK, .group = 1, .epoch = 1, .cookie = 1, .run = 1,
		.src = step->peer, .len = sizeof(struct gagg_ack),
	};
	__le64 bit = cpu_to_le64(GAGG_BIT(step->what % 64));

	cur = st;
	switch (step->type) {
	case STEP_DELIVER:
		receive(&known[step->what]);
		break;
	case STEP_ACKED:
		memset(&d, 0, sizeof(d));
		gagg_wire_build(d.hdr, &m);
		memcpy(d.body + offsetof(struct gagg_ack, map), &bit, 8);
		d.from = step->peer;
		d.to = step->node;
		d.len = m.len;
		receive(&d);
		break;
	case STEP_LOST:
		give_up(step->node, step->peer, GAGG_BIT(step->what));
		break;
	case STEP_TIMER:
		timer(step->node);
		break;
	case STEP_FILL:
		fill(step->node, step->what, step->peer);
		break;
	}
}

u32 cluster_steps(const struct state *st, struct step *out)
{
	u32 count = 0, i, n, h, k;
	u64 left;

	cur = (struct state *)st;
	for (n = 0; n < su.nodes; n++)
		for (i = 0; i < chan_of(n)->nlocals; i++)
			for (k = 1; k <= su.ring && may_fill(st, n, i); k++)
				out[count++] = (struct step){ STEP_FILL, (u8)n, (u8)k, (u16)i };
	for (i = 0; i < nknown; i++)
		if (st->net[i / 64] & GAGG_BIT(i % 64))
			out[count++] = (struct step){ STEP_DELIVER, 0, 0, (u16)i };
	for (n = 0; n < su.nodes; n++) {
		if (chan_of(n)->query_at != GAGG_NEVER)
			out[count++] = (struct step){ STEP_TIMER, (u8)n, 0, 0 };
		for (h = 0; h < su.nodes; h++) {
			for (left = st->node[n].flying[h]; left; left &= left - 1) {
				u16 id = (u16)gagg_lowest(left);

				out[count++] = (struct step){ STEP_LOST, (u8)n, (u8)h, id };
				if (st->node[h].arrived[n] & GAGG_BIT(id))
					out[count++] = (struct step){ STEP_ACKED, (u8)n, (u8)h, id };
			}
		}
	}
	return count;
}

bool cluster_done(const struct state *st)
{
	u32 n, l, i;

	cur = (struct state *)st;
	for (n = 0; n < su.nodes; n++)
		for (l = 0; l < chan_of(n)->nlocals; l++) {
			if (st->node[n].ops_done[l] < su.ops)
				return false;
			for (i = 0; i < su.ring; i++)
				if (st->node[n].holds[i] != (u64)su.ring * (su.rounds - 1) + i + 1)
					return false;
		}
	return true;
}

bool cluster_recovers(const struct state *st)
{
	static struct state s;
	u32 turn, n, h, l, at;

	s = *st;
	memset(s.net, 0, sizeof(s.net));
	cur = &s;
	fair = true;
	for (turn = 0; turn < FAIR_TURNS && !cluster_done(&s) && !error[0]; turn++) {
		nqueue = 0;
		for (n = 0; n < su.nodes; n++) {
			for (l = 0; l < chan_of(n)->nlocals; l++)
				fill(n, l, su.ring);
			for (h = 0; h < su.nodes; h++)
				give_up(n, h, s.node[n].flying[h]);
			timer(n);
		}
		for (at = 0; at < nqueue && !error[0]; at++)
			receive(&queue[at]);
	}
	fair = false;
	return turn < FAIR_TURNS && !error[0];
}

bool cluster_ignores_past(const struct state *st, u64 chance)
{
	static struct state s;
	u32 k, at;

	s = *st;
	cur = &s;
	for (k = 0; k < nknown; k++) {
		at = (u32)((chance + k) % nknown);
		if (is_dead(&known[at]))
			break;
	}
	if (k == nknown)
		return true;
	receive(&known[at]);
	return !error[0] && !memcmp(&s, st, sizeof(s));
}

/* --- beginning, helpers ------------------------------------------------ */

static void init_geom(u32 self)
{
	struct gagg_geom *g = &geom[self];
	u32 n, k, rank = 0;

	memset(g, 0, sizeof(*g));
	g->group = 1;
	g->self = (u8)self;
	g->nodes = (u8)su.nodes;
	g->lanes = 1;
	g->stripe = (u16)su.stripe;
	g->shards = 1;
	g->ring = su.ring;
	g->window = su.window;
	g->cwnd = su.cwnd;
	g->aggregators = su.homes;
	memset(g->node_of, 0xff, sizeof(g->node_of));
	for (n = 0; n < su.nodes; n++)
		for (k = 0; k < su.ranks[n]; k++, rank++) {
			g->node_of[rank] = (u8)n;
			g->weight[rank] = 1;
			g->ranks_of[n] |= GAGG_BIT(rank);
			g->workers |= GAGG_BIT(rank);
		}
}

void cluster_init(const struct setup *s, struct state *st)
{
	u32 n, h, k, l;

	su = *s;
	nknown = 0;
	error[0] = 0;
	memset(st, 0, sizeof(*st));
	cur = st;
	for (n = 0; n < su.nodes; n++) {
		init_geom(n);
		if (!shard[n])
			shard[n] = calloc(1, sizeof(struct gagg_shard) +
					     GAGG_NODES * sizeof(struct gagg_path));
		gagg_shard_init(shard[n], &geom[n], 0, 0);
		gagg_shard_start(shard[n], &geom[n], 1, 1);
		for (h = 0; h < su.nodes; h++) {
			shard[n]->path[h].una = n;
			shard[n]->path[h].scan = h;
		}
		if (gagg_chan_bytes(&geom[n], geom[n].workers) > C_BLOCK)
			abort();
		gagg_chan_init(st->node[n].block, &geom[n], 0, 0, geom[n].workers);
		for (l = 0; l < chan_of(n)->nlocals; l++)
			for (k = 0; k < su.ops; k++)
				gagg_chan_submit(chan_of(n), l, k, 0,
						 su.raw ? GAGG_OP_RAW : 0, 1,
						 su.ring * su.rounds / su.ops);
		normalise(n);
	}
}

u64 cluster_hash(const void *data, u64 len)
{
	const u64 *p = data;
	u64 h[4] = { 1, 2, 3, 4 }, i;

	/* four at a time, since each waits for its product */
	for (i = 0; i < len / 8; i++) {
		h[i % 4] = (h[i % 4] ^ p[i]) * 0xff51afd7ed558ccdULL;
		h[i % 4] ^= h[i % 4] >> 32;
	}
	return gagg_mix64(gagg_mix64(h[0], h[1]), gagg_mix64(h[2], h[3])) | 1;
}

void cluster_print(const struct step *step)
{
	static const char *const types[] = {
		[GAGG_T_CONTRIB] = "CONTRIB", [GAGG_T_READY] = "READY",
		[GAGG_T_RESULT] = "RESULT", [GAGG_T_DONE] = "DONE", [GAGG_T_RESEND] = "RESEND",
		[GAGG_T_QUERY] = "QUERY", [GAGG_T_PULL] = "PULL", [GAGG_T_TOLD] = "TOLD",
	};
	struct gagg_msg m;

	switch (step->type) {
	case STEP_DELIVER:
		gagg_wire_parse(known[step->what].hdr,
				GAGG_WIRE_HDRLEN + known[step->what].len, &m);
		printf("# %u -> %u %s chunk %u round %u run %u exp %u flags %x pn %u aux %u\n",
		       known[step->what].from, known[step->what].to, types[m.type], m.chunk,
		       m.round, m.run, m.exp, m.flags, m.pn, m.aux);
		break;
	case STEP_ACKED:
		printf("# %u acknowledged by %u: %u\n", step->node, step->peer, step->what);
		break;
	case STEP_LOST:
		printf("# %u gives up on %u: %u\n", step->node, step->peer, step->what);
		break;
	case STEP_TIMER:
		printf("# %u timer\n", step->node);
		break;
	case STEP_FILL:
		printf("# %u fills %u, local %u\n", step->node, step->peer, step->what);
		break;
	}
}
