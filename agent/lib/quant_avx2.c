// SPDX-License-Identifier: LGPL-2.1-only OR MIT
/*
 * Quantising with AVX2 (and F16C, which no AVX2 machine is known to lack).
 *
 * Floating-point instructions are used only where their result is exact or is
 * the one rounding that quant.h promises, under MXCSR_LOOPS: to nearest even,
 * no flush to zero, exceptions masked. Compilers do not know that arithmetic
 * depends on MXCSR. So the loops are functions of their own that are not inlined
 * and that return their results in memory, and no arithmetic can move across
 * the stores to MXCSR around the calls.
 *
 * Longer than 600 lines: what is compiled with this instruction set alone is one source.
 */
#include "quant.h"

#if defined(__x86_64__)

#include <cpuid.h>
#include <immintrin.h>
#include <string.h>

#ifdef __FAST_MATH__
#error "-ffast-math breaks the promise of identical results"
#endif

/*
 * All exception flags are set beforehand. So no instruction changes one, and an
 * emulator need not find out whether a result is exact: it can leave the
 * arithmetic to the processor.
 */
#define MXCSR_LOOPS	0x1fbfu
#define TARGET		__attribute__((target("avx2,f16c")))
#define LOOP		__attribute__((target("avx2,f16c"), noinline))
#define STEP		__attribute__((target("avx2,f16c"), always_inline)) inline

bool quant_avx2_usable(void)
{
	unsigned int a, b, c = 0, d;

	__builtin_cpu_init();
	return __builtin_cpu_supports("avx2") &&
	       __get_cpuid(1, &a, &b, &c, &d) && (c & bit_F16C);
}

static inline unsigned int quant_avx2_mxcsr_enter(void)
{
	unsigned int csr = _mm_getcsr();

	_mm_setcsr(MXCSR_LOOPS);
	__asm__ volatile("" ::: "memory");
	return csr;
}

static inline void quant_avx2_mxcsr_leave(unsigned int csr)
{
	__asm__ volatile("" ::: "memory");
	_mm_setcsr(csr);
}

/* 2^k for -126 <= k <= 127. */
static inline float quant_avx2_pow2f(int k)
{
	uint32_t b = (uint32_t)(k + 127) << 23;
	float f;

	memcpy(&f, &b, sizeof(f));
	return f;
}

/* 2^k for -1022 <= k <= 1023. */
static inline double quant_avx2_pow2d(int k)
{
	uint64_t b = (uint64_t)(k + 1023) << 52;
	double d;

	memcpy(&d, &b, sizeof(d));
	return d;
}

static STEP __m256i quant_avx2_magnitude8(const unsigned char *p)
{
	return _mm256_and_si256(_mm256_loadu_si256((const void *)p),
				_mm256_set1_epi32(0x7fffffff));
}

/* of each lane the larger one; of eight elements at @p their magnitude */
static STEP __m256i quant_avx2_larger8(__m256i a, const unsigned char *p)
{
	return _mm256_max_epi32(a, quant_avx2_magnitude8(p));
}

/*
 * Largest magnitude of n bytes' worth of elements, as bits of the element type.
 * Integer instructions only.
 */
static LOOP uint32_t quant_avx2_absmax32(const unsigned char *p, size_t n)
{
	__m256i a = _mm256_setzero_si256(), b = a;
	unsigned char tail[32] = { 0 };
	uint32_t v[8], max = 0;
	size_t i;

	for (; n >= 256; n -= 256, p += 256) {
		a = quant_avx2_larger8(a, p);
		b = quant_avx2_larger8(b, p + 32);
		a = quant_avx2_larger8(a, p + 64);
		b = quant_avx2_larger8(b, p + 96);
		a = quant_avx2_larger8(a, p + 128);
		b = quant_avx2_larger8(b, p + 160);
		a = quant_avx2_larger8(a, p + 192);
		b = quant_avx2_larger8(b, p + 224);
	}
	a = _mm256_max_epi32(a, b);
	for (; n >= 32; n -= 32, p += 32)
		a = quant_avx2_larger8(a, p);
	if (n) {
		memcpy(tail, p, n);
		a = quant_avx2_larger8(a, tail);
	}
	_mm256_storeu_si256((void *)v, a);
	for (i = 0; i < 8; i++)
		max = v[i] > max ? v[i] : max;
	return max;
}

