// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <string.h>

#include "data.h"

/*
 * For each type: bits of g with its sign, least c (a power of two; c is less than twice that), log2
 * of the unit that makes |g * c| * unit at most 1, digits of its significand, and log2 of half the
 * least distance of two values.
 *
 * g has bits - 1 bits of magnitude and c one more than log2(c_min): their product
 * has at most @digits, so it is exact.
 */
static const struct type {
	int bits;
	int c_min;
	int unit;
	int digits;
	int tiny;
} types[] = {
	[BENCH_FLOAT32]	= { 12, 1 << 11, -23, 24, -150 },
	[BENCH_FLOAT16]	= { 5, 1 << 6, -11, 11, -25 },
	[BENCH_BFLOAT16] = { 2, 1 << 6, -8, 8, -134 },
	[BENCH_INT32]	= { 16, 1 << 14, 0, 31, 0 },
	[BENCH_INT64]	= { 32, 1 << 14, 0, 63, 0 },
};

static uint64_t data_mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

void bench_data_init(struct bench_data *d, enum bench_dtype dtype, int n,
		     uint64_t seed, uint64_t number)
{
	const struct type *t = &types[dtype];
	uint64_t h = data_mix(data_mix(seed) ^ number);
	int r;

	d->dtype = dtype;
	d->n = n;
	d->base = (uint32_t)h;
	/* an odd step visits all c before one comes again */
	for (r = 0; r < n; r++)
		d->c[r] = t->c_min + (int)(((h >> 32) + 29 * (unsigned int)r) %
					   (unsigned int)t->c_min);
}

static inline int32_t data_hash(uint32_t base, size_t i, int bits)
{
	uint32_t h = (uint32_t)i * 0x9e3779b1u + base;

	h = (h ^ h >> 15) * 0x85ebca6bu;
	h ^= h >> 13;
	h *= 0xc2b2ae35u;
	return (int32_t)h >> (32 - bits);
}

static float data_bf16_to_float(uint16_t h)
{
	uint32_t u = (uint32_t)h << 16;
	float x;

	memcpy(&x, &u, 4);
	return x;
}

/* of a value that it holds exactly */
static uint16_t data_float_to_bf16(float x)
{
	uint32_t u;

	memcpy(&u, &x, 4);
	return (uint16_t)(u >> 16);
}

/* element @i, of floating point */
static double data_load(enum bench_dtype dtype, const void *p, size_t i)
{
	switch (dtype) {
	case BENCH_FLOAT32:
		return ((const float *)p)[i];
	case BENCH_FLOAT16:
		return (double)((const _Float16 *)p)[i];
	case BENCH_BFLOAT16:
		return data_bf16_to_float(((const uint16_t *)p)[i]);
	case BENCH_INT32:
	case BENCH_INT64:
		break;
	}
	return NAN;
}

void bench_data_fill(const struct bench_data *d, int rank, size_t first, size_t count,
		     void *out)
{
	const struct type *t = &types[d->dtype];
	float unit = ldexpf(1, t->unit);
	int32_t c = d->c[rank];
	size_t i;

	switch (d->dtype) {
	case BENCH_FLOAT32:
		for (i = 0; i < count; i++)
			((float *)out)[i] =
				(float)(data_hash(d->base, first + i, 12) * c) * unit;
		break;
	case BENCH_FLOAT16:
		for (i = 0; i < count; i++)
			((_Float16 *)out)[i] = (_Float16)
				((float)(data_hash(d->base, first + i, t->bits) * c) * unit);
		break;
	case BENCH_BFLOAT16:
		for (i = 0; i < count; i++)
			((uint16_t *)out)[i] = data_float_to_bf16
				((float)(data_hash(d->base, first + i, t->bits) * c) * unit);
		break;
	case BENCH_INT32:
		for (i = 0; i < count; i++)
			((int32_t *)out)[i] = data_hash(d->base, first + i, 16) * c;
		break;
	case BENCH_INT64:
		for (i = 0; i < count; i++)
			((int64_t *)out)[i] = (int64_t)data_hash(d->base, first + i, 32) * c;
		break;
	}
}

/* what c is in a result: that of a rank, a sum, or an extremum of g >= 0, g < 0 */
struct factor {
	int64_t up;
	int64_t down;
};

static struct factor data_reduced(const struct bench_data *d, enum bench_redop redop)
{
	int64_t sum = 0, least = d->c[0], most = d->c[0];
	int r;

