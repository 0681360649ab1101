/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One node under test: a shard with one channel. The test passes it what other nodes would send.
 * Rank n lives on node n, except where stated.
 */
#ifndef CHAN_NODE_H
#define CHAN_NODE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core.h"

#define EPOCH	0x500000009ULL
#define COOKIE	0x0123456789abcdefULL
#define ADD	GAGG_LANEOP(GAGG_LANE_S32, GAGG_OP_ADD)
#define ACTS	4096

static struct gagg_geom g;
static struct gagg_shard *sh;
static struct gagg_chan *ch;
static struct gagg_act acts[ACTS];
static u32 nacts;
static struct gagg_arrival in;
static u64 now;
static u64 filled[GAGG_LOCALS];
static struct gagg_cdesc desc[GAGG_LOCALS];	/* of contributions, but for */
static u64 zero_slots;				/* bit per slot: these are zero, */
static u8 exp_step;				/* and exponents grow with the slot */
static u32 pn[GAGG_NODES];			/* last packet number of each node */

static inline struct gagg_chan *lend_chan(void *ctx, u16 id)
{
	(void)ctx;
	return ch && id == ch->id ? ch : NULL;
}

static inline u64 lend_filled(void *ctx, struct gagg_chan *chan, u32 local)
{
	(void)ctx, (void)chan;
	return filled[local];
}

static inline struct gagg_cdesc lend_desc(void *ctx, struct gagg_chan *chan, u32 local, u32 slot)
{
	struct gagg_cdesc d = desc[local];

	(void)ctx, (void)chan;
	if (zero_slots >> slot % 64 & 1)
		d.flags |= GAGG_C_ZERO;
	d.exp += (u8)(slot * exp_step);
	d.want += (u8)(slot * exp_step);
	return d;
}

static const struct gagg_env env = {
	.chan = lend_chan, .filled = lend_filled, .desc = lend_desc,
};

/* three nodes, one rank each, node 0 is the home of all; chunks of 4 lanes */
static inline void geometry(u32 self)
{
	u32 n;

	memset(&g, 0, sizeof(g));
	g.group = 7;
	g.self = (u8)self;
	g.nodes = 3;
	g.lanes = 4;
	g.stripe = 1;
	g.shards = 1;
	g.ring = 16;
	g.window = 8;
	g.cwnd = 64;
	g.aggregators = 1;
	memset(g.node_of, 0xff, sizeof(g.node_of));
	for (n = 0; n < g.nodes; n++) {
		g.node_of[n] = (u8)n;
		g.ranks_of[n] = GAGG_BIT(n);
		g.workers |= GAGG_BIT(n);
	}
}

/* a further rank on a node */
static inline void more_ranks(u32 node, u32 rank)
{
	g.node_of[rank] = (u8)node;
	g.ranks_of[node] |= GAGG_BIT(rank);
	g.workers |= GAGG_BIT(rank);
}

static inline void drain(void)
{
	const struct gagg_act *a;

	while ((a = gagg_shard_act(sh))) {
		assert_true(nacts < ACTS);
		acts[nacts++] = *a;
	}
}

/* an op of a local rank, as message() contributes to it */
static inline u64 submit(u32 local, u64 chunks)
{
	return gagg_ring_submit(ch, local, &(struct gagg_op){
		.sig = 0x51, .laneop = ADD, .last_lanes = 4,
	}, chunks);
}

static inline void start_channel(u16 id, u64 members)
{
	free(sh);
	free(ch);
	sh = calloc(1, gagg_shard_bytes(&g));
	gagg_shard_init(sh, &g, 0);
	gagg_shard_start(sh, &g, EPOCH, COOKIE);
	ch = gagg_chan_init(calloc(1, gagg_chan_bytes(&g, members)), &g, 0, id, members);
	now = GAGG_SEC;
	nacts = 0;
	memset(filled, 0, sizeof(filled));
	memset(desc, 0, sizeof(desc));
	zero_slots = 0;
	exp_step = 0;
	memset(pn, 0, sizeof(pn));
}

/* geometry and channel, with one long op of every local rank in flight */
static inline void start(u32 self)
{
	u32 l;

	geometry(self);
	start_channel(0, g.workers);
	for (l = 0; l < ch->nlocals; l++)
		assert_int_equal(submit(l, 1000), 1);
}

static inline int finish_test(void **state)
{
	(void)state;
	free(sh);
	free(ch);
	sh = NULL;
	ch = NULL;
	return 0;
}

static inline struct gagg_msg message(u8 type, u32 src, u32 chunk, u32 round)
{
	struct gagg_msg m = {
		.type = type, .group = 7, .epoch = (u32)EPOCH, .cookie = COOKIE, .src = (u16)src,
		.sig = 0x51, .chunk = chunk, .round = round, .run = 1, .lanes = 4, .weight = 1,
	};

	return m;
}

/* @node sends it */
static inline enum gagg_rx arrive(u32 node, struct gagg_msg *m, const void *body, bool ce)
{
	in.vis.sh = sh;
	in.vis.g = &g;
	in.vis.now = now;
	in.node = node;
	in.ce = ce;
	return gagg_shard_rx(&in, &env, m, body);
}

