// SPDX-License-Identifier: GPL-2.0
#include "reduce.h"

const struct gagg_loops *twin_loops = &gagg_loops;

#ifdef __x86_64__
void reduce_init(void)
{
	if (__builtin_cpu_supports("avx2"))
		twin_loops = &gagg_loops_avx2;
}
#else
void reduce_init(void)
{
}
#endif
