// SPDX-License-Identifier: GPL-2.0
/*
 * Membership, agreement, epochs.
 *
 * Claim: no two nodes ever run different epochs at a time, nor one epoch with different cookies
 * or instance lists. The coordinator A starts e after it has counted, from each node B, a HELLO
 * that B sent after accepting A's instance and A's HELLO about the end of A's last epoch, and
 * that shows B idle in an epoch < e. B then runs nothing before START e:
 *	1. A START of A's for an earlier epoch is over by A's HELLO (rx_start_over()).
 *	2. A START of an earlier instance of A does not name the instance that B has accepted, and
 *	   B cannot accept the earlier one again: that one would have to echo a HELLO that B sent
 *	   after its death.
 *
 * Claim: there is no storm. The timer sends at most one datagram of each type to each node per
 * GAGG_HELLO_FAST, and 300 HELLOs to one that falls silent. Beyond that:
 *	1. A received datagram causes at most one HELLO to its sender and, if it asks, one on each
 *	   shard that it says it lacks; where it makes all others reached, one HELLO to each, as
 *	   an attachment does.
 *	2. START is sent by the timer and by a start.
 *	3. ABORT is sent by the timer, by an end, in answer to START, and to a peer that newly
 *	   claims to run what is over.
 *	4. A HELLO that asks is sent by the timer, and when an instance is doubted or accepted, or
 *	   has attachments to tell: an answer never asks.
 * So HELLO, answer; START, ABORT, HELLO; and then a node's state must change. The
 * only change that an old datagram can cause is a doubt, if none is open: one HELLO that asks, one
 * answer.
 */
#include "group/internal.h"

/* The queue is never full here, see join.h. If the caller does not empty it, only what is
 * repeated gets lost
 */
void gagg_join_emit(struct gagg_join *j, u8 type, u32 node)
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

void gagg_join_say_hello(struct gagg_join *j, u32 node, bool ask, u64 now)
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
	gagg_join_emit(j, GAGG_JOIN_SEND_HELLO, node);
}

/* something was sent at once: repetitions count from here, and begin fast */
void gagg_join_changed(struct gagg_join *j, const struct gagg_geom *g, u64 now)
{
	j->pace = gagg_join_interval_fast(g);
	if (j->repeat_at <= now || j->repeat_at > now + j->pace)
		j->repeat_at = now + j->pace;
}

void gagg_join_say_attached(struct gagg_join *j, const struct gagg_geom *g, u64 now)
{
	u64 left;
	u32 n;

	if (!j->enabled)
		return;
	gagg_for_each_node(n, left, j->others) {
		j->peer[n].trip = 0;
		gagg_join_say_hello(j, n, true, now);
	}
	j->trip_until = now + GAGG_TRIP_WAIT;
	j->say_wait = j->others & GAGG_BIT(GAGG_COORDINATOR);
	j->say_pn = j->pn;
	j->kick = g->self == GAGG_COORDINATOR;
	gagg_join_changed(j, g, now);
}

void gagg_join_say_ended(struct gagg_join *j, const struct gagg_geom *g, u64 now)
{
	u64 left;
	u32 n;

	gagg_for_each_node(n, left, j->others) {
		gagg_join_say_hello(j, n, false, now);
		gagg_join_emit(j, GAGG_JOIN_SEND_ABORT, n);
	}
	j->last_epoch = j->epoch;
	j->last_cookie = j->cookie;
	j->last_end = j->end;
	j->end_wait = j->others;
	j->end_pn = j->pn;
	gagg_join_changed(j, g, now);
}

void gagg_join_epoch_end(struct gagg_join *j, const struct gagg_geom *g,
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
	gagg_join_agree_lanes(j, g, now);
	gagg_join_emit(j, GAGG_JOIN_EPOCH_END, g->self);
	gagg_join_say_ended(j, g, now);
}

void gagg_join_epoch_end_node(struct gagg_join *j, const struct gagg_geom *g,
			      u32 node, u32 reason, u64 now)
{
	struct gagg_end end = { .reason = reason };

	end.rank = (u16)gagg_lowest(g->ranks_of[node]);
	gagg_join_epoch_end(j, g, &end, now);
}

void gagg_join_epoch_start(struct gagg_join *j, const struct gagg_geom *g,
			   const struct gagg_join_epoch *e, u64 now)
{
	gagg_join_set_lanes(j, g, e->lanes, now);
	j->start_lanes = e->lanes;
	j->epoch = e->epoch;
	j->top = gagg_max64(j->top, e->epoch);
	j->cookie = e->cookie;
	j->started = now;
	j->phase = GAGG_PHASE_RUNNING;
	j->end_wait = 0;
	j->say_wait = 0;
	memset(&j->end, 0, sizeof(j->end));
	gagg_join_emit(j, GAGG_JOIN_EPOCH_START, g->self);
	gagg_join_changed(j, g, now);
}

