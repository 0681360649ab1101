/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Lanes in vector registers, where the processor has them and they are free.
 *
 * The registers are the interrupted task's: gagg_simd_begin() has them saved,
 * once, however often it is called before that task runs again. Between begin
 * and end preemption is off: no lock may be taken there, since it may be one
 * that sleeps (PREEMPT_RT), and no more than an skb is worked through.
 *
 * Loops are of assembly: the compiler does not use the registers (Kbuild), and so needs not
 * be told which of them are overwritten. What is left over in the end the core does.
 */
#ifndef GAGG_SIMD_H
#define GAGG_SIMD_H

#include "core/core.h"

/* find out what the processor has; before all that follow */
void gagg_simd_init(void);

/* false: there are none, or a user of them in the kernel was interrupted */
bool gagg_simd_begin(void);
void gagg_simd_end(void);

/*
 * gagg_simd_add - gagg_reduce_chunk(), where gagg_simd_can() says so
 */
void gagg_simd_add(u8 laneop, void *dst, const void *a, const void *b, u32 n, u32 shift);

/* its part for narrow lanes */
void gagg_simd_add_narrow(u8 laneop, void *dst, const void *a, const void *b, u32 n, u32 shift);

/* gagg_narrow_chunk(), of narrow lanes */
u32 gagg_simd_narrow(u8 laneop, void *dst, const void *sum, u32 n);

/*
 * Begin and end included, and the core's loops where there are no registers: for calls
 * that most often are alone.
 */
extern const struct gagg_loops gagg_simd_loops;

/*
 * True if gagg_simd_add() does what gagg_reduce_chunk() would. To store lanes as they are
 * is memcpy(), and their shifts are rare: exponents have just changed.
 */
static inline bool gagg_simd_can(u8 laneop, const void *a, u32 shift)
{
	if (laneop == GAGG_LANEOP(GAGG_LANE_S32, GAGG_OP_ADD))
		return a && !shift;
	if (laneop == GAGG_LANEOP(GAGG_LANE_S64, GAGG_OP_ADD))
		return a;
	return laneop == GAGG_LANEOP(GAGG_LANE_S16, GAGG_OP_ADD) ||
	       laneop == GAGG_LANEOP(GAGG_LANE_S8, GAGG_OP_ADD);
}

#endif
