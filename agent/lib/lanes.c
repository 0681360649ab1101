// SPDX-License-Identifier: LGPL-2.1-only OR MIT
/*
 * Elements to lanes and back, for each kind of operation.
 *
 * A piece's padding is zeroed: other ranks must not read what an earlier operation left there.
 */
#include <math.h>
#include <string.h>
#include <linux/gagg_wire.h>

#include "carry.h"
#include "exponent.h"
#include "lane.h"
#include "narrow.h"
#include "quant.h"
#include "request.h"

_Static_assert(QUANT_ZERO == GAGG_C_ZERO && QUANT_NONFINITE == GAGG_C_NONFINITE,
	       "flags of chunks are the kernel's");

static void lane_pad(const struct piece *p, int32_t *lanes)
{
	memset(lanes + p->n, 0, (size_t)(p->wire - p->n) * 4);
}

/* reduce-scatter: the part belongs to another rank */
static bool lane_foreign(const struct gagg_request *r, const struct piece *p)
{
	return r->submit.kind == GAGG_K_REDUCE_SCATTER &&
	       p->part != (uint64_t)r->comm->rank;
}

/* is this rank's contribution in the result? */
static bool lane_counts(const struct gagg_request *r, const struct gagg_rdesc *d)
{
	return d->counted >> r->comm->region.geo.local & 1;
}

static inline void lane_note(struct gagg_request *r, const struct gagg_rdesc *d)
{
	struct gagg_result *res = &r->result;

	if (!res->contributors || d->contributors < res->contributors)
		res->contributors = d->contributors;
	if (d->flags & GAGG_C_OVERFLOW)
		res->overflow = 1;
	res->late += !lane_counts(r, d);
	if (d->flags & GAGG_C_NONFINITE &&
	    (res->nonfinite_rank < 0 || d->nonfinite < res->nonfinite_rank))
		res->nonfinite_rank = d->nonfinite;
}

/* reductions: destination of a piece's result, or NULL */
static inline void *lane_target(struct gagg_request *r, const struct piece *p,
				const struct gagg_rdesc *d)
{
	if (lane_foreign(r, p))
		return NULL;
	lane_note(r, d);
	return r->recv + piece_offset(r, p);
}

static unsigned int lane_headroom(const struct gagg_request *r)
{
	return headroom_bits((uint64_t)r->comm->size);
}

static unsigned int lane_wire_bits(const struct gagg_request *r)
{
	return 32 / comm_packed(r->comm);
}

/* bits of a lane of a sum, the sign but not the headroom included */
static unsigned int lane_sum_bits(const struct gagg_request *r)
{
	unsigned int bits = lane_wire_bits(r);

	return bits < 32 ? bits : 31 - lane_headroom(r);
}

/* lanes of elements whose exponent is known */
static void make_lanes(const struct gagg_request *r, const struct quant_elements *x,
		       uint8_t exp, void *lanes)
{
	unsigned int bits = lane_wire_bits(r);

	if (bits < 32)
		narrow_lanes(x, bits, exp, lanes);
	else
		quant_lanes(x, lane_headroom(r), exp, lanes);
}

static void lane_quantise(const struct gagg_request *r, const struct piece *p, uint8_t try,
			  int32_t *lanes, struct quant_head *h)
{
	const struct quant_elements x = { quant_type(r->dtype), p->n, piece_source(r, p) };

	quant_scan(&x, try, h);
	if (!h->flags)
		make_lanes(r, &x, h->exp, lanes);
}

/* by which a sum is divided */
static uint32_t lane_divisor(const struct gagg_request *r, const struct gagg_rdesc *d)
{
	return r->by ? (uint32_t)*r->by : r->mean ? d->contributors : 1;
}

/* what the result @d is worth; of narrow lanes @d has their shift where others have a rank */
static struct quant_sum lane_sum_of(const struct gagg_request *r, const struct gagg_rdesc *d)
{
	return (struct quant_sum){
		.divisor = lane_divisor(r, d),
		.bits = (uint8_t)lane_sum_bits(r),
		.exp = d->exp,
		.flags = d->flags & (GAGG_C_ZERO | GAGG_C_NONFINITE),
		.shift = (uint8_t)d->nonfinite,
	};
}

static void lane_dequantise(const struct gagg_request *r, const int32_t *lanes, unsigned int n,
			    const struct gagg_rdesc *d, void *dst)
{
	const struct quant_sum sum = lane_sum_of(r, d);

	if (lane_wire_bits(r) < 32)
		narrow_dequant(quant_type(r->dtype), lanes, n, &sum, dst);
	else
		dequant_chunk(quant_type(r->dtype), lanes, n, &sum, dst);
}

