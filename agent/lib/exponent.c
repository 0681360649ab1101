// SPDX-License-Identifier: LGPL-2.1-only OR MIT
#include "exponent.h"

uint8_t exponent_next(uint8_t E, uint8_t W)
{
	if (W == 0)
		return E;
	/* As int: W + 2 does not wrap, and E - 1 > W >= 1. */
	return W + 2 <= E ? (uint8_t)(E - 1) : E;
}

unsigned int headroom_bits(uint64_t weight_sum)
{
	/* 2^(b-1) < w <= 2^b exactly if w - 1 has b bits. */
	return weight_sum > 1 ?
	       64 - (unsigned int)__builtin_clzll(weight_sum - 1) : 0;
}
