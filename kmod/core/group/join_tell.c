// SPDX-License-Identifier: GPL-2.0
/*
 * What trainers, administrators and shards are told of the join object.
 */
#include "group/join.h"

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
		       u64 now, struct gagg_blocked *shards)
{
	const struct gagg_peer *p = &j->peer[node];

	*shards = (struct gagg_blocked){ 0 };
	if (node == g->self || !p->instance || !gagg_peer_alive(g, p, now))
		return false;
	shards->in = p->stale;
	shards->out = p->cut;
	return p->stale || p->cut || (p->flags & GAGG_HELLO_BLOCKED);
}

u32 gagg_join_names_blocked(const struct gagg_join *j, const struct gagg_geom *g, u64 now)
{
	struct gagg_blocked shards;
	u32 n, named = 0;
	u64 left;

	gagg_for_each_node(n, left, j->others) {
		u32 rank;

		if (!gagg_join_blocked(j, g, n, now, &shards))
			continue;
		rank = 1 + gagg_lowest(g->ranks_of[n]);
		if (shards.in || shards.out)
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

void gagg_join_status(const struct gagg_join *j, const struct gagg_geom *g, u64 runs, u64 now,
		      struct gagg_ioc_status *st)
{
	st->epoch = j->epoch;
	st->phase = j->phase == GAGG_PHASE_RUNNING && j->epoch == runs ? GAGG_PHASE_RUNNING :
									 GAGG_PHASE_IDLE;
	st->reason = j->end.reason;
	st->rank = j->end.rank;
	st->other = j->end.other;
	st->sig = j->end.sig;
	st->other_sig = j->end.other_sig;
	st->call = j->end.call;
	st->other_call = j->end.other_call;
	st->attached = gagg_join_attached(j, g);
	st->heard = gagg_join_heard(j, g, now);
	gagg_join_tell_mismatch(j, g, st);
	st->blocked = gagg_join_names_blocked(j, g, now);
	st->lanes = j->lanes;
}
