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

#define WORDS	8	/* of a register */
#define AT_ONCE	8	/* registers */

struct vec {
	__le32 word[WORDS];
} __packed;

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

#define ADD(vpadd, i) ({						\
	asm volatile("vmovdqu %1, %%ymm" #i "\n\t"			\
		     vpadd " %2, %%ymm" #i ", %%ymm" #i "\n\t"		\
		     "vmovdqu %%ymm" #i ", %0"				\
		     : "=m" (d[i]) : "m" (x[i]), "m" (y[i]));		\
})

/* of @n registers */
#define ADD_ALL(vpadd, n) do {						\
	u32 n_ = (n);							\
									\
	for (; n_ >= AT_ONCE; n_ -= AT_ONCE) {				\
		ADD(vpadd, 0); ADD(vpadd, 1); ADD(vpadd, 2); ADD(vpadd, 3); \
		ADD(vpadd, 4); ADD(vpadd, 5); ADD(vpadd, 6); ADD(vpadd, 7); \
		d += AT_ONCE;						\
		x += AT_ONCE;						\
		y += AT_ONCE;						\
	}								\
	for (; n_; n_--, d++, x++, y++)					\
		ADD(vpadd, 0);						\
} while (0)

void gagg_simd_add(u8 laneop, void *dst, const void *a, const void *b, u32 n)
{
	const struct vec *x = a, *y = b;
	struct vec *d = dst;

	if (laneop == GAGG_LANEOP(GAGG_LANE_S32, GAGG_OP_ADD))
		ADD_ALL("vpaddd", n / WORDS);
	else
		ADD_ALL("vpaddq", n / WORDS);
	if (n % WORDS)
		gagg_reduce_chunk(laneop, d, x, y, n % WORDS, 0);
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

void gagg_simd_reduce(u8 laneop, void *dst, const void *a, const void *b, u32 n, u32 shift)
{
	if (gagg_simd_can(laneop, a, shift) && gagg_simd_begin()) {
		gagg_simd_add(laneop, dst, a, b, n);
		gagg_simd_end();
	} else {
		gagg_reduce_chunk(laneop, dst, a, b, n, shift);
	}
}
