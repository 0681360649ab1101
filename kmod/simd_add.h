/* SPDX-License-Identifier: GPL-2.0 */
/* Sums of lanes in vector registers; between gagg_simd_begin() and gagg_simd_end(). */
#ifndef GAGG_SIMD_ADD_H
#define GAGG_SIMD_ADD_H

#include "core/core.h"

/*
 * gagg_simd_add - gagg_reduce_chunk(), if gagg_simd_can()
 */
void gagg_simd_add(u8 laneop, void *dst, const void *a, const void *b, u32 n, u32 shift);

/*
 * True if gagg_simd_add() can do the work of gagg_reduce_chunk(). It does not store: without a
 * shift that is memcpy(), and a shift there is rare, since exponents have just changed.
 */
static inline bool gagg_simd_can(u8 laneop, const void *a, u32 shift)
{
	if (laneop == GAGG_LANEOP(GAGG_LANE_S32, GAGG_OP_ADD))
		return a && !shift;
	if (laneop == GAGG_LANEOP(GAGG_LANE_S64, GAGG_OP_ADD))
		return a;
	return laneop == GAGG_LANEOP(GAGG_LANE_S16, GAGG_OP_ADD) ||
	       laneop == GAGG_LANEOP(GAGG_LANE_S8, GAGG_OP_ADD);
}

#endif
