/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Choices that a seed decides, for the programs that fuzz the live module.
 */
#ifndef DICE_H
#define DICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct dice {
	uint64_t state;
};

/* splitmix64 (Steele et al. 2014) */
static inline uint64_t roll(struct dice *d)
{
	uint64_t z = d->state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* 0 to @n - 1; @n is small, so the bias is as well */
static inline uint64_t below(struct dice *d, uint64_t n)
{
	return roll(d) % n;
}

static inline bool one_in(struct dice *d, uint64_t n)
{
	return !below(d, n);
}

static inline void scatter(struct dice *d, void *to, size_t n)
{
	uint8_t *p = to;

	while (n--)
		*p++ = (uint8_t)roll(d);
}

/* a number of @bits at which code goes wrong: near 0, a power of two, the end */
static inline uint64_t odd_number(struct dice *d, unsigned int bits)
{
	uint64_t all = bits < 64 ? (1ULL << bits) - 1 : ~0ULL;

	switch (below(d, 5)) {
	case 0:
		return below(d, 4);
	case 1:
		return all - below(d, 4);
	case 2:
		return ((1ULL << below(d, bits)) - 1 + below(d, 3)) & all;
	case 3:
		return below(d, 512) & all;
	default:
		return roll(d) & all;
	}
}

#endif
