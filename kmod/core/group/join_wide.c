// SPDX-License-Identifier: GPL-2.0
/*
 * Do chunks pass? On each shard, from each other node, datagrams as long as one.
 */
#include "group/internal.h"

#define ALONE_MIN	8	/* HELLOs that show that chunks do not pass */

/* datagrams as long as a chunk are asked for at this age, for as long */
static u64 wide_after(const struct gagg_geom *g)
{
	return g->dead_after - gagg_join_quiet_after(g);
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

static bool wide_is_through(const struct gagg_geom *g, const struct gagg_peer *p, u64 now)
{
	u64 at = wide_at(g, p);

	return p->instance && at >= p->met && (now < at || now - at < g->dead_after);
}

/* @p has a new instance, or is alive again */
void gagg_join_meet(struct gagg_join *j, const struct gagg_geom *g, struct gagg_peer *p, u64 now)
{
	p->met = now;
	j->through &= wide_is_through(g, p, now);
	p->lacks = gagg_join_all_shards(g);
	p->stale = 0;
	p->alone = 0;
	p->shorter = 0;
}

/* since when are datagrams as long as a chunk lacking? */
static u64 wide_since(const struct gagg_join *j, const struct gagg_geom *g,
		      const struct gagg_peer *p)
{
	u64 at = gagg_max64(g->shards ? wide_at(g, p) : 0, p->met);

	return j->phase == GAGG_PHASE_IDLE ? at : gagg_max64(at, j->started);
}

/* no such datagram has come for dead_after, though HELLOs have that say that one had left */
bool gagg_join_is_blocked(const struct gagg_join *j, const struct gagg_geom *g,
			  const struct gagg_peer *p, u64 now)
{
	return p->alone >= ALONE_MIN && now >= wide_since(j, g, p) + g->dead_after;
}

/* which shards lack such a datagram of @node? */
void gagg_join_find_lacks(struct gagg_join *j, const struct gagg_geom *g, u32 node, u64 now)
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
	if (p->instance && gagg_join_is_blocked(j, g, p, now))
		for (s = 0; s < g->shards; s++)
			if (p->wide[s] < p->met || now >= p->wide[s] + g->dead_after)
				p->stale |= (u16)(1u << s);
	if (p->stale != was)
		gagg_join_emit(j, GAGG_JOIN_NOTIFY, node);
}

void gagg_join_find_through(struct gagg_join *j, const struct gagg_geom *g, u64 now)
{
	bool was = j->through;
	u64 left;
	u32 n;

	j->through = 1;
	gagg_for_each_node(n, left, j->others)
		if (!wide_is_through(g, &j->peer[n], now))
			j->through = 0;
	if (j->through && !was)
		gagg_join_say_attached(j, g, now);
}

void gagg_join_hear_wide(struct gagg_join *j, const struct gagg_geom *g, u32 node, u32 shard,
			 u64 now)
{
	if (shard >= g->shards)
		return;
	j->peer[node].wide[shard] = now;
	gagg_join_find_lacks(j, g, node, now);
	gagg_join_find_through(j, g, now);
}

/* when will a datagram as long as a chunk be due? If one is already, it is being asked for */
u64 gagg_join_lacking_at(const struct gagg_geom *g, const struct gagg_peer *p)
{
	return p->instance && !p->lacks && g->shards ? wide_at(g, p) + wide_after(g) : GAGG_NEVER;
}

void gagg_join_hear(struct gagg_join *j, u32 shard, u64 epoch,
		    const u64 heard[GAGG_NODES], const u64 wide[GAGG_NODES])
{
	/* chunks of @epoch have as many lanes as START said, even if there are more by now */
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
