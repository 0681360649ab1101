// SPDX-License-Identifier: GPL-2.0
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "reference.h"

#define BLOCK		1024
#define LANES_MAX	2240	/* of 32 bits, in a chunk */

size_t dtype_bytes(enum gagg_dtype t)
{
	return t == GAGG_INT64 ? 8 : t == GAGG_FLOAT32 || t == GAGG_INT32 ? 4 :
	       t == GAGG_BYTE ? 1 : 2;
}

static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

/* 32 bits for each of @n elements; the index is mixed, ranks are cheap */
static void words(uint64_t seed, uint32_t op, int rank, size_t first, size_t n,
		  uint32_t *out)
{
	uint64_t k = mix(mix(seed ^ op) + (uint64_t)rank);
	uint32_t add = (uint32_t)k, mul = (uint32_t)(k >> 32) | 1;
	size_t i;

	for (i = 0; i < n; i++) {
		uint32_t h = (uint32_t)(first + i) * 0x9e3779b1u + op;

		h = (h ^ h >> 16) * 0x85ebca6bu;
		h = (h ^ h >> 13) + add;
		h *= mul;
		out[i] = h ^ h >> 15;
	}
}

static uint16_t to_bf16(float x)
{
	uint32_t u;

	memcpy(&u, &x, 4);
	return u >> 16;
}

static float from_bf16(uint16_t h)
{
	uint32_t u = (uint32_t)h << 16;
	float x;

	memcpy(&x, &u, 4);
	return x;
}

static uint16_t to_f16(float x)
{
	_Float16 h = (_Float16)x;
	uint16_t u;

	memcpy(&u, &h, 2);
	return u;
}

static float from_f16(uint16_t u)
{
	_Float16 h;

	memcpy(&h, &u, 2);
	return (float)h;
}

static void store(enum gagg_dtype t, void *out, size_t i, float x)
{
	uint16_t h;

	if (t == GAGG_FLOAT32) {
		((float *)out)[i] = x;
		return;
	}
	h = t == GAGG_FLOAT16 ? to_f16(x) : to_bf16(x);
	((uint16_t *)out)[i] = h;
}

static float load(enum gagg_dtype t, const void *in, size_t i)
{
	if (t == GAGG_FLOAT32)
		return ((const float *)in)[i];
	return t == GAGG_FLOAT16 ? from_f16(((const uint16_t *)in)[i]) :
				   from_bf16(((const uint16_t *)in)[i]);
}

static void fill_int(const struct data *d, const uint32_t *w, size_t n, int32_t *out)
{
	size_t i;

	if (d->pattern == DATA_ZERO)
		memset(out, 0, 4 * n);
	else
		for (i = 0; i < n; i++)
			out[i] = (int32_t)w[i] >> -d->scale;
}

/* of both halves the sum has to carry over */
static void fill_long(const struct data *d, const uint32_t *w, size_t n, int64_t *out)
{
	size_t i;

	for (i = 0; i < n; i++)
		out[i] = d->pattern == DATA_ZERO ? 0 : (int64_t)(mix(w[i]) << 32 | w[i]) >> -d->scale;
}

/* as many bits as the type holds, so that no element is rounded */
static void fill_float(const struct data *d, enum gagg_dtype t, const uint32_t *w,
		       size_t first, size_t n, void *out)
{
	int drop = t == GAGG_FLOAT32 ? 7 : t == GAGG_FLOAT16 ? 21 : 24;
	float unit = ldexpf(1, d->scale - 31 + drop);
	size_t i;

	for (i = 0; i < n; i++)
		store(t, out, i, d->pattern == DATA_ZERO ? 0 :
		      (float)((int32_t)w[i] >> drop) * unit);
	if (d->pattern >= DATA_NAN && d->at >= first && d->at < first + n)
		store(t, out, d->at - first, d->pattern == DATA_NAN ? NAN : -INFINITY);
}

static void fill_block(const struct data *d, uint64_t seed, uint32_t op, int rank,
		       enum gagg_dtype t, size_t first, size_t n, void *out)
{
	uint32_t w[BLOCK];

