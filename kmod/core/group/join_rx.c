// SPDX-License-Identifier: GPL-2.0
/*
 * What HELLO, START and ABORT of another node mean.
 */
#include "group/internal.h"

/* Epochs grow by one. How far one HELLO can move them on is bounded, so that none leads to the
 * last epoch there is: EPOCH_FAR is as far as a new coordinator may have to follow, and from there
 * on a step is small.
 */
#define EPOCH_FAR	GAGG_BIT(48)
#define EPOCH_STEP	GAGG_BIT(16)

/* packet numbers wrap; is @a at or after @b? */
static bool rx_pn_reached(u32 a, u32 b)
{
	return (s32)(a - b) >= 0;
}

/* least time between two answers as long as a chunk: in an epoch a slow link carries chunks, too */
static u64 rx_wide_pace(const struct gagg_join *j, const struct gagg_geom *g)
{
	return j->phase == GAGG_PHASE_IDLE ? 0 : g->dead_after / 64;
}

/* A HELLO of an instance that is not accepted: its state does not count. The known instance is
 * doubted until one of both echoes a HELLO that is sent from now on
 */
static void rx_doubt(struct gagg_join *j, const struct gagg_geom *g,
		     const struct gagg_join_dgram *d, u64 instance, bool asked)
{
	struct gagg_peer *p = &j->peer[d->node];
	bool open = p->other;

	if (p->other != instance || rx_pn_reached(d->m->pn, p->other_pn))
		p->other_pn = d->m->pn;
	p->other = instance;
	p->echo_other = 1;
	if (!open) {
		gagg_join_say_hello(j, d->node, true, d->now);
		p->challenge = j->pn;
		gagg_join_changed(j, g, d->now);
	} else if (asked) {
		gagg_join_say_hello(j, d->node, false, d->now);
	}
}

static void rx_accept(struct gagg_join *j, const struct gagg_geom *g, u32 node,
		      u64 instance, u64 now)
{
	struct gagg_peer *p = &j->peer[node];

	if (j->phase != GAGG_PHASE_IDLE)
		gagg_join_epoch_end_node(j, g, node, GAGG_R_RESTART, now);
	memset(p, 0, sizeof(*p));
	p->instance = instance;
	p->any_pn = 1;
	gagg_join_say_hello(j, node, true, now);
	gagg_join_changed(j, g, now);
}

/* @aux: the last of our HELLOs that a peer had when it sent this */
static void rx_take_trip(struct gagg_peer *p, u32 aux, u64 now)
{
	if (!p->asked_at || !rx_pn_reached(aux, p->asked_pn))
		return;
	if (now < p->asked_at + GAGG_TRIP_WAIT)
		p->trip = (u32)gagg_max64(now - p->asked_at, 1);
	p->asked_at = 0;
}

