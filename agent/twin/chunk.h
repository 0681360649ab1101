/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Payload of chunks: where it lies in a memory that has one for each slot.
 */
#ifndef GAGG_TWIN_CHUNK_H
#define GAGG_TWIN_CHUNK_H

#include "core/core.h"
#include "memory.h"

/* payload of chunk @i */
static inline void *chunk_at(const struct gagg_geom *g, const struct memory *m, u32 i)
{
	struct gagg_place p = gagg_chunk_place(g, i);

	return (char *)m->addr + (size_t)p.block * GAGG_BLOCK + p.at;
}

#endif
