/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Hosts with stores of the real core, joined by a network that loses, duplicates and reorders. This
 * file does what the module does with payload.
 *
 * Ranks die. Then the hosts end the epoch, one after the other, and forget all. After that they
 * begin the next one, one after the other, some of them as new objects. Datagrams in flight stay in
 * flight, and some of them come again at any time.
 */
#ifndef STORE_NET_H
#define STORE_NET_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core.h"
#include "agent/conf/sync_text.h"

#define EPOCH	0x500000009ULL		/* the first one */
#define COOKIE	0x0123456789abcdefULL
#ifndef LIVES
#define LIVES	3			/* epochs of a run, at most */
#endif
#define NODES	4
#ifndef RING
#define RING	64
#endif
#define LANES	2
#define FLIGHT	4096
#define TYPES	32
#define OLD	16
#define OPS_MAX	512

struct packet {
	struct gagg_msg m;
	struct gagg_ack ack;
	int32_t lanes[LANES];
	u8 from;
	u8 to;
};

struct rank {
	u8 node;
	u8 local;
	u64 rank;
	u32 done;		/* ops over */
	int32_t push[RING][LANES];
	u8 zero[RING];
	int32_t copy[RING][LANES];
	u32 fresh[RING];	/* least clocks that the copy reports */
	u32 reads;		/* chunks read */
};

static struct gagg_geom base_geom;
static struct gagg_geom geom[NODES];
static struct gagg_shard *shard[NODES];
static struct gagg_chan *chan[NODES];	/* NULL: the host has not begun the epoch */
static u64 epoch, cookie;
static u32 life;			/* number of the epoch, from 0 */
static u32 mortality;			/* a death in so many events; 0: none */
static u32 deaths;			/* in all runs */
static int32_t kept[NODES][RING][LANES];
static int32_t beside[NODES][RING][LANES];
static struct rank ranks[GAGG_RANKS];
static u32 nranks;
static u32 hosts = NODES;	/* at most */
static struct packet packets[FLIGHT];
/* packets in flight, in the order in which they left; then the free ones */
static u16 flight[FLIGHT];
static u32 nflight;
/* packets that come again after any time, by epoch and type */
static struct packet old[LIVES][TYPES][OLD];
static u32 nold[LIVES][TYPES];
static u64 now;
static u32 loss, dup, disorder;	/* percent */
static u64 seed;
static u64 sent[TYPES];		/* datagrams by type */
static u64 copies_sent;		/* RESULTs with lanes */
static bool wide;		/* lanes of int64: one for each two of LANES */
static bool lazy;		/* hosts do not always do at once all that they could */
static bool more[NODES];	/* the host has work left */

static inline u32 rnd(u32 below)
{
	seed += 0x9e3779b97f4a7c15ULL;
	return (u32)((gagg_mix64(seed, 1) >> 32) % below);
}

struct lend {
	u32 node;
};

static struct lend lends[NODES];

static inline struct gagg_chan *lend_chan(void *ctx, u16 id)
{
	return id ? NULL : chan[((struct lend *)ctx)->node];
}

static inline u64 lend_filled(void *ctx, struct gagg_chan *ch, u32 local)
{
	(void)ctx, (void)ch, (void)local;
	return 0;
}

static inline struct rank *local_rank(u32 node, u32 local)
{
	return &ranks[chan[node]->local[local].rank];
}

static inline struct gagg_cdesc lend_desc(void *ctx, struct gagg_chan *ch, u32 local, u32 slot)
{
	struct gagg_cdesc d = { .flags = 0 };

	(void)ch;
	if (local_rank(((struct lend *)ctx)->node, local)->zero[slot])
		d.flags = GAGG_C_ZERO;
	return d;
}

static inline struct gagg_env env_of(u32 node)
{
	lends[node].node = node;
	return (struct gagg_env){
		.ctx = &lends[node], .chan = lend_chan, .filled = lend_filled,
		.desc = lend_desc,
	};
}

/* wrapping, as gagg_reduce_chunk() */
static inline void add(int32_t *dst, const int32_t *a, const int32_t *b)
{
	gagg_reduce_chunk(gagg_store_laneop(&base_geom), dst, a, b, LANES, 0);
}