/* as lane_pad(), for lanes that share words */
static void lane_pad_packed(const struct gagg_request *r, const struct piece *p, int32_t *lanes)
{
	size_t bytes = 4 / comm_packed(r->comm), used = p->n * bytes;
	size_t all = (p->wire * bytes + 3) & ~(size_t)3;

	/* most chunks are full */
	if (used < all)
		memset((unsigned char *)lanes + used, 0, all - used);
}

/*
 * What is added to a piece's elements, or NULL. A plan's elements are those of all parts:
 * a reduce-scatter contributes to each.
 */
static float *lane_carry_of(const struct gagg_request *r, const struct piece *p)
{
	if (!r->plan || !r->plan->carry)
		return NULL;
	return r->plan->carry + p->part * (r->part_bytes / dtype_size(r->dtype)) + p->first;
}

/* number of elements in the block that begins at @i, of @n */
static inline unsigned int lane_block_of(unsigned int n, unsigned int i)
{
	return n - i < QUANT_BLOCK ? n - i : QUANT_BLOCK;
}

static void lane_block_floats(const struct gagg_request *r, const struct piece *p, unsigned int i,
			      float *x)
{
	const unsigned char *src = piece_source(r, p);
	enum quant_type t = quant_type(r->dtype);

	quant_floats(&(struct quant_elements){
		t, lane_block_of(p->n, i), src + (size_t)i * quant_size(t),
	}, x);
}

/* the elements of a block, and their carry; returns how many */
static unsigned int lane_block_sum(const struct gagg_request *r, const struct piece *p,
				   const float *carry, unsigned int i, float *sum)
{
	unsigned int n = lane_block_of(p->n, i);
	float x[QUANT_BLOCK];

	lane_block_floats(r, p, i, x);
	carry_add(x, carry + i, n, sum);
	return n;
}

/* the head of a chunk of blocks; returns its flags */
static uint8_t lane_scan_both(const struct gagg_request *r, const struct piece *p,
			      const float *carry, uint8_t try, struct quant_head *h)
{
	float sum[QUANT_BLOCK];
	struct quant_head part;
	unsigned int i, n;

	*h = (struct quant_head){ .flags = QUANT_ZERO };
	for (i = 0; i < p->n; i += n) {
		n = lane_block_sum(r, p, carry, i, sum);
		quant_scan(&(struct quant_elements){ QUANT_F32, n, sum }, try, &part);
		h->exp = part.exp > h->exp ? part.exp : h->exp;
		h->want = part.want > h->want ? part.want : h->want;
		/* one block makes a chunk not a number; only all blocks make it zero */
		h->flags = ((h->flags | part.flags) & QUANT_NONFINITE) |
			   (h->flags & part.flags & QUANT_ZERO);
	}
	/* a chunk without lanes raises no exponent */
	if (h->flags)
		h->exp = try ? try : QUANT_EXP_MIN;
	return h->flags;
}

static void lane_quant_both(const struct gagg_request *r, const struct piece *p, uint8_t try,
			    int32_t *lanes, struct quant_head *h)
{
	const float *carry = lane_carry_of(r, p);
	size_t bytes = 4 / comm_packed(r->comm);
	float sum[QUANT_BLOCK];
	unsigned int i, n;

	if (lane_scan_both(r, p, carry, try, h))
		return;
	for (i = 0; i < p->n; i += n) {
		n = lane_block_sum(r, p, carry, i, sum);
		make_lanes(r, &(struct quant_elements){ QUANT_F32, n, sum }, h->exp,
			   (unsigned char *)lanes + i * bytes);
	}
}

/* @n of the lanes that were sent, as they count at exponent @shift above theirs */
static void lanes_sent(const struct gagg_request *r, const void *lanes, unsigned int n,
		       unsigned int shift, int32_t *q)
{
	unsigned int k, bits = lane_wire_bits(r);

	if (bits < 32)
		narrow_widen(lanes, n, bits, 1, q);
	else
		memcpy(q, lanes, n * sizeof(*q));
	lane_swap_le32(q, n);
	for (k = 0; k < n && shift; k++)
		q[k] = quant_shift_rne(q[k], shift);
}

/*
 * What was left out by quantising here, by the home if another rank's exponent was larger, and by
 * rounding the sum of elements and carry to float32.
 */
