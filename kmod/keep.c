// SPDX-License-Identifier: GPL-2.0
#include "keep.h"

int gagg_keep_alloc(const struct gagg_geom *g, struct gagg_channel *ch)
{
	if (!g->snapshot || ch->part[0]->self_home == 0xff)
		return 0;
	return gagg_mem_alloc(&ch->acc, gagg_chunk_bytes(g, g->ring));
}

/* add a contribution to chunk @slot; @first: it is the first beside the store */
static void add(const struct gagg_geom *g, struct gagg_channel *ch, u32 slot, bool beside,
		bool first, const void *lanes)
{
	void *dst = gagg_chunk_at(g, beside ? &ch->acc : &ch->result, slot);

	gagg_reduce_chunk(gagg_store_laneop(g), dst, first ? NULL : dst, lanes, g->lanes, 0);
}

void gagg_keep_add(const struct gagg_geom *g, struct gagg_channel *ch,
		   const struct gagg_todo *todo, const void *lanes)
{
	add(g, ch, todo->slot, todo->beside, todo->store, lanes);
}

void gagg_keep_place(const struct gagg_geom *g, struct gagg_channel *ch,
		     const struct gagg_todo *todo, const void *lanes)
{
	struct gagg_seat *seat = ch->seat[todo->local];

	/* a seat goes only after the shard has stopped, or when it has no ops */
	if (!WARN_ON_ONCE(!seat))
		memcpy(gagg_chunk_at(g, &seat->copy, todo->slot), lanes, todo->lanes * 4);
}

static void read_chunk(const struct gagg_geom *g, struct gagg_seat *seat,
		       const struct gagg_keep *k, const void *chunk)
{
	u32 *fresh = gagg_mem_at(&seat->copy, gagg_keep_fresh(g) + k->slot * sizeof(*fresh));

	if (!k->placed)
		memcpy(gagg_chunk_at(g, &seat->copy, k->slot), chunk, g->lanes * 4);
	WRITE_ONCE(*fresh, k->fresh);
}

void gagg_keep_act(const struct gagg_geom *g, struct gagg_channel *ch,
		   const struct gagg_act *a)
{
	const struct gagg_keep *k = &a->keep;
	void *chunk = gagg_chunk_at(g, &ch->result, k->slot);
	struct gagg_seat *seat;

	if (a->type == GAGG_ACT_FOLD) {
		gagg_reduce_chunk(gagg_store_laneop(g), chunk, chunk,
				  gagg_chunk_at(g, &ch->acc, k->slot), g->lanes, 0);
		return;
	}
	seat = ch->seat[a->local];
	if (WARN_ON_ONCE(!seat))
		return;
	if (a->type == GAGG_ACT_ADD_LOCAL)
		add(g, ch, k->slot, k->beside, k->first,
		    gagg_chunk_at(g, &seat->contrib, k->slot));
	else
		read_chunk(g, seat, k, chunk);
}
