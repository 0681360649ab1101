/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The payload of a store: what its core decides (core/store/store.h), on lanes.
 *
 * channel.result holds the chunks that are homed here, and is mapped by nobody;
 * seat.copy is what a rank has read, and is mapped by its trainer only.
 */
#ifndef GAGG_KEEP_H
#define GAGG_KEEP_H

#include "channel.h"
#include "session.h"

/* what a channel of a store needs besides result and done; sleeps */
int gagg_keep_alloc(const struct gagg_geom *g, struct gagg_channel *ch);

/* where the clocks of what was read lie in seat.copy, u32 by chunk; and its size */
static inline u64 gagg_keep_fresh(const struct gagg_geom *g)
{
	return gagg_chunk_bytes(g, g->ring);
}

static inline u64 gagg_keep_bytes(const struct gagg_geom *g)
{
	return gagg_keep_fresh(g) + (u64)g->ring * sizeof(u32);
}

/* GAGG_RX_ADD, GAGG_RX_PLACE; port lock held */
void gagg_keep_add(const struct gagg_geom *g, struct gagg_channel *ch,
		   const struct gagg_todo *todo, const void *lanes);
void gagg_keep_place(const struct gagg_geom *g, struct gagg_channel *ch,
		     const struct gagg_todo *todo, const void *lanes);

/* FOLD, ADD_LOCAL, READ; port lock held */
void gagg_keep_act(const struct gagg_geom *g, struct gagg_channel *ch,
		   const struct gagg_act *a);

#endif
