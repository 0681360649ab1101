// SPDX-License-Identifier: GPL-2.0
#include "reduce.h"

void (*twin_reduce_chunk)(u8 laneop, void *dst, const void *a, const void *b, u32 n,
			  u32 shift) = gagg_reduce_chunk;
void (*twin_publish_lanes)(const struct gagg_publish *pub, struct gagg_chan *part,
			   void *result, const void *acc,
			   const void *const local[GAGG_LOCALS]) = gagg_publish_lanes;

#ifdef __x86_64__
void reduce_init(void)
{
	if (!__builtin_cpu_supports("avx2"))
		return;
	twin_reduce_chunk = gagg_reduce_chunk_avx2;
	twin_publish_lanes = gagg_publish_lanes_avx2;
}
#else
void reduce_init(void)
{
}
#endif
