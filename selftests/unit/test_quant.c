// SPDX-License-Identifier: GPL-2.0
/* links: agent/lib/quant.c agent/lib/quant_avx2.c agent/lib/quant_form.c */
/*
 * The oracles compute in long double with libm and share nothing with the code
 * under test. A long double needs 64 bits of significand (x87): every element,
 * every product by a power of two and every lane is then exact.
 */
#include <float.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

#include "full.h"
#include "../../agent/lib/exponent.h"
#include "../../agent/lib/quant.h"

_Static_assert(LDBL_MANT_DIG >= 64, "the oracles need 64 bits");

#define MAXN		400
#define TYPES		3
#define CANARY		0xa5

#define for_each_type(t) \
	for (enum quant_type t = QUANT_F32; t <= QUANT_BF16; t++)

static uint64_t rng_state;

/* Every test starts afresh, so that its figures do not depend on the others. */
static int seed(void **state)
{
	(void)state;
	rng_state = 0x9e3779b97f4a7c15;
	return 0;
}

static uint64_t rnd(void)
{
	uint64_t z = rng_state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

static uint32_t f32_bits(float f)
{
	uint32_t b;

	memcpy(&b, &f, sizeof(b));
	return b;
}

static float bits_f32(uint32_t b)
{
	float f;

	memcpy(&f, &b, sizeof(f));
	return f;
}

/* ---- powers of two --------------------------------------------------------- */

#define POWERS	400	/* from -POWERS up */

static long double powers[2 * POWERS];

static void fill_powers(void)
{
	int i;

	for (i = 0; i < 2 * POWERS; i++)
		powers[i] = ldexpl(1, i - POWERS);
}

/* ldexpl(), which takes most of the time otherwise */
static long double scaled(long double x, int e)
{
	return x * powers[e + POWERS];
}

/* ---- formats, told by their definition ------------------------------------ */

struct fmt {
	int mant, bias;
	uint32_t inf, sign, nan;
};

static const struct fmt fmts[TYPES] = {
	[QUANT_F32] = { 23, 127, 0x7f800000, 0x80000000, 0x7fc00000 },
	[QUANT_F16] = { 10, 15, 0x7c00, 0x8000, 0x7e00 },
	[QUANT_BF16] = { 7, 127, 0x7f80, 0x8000, 0x7fc0 },
};

static uint32_t get(enum quant_type t, const void *p, unsigned i)
{
	uint32_t v = 0;
	unsigned size = quant_size(t);

	memcpy(&v, (const char *)p + i * size, size);
	return v;
}

static void put(enum quant_type t, void *p, unsigned i, uint32_t v)
{
	unsigned size = quant_size(t);

	memcpy((char *)p + i * size, &v, size);
}

static bool is_finite(enum quant_type t, uint32_t v)
{
	return (v & ~fmts[t].sign) < fmts[t].inf;
}

/* The value of a finite element; of inf, what it would be if it were finite. */
static long double value(enum quant_type t, uint32_t v)
{
	const struct fmt *f = &fmts[t];
	uint32_t a = v & ~f->sign;
	uint32_t e = a >> f->mant, m = a & ((1u << f->mant) - 1);
	long double x;

	x = e ? scaled(m + (1u << f->mant), (int)e - f->bias - f->mant)
	      : scaled(m, 1 - f->bias - f->mant);
	return v & f->sign ? -x : x;
}

/* The element nearest to x, ties to even: by bisection over all of its binade. */
static uint32_t nearest(enum quant_type t, long double x)
{
	const struct fmt *f = &fmts[t];
	long double a = fabsl(x), lo_d, hi_d;
	uint32_t lo, hi;
	int e;

	if (x == 0)
		return 0;
	if (a >= value(t, f->inf))
		return f->inf | (x < 0 ? f->sign : 0);
	frexpl(a, &e);
	e += f->bias - 1;
	lo = e > 0 ? (uint32_t)e << f->mant : 0;
	hi = lo + (1u << f->mant);
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (value(t, mid) <= a)
			lo = mid;
		else
			hi = mid;
	}
	lo_d = a - value(t, lo);
	hi_d = value(t, hi) - a;
	if (hi_d < lo_d || (hi_d == lo_d && (lo & 1)))
		lo = hi;
	return lo | (x < 0 ? f->sign : 0);
}

/* Where a buffer is put: all alignments in turn, and no random numbers used. */
static unsigned place;

/* ---- implementations ------------------------------------------------------ */

typedef void quant_fn(const struct quant_elements *, unsigned, uint8_t, int32_t *,
		      struct quant_head *);
typedef void dequant_fn(enum quant_type, const int32_t *, unsigned,
			const struct quant_sum *, void *);

static int scale_of(unsigned headroom, const struct quant_head *h)
{
	return 30 + QUANT_BIAS - (int)headroom - h->exp;
}

static void chunk_scalar(const struct quant_elements *x, unsigned headroom, uint8_t e_try,
			 int32_t *lanes, struct quant_head *h)
{
	quant_scan_scalar(x->t, x->src, x->n, e_try, h);
	if (!h->flags)
		quant_lanes_scalar(x->t, x->src, x->n, scale_of(headroom, h), lanes);
}

static void chunk_avx2(const struct quant_elements *x, unsigned headroom, uint8_t e_try,
		       int32_t *lanes, struct quant_head *h)
{
	quant_scan_avx2(x->t, x->src, x->n, e_try, h);
	if (!h->flags)
		quant_lanes_avx2(x->t, x->src, x->n, scale_of(headroom, h), lanes);
}

static void chunk_shift(const struct quant_elements *x, unsigned headroom, uint8_t e_try,
			int32_t *lanes, struct quant_head *h)
{
	quant_scan_avx2(x->t, x->src, x->n, e_try, h);
	if (!h->flags)
		quant_lanes_shift(x->t, x->src, x->n, scale_of(headroom, h), lanes);
}

/* what lanes with @headroom are worth that are no zeros, and numbers */
static struct quant_sum sum_of(unsigned headroom, uint8_t exp, uint32_t divisor)
{
	return (struct quant_sum){ .divisor = divisor, .bits = 31 - headroom, .exp = exp };
}

static const struct impl {
	const char *name;
	quant_fn *quant;
	dequant_fn *dequant;
} impls[] = {
	{ "scalar", chunk_scalar, dequant_chunk_scalar },
	{ "avx2", chunk_avx2, dequant_chunk_avx2 },
	{ "shift", chunk_shift, dequant_chunk_avx2 },
	{ "dispatch", quant_chunk, dequant_chunk },
};

