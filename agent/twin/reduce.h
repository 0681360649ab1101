/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The core's loops over lanes, compiled also for AVX2; which of them run is
 * decided once, at run time.
 */
#ifndef GAGG_TWIN_REDUCE_H
#define GAGG_TWIN_REDUCE_H

#include "core/core.h"

extern gagg_reduce_fn twin_reduce_chunk;

#ifdef __x86_64__
/* kmod/core/reduce.c under another name, see twin.mk */
void gagg_reduce_chunk_avx2(u8 laneop, void *dst, const void *a, const void *b, u32 n,
			    u32 shift);
#endif

/* before any other thread runs */
void reduce_init(void);

#endif
