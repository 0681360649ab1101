/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * A plan's exponents: the ranks of a group derive the next one to try from the last result. The
 * rule has no memory, so a home or a rank that has just joined knows as much as the others.
 */
#ifndef GAGG_EXPONENT_H
#define GAGG_EXPONENT_H

#include <stdint.h>

/**
 * exponent_next() - the exponent to try in the next round of a chunk
 * @E: exponent of the result (biased, 1..255)
 * @W: largest exponent wanted by a contribution to it; 0 = none
 *
 * If no contribution needed an exponent (@W = 0), the exponent does not change. One bit above @W is
 * kept, so that data that moves between two binades causes no void. If there are two bits or more,
 * the exponent falls by one per round. It never rises here: a contribution raises it by its own
 * want.
 *
 * Return: the same on every rank, as it depends on the result alone.
 */
static inline uint8_t exponent_next(uint8_t E, uint8_t W)
{
	if (W == 0)
		return E;
	/* As int: W + 2 does not wrap, and E - 1 > W >= 1. */
	return W + 2 <= E ? (uint8_t)(E - 1) : E;
}

/**
 * headroom_bits() - bits a sum may grow by
 * @ranks: number of ranks that add up
 *
 * Return: ceil(log2(@ranks)), and 0 for 0. The caller refuses more than
 * QUANT_HEADROOM_MAX.
 */
static inline unsigned int headroom_bits(uint64_t ranks)
{
	/* 2^(b-1) < w <= 2^b exactly if w - 1 has b bits. */
	return ranks > 1 ?
	       64 - (unsigned int)__builtin_clzll(ranks - 1) : 0;
}

#endif /* GAGG_EXPONENT_H */
