// SPDX-License-Identifier: GPL-2.0
/*
 * AVX2, in assembly: the kernel's compiler does not use the registers, and so
 * needs not be told which of them are overwritten.
 */
#include "simd.h"

#ifdef CONFIG_X86_64

#include <asm/cpufeature.h>
#include <asm/fpu/api.h>
#include <asm/fpu/types.h>

#define WORDS	8		/* of a register */
#define VEC	(WORDS * 4)	/* bytes */

static bool usable __ro_after_init;

void __init gagg_simd_init(void)
{
	usable = boot_cpu_has(X86_FEATURE_AVX2) &&
		 cpu_has_xfeatures(XFEATURE_MASK_SSE | XFEATURE_MASK_YMM, NULL);
}

bool gagg_simd_begin(void)
{
	if (!usable || !irq_fpu_usable())
		return false;
	kernel_fpu_begin();
	return true;
}

void gagg_simd_end(void)
{
	/* else instructions that know half of a register only are slow */
	asm volatile("vzeroupper");
	kernel_fpu_end();
}

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

void gagg_simd_add(u8 laneop, void *dst, const void *a, const void *b, u32 n)
{
	unsigned long at = 0, end = n / WORDS * VEC;

	if (laneop == GAGG_LANEOP(GAGG_LANE_S32, GAGG_OP_ADD))
		ADD_ALL("vpaddd");
	else
		ADD_ALL("vpaddq");
	if (n % WORDS)
		gagg_reduce_chunk(laneop, dst + at, a + at, b + at, n % WORDS, 0);
}

#else

void __init gagg_simd_init(void)
{
}

bool gagg_simd_begin(void)
{
	return false;
}

void gagg_simd_end(void)
{
}

void gagg_simd_add(u8 laneop, void *dst, const void *a, const void *b, u32 n)
{
	gagg_reduce_chunk(laneop, dst, a, b, n, 0);
}

#endif

static void reduce(u8 laneop, void *dst, const void *a, const void *b, u32 n, u32 shift)
{
	if (gagg_simd_can(laneop, a, shift) && gagg_simd_begin()) {
		gagg_simd_add(laneop, dst, a, b, n);
		gagg_simd_end();
	} else {
		gagg_reduce_chunk(laneop, dst, a, b, n, shift);
	}
}

const struct gagg_loops gagg_simd_loops = {
	.reduce = reduce,
	.narrow = gagg_narrow_chunk,
};