static void lane_feed_back(struct gagg_request *r, uint64_t at, const struct piece *p,
			   const struct gagg_rdesc *d, float *carry)
{
	const struct region *g = &r->comm->region;
	uint32_t slot = region_slot(g, r->start + at);
	const struct gagg_cdesc *sent = &g->cdesc[slot];
	const unsigned char *lanes = region_contrib(g, slot);
	double unit = quant_unit(lane_sum_bits(r), d->exp);
	size_t bytes = lane_wire_bits(r) / 8;
	int32_t q[QUANT_BLOCK];
	float x[QUANT_BLOCK];
	unsigned int i, n;

	if (sent->flags & GAGG_C_NONFINITE)
		return;
	if (sent->flags & GAGG_C_ZERO) {
		memset(carry, 0, p->n * sizeof(*carry));
		return;
	}
	for (i = 0; i < p->n; i += n) {
		n = lane_block_of(p->n, i);
		lanes_sent(r, lanes + i * bytes, n, d->exp - sent->exp, q);
		lane_block_floats(r, p, i, x);
		carry_rest(x, q, unit, n, carry + i);
	}
}

/* the contribution to a chunk: elements, and the carry of a plan */
static void lane_quant_piece(const struct gagg_request *r, const struct piece *p, uint8_t try,
			     int32_t *lanes, struct quant_head *h)
{
	if (lane_carry_of(r, p))
		lane_quant_both(r, p, try, lanes, h);
	else
		lane_quantise(r, p, try, lanes, h);
}

/*
 * The result is there. What was sent is in it, except for what quantising has left out. If it came
 * late it is kept, in groups that carry. Values that are not numbers are not kept: then the carry
 * does not change.
 */
static void lane_settle(struct gagg_request *r, uint64_t at, const struct piece *p,
			const struct gagg_rdesc *d)
{
	float *carry = lane_carry_of(r, p), sum;
	enum quant_type t;
	const void *src;
	unsigned int i;

	if (!carry)
		return;
	if (lane_counts(r, d) && r->plan->feedback) {
		lane_feed_back(r, at, p, d, carry);
		return;
	}
	if (lane_counts(r, d)) {
		memset(carry, 0, p->n * sizeof(*carry));
		return;
	}
	t = quant_type(r->dtype);
	src = piece_source(r, p);
	for (i = 0; i < p->n && r->plan->late; i++) {
		sum = carry[i] + quant_load(t, src, i);
		if (isfinite(sum))
			carry[i] = sum;
	}
}

static void lane_sum_fill(const struct gagg_request *r, uint64_t i, int32_t *lanes,
			  struct gagg_cdesc *d)
{
	struct piece p = partition_piece(&r->cut, i);
	struct quant_head h;
	uint8_t try = r->plan ? r->plan->exp[i] : r->tries ? r->tries[i] : 0;

	lane_quant_piece(r, &p, try, lanes, &h);
	lane_pad_packed(r, &p, lanes);
	d->exp = h.exp;
	d->want = h.want;
	d->flags = h.flags | (lane_foreign(r, &p) ? GAGG_C_NORESULT : 0);
}

static void lane_sum_take(struct gagg_request *r, uint64_t i, const int32_t *lanes,
			  const struct gagg_rdesc *d)
{
	struct piece p = partition_piece(&r->cut, i);
	void *dst = lane_target(r, &p, d);

	if (r->plan)
		r->plan->exp[i] = exponent_next(d->exp, d->want);
	/* before the result takes the place of what was sent */
	lane_settle(r, i, &p, d);
	if (dst)
		lane_dequantise(r, lanes, p.n, d, dst);
}

/*
 * How many of up to @n chunks from @i on are alike: full, of the only part, of int32 lanes, and
 * without a carry. The last chunk of the operation may be short, and does not count.
 */
static uint32_t lane_alike(const struct gagg_request *r, uint64_t i, uint32_t n)
{
	uint64_t whole = r->cut.chunks - 1 - i;

	if (lane_wire_bits(r) < 32 || r->cut.per_part != r->cut.chunks ||
	    (r->plan && r->plan->carry))
		return 0;
	return n < whole ? n : (uint32_t)whole;
}

