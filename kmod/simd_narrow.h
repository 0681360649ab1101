/* SPDX-License-Identifier: GPL-2.0 */
/* Narrow lanes in vector registers; between gagg_simd_begin() and gagg_simd_end(). */
#ifndef GAGG_SIMD_NARROW_H
#define GAGG_SIMD_NARROW_H

#include "core/core.h"

/* gagg_simd_add() for narrow lanes */
void gagg_simd_add_narrow(u8 laneop, void *dst, const void *a, const void *b, u32 n, u32 shift);

/* gagg_narrow_chunk() for narrow lanes */
u32 gagg_simd_narrow(u8 laneop, void *dst, const void *sum, u32 n);

#endif