/* asked once: in a VM an answer of the processor's takes long */
static bool has_avx2;

#define for_each_impl(im) \
	for (const struct impl *im = impls; im < impls + 4; im++) \
		if (im->dequant == dequant_chunk_avx2 && !has_avx2) \
			continue; \
		else

/* is nothing written between these? */
static void assert_untouched(const void *buf, size_t from, size_t to, unsigned char byte)
{
	static unsigned char blank[MAXN * 4 + 64];

	assert_true(from <= to && to <= sizeof(blank));
	if (blank[0] != byte)
		memset(blank, byte, sizeof(blank));
	assert_memory_equal((const unsigned char *)buf + from, blank, to - from);
}

/*
 * Quantises with every implementation, at odd offsets, and compares all with
 * the oracle. The lanes of the last one are left in out.
 */
static void check_quant(enum quant_type t, const void *src, unsigned n,
			unsigned headroom, uint8_t e_try, int32_t *out,
			struct quant_head *out_head)
{
	static char src_buf[MAXN * 4 + 64];
	static int32_t lane_buf[MAXN + 16];
	int32_t want_lanes[MAXN];
	struct quant_head want = { 0 };
	long double absmax = 0;
	bool nonfinite = false;
	unsigned i;
	size_t end;
	int e;

	for (i = 0; i < n; i++) {
		uint32_t v = get(t, src, i);

		if (!is_finite(t, v))
			nonfinite = true;
		else if (fabsl(value(t, v)) > absmax)
			absmax = fabsl(value(t, v));
	}
	if (absmax > 0) {
		/* the lowest e of which absmax is below 2^e */
		frexpl(absmax, &e);
		want.want = (e > -126 ? e : -126) + 127;
	}
	want.exp = e_try ? e_try : 1;
	if (nonfinite)
		want.flags = QUANT_NONFINITE;
	else if (absmax == 0)
		want.flags = QUANT_ZERO;
	else if (want.exp < want.want)
		want.exp = want.want;
	for (i = 0; i < n && !want.flags; i++) {
		int k = 30 - (int)headroom - (want.exp - 127);
		long double q = rintl(scaled(value(t, get(t, src, i)), k));

		assert_true(fabsl(q) <= scaled(1, 30 - (int)headroom));
		want_lanes[i] = (int32_t)q;
	}

	for_each_impl(im) {
		struct quant_head head = { 99, 99, 99 };
		unsigned off = place * 7 % 32, lane_off = place++ % 8;
		int32_t *lanes = lane_buf + lane_off;

		memcpy(src_buf + off, src, n * quant_size(t));
		memset(lane_buf, CANARY, sizeof(lane_buf));
		im->quant(&(struct quant_elements){ t, n, src_buf + off }, headroom, e_try, lanes,
			  &head);

		assert_int_equal(head.exp, want.exp);
		assert_int_equal(head.want, want.want);
		assert_int_equal(head.flags, want.flags);
		for (i = 0; i < n && !want.flags; i++)
			if (lanes[i] != want_lanes[i])
				fail_msg("%s type %d lane %u of %u: %d != %d, element %#x E %u L %u",
					 im->name, t, i, n, lanes[i],
					 want_lanes[i], get(t, src, i),
					 head.exp, headroom);
		end = (char *)(lanes + (want.flags ? 0 : n)) - (char *)lane_buf;
		assert_untouched(lane_buf, 0, lane_off * sizeof(*lanes), CANARY);
		assert_untouched(lane_buf, end, sizeof(lane_buf), CANARY);
		if (out && !want.flags)
			memcpy(out, lanes, n * sizeof(*lanes));
	}
	if (out_head)
		*out_head = want;
}

static void check_dequant(enum quant_type t, const int32_t *lanes, unsigned n,
			  unsigned headroom, uint8_t exp, uint32_t divisor)
{
	static int32_t lane_buf[MAXN + 16];
	static unsigned char dst_buf[MAXN * 4 + 64];
	const struct quant_sum sum = sum_of(headroom, exp, divisor);
	const int k = exp - 157 + (int)headroom;
	unsigned size = quant_size(t), i;
	uint32_t want[MAXN];

	/*
	 * The quotient is rounded to 64 bits, which cannot make a midpoint of what
	 * is not one: see numerics.md.
	 */
	for (i = 0; i < n; i++)
		want[i] = nearest(t, scaled((long double)lanes[i] / divisor, k));

	for_each_impl(im) {
		unsigned off = place * 7 % 32, lane_off = place++ % 8;

		memcpy(lane_buf + lane_off, lanes, n * sizeof(*lanes));
		memset(dst_buf, CANARY, sizeof(dst_buf));
		im->dequant(t, lane_buf + lane_off, n, &sum, dst_buf + off);
		for (i = 0; i < n; i++) {
			uint32_t got = get(t, dst_buf + off, i);

			if (got != want[i])
				fail_msg("%s type %d: %d * 2^%d / %u: %#x != %#x",
					 im->name, t, lanes[i], k, divisor, got, want[i]);
		}
		assert_untouched(dst_buf, 0, off, CANARY);
		assert_untouched(dst_buf, off + n * size, sizeof(dst_buf), CANARY);
	}
}

/* ---- material ------------------------------------------------------------- */

static uint32_t finite_elem(enum quant_type t)
{
	uint32_t v;

	do {
		v = (uint32_t)rnd() & (fmts[t].sign | (fmts[t].sign - 1));
	} while (!is_finite(t, v));
	return v;
}

/*
 * A block of finite elements whose exponent fields lie in [top - width, top],
 * clamped to the format, with an absmax that is often at the edge of a binade.
 */
static void fill(enum quant_type t, void *p, unsigned n, int top, int width)
{
	const struct fmt *f = &fmts[t];
	const int fmax = (int)(f->inf >> f->mant) - 1;
	unsigned i;

	top = top > fmax ? fmax : top < 0 ? 0 : top;
	for (i = 0; i < n; i++) {
		int e = top - (width ? (int)(rnd() % (width + 1)) : 0);
		uint32_t m = (uint32_t)rnd() & ((1u << f->mant) - 1);

		switch (rnd() % 16) {
		case 0:
			m = 0;
			break;
		case 1:
			m = (1u << f->mant) - 1;
			break;
		case 2:
			m &= (uint32_t)rnd() & rnd();
			break;
		}
		if (e < 0)
			e = 0;
		put(t, p, i, (uint32_t)e << f->mant | m |
		    (rnd() & 1 ? f->sign : 0));
		if (rnd() % 32 == 0)
			put(t, p, i, rnd() & 1 ? f->sign : 0);
	}
	if (n && rnd() & 1) {
		static const int edges[] = { -1, 0, 1 };
		uint32_t a = ((uint32_t)top << f->mant) + edges[rnd() % 3];

		if (is_finite(t, a))
			put(t, p, rnd() % n, a | (rnd() & 1 ? f->sign : 0));
	}
}