static uint32_t lane_sum_fill_run(const struct gagg_request *r, uint64_t i, uint32_t n,
				  unsigned char *lanes, struct gagg_cdesc *d)
{
	const uint8_t *tries = r->plan ? r->plan->exp : r->tries;
	enum quant_type t = quant_type(r->dtype);
	size_t bytes = (size_t)r->cut.lanes * quant_size(t);
	size_t stride = r->comm->region.geo.stride;
	const unsigned char *src = r->send + i * bytes;
	unsigned int headroom = lane_headroom(r);
	struct quant_head h;
	uint32_t k;

	n = lane_alike(r, i, n);
	for (k = 0; k < n; k++, src += bytes, lanes += stride) {
		quant_chunk(&(struct quant_elements){ t, r->cut.lanes, src }, headroom,
			    tries ? tries[i + k] : 0, (int32_t *)lanes, &h);
		d[k] = (struct gagg_cdesc){ .exp = h.exp, .want = h.want, .flags = h.flags };
	}
	return n;
}

static uint32_t lane_sum_take_run(struct gagg_request *r, uint64_t i, uint32_t n,
				  const unsigned char *lanes, const struct gagg_rdesc *d)
{
	enum quant_type t = quant_type(r->dtype);
	size_t bytes = (size_t)r->cut.lanes * quant_size(t);
	size_t stride = r->comm->region.geo.stride;
	unsigned char *dst = r->recv + i * bytes;
	struct quant_sum sum = { .bits = (uint8_t)(31 - lane_headroom(r)) };
	uint32_t k;

	n = lane_alike(r, i, n);
	for (k = 0; k < n; k++, d++, dst += bytes, lanes += stride) {
		if (r->plan)
			r->plan->exp[i + k] = exponent_next(d->exp, d->want);
		lane_note(r, d);
		sum.exp = d->exp;
		sum.flags = d->flags & (GAGG_C_ZERO | GAGG_C_NONFINITE);
		sum.divisor = lane_divisor(r, d);
		dequant_chunk(t, (const int32_t *)lanes, r->cut.lanes, &sum, dst);
	}
	return n;
}

const struct transfer transfer_sum = {
	.fill = lane_sum_fill,
	.take = lane_sum_take,
	.fill_run = lane_sum_fill_run,
	.take_run = lane_sum_take_run,
};

/*
 * Minimum and maximum have no neutral lane, so every rank contributes lanes, unless a NaN decides
 * the whole chunk.
 */
static void lane_order_fill(const struct gagg_request *r, uint64_t i, int32_t *lanes,
			    struct gagg_cdesc *d)
{
	struct piece p = partition_piece(&r->cut, i);

	d->flags = order_encode(quant_type(r->dtype), piece_source(r, &p), p.n, lanes);
	d->flags |= lane_foreign(r, &p) ? GAGG_C_NORESULT : 0;
	lane_pad(&p, lanes);
}

static void lane_order_take(struct gagg_request *r, uint64_t i, const int32_t *lanes,
			    const struct gagg_rdesc *d)
{
	struct piece p = partition_piece(&r->cut, i);
	void *dst = lane_target(r, &p, d);

	if (dst)
		order_decode(quant_type(r->dtype), lanes, p.n,
			     d->flags & GAGG_C_NONFINITE, dst);
}

const struct transfer transfer_order = { .fill = lane_order_fill, .take = lane_order_take };

static void lane_int_fill(const struct gagg_request *r, uint64_t i, int32_t *lanes,
			  struct gagg_cdesc *d)
{
	struct piece p = partition_piece(&r->cut, i);

	memcpy(lanes, piece_source(r, &p), (size_t)p.n * 4);
	d->want = int32_bits(lanes, p.n);
	lane_swap_le32(lanes, p.n);
	lane_pad(&p, lanes);
	/* zeros change a sum, but not a minimum */
	if (!d->want && r->submit.laneop == GAGG_LANEOP(GAGG_LANE_S32, GAGG_OP_ADD))
		d->flags = GAGG_C_ZERO;
	d->flags |= lane_foreign(r, &p) ? GAGG_C_NORESULT : 0;
}

static void lane_int_take(struct gagg_request *r, uint64_t i, const int32_t *lanes,
			  const struct gagg_rdesc *d)
{
	struct piece p = partition_piece(&r->cut, i);
	void *dst = lane_target(r, &p, d);

	if (!dst)
		return;
	if (d->flags & GAGG_C_ZERO) {
		memset(dst, 0, (size_t)p.n * 4);
		return;
	}
	memcpy(dst, lanes, (size_t)p.n * 4);
	lane_swap_le32(dst, p.n);
}

const struct transfer transfer_int = { .fill = lane_int_fill, .take = lane_int_take };

