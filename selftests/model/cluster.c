// SPDX-License-Identifier: GPL-2.0
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "cluster_int.h"
#include "agent/conf/sync_text.h"

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

static u64 number_of(u32 epoch)
{
	return su.same_number ? 7 + ((u64)epoch << 32) : 7 + epoch;
}

static u64 cookie_of(u32 epoch)
{
	return 1000 + epoch;
}

/* there is one shard object for each node, which is the same in all states but
 * for what a state says of it
 */
static struct gagg_shard *shard_of(u32 n)
{
	struct gagg_shard *sh = shard[n];

	sh->epoch = number_of(cur->node[n].epoch);
	sh->cookie = cookie_of(cur->node[n].epoch);
	sh->running = !!cur->node[n].running;
	return sh;
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
	d.epoch = (u8)cur->node[from].epoch;
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

static void on_open(u32 n, u32 c, u64 members)
{
	if (c >= su.chans || members != su.members[c])
		fail("node %u: channel %u of ranks %llx", n, c, (unsigned long long)members);
	else
		cur->node[n].wanted |= (u16)(1U << c);
}

static void drain(u32 n)
{
	const struct gagg_act *a;
	u64 left;
	s32 lane;

	while ((a = gagg_shard_act(shard[n]))) {
		switch (a->type) {
		case GAGG_ACT_SEND_CONTRIB:
			lane = chunks_lane(n, a);
			put(n, a->node, &a->m, &lane, 4);
			break;
		case GAGG_ACT_SEND_RESULT:
			lane = chunks_lane(n, a);
			for (left = a->nodes; left; left &= left - 1)
				put(n, gagg_lowest(left), &a->m, &lane,
				    gagg_wire_has_lanes(&a->m) ? 4 : 0);
			break;
		case GAGG_ACT_SEND_CTRL:
			put(n, a->node, &a->m, &a->ack, a->m.len);
			break;
		case GAGG_ACT_OPEN:
			on_open(n, a->channel, a->members);
			break;
		default:
			chunks_act(n, a);
		}
	}
}

static struct gagg_chan *env_chan(void *ctx, u16 id)
{
	u32 n = (u32)(u64)ctx;

	return has_chan(n, id) ? chan_of(n, id) : NULL;
}

static u64 env_filled(void *ctx, struct gagg_chan *ch, u32 local)
{
	return chunks_filled((u32)(u64)ctx, ch, local);
}

static struct gagg_cdesc env_desc(void *ctx, struct gagg_chan *ch, u32 local, u32 slot)
{
	return chunks_desc((u32)(u64)ctx, ch, local, slot);
}

static struct gagg_env env_of(u32 n)
{
	struct gagg_env env = {
		.ctx = (void *)(u64)n, .chan = env_chan, .filled = env_filled, .desc = env_desc,
	};