	words(seed, op, rank, first, n, w);
	if (t == GAGG_INT32)
		fill_int(d, w, n, out);
	else if (t == GAGG_INT64)
		fill_long(d, w, n, out);
	else
		fill_float(d, t, w, first, n, out);
}

static void fill_bytes(uint64_t seed, uint32_t op, int rank, size_t first, size_t count,
		       uint8_t *out)
{
	uint32_t w[BLOCK];
	size_t i, n;

	for (; count; count -= n, first += n, out += n) {
		size_t skip = first % 4;

		n = BLOCK * 4 - skip < count ? BLOCK * 4 - skip : count;
		words(seed, op, rank, first / 4, (skip + n + 3) / 4, w);
		for (i = 0; i < n; i++)
			out[i] = (uint8_t)(w[(skip + i) / 4] >> (skip + i) % 4 * 8);
	}
}

void data_fill(const struct data *d, uint64_t seed, uint32_t op, int rank,
	       enum gagg_dtype t, size_t first, size_t count, void *out)
{
	char *p = out;
	size_t n;

	if (t == GAGG_BYTE) {
		fill_bytes(seed, op, rank, first, count, out);
		return;
	}
	for (; count; count -= n, first += n, p += n * dtype_bytes(t)) {
		n = count < BLOCK ? count : BLOCK;
		fill_block(d, seed, op, rank, t, first, n, p);
	}
}

/* a total order: -0 below +0 */
static int32_t key(enum gagg_dtype t, const void *in, size_t i)
{
	int32_t k;

	if (t == GAGG_INT32)
		return ((const int32_t *)in)[i];
	if (t == GAGG_FLOAT32)
		memcpy(&k, (const float *)in + i, 4);
	else
		k = ((const int16_t *)in)[i];
	return k < 0 ? (int32_t)(~(uint32_t)k ^ 0x80000000) : k;
}

/* one block of all contributions, in @part[rank] */
struct block {
	union {
		int32_t i32[BLOCK];
		int64_t i64[BLOCK];
		float f32[BLOCK];
		uint16_t h[BLOCK];
	} part[RANKS];
};

static bool int_ok(const struct sum *s, const struct block *b, size_t i, int32_t got,
		   int32_t *want)
{
	uint32_t sum = 0;
	int r;

	for (r = 0; r < s->n; r++)
		sum += (uint32_t)b->part[r].i32[i];
	*want = (int32_t)sum;
	return got == *want;
}

static bool long_ok(const struct sum *s, const struct block *b, size_t i, int64_t got,
		    int64_t *want)
{
	uint64_t sum = 0;
	int r;

	for (r = 0; r < s->n; r++)
		sum += (uint64_t)b->part[r].i64[i];
	*want = (int64_t)sum;
	return got == *want;
}

static bool order_ok(const struct sum *s, const struct block *b, size_t i, int32_t got,
		     int32_t *want)
{
	int r;

	for (r = 0; r < s->n; r++) {
		int32_t k = key(s->dtype, &b->part[r], i);

		if (!r || (s->redop == GAGG_MIN ? k < *want : k > *want))
			*want = k;
	}
	return got == *want;
}

/* half a unit in the last place of a value of that size */
static double half_ulp(enum gagg_dtype t, double x)
{
	int digits = t == GAGG_FLOAT32 ? 24 : t == GAGG_FLOAT16 ? 11 : 8;
	int least = t == GAGG_FLOAT32 ? -149 : t == GAGG_FLOAT16 ? -24 : -133;
	int e;

	frexp(x, &e);
	e -= digits;
	return ldexp(0.5, e < least ? least : e);
}

/* Documentation/numerics.md, second row of the bounds */
static double bound(const struct sum *s)
{
	double absmax = 0;
	int r, l = 0;

	for (r = 0; r < s->n; r++) {
		const struct data *d = &s->data[s->ranks[r]];

		if (d->pattern != DATA_ZERO)
			absmax = fmax(absmax, ldexp(1, d->scale));
	}
	while (1 << l < s->n)
		l++;
	if (s->wire < 32)
		return 1.5 * ldexp(absmax, l + 2 - s->wire + s->slack);
	return 1.5 * ldexp(absmax, 2 * l - 30 + s->slack);
}