static unsigned some_headroom(void)
{
	return rnd() % ((rnd() & 1 ? QUANT_HEADROOM_EXACT : QUANT_HEADROOM_MAX) + 1);
}

static const unsigned sizes[] = {
	0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 31,
	32, 33, 63, 64, 65, 343, 344, 345,
};

#define NSIZES (sizeof(sizes) / sizeof(*sizes))

/* ---- quantising ----------------------------------------------------------- */

static void test_quant_random(void **state)
{
	uint32_t buf[MAXN];
	unsigned i, round;

	(void)state;
	for_each_type(t) {
		for (round = 0; round < 40; round++) {
			for (i = 0; i < NSIZES; i++) {
				static const int widths[] = { 0, 3, 30, 255 };

				fill(t, buf, sizes[i], rnd() % 256,
				     widths[rnd() % 4]);
				check_quant(t, buf, sizes[i], some_headroom(),
					    rnd() & 1 ? 0 : rnd(), NULL, NULL);
			}
		}
	}
}

/* Every exponent of a block, with every headroom and predictions around it. */
static void test_quant_exponents(void **state)
{
	static const int deltas[] = { -1, 0, 1, 2, 24, 25, 31, 32, 60 };
	uint32_t buf[19];
	unsigned headroom, d;
	int top;

	(void)state;
	for_each_type(t) {
		for (top = 0; top <= 254; top += top < 40 || top > 220 ? 1 : (int)full_or(1, 5)) {
			for (headroom = 0; headroom <= QUANT_HEADROOM_MAX;
			     headroom += headroom < 7 ? 1 : 7) {
				fill(t, buf, 19, top, 40);
				check_quant(t, buf, 19, headroom, 0, NULL, NULL);
				for (d = 0; d < 9; d++) {
					int e_try = top + 1 + deltas[d];

					if (e_try >= 1 && e_try <= 255)
						check_quant(t, buf, 19, headroom,
							    e_try, NULL, NULL);
				}
			}
		}
	}
}

/* Elements at, and one quantum beside, the midpoints between two lanes. */
static void test_quant_ties(void **state)
{
	uint32_t buf[3 * 24 + 1];
	int e, headroom, j;

	(void)state;
	for (e = -126; e <= 128; e++) {
		for (headroom = 0; headroom <= 7; headroom++) {
			unsigned n = 0;

			/* 1.5, 2.5, 3.5, .. 2^22 + 0.5 LSB of the block. */
			for (j = 0; j < 23; j++) {
				long double x = ldexpl((1 << j) + 0.5L,
						       e - 30 + headroom);
				uint32_t b = nearest(QUANT_F32, x);

				buf[n++] = b;
				buf[n++] = (b ? b - 1 : 0) | 0x80000000;
				buf[n++] = b + 1;
			}
			check_quant(QUANT_F32, buf, n, headroom, e + 127,
				    NULL, NULL);
		}
	}
}

static void test_quant_adversarial(void **state)
{
	static const uint32_t f32[] = {
		0x00000001, 0x00000002, 0x007fffff, 0x00800000, 0x00800001,
		0x00ffffff, 0x01000000, 0x3f7fffff, 0x3f800000, 0x3f800001,
		0x7effffff, 0x7f000000, 0x7f7fffff, 0x00000000,
	};
	uint32_t buf[17];
	unsigned i, j, n, headroom;

	(void)state;
	for (i = 0; i < 14; i++) {
		for (j = 0; j < 14; j++) {
			for (n = 1; n <= 17; n++) {
				for (headroom = 0; headroom <= 7; headroom += 7) {
					unsigned k;

					for (k = 0; k < n; k++)
						buf[k] = f32[j] | (k & 1) << 31;
					buf[n - 1] = f32[i] | 0x80000000;
					check_quant(QUANT_F32, buf, n, headroom,
						    0, NULL, NULL);
				}
			}
		}
	}
}

/* All spellings of zero, and of NaN and infinity at every place. */
static void test_quant_flags(void **state)
{
	uint32_t buf[40];
	struct quant_head head;
	unsigned i, k, n;

	(void)state;
	for_each_type(t) {
		const struct fmt *f = &fmts[t];
		const uint32_t names[] = {
			f->inf, f->inf | f->sign,	/* infinities */
			f->inf + 1, f->sign - 1,	/* signalling, full */
			f->nan, f->nan | f->sign,	/* quiet */
			(f->inf + 1) | f->sign, f->sign | (f->sign - 1),
		};

		for (n = 0; n <= 40; n++) {
			for (i = 0; i < n; i++)
				put(t, buf, i, rnd() & 1 ? f->sign : 0);
			check_quant(t, buf, n, 1, 0, NULL, &head);
			assert_int_equal(head.flags, QUANT_ZERO);
			assert_int_equal(head.exp, 1);
			assert_int_equal(head.want, 0);
			check_quant(t, buf, n, 1, 77, NULL, &head);
			assert_int_equal(head.exp, 77);
		}
		for (n = 1; n <= 40; n++) {
			for (k = 0; k < 8; k++) {
				for (i = 0; i < n; i++)
					put(t, buf, i, 0);
				put(t, buf, rnd() % n, names[k]);
				check_quant(t, buf, n, 1, 0, NULL, &head);
				assert_int_equal(head.flags, QUANT_NONFINITE);
				assert_int_equal(head.want, 0);

				/* Next to finite ones, which are still wanted. */
				fill(t, buf, n, 20, 4);
				put(t, buf, rnd() % n, names[k]);
				check_quant(t, buf, n, 1, 9, NULL, &head);
				assert_int_equal(head.flags, QUANT_NONFINITE);
				assert_int_equal(head.exp, 9);
			}
		}
	}
}

