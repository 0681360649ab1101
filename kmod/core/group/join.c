// SPDX-License-Identifier: GPL-2.0
/*
 * Membership, agreement, epochs.
 *
 * No two nodes ever run different epochs at a time, nor one epoch with different
 * cookies or instance lists. The coordinator A starts e after it has counted,
 * from each node B, a HELLO that B sent after accepting A's instance and A's
 * HELLO about the end of A's last epoch, and that shows B idle in an epoch < e.
 * B then runs nothing before START e: a START of A's for an earlier epoch is
 * over by A's HELLO (start_over); a START of an earlier instance of A does not
 * name the instance that B has accepted, and B cannot accept the earlier one
 * again, since it would have to echo a HELLO that B sent after its death.
 *
 * There is no storm. The timer sends at most one datagram of each type to each
 * node per GAGG_HELLO_FAST, and 300 HELLOs to one that falls silent. Beyond that, a
 * received datagram causes at most one HELLO to its sender, and one on each shard that
 * it says it lacks, if it asks, or, where it makes all others reached, one HELLO to each, as an
 * attachment does; and
 *	- START is sent by the timer and by a start; ABORT by the timer, by an end,
 *	  in answer to START, and to a peer that newly claims to run what is over;
 *	- a HELLO that asks is sent by the timer and when an instance is doubted,
 *	  accepted, or has attachments to tell: an answer never asks.
 * So HELLO, answer; START, ABORT, HELLO; and then a node's state must change.
 * Of the changes only a doubt can be raised by an old datagram, and then only if
 * none is open: one HELLO that asks, one answer.
 */
#include "group/join.h"

#define ALONE_MIN	8	/* HELLOs that show that chunks do not pass */
#define TRIP_WAIT	(20 * GAGG_MSEC)	/* an answer that is later says no more than none */
#define LANES_MIN	8
#define COORDINATOR	0	/* nodes are in the order of their lowest rank */

/* Epochs grow by one. What one HELLO can make of them is bounded, so that none leads to the
 * last one there is: as far as a new coordinator may have to follow, and beyond that a little.
 */
#define EPOCH_FAR	GAGG_BIT(48)
#define EPOCH_STEP	GAGG_BIT(16)

/* packet numbers wrap; is @a at or after @b? */
static bool pn_reached(u32 a, u32 b)
{
	return (s32)(a - b) >= 0;
}

static u64 interval_slow(const struct gagg_geom *g)
{
	return gagg_max64(gagg_min64(GAGG_HELLO_SLOW, g->dead_after / 4), GAGG_MSEC);
}

static u64 interval_fast(const struct gagg_geom *g)
{
	return gagg_min64(GAGG_HELLO_FAST, interval_slow(g));
}

/* silence for so long is odd: the HELLO that was due is missing as well */
static u64 quiet_after(const struct gagg_geom *g)
{
	return gagg_max64(g->dead_after / 4, interval_slow(g) / 8 * 9);
}

/* from then on: bursts of a hundred lost datagrams are no death */
static u64 interval_quiet(const struct gagg_geom *g)
{
	return gagg_max64(gagg_min64(GAGG_HELLO_FAST, g->dead_after / 400), GAGG_MSEC);
}

/* datagrams as long as a chunk are asked for at this age, for as long */
static u64 wide_after(const struct gagg_geom *g)
{
	return g->dead_after - quiet_after(g);
}

/* in an epoch, between two of them: a slow link carries chunks as well */
static u64 wide_pace(const struct gagg_join *j, const struct gagg_geom *g)
{
	return j->phase == GAGG_PHASE_IDLE ? 0 : g->dead_after / 64;
}

static u16 all_shards(const struct gagg_geom *g)
{
	return (u16)((1u << g->shards) - 1);
}

/* the queue is never full here, see join.h; a caller who does not empty it only
 * loses what is repeated
 */
static void emit(struct gagg_join *j, u8 type, u32 node)
{
	bool epoch = type == GAGG_JOIN_EPOCH_START || type == GAGG_JOIN_EPOCH_END;
	struct gagg_join_act *a;

	if (!j->nacts)
		memset(j->queued, 0, sizeof(j->queued));
	if (!epoch && (j->queued[type] & GAGG_BIT(node)))
		return;
	if (j->nacts >= GAGG_JOIN_ACTS - (epoch ? 0 : 8))
		return;
	j->queued[type] |= GAGG_BIT(node);
	a = &j->act[j->nacts++];
	a->type = type;
	a->node = (u8)node;
	a->epoch = j->epoch;
}

