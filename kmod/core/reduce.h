/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Adding lanes. Lanes are little-endian on the wire and in every buffer.
 *
 * A contribution is shifted once, from its original, rounding to nearest even:
 * protocol.md R2. Sums wrap (two's complement).
 */
#ifndef GAGG_CORE_REDUCE_H
#define GAGG_CORE_REDUCE_H

#include "wire.h"

/* rne(q / 2^s); 0 for s > 31, since |q| <= 2^31 */
static inline s32 gagg_shift_rne(s32 q, u32 s)
{
	s64 half;

	if (!s)
		return q;
	if (s > 32)
		return 0;
	/* q + half - 1 + (bit s of q): ties go to even */
	half = (s64)1 << (s - 1);
	return (s32)(((s64)q + half - 1 + (((s64)q >> s) & 1)) >> s);
}

/*
 * struct gagg_rne - what of gagg_shift_rne() is the same for all lanes
 *
 * A lane q becomes (q + bias + ((q >> s) & odd)) >> s, where that fits in 32 bits.
 */
struct gagg_rne {
	u32 s;
	s32 bias;	/* half - 1 */
	s32 odd;	/* ties look at it */
};

static inline struct gagg_rne gagg_rne_of(u32 s)
{
	return (struct gagg_rne){ .s = s, .bias = s ? (1 << (s - 1)) - 1 : 0, .odd = !!s };
}

/* of what has 16 bits at most: from s = 16 on that is 0, and 16 is enough */
static inline struct gagg_rne gagg_rne_narrow(u32 s)
{
	return gagg_rne_of(s < 16 ? s : 16);
}

/* how often lanes have half of 32 bits: 0 of most, and their sums are as wide as they */
static inline u32 gagg_lane_narrow(u8 laneop)
{
	u32 lane = laneop >> 4;

	return lane == GAGG_LANE_S16 ? 1 : lane == GAGG_LANE_S8 ? 2 : 0;
}

/*
 * gagg_reduce_chunk - dst = a (op) (b shifted)
 * @dst: lanes; may be @a. If lanes are narrow, both are sums of int32, as many as @b has lanes
 * @a: NULL: dst = b shifted (the first contribution stores)
 * @b: lanes in any alignment
 * @n: 32-bit words of @b, that fit (gagg_reduce_fits()): else nothing is done
 * @shift: of @b; only for lanes S32, S16 and S8 with ADD
 */
void gagg_reduce_chunk(u8 laneop, void *dst, const void *a, const void *b,
		       u32 n, u32 shift);

/*
 * gagg_narrow_chunk - sums become lanes again
 * @laneop: of narrow lanes: else nothing is done
 * @dst: @n 32-bit words of lanes; not @sum
 * @sum: as many int32
 *
 * dst = rne(sum / 2^s) with the smallest s that makes all of them fit, -2^(bits-1) left
 * out; returns s.
 */
u32 gagg_narrow_chunk(u8 laneop, void *dst, const void *sum, u32 n);

/*
 * Its steps: the largest magnitude of @lanes sums, 2^31 if need be; s for the largest of
 * all; and the lanes, by it.
 */
u32 gagg_narrow_most(const void *sum, u32 lanes);
u32 gagg_narrow_shift(u8 laneop, u32 most);
void gagg_narrow_lanes(u8 laneop, void *dst, const void *sum, u32 n, u32 s);

/*
 * gagg_reduce_chunk() and gagg_narrow_chunk(), or what does the same faster
 *
 * Six parameters, and no context:
 * 1. They differ from call to call, so a context would be filled for each chunk.
 * 2. Six are passed in registers where the loops are fast (x86-64, arm64), and a loop keeps
 *    them there.
 * 3. A loop that does only a part of the lane types hands the rest on as it came
 *    (gagg_simd_loops).
 */
struct gagg_loops {
	void (*reduce)(u8 laneop, void *dst, const void *a, const void *b, u32 n, u32 shift);
	u32 (*narrow)(u8 laneop, void *dst, const void *sum, u32 n);
};

/* these */
extern const struct gagg_loops gagg_loops;

/* true if lane type and operator are known, and @n 32-bit words are whole lanes */
bool gagg_reduce_fits(u8 laneop, u32 n);

#endif