/* Quantising f16 alone loses nothing, nor does bf16; -0 becomes +0. */
static void test_round_trip_16(void **state)
{
	uint32_t h;

	(void)state;
	for_each_type(t) {
		if (t == QUANT_F32)
			continue;
		for (h = 0; h < 65536; h++) {
			for_each_impl(im) {
				uint16_t in = h, out = 1;
				struct quant_head head;
				struct quant_sum sum;
				int32_t lane = 0;

				im->quant(&(struct quant_elements){ t, 1, &in }, 7, 0, &lane,
					  &head);
				sum = sum_of(7, head.exp, 1);
				sum.flags = head.flags;
				im->dequant(t, &lane, 1, &sum, &out);
				if (!is_finite(t, h))
					assert_int_equal(out, fmts[t].nan);
				else
					assert_int_equal(out, h == 0x8000 ? 0 : h);
			}
		}
	}
}

/* The 16-bit magnitudes, widened: all of them against their definition. */
static void test_widen(void **state)
{
	uint32_t h;

	(void)state;
	for_each_type(t) {
		if (t == QUANT_F32)
			continue;
		for (h = 0; h < 0x8000; h++) {
			uint32_t b = quant_widen(t, h);

			if (is_finite(t, h))
				assert_true((long double)bits_f32(b) == value(t, h));
			else
				assert_true(b >= 0x7f800000);
		}
	}
}

/* ---- dequantising --------------------------------------------------------- */

static int32_t some_lane(void)
{
	static const int32_t edges[] = {
		0, 1, -1, 2, -2, 3, INT32_MAX, INT32_MIN, INT32_MIN + 1, 1 << 30,
		-(1 << 30), (1 << 24) - 1, 1 << 24, (1 << 24) + 1,
		-((1 << 24) + 1), 0x1000080, 0x1000081, 0x107ffff, 0x1080000,
		0x1080001, 0x7ffffe00, 0x7fffffbf, 0x7fffffc0, 0x7fffffc1,
	};
	uint64_t r = rnd();
	int32_t v;

	if (r % 4 == 0)
		return edges[(r >> 8) % (sizeof(edges) / sizeof(*edges))];
	/* A random length; a third of them one beside a midpoint of few bits. */
	v = (int32_t)rnd() >> (r >> 8) % 31;
	if (r % 3 == 0) {
		unsigned cut = (r >> 16) % 24;

		v = (int32_t)((uint32_t)v >> cut << cut |
			      (cut ? 1u << (cut - 1) : 0));
		v = (int32_t)((uint32_t)v + (uint32_t)(r >> 32) % 3 - 1);
	}
	return v;
}

static void test_dequant(void **state)
{
	static const uint32_t divisors[] = {
		1, 2, 3, 4, 5, 6, 7, 8, 10, 63, 64, 65, 100, 127, 128,
		65535, 0x1000001, (1u << 27) - 1, 1u << 27, (1u << 27) + 1,
		1u << 31, UINT32_MAX,
	};
	int32_t lanes[345];
	unsigned i, d, exp;

	(void)state;
	for_each_type(t) {
		for (i = 0; i < NSIZES; i++) {
			for (d = 0; d < 22; d++) {
				unsigned j;

				for (j = 0; j < sizes[i]; j++)
					lanes[j] = some_lane();
				check_dequant(t, lanes, sizes[i], some_headroom(),
					      1 + rnd() % 255, divisors[d]);
			}
		}
		for (exp = 0; exp <= 255; exp += full_or(1, 3)) {
			for (d = 0; d < 22; d++) {
				unsigned j;

				for (j = 0; j < 29; j++)
					lanes[j] = some_lane();
				check_dequant(t, lanes, 29, some_headroom(), exp,
					      divisors[d]);
			}
		}
		/* Where the types' denormals and infinities begin. */
		for (exp = 0; exp <= 255; exp++) {
			unsigned j;

			if (t == QUANT_F16 && (exp < 90 || exp > 145))
				continue;
			if (t != QUANT_F16 && exp > 40 && exp < 240)
				continue;
			for (j = 0; j < 345; j++)
				lanes[j] = some_lane();
			check_dequant(t, lanes, 345, exp & 7, exp, 1);
			check_dequant(t, lanes, 345, exp & 7, exp, 3);
		}
	}
}

/* Quotients next to midpoints, made from the midpoint and the divisor. */
static void test_mean_midpoints(void **state)
{
	int32_t lanes[3 * 128];
	unsigned round;

	(void)state;
	for_each_type(t) {
		const int p = fmts[t].mant + 1;

		for (round = 0; round < full_or(3000, 200); round++) {
			uint32_t d = 1 + rnd() % 128;
			unsigned n = 0;

			if (round & 1)
				d |= 1;
			while (n < sizeof(lanes) / sizeof(*lanes)) {
				/* p + 1 bits, odd: a midpoint of p bits. */
				uint64_t mid = (1u << p) | (rnd() & ((1u << p) - 1)) | 1;
				uint64_t s = mid * d;
				unsigned j;

				while (s > INT32_MAX - 1)
					s >>= 1;
				for (j = 0; j < 3; j++)
					lanes[n++] = (int32_t)(s + j - 1) *
						     (rnd() & 1 ? 1 : -1);
			}
			check_dequant(t, lanes, n, 7, round % 254 + 1, d);
		}
	}
}

/*
 * Quotients beside 25-bit midpoints, too near for a double to tell: with a
 * midpoint m, an odd divisor d = -+1/m modulo 2^24 above 2^29, and the lane
 * (d * m +- 1) / 2^24, the quotient is m / 2^24 but for 1 / (2^24 * d).
 */
static void test_mean_large_divisors(void **state)
{
	unsigned round, i;

	(void)state;
	for (round = 0; round < 2000; round++) {
		uint32_t m = 1u << 24 | (uint32_t)rnd() >> 8 | 1, inv = m, d;
		uint64_t s;

		for (i = 0; i < 5; i++)
			inv *= 2 - m * inv;
		inv = round & 1 ? inv : 0 - inv;
		d = 1u << 29 | (rnd() & 15) << 24 | (inv & 0xffffff);
		s = (uint64_t)d * m + (round & 1 ? -1 : 1);
		assert_int_equal(s & 0xffffff, 0);
		if (s >> 24 <= INT32_MAX) {
			int32_t lanes[2] = { s >> 24, -(int32_t)(s >> 24) };

			check_dequant(QUANT_F32, lanes, 2, 0, 1 + round % 255, d);
		}
	}
}

/* Quotients beside half of the least denormal: zero, or not. */
static void test_mean_least(void **state)
{
	static const int qmin[TYPES] = { -149, -24, -133 };
	int j, b;

	(void)state;
	for_each_type(t) {
		for (j = 0; j < 30; j++) {
			/* 2^j * 2^k is half of the least denormal. */
			int exp = qmin[t] - 1 - j + 157;
			uint32_t d;

			if (exp < 1 || exp > 255)
				continue;
			for (d = 1; d << j <= 3u << 29 && d <= 129; d++) {
				int32_t lanes[10];

				for (b = 0; b < 10; b++)
					lanes[b] = (int32_t)((d << j) + b / 2 - 2) *
						   (b & 1 ? -1 : 1);
				check_dequant(t, lanes, 10, 0, exp, d);
			}
		}
	}
}

