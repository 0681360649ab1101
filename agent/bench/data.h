/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What every rank contributes, and what must come out.
 *
 * Element i of rank r is g(i) * c(r): g is a hash of the seed, the number of the
 * operation and the index, c differs for each rank and operation. Both have so
 * few bits that the product is exact in its type. Every rank so knows every
 * contribution, and a sum over ranks is g(i) * (c(0) + c(1) + ...): a
 * contribution that is missing, counted twice, or from another place or
 * operation makes a difference, and checking costs the same for any number of
 * ranks.
 */
#ifndef BENCH_DATA_H
#define BENCH_DATA_H

#include "op.h"

/**
 * struct bench_data - contributions of all ranks to one operation
 * @dtype:	their type
 * @n:		ranks
 * @base:	what g is seeded with
 * @c:		factor of each rank
 */
struct bench_data {
	enum bench_dtype dtype;
	int n;
	uint32_t base;
	int32_t c[BENCH_RANKS];
};

/* every contribution is of a smaller magnitude (floating point) */
#define BENCH_ABSMAX	1.0

void bench_data_init(struct bench_data *d, enum bench_dtype dtype, int n,
		     uint64_t seed, uint64_t number);

/* elements @first .. @first + @count of what @rank contributes */
void bench_data_fill(const struct bench_data *d, int rank, size_t first, size_t count,
		     void *out);

/**
 * bench_data_wrong() - how many elements of a result are wrong
 * @d:		what was contributed
 * @op:		the operation
 * @rank:	whose result it is
 * @bound:	by how much a sum of floating point may be wrong, before it is
 *		rounded to its type; all else is exact
 * @result:	bench_recv_count() elements
 */
size_t bench_data_wrong(const struct bench_data *d, const struct bench_op *op, int rank,
			double bound, const void *result);

#endif