/* what in.todo.m is the header of follows what has arrived */
static inline enum gagg_rx follow(bool ce)
{
	in.vis.now = now;
	in.ce = ce;
	return gagg_shard_next(&in);
}

/* @node sends it; lanes are taken for added or placed */
static inline enum gagg_rx rx_body(u32 node, struct gagg_msg *m, const void *body, bool ce)
{
	enum gagg_rx rx;

	do {
		rx = arrive(node, m, body, ce);
		if (rx == GAGG_RX_ADD || rx == GAGG_RX_PLACE)
			gagg_shard_commit(&in);
		drain();
	} while (rx == GAGG_RX_AGAIN);
	return rx;
}

static inline enum gagg_rx rx(u32 node, struct gagg_msg m)
{
	return rx_body(node, &m, NULL, false);
}

static inline enum gagg_rx contrib(u32 rank, u32 chunk, u32 round, u8 exp)
{
	struct gagg_msg m = message(GAGG_T_CONTRIB, rank, chunk, round);

	m.exp = exp;
	m.want = exp;
	m.pn = ++pn[g.node_of[rank]];
	return rx(g.node_of[rank], m);
}

static inline enum gagg_rx ready(u32 rank, u32 chunk, u32 round, u32 run)
{
	struct gagg_msg m = message(GAGG_T_READY, rank, chunk, round);

	m.flags = GAGG_WF_ZERO;
	m.run = (u16)run;
	m.pn = ++pn[g.node_of[rank]];
	return rx(g.node_of[rank], m);
}

static inline enum gagg_rx ask(u32 rank, u32 chunk, u32 round, u32 run)
{
	struct gagg_msg m = message(GAGG_T_QUERY, rank, chunk, round);

	m.run = (u16)run;
	return rx(g.node_of[rank], m);
}

/* a request of a rank for repetitions */
static inline enum gagg_rx ask_repeat(u32 rank, u32 chunk, u32 round, u32 run)
{
	struct gagg_msg m = message(GAGG_T_QUERY, rank, chunk, round);

	m.flags = GAGG_WF_REPAIR;
	m.run = (u16)run;
	return rx(g.node_of[rank], m);
}

/* a result of node 0; @rpn counts results of the channel there */
static inline enum gagg_rx result(u32 chunk, u32 round, u32 rpn)
{
	struct gagg_msg m = message(GAGG_T_RESULT, 0, chunk, round);

	m.pn = rpn;
	m.aux = 3;
	return rx(0, m);
}

static inline void refill(void)
{
	while (gagg_chan_refill(sh, &g, &env, ch, now))
		drain();
	drain();
}

/* the end of a batch */
static inline void flush(void)
{
	refill();
	gagg_shard_flush(sh, &g);
	drain();
}

static inline void push_to(u64 v)
{
	u32 l;

	for (l = 0; l < ch->nlocals; l++)
		filled[l] = v;
	refill();
}

/* @node acknowledges everything sent to it but the numbers in @but */
static inline void acknowledge(u32 node, u64 but)
{
	struct gagg_msg m = message(GAGG_T_ACK, node, 0, 0);
	u32 next = sh->path[node].next_pn, i;
	struct gagg_ack ack = { .base = cpu_to_le32(1) };

	for (i = 1; i < next; i++)
		if (i >= 64 || !(but & GAGG_BIT(i))) {
			ack.map[(i - 1) / 64] |= cpu_to_le64(GAGG_BIT((i - 1) % 64));
			ack.largest = cpu_to_le32(i);
		}
	m.len = sizeof(ack);
	assert_int_equal(rx_body(node, &m, &ack, false), GAGG_RX_OK);
}

static inline void fire(void)
{
	gagg_shard_timer(sh, &g, &env, now);
	drain();
	gagg_chan_timer(sh, &g, ch, now);
	drain();
	flush();
}

/* the next action of a type from *at on, or NULL */
static inline const struct gagg_act *next_act(u32 *at, u8 type)
{
	while (*at < nacts)
		if (acts[(*at)++].type == type)
			return &acts[*at - 1];
	return NULL;
}

static inline u32 count_acts(u8 type)
{
	u32 at = 0, n = 0;

	while (next_act(&at, type))
		n++;
	return n;
}

/* messages of a type among the SEND_CTRL; *last is the last of them */
static inline u32 count_ctrl(u8 type, const struct gagg_act **last)
{
	const struct gagg_act *a;
	u32 at = 0, n = 0;

	while ((a = next_act(&at, GAGG_ACT_SEND_CTRL)))
		if (a->m.type == type) {
			if (last)
				*last = a;
			n++;
		}
	return n;
}

static inline const struct gagg_act *only(u8 type)
{
	u32 at = 0;
	const struct gagg_act *a;

	assert_int_equal(count_acts(type), 1);
	a = next_act(&at, type);
	return a;
}

static inline const struct gagg_act *only_ctrl(u8 type)
{
	const struct gagg_act *a = NULL;

	assert_int_equal(count_ctrl(type, &a), 1);
	return a;
}

#endif
