// SPDX-License-Identifier: LGPL-2.1-only OR MIT
/*
 * Quantising, the portable implementation, and the choice between it and
 * others.
 *
 * It works on the bits of the elements with integer instructions only: nothing
 * here depends on a floating-point environment, a contraction of multiply and
 * add, or an optimisation level.
 */
#include <string.h>

#include "quant.h"

#define F32_INF		0x7f800000u

/* Every machine stores lanes in the wire's byte order. */
static inline uint32_t quant_le32(uint32_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return __builtin_bswap32(v);
#else
	return v;
#endif
}

static inline uint16_t quant_le16(uint32_t v)
{
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	return __builtin_bswap16((uint16_t)v);
#else
	return (uint16_t)v;
#endif
}

static inline uint32_t quant_load_lane(const int32_t *lane)
{
	return quant_le32((uint32_t)*lane);
}

static inline void quant_store_lane(int32_t *lane, uint32_t v)
{
	*lane = (int32_t)quant_le32(v);
}

static inline uint32_t quant_load32(const void *src, unsigned int i)
{
	uint32_t v;

	memcpy(&v, (const unsigned char *)src + 4 * (size_t)i, sizeof(v));
	return v;
}

static inline uint32_t quant_load16(const void *src, unsigned int i)
{
	uint16_t v;

	memcpy(&v, (const unsigned char *)src + 2 * (size_t)i, sizeof(v));
	return v;
}

static inline void quant_store32(void *dst, unsigned int i, uint32_t v)
{
	memcpy((unsigned char *)dst + 4 * (size_t)i, &v, sizeof(v));
}

static inline void quant_store16(void *dst, unsigned int i, uint32_t v)
{
	uint16_t h = (uint16_t)v;

	memcpy((unsigned char *)dst + 2 * (size_t)i, &h, sizeof(h));
}

/* Element i as float32 bits; exact for every finite element. */
static inline uint32_t quant_load_bits(enum quant_type t, const void *src, unsigned int i)
{
	uint32_t h;

	if (t == QUANT_F32)
		return quant_load32(src, i);
	h = quant_load16(src, i);
	return (h & 0x8000) << 16 | quant_widen(t, h & 0x7fff);
}

float quant_load(enum quant_type t, const void *src, unsigned int i)
{
	uint32_t b = quant_load_bits(t, src, i);
	float x;

	memcpy(&x, &b, sizeof(x));
	return x;
}

void quant_floats_scalar(enum quant_type t, const void *src, unsigned int n, float *x)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		x[i] = quant_load(t, src, i);
}

/*
 * rne(x * 2^k) for the float32 of bits b, where k = 157 - headroom - E.
 *
 * |x| = m * 2^(f - 150) with m < 2^24 and f the exponent field, or 1 if that is
 * 0. E > the exponent field, so f - 150 + k <= 7: the shift r below is at least
 * 1, and half an LSB is an integer. m << 8 < 2^32, hence from r = 33 on all of
 * it is below one half.
 */
static inline uint32_t quant_quantise(uint32_t b, int k)
{
	uint32_t f = b >> 23 & 0xff;
	uint32_t m = (b & 0x7fffff) | (f ? 0x800000 : 0);
	int r = 8 + 150 - k - (int)(f ? f : 1);
	uint64_t v = (uint64_t)m << 8;
	uint32_t q;

	if (r > 34)
		r = 34;
	q = (uint32_t)((v + ((uint64_t)1 << (r - 1)) - 1 + (v >> r & 1)) >> r);
	return b >> 31 ? 0 - q : q;
}

void quant_scan_scalar(enum quant_type t, const void *src, unsigned int n, uint8_t e_try,
		       struct quant_head *head)
{
	uint32_t absmax = 0, all = 0;
	unsigned int i;

	for (i = 0; i < n; i++) {
		uint32_t a = quant_load_bits(t, src, i) & 0x7fffffff;

		if (a > all)
			all = a;
		if (a < F32_INF && a > absmax)
			absmax = a;
	}

	/* Values of exponent field f are below 2^(f - 126), and no lower power. */
	head->want = absmax ? (uint8_t)((absmax >> 23) + 1) : 0;
	head->exp = e_try ? e_try : QUANT_EXP_MIN;
	head->flags = 0;
	if (all >= F32_INF) {
		head->flags = QUANT_NONFINITE;
		return;
	}
	if (!absmax) {
		head->flags = QUANT_ZERO;
		return;
	}
	if (head->exp < head->want)
		head->exp = head->want;
}

void quant_lanes_scalar(enum quant_type t, const void *src, unsigned int n, int k,
			int32_t *lanes)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		quant_store_lane(lanes + i, quant_quantise(quant_load_bits(t, src, i), k));
}

/*
 * A binary format: p bits of significand, the least quantum 2^qmin, and inf, which follows the
 * largest finite value.
 */
struct format {
	int p;
	int qmin;
	uint32_t inf;
	uint32_t nan;
};

static const struct format formats[] = {
	[QUANT_F32] = { .p = 24, .qmin = -149, .inf = F32_INF,
			.nan = 0x7fc00000 },
	[QUANT_F16] = { .p = 11, .qmin = -24, .inf = 0x7c00, .nan = 0x7e00 },
	[QUANT_BF16] = { .p = 8, .qmin = -133, .inf = 0x7f80, .nan = 0x7fc0 },
};

