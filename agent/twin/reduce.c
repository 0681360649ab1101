// SPDX-License-Identifier: GPL-2.0
#include "reduce.h"

gagg_reduce_fn twin_reduce_chunk = gagg_reduce_chunk;

#ifdef __x86_64__
void reduce_init(void)
{
	if (__builtin_cpu_supports("avx2"))
		twin_reduce_chunk = gagg_reduce_chunk_avx2;
}
#else
void reduce_init(void)
{
}
#endif