static void say_hello(struct gagg_join *j, u32 node, bool ask, u64 now)
{
	struct gagg_peer *p = &j->peer[node];

	/* all HELLOs made from one filling of the queue show the same state */
	if (!j->nacts || !j->queued[GAGG_JOIN_SEND_HELLO])
		j->pn++;
	if (ask) {
		p->ask = 1;
		p->asked_pn = j->pn;
		p->asked_at = gagg_max64(now, 1);
	}
	emit(j, GAGG_JOIN_SEND_HELLO, node);
}

/* something was sent at once: repetitions count from here, and begin fast */
static void changed(struct gagg_join *j, const struct gagg_geom *g, u64 now)
{
	j->pace = interval_fast(g);
	if (j->repeat_at <= now || j->repeat_at > now + j->pace)
		j->repeat_at = now + j->pace;
}

static bool claims_ended(const struct gagg_join *j, const struct gagg_peer *p)
{
	return j->phase == GAGG_PHASE_IDLE && j->epoch && p->epoch == j->epoch &&
	       p->phase != GAGG_PHASE_IDLE;
}

static bool needs_abort(const struct gagg_join *j, u32 node)
{
	return (j->end_wait & GAGG_BIT(node)) || claims_ended(j, &j->peer[node]);
}

static bool needs_start(const struct gagg_join *j, const struct gagg_geom *g, u32 node)
{
	return g->self == COORDINATOR && j->phase == GAGG_PHASE_RUNNING &&
	       j->peer[node].epoch < j->epoch;
}

/*
 * Is a datagram as long as a chunk due, and not long overdue? Who pads to less goes on with that
 * until one of both hears of another limit: each slow HELLO asks, and that is enough.
 */
static bool needs_wide(const struct gagg_join *j, u32 node)
{
	const struct gagg_peer *p = &j->peer[node];

	return p->lacks && (j->alive & GAGG_BIT(node)) &&
	       (!(p->stale || p->shorter) || j->phase != GAGG_PHASE_IDLE);
}

static bool needs_hello(const struct gagg_join *j, u32 node)
{
	const struct gagg_peer *p = &j->peer[node];

	return !p->instance || p->other || !p->knows_me || (j->say_wait & GAGG_BIT(node)) ||
	       needs_wide(j, node);
}

static u64 behind(const struct gagg_join *j, const struct gagg_geom *g)
{
	u64 left, mask = 0;
	u32 n;

	gagg_for_each_node(n, left, j->others)
		if (needs_abort(j, n) || needs_start(j, g, n) || needs_hello(j, n))
			mask |= GAGG_BIT(n);
	return mask;
}

static void repeat(struct gagg_join *j, const struct gagg_geom *g, u32 node, u64 now)
{
	if (needs_start(j, g, node))
		emit(j, GAGG_JOIN_SEND_START, node);
	if (needs_abort(j, node)) {
		emit(j, GAGG_JOIN_SEND_ABORT, node);
		say_hello(j, node, true, now);
	}
	if (needs_hello(j, node))
		say_hello(j, node, true, now);
}

static void say_attached(struct gagg_join *j, const struct gagg_geom *g, u64 now)
{
	u64 left;
	u32 n;

	if (!j->enabled)
		return;
	gagg_for_each_node(n, left, j->others) {
		j->peer[n].trip = 0;
		say_hello(j, n, true, now);
	}
	j->trip_until = now + TRIP_WAIT;
	j->say_wait = j->others & GAGG_BIT(COORDINATOR);
	j->say_pn = j->pn;
	j->kick = g->self == COORDINATOR;
	changed(j, g, now);
}

static void say_ended(struct gagg_join *j, const struct gagg_geom *g, u64 now)
{
	u64 left;
	u32 n;

	gagg_for_each_node(n, left, j->others) {
		say_hello(j, n, false, now);
		emit(j, GAGG_JOIN_SEND_ABORT, n);
	}
	j->last_epoch = j->epoch;
	j->last_cookie = j->cookie;
	j->last_end = j->end;
	j->end_wait = j->others;
	j->end_pn = j->pn;
	changed(j, g, now);
}

/* when the oldest of the last datagrams as long as a chunk came, by shard; 0: one never */
static u64 wide_at(const struct gagg_geom *g, const struct gagg_peer *p)
{
	u64 at = GAGG_NEVER;
	u32 s;

	for (s = 0; s < g->shards; s++)
		at = gagg_min64(at, p->wide[s]);
	return at;
}

