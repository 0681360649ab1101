// SPDX-License-Identifier: LGPL-2.1-only OR MIT
/*
 * Exponents of a call without a plan: an all-reduce by maximum of what every
 * chunk needs, one byte each.
 */
#include <stdlib.h>
#include <string.h>

#include "op.h"
#include "quant.h"

/* Largest magnitude of float32 elements, as bits. */
static uint32_t absmax32(const unsigned char *src, uint32_t n)
{
	uint32_t i, b, max = 0;

	for (i = 0; i < n; i++) {
		memcpy(&b, src + 4 * (size_t)i, 4);
		b &= 0x7fffffff;
		max = b > max ? b : max;
	}
	return max;
}

/* The same of 16-bit elements, whose bits order alike. */
static uint16_t absmax16(const unsigned char *src, uint32_t n)
{
	uint16_t b, max = 0;
	uint32_t i;

	for (i = 0; i < n; i++) {
		memcpy(&b, src + 2 * (size_t)i, 2);
		b &= 0x7fff;
		max = b > max ? b : max;
	}
	return max;
}

/*
 * quant_head.want of a chunk: see quant_chunk(). A chunk with NaN or infinity
 * says 0, as its result is NaN with any exponent.
 */
static uint8_t want(enum gagg_dtype t, const unsigned char *src, uint32_t n)
{
	uint32_t bits;

	if (t == GAGG_FLOAT32)
		bits = absmax32(src, n);
	else
		bits = quant_widen(t == GAGG_FLOAT16 ? QUANT_F16 : QUANT_BF16, absmax16(src, n));
	return bits && bits < 0x7f800000 ? (uint8_t)((bits >> 23) + 1) : 0;
}

static uint8_t *scratch(struct gagg_comm *c, uint64_t bytes)
{
	uint8_t *p;

	if (bytes <= c->scratch_size)
		return c->scratch;
	p = realloc(c->scratch, bytes);
	if (!p)
		return NULL;
	c->scratch = p;
	c->scratch_size = bytes;
	return p;
}

int op_agree(struct gagg_request *sum)
{
	struct gagg_comm *c = sum->comm;
	uint64_t i, chunks = sum->cut.chunks;
	uint8_t *exp = scratch(c, chunks);
	struct gagg_request *r;
	int err;

	if (!exp)
		return comm_error(c, GAGG_ERR_NOMEM, "no memory for the exponents of %llu chunks",
				  (unsigned long long)chunks);
	for (i = 0; i < chunks; i++) {
		struct piece p = partition_piece(&sum->cut, i);

		exp[i] = want(sum->dtype, sum->send + p.part * sum->part_bytes +
			      p.first * dtype_size(sum->dtype), p.n);
	}
	r = op_new(c, GAGG_K_EXPONENTS, &transfer_bytes,
		   GAGG_LANEOP(GAGG_LANE_U8, GAGG_OP_MAX), &err);
	if (!r)
		return err;
	/* the collective that it announces, so that a difference shows here */
	r->submit.dtype = sum->submit.dtype;
	r->submit.count = sum->submit.count;
	r->submit.root = (uint32_t)sum->submit.kind << 8 | sum->submit.root;
	r->send = exp;
	r->recv = exp;
	r->part_bytes = chunks;
	err = op_cut(r, 1, (chunks + 3) / 4);
	if (err) {
		free(r);
		return err;
	}
	err = op_run(r);
	sum->tries = exp;
	return err;
}
