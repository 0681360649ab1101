// SPDX-License-Identifier: GPL-2.0
/*
 * Lanes of 16 and 8 bits, and their sums of 32 bits: in assembly, see simd.h.
 *
 * Registers 0 to 3 hold the vectors that are worked on; 10 to 13 are scratch for them, in that
 * order. The others are set before a loop:
 *
 *	8	the order of packed bytes
 *	9	struct gagg_rne: 1, or 0 without a shift
 *	14	its bias
 *	15	the shift; the largest magnitude
 */
#include "simd_narrow.h"

#ifdef __x86_64__

#define VEC	32UL		/* bytes: 8 sums */
#define PACKED	8U		/* words of narrow lanes that are packed at a time */

/* --- sums of narrow lanes: @at counts bytes of them, sums have @times as many --- */

#define WIDEN(vpmovsx, r) vpmovsx " %c[from](%[b],%[at]), %%ymm" #r "\n\t"

/* struct gagg_rne: q += bias + ((q >> s) & odd), then q >> s */
#define SHIFT(r)								\
	"vpsrad %%xmm15, %%ymm" #r ", %%ymm1" #r "\n\t"				\
	"vpand %%ymm9, %%ymm1" #r ", %%ymm1" #r "\n\t"				\
	"vpaddd %%ymm14, %%ymm" #r ", %%ymm" #r "\n\t"				\
	"vpaddd %%ymm1" #r ", %%ymm" #r ", %%ymm" #r "\n\t"			\
	"vpsrad %%xmm15, %%ymm" #r ", %%ymm" #r "\n\t"

#define ADD(r, times)								\
	"vpaddd %c[to](%[a],%[at]," #times "), %%ymm" #r ", %%ymm" #r "\n\t"

#define NONE(...)	""

/* vector @i behind @at, in register @r */
#define SUM(vpmovsx, times, shift, add, r, i) ({				\
	asm volatile(WIDEN(vpmovsx, r) shift(r) add(r, times)			\
		     "vmovdqu %%ymm" #r ", %c[to](%[dst],%[at]," #times ")"	\
		     : : [dst] "r" (dst), [a] "r" (a), [b] "r" (b), [at] "r" (at),	\
			 [from] "i" ((i) * VEC / (times)),			\
			 [to] "i" ((i) * VEC) : "memory");			\
})

#define SUM_4(v, times, shift, add, i) do {					\
	SUM(v, times, shift, add, 0, i);					\
	SUM(v, times, shift, add, 1, (i) + 1);					\
	SUM(v, times, shift, add, 2, (i) + 2);					\
	SUM(v, times, shift, add, 3, (i) + 3);					\
} while (0)

/* sums of @end bytes, in whole vectors */
#define SUM_ALL(v, times, shift, add) do {					\
	for (; at + 8 * VEC / (times) <= end; at += 8 * VEC / (times)) {	\
		SUM_4(v, times, shift, add, 0);					\
		SUM_4(v, times, shift, add, 4);					\
	}									\
	for (; at < end; at += VEC / (times))					\
		SUM(v, times, shift, add, 0, 0);				\
} while (0)

#define SUM_ANY(v, times) do {							\
	if (shift && a)								\
		SUM_ALL(v, times, SHIFT, ADD);					\
	else if (shift)								\
		SUM_ALL(v, times, SHIFT, NONE);					\
	else if (a)								\
		SUM_ALL(v, times, NONE, ADD);					\
	else									\
		SUM_ALL(v, times, NONE, NONE);					\
} while (0)

static void simd_narrow_set_rne(struct gagg_rne r)
{
	asm volatile("vmovd %[s], %%xmm15\n\t"
		     "vmovd %[bias], %%xmm14\n\t"
		     "vmovd %[odd], %%xmm9\n\t"
		     "vpbroadcastd %%xmm14, %%ymm14\n\t"
		     "vpbroadcastd %%xmm9, %%ymm9"
		     : : [s] "r" (r.s), [bias] "r" (r.bias), [odd] "r" (r.odd));
}

void gagg_simd_add_narrow(u8 laneop, void *dst, const void *a, const void *b, u32 n, u32 shift)
{
	u32 times = 1U << gagg_lane_narrow(laneop), rest = n & (8 / times - 1);
	unsigned long at = 0, end = (n - rest) * 4UL;

	if (shift)
		simd_narrow_set_rne(gagg_rne_narrow(shift));
	if (times == 2)
		SUM_ANY("vpmovsxwd", 2);
	else
		SUM_ANY("vpmovsxbd", 4);
	if (rest)
		gagg_reduce_chunk(laneop, dst + at * times, a ? a + at * times : NULL, b + at,
				  rest, shift);
}

/* --- and back ------------------------------------------------------------- */