static bool is_through(const struct gagg_geom *g, const struct gagg_peer *p, u64 now)
{
	u64 at = wide_at(g, p);

	return p->instance && at >= p->met && (now < at || now - at < g->dead_after);
}

/* its instance is accepted, or it was not alive */
static void meet(struct gagg_join *j, const struct gagg_geom *g, struct gagg_peer *p, u64 now)
{
	p->met = now;
	j->through &= is_through(g, p, now);
	p->lacks = all_shards(g);
	p->stale = 0;
	p->alone = 0;
	p->shorter = 0;
}

/* if there are more of them, what has shown that chunks pass was too short */
static void set_lanes(struct gagg_join *j, const struct gagg_geom *g, u16 lanes, u64 now)
{
	bool more = lanes > j->lanes;
	u64 left;
	u32 n;

	if (lanes == j->lanes)
		return;
	j->lanes = lanes;
	gagg_for_each_node(n, left, j->others) {
		j->peer[n].shorter = 0;
		if (!more)
			continue;
		if (j->peer[n].stale)
			emit(j, GAGG_JOIN_NOTIFY, n);
		meet(j, g, &j->peer[n], now);
	}
	changed(j, g, now);
}

/* without an epoch: the least of what all nodes can send, as far as they were heard */
static void agree_lanes(struct gagg_join *j, const struct gagg_geom *g, u64 now)
{
	u16 least = j->limit;
	u64 left;
	u32 n;

	if (j->phase != GAGG_PHASE_IDLE)
		return;
	gagg_for_each_node(n, left, j->others)
		if (j->peer[n].limit && j->peer[n].limit < least)
			least = j->peer[n].limit;
	set_lanes(j, g, least, now);
}

static void epoch_end(struct gagg_join *j, const struct gagg_geom *g,
		      const struct gagg_end *end, u64 now)
{
	u64 left;
	u32 n;

	j->end = *end;
	j->phase = GAGG_PHASE_IDLE;
	j->attached = 0;
	j->died = 0;
	gagg_for_each_node(n, left, j->others)
		j->peer[n].attached = 0;
	agree_lanes(j, g, now);
	emit(j, GAGG_JOIN_EPOCH_END, g->self);
	say_ended(j, g, now);
}

static void epoch_end_node(struct gagg_join *j, const struct gagg_geom *g,
			   u32 node, u32 reason, u64 now)
{
	struct gagg_end end = { .reason = reason };

	end.rank = (u16)gagg_lowest(g->ranks_of[node]);
	epoch_end(j, g, &end, now);
}

static void epoch_start(struct gagg_join *j, const struct gagg_geom *g, u64 epoch,
			u64 cookie, u16 lanes, u64 now)
{
	set_lanes(j, g, lanes, now);
	j->start_lanes = lanes;
	j->epoch = epoch;
	j->top = gagg_max64(j->top, epoch);
	j->cookie = cookie;
	j->started = now;
	j->phase = GAGG_PHASE_RUNNING;
	j->end_wait = 0;
	j->say_wait = 0;
	memset(&j->end, 0, sizeof(j->end));
	emit(j, GAGG_JOIN_EPOCH_START, g->self);
	changed(j, g, now);
}

/* their lack counts from here */
static u64 wide_since(const struct gagg_join *j, const struct gagg_geom *g,
		      const struct gagg_peer *p)
{
	u64 at = gagg_max64(g->shards ? wide_at(g, p) : 0, p->met);

	return j->phase == GAGG_PHASE_IDLE ? at : gagg_max64(at, j->started);
}

/* nothing has come for dead_after, but HELLOs have before which it had left */
static bool is_blocked(const struct gagg_join *j, const struct gagg_geom *g,
		       const struct gagg_peer *p, u64 now)
{
	return p->alone >= ALONE_MIN && now >= wide_since(j, g, p) + g->dead_after;
}

/* which shards lack such a datagram of @node? */
static void find_lacks(struct gagg_join *j, const struct gagg_geom *g, u32 node, u64 now)
{
	struct gagg_peer *p = &j->peer[node];
	u16 was = p->stale;
	u32 s;

	p->lacks = 0;
	for (s = 0; p->instance && s < g->shards; s++)
		if (p->wide[s] < p->met || now >= p->wide[s] + wide_after(g))
			p->lacks |= (u16)(1u << s);
	if (!p->lacks)
		p->alone = 0;
	p->stale = 0;
	if (p->instance && is_blocked(j, g, p, now))
		for (s = 0; s < g->shards; s++)
			if (p->wide[s] < p->met || now >= p->wide[s] + g->dead_after)
				p->stale |= (u16)(1u << s);
	if (p->stale != was)
		emit(j, GAGG_JOIN_NOTIFY, node);
}