	return env;
}

/* --- steps ------------------------------------------------------------- */

/* the receiver does not run its epoch: not any more, or not yet */
static bool is_past(const struct datagram *d)
{
	const struct node *nd = &cur->node[d->to];

	return d->epoch < nd->epoch || (d->epoch == nd->epoch && !nd->running);
}

static bool is_foreign(const struct datagram *d)
{
	const struct node *nd = &cur->node[d->to];

	return d->epoch != nd->epoch || !nd->running;
}

/* whatever comes, this datagram changes nothing at its receiver */
static bool is_dead(const struct datagram *d)
{
	struct gagg_msg m;

	if (is_foreign(d))
		return is_past(d);
	gagg_wire_parse(d->hdr, GAGG_WIRE_HDRLEN + d->len, &m);
	if (m.type == GAGG_T_OPEN)
		return has_chan(d->to, m.channel) ||
		       (cur->node[d->to].wanted & (1U << m.channel));
	if (!has_chan(d->to, m.channel))
		return false;
	/* what it asks for is known there, or is not heard any more */
	if (m.type == GAGG_T_NAK)
		return cur->node[d->from].epoch != d->epoch || !cur->node[d->from].running ||
		       has_chan(d->from, m.channel) ||
		       (cur->node[d->from].wanted & (1U << m.channel));
	return chunks_dead(d, &m);
}

/* what has no meaning any more looks the same in equal states */
static void normalise(u32 n)
{
	u32 c;

	for (c = 0; c < su.chans; c++)
		if (has_chan(n, c))
			chunks_normalise(n, c);
}

/* datagrams that nobody will ever take any more */
static void forget_dead(void)
{
	u32 i;

	for (i = 0; i < nknown; i++)
		if ((cur->net[i / 64] & GAGG_BIT(i % 64)) && is_dead(&known[i]))
			cur->net[i / 64] &= ~GAGG_BIT(i % 64);
}

/*
 * The end of a batch on a node, in which channel @first was heard of first.
 *
 * In the core, a refill leaves nothing that another one would send: each
 * transmission takes a place in the window, so what does not fit fits no better
 * afterwards. Not so over the path of this model, which knows a datagram by what
 * it carries. A contribution that its home asks for again (RESEND) while it is
 * under way takes no second place; if it is a READY that waits for company, it
 * keeps the next contribution out, and in the end leaves the room unused. So refill
 * until nothing is sent. Else the next thing to arrive causes that, be it a dead
 * datagram, of which cluster_ignores() says that it must change nothing.
 */
static void finish(u32 n, u32 first)
{
	struct gagg_shard *sh = shard_of(n);
	struct gagg_env env = env_of(n);
	u32 i, c, was;

	for (i = 0; i < su.chans; i++) {
		c = (first + i) % su.chans;
		if (!has_chan(n, c))
			continue;
		do {
			was = transmissions;
			while (gagg_chan_refill(sh, &geom[n], &env, chan_of(n, c), NOW))
				drain(n);
			drain(n);
		} while (transmissions != was);
	}
	gagg_shard_flush(sh, &geom[n]);
	drain(n);
	for (c = 0; c < su.chans; c++)
		if (has_chan(n, c))
			chunks_check(n, c);
	for (i = 0; i < GAGG_NODES; i++)
		if (sh->result_run[i].m.run || sh->resend_run[i].m.run)
			fail("node %u: a run was not flushed", n);
	normalise(n);
	forget_dead();
}

/* what is dropped, and why */
static void check_drop(const struct datagram *d, const struct gagg_msg *m, enum gagg_rx rx,
		       enum gagg_drop why)
{
	const struct node *nd = &cur->node[d->to];
	bool other = !nd->running || m->epoch != (u32)number_of(nd->epoch);

