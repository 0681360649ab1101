/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * The carry: what is added to the next contribution, since quantising has left it out of the last
 * one, or it came too late to count.
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
 * @sum: receives x + carry, rounded to float32. carry_rest() finds what rounding leaves out; beyond
 *       the range of float32 the sum is infinite.
 */
void carry_add(const float *x, const float *carry, unsigned int n, float *sum);

/**
 * carry_rest() - the part of elements and their carry that was not sent
 * @x: @n elements
 * @sent: the lanes that represent them in the result
 * @unit: value of a lane of 1
 * @n: number of elements
 * @carry: what was added to each; becomes x + carry - sent * unit
 *
 * The sum is calculated again in double, so the rest includes what rounding to float32 has left
 * out. The only rounding that has an effect is that of the difference to float32.
 */
void carry_rest(const float *x, const int32_t *sent, double unit, unsigned int n,
		float *carry);

#endif
