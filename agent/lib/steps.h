/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/* Whole steps of a grid. Sums and differences of them wrap. */
#ifndef GAGG_STEPS_H
#define GAGG_STEPS_H

#include <stdint.h>

/* to nearest, half away from zero; @x is below 2^53 in magnitude */
static inline int64_t steps_nearest(double x)
{
	return (int64_t)(x < 0 ? x - 0.5 : x + 0.5);
}

static inline int64_t steps_add(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

static inline int64_t steps_sub(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a - (uint64_t)b);
}

#endif