	if (is_foreign(d)) {
		if (rx != GAGG_RX_DROP)
			fail("node %u takes type %u of another epoch", d->to, m->type);
		else if (why != (other ? GAGG_DROP_EPOCH : GAGG_DROP_COOKIE))
			fail("node %u drops type %u of another epoch: %d", d->to, m->type, why);
	} else if (rx == GAGG_RX_DROP && (has_chan(d->to, m->channel) ||
					  why != GAGG_DROP_CHANNEL) && !chunks_may_drop(m, why)) {
		fail("node %u drops type %u: %d", d->to, m->type, why);
	}
}

static void receive(const struct datagram *d)
{
	struct gagg_arrival in = {
		.vis = { .sh = shard_of(d->to), .g = &geom[d->to], .now = NOW }, .node = d->from,
	};
	struct gagg_env env = env_of(d->to);
	const void *body = d->body;
	struct gagg_msg m;
	enum gagg_rx rx;

	if (gagg_wire_parse(d->hdr, GAGG_WIRE_HDRLEN + d->len, &m)) {
		fail("node %u: type %u does not parse", d->to, d->hdr[3]);
		return;
	}
	do {
		rx = gagg_shard_rx(&in, &env, &m, body);
		check_drop(d, &m, rx, in.todo.drop);
		if (rx == GAGG_RX_ADD)
			chunks_add(d->to, &in.todo, body);
		if (rx == GAGG_RX_PLACE)
			chunks_place(d->to, &in.todo, body);
		if (rx == GAGG_RX_ADD || rx == GAGG_RX_PLACE)
			gagg_shard_commit(&in);
		drain(d->to);
	} while (rx == GAGG_RX_AGAIN);
	finish(d->to, m.channel);
}

/* what @from says with all that has arrived, or could have, in @epoch */
static void acknowledgement(u32 from, u32 to, u32 epoch, u64 map, struct datagram *d)
{
	struct gagg_msg m = {
		.type = GAGG_T_ACK, .group = 1, .epoch = (u32)number_of(epoch),
		.cookie = cookie_of(epoch), .run = 1, .src = (u16)from,
		.len = sizeof(struct gagg_ack),
	};
	__le64 bits = cpu_to_le64(map);

	memset(d, 0, sizeof(*d));
	gagg_wire_build(d->hdr, &m);
	memcpy(d->body + offsetof(struct gagg_ack, map), &bits, 8);
	d->from = (u8)from;
	d->to = (u8)to;
	d->epoch = (u8)epoch;
	d->len = m.len;
}

static void acked(u32 n, u32 peer, u64 ids)
{
	struct datagram d;

	acknowledgement(peer, n, cur->node[n].epoch, ids, &d);
	receive(&d);
}

static void give_up(u32 n, u32 peer, u64 ids)
{
	struct gagg_env env = env_of(n);

	giving_up.node = n;
	giving_up.peer = peer;
	giving_up.ids = ids;
	gagg_shard_timer(shard_of(n), &geom[n], &env, NOW);
	drain(n);
	finish(n, 0);
}

static void timer(u32 n, u32 c)
{
	struct gagg_env env = env_of(n);

	gagg_chan_timer(shard_of(n), &geom[n], chan_of(n, c), LATER);
	drain(n);
	gagg_chan_refill(shard_of(n), &geom[n], &env, chan_of(n, c), LATER);
	drain(n);
	finish(n, c);
}

static void fill(u32 n, u32 c, u32 l, u32 count)
{
	chunks_fill(n, c, l, count);
	finish(n, c);
}

static void make(u32 n, u32 c)
{
	struct node *nd = &cur->node[n];

	if (gagg_chan_bytes(&geom[n], su.members[c]) > C_BLOCK)
		abort();
	nd->present |= (u16)(1U << c);
	nd->wanted &= (u16)~(1U << c);
	gagg_chan_init(nd->part[c].block, &geom[n], 0, (u16)c, su.members[c]);
	chunks_begin(n, c);
	normalise(n);
}

/* channel @c may be made: one of its ranks may do so, or it was asked for */
static bool may_make(u32 n, u32 c)
{
	const struct node *nd = &cur->node[n];

	return nd->running && !has_chan(n, c) &&
	       ((geom[n].ranks_of[n] & su.members[c]) || (nd->wanted & (1U << c)));
}

static void begin(u32 n, u32 epoch)
{
	struct gagg_shard *sh = shard[n];
	u32 h;

	cur->node[n].epoch = (u16)epoch;
	cur->node[n].running = 1;
	gagg_shard_start(sh, &geom[n], number_of(epoch), cookie_of(epoch));
	/* which path is which, see cluster_path.c */
	for (h = 0; h < su.nodes; h++) {
		sh->path[h].una = n;
		sh->path[h].scan = h;
	}
	make(n, 0);
	forget_dead();
}

/* nothing is left, but which epoch it was */
static void end(u32 n)
{
	u16 epoch = cur->node[n].epoch;

	gagg_shard_stop(shard_of(n));
	memset(&cur->node[n], 0, sizeof(cur->node[n]));
	cur->node[n].epoch = epoch;
	forget_dead();
}

void cluster_take(struct state *st, const struct step *step)
{
	cur = st;
	switch (step->type) {
	case STEP_DELIVER:
		receive(&known[step->what]);
		break;
	case STEP_ACKED:
		acked(step->node, step->peer, GAGG_BIT(step->what));
		break;
	case STEP_LOST:
		give_up(step->node, step->peer, GAGG_BIT(step->what));
		break;
	case STEP_TIMER:
		timer(step->node, step->chan);
		break;
	case STEP_FILL:
		fill(step->node, step->chan, step->what, step->peer);
		break;
	case STEP_MAKE:
		make(step->node, step->chan);
		forget_dead();
		break;
	case STEP_END:
		end(step->node);
		break;
	case STEP_START:
		begin(step->node, cur->node[step->node].epoch + 1);
		break;
	}
}

static u32 steps_of_chan(u32 n, u32 c, struct step *out)
{
	struct gagg_chan *ch = chan_of(n, c);
	u32 count = 0, l, k;

	for (l = 0; l < ch->nlocals; l++)
		for (k = 1; k <= chunks_fillable(n, c, l); k++)
			out[count++] = (struct step){ STEP_FILL, (u8)n, (u8)k, (u8)c, (u16)l };
	if (chunks_timed(n, c))
		out[count++] = (struct step){ STEP_TIMER, (u8)n, 0, (u8)c, 0 };
	return count;
}

static u32 steps_of_node(u32 n, struct step *out)
{
	const struct node *nd = &cur->node[n];
	u32 count = 0, c, h;
	u64 left;

	if (!nd->running) {
		out[count++] = (struct step){ STEP_START, (u8)n, 0, 0, 0 };
		return count;
	}
	if (nd->epoch + 1U < su.epochs)
		out[count++] = (struct step){ STEP_END, (u8)n, 0, 0, 0 };
	for (c = 0; c < su.chans; c++) {
		if (has_chan(n, c))
			count += steps_of_chan(n, c, &out[count]);
		else if (may_make(n, c))
			out[count++] = (struct step){ STEP_MAKE, (u8)n, 0, (u8)c, 0 };
	}
	for (h = 0; h < su.nodes; h++) {
		const struct node *home = &cur->node[h];
		/* of another epoch: the home has forgotten what has arrived */
		u64 arrived = home->epoch == nd->epoch ? home->arrived[n] : 0;

		for (left = nd->flying[h]; left; left &= left - 1) {
			u16 id = (u16)gagg_lowest(left);

			out[count++] = (struct step){ STEP_LOST, (u8)n, (u8)h, 0, id };
			if (arrived & GAGG_BIT(id))
				out[count++] = (struct step){ STEP_ACKED, (u8)n, (u8)h, 0, id };
		}
	}
	return count;
}

u32 cluster_steps(const struct state *st, struct step *out)
{
	u32 count = 0, i, n;

	cur = (struct state *)st;
	for (n = 0; n < su.nodes; n++)
		count += steps_of_node(n, &out[count]);
	for (i = 0; i < nknown; i++)
		if ((st->net[i / 64] & GAGG_BIT(i % 64)) && !is_foreign(&known[i]))
			out[count++] = (struct step){ STEP_DELIVER, 0, 0, 0, (u16)i };
	return count;
}

static bool part_done(u32 n, u32 c)
{
	return has_chan(n, c) ? chunks_done(n, c) : !may_make(n, c);
}

bool cluster_done(const struct state *st)
{
	u32 n, c;

	cur = (struct state *)st;
	for (n = 0; n < su.nodes; n++) {
		if (!st->node[n].running || st->node[n].epoch != st->node[0].epoch)
			return false;
		for (c = 0; c < su.chans; c++)
			if (!part_done(n, c))
				return false;
	}
	return true;
}

/* ABORT and START reach all */
static void catch_up(void)
{
	u32 n, last = 0;

	for (n = 0; n < su.nodes; n++)
		last = (u32)gagg_max64(last, cur->node[n].epoch + !cur->node[n].running);
	for (n = 0; n < su.nodes; n++) {
		if (cur->node[n].epoch == last && cur->node[n].running)
			continue;
		end(n);
		begin(n, last);
	}
}

static void fair_turn(void)
{
	u32 n, c, l, h;

	for (n = 0; n < su.nodes; n++) {
		for (c = 0; c < su.chans; c++) {
			if (may_make(n, c))
				make(n, c);
			for (l = 0; has_chan(n, c) && l < chan_of(n, c)->nlocals; l++)
				fill(n, c, l, su.ring);
		}
		for (h = 0; h < su.nodes; h++)
			give_up(n, h, cur->node[n].flying[h]);
		for (c = 0; c < su.chans; c++)
			if (has_chan(n, c))
				timer(n, c);
	}
}

bool cluster_recovers(const struct state *st)
{
	static struct state s;
	u32 turn, at;

	s = *st;
	memset(s.net, 0, sizeof(s.net));
	cur = &s;
	fair = true;
	catch_up();
	for (turn = 0; turn < FAIR_TURNS && !cluster_done(&s) && !error[0]; turn++) {
		nqueue = 0;
		fair_turn();
		for (at = 0; at < nqueue && !error[0]; at++)
			receive(&queue[at]);
	}
	fair = false;
	return turn < FAIR_TURNS && !error[0];
}

static bool ignores(const struct state *st, const struct datagram *d)
{
	static struct state s;

	s = *st;
	cur = &s;
	receive(d);
	return !error[0] && !memcmp(&s, st, sizeof(s));
}

bool cluster_ignores(const struct state *st, u64 chance)
{
	u32 k, n = (u32)(chance % su.nodes), at;
	struct datagram d;

	cur = (struct state *)st;
	if (su.epochs > 1) {
		acknowledgement((n + 1) % su.nodes, n, !st->node[n].epoch, ~0ULL, &d);
		if (!ignores(st, &d))
			return false;
	}
	cur = (struct state *)st;
	for (k = 0; k < nknown; k++) {
		at = (u32)((chance + k) % nknown);
		if (is_dead(&known[at]) || is_foreign(&known[at]))
			return ignores(st, &known[at]);
	}
	return true;
}

/* --- beginning, helpers ------------------------------------------------ */

static void init_geom(u32 self)
{
	struct gagg_geom *g = &geom[self];
	struct gagg_sync_param sync;
	u32 n, k, rank = 0;

	memset(g, 0, sizeof(*g));
	sync_text_parse(su.sync ? su.sync : "bsp", &sync, NULL, 0);
	gagg_sync_apply(g, &sync);
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
			g->ranks_of[n] |= GAGG_BIT(rank);
			g->workers |= GAGG_BIT(rank);
		}
}