/* the packet comes again, now and then */
static inline void repeat(const struct packet *p)
{
	u32 *n = &nold[life][p->m.type];

	old[life][p->m.type][*n < OLD ? (*n)++ : rnd(OLD)] = *p;
}

static inline void put(u32 from, u32 to, const struct gagg_msg *m, const void *ack,
		       const int32_t *lanes)
{
	u32 copies = 1 + (rnd(100) < dup);

	sent[m->type]++;
	copies_sent += m->type == GAGG_T_RESULT && gagg_wire_has_lanes(m);
	while (copies--) {
		struct packet *p;

		if (rnd(100) < loss)
			continue;
		assert_true(nflight < FLIGHT);
		p = &packets[flight[nflight++]];
		p->m = *m;
		p->from = (u8)from;
		p->to = (u8)to;
		if (m->type == GAGG_T_ACK)
			memcpy(&p->ack, ack, sizeof(p->ack));
		if (lanes)
			memcpy(p->lanes, lanes, sizeof(p->lanes));
		if (dup && !rnd(4))
			repeat(p);
	}
}

static inline void drain(u32 n)
{
	const struct gagg_act *a;

	while ((a = gagg_shard_act(shard[n]))) {
		struct rank *r = local_rank(n, a->local);
		u32 slot = a->keep.slot;

		switch (a->type) {
		case GAGG_ACT_SEND_CONTRIB:
			put(n, a->node, &a->m, NULL, r->push[a->m.chunk]);
			break;
		case GAGG_ACT_SEND_CTRL:
			put(n, a->node, &a->m, &a->ack, NULL);
			break;
		case GAGG_ACT_SEND_RESULT:
			put(n, gagg_lowest(a->nodes), &a->m, NULL, kept[n][a->m.chunk]);
			break;
		case GAGG_ACT_FOLD:
			add(kept[n][slot], kept[n][slot], beside[n][slot]);
			break;
		case GAGG_ACT_ADD_LOCAL:
			if (a->keep.beside)
				add(beside[n][slot], a->keep.first ? NULL : beside[n][slot],
				    r->push[slot]);
			else
				add(kept[n][slot], kept[n][slot], r->push[slot]);
			break;
		case GAGG_ACT_READ:
			if (!a->keep.placed)
				memcpy(r->copy[slot], kept[n][slot], sizeof(r->copy[slot]));
			r->fresh[slot] = a->keep.fresh;
			r->reads++;
			break;
		case GAGG_ACT_OP_DONE:
			r->done = (u32)a->number;
			break;
		default:
			fail_msg("action %u", a->type);
		}
	}
}

static inline void refill(u32 n)
{
	struct gagg_env env = env_of(n);

	more[n] = false;
	if (!shard[n]->running)
		return;
	while (gagg_chan_refill(shard[n], &geom[n], &env, chan[n], now)) {
		drain(n);
		more[n] = lazy && !rnd(2);
		if (more[n])
			break;
	}
	drain(n);
	gagg_shard_flush(shard[n], &geom[n]);
	drain(n);
}

/* at host @n, of what @from has sent */
static inline struct gagg_arrival arrival_at(u32 n, u32 from)
{
	return (struct gagg_arrival){
		.vis = { .sh = shard[n], .g = &geom[n], .now = now }, .node = from,
	};
}

static inline void receive(const struct packet *p)
{
	u32 n = p->to;
	struct gagg_arrival in = arrival_at(n, p->from);
	const struct gagg_todo *todo = &in.todo;
	struct gagg_env env = env_of(n);
	struct gagg_msg m = p->m;
	enum gagg_rx rx;

	do {
		rx = gagg_shard_rx(&in, &env, &m, &p->ack);
		if (rx == GAGG_RX_ADD) {
			assert_true(todo->alone);
			if (todo->area == GAGG_AREA_BESIDE)
				add(beside[n][todo->slot],
				    todo->first ? NULL : beside[n][todo->slot], p->lanes);
			else
				add(kept[n][todo->slot], kept[n][todo->slot], p->lanes);
			gagg_shard_commit(&in);
		} else if (rx == GAGG_RX_PLACE) {
			assert_int_equal(todo->area, GAGG_AREA_COPY);
			memcpy(local_rank(n, todo->local)->copy[todo->slot], p->lanes,
			       sizeof(p->lanes));
			gagg_shard_commit(&in);
		}
		drain(n);
	} while (rx == GAGG_RX_AGAIN);
	refill(n);
}

