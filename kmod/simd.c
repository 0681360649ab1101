// SPDX-License-Identifier: GPL-2.0
/*
 * When vector registers can be used, and loops that include gagg_simd_begin() and gagg_simd_end().
 */
#include "simd.h"
#include "simd_add.h"
#include "simd_narrow.h"

#ifdef CONFIG_X86_64

#include <linux/cache.h>
#include "compat/fpu.h"

static bool usable __ro_after_init;

void __init gagg_simd_init(void)
{
	usable = boot_cpu_has(X86_FEATURE_AVX2) && gagg_compat_fpu_has_ymm();
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
	/* without this, instructions that use half of a register would be slow */
	asm volatile("vzeroupper");
	kernel_fpu_end();
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

#endif

static void simd_reduce_lanes(u8 laneop, void *dst, const void *a, const void *b, u32 n, u32 shift)
{
	if (gagg_simd_can(laneop, a, shift) && gagg_simd_begin()) {
		gagg_simd_add(laneop, dst, a, b, n, shift);
		gagg_simd_end();
	} else {
		gagg_reduce_chunk(laneop, dst, a, b, n, shift);
	}
}

static u32 simd_narrow_lanes(u8 laneop, void *dst, const void *sum, u32 n)
{
	u32 s;

	if (!gagg_lane_narrow(laneop) || !gagg_simd_begin())
		return gagg_narrow_chunk(laneop, dst, sum, n);
	s = gagg_simd_narrow(laneop, dst, sum, n);
	gagg_simd_end();
	return s;
}

const struct gagg_loops gagg_simd_loops = {
	.reduce = simd_reduce_lanes,
	.narrow = simd_narrow_lanes,
};
