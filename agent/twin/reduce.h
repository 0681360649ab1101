/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The core's loops over lanes, compiled also for AVX2; which of them run is
 * decided once, at run time.
 */
#ifndef GAGG_TWIN_REDUCE_H
#define GAGG_TWIN_REDUCE_H

#include "core/core.h"

extern void (*twin_reduce_chunk)(u8 laneop, void *dst, const void *a, const void *b, u32 n,
				 u32 shift);
extern void (*twin_publish_lanes)(const struct gagg_publish *pub, struct gagg_chan *part,
				  void *result, const void *acc,
				  const void *const local[GAGG_LOCALS]);

#ifdef __x86_64__
/* kmod/core/{reduce,publish}.c under other names, see twin.mk */
void gagg_reduce_chunk_avx2(u8 laneop, void *dst, const void *a, const void *b, u32 n,
			    u32 shift);
void gagg_publish_lanes_avx2(const struct gagg_publish *pub, struct gagg_chan *part,
			     void *result, const void *acc,
			     const void *const local[GAGG_LOCALS]);
#endif

/* before any other thread runs */
void reduce_init(void);

#endif