static void find_through(struct gagg_join *j, const struct gagg_geom *g, u64 now)
{
	bool was = j->through;
	u64 left;
	u32 n;

	j->through = 1;
	gagg_for_each_node(n, left, j->others)
		if (!is_through(g, &j->peer[n], now))
			j->through = 0;
	if (j->through && !was)
		say_attached(j, g, now);
}

static void hear_wide(struct gagg_join *j, const struct gagg_geom *g, u32 node, u32 shard,
		      u64 now)
{
	if (shard >= g->shards)
		return;
	j->peer[node].wide[shard] = now;
	find_lacks(j, g, node, now);
	find_through(j, g, now);
}

/* START would overtake the answers to what was asked last */
static bool trips_are_due(const struct gagg_join *j, u64 now)
{
	u64 left;
	u32 n;

	gagg_for_each_node(n, left, now < j->trip_until ? j->others : 0)
		if (!j->peer[n].trip)
			return true;
	return false;
}

static bool may_start(const struct gagg_join *j, const struct gagg_geom *g, u64 now)
{
	u64 left;
	u32 n;

	if (g->self != COORDINATOR || j->phase != GAGG_PHASE_IDLE || !g->workers || !j->through)
		return false;
	gagg_for_each_node(n, left, j->others) {
		const struct gagg_peer *p = &j->peer[n];

		if (!gagg_peer_alive(g, p, now) || p->mismatch.field || p->other || !p->knows_me ||
		    p->phase != GAGG_PHASE_IDLE || (j->end_wait & GAGG_BIT(n)))
			return false;
		if (!(p->flags & GAGG_HELLO_THROUGH))
			return false;
	}
	return !(g->workers & ~gagg_join_attached(j, g)) && !trips_are_due(j, now);
}

static void try_start(struct gagg_join *j, const struct gagg_geom *g, u64 random, u64 now)
{
	u64 left;
	u32 n;

	if (!may_start(j, g, now))
		return;
	j->start_instance[g->self] = j->instance;
	gagg_for_each_node(n, left, j->others)
		j->start_instance[n] = j->peer[n].instance;
	epoch_start(j, g, j->top + 1, random ? random : 1, j->lanes, now);
	gagg_for_each_node(n, left, j->others)
		emit(j, GAGG_JOIN_SEND_START, n);
}

void gagg_join_init(struct gagg_join *j, const struct gagg_geom *g,
		    const u32 digest[GAGG_DG_COUNT], u64 instance)
{
	memset(j, 0, sizeof(*j));
	j->instance = instance;
	memcpy(j->digest, digest, sizeof(j->digest));
	j->others = (g->nodes < 64 ? GAGG_BIT(g->nodes) - 1 : ~0ULL) & ~GAGG_BIT(g->self);
	j->pace = interval_fast(g);
	j->through = !j->others;
	j->most = g->lanes;
	j->limit = g->lanes;
	j->lanes = g->lanes;
}

/* may a chunk have so many? Not to be trusted */
static bool are_lanes(const struct gagg_join *j, u32 lanes)
{
	return lanes == j->most || (lanes >= LANES_MIN && lanes < j->most && !(lanes % 8));
}

void gagg_join_limit(struct gagg_join *j, const struct gagg_geom *g, u32 lanes, u64 now)
{
	u64 left;
	u32 n;

	lanes = lanes < LANES_MIN ? LANES_MIN : lanes & ~7U;
	if (!are_lanes(j, lanes))
		lanes = j->most;
	if (lanes == j->limit)
		return;
	j->limit = (u16)lanes;
	agree_lanes(j, g, now);
	gagg_for_each_node(n, left, j->enabled ? j->others : 0)
		say_hello(j, n, false, now);
}

void gagg_join_attach(struct gagg_join *j, const struct gagg_geom *g, u32 rank, u64 now)
{
	if (rank >= GAGG_RANKS || !(g->ranks_of[g->self] & GAGG_BIT(rank)) ||
	    (j->attached & GAGG_BIT(rank)) || j->phase != GAGG_PHASE_IDLE)
		return;
	j->attached |= GAGG_BIT(rank);
	j->died &= ~GAGG_BIT(rank);
	say_attached(j, g, now);
}