static enum gagg_drop rx_hello(struct gagg_join *j, const struct gagg_geom *g,
			       const struct gagg_join_dgram *d, const struct gagg_hello *b)
{
	const struct gagg_msg *m = d->m;
	u64 now = d->now;
	u32 node = d->node;
	struct gagg_peer *p = &j->peer[node];
	u64 instance = le64_to_cpu(b->instance);
	bool echoed = le64_to_cpu(b->echo) == j->instance;
	bool asked = b->flags & GAGG_HELLO_ASK;
	u64 epoch = (u64)le32_to_cpu(b->epoch_hi) << 32 | m->epoch;
	bool answers = p->other && echoed && rx_pn_reached(m->aux, p->challenge);
	bool claimed = gagg_join_claims_ended(j, p), wide = m->len >= gagg_join_wide_len(j);
	u64 attached = le64_to_cpu(b->attached) & g->ranks_of[node];
	struct gagg_mismatch mismatch = gagg_join_mismatch(j, b);
	u8 flags = b->flags & (GAGG_HELLO_THROUGH | GAGG_HELLO_BLOCKED);
	u16 cut;

	if (!instance || instance == j->instance)
		return GAGG_DROP_SOURCE;
	if (epoch > gagg_max64(EPOCH_FAR, j->top + EPOCH_STEP))
		return GAGG_DROP_EPOCH;
	if (instance != p->instance) {
		if (!answers && (p->instance || !echoed)) {
			rx_doubt(j, g, d, instance, asked);
			return GAGG_DROP_NONE;
		}
		rx_accept(j, g, node, instance, now);
		gagg_join_emit(j, GAGG_JOIN_NOTIFY, node);
		claimed = false;
	}
	if (!gagg_peer_alive(g, p, now))
		gagg_join_meet(j, g, p, now);
	/* Its length counts even if its state does not: a later one may have overtaken it, and
	 * the same one comes on every shard. If it is padded to less, its sender has heard of a
	 * node that can send less, and this one has not
	 */
	if (wide)
		gagg_join_hear_wide(j, g, node, d->shard, now);
	else if (m->len > sizeof(*b))
		p->alone = 0;
	if (m->len > sizeof(*b))
		p->shorter = !wide;
	if (!p->any_pn && rx_pn_reached(p->pn, m->pn))
		return wide && p->pn == m->pn ? GAGG_DROP_NONE : GAGG_DROP_WINDOW;

	if (p->lacks && !wide && (b->flags & GAGG_HELLO_SENT) && p->alone < 255)
		p->alone++;
	p->limit = gagg_join_are_lanes(j, m->lanes) ? m->lanes : 0;
	if (answers)
		p->other = 0;
	p->any_pn = 0;
	p->echo_other = 0;
	p->pn = m->pn;
	p->heard = gagg_max64(now, 1);
	p->knows_me = echoed && (b->flags & GAGG_HELLO_KNOWN);
	if (p->knows_me)
		rx_take_trip(p, m->aux, now);
	p->phase = b->phase;
	p->missed = p->knows_me ? le16_to_cpu(b->lacks) & gagg_join_all_shards(g) : 0;
	cut = p->knows_me ? le16_to_cpu(b->blocked) & gagg_join_all_shards(g) : 0;
	p->epoch = epoch;
	j->top = gagg_max64(j->top, p->epoch);
	if (p->knows_me && rx_pn_reached(m->aux, j->end_pn))
		j->end_wait &= ~GAGG_BIT(node);
	if (p->knows_me && rx_pn_reached(m->aux, j->say_pn))
		j->say_wait &= ~GAGG_BIT(node);

	if (attached != p->attached || mismatch.field != p->mismatch.field || cut != p->cut ||
	    flags != p->flags ||
	    !(j->alive & GAGG_BIT(node)))
		gagg_join_emit(j, GAGG_JOIN_NOTIFY, node);
	j->alive |= GAGG_BIT(node);
	p->attached = attached;
	p->mismatch = mismatch;
	p->cut = cut;
	p->flags = flags;

	gagg_join_agree_lanes(j, g, now);
	if (gagg_join_claims_ended(j, p) && !claimed)
		gagg_join_emit(j, GAGG_JOIN_SEND_ABORT, node);
	if (asked)
		gagg_join_say_hello(j, node, false, now);
	if (asked && p->missed && now >= p->answered + rx_wide_pace(j, g)) {
		p->answered = now;
		gagg_join_emit(j, GAGG_JOIN_SEND_WIDE, node);
	}
	gagg_join_try_start(j, g, d->random, now);
	return GAGG_DROP_NONE;
}

static u64 rx_list_entry(const struct gagg_start *b, u32 n)
{
	__le64 v;

	memcpy(&v, (const u8 *)b + offsetof(struct gagg_start, instance) + n * 8, 8);
	return le64_to_cpu(v);
}

/* has a node that @b names shown that @epoch has ended there? */
static bool rx_start_over(const struct gagg_join *j, const struct gagg_start *b, u64 epoch)
{
	u64 left;
	u32 n;

	gagg_for_each_node(n, left, j->others) {
		const struct gagg_peer *p = &j->peer[n];

		if (p->instance == rx_list_entry(b, n) &&
		    (p->epoch > epoch ||
		     (p->epoch == epoch && p->phase == GAGG_PHASE_IDLE)))
			return true;
	}
	return false;
}

/* end an epoch that has not begun here; the nodes that run it learn the reason */
static void rx_refuse(struct gagg_join *j, const struct gagg_geom *g,
		      const struct gagg_join_epoch *e, const struct gagg_end *end, u64 now)
{
	j->epoch = e->epoch;
	j->top = gagg_max64(j->top, e->epoch);
	j->cookie = e->cookie;
	j->end = *end;
	gagg_join_say_ended(j, g, now);
}

/* may this node run what START describes? If not, @end says why */
static bool rx_can_follow(const struct gagg_join *j, const struct gagg_geom *g,
			  const struct gagg_start *b, u16 lanes, struct gagg_end *end)
{
	u64 missing = g->ranks_of[g->self] & g->workers & ~j->attached;
	u64 dead = missing & j->died;

	*end = (struct gagg_end){ .rank = (u16)gagg_lowest(g->ranks_of[g->self]) };
	if (rx_list_entry(b, g->self) != j->instance) {
		end->reason = GAGG_R_RESTART;
	} else if (missing) {
		end->reason = dead ? GAGG_R_DIED : GAGG_R_BYE;
		end->rank = (u16)gagg_lowest(dead ? dead : missing);
	} else if (lanes > j->limit) {
		end->reason = GAGG_R_MTU;
	}
	return end->reason == GAGG_R_NONE;
}

/* START is the coordinator's word on which instances take part. A third node's instance that
 * differs from the one known here may be newer or older. It is accepted in both cases: if it is
 * the older one, the next HELLO of the newer one ends the epoch.
 */
