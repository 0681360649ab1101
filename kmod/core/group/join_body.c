// SPDX-License-Identifier: GPL-2.0
/*
 * What the join object says: bodies of HELLO, START and ABORT, what differs from
 * a HELLO, and what is known of all nodes.
 */
#include "group/join.h"

static void header(const struct gagg_join *j, const struct gagg_geom *g, u8 type,
		   u32 len, struct gagg_msg *m)
{
	memset(m, 0, sizeof(*m));
	m->type = type;
	m->group = g->group;
	m->epoch = (u32)j->epoch;
	m->src = (u16)gagg_lowest(g->ranks_of[g->self]);
	m->run = 1;
	m->len = len;
}

static void hello(const struct gagg_join *j, const struct gagg_geom *g, u32 node,
		  struct gagg_msg *m, struct gagg_hello *body)
{
	const struct gagg_peer *p = &j->peer[node];
	u32 i;

	header(j, g, GAGG_T_HELLO, sizeof(*body), m);
	m->lanes = j->limit;
	m->pn = j->pn;
	m->aux = p->echo_other ? p->other_pn : p->pn;
	memset(body, 0, sizeof(*body));
	body->instance = cpu_to_le64(j->instance);
	body->echo = cpu_to_le64(p->echo_other ? p->other : p->instance);
	body->attached = cpu_to_le64(j->attached);
	body->ver_min = GAGG_WIRE_VERSION;
	body->ver_max = GAGG_WIRE_VERSION;
	body->phase = j->phase;
	/* any_pn: accepted on the coordinator's word, nothing to acknowledge */
	if (p->instance && !p->echo_other && !p->any_pn)
		body->flags |= GAGG_HELLO_KNOWN;
	if (p->ask)
		body->flags |= GAGG_HELLO_ASK;
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

u32 gagg_join_hello(struct gagg_join *j, const struct gagg_geom *g,
		    u32 node, struct gagg_msg *m, struct gagg_hello *body)
{
	hello(j, g, node, m, body);
	if (j->peer[node].sent)
		body->flags |= GAGG_HELLO_SENT;
	j->peer[node].sent = 0;
	j->peer[node].ask = 0;
	return sizeof(*body);
}

void gagg_join_sent(struct gagg_join *j, u32 node)
{
	j->peer[node].sent = 1;
}

u32 gagg_join_wide(const struct gagg_join *j, const struct gagg_geom *g,
		   u32 node, struct gagg_msg *m, struct gagg_hello *body)
{
	hello(j, g, node, m, body);
	/* it is an answer */
	body->flags &= (u8)~GAGG_HELLO_ASK;
	m->len = gagg_join_wide_len(j);
	return m->len;
}

u32 gagg_join_start(const struct gagg_join *j, const struct gagg_geom *g,
		    struct gagg_msg *m, struct gagg_start *body)
{
	u32 n, len = (u32)offsetof(struct gagg_start, instance) + 8U * g->nodes;

	header(j, g, GAGG_T_START, len, m);
	m->lanes = j->start_lanes;
	body->cookie = cpu_to_le64(j->cookie);
	body->epoch_hi = cpu_to_le32((u32)(j->epoch >> 32));
	body->nodes = cpu_to_le32(g->nodes);
	for (n = 0; n < g->nodes; n++)
		body->instance[n] = cpu_to_le64(j->start_instance[n]);
	return len;
}

u32 gagg_join_abort_body(const struct gagg_join *j, const struct gagg_geom *g,
			 struct gagg_msg *m, struct gagg_abort *body)
{
	header(j, g, GAGG_T_ABORT, sizeof(*body), m);
	m->epoch = (u32)j->last_epoch;
	m->cookie = j->last_cookie;
	body->reason = cpu_to_le32(j->last_end.reason);
	body->rank = cpu_to_le16(j->last_end.rank);
	body->other = cpu_to_le16(j->last_end.other);
	body->sig = cpu_to_le32(j->last_end.sig);
	body->other_sig = cpu_to_le32(j->last_end.other_sig);
	body->call = cpu_to_le32(j->last_end.call);
	body->other_call = cpu_to_le32(j->last_end.other_call);
	return sizeof(*body);
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

void gagg_join_tell_mismatch(const struct gagg_join *j, const struct gagg_geom *g,
			     struct gagg_ioc_status *st)
{
	u64 left;
	u32 n;

	gagg_for_each_node(n, left, j->others) {
		const struct gagg_mismatch *bad = &j->peer[n].mismatch;

		if (!bad->field)
			continue;
		st->mismatch = bad->field;
		st->mismatch_node = gagg_lowest(g->ranks_of[n]);
		st->mismatch_here = bad->here;
		st->mismatch_there = bad->there;
		return;
	}
}

bool gagg_join_blocked(const struct gagg_join *j, const struct gagg_geom *g, u32 node,
		       u64 now, u16 *in, u16 *out)
{
	const struct gagg_peer *p = &j->peer[node];

	*in = 0;
	*out = 0;
	if (node == g->self || !p->instance || !gagg_peer_alive(g, p, now))
		return false;
	*in = p->stale;
	*out = p->cut;
	return p->stale || p->cut || (p->flags & GAGG_HELLO_BLOCKED);
}

u32 gagg_join_names_blocked(const struct gagg_join *j, const struct gagg_geom *g, u64 now)
{
	u32 n, named = 0;
	u16 in, out;
	u64 left;

	gagg_for_each_node(n, left, j->others) {
		u32 rank;

		if (!gagg_join_blocked(j, g, n, now, &in, &out))
			continue;
		rank = 1 + gagg_lowest(g->ranks_of[n]);
		if (in || out)
			return rank;
		named = named ? named : rank;
	}
	return named;
}

void gagg_join_trips(const struct gagg_join *j, const struct gagg_geom *g,
		     u32 trip[GAGG_NODES])
{
	u32 n;

	for (n = 0; n < g->nodes; n++)
		trip[n] = j->peer[n].trip;
}

u64 gagg_join_attached(const struct gagg_join *j, const struct gagg_geom *g)
{
	u64 left, mask = j->attached;
	u32 n;

	gagg_for_each_node(n, left, j->others)
		mask |= j->peer[n].attached & g->ranks_of[n];
	return mask;
}

u64 gagg_join_heard(const struct gagg_join *j, const struct gagg_geom *g, u64 now)
{
	u64 left, mask = g->ranks_of[g->self];
	u32 n;

	gagg_for_each_node(n, left, j->others)
		if (gagg_peer_alive(g, &j->peer[n], now))
			mask |= g->ranks_of[n];
	return mask;
}
