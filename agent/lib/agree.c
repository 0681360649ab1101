// SPDX-License-Identifier: LGPL-2.1-only OR MIT
/*
 * Exponents of a call without a plan: an all-reduce by maximum of the exponents that chunks need,
 * one byte each.
 */
#include <stdlib.h>

#include "op.h"
#include "quant.h"

/*
 * quant_head.want of a piece: see quant_chunk(). For a piece with NaN or infinity it is 0, as its
 * result is NaN with any exponent.
 */
static uint8_t agree_want(const struct gagg_request *r, const struct piece *p)
{
	struct quant_head head;

	quant_scan(&(struct quant_elements){ quant_type(r->dtype), p->n, piece_source(r, p) }, 0,
		   &head);
	return head.flags ? 0 : head.want;
}

static uint8_t *agree_scratch(struct gagg_comm *c, uint64_t bytes)
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
	uint8_t *exp = agree_scratch(c, chunks);
	struct gagg_request *r;
	int err;

	if (!exp)
		return comm_error(c, GAGG_ERR_NOMEM, "no memory for the exponents of %llu chunks",
				  (unsigned long long)chunks);
	for (i = 0; i < chunks; i++) {
		struct piece p = partition_piece(&sum->cut, i);

		exp[i] = agree_want(sum, &p);
	}
	r = op_new(c, GAGG_K_EXPONENTS, &transfer_bytes,
		   GAGG_LANEOP(GAGG_LANE_U8, GAGG_OP_MAX), &err);
	if (!r)
		return err;
	/* as the collective that follows, so that different calls show here */
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
