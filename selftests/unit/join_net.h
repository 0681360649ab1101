/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Up to three nodes with the join object, and a network between them with a delay of DELAY, SHARDS
 * shards, and the losses that lost() chooses. One per program.
 */
#ifndef JOIN_NET_H
#define JOIN_NET_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "group/join.h"

#define NODES	3
#define SHARDS	2
#define QUEUE	256
#define DELAY	(100 * GAGG_USEC)

struct datagram {
	u64 at;
	u32 from, to, shard;
	struct gagg_msg m;
	union gagg_join_body body;
};

/* node n has the ranks 2n (a worker) and 2n + 1 */
static struct {
	struct gagg_geom g;
	struct gagg_join j;
	bool up;
	u32 starts, ends, notified;
} host[NODES];

static struct datagram queue[QUEUE], last[GAGG_T_ABORT + 1];
static u32 nodes, nqueue, sent[GAGG_T_ABORT + 1];
static u64 now, instances;
static bool (*lost)(const struct datagram *d);
static bool (*clogged)(u32 n);	/* the socket of host n accepts no long datagrams */
static u32 wides;		/* HELLOs as long as a chunk that were sent */

static inline void boot(u32 n)
{
	u32 i, digest[GAGG_DG_COUNT];

	for (i = 0; i < GAGG_DG_COUNT; i++)
		digest[i] = i;
	gagg_join_init(&host[n].j, &host[n].g, digest, ++instances);
	host[n].j.enabled = 1;
	host[n].up = true;
}

static inline void world(u32 n)
{
	struct gagg_geom g = { .group = 9, .nodes = (u8)n, .dead_after = 5 * GAGG_SEC,
			       .shards = SHARDS, .lanes = 344 };
	u32 i;

	memset(host, 0, sizeof(host));
	memset(sent, 0, sizeof(sent));
	memset(g.node_of, 0xff, sizeof(g.node_of));
	nodes = n;
	nqueue = 0;
	now = 0;
	instances = 100;
	lost = NULL;
	for (i = 0; i < n; i++) {
		g.node_of[2 * i] = (u8)i;
		g.node_of[2 * i + 1] = (u8)i;
		g.ranks_of[i] = 3ULL << 2 * i;
		g.workers |= GAGG_BIT(2 * i);
	}
	for (i = 0; i < n; i++) {
		host[i].g = g;
		host[i].g.self = (u8)i;
		boot(i);
	}
}

/* what host n says now; GAGG_JOIN_SEND_* */
static inline u32 make(struct datagram *d, u32 n, u8 type, u32 to)
{
	struct gagg_word w;

	gagg_join_say(&host[n].j, &host[n].g, type, to, &w);
	d->m = w.m;
	memcpy(&d->body, &w.body, sizeof(d->body));
	return w.shards;
}

static inline void carry(const struct datagram *d)
{
	sent[d->m.type]++;
	if (d->m.len <= sizeof(d->body))
		last[d->m.type] = *d;
	if (lost && lost(d))
		return;
	assert_in_range(nqueue, 0, QUEUE - 1);
	queue[nqueue++] = *d;
}

static inline void carry_wide(struct datagram *d, u32 shards)
{
	if (clogged && clogged(d->from))
		return;
	for (; shards; shards &= shards - 1) {
		d->shard = gagg_lowest(shards);
		wides++;
		carry(d);
	}
	gagg_join_sent(&host[d->from].j, d->to);
}

static inline void drain(u32 n)
{
	struct gagg_join *j = &host[n].j;
	u32 i, shards;

	assert_in_range(j->nacts, 0, 3 * nodes + 3);
	for (i = 0; i < j->nacts; i++) {
		struct datagram d = { .at = now + DELAY, .from = n, .to = j->act[i].node };

		switch (j->act[i].type) {
		case GAGG_JOIN_EPOCH_START:
			host[n].starts++;
			continue;
		case GAGG_JOIN_EPOCH_END:
			host[n].ends++;
			continue;
		case GAGG_JOIN_NOTIFY:
			host[n].notified++;
			continue;
		}
		shards = make(&d, n, j->act[i].type, d.to);
		if (j->act[i].type == GAGG_JOIN_SEND_WIDE)
			carry_wide(&d, shards);
		else
			carry(&d);
	}
	j->nacts = 0;
}

static inline enum gagg_drop deliver(const struct datagram *d)
{
	const struct gagg_join_dgram in = {
		.node = d->from,
		.shard = d->shard,
		.m = &d->m,
		.body = &d->body,
		.random = now ^ 0x5eed,
		.now = now,
	};
	enum gagg_drop r;

	if (!host[d->to].up)
		return GAGG_DROP_NONE;
	r = gagg_join_rx(&host[d->to].j, &host[d->to].g, &in);
	drain(d->to);
	return r;
}

static inline void run(u64 time)
{
	u64 until = now + time;

	for (;;) {
		u64 at = until;
		u32 n, who = NODES;

		for (n = 0; n < nodes; n++) {
			u64 t = host[n].up ? gagg_join_deadline(&host[n].j, &host[n].g) :
					     GAGG_NEVER;

			if (t < at) {
				at = t;
				who = n;
			}
		}
		if (nqueue && queue[0].at <= at) {
			struct datagram d = queue[0];

			now = gagg_max64(now, d.at);
			memmove(queue, queue + 1, --nqueue * sizeof(d));
			deliver(&d);
			continue;
		}
		now = gagg_max64(now, at);
		if (who == NODES)
			return;
		gagg_join_timer(&host[who].j, &host[who].g, now ^ 0xc00c1e, now);
		drain(who);
	}
}

static inline void attach(u32 rank)
{
	u32 n = rank / 2;

	gagg_join_attach(&host[n].j, &host[n].g, rank, now);
	drain(n);
}

static inline void leave(u32 rank, u32 reason)
{
	u32 n = rank / 2;

	gagg_join_leave(&host[n].j, &host[n].g, rank, reason, now);
	drain(n);
}

static inline void attach_all(void)
{
	u32 n;

	for (n = 0; n < nodes; n++)
		attach(2 * n);
}

static inline bool all_run(u64 epoch)
{
	u32 n;

	for (n = 0; n < nodes; n++)
		if (host[n].j.phase != GAGG_PHASE_RUNNING || host[n].j.epoch != epoch ||
		    host[n].j.cookie != host[0].j.cookie)
			return false;
	return true;
}

static inline void assert_ended(u32 n, u64 epoch, u32 reason, u32 rank)
{
	assert_int_equal(host[n].j.phase, GAGG_PHASE_IDLE);
	assert_int_equal(host[n].j.epoch, epoch);
	assert_int_equal(host[n].j.end.reason, reason);
	assert_int_equal(host[n].j.end.rank, rank);
}

static inline void started(u32 n)
{
	world(n);
	attach_all();
	run(100 * GAGG_MSEC);
	assert_true(all_run(1));
}

static inline bool lose_all(const struct datagram *d)
{
	(void)d;
	return true;
}

static inline bool lose_start(const struct datagram *d)
{
	return d->m.type == GAGG_T_START;
}

static inline bool lose_abort(const struct datagram *d)
{
	return d->m.type == GAGG_T_ABORT;
}

static inline bool lose_node2(const struct datagram *d)
{
	return d->from == 2 || d->to == 2;
}

#endif
