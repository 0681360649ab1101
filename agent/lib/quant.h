/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * Block fixed point: how floating-point elements become the int32 lanes of a
 * chunk, and how sums of lanes become elements again.
 *
 * Documentation/numerics.md has the format, the error bound and its proof.
 *
 * Lanes are little-endian in memory on every machine. All functions are pure: no state except the
 * choice of the fastest form, which changes no result; no allocation; safe from any thread. None
 * depends on the caller's floating-point environment (rounding mode, FTZ, DAZ, exception masks) and
 * none changes it, exception flags included.
 */
#ifndef GAGG_QUANT_H
#define GAGG_QUANT_H

#include <stdbool.h>
#include <stdint.h>

/* Element types of a user's buffer. */
enum quant_type {
	QUANT_F32,
	QUANT_F16,	/* IEEE 754 binary16 */
	QUANT_BF16,	/* the upper half of a binary32 */
};

/* Flags of a chunk, in struct quant_head and in a result. */
#define QUANT_ZERO	1	/* no element differs from zero: no payload */
#define QUANT_NONFINITE	2	/* an element is NaN or infinite: no payload */

/* Exponents are biased: E stands for 2^(E - QUANT_BIAS). */
#define QUANT_BIAS		127
#define QUANT_EXP_MIN		1
#define QUANT_EXP_MAX		255

/*
 * Up to the first, a lane's unit at E = QUANT_EXP_MIN divides every float32,
 * denormals too. Beyond the second, scales leave the range of float32.
 */
#define QUANT_HEADROOM_EXACT	7
#define QUANT_HEADROOM_MAX	28

/* Elements that are worked on at once if there is more than one step: they fit on a stack. */
#define QUANT_BLOCK		512

/**
 * struct quant_head - fields of a contribution's header about its lanes
 * @exp: biased exponent E the lanes are scaled with, 1..255
 * @want: biased exponent the finite elements need; 0 if none of them differs
 *	from zero
 * @flags: QUANT_ZERO or QUANT_NONFINITE or neither; with either there are no
 *	lanes
 */
struct quant_head {
	uint8_t exp;
	uint8_t want;
	uint8_t flags;
};

/**
 * struct quant_elements - floating-point elements of a user's
 * @t: element type
 * @src: the elements, of any alignment; the caller's
 * @n: number of elements
 */
struct quant_elements {
	enum quant_type t;
	unsigned int n;
	const void *src;
};

/**
 * struct quant_sum - what the lanes of a result are worth
 * @divisor: 1 for the sum, how many are in it for the mean; 0 counts as 1
 * @bits: of a lane: 31 - headroom_bits() of the ranks; of narrow ones 16 or 8
 * @exp: biased exponent E
 * @flags: QUANT_NONFINITE makes every element the canonical quiet NaN; otherwise
 *	QUANT_ZERO makes every element +0. With either, lanes are not read
 * @shift: by how much sums were shifted to be narrow; of no others
 */
struct quant_sum {
	uint32_t divisor;
	uint8_t bits;
	uint8_t exp;
	uint8_t flags;
	uint8_t shift;
};

/**
 * quant_size() - bytes of one element
 * @t: element type
 */
static inline unsigned int quant_size(enum quant_type t)
{
	return t == QUANT_F32 ? 4 : 2;
}

/* The implementations. They agree bit for bit; the functions below choose. */
enum quant_form {
	QUANT_SCALAR = 1,
	QUANT_AVX2,
	QUANT_SHIFT,	/* AVX2 that quantises by integer instructions alone */
};

/* May all but the first be called? */
bool quant_avx2_usable(void);

/*
 * The fastest form on this processor, measured in a few microseconds at the first call. Two threads
 * that call it at the same time may find different forms.
 */
enum quant_form quant_form_find(void);
extern enum quant_form quant_form_found;	/* or 0 */

static inline enum quant_form quant_form(void)
{
	enum quant_form form = __atomic_load_n(&quant_form_found, __ATOMIC_RELAXED);

	return form ? form : quant_form_find();
}

void quant_scan_scalar(enum quant_type t, const void *src, unsigned int n, uint8_t e_try,
		       struct quant_head *head);
void quant_scan_avx2(enum quant_type t, const void *src, unsigned int n, uint8_t e_try,
		     struct quant_head *head);
void quant_lanes_scalar(enum quant_type t, const void *src, unsigned int n, int k,
			int32_t *lanes);