static void test_dequant_flags(void **state)
{
	unsigned i, n;

	(void)state;
	for_each_type(t) {
		for (n = 0; n <= 345; n += n < 20 ? 1 : 65) {
			for_each_impl(im) {
				struct quant_sum sum = sum_of(2, 1, 1);
				uint32_t dst[345];

				memset(dst, 0xff, sizeof(dst));
				sum.flags = QUANT_NONFINITE;
				im->dequant(t, NULL, n, &sum, dst);
				for (i = 0; i < n; i++)
					assert_int_equal(get(t, dst, i),
							 fmts[t].nan);
				sum = sum_of(2, 1, 3);
				sum.flags = QUANT_NONFINITE | QUANT_ZERO;
				im->dequant(t, NULL, n, &sum, dst);
				for (i = 0; i < n; i++)
					assert_int_equal(get(t, dst, i),
							 fmts[t].nan);
				sum = sum_of(2, 200, 3);
				sum.flags = QUANT_ZERO;
				im->dequant(t, NULL, n, &sum, dst);
				for (i = 0; i < n; i++)
					assert_int_equal(get(t, dst, i), 0);
			}
		}
	}
}

static void test_dequant_signs(void **state)
{
	(void)state;
	for_each_type(t) {
		for_each_impl(im) {
			const struct quant_sum third = sum_of(0, 1, 3), none = sum_of(0, 157, 0);
			const int32_t lanes[3] = { -1, 0, 1 };
			uint32_t dst[3];

			im->dequant(t, lanes, 3, &third, dst);
			assert_int_equal(get(t, dst, 0), fmts[t].sign);
			assert_int_equal(get(t, dst, 1), 0);
			assert_int_equal(get(t, dst, 2), 0);

			/* A divisor of 0 is none. */
			im->dequant(t, lanes, 3, &none, dst);
			assert_int_equal(get(t, dst, 0), nearest(t, -1));
			assert_int_equal(get(t, dst, 2), nearest(t, 1));
		}
	}
}

/* ---- the sum -------------------------------------------------------------- */

#define LANES 64

/* What a home does to the contributions of one chunk. */
struct sum {
	int32_t lane[LANES];
	uint8_t E, W;
};

static void home(struct sum *r, const int32_t (*q)[LANES],
		 const struct quant_head *head, unsigned n)
{
	unsigned i, w;

	memset(r, 0, sizeof(*r));
	for (w = 0; w < n; w++) {
		r->E = head[w].exp > r->E ? head[w].exp : r->E;
		r->W = head[w].want > r->W ? head[w].want : r->W;
	}
	for (i = 0; i < LANES; i++) {
		int64_t sum = 0;

		for (w = 0; w < n; w++)
			if (!head[w].flags)
				sum += quant_shift_rne(q[w][i], r->E - head[w].exp);
		assert_true(sum >= -(1 << 30) && sum <= 1 << 30);
		r->lane[i] = (int32_t)sum;
	}
}

static float x_in[128][LANES];
static int32_t q_in[128][LANES];
static struct quant_head head_in[128];

/* Worst errors of n ranks' sums, in units of absmax. */
static struct {
	double fixed;	/* of the lanes */
	double out;	/* of the float32 elements made from them */
	double f32;	/* of adding in float32, in the order of ranks */
} worst_of[129];

/*
 * Worst error of the lanes of a sum, in units of 2^(2L-30) * absmax, of n ranks
 * whose elements are x_in and which try e_try.
 */
static double sum_error(unsigned n, uint8_t e_try, struct sum *r)
{
	long double absmax = 0, worst = 0, worst_out = 0, worst_f32 = 0, lsb;
	unsigned L = headroom_bits(n), w, i;
	struct quant_sum sum;
	float out[LANES];

	for (w = 0; w < n; w++) {
		check_quant(QUANT_F32, x_in[w], LANES, L, e_try, q_in[w],
			    &head_in[w]);
		for (i = 0; i < LANES; i++)
			if (fabsf(x_in[w][i]) > absmax)
				absmax = fabsf(x_in[w][i]);
	}
	home(r, (const int32_t (*)[LANES])q_in, head_in, n);

	sum = sum_of(L, r->E, 1);
	dequant_chunk(QUANT_F32, r->lane, LANES, &sum, out);

	lsb = ldexpl(1, r->E - 127 - 30 + (int)L);
	for (i = 0; i < LANES; i++) {
		long double x = 0, err;
		float f = 0;

		for (w = 0; w < n; w++) {
			x += x_in[w][i];
			f += x_in[w][i];
		}
		worst_out = fmaxl(worst_out, fabsl(out[i] - x));
		worst_f32 = fmaxl(worst_f32, fabsl(f - x));
		err = fabsl(r->lane[i] * lsb - x);
		/* Absolute bound, whatever was predicted. */
		assert_true(err <= (0.75L * n - 0.25L) * lsb * (1 + 1e-9L));
		if (err > worst)
			worst = err;
	}
	worst_of[n].fixed = fmax(worst_of[n].fixed, worst / absmax);
	worst_of[n].out = fmax(worst_of[n].out, worst_out / absmax);
	worst_of[n].f32 = fmax(worst_of[n].f32, worst_f32 / absmax);
	return (double)(worst / (absmax * ldexpl(1, 2 * (int)L - 30)));
}

static void random_ranks(unsigned n, int spread)
{
	unsigned w, i;

	for (w = 0; w < n; w++) {
		int top = 120;

		if (spread)
			top -= (int)(rnd() % spread);
		for (i = 0; i < LANES; i++) {
			/* Uniform in (-2, 2) with all 24 bits in use. */
			int32_t m = (int32_t)(rnd() >> 39) - (1 << 24);

			x_in[w][i] = ldexpf((float)m, top - 127 - 23 -
					    (int)(rnd() % 8));
		}
	}
}

static const unsigned counts[] = { 2, 3, 4, 5, 7, 8, 9, 15, 16, 31, 32, 33, 48, 64 };

#define NCOUNTS (sizeof(counts) / sizeof(*counts))

