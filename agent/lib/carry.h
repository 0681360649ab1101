/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * What is added to the next contribution: what quantising has left out of the last one,
 * or what came too late to count.
 *
 * Pure: no state, safe from any thread. The arithmetic is done in the caller's
 * floating-point environment, unlike that of quant.h: what a rank adds to its own
 * contributions need not be the same anywhere else.
 */
#ifndef GAGG_CARRY_H
#define GAGG_CARRY_H

#include <stdint.h>

/**
 * carry_add() - elements and their carry
 * @x: @n elements
 * @carry: what is added to each
 * @n: number of elements
 * @sum: receives x + carry, rounded to float32. What that leaves out is left to
 *	carry_rest(); what is beyond its range is infinite.
 */
void carry_add(const float *x, const float *carry, unsigned int n, float *sum);

/**
 * carry_rest() - what is left of elements and their carry
 * @x: @n elements
 * @sent: the lanes that stand for them in the result
 * @unit: what a lane of 1 is worth
 * @n: number of elements
 * @carry: what was added to each; becomes x + carry - sent * unit
 *
 * The sum is formed anew in double, so that what rounding it to float32 has left out is
 * in the rest. The one rounding that is felt is that of the difference, a float32 again.
 */
void carry_rest(const float *x, const int32_t *sent, double unit, unsigned int n,
		float *carry);

#endif