static void lane_wide_fill(const struct gagg_request *r, uint64_t i, int32_t *lanes,
			   struct gagg_cdesc *d)
{
	struct piece p = partition_piece(&r->cut, i);
	const unsigned char *src = piece_source(r, &p);
	int64_t v, any = 0;
	uint32_t k;

	for (k = 0; k < p.n / 2; k++) {
		memcpy(&v, src + k * sizeof(v), sizeof(v));
		lane_put(lanes, k, true, v);
		any |= v;
	}
	lane_pad(&p, lanes);
	d->flags = (any ? 0 : GAGG_C_ZERO) | (lane_foreign(r, &p) ? GAGG_C_NORESULT : 0);
}

static void lane_wide_take(struct gagg_request *r, uint64_t i, const int32_t *lanes,
			   const struct gagg_rdesc *d)
{
	struct piece p = partition_piece(&r->cut, i);
	unsigned char *dst = lane_target(r, &p, d);
	int64_t v;
	uint32_t k;

	for (k = 0; dst && k < p.n / 2; k++) {
		v = d->flags & GAGG_C_ZERO ? 0 : lane_get(lanes, k, true);
		memcpy(dst + k * sizeof(v), &v, sizeof(v));
	}
}

const struct transfer transfer_wide = { .fill = lane_wide_fill, .take = lane_wide_take };

/* bytes of a piece: the last lane of a part may be partly used */
static size_t lane_piece_bytes(const struct gagg_request *r, const struct piece *p)
{
	uint64_t left = r->part_bytes - p->first * 4;

	return left < (uint64_t)p->n * 4 ? (size_t)left : (size_t)p->n * 4;
}

static void lane_put_bytes(const struct gagg_request *r, const struct piece *p,
			   const unsigned char *src, int32_t *lanes)
{
	size_t n = lane_piece_bytes(r, p);

	memcpy(lanes, src, n);
	memset((unsigned char *)lanes + n, 0, (size_t)p->wire * 4 - n);
}

static bool lane_owned(const struct gagg_request *r, const struct piece *p)
{
	return r->comm->rank == (r->owner >= 0 ? r->owner : (int)p->part);
}

/* An owner has one part only, so @send begins with the piece's part. */
static void lane_copy_fill(const struct gagg_request *r, uint64_t i, int32_t *lanes,
			   struct gagg_cdesc *d)
{
	struct piece p = partition_piece(&r->cut, i);

	if (!lane_owned(r, &p)) {
		d->flags = GAGG_C_ZERO;
		return;
	}
	lane_put_bytes(r, &p, r->send + p.first * 4, lanes);
	d->flags = GAGG_C_NORESULT;
}

static void lane_copy_take(struct gagg_request *r, uint64_t i, const int32_t *lanes,
			   const struct gagg_rdesc *d)
{
	struct piece p = partition_piece(&r->cut, i);

	lane_note(r, d);
	if (!lane_owned(r, &p))
		memcpy(r->recv + p.part * r->part_bytes + p.first * 4, lanes,
		       lane_piece_bytes(r, &p));
}

const struct transfer transfer_copy = { .fill = lane_copy_fill, .take = lane_copy_take };

static void lane_bytes_fill(const struct gagg_request *r, uint64_t i, int32_t *lanes,
			    struct gagg_cdesc *d)
{
	struct piece p = partition_piece(&r->cut, i);

	(void)d;
	lane_put_bytes(r, &p, r->send + p.first * 4, lanes);
}

static void lane_bytes_take(struct gagg_request *r, uint64_t i, const int32_t *lanes,
			    const struct gagg_rdesc *d)
{
	struct piece p = partition_piece(&r->cut, i);

	(void)d;
	memcpy(r->recv + p.first * 4, lanes, lane_piece_bytes(r, &p));
}

const struct transfer transfer_bytes = { .fill = lane_bytes_fill, .take = lane_bytes_take };

static void lane_none_fill(const struct gagg_request *r, uint64_t i, int32_t *lanes,
			   struct gagg_cdesc *d)
{
	(void)r;
	(void)i;
	(void)lanes;
	d->flags = GAGG_C_ZERO | GAGG_C_NORESULT;
}

static void lane_none_take(struct gagg_request *r, uint64_t i, const int32_t *lanes,
			   const struct gagg_rdesc *d)
{
	(void)i;
	(void)lanes;
	lane_note(r, d);
}

const struct transfer transfer_none = { .fill = lane_none_fill, .take = lane_none_take };