/*
 * Round m * 2^k, or if sticky something above it and below (m + 1) * 2^k, to
 * nearest even; 0 < m < 2^63, and m has more than p bits if sticky.
 *
 * The quantum q is that of the binade of m * 2^k, or the format's least. A
 * value of r quanta has the bits ((q - qmin) << (p - 1)) + r: without a carry
 * because that is the format's layout, with one (r = 2^p) because the next
 * binade follows; likewise at the upper end, where infinity follows.
 */
static uint32_t quant_pack(const struct format *f, uint64_t m, int k, bool sticky)
{
	int q = 63 - __builtin_clzll(m) + k - (f->p - 1);
	uint64_t r;
	int s;

	if (q < f->qmin)
		q = f->qmin;
	s = q - k;
	if (s > 63) {
		r = 0;	/* below 1/2 */
	} else if (s > 0) {
		uint64_t half = (uint64_t)1 << (s - 1);
		uint64_t rem = m & (2 * half - 1);

		r = m >> s;
		if (rem > half || (rem == half && (sticky || (r & 1))))
			r++;
	} else {
		r = m << -s;
	}
	r += (uint64_t)(q - f->qmin) << (f->p - 1);
	return r < f->inf ? (uint32_t)r : f->inf;
}

static inline void quant_store_bits(enum quant_type t, void *dst, unsigned int i,
				    uint32_t v)
{
	if (t == QUANT_F32)
		quant_store32(dst, i, v);
	else
		quant_store16(dst, i, v);
}

void dequant_chunk_scalar(enum quant_type t, const int32_t *lanes, unsigned int n,
			  const struct quant_sum *sum, void *dst)
{
	const struct format *f = &formats[t];
	const uint32_t sign = t == QUANT_F32 ? 0x80000000 : 0x8000;
	const uint32_t divisor = sum->divisor;
	const int k = sum->exp - QUANT_BIAS - sum->bits + 1;
	unsigned int i;

	if (sum->flags) {
		uint32_t v = sum->flags & QUANT_NONFINITE ? f->nan : 0;

		for (i = 0; i < n; i++)
			quant_store_bits(t, dst, i, v);
		return;
	}

	for (i = 0; i < n; i++) {
		uint32_t s = quant_load_lane(lanes + i);
		uint64_t m = s >> 31 ? 0 - s : s;
		bool sticky = false;
		int shift = 0;
		uint32_t v = 0;

		if (m && divisor > 1) {
			/*
			 * A dividend of 64 bits over a divisor of at most 32
			 * leaves a quotient of at least 32, more than p + 1,
			 * and as the divisor is not 1, of at most 63.
			 */
			shift = __builtin_clzll(m);
			m <<= shift;
			sticky = m % divisor != 0;
			m /= divisor;
		}
		if (m)
			v = quant_pack(f, m, k - shift, sticky) | (s >> 31 ? sign : 0);
		quant_store_bits(t, dst, i, v);
	}
}

/*
 * The bits of a binary format, taken as an integer, order as values do where
 * the sign is clear, and the other way round where it is set: inverting the
 * bits below the sign there gives -inf .. -0 +0 .. inf as one ascending run.
 * The sign survives, so the map is its own inverse.
 */
static inline uint32_t quant_order32(uint32_t b)
{
	return b ^ ((0 - (b >> 31)) >> 1);
}

static inline uint32_t quant_order16(uint32_t h)
{
	return h ^ ((0 - (h >> 15 & 1)) & 0x7fff);
}

uint8_t order_encode(enum quant_type t, const void *src, unsigned int n,
		     int32_t *lanes)
{
	const uint32_t inf = formats[t].inf;
	bool nan = false;
	unsigned int i;

	if (t == QUANT_F32) {
		for (i = 0; i < n; i++) {
			uint32_t b = quant_load32(src, i);

			nan |= (b & 0x7fffffff) > inf;
			quant_store_lane(lanes + i, quant_order32(b));
		}
	} else {
		for (i = 0; i < n; i++) {
			uint32_t h = quant_load16(src, i);

			nan |= (h & 0x7fff) > inf;
			h = quant_order16(h);
			/* Sign extension from 16 bits. */
			quant_store_lane(lanes + i, (h ^ 0x8000) - 0x8000);
		}
	}
	return nan ? QUANT_NONFINITE : 0;
}

void order_decode(enum quant_type t, const int32_t *lanes, unsigned int n,
		  uint8_t flags, void *dst)
{
	unsigned int i;

	if (flags & QUANT_NONFINITE)
		for (i = 0; i < n; i++)
			quant_store_bits(t, dst, i, formats[t].nan);
	else if (t == QUANT_F32)
		for (i = 0; i < n; i++)
			quant_store32(dst, i, quant_order32(quant_load_lane(lanes + i)));
	else
		for (i = 0; i < n; i++)
			quant_store16(dst, i, quant_order16(quant_load_lane(lanes + i)));
}

uint8_t int32_bits(const int32_t *x, unsigned int n)
{
	uint32_t all = 0;
	unsigned int i;

	/* The OR of magnitudes is as long as the longest of them. */
	for (i = 0; i < n; i++)
		all |= x[i] < 0 ? 0 - (uint32_t)x[i] : (uint32_t)x[i];
	return all ? (uint8_t)(32 - __builtin_clz(all)) : 0;
}

double quant_unit(unsigned int bits, uint8_t exp)
{
	uint64_t b = (uint64_t)(1023 + exp - QUANT_BIAS - (int)bits + 1) << 52;
	double unit;

	memcpy(&unit, &b, sizeof(unit));
	return unit;
}
