/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Chunk memory: a region whose chunks lie @room lanes apart, none across two blocks.
 */
#ifndef GAGG_CHUNK_H
#define GAGG_CHUNK_H

#include "core/core.h"
#include "memory.h"

/* address of chunk @i */
static inline void *gagg_chunk_at(const struct gagg_geom *g, const struct gagg_mem *mem,
				  u32 i)
{
	struct gagg_place p = gagg_chunk_place(g, i);

	return mem->block[p.block] + p.at;
}

#endif
