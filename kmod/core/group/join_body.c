// SPDX-License-Identifier: GPL-2.0
/*
 * Bodies of the join object's datagrams: HELLO, START and ABORT; and how a HELLO differs from them.
 */
#include "group/join.h"

static void body_header(const struct gagg_join *j, const struct gagg_geom *g, u8 type,
			u32 len, struct gagg_word *w)
{
	w->m.type = type;
	w->m.group = g->group;
	w->m.epoch = (u32)j->epoch;
	w->m.src = (u16)gagg_lowest(g->ranks_of[g->self]);
	w->m.run = 1;
	w->m.len = len;
	w->len = len;
}

static void body_of_any_hello(const struct gagg_join *j, const struct gagg_geom *g, u32 node,
			      struct gagg_word *w)
{
	const struct gagg_peer *p = &j->peer[node];
	struct gagg_hello *body = &w->body.hello;
	u32 i;

	body_header(j, g, GAGG_T_HELLO, sizeof(*body), w);
	w->m.lanes = j->limit;
	w->m.pn = j->pn;
	w->m.aux = p->echo_other ? p->other_pn : p->pn;
	body->instance = cpu_to_le64(j->instance);
	body->echo = cpu_to_le64(p->echo_other ? p->other : p->instance);
	body->attached = cpu_to_le64(j->attached);
	body->ver_min = GAGG_WIRE_OLDEST;
	body->ver_max = GAGG_WIRE_NEWEST;
	body->phase = j->phase;
	/* any_pn: it was accepted on the coordinator's word, so there is nothing to acknowledge */
	if (p->instance && !p->echo_other && !p->any_pn)
		body->flags |= GAGG_HELLO_KNOWN;
	body->epoch_hi = cpu_to_le32((u32)(j->epoch >> 32));
	for (i = 0; i < GAGG_DG_COUNT; i++)
		body->digest[i] = cpu_to_le32(j->digest[i]);
	if (j->through)
		body->flags |= GAGG_HELLO_THROUGH;
	for (i = 0; i < g->nodes; i++)
		if (j->peer[i].stale)
			body->flags |= GAGG_HELLO_BLOCKED;
	body->lacks = cpu_to_le16(p->lacks);
	body->blocked = cpu_to_le16(p->stale);
}

static void body_hello(struct gagg_join *j, const struct gagg_geom *g, u32 node,
		       struct gagg_word *w)
{
	struct gagg_peer *p = &j->peer[node];

	body_of_any_hello(j, g, node, w);
	if (p->ask)
		w->body.hello.flags |= GAGG_HELLO_ASK;
	if (p->sent)
		w->body.hello.flags |= GAGG_HELLO_SENT;
	p->sent = 0;
	p->ask = 0;
}

/* an answer: it never asks */
static void body_wide(const struct gagg_join *j, const struct gagg_geom *g, u32 node,
		      struct gagg_word *w)
{
	body_of_any_hello(j, g, node, w);
	w->m.len = gagg_join_wide_len(j);
	w->shards = j->peer[node].missed;
}

static void body_start(const struct gagg_join *j, const struct gagg_geom *g,
		       struct gagg_word *w)
{
	struct gagg_start *body = &w->body.start;
	u32 n, len = (u32)offsetof(struct gagg_start, instance) + 8U * g->nodes;

	body_header(j, g, GAGG_T_START, len, w);
	w->m.lanes = j->start_lanes;
	body->cookie = cpu_to_le64(j->cookie);
	body->epoch_hi = cpu_to_le32((u32)(j->epoch >> 32));
	body->nodes = cpu_to_le32(g->nodes);
	for (n = 0; n < g->nodes; n++)
		body->instance[n] = cpu_to_le64(j->start_instance[n]);
}

static void body_abort(const struct gagg_join *j, const struct gagg_geom *g,
		       struct gagg_word *w)
{
	struct gagg_abort *body = &w->body.abort;

	body_header(j, g, GAGG_T_ABORT, sizeof(*body), w);
	w->m.epoch = (u32)j->last_epoch;
	w->m.cookie = j->last_cookie;
	body->reason = cpu_to_le32(j->last_end.reason);
	body->rank = cpu_to_le16(j->last_end.rank);
	body->other = cpu_to_le16(j->last_end.other);
	body->sig = cpu_to_le32(j->last_end.sig);
	body->other_sig = cpu_to_le32(j->last_end.other_sig);
	body->call = cpu_to_le32(j->last_end.call);
	body->other_call = cpu_to_le32(j->last_end.other_call);
}

void gagg_join_say(struct gagg_join *j, const struct gagg_geom *g, u8 type, u32 node,
		   struct gagg_word *w)
{
	memset(w, 0, sizeof(*w));
	w->shards = 1;
	switch (type) {
	case GAGG_JOIN_SEND_HELLO:
		body_hello(j, g, node, w);
		break;
	case GAGG_JOIN_SEND_WIDE:
		body_wide(j, g, node, w);
		break;
	case GAGG_JOIN_SEND_START:
		body_start(j, g, w);
		break;
	default:
		body_abort(j, g, w);
	}
}

void gagg_join_sent(struct gagg_join *j, u32 node)
{
	j->peer[node].sent = 1;
}

struct gagg_mismatch gagg_join_mismatch(const struct gagg_join *j, const struct gagg_hello *b)
{
	const u32 own = GAGG_WIRE_VERSION;
	u32 i;

	if (b->ver_min > own)
		return (struct gagg_mismatch){ 1 + GAGG_DG_COUNT, own, b->ver_min };
	if (b->ver_max < own)
		return (struct gagg_mismatch){ 1 + GAGG_DG_COUNT, own, b->ver_max };
	for (i = 0; i < GAGG_DG_COUNT; i++) {
		u32 there = le32_to_cpu(b->digest[i]);

		if (there != j->digest[i])
			return (struct gagg_mismatch){ 1 + i, j->digest[i], there };
	}
	return (struct gagg_mismatch){ 0 };
}