#define MOST(r, i) ({								\
	asm volatile("vpabsd %c[off](%[sum],%[at]), %%ymm" #r "\n\t"		\
		     "vpmaxud %%ymm" #r ", %%ymm15, %%ymm15"			\
		     : : [sum] "r" (sum), [at] "r" (at), [off] "i" ((i) * VEC) : "memory");	\
})

/* the largest magnitude in @end bytes, which are whole vectors */
static u32 simd_narrow_most_of(const void *sum, unsigned long end)
{
	unsigned long at = 0;
	u32 most;

	asm volatile("vpxor %xmm15, %xmm15, %xmm15");
	for (; at + 4 * VEC <= end; at += 4 * VEC) {
		MOST(0, 0);
		MOST(1, 1);
		MOST(2, 2);
		MOST(3, 3);
	}
	for (; at < end; at += VEC)
		MOST(0, 0);
	asm volatile("vextracti128 $1, %%ymm15, %%xmm0\n\t"
		     "vpmaxud %%xmm0, %%xmm15, %%xmm15\n\t"
		     "vpshufd $0x4e, %%xmm15, %%xmm0\n\t"
		     "vpmaxud %%xmm0, %%xmm15, %%xmm15\n\t"
		     "vpshufd $0xb1, %%xmm15, %%xmm0\n\t"
		     "vpmaxud %%xmm0, %%xmm15, %%xmm15\n\t"
		     "vmovd %%xmm15, %[most]"
		     : [most] "=r" (most));
	return most;
}

#define ROUND(r, times)								\
	"vmovdqu 32*" #r "(%[sum],%[at]," #times "), %%ymm" #r "\n\t" SHIFT(r)

/* all fit, so none is saturated; packing leaves pieces of 8 bytes in the order 0 2 1 3 */
static void simd_narrow_pack_halves(void *dst, const void *sum, unsigned long end)
{
	unsigned long at;

	for (at = 0; at < end; at += VEC)
		asm volatile(ROUND(0, 2) ROUND(1, 2)
			     "vpackssdw %%ymm1, %%ymm0, %%ymm0\n\t"
			     "vpermq $0xd8, %%ymm0, %%ymm0\n\t"
			     "vmovdqu %%ymm0, (%[dst],%[at])"
			     : : [dst] "r" (dst), [sum] "r" (sum), [at] "r" (at) : "memory");
}

/* packing leaves half of each of the four vectors' bytes in each half of the register */
static void simd_narrow_pack_bytes(void *dst, const void *sum, unsigned long end)
{
	static const u32 order[8] = { 0, 4, 1, 5, 2, 6, 3, 7 };
	unsigned long at;

	asm volatile("vmovdqu %[order], %%ymm8" : : [order] "m" (order));
	for (at = 0; at < end; at += VEC)
		asm volatile(ROUND(0, 4) ROUND(1, 4) ROUND(2, 4) ROUND(3, 4)
			     "vpackssdw %%ymm1, %%ymm0, %%ymm0\n\t"
			     "vpackssdw %%ymm3, %%ymm2, %%ymm2\n\t"
			     "vpacksswb %%ymm2, %%ymm0, %%ymm0\n\t"
			     "vpermd %%ymm0, %%ymm8, %%ymm0\n\t"
			     "vmovdqu %%ymm0, (%[dst],%[at])"
			     : : [dst] "r" (dst), [sum] "r" (sum), [at] "r" (at) : "memory");
}

u32 gagg_simd_narrow(u8 laneop, void *dst, const void *sum, u32 n)
{
	u32 times = 1U << gagg_lane_narrow(laneop), rest = n % PACKED, most, s;
	unsigned long end = (n - rest) * 4UL;

	most = gagg_narrow_most(sum + end * times, rest * times);
	s = simd_narrow_most_of(sum, end * times);
	most = s > most ? s : most;
	/* no sum of contributions is that large: this leaves room for the bias */
	if (most >> 30)
		return gagg_narrow_chunk(laneop, dst, sum, n);
	s = gagg_narrow_shift(laneop, most);
	simd_narrow_set_rne(gagg_rne_of(s));
	if (times == 2)
		simd_narrow_pack_halves(dst, sum, end);
	else
		simd_narrow_pack_bytes(dst, sum, end);
	gagg_narrow_lanes(laneop, dst + end, sum + end * times, rest, s);
	return s;
}

#else

void gagg_simd_add_narrow(u8 laneop, void *dst, const void *a, const void *b, u32 n, u32 shift)
{
	gagg_reduce_chunk(laneop, dst, a, b, n, shift);
}

u32 gagg_simd_narrow(u8 laneop, void *dst, const void *sum, u32 n)
{
	return gagg_narrow_chunk(laneop, dst, sum, n);
}

#endif
