// SPDX-License-Identifier: GPL-2.0
#include <string.h>

#include "keep.h"
#include "reduce.h"

/* @first: nothing is there yet */
static void keep_reduce(const struct gagg_geom *g, void *dst, bool first, const void *lanes)
{
	twin_loops->reduce(gagg_store_laneop(g), dst, first ? NULL : dst, lanes, g->lanes, 0);
}

static void *keep_chunk(const struct gagg_geom *g, const struct channel *ch, u32 slot,
			bool beside)
{
	return chunk_at(g, beside ? &ch->acc : &ch->result, slot);
}

void keep_add(const struct gagg_geom *g, const struct channel *ch,
	      const struct gagg_todo *todo, const void *lanes)
{
	keep_reduce(g, keep_chunk(g, ch, todo->slot, todo->beside), todo->first, lanes);
}

void keep_place(const struct gagg_geom *g, const struct channel *ch,
		const struct gagg_todo *todo, const void *lanes)
{
	memcpy(chunk_at(g, &ch->copy[todo->local], todo->slot), lanes, todo->lanes * 4);
}

static void keep_read(const struct gagg_geom *g, const struct channel *ch,
		      const struct gagg_act *a)
{
	const struct memory *copy = &ch->copy[a->local];
	const struct gagg_keep *k = &a->keep;
	u32 *fresh = (u32 *)((char *)copy->addr + gagg_copy_fresh(g));

	if (!k->placed)
		memcpy(chunk_at(g, copy, k->slot), keep_chunk(g, ch, k->slot, false),
		       g->lanes * 4);
	__atomic_store_n(fresh + k->slot, k->fresh, __ATOMIC_RELAXED);
}

void keep_act(const struct gagg_geom *g, const struct channel *ch, const struct gagg_act *a)
{
	const struct gagg_keep *k = &a->keep;

	if (a->type == GAGG_ACT_FOLD)
		keep_reduce(g, keep_chunk(g, ch, k->slot, false), false,
			    keep_chunk(g, ch, k->slot, true));
	else if (a->type == GAGG_ACT_ADD_LOCAL)
		/* a seat goes without an op in flight, or the shard has stopped before */
		keep_reduce(g, keep_chunk(g, ch, k->slot, k->beside), k->first,
			    chunk_at(g, &ch->seat[a->local]->contrib, k->slot));
	else
		keep_read(g, ch, a);
}