static bool float_ok(const struct sum *s, const struct block *b, size_t i, double limit,
		     double got, double *want, double *worst)
{
	double ref = 0, error;
	int r;

	for (r = 0; r < s->n; r++)
		ref += (double)load(s->dtype, &b->part[r], i);
	if (s->redop == GAGG_MEAN) {
		ref /= s->n;
		limit /= s->n;
	}
	*want = ref;
	error = fabs(got - ref) - half_ulp(s->dtype, fabs(ref) + limit);
	if (error > 0 && limit > 0)
		*worst = fmax(*worst, error / limit);
	return error <= limit;
}

/* whether element @i may, or has to, be NaN */
static bool nan_may(const struct sum *s, size_t i, bool *must)
{
	/* it spreads over its chunk, and no further */
	size_t spread = LANES_MAX * 32 / (size_t)s->wire;
	bool may = false;
	int r;

	*must = false;
	for (r = 0; r < s->n; r++) {
		const struct data *d = &s->data[s->ranks[r]];

		/* to a minimum, infinity is a value */
		if (d->pattern < DATA_NAN ||
		    (d->pattern == DATA_INF && s->redop >= GAGG_MIN))
			continue;
		*must |= d->at == i;
		may |= i < d->at + spread && i + spread > d->at;
	}
	return may;
}

static bool check_one(const struct sum *s, const struct block *b, size_t i, size_t at,
		      double limit, const void *result, size_t j, double *worst,
		      char *why, size_t size)
{
	bool integer = s->dtype == GAGG_INT32, must = false;
	double got, want;
	int32_t k, w = 0;
	int64_t l;

	if (s->dtype == GAGG_INT64) {
		if (long_ok(s, b, i, ((const int64_t *)result)[j], &l))
			return true;
		snprintf(why, size, "element %zu is %#llx instead of %#llx", at,
			 (unsigned long long)((const int64_t *)result)[j], (unsigned long long)l);
		return false;
	}
	if (!integer && nan_may(s, at, &must) && isnan(load(s->dtype, result, j)))
		return true;
	if (must) {
		snprintf(why, size, "element %zu is not NaN", at);
		return false;
	}
	if (integer || s->redop == GAGG_MIN || s->redop == GAGG_MAX) {
		k = key(s->dtype, result, j);
		if (integer && s->redop == GAGG_SUM ? int_ok(s, b, i, k, &w) :
						      order_ok(s, b, i, k, &w))
			return true;
		snprintf(why, size, "element %zu is %#x instead of %#x", at, k, w);
		return false;
	}
	got = load(s->dtype, result, j);
	if (float_ok(s, b, i, limit, got, &want, worst))
		return true;
	snprintf(why, size, "element %zu is %.9g instead of %.9g +- %.3g", at, got, want,
		 limit);
	return false;
}

/* --- narrow lanes, exactly --------------------------------------------------- */

#define CHUNK_MAX	(4 * LANES_MAX)

/* what ranks contribute to a chunk, as far as it is finite */
struct narrow {
	double x[RANKS][CHUNK_MAX];
	int e[RANKS];		/* of the least power of two above them */
	bool any[RANKS];	/* one differs from zero */
	bool nan;		/* an element is none, or infinite */
	int top;		/* the largest e */
};

static void narrow_fill(const struct sum *s, size_t first, size_t n, struct narrow *c)
{
	static union { float f32[CHUNK_MAX]; uint16_t h[CHUNK_MAX]; } buf;
	int r, e;
	size_t i;

	c->nan = false;
	c->top = -126;
	for (r = 0; r < s->n; r++) {
		bool nan = false;

		data_fill(&s->data[s->ranks[r]], s->seed, s->op, s->ranks[r], s->dtype, first,
			  n, &buf);
		c->any[r] = false;
		c->e[r] = -126;
		for (i = 0; i < n; i++) {
			c->x[r][i] = load(s->dtype, &buf, i);
			nan |= !isfinite(c->x[r][i]);
			if (!c->x[r][i] || !isfinite(c->x[r][i]))
				continue;
			frexp(c->x[r][i], &e);
			c->any[r] = true;
			c->e[r] = e > c->e[r] ? e : c->e[r];
		}
		c->nan |= nan;
		if (c->any[r] && c->e[r] > c->top)
			c->top = c->e[r];
	}
	for (r = 0; r < s->n && s->exponents == EXP_AGREED; r++)
		c->e[r] = c->top;
}