static LOOP uint32_t quant_avx2_absmax16(const unsigned char *p, size_t n)
{
	const __m256i mask = _mm256_set1_epi16(0x7fff);
	__m256i a = _mm256_setzero_si256();
	unsigned char tail[32] = { 0 };
	uint16_t v[16], max = 0;
	size_t i;

	for (i = 0; i + 32 <= n; i += 32) {
		const __m256i x = _mm256_loadu_si256((const void *)(p + i));

		a = _mm256_max_epu16(a, _mm256_and_si256(x, mask));
	}
	if (i < n) {
		memcpy(tail, p + i, n - i);
		a = _mm256_max_epu16(a, _mm256_and_si256(
			_mm256_loadu_si256((const void *)tail), mask));
	}
	_mm256_storeu_si256((void *)v, a);
	for (i = 0; i < 16; i++)
		max = v[i] > max ? v[i] : max;
	return max;
}

/* Eight elements as float32; exact. */
static STEP __m256 quant_avx2_load8(enum quant_type t, const unsigned char *p)
{
	if (t == QUANT_F32)
		return _mm256_castsi256_ps(_mm256_loadu_si256((const void *)p));
	if (t == QUANT_F16)
		return _mm256_cvtph_ps(_mm_loadu_si128((const void *)p));
	return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(
		_mm_loadu_si128((const void *)p)), 16));
}

/*
 * Eight float32 to elements. A rounding, to nearest even, happens for the 16-bit
 * types.
 */