void gagg_join_leave(struct gagg_join *j, const struct gagg_geom *g, u32 rank,
		     u32 reason, u64 now)
{
	struct gagg_end end = { .reason = reason, .rank = (u16)rank };

	if (rank >= GAGG_RANKS || !(j->attached & GAGG_BIT(rank)))
		return;
	if (j->phase != GAGG_PHASE_IDLE) {
		epoch_end(j, g, &end, now);
		return;
	}
	j->attached &= ~GAGG_BIT(rank);
	if (reason == GAGG_R_DIED)
		j->died |= GAGG_BIT(rank);
	say_attached(j, g, now);
}

void gagg_join_end(struct gagg_join *j, const struct gagg_geom *g,
		   const struct gagg_end *end, u64 now)
{
	if (j->phase != GAGG_PHASE_IDLE)
		epoch_end(j, g, end, now);
}

/* a HELLO of an instance that is not accepted: its state does not count. Doubt
 * the known instance until one of both echoes what is sent from now on
 */
static void doubt(struct gagg_join *j, const struct gagg_geom *g, u32 node,
		  u64 instance, u32 pn, bool asked, u64 now)
{
	struct gagg_peer *p = &j->peer[node];
	bool open = p->other;

	if (p->other != instance || pn_reached(pn, p->other_pn))
		p->other_pn = pn;
	p->other = instance;
	p->echo_other = 1;
	if (!open) {
		say_hello(j, node, true, now);
		p->challenge = j->pn;
		changed(j, g, now);
	} else if (asked) {
		say_hello(j, node, false, now);
	}
}

static void accept(struct gagg_join *j, const struct gagg_geom *g, u32 node,
		   u64 instance, u64 now)
{
	struct gagg_peer *p = &j->peer[node];

	if (j->phase != GAGG_PHASE_IDLE)
		epoch_end_node(j, g, node, GAGG_R_RESTART, now);
	memset(p, 0, sizeof(*p));
	p->instance = instance;
	p->any_pn = 1;
	say_hello(j, node, true, now);
	changed(j, g, now);
}

/* @aux: the last of our HELLOs that a peer had when it sent this */
static void take_trip(struct gagg_peer *p, u32 aux, u64 now)
{
	if (!p->asked_at || !pn_reached(aux, p->asked_pn))
		return;
	if (now < p->asked_at + TRIP_WAIT)
		p->trip = (u32)gagg_max64(now - p->asked_at, 1);
	p->asked_at = 0;
}

static enum gagg_drop rx_hello(struct gagg_join *j, const struct gagg_geom *g,
			       u32 node, u32 shard, const struct gagg_msg *m,
			       const struct gagg_hello *b, u64 random, u64 now)
{
	struct gagg_peer *p = &j->peer[node];
	u64 instance = le64_to_cpu(b->instance);
	bool echoed = le64_to_cpu(b->echo) == j->instance;
	bool asked = b->flags & GAGG_HELLO_ASK;
	u64 epoch = (u64)le32_to_cpu(b->epoch_hi) << 32 | m->epoch;
	bool answers = p->other && echoed && pn_reached(m->aux, p->challenge);
	bool claimed = claims_ended(j, p), wide = m->len >= gagg_join_wide_len(j);
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
			doubt(j, g, node, instance, m->pn, asked, now);
			return GAGG_DROP_NONE;
		}
		accept(j, g, node, instance, now);
		emit(j, GAGG_JOIN_NOTIFY, node);
		claimed = false;
	}
	if (!gagg_peer_alive(g, p, now))
		meet(j, g, p, now);
	/* whatever has overtaken it, and the same one comes on every shard. Padded to less: its
	 * sender has heard of a node that can send less, and this one has not
	 */
	if (wide)
		hear_wide(j, g, node, shard, now);
	else if (m->len > sizeof(*b))
		p->alone = 0;
	if (m->len > sizeof(*b))
		p->shorter = !wide;
	if (!p->any_pn && pn_reached(p->pn, m->pn))
		return wide && p->pn == m->pn ? GAGG_DROP_NONE : GAGG_DROP_WINDOW;

	if (p->lacks && !wide && (b->flags & GAGG_HELLO_SENT) && p->alone < 255)
		p->alone++;
	p->limit = are_lanes(j, m->lanes) ? m->lanes : 0;
	if (answers)
		p->other = 0;
	p->any_pn = 0;
	p->echo_other = 0;
	p->pn = m->pn;
	p->heard = gagg_max64(now, 1);
	p->knows_me = echoed && (b->flags & GAGG_HELLO_KNOWN);
	if (p->knows_me)
		take_trip(p, m->aux, now);
	p->phase = b->phase;
	p->missed = p->knows_me ? le16_to_cpu(b->lacks) & all_shards(g) : 0;
	cut = p->knows_me ? le16_to_cpu(b->blocked) & all_shards(g) : 0;
	p->epoch = epoch;
	j->top = gagg_max64(j->top, p->epoch);
	if (p->knows_me && pn_reached(m->aux, j->end_pn))
		j->end_wait &= ~GAGG_BIT(node);
	if (p->knows_me && pn_reached(m->aux, j->say_pn))
		j->say_wait &= ~GAGG_BIT(node);

	if (attached != p->attached || mismatch.field != p->mismatch.field || cut != p->cut ||
	    flags != p->flags ||
	    !(j->alive & GAGG_BIT(node)))
		emit(j, GAGG_JOIN_NOTIFY, node);
	j->alive |= GAGG_BIT(node);
	p->attached = attached;
	p->mismatch = mismatch;
	p->cut = cut;
	p->flags = flags;

	agree_lanes(j, g, now);
	if (claims_ended(j, p) && !claimed)
		emit(j, GAGG_JOIN_SEND_ABORT, node);
	if (asked)
		say_hello(j, node, false, now);
	if (asked && p->missed && now >= p->answered + wide_pace(j, g)) {
		p->answered = now;
		emit(j, GAGG_JOIN_SEND_WIDE, node);
	}
	try_start(j, g, random, now);
	return GAGG_DROP_NONE;
}