static void print_errors(const char *what, unsigned n, double worst)
{
	print_message("# %-7s n=%-2u bound %.1e lanes %.1e (%.3f of it) as float32 %.1e added in float32 %.1e\n",
		      what, n, ldexp(1, 2 * (int)headroom_bits(n) - 30),
		      worst_of[n].fixed, worst, worst_of[n].out,
		      worst_of[n].f32);
	memset(&worst_of[n], 0, sizeof(worst_of[n]));
}

/* All ranks use one exponent, and it is the one wanted. */
static void test_sum_agreed(void **state)
{
	unsigned c, round;

	(void)state;
	for (c = 0; c < NCOUNTS; c++) {
		unsigned n = counts[c], w, i;
		double worst = 0, err;
		struct sum r;

		for (round = 0; round < full_or(60, 15); round++) {
			uint8_t W = 0;

			random_ranks(n, round % 3 * 40);
			for (w = 0; w < n; w++)
				for (i = 0; i < LANES; i++) {
					uint32_t f = f32_bits(x_in[w][i]) >> 23 & 0xff;

					W = f + 1 > W ? f + 1 : W;
				}
			err = sum_error(n, W, &r);
			assert_int_equal(r.E, r.W);
			assert_true(err <= 1);
			worst = err > worst ? err : worst;
		}
		print_errors("agreed", n, worst);
	}
}

/* No prediction: every rank has its own exponent and the home shifts. */
static void test_sum_shifted(void **state)
{
	unsigned c, round;

	(void)state;
	for (c = 0; c < NCOUNTS; c++) {
		unsigned n = counts[c], w;
		double worst = 0, err;
		struct sum r;

		for (round = 0; round < 60; round++) {
			static const int spreads[] = { 1, 4, 12, 30, 60, 90 };

			random_ranks(n, spreads[round % 6]);
			if (round % 6 < 3)	/* exponents close together */
				for (w = 0; w < n; w++) {
					int d = (int)(rnd() % 4);
					unsigned i;

					for (i = 0; i < LANES; i++) {
						int32_t m = (int32_t)(rnd() >> 39);

						x_in[w][i] = ldexpf((float)(m - (1 << 24)), -24 - d);
					}
				}
			err = sum_error(n, 0, &r);
			assert_int_equal(r.E, r.W);
			assert_true(err < 1.5);
			worst = err > worst ? err : worst;
		}
		print_errors("shifted", n, worst);
	}
}

/*
 * The bounds are attained. Lane 0 makes absmax 1/2, as small as E = 127 allows;
 * L is log2(n) and the LSB 2^(L-30).
 */
static void test_sum_bounds_attained(void **state)
{
	unsigned L, w;

	(void)state;
	for (L = 1; L <= 7; L++) {
		const unsigned n = 1u << L;
		double err;
		struct sum r;

		/* Agreed: each rank has a tie that goes down. */
		memset(x_in, 0, sizeof(x_in));
		for (w = 0; w < n; w++) {
			x_in[w][0] = 0.5f;
			x_in[w][1] = ldexpf(1, (int)L - 31);
		}
		err = sum_error(n, 0, &r);
		assert_int_equal(r.E, 127);
		assert_true(err == 1);

		/*
		 * Shifted by one: just below 3/2 of their own LSB, which becomes
		 * 1, and then a tie that goes down: nearly 3/4 of the result's.
		 */
		for (w = 1; w < n; w++) {
			x_in[w][0] = 0.25f;
			x_in[w][1] = ldexpf(0x1.7ffffep0f, (int)L - 31);
		}
		err = sum_error(n, 0, &r);
		assert_int_equal(r.E, 127);
		assert_true(err < 1.5 - 0.5 / n);
		assert_true(err > 1.5 - 0.5 / n - 1e-6);
		print_message("# attained: n=%-3u agreed 1, shifted %.4f of 2^(2L-30)*absmax\n",
			      n, err);
	}
}

/* A prediction one bit high, as the rule allows for ever: twice the error. */
static void test_sum_predicted(void **state)
{
	const unsigned n = 4;
	double worst = 0, err;
	bool high = false;
	unsigned round, w, i;
	struct sum r;

	(void)state;
	for (round = 0; round < 30; round++) {
		uint8_t e_try = 0;
		int step;

		for (step = 0; step < 40; step++) {
			for (w = 0; w < n; w++)
				for (i = 0; i < LANES; i++) {
					int32_t m = (int32_t)(rnd() >> 39) - (1 << 24);

					x_in[w][i] = ldexpf((float)m, (step ? -30 : -20) -
							    (int)(rnd() % 12));
				}
			err = sum_error(n, e_try, &r);
			e_try = exponent_next(r.E, r.W);
			if (step < 20)
				continue;
			assert_true(r.E - r.W <= 1);
			high |= r.E != r.W;
			for (w = 0; w < n; w++)
				assert_int_equal(head_in[w].exp, r.E);
			assert_true(err <= ldexp(1, r.E - r.W));
			worst = err > worst ? err : worst;
		}
	}
	assert_true(high);
	print_message("# predicted n=4: worst %.3f of 2^(2L-30)*absmax\n", worst);
}

/* At the lowest exponent a lane's unit divides every float32: sums are exact. */
static void test_sum_denormals_exact(void **state)
{
	static const unsigned ns[] = { 1, 2, 63, 64, 65, 127, 128 };
	unsigned c, round, w, i;

	(void)state;
	for (c = 0; c < 7; c++) {
		unsigned n = ns[c];
		struct sum r;

		for (round = 0; round < 20; round++) {
			for (w = 0; w < n; w++)
				for (i = 0; i < LANES; i++)
					x_in[w][i] = bits_f32(rnd() & 0x807fffff);
			assert_true(sum_error(n, 0, &r) == 0);
			assert_int_equal(r.E, 1);
		}
	}
}

/* The largest sum there can be: all ranks at the top of a binade. */
static void test_sum_no_overflow(void **state)
{
	unsigned n, i, w;

	(void)state;
	for (n = 1; n <= 128; n++) {
		struct sum r;

		for (w = 0; w < n; w++)
			for (i = 0; i < LANES; i++)
				x_in[w][i] = (i & 1 ? -1 : 1) *
					     (i < 32 ? FLT_MAX : 0x1.fffffep-1f);
		sum_error(n, 0, &r);	/* home() asserts |sum| <= 2^30 */
	}
}

