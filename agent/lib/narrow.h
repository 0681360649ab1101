/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * Narrow lanes: the wire formats int16 and int8 of a group. The chunk's exponent takes
 * the whole width, since sums have int32 lanes of their own: no headroom.
 *
 * Lanes are little-endian in memory. All functions are pure, as in quant.h.
 */
#ifndef GAGG_NARROW_H
#define GAGG_NARROW_H

#include "quant.h"

/**
 * narrow_lanes() - quantise elements whose exponent is known
 * @x: elements; finite, of magnitude < 2^(@exp - 127)
 * @bits: of a lane, 16 or 8
 * @exp: biased exponent E
 * @lanes: receives a lane of @bits bits for each, in any alignment
 *
 * Every lane is rne(x * 2^(bits - 1 - (E - 127))); of these 2^(bits - 1) and its
 * negative become the magnitude below.
 */
void narrow_lanes(const struct quant_elements *x, unsigned int bits, uint8_t exp, void *lanes);

/**
 * narrow_widen() - narrow lanes to those of int32
 * @lanes: @n lanes, in any alignment
 * @n: number of lanes
 * @bits: of a lane, 16 or 8
 * @unit: factor of each lane; the product is an int32
 * @q: receives @n lanes; must not overlap @lanes
 */
void narrow_widen(const void *lanes, unsigned int n, unsigned int bits, int32_t unit,
		  int32_t *q);

/**
 * narrow_dequant() - turn the lanes of a result into elements
 * @t: element type
 * @lanes: @n lanes of @sum->bits bits, in any alignment
 * @n: number of elements
 * @sum: what they are worth
 * @dst: receives @n elements, of any alignment; must not overlap @lanes
 *
 * An element is lane * 2^(shift + E - 127 - (bits - 1)) / divisor, rounded as by
 * dequant_chunk().
 */
void narrow_dequant(enum quant_type t, const void *lanes, unsigned int n,
		    const struct quant_sum *sum, void *dst);

#endif /* GAGG_NARROW_H */
