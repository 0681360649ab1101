/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Chunk memory: a region whose chunks lie @room lanes apart, none across two blocks.
 */
#ifndef GAGG_CHUNK_H
#define GAGG_CHUNK_H

#include <linux/math.h>
#include "core/core.h"
#include "memory.h"

static inline u32 gagg_per_block(const struct gagg_geom *g)
{
	return GAGG_BLOCK / (g->room * 4);
}

/* bytes for that many chunks; at most 2^22 (a ring), of at most 2240 lanes: no overflow */
static inline u64 gagg_chunk_bytes(const struct gagg_geom *g, u32 chunks)
{
	return (u64)DIV_ROUND_UP(chunks, gagg_per_block(g)) * GAGG_BLOCK;
}

/* address of chunk @i */
static inline void *gagg_chunk_at(const struct gagg_geom *g, const struct gagg_mem *mem,
				  u32 i)
{
	u32 per = gagg_per_block(g);

	return mem->block[i / per] + (size_t)(i % per) * g->room * 4;
}

#endif