void quant_floats_scalar(enum quant_type t, const void *src, unsigned int n, float *x);
void dequant_chunk_scalar(enum quant_type t, const int32_t *lanes, unsigned int n,
			  const struct quant_sum *sum, void *dst);
void quant_lanes_avx2(enum quant_type t, const void *src, unsigned int n, int k,
		      int32_t *lanes);
void quant_lanes_shift(enum quant_type t, const void *src, unsigned int n, int k,
		       int32_t *lanes);
void quant_floats_avx2(enum quant_type t, const void *src, unsigned int n, float *x);
void dequant_chunk_avx2(enum quant_type t, const int32_t *lanes, unsigned int n,
			const struct quant_sum *sum, void *dst);

/**
 * quant_scan() - what quant_chunk() says of a chunk, without its lanes
 * @x: elements
 * @e_try: predicted exponent, or 0 for none
 * @head: receives it
 */
static inline void quant_scan(const struct quant_elements *x, uint8_t e_try,
			      struct quant_head *head)
{
	if (quant_form() != QUANT_SCALAR)
		quant_scan_avx2(x->t, x->src, x->n, e_try, head);
	else
		quant_scan_scalar(x->t, x->src, x->n, e_try, head);
}

/**
 * quant_lanes() - quantise elements whose exponent is known
 * @x: elements; finite, of magnitude < 2^(@exp - 127)
 * @headroom: headroom_bits() of the ranks, 0..QUANT_HEADROOM_MAX
 * @exp: biased exponent E
 * @lanes: receives a lane for each; need not be aligned beyond 4 bytes and must not
 *	overlap the elements
 *
 * Every lane is rne(x * 2^(30 - headroom - (E - 127))), of magnitude
 * <= 2^(30 - headroom).
 */
static inline void quant_lanes(const struct quant_elements *x, unsigned int headroom,
			       uint8_t exp, int32_t *lanes)
{
	int k = 30 + QUANT_BIAS - (int)headroom - exp;
	enum quant_form form = quant_form();

	if (form == QUANT_AVX2)
		quant_lanes_avx2(x->t, x->src, x->n, k, lanes);
	else if (form == QUANT_SHIFT)
		quant_lanes_shift(x->t, x->src, x->n, k, lanes);
	else
		quant_lanes_scalar(x->t, x->src, x->n, k, lanes);
}

/**
 * quant_chunk() - quantise the elements of one chunk
 * @x: elements; none are a chunk of zeros
 * @headroom: headroom_bits() of the ranks, 0..QUANT_HEADROOM_MAX
 * @e_try: predicted exponent, or 0 for none
 * @lanes: receives the lanes, as by quant_lanes(). Untouched if @head->flags is
 *	not 0.
 * @head: receives the fields of the header
 *
 * The exponent is E = max(@e_try, want). A chunk without lanes has
 * exp = max(@e_try, 1): it follows the prediction and never raises it.
 */
static inline void quant_chunk(const struct quant_elements *x, unsigned int headroom,
			       uint8_t e_try, int32_t *lanes, struct quant_head *head)
{
	quant_scan(x, e_try, head);
	if (!head->flags)
		quant_lanes(x, headroom, head->exp, lanes);
}

/**
 * quant_floats() - elements as float32
 * @x: elements
 * @floats: receives them; must not overlap the elements
 *
 * Exact.
 */
static inline void quant_floats(const struct quant_elements *x, float *floats)
{
	if (quant_form() != QUANT_SCALAR)
		quant_floats_avx2(x->t, x->src, x->n, floats);
	else
		quant_floats_scalar(x->t, x->src, x->n, floats);
}

/**
 * dequant_chunk() - turn the lanes of a result into elements
 * @t: element type
 * @lanes: @n sums of lanes, aligned to 4 bytes
 * @n: number of elements
 * @sum: what they are worth; @sum->shift does not count
 * @dst: receives @n elements, of any alignment; must not overlap @lanes
 *
 * An element is lane * 2^(E - 127 - (bits - 1)) / divisor, rounded once, to
 * nearest even, into @t; this holds for every divisor. Beyond the range of @t
 * it is infinity. A lane of 0 gives +0; a lane that is not 0 and rounds to
 * zero keeps its sign.
 */
