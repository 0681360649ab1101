/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/* Whole steps of a grid. Sums and differences of them wrap. */
#ifndef GAGG_STEPS_H
#define GAGG_STEPS_H

#include <stdint.h>

/*
 * To nearest, half away from zero; @x is below 2^63 in magnitude. The rest is exact. A sum with 0.5
 * is not: from 2^52 on it may be the next number.
 */
static inline int64_t steps_nearest(double x)
{
	int64_t whole = (int64_t)x;
	double rest = x - (double)whole;

	return whole + (rest >= 0.5) - (rest <= -0.5);
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