static void test_shift(void **state)
{
	unsigned s, i;

	(void)state;
	for (s = 0; s <= 40; s++) {
		for (i = 0; i < 20000; i++) {
			int32_t q = some_lane();

			assert_int_equal(quant_shift_rne(q, s),
					 (int32_t)rintl(ldexpl(q, -(int)s)));
		}
	}
	assert_int_equal(quant_shift_rne(1 << 30, 31), 0);
	assert_int_equal(quant_shift_rne((1 << 30) + 1, 31), 1);
	assert_int_equal(quant_shift_rne(-(1 << 30) - 1, 31), -1);
	assert_int_equal(quant_shift_rne(3, 1), 2);
	assert_int_equal(quant_shift_rne(-3, 1), -2);
	assert_int_equal(quant_shift_rne(1, 1), 0);
	assert_int_equal(quant_shift_rne(INT32_MIN, 32), 0);
	assert_int_equal(quant_shift_rne(INT32_MIN, UINT32_MAX), 0);

	/* Strictly below 3/4 LSB: an x in quarters of the small LSB, shifted. */
	for (s = 1; s < 8; s++) {
		int x;

		for (x = -20000; x <= 20000; x++) {
			int32_t q = (int32_t)rintl(x / 64.0L);
			long double err = fabsl(quant_shift_rne(q, s) -
						ldexpl(x, -6 - (int)s));

			assert_true(err < 0.75L);
		}
	}
}

/* ---- the caller's floating-point environment ------------------------------ */

static void test_mxcsr(void **state)
{
#if defined(__x86_64__)
	static const unsigned csrs[] = {
		0x1f80,
		0x1f80 | 0x8040,	/* FTZ, DAZ */
		0x1f80 | 0x2000,	/* down */
		0x1f80 | 0x4000,	/* up */
		0x1f80 | 0x6000,	/* to zero */
		0x1f80 | 0xe040,	/* to zero, FTZ, DAZ */
		0x0000,			/* every exception traps */
		0x1fbf,			/* every exception has been raised */
	};
	static uint32_t src[345], ref_out[345], out[345];
	static int32_t ref[345], lanes[345], sums[345];
	unsigned c, round;

	(void)state;
	for_each_type(t) {
		for (round = 0; round < 400; round++) {
			uint32_t div = round % 3 ? 1 + round % 7 : 1;
			struct quant_head ref_head, head;
			unsigned n = sizes[rnd() % NSIZES], i;
			unsigned headroom = some_headroom();
			uint8_t exp = round % 4 ? rnd() % 16 : rnd();
			uint8_t e_try = round % 4 == 1 ? rnd() : 0;
			const struct quant_elements x = { t, n, src };
			const struct quant_sum sum = sum_of(headroom, exp, div);

			fill(t, src, n, round & 1 ? rnd() % 3 : rnd() % 255, 20);
			/* And a signalling NaN. */
			if (n && round % 32 == 0)
				put(t, src, n - 1, fmts[t].inf + 1);
			for (i = 0; i < n; i++)
				sums[i] = some_lane();
			memset(ref, 0, sizeof(ref));
			memset(ref_out, 0, sizeof(ref_out));
			chunk_scalar(&x, headroom, e_try, ref, &ref_head);
			dequant_chunk_scalar(t, sums, n, &sum, ref_out);
			for_each_impl(im) {
				for (c = 0; c < 8; c++) {
					unsigned saved, after;

					memset(lanes, 0, sizeof(lanes));
					memset(out, 0, sizeof(out));
					saved = _mm_getcsr();
					/* and when it has yet to find out what is fast */
					quant_form_found = round ? quant_form_found : 0;
					_mm_setcsr(csrs[c]);
					__asm__ volatile("" ::: "memory");
					im->quant(&x, headroom, e_try, lanes, &head);
					im->dequant(t, sums, n, &sum, out);
					__asm__ volatile("" ::: "memory");
					after = _mm_getcsr();
					_mm_setcsr(saved);

					assert_int_equal(after, csrs[c]);
					assert_memory_equal(&head, &ref_head,
							    sizeof(head));
					assert_memory_equal(lanes, ref,
							    sizeof(ref));
					assert_memory_equal(out, ref_out,
							    sizeof(ref_out));
				}
			}
		}
	}
#else
	(void)state;
	skip();
#endif
}

/* ---- order ---------------------------------------------------------------- */

/* -1, 0, 1 as a is below, the same as, above b; -0 is below +0. */
static int order(enum quant_type t, uint32_t a, uint32_t b)
{
	const struct fmt *f = &fmts[t];
	long double x = value(t, a), y = value(t, b);

	if (x != y)
		return x < y ? -1 : 1;
	return (int)!(a & f->sign) - (int)!(b & f->sign);
}

static void check_order(enum quant_type t, uint32_t a, uint32_t b)
{
	uint32_t src[2] = { 0 }, dst[2] = { 0 };
	int32_t l[2];
	int got;

	put(t, src, 0, a);
	put(t, src, 1, b);
	assert_int_equal(order_encode(t, src, 2, l), 0);
	got = l[0] < l[1] ? -1 : l[0] > l[1];
	if (got != order(t, a, b))
		fail_msg("type %d: order of %#x and %#x is %d", t, a, b, got);
	order_decode(t, l, 2, 0, dst);
	assert_int_equal(get(t, dst, 0), a);
	assert_int_equal(get(t, dst, 1), b);
}

static void test_floats(void **state)
{
	static uint16_t src[65536];
	static float scalar[65536], vector[65536];
	unsigned int i, n;

	(void)state;
	for (i = 0; i < 65536; i++)
		src[i] = (uint16_t)i;
	for (enum quant_type t = QUANT_F16; t <= QUANT_BF16; t++) {
		/* the last block is not full */
		n = 65536 - 3;
		memset(vector, 0x5a, sizeof(vector));
		quant_floats_scalar(t, src, n, scalar);
		if (has_avx2)
			quant_floats_avx2(t, src, n, vector);
		else
			memcpy(vector, scalar, n * sizeof(*vector));
		assert_int_equal(f32_bits(vector[n]) == f32_bits(vector[n + 1]), 1);
		for (i = 0; i < n; i++) {
			if (!is_finite(t, i)) {
				assert_false(isfinite(scalar[i]) || isfinite(vector[i]));
				continue;
			}
			assert_true(scalar[i] == value(t, i));
			assert_int_equal(f32_bits(scalar[i]), f32_bits(vector[i]));
		}
	}
}