void cluster_init(const struct setup *s, struct state *st)
{
	u32 n;

	su = *s;
	nknown = 0;
	error[0] = 0;
	memset(st, 0, sizeof(*st));
	cur = st;
	for (n = 0; n < su.nodes; n++)
		init_geom(n);
	if (!su.epochs)
		su.epochs = 1;
	if (!su.chans)
		su.chans = 1;
	if (!su.members[0])
		su.members[0] = geom[0].workers;
	for (n = 0; n < su.nodes; n++) {
		if (!shard[n])
			shard[n] = calloc(1, sizeof(struct gagg_shard) +
					     GAGG_NODES * sizeof(struct gagg_path));
		gagg_shard_init(shard[n], &geom[n], 0);
		begin(n, 0);
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
		[GAGG_T_NAK] = "NAK", [GAGG_T_OPEN] = "OPEN", [GAGG_T_WAITS] = "WAITS",
	};
	struct gagg_msg m;

	switch (step->type) {
	case STEP_DELIVER:
		gagg_wire_parse(known[step->what].hdr,
				GAGG_WIRE_HDRLEN + known[step->what].len, &m);
		printf("# %u -> %u %s epoch %u channel %u chunk %u round %u run %u exp %u flags %x pn %u aux %u\n",
		       known[step->what].from, known[step->what].to, types[m.type],
		       known[step->what].epoch, m.channel, m.chunk, m.round, m.run, m.exp,
		       m.flags, m.pn, m.aux);
		break;
	case STEP_ACKED:
		printf("# %u acknowledged by %u: %u\n", step->node, step->peer, step->what);
		break;
	case STEP_LOST:
		printf("# %u gives up on %u: %u\n", step->node, step->peer, step->what);
		break;
	case STEP_TIMER:
		printf("# %u timer of channel %u\n", step->node, step->chan);
		break;
	case STEP_FILL:
		printf("# %u fills %u, channel %u local %u\n", step->node, step->peer,
		       step->chan, step->what);
		break;
	case STEP_MAKE:
		printf("# %u makes channel %u\n", step->node, step->chan);
		break;
	case STEP_END:
		printf("# %u ends its epoch\n", step->node);
		break;
	case STEP_START:
		printf("# %u begins the next epoch\n", step->node);
		break;
	}
}
