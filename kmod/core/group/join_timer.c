// SPDX-License-Identifier: GPL-2.0
/*
 * The timer of the join object: HELLOs, repetitions, questions to quiet nodes, deaths.
 */
#include "group/internal.h"

/* between two questions to a quiet node: a burst of a hundred lost datagrams is no death */
static u64 timer_interval_quiet(const struct gagg_geom *g)
{
	return gagg_max64(gagg_min64(GAGG_HELLO_FAST, g->dead_after / 400), GAGG_MSEC);
}

static bool timer_needs_start(const struct gagg_join *j, const struct gagg_geom *g, u32 node)
{
	return g->self == GAGG_COORDINATOR && j->phase == GAGG_PHASE_RUNNING &&
	       j->peer[node].epoch < j->epoch;
}

/*
 * Is a datagram as long as a chunk due, and not long overdue? A node that pads to less goes on to
 * do so until one of both hears of another limit: each slow HELLO asks, and that is enough.
 */
static bool timer_needs_wide(const struct gagg_join *j, u32 node)
{
	const struct gagg_peer *p = &j->peer[node];

	return p->lacks && (j->alive & GAGG_BIT(node)) &&
	       (!(p->stale || p->shorter) || j->phase != GAGG_PHASE_IDLE);
}

static bool timer_needs_hello(const struct gagg_join *j, u32 node)
{
	const struct gagg_peer *p = &j->peer[node];

	return !p->instance || p->other || !p->knows_me || (j->say_wait & GAGG_BIT(node)) ||
	       timer_needs_wide(j, node);
}

static u64 timer_behind(const struct gagg_join *j, const struct gagg_geom *g)
{
	u64 left, mask = 0;
	u32 n;

	gagg_for_each_node(n, left, j->others)
		if (gagg_join_needs_abort(j, n) || timer_needs_start(j, g, n) ||
		    timer_needs_hello(j, n))
			mask |= GAGG_BIT(n);
	return mask;
}

static void timer_repeat(struct gagg_join *j, const struct gagg_geom *g, u32 node, u64 now)
{
	if (timer_needs_start(j, g, node))
		gagg_join_emit(j, GAGG_JOIN_SEND_START, node);
	if (gagg_join_needs_abort(j, node)) {
		gagg_join_emit(j, GAGG_JOIN_SEND_ABORT, node);
		gagg_join_say_hello(j, node, true, now);
	}
	if (timer_needs_hello(j, node))
		gagg_join_say_hello(j, node, true, now);
}

/* silence counts from here; 0: nothing was ever heard */
static u64 timer_last_heard(const struct gagg_join *j, const struct gagg_peer *p)
{
	return j->phase == GAGG_PHASE_IDLE ? p->heard : gagg_max64(p->heard, j->started);
}

/* in an epoch: when is @p dead, as long as nothing is heard? */
static u64 timer_silent_at(const struct gagg_join *j, const struct gagg_geom *g,
			   const struct gagg_peer *p)
{
	return timer_last_heard(j, p) + g->dead_after;
}

/* when is a question to @p due that cannot wait? When it has been silent for a while, or at once
 * when an epoch runs and a datagram as long as a chunk is due
 */
static u64 timer_quiet_at(const struct gagg_join *j, const struct gagg_geom *g,
			  const struct gagg_peer *p)
{
	if (p->lacks && j->phase != GAGG_PHASE_IDLE)
		return 0;
	return timer_last_heard(j, p) + gagg_join_quiet_after(g);
}

/* nodes that are to be asked, and are not dead yet */
static u64 timer_quiet_nodes(const struct gagg_join *j, const struct gagg_geom *g, u64 now)
{
	u64 left, mask = 0;
	u32 n;

	gagg_for_each_node(n, left, j->others) {
		const struct gagg_peer *p = &j->peer[n];
		u64 at = timer_last_heard(j, p);

		if (at && now >= timer_quiet_at(j, g, p) && now < at + g->dead_after)
			mask |= GAGG_BIT(n);
	}
	return mask;
}

static void timer_end_blocked(struct gagg_join *j, const struct gagg_geom *g, u32 node, u64 now)
{
	struct gagg_end end = {
		.reason = GAGG_R_BLOCKED,
		.rank = (u16)gagg_lowest(g->ranks_of[node]),
		.other = (u16)gagg_lowest(g->ranks_of[g->self]),
	};

	gagg_join_epoch_end(j, g, &end, now);
}

void gagg_join_timer(struct gagg_join *j, const struct gagg_geom *g, u64 random, u64 now)
{
	u64 left, late, alive = 0;
	bool hello;
	u32 n;

	if (!j->enabled)
		return;
	gagg_for_each_node(n, left, j->others) {
		if (j->phase != GAGG_PHASE_IDLE && now >= timer_silent_at(j, g, &j->peer[n]))
			gagg_join_epoch_end_node(j, g, n, GAGG_R_SILENT, now);
		else if (j->phase != GAGG_PHASE_IDLE &&
			 gagg_join_is_blocked(j, g, &j->peer[n], now))
			timer_end_blocked(j, g, n, now);
		gagg_join_find_lacks(j, g, n, now);
		if (gagg_peer_alive(g, &j->peer[n], now))
			alive |= GAGG_BIT(n);
	}
	gagg_for_each_node(n, left, alive ^ j->alive)
		gagg_join_emit(j, GAGG_JOIN_NOTIFY, n);
	j->alive = alive;
	gagg_join_find_through(j, g, now);
	j->kick = 0;
	if (now >= j->trip_until)
		j->trip_until = 0;

	late = timer_behind(j, g);
	hello = now >= j->hello_at;
	if (hello) {
		gagg_for_each_node(n, left, j->others)
			gagg_join_say_hello(j, n, j->peer[n].lacks, now);
		j->hello_at = now + gagg_join_interval_slow(g);
	}
	if (hello || now >= j->repeat_at) {
		gagg_for_each_node(n, left, late)
			timer_repeat(j, g, n, now);
		/* if none of them is alive, repetitions are slower and slower */
		j->repeat_at = now + (late & alive ? gagg_join_interval_fast(g) : j->pace);
		if (!(late & alive))
			j->pace = gagg_min64(2 * j->pace, gagg_join_interval_slow(g));
	}
	if (now >= j->ask_at) {
		gagg_for_each_node(n, left, timer_quiet_nodes(j, g, now))
			gagg_join_say_hello(j, n, true, now);
		j->ask_at = now + timer_interval_quiet(g);
	}
	gagg_join_try_start(j, g, random, now);
}

u64 gagg_join_deadline(const struct gagg_join *j, const struct gagg_geom *g)
{
	u64 left, at = j->hello_at;
	u32 n;

	if (!j->enabled)
		return GAGG_NEVER;
	if (j->kick)
		return 0;
	if (timer_behind(j, g))
		at = gagg_min64(at, j->repeat_at);
	gagg_for_each_node(n, left, j->others) {
		if (j->phase != GAGG_PHASE_IDLE)
			at = gagg_min64(at, timer_silent_at(j, g, &j->peer[n]));
		else if (!(j->alive & GAGG_BIT(n)))
			continue;
		at = gagg_min64(at, gagg_max64(timer_quiet_at(j, g, &j->peer[n]), j->ask_at));
		at = gagg_min64(at, gagg_join_lacking_at(g, &j->peer[n]));
	}
	if (g->self == GAGG_COORDINATOR && j->phase == GAGG_PHASE_IDLE && j->trip_until)
		at = gagg_min64(at, j->trip_until);
	return at;
}