static inline void timers(void)
{
	u32 n;

	for (n = 0; n < base_geom.nodes; n++) {
		struct gagg_env env = env_of(n);

		if (!shard[n]->running)
			continue;
		if (gagg_shard_deadline(shard[n], &geom[n]) <= now) {
			gagg_shard_timer(shard[n], &geom[n], &env, now);
			drain(n);
		}
		if (gagg_chan_deadline(chan[n]) <= now)
			gagg_chan_timer(shard[n], &geom[n], chan[n], now);
		refill(n);
	}
}

/* a host begins the epoch, with nothing of the last one */
static inline void begin(u32 n)
{
	u32 i;

	if (!shard[n] || !rnd(3)) {
		free(shard[n]);
		shard[n] = calloc(1, gagg_shard_bytes(&geom[n]));
		gagg_shard_init(shard[n], &geom[n], 0);
	}
	gagg_shard_start(shard[n], &geom[n], epoch, cookie);
	chan[n] = gagg_chan_init(calloc(1, gagg_chan_bytes(&geom[n], geom[n].workers)),
				 &geom[n], 0, 0, geom[n].workers);
	memset(kept[n], 0, sizeof(kept[n]));
	memset(beside[n], 0xee, sizeof(beside[n]));
	more[n] = false;
	for (i = 0; i < nranks; i++) {
		if (ranks[i].node != n)
			continue;
		memset(&ranks[i], 0, sizeof(ranks[i]));
		ranks[i].node = (u8)n;
		ranks[i].local = (u8)gagg_chan_local(chan[n], i);
	}
}

/* the @i-th of the packets in flight arrives */
static inline struct packet take_off(u32 i)
{
	u16 at = flight[i];

	memmove(&flight[i], &flight[i + 1], (--nflight - i) * sizeof(at));
	flight[nflight] = at;
	return packets[at];
}

/* one event of the network, or of a timer when nothing is in flight */
static inline void advance(void)
{
	u32 of = rnd(life + 1), type = rnd(TYPES), n;
	u64 at = GAGG_NEVER;
	struct packet p;

	n = rnd(base_geom.nodes);
	if (lazy && more[n])
		refill(n);
	if (nold[of][type] && !rnd(2)) {
		p = old[of][type][rnd(nold[of][type])];
		receive(&p);
	}
	if (nflight) {
		p = take_off(rnd(100) < disorder ? rnd(nflight) : 0);
		now += 1000 + rnd(20000);
		receive(&p);
		if (rnd(8))
			return;
	}
	for (n = 0; n < base_geom.nodes; n++) {
		if (!shard[n]->running)
			continue;
		at = gagg_min64(at, gagg_shard_deadline(shard[n], &geom[n]));
		at = gagg_min64(at, gagg_chan_deadline(chan[n]));
	}
	if (at == GAGG_NEVER || (nflight && at > now))
		return;
	now = gagg_max64(now, at);
	timers();
}

/* the same; hosts that have not yet begun the epoch may begin it */
static inline void go_on(void)
{
	u32 n = rnd(base_geom.nodes);

	if (!chan[n])
		begin(n);
	advance();
}

/*
 * Does a rank die now? Then all hosts end the epoch, and none begins another one before that
 * (model_join.c). @last_look: called before they forget what they have.
 */
