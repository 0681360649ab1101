// SPDX-License-Identifier: GPL-2.0
/*
 * How long chunks are: lanes, as far as hosts have agreed on them.
 */
#include "group/internal.h"

#define LANES_MIN	8

/* If there are more lanes now, the datagrams that have shown that chunks pass were too short */
void gagg_join_set_lanes(struct gagg_join *j, const struct gagg_geom *g, u16 lanes, u64 now)
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
			gagg_join_emit(j, GAGG_JOIN_NOTIFY, n);
		gagg_join_meet(j, g, &j->peer[n], now);
	}
	gagg_join_changed(j, g, now);
}

/* without an epoch: the least that a node can send, of this one and of those that were heard */
void gagg_join_agree_lanes(struct gagg_join *j, const struct gagg_geom *g, u64 now)
{
	u16 least = j->limit;
	u64 left;
	u32 n;

	if (j->phase != GAGG_PHASE_IDLE)
		return;
	gagg_for_each_node(n, left, j->others)
		if (j->peer[n].limit && j->peer[n].limit < least)
			least = j->peer[n].limit;
	gagg_join_set_lanes(j, g, least, now);
}

/* may a chunk have so many? @lanes come from the network */
bool gagg_join_are_lanes(const struct gagg_join *j, u32 lanes)
{
	return lanes == j->most || (lanes >= LANES_MIN && lanes < j->most && !(lanes % 8));
}

void gagg_join_limit(struct gagg_join *j, const struct gagg_geom *g, u32 lanes, u64 now)
{
	u64 left;
	u32 n;

	lanes = lanes < LANES_MIN ? LANES_MIN : lanes & ~7U;
	if (!gagg_join_are_lanes(j, lanes))
		lanes = j->most;
	if (lanes == j->limit)
		return;
	j->limit = (u16)lanes;
	gagg_join_agree_lanes(j, g, now);
	gagg_for_each_node(n, left, j->enabled ? j->others : 0)
		gagg_join_say_hello(j, n, false, now);
}