static u64 list_entry(const struct gagg_start *b, u32 n)
{
	__le64 v;

	memcpy(&v, (const u8 *)b + offsetof(struct gagg_start, instance) + n * 8, 8);
	return le64_to_cpu(v);
}

/* has a node that @b names shown that @epoch has ended there? */
static bool start_over(const struct gagg_join *j, const struct gagg_start *b, u64 epoch)
{
	u64 left;
	u32 n;

	gagg_for_each_node(n, left, j->others) {
		const struct gagg_peer *p = &j->peer[n];

		if (p->instance == list_entry(b, n) &&
		    (p->epoch > epoch ||
		     (p->epoch == epoch && p->phase == GAGG_PHASE_IDLE)))
			return true;
	}
	return false;
}

/* end an epoch that is not begun here; who runs it learns the reason */
static void refuse(struct gagg_join *j, const struct gagg_geom *g, u64 epoch,
		   u64 cookie, u32 reason, u32 rank, u64 now)
{
	j->epoch = epoch;
	j->top = gagg_max64(j->top, epoch);
	j->cookie = cookie;
	j->end = (struct gagg_end){ .reason = reason, .rank = (u16)rank };
	say_ended(j, g, now);
}

/* START is the coordinator's word on who takes part. A third node's instance
 * that differs from the one known here may be newer or older than that: take
 * it; if it is the older one, the newer one's next HELLO ends the epoch.
 */
static void take_list(struct gagg_join *j, const struct gagg_geom *g,
		      const struct gagg_start *b, u64 now)
{
	u64 left;
	u32 n;

	gagg_for_each_node(n, left, j->others) {
		struct gagg_peer *p = &j->peer[n];
		u64 heard = p->heard;
		u16 limit = p->limit;

		if (p->instance != list_entry(b, n)) {
			memset(p, 0, sizeof(*p));
			p->instance = list_entry(b, n);
			p->heard = heard;
			p->limit = limit;
			p->any_pn = 1;
			meet(j, g, p, now);
		}
	}
}