static STEP void quant_avx2_store8(enum quant_type t, unsigned char *p, __m256 f)
{
	__m256i u, odd;

	if (t == QUANT_F32) {
		_mm256_storeu_si256((void *)p, _mm256_castps_si256(f));
		return;
	}
	if (t == QUANT_F16) {
		_mm_storeu_si128((void *)p, _mm256_cvtps_ph(f,
			_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
		return;
	}
	u = _mm256_castps_si256(f);
	odd = _mm256_and_si256(_mm256_srli_epi32(u, 16), _mm256_set1_epi32(1));
	u = _mm256_add_epi32(u, _mm256_set1_epi32(0x7fff));
	u = _mm256_srli_epi32(_mm256_add_epi32(u, odd), 16);
	u = _mm256_permute4x64_epi64(_mm256_packus_epi32(u, u), 0x08);
	_mm_storeu_si128((void *)p, _mm256_castsi256_si128(u));
}

/* how eight elements become lanes */
enum way {
	MULTIPLY,
	MULTIPLY_TWICE,
	SHIFT,
};

/* what elements are scaled with, by each of them */
struct scale {
	__m256 s1;
	__m256 s2;
	__m256i shift;
};

/*
 * rne(x * 2^k) by one or two multiplications. -126 <= k <= 156, as 0 <= headroom
 * <= 28, and |x| * 2^k < 2^30.
 *
 * k <= 127: one multiplication. The product is exact unless it is below 2^-126,
 * and then it is below 1/2 and becomes 0 however it was rounded.
 * k > 127: both factors are above 1. The first product lies between x and the
 * second one in magnitude, so neither overflows, and scaling up loses no bit,
 * of a denormal either.
 */
static STEP __m256i quant_avx2_multiply8(__m256 x, const struct scale *s, bool two)
{
	x = _mm256_mul_ps(x, s->s1);
	if (two)
		x = _mm256_mul_ps(x, s->s2);
	return _mm256_cvtps_epi32(x);
}

/*
 * The same by integer instructions, of which a processor needs more and an emulator
 * less time. |x| = m * 2^(g - 149), with m < 2^24 and g the exponent field less one,
 * or 0 if that is 0. So it is v = m << 7 shifted by r = 156 - k - g, and r >= 0 as
 * |x| * 2^k < 2^30. The bits of v below 7 are clear: for r <= 1 nothing is rounded.
 * Else half a lane less one, and one more if the lane below is odd, are added first:
 * v < 2^31 and half a lane is at most 2^30 for r <= 31. From 32 on a shift gives 0,
 * as it should: v is less than half of it.
 */
static STEP __m256i quant_avx2_shift8(__m256 x, const struct scale *s)
{
	const __m256i one = _mm256_set1_epi32(1);
	const __m256i b = _mm256_castps_si256(x);
	__m256i a = _mm256_and_si256(b, _mm256_set1_epi32(0x7fffffff));
	__m256i g = _mm256_subs_epu16(_mm256_srli_epi32(a, 23), one);
	__m256i v = _mm256_slli_epi32(_mm256_sub_epi32(a, _mm256_slli_epi32(g, 23)), 7);
	__m256i r = _mm256_sub_epi32(s->shift, g);
	/* 2^(r-1) - 1, or 0 for r = 0 */
	__m256i half = _mm256_srlv_epi32(_mm256_set1_epi32(0x7fffffff),
					 _mm256_sub_epi32(_mm256_set1_epi32(32), r));
	__m256i odd = _mm256_and_si256(_mm256_srlv_epi32(v, r), one);

	v = _mm256_add_epi32(v, _mm256_add_epi32(half, odd));
	return _mm256_sign_epi32(_mm256_srlv_epi32(v, r), b);
}

static STEP void quant_avx2_quant8(enum quant_type t, const unsigned char *p, const struct scale *s,
				   enum way way, int32_t *lanes)
{
	__m256 x = quant_avx2_load8(t, p);

	_mm256_storeu_si256((void *)lanes, way == SHIFT ? quant_avx2_shift8(x, s) :
			    quant_avx2_multiply8(x, s, way == MULTIPLY_TWICE));
}

static STEP void quant_all(const struct quant_elements *x, int k, enum way way, int32_t *lanes)
{
	const bool two = way == MULTIPLY_TWICE;
	const struct scale s = {
		.s1 = _mm256_set1_ps(way == SHIFT ? 0 : quant_avx2_pow2f(two ? 127 : k)),
		.s2 = _mm256_set1_ps(two ? quant_avx2_pow2f(k - 127) : 0),
		.shift = _mm256_set1_epi32(156 - k),
	};
	const enum quant_type t = x->t;
	const size_t step = 8 * quant_size(t);
	const unsigned char *p = x->src;
	size_t n = x->n;

	/* eight at a time: else a quarter of the instructions count and branch */
	for (; n >= 64; n -= 64, p += 8 * step, lanes += 64) {
		quant_avx2_quant8(t, p, &s, way, lanes);
		quant_avx2_quant8(t, p + step, &s, way, lanes + 8);
		quant_avx2_quant8(t, p + 2 * step, &s, way, lanes + 16);
		quant_avx2_quant8(t, p + 3 * step, &s, way, lanes + 24);
		quant_avx2_quant8(t, p + 4 * step, &s, way, lanes + 32);
		quant_avx2_quant8(t, p + 5 * step, &s, way, lanes + 40);
		quant_avx2_quant8(t, p + 6 * step, &s, way, lanes + 48);
		quant_avx2_quant8(t, p + 7 * step, &s, way, lanes + 56);
	}
	for (; n >= 8; n -= 8, p += step, lanes += 8)
		quant_avx2_quant8(t, p, &s, way, lanes);
	if (n) {
		unsigned char in[32] = { 0 };
		int32_t out[8];

		memcpy(in, p, n * quant_size(t));
		quant_avx2_quant8(t, in, &s, way, out);
		memcpy(lanes, out, n * sizeof(*out));
	}
}

static STEP void quant_loop(const struct quant_elements *x, int k, bool shift, int32_t *lanes)
{
	if (shift)
		quant_all(x, k, SHIFT, lanes);
	else if (k > 127)
		quant_all(x, k, MULTIPLY_TWICE, lanes);
	else
		quant_all(x, k, MULTIPLY, lanes);
}

static LOOP void quant_f32(const void *src, unsigned int n, int k, bool shift, int32_t *lanes)
{
	quant_loop(&(struct quant_elements){ QUANT_F32, n, src }, k, shift, lanes);
}

static LOOP void quant_f16(const void *src, unsigned int n, int k, bool shift, int32_t *lanes)
{
	quant_loop(&(struct quant_elements){ QUANT_F16, n, src }, k, shift, lanes);
}

static LOOP void quant_bf16(const void *src, unsigned int n, int k, bool shift, int32_t *lanes)
{
	quant_loop(&(struct quant_elements){ QUANT_BF16, n, src }, k, shift, lanes);
}

void quant_scan_avx2(enum quant_type t, const void *src, unsigned int n, uint8_t e_try,
		     struct quant_head *head)
{
	uint32_t a;

	if (t == QUANT_F32)
		a = quant_avx2_absmax32(src, (size_t)n * 4);
	else
		a = quant_widen(t, quant_avx2_absmax16(src, (size_t)n * 2));

	/* Neither is worth a second version: no lanes are made. */
	if (!a || a >= 0x7f800000) {
		quant_scan_scalar(t, src, n, e_try, head);
		return;
	}

	head->flags = 0;
	head->want = (uint8_t)((a >> 23) + 1);
	head->exp = e_try > head->want ? e_try : head->want;
}

void quant_lanes_avx2(enum quant_type t, const void *src, unsigned int n, int k,
		      int32_t *lanes)
{
	unsigned int csr = quant_avx2_mxcsr_enter();

	if (t == QUANT_F32)
		quant_f32(src, n, k, false, lanes);
	else if (t == QUANT_F16)
		quant_f16(src, n, k, false, lanes);
	else
		quant_bf16(src, n, k, false, lanes);
	quant_avx2_mxcsr_leave(csr);
}

void quant_lanes_shift(enum quant_type t, const void *src, unsigned int n, int k,
		       int32_t *lanes)
{
	unsigned int csr = quant_avx2_mxcsr_enter();

	if (t == QUANT_F32)
		quant_f32(src, n, k, true, lanes);
	else if (t == QUANT_F16)
		quant_f16(src, n, k, true, lanes);
	else
		quant_bf16(src, n, k, true, lanes);
	quant_avx2_mxcsr_leave(csr);
}

static STEP void quant_avx2_floats_loop(enum quant_type t,
					const unsigned char *p, unsigned int n,
					float *x)
{
	const size_t step = 8 * quant_size(t);

	for (; n >= 8; n -= 8, p += step, x += 8)
		_mm256_storeu_ps(x, quant_avx2_load8(t, p));
	if (n) {
		unsigned char in[32] = { 0 };
		float out[8];

		memcpy(in, p, n * quant_size(t));
		_mm256_storeu_ps(out, quant_avx2_load8(t, in));
		memcpy(x, out, n * sizeof(*out));
	}
}

static LOOP void quant_avx2_floats_f16(const void *src, unsigned int n, float *x)
{
	quant_avx2_floats_loop(QUANT_F16, src, n, x);
}

static LOOP void quant_avx2_floats_bf16(const void *src, unsigned int n, float *x)
{
	quant_avx2_floats_loop(QUANT_BF16, src, n, x);
}

void quant_floats_avx2(enum quant_type t, const void *src, unsigned int n, float *x)
{
	unsigned int csr = quant_avx2_mxcsr_enter();

	if (t == QUANT_F32)
		memcpy(x, src, n * sizeof(*x));
	else if (t == QUANT_F16)
		quant_avx2_floats_f16(src, n, x);
	else
		quant_avx2_floats_bf16(src, n, x);
	quant_avx2_mxcsr_leave(csr);
}

/*
 * lane * 2^k where -126 <= k <= 127, so that nothing becomes denormal.
 *
 * For float32 the conversion rounds, once, and the scaling is exact or overflows
 * as rounding would have it. For 16 bits the rounding must be left to quant_avx2_store8():
 * lanes of more than 24 bits are first cut to a multiple of 2^7, to odd: exact
 * in float32, and on the same side of everything that has 16 bits or fewer,
 * which includes every midpoint of either type. (|INT32_MIN| stays negative in
 * the comparison; it is a float32.)
 */
static STEP __m256 quant_avx2_scale_lanes(enum quant_type t, __m256i s, __m256 scale)
{
	if (t != QUANT_F32) {
		const __m256i low = _mm256_set1_epi32(127);
		const __m256i big = _mm256_cmpgt_epi32(_mm256_abs_epi32(s),
						       _mm256_set1_epi32(0xffffff));
		/* (s & 127) + 127 has bit 7 set exactly if a bit is lost. */
		const __m256i lost = _mm256_add_epi32(_mm256_and_si256(s, low),
						      low);
		const __m256i cut = _mm256_andnot_si256(low,
							_mm256_or_si256(s, lost));

		s = _mm256_blendv_epi8(s, cut, big);
	}
	return _mm256_mul_ps(_mm256_cvtepi32_ps(s), scale);
}

/*
 * A double to float32, to odd: what is not a float32 becomes the neighbour
 * whose last bit is 1. That neighbour lies on the same side of every value of
 * 22 bits or fewer, so rounding it again to a shorter type is rounding once.
 */
static STEP __m128 quant_avx2_round_odd(__m256d d)
{
	const __m256d abs = _mm256_castsi256_pd(
		_mm256_set1_epi64x(0x7fffffffffffffffLL));
	const __m128 f = _mm256_cvtpd_ps(d);
	const __m256d b = _mm256_cvtps_pd(f);
	const __m256 over = _mm256_castpd_ps(_mm256_cmp_pd(
		_mm256_and_pd(b, abs), _mm256_and_pd(d, abs), _CMP_GT_OQ));
	const __m256 lost = _mm256_castpd_ps(_mm256_cmp_pd(b, d, _CMP_NEQ_OQ));
	/* The even 32-bit parts of 64-bit masks: masks of 32 bits. */
	const __m128i over4 = _mm_castps_si128(_mm_shuffle_ps(
		_mm256_castps256_ps128(over), _mm256_extractf128_ps(over, 1), 0x88));
	const __m128i lost4 = _mm_castps_si128(_mm_shuffle_ps(
		_mm256_castps256_ps128(lost), _mm256_extractf128_ps(lost, 1), 0x88));
	__m128i u = _mm_castps_si128(f);

	/* A mask is -1: one quantum towards zero, from infinity too. */
	u = _mm_add_epi32(u, over4);
	u = _mm_or_si128(u, _mm_srli_epi32(lost4, 31));
	return _mm_castsi128_ps(u);
}

/*
 * lane / div * 2^k for every k and any div below 2^27. The quotient is rounded
 * to 53 bits and scaled exactly; see Documentation/numerics.md for why the next
 * rounding gives the same as if there had been none before.
 */
static STEP __m256 quant_avx2_divide_lanes(enum quant_type t, __m256i s, __m256d scale,
					   __m256d div)
{
	__m256d lo = _mm256_cvtepi32_pd(_mm256_castsi256_si128(s));
	__m256d hi = _mm256_cvtepi32_pd(_mm256_extracti128_si256(s, 1));

	lo = _mm256_mul_pd(_mm256_div_pd(lo, div), scale);
	hi = _mm256_mul_pd(_mm256_div_pd(hi, div), scale);
	if (t == QUANT_F32)
		return _mm256_set_m128(_mm256_cvtpd_ps(hi), _mm256_cvtpd_ps(lo));
	return _mm256_set_m128(quant_avx2_round_odd(hi), quant_avx2_round_odd(lo));
}

/* an element is lane * 2^k / divisor */
struct ratio {
	int k;
	uint32_t divisor;
};

/* what lanes are multiplied with, if @direct; else they are multiplied and divided */
struct unit {
	bool direct;
	__m256 scale;
	__m256d scaled;
	__m256d div;
};

static STEP void quant_avx2_dequant8(enum quant_type t, const int32_t *lanes, const struct unit *u,
				     unsigned char *p)
{
	const __m256i s = _mm256_loadu_si256((const void *)lanes);

	quant_avx2_store8(t, p, u->direct ? quant_avx2_scale_lanes(t, s, u->scale) :
			      quant_avx2_divide_lanes(t, s, u->scaled, u->div));
}

static STEP void quant_avx2_dequant_all(enum quant_type t, const int32_t *lanes, size_t n,
					const struct unit *u, unsigned char *p)
{
	const size_t step = 8 * quant_size(t);

	for (; n >= 64; n -= 64, lanes += 64, p += 8 * step) {
		quant_avx2_dequant8(t, lanes, u, p);
		quant_avx2_dequant8(t, lanes + 8, u, p + step);
		quant_avx2_dequant8(t, lanes + 16, u, p + 2 * step);
		quant_avx2_dequant8(t, lanes + 24, u, p + 3 * step);
		quant_avx2_dequant8(t, lanes + 32, u, p + 4 * step);
		quant_avx2_dequant8(t, lanes + 40, u, p + 5 * step);
		quant_avx2_dequant8(t, lanes + 48, u, p + 6 * step);
		quant_avx2_dequant8(t, lanes + 56, u, p + 7 * step);
	}
	for (; n >= 8; n -= 8, lanes += 8, p += step)
		quant_avx2_dequant8(t, lanes, u, p);
	if (n) {
		int32_t in[8] = { 0 };
		unsigned char out[32];

		memcpy(in, lanes, n * sizeof(*in));
		quant_avx2_dequant8(t, in, u, out);
		memcpy(p, out, n * quant_size(t));
	}
}

static STEP void quant_avx2_dequant_loop(enum quant_type t, const int32_t *lanes,
					 unsigned int n, struct ratio r, unsigned char *p)
{
	if (r.divisor == 1 && r.k >= -126)
		quant_avx2_dequant_all(t, lanes, n, &(struct unit){
			.direct = true,
			.scale = _mm256_set1_ps(quant_avx2_pow2f(r.k)),
		}, p);
	else
		quant_avx2_dequant_all(t, lanes, n, &(struct unit){
			.scaled = _mm256_set1_pd(quant_avx2_pow2d(r.k)),
			.div = _mm256_set1_pd(r.divisor),
		}, p);
}

static LOOP void quant_avx2_dequant_f32(const int32_t *lanes, unsigned int n, struct ratio r,
					void *dst)
{
	quant_avx2_dequant_loop(QUANT_F32, lanes, n, r, dst);
}

static LOOP void quant_avx2_dequant_f16(const int32_t *lanes, unsigned int n, struct ratio r,
					void *dst)
{
	quant_avx2_dequant_loop(QUANT_F16, lanes, n, r, dst);
}

static LOOP void quant_avx2_dequant_bf16(const int32_t *lanes, unsigned int n, struct ratio r,
					 void *dst)
{
	quant_avx2_dequant_loop(QUANT_BF16, lanes, n, r, dst);
}

void dequant_chunk_avx2(enum quant_type t, const int32_t *lanes, unsigned int n,
			const struct quant_sum *sum, void *dst)
{
	struct ratio r = {
		.k = sum->exp - QUANT_BIAS - sum->bits + 1,
		.divisor = sum->divisor ? sum->divisor : 1,
	};
	unsigned int csr;

	/* A power of two is a matter of the exponent. */
	if (!(r.divisor & (r.divisor - 1))) {
		r.k -= __builtin_ctz(r.divisor);
		r.divisor = 1;
	}
	if (sum->flags || r.divisor >= 1u << 27) {
		dequant_chunk_scalar(t, lanes, n, sum, dst);
		return;
	}

	csr = quant_avx2_mxcsr_enter();
	if (t == QUANT_F32)
		quant_avx2_dequant_f32(lanes, n, r, dst);
	else if (t == QUANT_F16)
		quant_avx2_dequant_f16(lanes, n, r, dst);
	else
		quant_avx2_dequant_bf16(lanes, n, r, dst);
	quant_avx2_mxcsr_leave(csr);
}

#else /* !__x86_64__ */

bool quant_avx2_usable(void)
{
	return false;
}

void quant_scan_avx2(enum quant_type t, const void *src, unsigned int n, uint8_t e_try,
		     struct quant_head *head)
{
	quant_scan_scalar(t, src, n, e_try, head);
}

void quant_lanes_avx2(enum quant_type t, const void *src, unsigned int n, int k,
		      int32_t *lanes)
{
	quant_lanes_scalar(t, src, n, k, lanes);
}

void quant_lanes_shift(enum quant_type t, const void *src, unsigned int n, int k,
		       int32_t *lanes)
{
	quant_lanes_scalar(t, src, n, k, lanes);
}

void quant_floats_avx2(enum quant_type t, const void *src, unsigned int n, float *x)
{
	quant_floats_scalar(t, src, n, x);
}

void dequant_chunk_avx2(enum quant_type t, const int32_t *lanes, unsigned int n,
			const struct quant_sum *sum, void *dst)
{
	dequant_chunk_scalar(t, lanes, n, sum, dst);
}

#endif /* __x86_64__ */