static void rx_take_list(struct gagg_join *j, const struct gagg_geom *g,
			 const struct gagg_start *b, u64 now)
{
	u64 left;
	u32 n;

	gagg_for_each_node(n, left, j->others) {
		struct gagg_peer *p = &j->peer[n];
		u64 heard = p->heard;
		u16 limit = p->limit;

		if (p->instance != rx_list_entry(b, n)) {
			memset(p, 0, sizeof(*p));
			p->instance = rx_list_entry(b, n);
			p->heard = heard;
			p->limit = limit;
			p->any_pn = 1;
			gagg_join_meet(j, g, p, now);
		}
	}
}

static enum gagg_drop rx_start(struct gagg_join *j, const struct gagg_geom *g,
			       const struct gagg_join_dgram *d)
{
	const struct gagg_msg *m = d->m;
	const struct gagg_start *body = d->body;
	u32 n, node = d->node;
	const struct gagg_peer *p = &j->peer[node];
	struct gagg_join_epoch e = { .lanes = m->lanes };
	struct gagg_end end;
	struct {
		__le64 cookie;
		__le32 epoch_hi;
		__le32 nodes;
	} head;

	if (node != GAGG_COORDINATOR)
		return GAGG_DROP_SOURCE;
	if (m->len < sizeof(head) + 8 * g->nodes)
		return GAGG_DROP_SHORT;
	memcpy(&head, body, sizeof(head));
	if (le32_to_cpu(head.nodes) != g->nodes)
		return GAGG_DROP_RANK;
	if (!p->instance || rx_list_entry(body, node) != p->instance)
		return GAGG_DROP_COOKIE;
	if (!gagg_join_are_lanes(j, m->lanes))
		return GAGG_DROP_OP;
	e.epoch = (u64)le32_to_cpu(head.epoch_hi) << 32 | m->epoch;
	e.cookie = le64_to_cpu(head.cookie);

	gagg_join_say_hello(j, node, false, d->now);
	if (e.epoch <= j->epoch) {
		if (e.epoch == j->epoch && gagg_join_needs_abort(j, node))
			gagg_join_emit(j, GAGG_JOIN_SEND_ABORT, node);
		return e.epoch == j->epoch ? GAGG_DROP_NONE : GAGG_DROP_EPOCH;
	}
	if (j->phase != GAGG_PHASE_IDLE || rx_start_over(j, body, e.epoch))
		return GAGG_DROP_EPOCH;
	if (!rx_can_follow(j, g, body, m->lanes, &end)) {
		rx_refuse(j, g, &e, &end, d->now);
		return GAGG_DROP_NONE;
	}
	for (n = 0; n < g->nodes; n++)
		j->start_instance[n] = rx_list_entry(body, n);
	rx_take_list(j, g, body, d->now);
	gagg_join_epoch_start(j, g, &e, d->now);
	return GAGG_DROP_NONE;
}

static enum gagg_drop rx_abort(struct gagg_join *j, const struct gagg_geom *g,
			       const struct gagg_join_dgram *d, const struct gagg_abort *b)
{
	const struct gagg_msg *m = d->m;
	struct gagg_end end = {
		.reason = le32_to_cpu(b->reason),
		.rank = le16_to_cpu(b->rank),
		.other = le16_to_cpu(b->other),
		.sig = le32_to_cpu(b->sig),
		.other_sig = le32_to_cpu(b->other_sig),
		.call = le32_to_cpu(b->call),
		.other_call = le32_to_cpu(b->other_call),
	};

	gagg_join_say_hello(j, d->node, false, d->now);
	if (j->phase == GAGG_PHASE_IDLE)
		return GAGG_DROP_NONE;
	if (m->epoch != (u32)j->epoch)
		return GAGG_DROP_EPOCH;
	if (m->cookie != j->cookie)
		return GAGG_DROP_COOKIE;
	/* these index tables; a reason of a later version is still an end */
	if (end.rank >= GAGG_RANKS || end.other >= GAGG_RANKS)
		return GAGG_DROP_RANK;
	if (end.reason == GAGG_R_NONE || end.reason >= GAGG_R_COUNT)
		end.reason = GAGG_R_ADMIN;
	gagg_join_epoch_end(j, g, &end, d->now);
	return GAGG_DROP_NONE;
}

enum gagg_drop gagg_join_rx(struct gagg_join *j, const struct gagg_geom *g,
			    const struct gagg_join_dgram *d)
{
	struct gagg_hello hello;
	struct gagg_abort abort;

	if (!j->enabled || d->node >= g->nodes || d->node == g->self)
		return GAGG_DROP_SOURCE;
	switch (d->m->type) {
	case GAGG_T_HELLO:
		if (d->m->len < sizeof(hello))
			return GAGG_DROP_SHORT;
		memcpy(&hello, d->body, sizeof(hello));
		return rx_hello(j, g, d, &hello);
	case GAGG_T_START:
		return rx_start(j, g, d);
	case GAGG_T_ABORT:
		if (d->m->len < sizeof(abort))
			return GAGG_DROP_SHORT;
		memcpy(&abort, d->body, sizeof(abort));
		return rx_abort(j, g, d, &abort);
	default:
		return GAGG_DROP_TYPE;
	}
}