static enum gagg_drop rx_start(struct gagg_join *j, const struct gagg_geom *g,
			       u32 node, const struct gagg_msg *m, const void *body,
			       u64 now)
{
	const struct gagg_peer *p = &j->peer[node];
	u64 epoch, cookie, missing;
	u32 n;
	struct {
		__le64 cookie;
		__le32 epoch_hi;
		__le32 nodes;
	} head;

	if (node != COORDINATOR)
		return GAGG_DROP_SOURCE;
	if (m->len < sizeof(head) + 8 * g->nodes)
		return GAGG_DROP_SHORT;
	memcpy(&head, body, sizeof(head));
	if (le32_to_cpu(head.nodes) != g->nodes)
		return GAGG_DROP_RANK;
	if (!p->instance || list_entry(body, node) != p->instance)
		return GAGG_DROP_COOKIE;
	if (!are_lanes(j, m->lanes))
		return GAGG_DROP_OP;
	epoch = (u64)le32_to_cpu(head.epoch_hi) << 32 | m->epoch;
	cookie = le64_to_cpu(head.cookie);

	say_hello(j, node, false, now);
	if (epoch <= j->epoch) {
		if (epoch == j->epoch && needs_abort(j, node))
			emit(j, GAGG_JOIN_SEND_ABORT, node);
		return epoch == j->epoch ? GAGG_DROP_NONE : GAGG_DROP_EPOCH;
	}
	if (j->phase != GAGG_PHASE_IDLE || start_over(j, body, epoch))
		return GAGG_DROP_EPOCH;
	if (list_entry(body, g->self) != j->instance) {
		refuse(j, g, epoch, cookie, GAGG_R_RESTART,
		       gagg_lowest(g->ranks_of[g->self]), now);
		return GAGG_DROP_NONE;
	}
	missing = g->ranks_of[g->self] & g->workers & ~j->attached;
	if (missing) {
		n = gagg_lowest(missing & j->died ? missing & j->died : missing);
		refuse(j, g, epoch, cookie,
		       missing & j->died ? GAGG_R_DIED : GAGG_R_BYE, n, now);
		return GAGG_DROP_NONE;
	}
	if (m->lanes > j->limit) {
		refuse(j, g, epoch, cookie, GAGG_R_MTU, gagg_lowest(g->ranks_of[g->self]), now);
		return GAGG_DROP_NONE;
	}
	for (n = 0; n < g->nodes; n++)
		j->start_instance[n] = list_entry(body, n);
	take_list(j, g, body, now);
	epoch_start(j, g, epoch, cookie, m->lanes, now);
	return GAGG_DROP_NONE;
}

static enum gagg_drop rx_abort(struct gagg_join *j, const struct gagg_geom *g,
			       u32 node, const struct gagg_msg *m,
			       const struct gagg_abort *b, u64 now)
{
	struct gagg_end end = {
		.reason = le32_to_cpu(b->reason),
		.rank = le16_to_cpu(b->rank),
		.other = le16_to_cpu(b->other),
		.sig = le32_to_cpu(b->sig),
		.other_sig = le32_to_cpu(b->other_sig),
		.call = le32_to_cpu(b->call),
		.other_call = le32_to_cpu(b->other_call),
	};

	say_hello(j, node, false, now);
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
	epoch_end(j, g, &end, now);
	return GAGG_DROP_NONE;
}

enum gagg_drop gagg_join_rx(struct gagg_join *j, const struct gagg_geom *g,
			    u32 node, u32 shard, const struct gagg_msg *m, const void *body,
			    u64 random, u64 now)
{
	struct gagg_hello hello;
	struct gagg_abort abort;

	if (!j->enabled || node >= g->nodes || node == g->self)
		return GAGG_DROP_SOURCE;
	switch (m->type) {
	case GAGG_T_HELLO:
		if (m->len < sizeof(hello))
			return GAGG_DROP_SHORT;
		memcpy(&hello, body, sizeof(hello));
		return rx_hello(j, g, node, shard, m, &hello, random, now);
	case GAGG_T_START:
		return rx_start(j, g, node, m, body, now);
	case GAGG_T_ABORT:
		if (m->len < sizeof(abort))
			return GAGG_DROP_SHORT;
		memcpy(&abort, body, sizeof(abort));
		return rx_abort(j, g, node, m, &abort, now);
	default:
		return GAGG_DROP_TYPE;
	}
}

/* silence counts from here; 0: nothing was ever heard */
static u64 last_heard(const struct gagg_join *j, const struct gagg_peer *p)
{
	return j->phase == GAGG_PHASE_IDLE ? p->heard : gagg_max64(p->heard, j->started);
}

/* in an epoch: when is @p dead, as long as nothing is heard? */
static u64 silent_at(const struct gagg_join *j, const struct gagg_geom *g,
		     const struct gagg_peer *p)
{
	return last_heard(j, p) + g->dead_after;
}

/* when is a question to @p due that cannot wait? It has said nothing for a while, or an
 * epoch runs and a datagram as long as a chunk is due
 */
static u64 quiet_at(const struct gagg_join *j, const struct gagg_geom *g,
		    const struct gagg_peer *p)
{
	if (p->lacks && j->phase != GAGG_PHASE_IDLE)
		return 0;
	return last_heard(j, p) + quiet_after(g);
}