/* START would overtake the answers to what was asked last */
static bool join_trips_are_due(const struct gagg_join *j, u64 now)
{
	u64 left;
	u32 n;

	gagg_for_each_node(n, left, now < j->trip_until ? j->others : 0)
		if (!j->peer[n].trip)
			return true;
	return false;
}

static bool join_may_start(const struct gagg_join *j, const struct gagg_geom *g, u64 now)
{
	u64 left;
	u32 n;

	if (g->self != GAGG_COORDINATOR || j->phase != GAGG_PHASE_IDLE || !g->workers ||
	    !j->through)
		return false;
	gagg_for_each_node(n, left, j->others) {
		const struct gagg_peer *p = &j->peer[n];

		if (!gagg_peer_alive(g, p, now) || p->mismatch.field || p->other || !p->knows_me ||
		    p->phase != GAGG_PHASE_IDLE || (j->end_wait & GAGG_BIT(n)))
			return false;
		if (!(p->flags & GAGG_HELLO_THROUGH))
			return false;
	}
	return !(g->workers & ~gagg_join_attached(j, g)) && !join_trips_are_due(j, now);
}

void gagg_join_try_start(struct gagg_join *j, const struct gagg_geom *g, u64 random, u64 now)
{
	const struct gagg_join_epoch next = {
		.epoch = j->top + 1,
		.cookie = random ? random : 1,
		.lanes = j->lanes,
	};
	u64 left;
	u32 n;

	if (!join_may_start(j, g, now))
		return;
	j->start_instance[g->self] = j->instance;
	gagg_for_each_node(n, left, j->others)
		j->start_instance[n] = j->peer[n].instance;
	gagg_join_epoch_start(j, g, &next, now);
	gagg_for_each_node(n, left, j->others)
		gagg_join_emit(j, GAGG_JOIN_SEND_START, n);
}

void gagg_join_init(struct gagg_join *j, const struct gagg_geom *g,
		    const u32 digest[GAGG_DG_COUNT], u64 instance)
{
	memset(j, 0, sizeof(*j));
	j->instance = instance;
	memcpy(j->digest, digest, sizeof(j->digest));
	j->others = (g->nodes < 64 ? GAGG_BIT(g->nodes) - 1 : ~0ULL) & ~GAGG_BIT(g->self);
	j->pace = gagg_join_interval_fast(g);
	j->through = !j->others;
	j->most = g->lanes;
	j->limit = g->lanes;
	j->lanes = g->lanes;
}

void gagg_join_attach(struct gagg_join *j, const struct gagg_geom *g, u32 rank, u64 now)
{
	if (rank >= GAGG_RANKS || !(g->ranks_of[g->self] & GAGG_BIT(rank)) ||
	    (j->attached & GAGG_BIT(rank)) || j->phase != GAGG_PHASE_IDLE)
		return;
	j->attached |= GAGG_BIT(rank);
	j->died &= ~GAGG_BIT(rank);
	gagg_join_say_attached(j, g, now);
}

void gagg_join_leave(struct gagg_join *j, const struct gagg_geom *g, u32 rank,
		     u32 reason, u64 now)
{
	struct gagg_end end = { .reason = reason, .rank = (u16)rank };

	if (rank >= GAGG_RANKS || !(j->attached & GAGG_BIT(rank)))
		return;
	if (j->phase != GAGG_PHASE_IDLE) {
		gagg_join_epoch_end(j, g, &end, now);
		return;
	}
	j->attached &= ~GAGG_BIT(rank);
	if (reason == GAGG_R_DIED)
		j->died |= GAGG_BIT(rank);
	gagg_join_say_attached(j, g, now);
}

void gagg_join_end(struct gagg_join *j, const struct gagg_geom *g,
		   const struct gagg_end *end, u64 now)
{
	if (j->phase != GAGG_PHASE_IDLE)
		gagg_join_epoch_end(j, g, end, now);
}

void gagg_join_delete(struct gagg_join *j, const struct gagg_geom *g,
		      const struct gagg_end *end, u64 now)
{
	gagg_join_end(j, g, end, now);
	if (j->attached) {
		j->attached = 0;
		gagg_join_say_attached(j, g, now);
	}
	j->enabled = 0;
}
