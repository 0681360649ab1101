// SPDX-License-Identifier: GPL-2.0
/*
 * Lanes as wide as their sums: in assembly, see simd.h.
 */
#include "simd_add.h"
#include "simd_narrow.h"

#ifdef __x86_64__

#define WORDS	8		/* of a register */
#define VEC	(WORDS * 4)	/* bytes */

/* register @i: of the @i-th vector behind byte @at of all three */
#define ADD(vpadd, i) ({								\
	asm volatile("vmovdqu %c[off](%[a],%[at]), %%ymm" #i "\n\t"		\
		     vpadd " %c[off](%[b],%[at]), %%ymm" #i ", %%ymm" #i "\n\t"	\
		     "vmovdqu %%ymm" #i ", %c[off](%[dst],%[at])"		\
		     : : [dst] "r" (dst), [a] "r" (a), [b] "r" (b), [at] "r" (at),	\
			 [off] "i" ((i) * VEC) : "memory");			\
})

#define ADD_4(v)	do { ADD(v, 0); ADD(v, 1); ADD(v, 2); ADD(v, 3); } while (0)
#define ADD_8(v)	do { ADD_4(v); ADD(v, 4); ADD(v, 5); ADD(v, 6); ADD(v, 7); } while (0)
#define ADD_16(v)	do {							\
	ADD_8(v); ADD(v, 8); ADD(v, 9); ADD(v, 10); ADD(v, 11);			\
	ADD(v, 12); ADD(v, 13); ADD(v, 14); ADD(v, 15);				\
} while (0)

/* of @end bytes, whole registers */
#define ADD_ALL(v) do {								\
	for (; at + 16 * VEC <= end; at += 16 * VEC)				\
		ADD_16(v);							\
	if (end & 8 * VEC) {							\
		ADD_8(v);							\
		at += 8 * VEC;							\
	}									\
	if (end & 4 * VEC) {							\
		ADD_4(v);							\
		at += 4 * VEC;							\
	}									\
	for (; at < end; at += VEC)						\
		ADD(v, 0);							\
} while (0)

void gagg_simd_add(u8 laneop, void *dst, const void *a, const void *b, u32 n, u32 shift)
{
	unsigned long at = 0, end = n / WORDS * VEC;

	if (laneop == GAGG_LANEOP(GAGG_LANE_S32, GAGG_OP_ADD)) {
		ADD_ALL("vpaddd");
	} else if (laneop == GAGG_LANEOP(GAGG_LANE_S64, GAGG_OP_ADD)) {
		ADD_ALL("vpaddq");
	} else {
		gagg_simd_add_narrow(laneop, dst, a, b, n, shift);
		return;
	}
	if (n % WORDS)
		gagg_reduce_chunk(laneop, dst + at, a + at, b + at, n % WORDS, 0);
}

#else

void gagg_simd_add(u8 laneop, void *dst, const void *a, const void *b, u32 n, u32 shift)
{
	gagg_reduce_chunk(laneop, dst, a, b, n, shift);
}

#endif
