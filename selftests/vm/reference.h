/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What every rank contributes, and what must come out.
 *
 * An element is a function of (seed, op, rank, index), so every rank knows all
 * contributions and computes the result by itself: integers and order
 * statistics exactly, sums of floating point in double.
 */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "gagg.h"

#define RANKS	64

enum pattern {
	DATA_RANDOM,	/* in [-1, 1) times 2^scale; int32: 32 + scale bits, int64: 64 + scale */
	DATA_ZERO,
	DATA_NAN,	/* random, but one element */
	DATA_INF,
};

/**
 * struct data - what a rank contributes
 * @pattern: see there
 * @scale: exponent
 * @at: element that is NaN or infinite
 */
struct data {
	enum pattern pattern;
	int scale;
	size_t at;
};

enum exponents {
	EXP_PREDICTED,	/* by a plan */
	EXP_AGREED,	/* the largest that a rank needs, on all */
	EXP_OWN,	/* what each needs */
};

/**
 * struct sum - a reduction
 * @seed, @op: of the elements
 * @dtype, @redop: what
 * @ranks: group's ranks that contribute
 * @n: how many
 * @data: by group's rank
 * @slack: bits by which the error bound is to be exceeded
 * @wire: bits of a lane of a floating-point sum: 32, 16 or 8
 * @chunk: with 16 and 8, elements of a chunk
 * @exponents: with 16 and 8, what is known of them: then the result is, too
 */
struct sum {
	uint64_t seed;
	uint32_t op;
	enum gagg_dtype dtype;
	enum gagg_op redop;
	const int *ranks;
	int n;
	const struct data *data;
	int slack;
	int wire;
	size_t chunk;
	enum exponents exponents;
};

size_t dtype_bytes(enum gagg_dtype t);

/* elements @first .. @first + @count of what @rank contributes */
void data_fill(const struct data *d, uint64_t seed, uint32_t op, int rank,
	       enum gagg_dtype t, size_t first, size_t count, void *out);

/*
 * sum_check - is @result elements @first .. @first + @count of the reduction?
 * @worst: largest error in units of the bound
 * Returns true, or false and a sentence in @why.
 */
bool sum_check(const struct sum *s, size_t first, size_t count, const void *result,
	       double *worst, char *why, size_t size);

/* 64 bits that tell results apart */
uint64_t digest(const void *data, size_t bytes);

#endif