static inline bool dies(void (*last_look)(void))
{
	u32 first = rnd(base_geom.nodes), i, k;

	if (!mortality || life + 1 == LIVES || rnd(mortality))
		return false;
	for (i = 0; i < base_geom.nodes; i++) {
		if (chan[(first + i) % base_geom.nodes])
			gagg_shard_stop(shard[(first + i) % base_geom.nodes]);
		for (k = rnd(16); k; k--)
			advance();
	}
	/* not if one had not begun it */
	for (i = 0, k = 0; i < base_geom.nodes; i++)
		k += !!chan[i];
	if (k == base_geom.nodes)
		last_look();
	for (i = 0; i < base_geom.nodes; i++) {
		free(chan[i]);
		chan[i] = NULL;
	}
	for (i = 0; i < nflight; i++)
		if (!rnd(2))
			repeat(&packets[flight[i]]);
	deaths++;
	life++;
	/* another number on the wire, or another cookie only */
	epoch += rnd(2) ? 1 : 1ULL << 32;
	cookie = gagg_mix64(cookie, seed);
	return true;
}

/* a group of @n ranks in mode @text, of which the nodes in @homes are homes */
static inline void start(u32 n, const char *text, u64 homes)
{
	struct gagg_sync_param p;
	struct gagg_geom *g = &base_geom;
	u32 i;

	assert_true(sync_text_parse(text, &p, NULL, 0));
	memset(g, 0, sizeof(*g));
	g->group = 7;
	g->nodes = (u8)(n < hosts ? n : hosts);
	g->lanes = LANES;
	g->stripe = 2;
	g->shards = 1;
	g->ring = RING;
	g->window = 16;
	g->cwnd = 64;
	g->wide = wide;
	g->aggregators = homes & (GAGG_BIT(g->nodes) - 1);
	memset(g->node_of, 0xff, sizeof(g->node_of));
	memset(ranks, 0, sizeof(ranks));
	nranks = n;
	for (i = 0; i < n; i++) {
		u32 node = i % g->nodes;

		g->node_of[i] = (u8)node;
		g->ranks_of[node] |= GAGG_BIT(i);
		g->workers |= GAGG_BIT(i);
		ranks[i].node = (u8)node;
	}
	gagg_sync_apply(g, &p);
	now = GAGG_SEC;
	for (i = 0; i < FLIGHT; i++)
		flight[i] = (u16)i;
	nflight = 0;
	memset(nold, 0, sizeof(nold));
	epoch = EPOCH;
	cookie = COOKIE;
	life = 0;
	memset(sent, 0, sizeof(sent));
	for (i = 0; i < g->nodes; i++) {
		geom[i] = *g;
		geom[i].self = (u8)i;
		free(chan[i]);
		free(shard[i]);
		shard[i] = NULL;
		begin(i);
	}
}

/* submits an op of a rank, with copies on that of rank @of; returns its number */
static inline u32 submit_of(u32 rank, u8 flags, u32 of, u32 first, u32 chunks)
{
	struct rank *r = &ranks[rank];
	int home = gagg_chan_home(chan[r->node], ranks[of].node);
	u64 op = gagg_store_submit(chan[r->node], r->local, &(struct gagg_op){
		.start = first, .end = (u64)first + chunks, .flags = flags, .copy = (u16)home,
	});

	assert_true(op);
	refill(r->node);
	return (u32)op;
}

static inline u32 submit(u32 rank, u8 flags, u32 first, u32 chunks)
{
	return submit_of(rank, flags, rank, first, chunks);
}

/* the rank's host has begun the epoch */
static inline bool attached(u32 rank)
{
	return chan[ranks[rank].node];
}

/* updates that a rank has begun; GAGG_CLOCK_END: its last one, too */
static inline u32 begun(u32 rank)
{
	return attached(rank) ? gagg_store_clock(chan[ranks[rank].node], ranks[rank].local) : 0;
}

/* updates that are over: all homes that must have them do */
static inline u32 confirmed(u32 rank)
{
	const struct gagg_local *lo = &chan[ranks[rank].node]->local[ranks[rank].local];

	return lo->finished < lo->numbers ? lo->op[(lo->finished + 1) % GAGG_OPS].clock : lo->clock;
}

/* home of chunk @slot */
static inline u32 home_of(u32 slot)
{
	return chan[0]->home[gagg_geom_home(&base_geom, chan[0]->nhomes, slot)];
}

static inline void stop_all(void)
{
	u32 i;

	for (i = 0; i < NODES; i++) {
		free(shard[i]);
		free(chan[i]);
		shard[i] = NULL;
		chan[i] = NULL;
	}
}

#endif