	for (r = 0; r < d->n; r++) {
		sum += d->c[r];
		least = d->c[r] < least ? d->c[r] : least;
		most = d->c[r] > most ? d->c[r] : most;
	}
	switch (redop) {
	case BENCH_MIN:
		return (struct factor){ least, most };
	case BENCH_MAX:
		return (struct factor){ most, least };
	case BENCH_SUM:
	case BENCH_MEAN:
		break;
	}
	return (struct factor){ sum, sum };
}

/* a part of a result: @count elements, from element @first of the contributions */
struct part {
	size_t first;
	size_t count;
	const void *result;
};

/* how far an element may be from what it should be: @limit, and @relative of itself */
struct tolerance {
	double limit;
	double relative;
};

static size_t data_wrong_ints(const struct bench_data *d, struct factor f, const struct part *p)
{
	uint32_t up = (uint32_t)f.up, down = (uint32_t)f.down;
	const int32_t *result = p->result;
	size_t i, wrong = 0;

	for (i = 0; i < p->count; i++) {
		int32_t g = data_hash(d->base, p->first + i, 16);

		/* sums wrap */
		wrong += (uint32_t)result[i] != (uint32_t)g * (g < 0 ? down : up);
	}
	return wrong;
}

static size_t data_wrong_longs(const struct bench_data *d, struct factor f, const struct part *p)
{
	const int64_t *result = p->result;
	size_t i, wrong = 0;

	for (i = 0; i < p->count; i++) {
		int64_t g = data_hash(d->base, p->first + i, 32);

		wrong += result[i] != g * (g < 0 ? f.down : f.up);
	}
	return wrong;
}

/* the usual case, which the compiler makes vectors of; NaN is wrong */
static size_t data_wrong_float32(const struct bench_data *d, double factor,
				 struct tolerance tol, const struct part *p)
{
	const float *result = p->result;
	size_t i, wrong = 0;

	for (i = 0; i < p->count; i++) {
		double want = data_hash(d->base, p->first + i, 12) * factor;
		double got = result[i];

		wrong += !(fabs(got - want) <= tol.limit + fabs(got) * tol.relative);
	}
	return wrong;
}

static size_t data_wrong_floats(const struct bench_data *d, struct factor f, double scale,
				struct tolerance tol, const struct part *p)
{
	const struct type *t = &types[d->dtype];
	size_t i, wrong = 0;

	for (i = 0; i < p->count; i++) {
		int32_t g = data_hash(d->base, p->first + i, t->bits);
		double want = (double)(g * (g < 0 ? f.down : f.up)) * scale;
		double got = data_load(d->dtype, p->result, i);

		wrong += !(fabs(got - want) <= tol.limit + fabs(got) * tol.relative);
	}
	return wrong;
}

static size_t data_wrong_part(const struct bench_data *d, const struct bench_op *op,
			      struct factor f, double bound, const struct part *p)
{
	bool exact = !bench_reduces(op->kind) || op->redop >= BENCH_MIN;
	const struct type *t = &types[d->dtype];
	double scale = ldexp(1, t->unit);
	struct tolerance tol = { 0 };

	if (d->dtype == BENCH_INT32)
		return data_wrong_ints(d, f, p);
	if (d->dtype == BENCH_INT64)
		return data_wrong_longs(d, f, p);
	if (bench_reduces(op->kind) && op->redop == BENCH_MEAN) {
		scale /= d->n;
		bound /= d->n;
	}
	if (!exact) {
		/* half a unit in the last place of what was rounded */
		tol.relative = ldexp(1, -t->digits);
		tol.limit = bound + ldexp(1, t->tiny);
	}
	if (d->dtype == BENCH_FLOAT32 && f.up == f.down)
		return data_wrong_float32(d, (double)f.up * scale, tol, p);
	return data_wrong_floats(d, f, scale, tol, p);
}

size_t bench_data_wrong(const struct bench_data *d, const struct bench_op *op, int rank,
			double bound, const void *result)
{
	size_t size = bench_dtype_size(d->dtype), wrong = 0;
	struct part p = { .count = op->count, .result = result };
	const char *parts = result;
	int r;

	switch (op->kind) {
	case BENCH_ALL_GATHER:
		for (r = 0; r < d->n; r++) {
			p.result = parts + (size_t)r * op->count * size;
			wrong += data_wrong_part(d, op, (struct factor){ d->c[r], d->c[r] }, 0, &p);
		}
		return wrong;
	case BENCH_BROADCAST:
		r = op->root;
		return data_wrong_part(d, op, (struct factor){ d->c[r], d->c[r] }, 0, &p);
	case BENCH_REDUCE_SCATTER:
		p.first = op->count * (size_t)rank;
		break;
	case BENCH_ALL_REDUCE:
	case BENCH_OVERLAP:
		break;
	}
	return data_wrong_part(d, op, data_reduced(d, op->redop), bound, &p);
}