static void test_order(void **state)
{
	unsigned i, j;

	(void)state;
	for_each_type(t) {
		const struct fmt *f = &fmts[t];
		const uint32_t one = (uint32_t)f->bias << f->mant;
		const uint32_t edges[] = {
			0, 1, 2, (1u << f->mant) - 1, 1u << f->mant,
			(1u << f->mant) + 1, one - 1, one, one + 1, f->inf - 1,
			f->inf,
		};

		for (i = 0; i < 22; i++)
			for (j = 0; j < 22; j++)
				check_order(t, edges[i % 11] | (i / 11 ? f->sign : 0),
					    edges[j % 11] | (j / 11 ? f->sign : 0));
		for (i = 0; i < 100000; i++) {
			uint32_t a = finite_elem(t), b = finite_elem(t);

			check_order(t, a, b);
			if (is_finite(t, a + 1))
				check_order(t, a, a + 1);
		}
	}
}

/* All 16-bit elements, and float32 at a stride that reaches every exponent. */
static void test_order_sweep(void **state)
{
	(void)state;
	for_each_type(t) {
		const struct fmt *f = &fmts[t];
		const uint32_t step = t == QUANT_F32 ? full_or(251, 2003) : 1;
		int64_t prev = INT64_MIN;
		uint32_t a;
		int sign;

		for (sign = 1; sign >= 0; sign--) {
			for (a = 0; a <= f->inf; a += step) {
				uint32_t mag = sign ? f->inf - a : a;
				uint32_t v = mag | (sign ? f->sign : 0), back = 0;
				int32_t lane;

				if (order_encode(t, &v, 1, &lane) ||
				    lane <= prev)
					fail_msg("type %d: %#x", t, v);
				order_decode(t, &lane, 1, 0, &back);
				if (back != v)
					fail_msg("type %d: %#x != %#x", t, back, v);
				prev = lane;
			}
		}
	}
}

static void test_order_nan(void **state)
{
	uint32_t src[20], dst[20];
	int32_t lanes[20];
	unsigned i;

	(void)state;
	for_each_type(t) {
		const struct fmt *f = &fmts[t];
		uint32_t a, step = t == QUANT_F32 ? 4099 : 1;

		for (a = f->inf + 1; a < f->sign; a += step) {
			put(t, src, 0, a | (a & 1 ? f->sign : 0));
			assert_int_equal(order_encode(t, src, 1, lanes),
					 QUANT_NONFINITE);
		}
		for (i = 0; i < 20; i++) {
			memset(src, 0, sizeof(src));
			put(t, src, i, f->inf + 1);
			assert_int_equal(order_encode(t, src, 20, lanes),
					 QUANT_NONFINITE);
			put(t, src, i, f->inf);
			assert_int_equal(order_encode(t, src, 20, lanes), 0);
		}
		order_decode(t, NULL, 20, QUANT_NONFINITE, dst);
		for (i = 0; i < 20; i++)
			assert_int_equal(get(t, dst, i), f->nan);
		order_decode(t, lanes, 20, QUANT_ZERO, dst);
		assert_int_equal(get(t, dst, 19), f->inf);
	}
}

/* ---- int32 ---------------------------------------------------------------- */

static void test_int32_bits(void **state)
{
	int32_t x[64];
	unsigned b, i, round;

	(void)state;
	assert_int_equal(int32_bits(NULL, 0), 0);
	for (b = 0; b < 32; b++) {
		x[0] = (int32_t)((1ll << b) - 1);
		assert_int_equal(int32_bits(x, 1), b);
		x[0] = -x[0];
		assert_int_equal(int32_bits(x, 1), b);
		x[0] = (int32_t)-(1ll << b);
		assert_int_equal(int32_bits(x, 1), b + 1);
	}
	for (round = 0; round < 20000; round++) {
		int64_t max = 0;
		unsigned n = 1 + rnd() % 64;

		for (i = 0; i < n; i++) {
			x[i] = some_lane();
			max = llabs((int64_t)x[i]) > max ? llabs((int64_t)x[i]) : max;
		}
		b = int32_bits(x, n);
		assert_true(max < 1ll << b);
		assert_true(b == 0 || max >= 1ll << (b - 1));
	}
}

/* The extreme sums of n contributions of w bits: silence must be a proof. */
static void test_int32_may_wrap(void **state)
{
	unsigned n, w;

	(void)state;
	for (n = 1; n <= 300; n++) {
		for (w = 0; w <= 32; w++) {
			int64_t sum = n * (w ? (1ll << w) - 1 : 0);

			if (w == 32)
				sum = n * (1ll << 31);
			if (!int32_may_wrap(w, headroom_bits(n)))
				assert_true(sum <= INT32_MAX);
			else	/* and a warning no wilder than a factor of 2 */
				assert_true(2 * sum > INT32_MAX - 2ll * n);
		}
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_quant_random, seed),
		cmocka_unit_test_setup(test_quant_exponents, seed),
		cmocka_unit_test_setup(test_quant_ties, seed),
		cmocka_unit_test_setup(test_quant_adversarial, seed),
		cmocka_unit_test_setup(test_quant_flags, seed),
		cmocka_unit_test_setup(test_round_trip_16, seed),
		cmocka_unit_test_setup(test_widen, seed),
		cmocka_unit_test_setup(test_dequant, seed),
		cmocka_unit_test_setup(test_mean_midpoints, seed),
		cmocka_unit_test_setup(test_mean_large_divisors, seed),
		cmocka_unit_test_setup(test_mean_least, seed),
		cmocka_unit_test_setup(test_dequant_flags, seed),
		cmocka_unit_test_setup(test_dequant_signs, seed),
		cmocka_unit_test_setup(test_sum_agreed, seed),
		cmocka_unit_test_setup(test_sum_shifted, seed),
		cmocka_unit_test_setup(test_sum_bounds_attained, seed),
		cmocka_unit_test_setup(test_sum_predicted, seed),
		cmocka_unit_test_setup(test_sum_denormals_exact, seed),
		cmocka_unit_test_setup(test_sum_no_overflow, seed),
		cmocka_unit_test_setup(test_shift, seed),
		cmocka_unit_test_setup(test_mxcsr, seed),
		cmocka_unit_test_setup(test_floats, seed),
		cmocka_unit_test_setup(test_order, seed),
		cmocka_unit_test_setup(test_order_sweep, seed),
		cmocka_unit_test_setup(test_order_nan, seed),
		cmocka_unit_test_setup(test_int32_bits, seed),
		cmocka_unit_test_setup(test_int32_may_wrap, seed),
	};

	full = full_asked(argc, argv);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	fill_powers();
	has_avx2 = quant_avx2_usable();
	if (!has_avx2)
		print_message("# no AVX2 here: it was not tested\n");
	return cmocka_run_group_tests(tests, NULL, NULL);
}