/* nodes that are to be asked, and are not dead yet */
static u64 quiet_nodes(const struct gagg_join *j, const struct gagg_geom *g, u64 now)
{
	u64 left, mask = 0;
	u32 n;

	gagg_for_each_node(n, left, j->others) {
		const struct gagg_peer *p = &j->peer[n];
		u64 at = last_heard(j, p);

		if (at && now >= quiet_at(j, g, p) && now < at + g->dead_after)
			mask |= GAGG_BIT(n);
	}
	return mask;
}

void gagg_join_hear(struct gagg_join *j, u32 shard, u64 epoch,
		    const u64 heard[GAGG_NODES], const u64 wide[GAGG_NODES])
{
	/* its chunks had as many lanes as START said, be there more by now or not */
	bool long_enough = epoch == j->epoch && j->start_lanes >= j->lanes;
	u64 left;
	u32 n;

	gagg_for_each_node(n, left, j->others) {
		struct gagg_peer *p = &j->peer[n];

		p->heard = gagg_max64(p->heard, heard[n]);
		if (long_enough)
			p->wide[shard] = gagg_max64(p->wide[shard], wide[n]);
	}
}

static void end_blocked(struct gagg_join *j, const struct gagg_geom *g, u32 node, u64 now)
{
	struct gagg_end end = {
		.reason = GAGG_R_BLOCKED,
		.rank = (u16)gagg_lowest(g->ranks_of[node]),
		.other = (u16)gagg_lowest(g->ranks_of[g->self]),
	};

	epoch_end(j, g, &end, now);
}

void gagg_join_timer(struct gagg_join *j, const struct gagg_geom *g, u64 random, u64 now)
{
	u64 left, late, alive = 0;
	bool hello;
	u32 n;

	if (!j->enabled)
		return;
	gagg_for_each_node(n, left, j->others) {
		if (j->phase != GAGG_PHASE_IDLE && now >= silent_at(j, g, &j->peer[n]))
			epoch_end_node(j, g, n, GAGG_R_SILENT, now);
		else if (j->phase != GAGG_PHASE_IDLE && is_blocked(j, g, &j->peer[n], now))
			end_blocked(j, g, n, now);
		find_lacks(j, g, n, now);
		if (gagg_peer_alive(g, &j->peer[n], now))
			alive |= GAGG_BIT(n);
	}
	gagg_for_each_node(n, left, alive ^ j->alive)
		emit(j, GAGG_JOIN_NOTIFY, n);
	j->alive = alive;
	find_through(j, g, now);
	j->kick = 0;
	if (now >= j->trip_until)
		j->trip_until = 0;

	late = behind(j, g);
	hello = now >= j->hello_at;
	if (hello) {
		gagg_for_each_node(n, left, j->others)
			say_hello(j, n, j->peer[n].lacks, now);
		j->hello_at = now + interval_slow(g);
	}
	if (hello || now >= j->repeat_at) {
		gagg_for_each_node(n, left, late)
			repeat(j, g, n, now);
		/* nobody may be there to hear it */
		j->repeat_at = now + (late & alive ? interval_fast(g) : j->pace);
		if (!(late & alive))
			j->pace = gagg_min64(2 * j->pace, interval_slow(g));
	}
	if (now >= j->ask_at) {
		gagg_for_each_node(n, left, quiet_nodes(j, g, now))
			say_hello(j, n, true, now);
		j->ask_at = now + interval_quiet(g);
	}
	try_start(j, g, random, now);
}

/* when will one as long as a chunk be due? If it is already, it is being asked for */
static u64 lacking_at(const struct gagg_geom *g, const struct gagg_peer *p)
{
	return p->instance && !p->lacks && g->shards ? wide_at(g, p) + wide_after(g) : GAGG_NEVER;
}

u64 gagg_join_deadline(const struct gagg_join *j, const struct gagg_geom *g)
{
	u64 left, at = j->hello_at;
	u32 n;

	if (!j->enabled)
		return GAGG_NEVER;
	if (j->kick)
		return 0;
	if (behind(j, g))
		at = gagg_min64(at, j->repeat_at);
	gagg_for_each_node(n, left, j->others) {
		if (j->phase != GAGG_PHASE_IDLE)
			at = gagg_min64(at, silent_at(j, g, &j->peer[n]));
		else if (!(j->alive & GAGG_BIT(n)))
			continue;
		at = gagg_min64(at, gagg_max64(quiet_at(j, g, &j->peer[n]), j->ask_at));
		at = gagg_min64(at, lacking_at(g, &j->peer[n]));
	}
	if (g->self == COORDINATOR && j->phase == GAGG_PHASE_IDLE && j->trip_until)
		at = gagg_min64(at, j->trip_until);
	return at;
}
