/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Adding lanes. Lanes are little-endian on the wire and in every buffer.
 *
 * A contribution is shifted once, from its original, rounding to nearest even:
 * PROTOCOL rule 3. Sums wrap (two's complement).
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
 * gagg_reduce_chunk - dst = a (op) (b shifted)
 * @dst: lanes; may be @a
 * @a: NULL: dst = b shifted (the first contribution stores)
 * @b: lanes in any alignment
 * @n: 32-bit words of each, that fit (gagg_reduce_fits()): else nothing is done
 * @shift: of @b; only for lane S32 with ADD
 */
void gagg_reduce_chunk(u8 laneop, void *dst, const void *a, const void *b,
		       u32 n, u32 shift);

/* gagg_reduce_chunk(), or what does the same faster */
typedef void (*gagg_reduce_fn)(u8 laneop, void *dst, const void *a, const void *b,
			       u32 n, u32 shift);

/* true if lane type and operator are known, and @n 32-bit words are whole lanes */
bool gagg_reduce_fits(u8 laneop, u32 n);

#endif