/* in units of 2^(top + 1 - wire); rint() goes to even, and all of this is exact */
static double narrow_sum(const struct sum *s, const struct narrow *c, size_t i)
{
	double most = ldexp(1, s->wire - 1) - 1, sum = 0;
	int r;

	for (r = 0; r < s->n; r++) {
		double q = rint(ldexp(c->x[r][i], s->wire - 1 - c->e[r]));

		if (c->any[r])
			sum += rint(ldexp(fmax(-most, fmin(most, q)), c->e[r] - c->top));
	}
	return sum;
}

static bool narrow_chunk(const struct sum *s, size_t first, size_t n, size_t at,
			 const void *result, char *why, size_t size)
{
	static struct narrow c;
	static double sum[CHUNK_MAX];
	double most = 0;
	size_t i;
	int shift = 0;

	narrow_fill(s, first, n, &c);
	for (i = 0; i < n; i++) {
		sum[i] = narrow_sum(s, &c, i);
		most = fmax(most, fabs(sum[i]));
	}
	while (rint(ldexp(most, -shift)) > ldexp(1, s->wire - 1) - 1)
		shift++;
	for (i = 0; i < n; i++) {
		double want = ldexp(rint(ldexp(sum[i], -shift)), shift + c.top + 1 - s->wire);
		double got = load(s->dtype, result, at + i);

		if (s->redop == GAGG_MEAN)
			want /= s->n;
		if (c.nan ? isnan(got) : fabs(got - want) <= half_ulp(s->dtype, want))
			continue;
		snprintf(why, size, "element %zu is %.9g instead of %.9g%s", first + i, got, want,
			 c.nan ? ", which is to be NaN" : "");
		return false;
	}
	return true;
}

static bool narrow_check(const struct sum *s, size_t first, size_t count, const void *result,
			 char *why, size_t size)
{
	size_t at, n;

	for (at = 0; at < count; at += n) {
		n = count - at < s->chunk ? count - at : s->chunk;
		if (!narrow_chunk(s, first + at, n, at, result, why, size))
			return false;
	}
	return true;
}

static bool narrow_known(const struct sum *s)
{
	return s->wire < 32 && s->exponents != EXP_PREDICTED && s->dtype != GAGG_INT32 &&
	       s->dtype != GAGG_INT64 && (s->redop == GAGG_SUM || s->redop == GAGG_MEAN);
}

bool sum_check(const struct sum *s, size_t first, size_t count, const void *result,
	       double *worst, char *why, size_t size)
{
	static struct block b;
	double limit = bound(s);
	size_t at, i, n;
	int r;

	*worst = 0;
	if (narrow_known(s))
		return narrow_check(s, first, count, result, why, size);
	for (at = 0; at < count; at += n) {
		n = count - at < BLOCK ? count - at : BLOCK;
		for (r = 0; r < s->n; r++)
			fill_block(&s->data[s->ranks[r]], s->seed, s->op, s->ranks[r],
				   s->dtype, first + at, n, &b.part[r]);
		for (i = 0; i < n; i++)
			if (!check_one(s, &b, i, first + at + i, limit, result, at + i,
				       worst, why, size))
				return false;
	}
	return true;
}

uint64_t digest(const void *data, size_t bytes)
{
	const uint8_t *p = data;
	uint64_t h = bytes, w;

	for (; bytes >= 8; bytes -= 8, p += 8) {
		memcpy(&w, p, 8);
		h = (h ^ w) * 0x9e3779b97f4a7c15;
		h ^= h >> 32;
	}
	w = 0;
	memcpy(&w, p, bytes);
	return mix(h ^ w);
}
