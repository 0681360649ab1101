// SPDX-License-Identifier: LGPL-2.1-only OR MIT
/*
 * Narrow lanes, by way of blocks of int32 lanes.
 */
#include <endian.h>
#include <string.h>

#include "narrow.h"
#include "vector.h"

/* Lanes of 31 - headroom bits are the lanes of int32 with that headroom. */
static unsigned int narrow_headroom_for(unsigned int bits)
{
	return 31 - bits;
}

static __always_inline int32_t narrow_clamp(int32_t q, int32_t most)
{
	return q > most ? most : q < -most ? -most : q;
}

static __always_inline void narrow_narrow16(const int32_t *restrict q, unsigned int n,
					    unsigned char *restrict lanes)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		int32_t v = (int32_t)le32toh((uint32_t)q[i]);
		uint16_t half = htole16((uint16_t)narrow_clamp(v, INT16_MAX));

		memcpy(lanes + 2 * (size_t)i, &half, sizeof(half));
	}
}

static __always_inline void narrow_narrow8(const int32_t *restrict q, unsigned int n,
					   unsigned char *restrict lanes)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		lanes[i] = (uint8_t)narrow_clamp((int32_t)le32toh((uint32_t)q[i]), INT8_MAX);
}

static __always_inline void narrow_widen16(const unsigned char *restrict lanes, unsigned int n,
					   int32_t unit, int32_t *restrict q)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		uint16_t half;

		memcpy(&half, lanes + 2 * (size_t)i, sizeof(half));
		q[i] = (int32_t)htole32((uint32_t)((int16_t)le16toh(half) * unit));
	}
}

static __always_inline void narrow_widen8(const unsigned char *restrict lanes, unsigned int n,
					  int32_t unit, int32_t *restrict q)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		q[i] = (int32_t)htole32((uint32_t)((int8_t)lanes[i] * unit));
}

/* @n lanes of int32 to lanes of @bits bits */
static __always_inline void narrow(const int32_t *q, unsigned int n, unsigned int bits,
				   unsigned char *lanes)
{
	if (bits == 16)
		narrow_narrow16(q, n, lanes);
	else
		narrow_narrow8(q, n, lanes);
}

static LOOP_AVX2 void narrow_avx2(const int32_t *q, unsigned int n, unsigned int bits,
				  unsigned char *lanes)
{
	narrow(q, n, bits, lanes);
}

static void narrow_scalar(const int32_t *q, unsigned int n, unsigned int bits,
			  unsigned char *lanes)
{
	narrow(q, n, bits, lanes);
}

static __always_inline void narrow_widen_all(const unsigned char *lanes, unsigned int n,
					     unsigned int bits, int32_t unit, int32_t *q)
{
	if (bits == 16)
		narrow_widen16(lanes, n, unit, q);
	else
		narrow_widen8(lanes, n, unit, q);
}

static LOOP_AVX2 void narrow_widen_avx2(const unsigned char *lanes, unsigned int n,
					unsigned int bits, int32_t unit, int32_t *q)
{
	narrow_widen_all(lanes, n, bits, unit, q);
}

static void narrow_widen_scalar(const unsigned char *lanes, unsigned int n, unsigned int bits,
				int32_t unit, int32_t *q)
{
	narrow_widen_all(lanes, n, bits, unit, q);
}

void narrow_lanes(const struct quant_elements *x, unsigned int bits, uint8_t exp, void *lanes)
{
	const size_t size = quant_size(x->t);
	const unsigned char *from = x->src;
	unsigned char *to = lanes;
	int32_t q[QUANT_BLOCK];
	unsigned int i, m;

	for (i = 0; i < x->n; i += m) {
		m = x->n - i < QUANT_BLOCK ? x->n - i : QUANT_BLOCK;
		quant_lanes(&(struct quant_elements){ x->t, m, from + i * size },
			    narrow_headroom_for(bits), exp, q);
		if (quant_form() != QUANT_SCALAR)
			narrow_avx2(q, m, bits, to + (size_t)i * (bits / 8));
		else
			narrow_scalar(q, m, bits, to + (size_t)i * (bits / 8));
	}
}

void narrow_widen(const void *lanes, unsigned int n, unsigned int bits, int32_t unit,
		  int32_t *q)
{
	if (quant_form() != QUANT_SCALAR)
		narrow_widen_avx2(lanes, n, bits, unit, q);
	else
		narrow_widen_scalar(lanes, n, bits, unit, q);
}

void narrow_dequant(enum quant_type t, const void *lanes, unsigned int n,
		    const struct quant_sum *sum, void *dst)
{
	const unsigned int bits = sum->bits;
	const unsigned char *from = lanes;
	unsigned char *to = dst;
	int32_t q[QUANT_BLOCK];
	unsigned int i, m;

	for (i = 0; i < n; i += m) {
		m = n - i < QUANT_BLOCK ? n - i : QUANT_BLOCK;
		if (!sum->flags)
			narrow_widen(from + (size_t)i * (bits / 8), m, bits,
				     1 << (sum->shift & 15), q);
		dequant_chunk(t, q, m, sum, to + (size_t)i * quant_size(t));
	}
}
