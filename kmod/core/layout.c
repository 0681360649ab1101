// SPDX-License-Identifier: GPL-2.0
#include "layout.h"

/* bytes of a chunk for each slot; at most 2^22 slots of 2240 lanes: no overflow */
static u64 layout_ring(const struct gagg_geom *g)
{
	u32 per = gagg_per_block(g);

	return (u64)((g->ring + per - 1) / per) * GAGG_BLOCK;
}

/* @g->window * @g->shards are at most 2^18 */
static u64 layout_accs(const struct gagg_geom *g)
{
	u32 per = GAGG_BLOCK / gagg_acc_bytes(g);

	return (u64)((g->window * g->shards + per - 1) / per) * GAGG_BLOCK;
}

u64 gagg_copy_fresh(const struct gagg_geom *g)
{
	return layout_ring(g);
}

void gagg_layout_of(const struct gagg_geom *g, const struct gagg_chan *part,
		    struct gagg_layout *l)
{
	u64 chunks = layout_ring(g);
	bool home = part->self_home != 0xff;

	memset(l, 0, sizeof(*l));
	l->result = chunks;
	l->done = GAGG_DESC_OFFSET + (u64)g->ring * sizeof(struct gagg_rdesc);
	l->push = GAGG_DESC_OFFSET + (u64)g->ring * sizeof(struct gagg_cdesc);
	l->contrib = chunks;
	if (g->store) {
		l->copy = chunks + (u64)g->ring * sizeof(u32);
		l->acc = home && g->snapshot ? chunks : 0;
		return;
	}
	l->acc = home ? layout_accs(g) : 0;
	l->held = home && g->quorum ? chunks : 0;
}

bool gagg_region_of(u64 offset, u32 *index, u32 *region)
{
	u64 n = offset >> GAGG_REGION_SHIFT;

	if (offset & (GAGG_BIT(GAGG_REGION_SHIFT) - 1) ||
	    n >= GAGG_CHANNELS_MAX * GAGG_REG_COUNT)
		return false;
	*index = (u32)n / GAGG_REG_COUNT;
	*region = (u32)n % GAGG_REG_COUNT;
	return true;
}

static u32 layout_flags(const struct gagg_geom *g)
{
	if (g->store)
		return GAGG_GEO_STORE | (g->copies ? GAGG_GEO_COPIES : 0) |
		       (g->wide ? GAGG_GEO_INT64 : 0);
	return g->wire == GAGG_WIRE_INT16 ? GAGG_GEO_INT16 :
	       g->wire == GAGG_WIRE_INT8 ? GAGG_GEO_INT8 : 0;
}

void gagg_layout_tell(const struct gagg_geom *g, const struct gagg_chan *part, u32 index,
		      u32 rank, struct gagg_geometry *geo)
{
	u32 i;

	memset(geo, 0, sizeof(*geo));
	geo->channel = part->id;
	geo->rank = rank;
	geo->members = part->members;
	geo->ring = g->ring;
	geo->window = g->window;
	geo->lanes = g->lanes;
	geo->stride = g->room * 4;
	geo->per_block = gagg_per_block(g);
	geo->block = GAGG_BLOCK;
	geo->flags = layout_flags(g);
	gagg_sync_tell(&g->sync, geo);
	if (g->store) {
		geo->bound = gagg_sync_bound(&g->sync);
		geo->fresh = gagg_copy_fresh(g);
	}
	geo->homes = gagg_chan_choices(g, part->members);
	geo->local = (u32)gagg_chan_local(part, rank);
	for (i = 0; i < GAGG_REG_COUNT; i++)
		geo->region[i].offset = gagg_region_offset(index, i);
}