static inline void dequant_chunk(enum quant_type t, const int32_t *lanes, unsigned int n,
				 const struct quant_sum *sum, void *dst)
{
	if (quant_form() != QUANT_SCALAR)
		dequant_chunk_avx2(t, lanes, n, sum, dst);
	else
		dequant_chunk_scalar(t, lanes, n, sum, dst);
}

/**
 * quant_unit() - value of a lane of 1
 * @bits: bits of a lane: 16 or 8, or 31 - headroom
 * @exp: exponent E
 */
double quant_unit(unsigned int bits, uint8_t exp);

/**
 * order_encode() - map elements to lanes so that lanes order as elements do
 * @t: element type
 * @src: @n elements, of any alignment
 * @n: number of elements
 * @lanes: receives @n lanes, aligned to 4 bytes
 *
 * The map is one to one and keeps every bit, so the minimum or maximum of lanes
 * names one of the elements exactly. -0 orders below +0; infinities are values
 * like any other.
 *
 * Return: 0, or QUANT_NONFINITE if an element is NaN; @lanes are then
 * unspecified and must not be sent.
 */
uint8_t order_encode(enum quant_type t, const void *src, unsigned int n,
		     int32_t *lanes);

/**
 * order_decode() - inverse of order_encode()
 * @t: element type
 * @lanes: @n lanes; not read if @flags has QUANT_NONFINITE
 * @n: number of elements
 * @flags: flags of the result. QUANT_NONFINITE makes every element the
 *	canonical quiet NaN; other flags mean nothing here.
 * @dst: receives @n elements, of any alignment
 */
void order_decode(enum quant_type t, const int32_t *lanes, unsigned int n,
		  uint8_t flags, void *dst);

/**
 * int32_bits() - bits of the largest magnitude among integers
 * @x: @n integers
 * @n: number of integers
 *
 * Return: the smallest b such that every |x| < 2^b: 0 if all are zero, 32 only
 * if one of them is INT32_MIN.
 */
uint8_t int32_bits(const int32_t *x, unsigned int n);

/**
 * int32_may_wrap() - may a sum of integers have left the range of int32?
 * @w: largest int32_bits() of all contributions
 * @headroom: headroom_bits() of the ranks
 *
 * With |x| <= 2^w - 1 and at most 2^headroom ranks, the sum's
 * magnitude is at most 2^(w + headroom) - 2^headroom, and stays below 2^31 if
 * w + headroom <= 31. So false is a proof, and true a warning. It depends on
 * the contributions alone and not on the order in which they were added.
 */
static inline bool int32_may_wrap(uint8_t w, unsigned int headroom)
{
	return w && w + headroom > 31;
}

/**
 * quant_shift_rne() - q / 2^s, rounded to nearest even
 * @q: a lane
 * @s: difference of exponents
 *
 * The reference for what a home does to a contribution of a smaller exponent.
 * From s = 32 on the magnitude of q / 2^s is at most 1/2, and 1/2 itself is a
 * tie that goes to 0.
 */
static inline int32_t quant_shift_rne(int32_t q, unsigned int s)
{
	int64_t v = q;

	if (s == 0)
		return q;
	if (s >= 32)
		return 0;
	return (int32_t)((v + (((int64_t)1 << (s - 1)) - 1) + ((v >> s) & 1)) >> s);
}

/**
 * quant_load() - one element
 * @t: element type
 * @src: elements, of any alignment
 * @i: which of them
 *
 * Exact.
 */
float quant_load(enum quant_type t, const void *src, unsigned int i);

/**
 * quant_widen() - the float32 bits of a 16-bit element's magnitude
 * @t: QUANT_F16 or QUANT_BF16
 * @h: the element's bits without the sign
 *
 * Exact, as every finite value of either type is a float32; monotone.
 * Everything not finite gives bits >= 0x7f800000.
 */
static inline uint32_t quant_widen(enum quant_type t, uint32_t h)
{
	unsigned int lz;

	if (t == QUANT_BF16)
		return h << 16;
	if (h >= 0x7c00)
		return 0x7f800000 | (h & 0x3ff) << 13;
	if (h >= 0x400)
		return (h << 13) + ((127 - 15) << 23);
	if (!h)
		return 0;
	/* h * 2^-24: its leading bit, bit 31 - lz, weighs 2^(7 - lz). */
	lz = (unsigned int)__builtin_clz(h);
	return ((127 + 7 - lz) << 23) + ((h << (lz - 8)) & 0x7fffff);
}

#endif /* GAGG_QUANT_H */
