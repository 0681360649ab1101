// SPDX-License-Identifier: GPL-2.0
/*
 * The ring is a sequence of rows of `homes` stripes; row r belongs to shard
 * r % shards, and stripe h of a row to home h. So the slots of (home, shard)
 * are one stripe in every shards-th row. The last row of the ring may be cut
 * off anywhere.
 *
 * Products are 64 bits wide: a stride of 16-bit stripe, 7-bit homes and 16-bit
 * shards does not fit into 32.
 */
#include "geom.h"

void gagg_geom_init(struct gagg_geom *g)
{
	memset(g, 0, sizeof(*g));
	memset(g->node_of, 0xff, sizeof(g->node_of));
}

void gagg_geom_rank(struct gagg_geom *g, u32 rank, u32 node, u8 roles, bool root)
{
	if (node == g->nodes)
		g->nodes++;
	g->node_of[rank] = (u8)node;
	g->ranks_of[node] |= GAGG_BIT(rank);
	if (roles & GAGG_ROLE_WORKER)
		g->workers |= GAGG_BIT(rank);
	if ((roles & GAGG_ROLE_AGGREGATOR) && !(root && g->aggregators))
		g->aggregators |= GAGG_BIT(node);
}

u64 gagg_geom_all(const struct gagg_geom *g)
{
	u64 nodes = 0;
	u32 n;

	for (n = 0; g->heard_by_others && n < g->nodes; n++)
		if (n != g->self && gagg_geom_trains(g, n))
			nodes |= GAGG_BIT(n);
	return gagg_weight64(nodes) > 1 ? nodes : 0;
}

static u32 geom_within(const struct gagg_geom *g, u64 slot)
{
	return slot < g->ring ? (u32)slot : g->ring;
}

u32 gagg_geom_next(const struct gagg_geom *g, u32 homes, u32 slot)
{
	u64 next = (u64)slot + 1;

	/*
	 * stripes begin at multiples of stripe, the last one of a row as well: a stripe ends here
	 */
	if (next % g->stripe == 0)
		next += (u64)g->stripe * homes * g->shards - g->stripe;
	return geom_within(g, next);
}

u32 gagg_geom_first(const struct gagg_geom *g, u32 homes, u32 home, u32 shard,
		    u32 slot)
{
	u32 width = g->stripe * homes;
	u32 row = slot / width;
	u32 rows = (shard + g->shards - row % g->shards) % g->shards;
	u64 start = (u64)row * width + (u64)home * g->stripe;

	if (!rows) {
		if (slot < start)
			return geom_within(g, start);
		if (slot < start + g->stripe)
			return geom_within(g, slot);
		rows = g->shards;
	}
	return geom_within(g, start + (u64)rows * width);
}
