// SPDX-License-Identifier: GPL-2.0
/* links: agent/lib/agree.c agent/lib/broker.c agent/lib/message.c agent/lib/carry.c agent/lib/comm.c agent/lib/known.c agent/lib/call.c agent/lib/error.c agent/lib/given_up.c agent/lib/lanes.c agent/lib/late.c agent/lib/narrow.c agent/lib/op.c agent/lib/plan.c agent/lib/process.c agent/lib/progress.c agent/lib/quant.c agent/lib/quant_avx2.c agent/lib/quant_form.c agent/lib/region.c agent/lib/session.c agent/lib/split.c agent/lib/store.c agent/lib/store_get.c agent/lib/wait.c sync kmod/core/wire.c; libs: -pthread -lm */
/*
 * Wire formats int16 and int8: lanes against their definition in double, sums within
 * their bound, and the residual: what was sent plus what is left is what was to be sent.
 */
#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "fake_ranks.h"
#include "narrow.h"
#include "request.h"

static uint64_t rng = 1;

static uint64_t draw(void)
{
	rng = rng * 6364136223846793005ULL + 1442695040888963407ULL;
	return rng >> 20;
}

/* --- lanes -------------------------------------------------------------------- */

#define ELEMENTS	(2 * QUANT_BLOCK + 100)

static void put_element(enum quant_type t, void *dst, size_t i, float x)
{
	_Float16 h = (_Float16)x;
	uint32_t b;

	if (t == QUANT_F32) {
		memcpy((char *)dst + 4 * i, &x, 4);
	} else if (t == QUANT_F16) {
		memcpy((char *)dst + 2 * i, &h, 2);
	} else {
		memcpy(&b, &x, 4);
		b >>= 16;
		memcpy((char *)dst + 2 * i, &b, 2);
	}
}

/* rint() goes to even, and all before it is exact */
static int lane_of(double x, unsigned int bits, int e)
{
	double most = ldexp(1, (int)bits - 1) - 1, q = rint(ldexp(x, (int)bits - 1 - e));

	return (int)fmax(-most, fmin(most, q));
}

static int lane_at(const void *lanes, unsigned int bits, unsigned int i)
{
	int16_t half;

	if (bits == 32)
		return ((const int32_t *)lanes)[i];
	if (bits == 8)
		return ((const int8_t *)lanes)[i];
	memcpy(&half, (const char *)lanes + 2 * i, 2);
	return half;
}

/* every form in turn */
static void choose_form(unsigned int k)
{
	quant_form_found = quant_avx2_usable() ? QUANT_SCALAR + k % 3 : QUANT_SCALAR;
}

static void narrow_quant(const struct quant_elements *x, unsigned int bits, uint8_t try,
			 void *lanes, struct quant_head *h)
{
	quant_scan(x, try, h);
	if (!h->flags)
		narrow_lanes(x, bits, h->exp, lanes);
}

static void check_lanes(enum quant_type t, unsigned int bits, unsigned int n, int scale,
			uint8_t try)
{
	unsigned char src[4 * ELEMENTS + 1], lanes[2 * ELEMENTS + 1], out[4 * ELEMENTS];
	int want = 0, e, top;
	struct quant_head h;
	unsigned int i;

	for (i = 0; i < n; i++) {
		float x = ldexpf((float)((int)(draw() % (1 << 25)) - (1 << 24)), scale - 24);

		/* at the edges, too: of a block's range, and ties */
		if (draw() % 8 == 0)
			x = ldexpf(1 - ldexpf(1, -(int)(draw() % 20)), scale);
		if (draw() % 8 == 0)
			x = ldexpf((float)(int)(draw() % 512) + .5f, scale - 15);
		/* a chunk has one exponent, whatever its blocks need */
		x = ldexpf(x, i / QUANT_BLOCK == 1 ? -5 : 0);
		put_element(t, src + 1, i, x);
		x = quant_load(t, src + 1, i);
		if (x != 0) {
			frexp(x, &e);
			e = e < -126 ? -126 : e;
			want = e + QUANT_BIAS > want ? e + QUANT_BIAS : want;
		}
	}
	memset(lanes, 0x5a, sizeof(lanes));
	narrow_quant(&(struct quant_elements){ t, n, src + 1 }, bits, try, lanes, &h);
	assert_int_equal(h.want, want);
	assert_int_equal(h.flags, want ? 0 : QUANT_ZERO);
	assert_int_equal(lanes[n * bits / 8], 0x5a);
	if (h.flags)
		return;
	assert_int_equal(h.exp, try > want ? try : want);
	top = h.exp - QUANT_BIAS;
	for (i = 0; i < n; i++)
		assert_int_equal(lane_at(lanes, bits, i),
				 lane_of(quant_load(t, src + 1, i), bits, top));
	assert_true(quant_unit(bits, h.exp) == ldexp(1, top - (int)bits + 1));
	for (e = 0; e < 7; e++) {
		narrow_dequant(QUANT_F32, lanes, n, &(struct quant_sum){
			.divisor = 3, .bits = (uint8_t)bits, .exp = h.exp, .shift = (uint8_t)e,
		}, out);
		for (i = 0; i < n; i++)
			assert_true(quant_load(QUANT_F32, out, i) ==
				    (float)(ldexp(lane_at(lanes, bits, i),
						  e + top - (int)bits + 1) / 3));
	}
}

static void lanes__are_what_they_are_defined_to_be(void **state)
{
	static const int scales[] = { 0, 1, -14, 3, 15, -100, -126, -140, 127 };
	unsigned int k, n;

	(void)state;
	for (k = 0; k < 6000; k++) {
		enum quant_type t = k % 3;
		int scale = scales[k % 9];

		if (t == QUANT_F16 && (scale > 15 || scale < -20))
			scale = 0;
		n = 1 + (unsigned int)(draw() % (k % 32 ? 100 : ELEMENTS - 1));
		choose_form(k / 18);
		check_lanes(t, k % 2 ? 8 : 16, n, scale, k % 4 ? 0 : (uint8_t)(scale + 130));
	}
}

static void lanes__of_nothing_and_of_no_number(void **state)
{
	float x[4] = { 1, NAN, 2, 3 }, zero[4] = { 0, -0.f, 0, 0 }, out[4];
	unsigned char lanes[8];
	struct quant_head h;

	(void)state;
	narrow_quant(&(struct quant_elements){ QUANT_F32, 4, x }, 8, 7, lanes, &h);
	assert_int_equal(h.flags, QUANT_NONFINITE);
	assert_int_equal(h.exp, 7);
	narrow_quant(&(struct quant_elements){ QUANT_F32, 4, zero }, 16, 0, lanes, &h);
	assert_int_equal(h.flags, QUANT_ZERO);
	assert_int_equal(h.want, 0);
	narrow_dequant(QUANT_F32, NULL, 4, &(struct quant_sum){
		.divisor = 1, .bits = 16, .exp = 7, .flags = QUANT_NONFINITE,
	}, out);
	assert_true(isnan(out[0]) && isnan(out[3]));
	narrow_dequant(QUANT_F32, NULL, 4, &(struct quant_sum){
		.divisor = 1, .bits = 8, .exp = 7, .flags = QUANT_ZERO,
	}, out);
	assert_true(out[0] == 0 && out[3] == 0);
}

/* --- sums --------------------------------------------------------------------- */

static unsigned int bits_of_wire(void)
{
	return 32 >> fake.wire;
}

/* Documentation/numerics.md: of ranks that agree or not, the bound on a sum */
static double bound(double absmax)
{
	return 1.5 * ldexp(absmax, 2 + 2 - (int)bits_of_wire());
}

static void sums_of(struct gagg_comm *c, int rank, size_t n, bool planned)
{
	static float x[N][MAXLEN];
	float y[MAXLEN + 1] = { 0 };
	struct gagg_plan *plan = NULL;
	int step;

	CHECK(gagg_wire(c) == (int)bits_of_wire());
	if (planned)
		CHECK(!gagg_plan_create(c, n, GAGG_FLOAT32, &plan));
	for (step = 0; step < 4; step++) {
		double absmax = 0;

		for (size_t i = 0; i < n; i++)
			x[rank][i] = value(rank, i, 0);
		y[n] = 77;
		pthread_barrier_wait(&all);
		for (int r = 0; r < N; r++)
			for (size_t i = 0; i < n; i++)
				absmax = fmax(absmax, fabsf(x[r][i]));
		CHECK(!gagg_allreduce(x[rank], y, n, GAGG_FLOAT32,
				      step % 2 ? GAGG_MEAN : GAGG_SUM, c, plan));
		for (size_t i = 0; i < n; i++) {
			double sum = 0;

			for (int r = 0; r < N; r++)
				sum += x[r][i];
			if (step % 2)
				sum /= N;
			CHECK(fabs(y[i] - sum) <= bound(absmax) * (step % 2 ? 1. / N : 1));
		}
		CHECK(y[n] == 77);
		pthread_barrier_wait(&all);
	}
	gagg_plan_free(plan);
}

static void sums_body(struct gagg_comm *c, int rank)
{
	static const size_t counts[] = { 1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 65, 500, 3000 };
	int32_t k[20];

	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		sums_of(c, rank, counts[i], false);
		sums_of(c, rank, counts[i], true);
	}
	/* all else keeps its 32 bits */
	for (int i = 0; i < 20; i++)
		k[i] = rank * 100000000 - i;
	CHECK(!gagg_allreduce(k, k, 20, GAGG_INT32, GAGG_SUM, c, NULL));
	for (int i = 0; i < 20; i++)
		CHECK(k[i] == 600000000 - N * i);
	float most[20];

	for (int i = 0; i < 20; i++)
		most[i] = 1 + ldexpf((float)(rank + i), -20);
	CHECK(!gagg_allreduce(most, most, 20, GAGG_FLOAT32, GAGG_MAX, c, NULL));
	for (int i = 0; i < 20; i++)
		CHECK(most[i] == 1 + ldexpf((float)(N - 1 + i), -20));
}

static void sums__within_their_bound(void **state)
{
	(void)state;
	for (fake.wire = 1; fake.wire <= 2; fake.wire++)
		run(64, 16, sums_body);
	fake.wire = 0;
}

static void scatter_body(struct gagg_comm *c, int rank)
{
	float x[N * 37], y[37];

	for (int i = 0; i < N * 37; i++)
		x[i] = value(rank, (size_t)i, 0);
	CHECK(!gagg_reduce_scatter(x, y, 37, GAGG_FLOAT32, GAGG_SUM, c, NULL));
	for (int i = 0; i < 37; i++) {
		double sum = 0;

		for (int r = 0; r < N; r++)
			sum += value(r, (size_t)(rank * 37 + i), 0);
		CHECK(fabs(y[i] - sum) <= bound(100 * 16 * 8));
	}
}

static void sums__in_parts(void **state)
{
	(void)state;
	for (fake.wire = 1; fake.wire <= 2; fake.wire++)
		run(64, 16, scatter_body);
	fake.wire = 0;
}

/* --- the residual --------------------------------------------------------------- */

#define PART	21
#define COUNT	(N * PART)
#define STEPS	60

/* of an operation with a residual */
static struct {
	enum gagg_dtype dtype;
	bool scatter;		/* in parts of PART elements */
	bool in_place;
	bool keeps_late;
} how;

static enum quant_type how_type(void)
{
	return how.dtype == GAGG_FLOAT32 ? QUANT_F32 :
	       how.dtype == GAGG_FLOAT16 ? QUANT_F16 : QUANT_BF16;
}

/*
 * Most of them small beside the largest, which moves: exponents rise and fall, on one rank
 * or on all. Sums of all steps are exact in double, those of two in float32. Lanes of
 * 32 and 16 bits hold all but fractions.
 */
static float gradient(int r, int step, int i)
{
	static const int shift[] = { -20, -6, 0 };
	int k = (r * 131 + step * 17 + i * 29) % 61 - 30;

	if (i % 16 == 3)
		return (float)(k * (step % 20 <= 14 ? 1 : r == step % N ? 1000 : 40));
	return ldexpf(i % 7 == 6 ? 1 : (float)k, shift[fake.wire]);
}

/* as an element of the type */
static float element(int r, int step, int i)
{
	unsigned char e[4];

	put_element(how_type(), e, 0, gradient(r, step, i));
	return quant_load(how_type(), e, 0);
}

static double sent[N * 4 * FAKE_LANES];
static bool (*is_late)(unsigned int r, uint64_t v);

/* the lane of element @i: each part begins a chunk */
static int lane(int i)
{
	int lanes = FAKE_LANES << fake.wire;

	return how.scatter ? i / PART * ((PART - 1) / lanes + 1) * lanes + i % PART : i;
}

static bool dropped(int r, int step, int i)
{
	uint64_t chunks = (COUNT - 1) / (FAKE_LANES << fake.wire) + 1;

	return is_late && is_late((unsigned int)r, (uint64_t)step * chunks +
				  (uint64_t)i / (FAKE_LANES << fake.wire));
}

static void reduce_step(struct gagg_comm *c, int rank, int step, struct gagg_plan *plan)
{
	unsigned char x[4 * COUNT], y[4 * COUNT];
	void *to = how.in_place ? x : y;

	for (int i = 0; i < COUNT; i++)
		put_element(how_type(), x, (size_t)i, gradient(rank, step, i));
	if (how.scatter)
		CHECK(!gagg_reduce_scatter(x, to, PART, how.dtype, GAGG_SUM, c, plan));
	else
		CHECK(!gagg_allreduce(x, to, COUNT, how.dtype, GAGG_SUM, c, plan));
}

/* the largest of what is left, to see that it is something */
static float most_left;

static void feedback_body(struct gagg_comm *c, int rank)
{
	static float residual[N][COUNT];
	double want[COUNT] = { 0 };	/* what there was to send up to this step */
	struct gagg_plan *plan;
	int i, step, r;

	memset(residual[rank], 0, sizeof(residual[rank]));
	CHECK(!gagg_plan_create(c, COUNT, how.dtype, &plan));
	CHECK(gagg_plan_feedback(c, plan, NULL) == GAGG_ERR_INVALID);
	CHECK(gagg_plan_feedback(c, NULL, residual[rank]) == GAGG_ERR_INVALID);
	CHECK(!gagg_plan_feedback(c, plan, residual[rank]));
	for (step = 0; step < STEPS; step++) {
		pthread_barrier_wait(&all);
		reduce_step(c, rank, step, plan);
		pthread_barrier_wait(&all);
		if (rank)
			continue;
		for (i = 0; i < COUNT; i++) {
			double left = 0;

			for (r = 0; r < N; r++) {
				left += residual[r][i];
				most_left = fmaxf(most_left, fabsf(residual[r][i]));
				want[i] += how.keeps_late || !dropped(r, step, i) ?
					   element(r, step, i) : 0;
			}
			/* not a bit is lost */
			CHECK(sent[lane(i)] + left == want[i]);
		}
	}
	/* a step's error is less than a lane; what is late is more */
	for (i = 0; i < COUNT && !is_late; i++)
		CHECK(fabsf(residual[rank][i]) <= quant_unit(fake.wire ? bits_of_wire() : 29,
							     QUANT_BIAS + 16));
	gagg_plan_free(plan);
}

static void run_feedback(void (*body)(struct gagg_comm *c, int rank))
{
	memset(sent, 0, sizeof(sent));
	most_left = 0;
	fake.sent = sent;
	run(64, 16, body);
	fake.sent = NULL;
}

static void feedback__what_was_sent_and_what_is_left(void **state)
{
	(void)state;
	how.keeps_late = true;
	for (unsigned int k = 0; k < 3 * 3 * 4; k++) {
		fake.wire = k % 3;
		how.dtype = (const enum gagg_dtype[]){ GAGG_FLOAT32, GAGG_FLOAT16,
						       GAGG_BFLOAT16 }[k / 3 % 3];
		how.scatter = k / 9 & 1;
		how.in_place = k / 9 & 2;
		run_feedback(feedback_body);
		assert_true(most_left > 0);
	}
	fake.wire = 0;
	memset(&how, 0, sizeof(how));
}

static bool sometimes(unsigned int r, uint64_t v)
{
	return r && (v * 7 + r * 5) % 11 == 0;
}

static void feedback__of_what_came_too_late(void **state)
{
	(void)state;
	fake.late = sometimes;
	is_late = sometimes;
	how.dtype = GAGG_FLOAT32;
	for (fake.wire = 0; fake.wire <= 2; fake.wire++) {
		fake.sync = "bsp-quorum:1:1";
		how.keeps_late = true;
		how.in_place = false;
		run_feedback(feedback_body);
		fake.sync = "bsp-quorum:1:0";
		how.keeps_late = false;
		how.in_place = true;
		run_feedback(feedback_body);
	}
	fake.wire = 0;
	fake.late = NULL;
	is_late = NULL;
	fake.sync = "bsp";
	memset(&how, 0, sizeof(how));
}

static bool all_but_one(unsigned int r, uint64_t v)
{
	return r && v < 2;
}

/* what a plan has kept before it is told to give feedback */
static void kept_body(struct gagg_comm *c, int rank)
{
	float x[16], y[16], residual[16], other[16] = { 0 };
	struct gagg_plan *plan;
	int i;

	for (i = 0; i < 16; i++) {
		x[i] = 3;
		residual[i] = (float)i;
	}
	CHECK(!gagg_plan_create(c, 16, GAGG_FLOAT32, &plan));
	for (i = 0; i < 2; i++)
		CHECK(!gagg_allreduce(x, y, 16, GAGG_FLOAT32, GAGG_SUM, c, plan));
	CHECK(!gagg_plan_feedback(c, plan, residual));
	for (i = 0; i < 16; i++)
		CHECK(residual[i] == (float)(i + (rank ? 6 : 0)));
	/* and once only */
	CHECK(!gagg_plan_feedback(c, plan, other));
	CHECK(other[5] == 0);
	gagg_plan_free(plan);
}

static void feedback__takes_what_was_kept(void **state)
{
	(void)state;
	fake.late = all_but_one;
	fake.sync = "bsp-quorum:1:1";
	fake.wire = 1;
	run(64, 16, kept_body);
	fake.wire = 0;
	fake.late = NULL;
	fake.sync = "bsp";
}

/* sums that float32 has not the digits for: the bound of gagg_plan_feedback() */
static void rounded_body(struct gagg_comm *c, int rank)
{
	static float residual[N][16];
	static double before[16];
	struct gagg_plan *plan;
	int i, r, step;
	float x[N][16], y[16];

	memset(residual[rank], 0, sizeof(residual[rank]));
	if (!rank)
		memset(before, 0, sizeof(before));
	CHECK(!gagg_plan_create(c, 16, GAGG_FLOAT32, &plan));
	CHECK(!gagg_plan_feedback(c, plan, residual[rank]));
	for (step = 0; step < STEPS; step++) {
		for (r = 0; r < N; r++)
			for (i = 0; i < 16; i++)
				x[r][i] = (float)((r * 131 + step * 17 + i * 29) % 61 - 30) / 30.1f;
		pthread_barrier_wait(&all);
		CHECK(!gagg_allreduce(x[rank], y, 16, GAGG_FLOAT32, GAGG_SUM, c, plan));
		pthread_barrier_wait(&all);
		for (i = 0; i < 16 && !rank; i++) {
			/* up to this step: sent, left, and not to be sent */
			double lost = sent[i];

			for (r = 0; r < N; r++)
				lost += residual[r][i];
			for (r = 0; r < N; r++)
				before[i] += x[r][i];
			lost -= before[i];
			CHECK(fabs(lost) <= ldexp(N * quant_unit(bits_of_wire(), QUANT_BIAS + 1),
						  -23));
			/* from here on that is no error of the next one */
			before[i] += lost;
		}
	}
	gagg_plan_free(plan);
}

static void feedback__loses_no_more_than_it_says(void **state)
{
	(void)state;
	for (fake.wire = 1; fake.wire <= 2; fake.wire++)
		run_feedback(rounded_body);
	fake.wire = 0;
}

#define LONG	600	/* lanes of a chunk: more elements than are worked on at once */

/* a chunk's blocks are one chunk: against the same with the sum made before */
static void check_blocks(struct gagg_comm *c, struct gagg_plan *plan, const float *x)
{
	struct gagg_request r = {
		.comm = c, .how = &transfer_sum, .dtype = GAGG_FLOAT32, .plan = plan,
		.send = (const unsigned char *)x, .owner = -1,
		.part_bytes = plan->count * sizeof(*x),
	};
	static int32_t lanes[LONG], ref[LONG];
	static float sum[4 * LONG];
	unsigned int n = (unsigned int)plan->count, i;
	const struct quant_elements all = { QUANT_F32, n, sum };
	struct gagg_cdesc d = { 0 };
	size_t used = ((size_t)n * bits_of_wire() / 8 + 3) & ~(size_t)3;
	struct quant_head h;

	for (i = 0; i < n; i++)
		sum[i] = x[i] + plan->carry[i];
	assert_true(partition_init(&r.cut, 1, n, comm_float_lanes(c)));
	assert_int_equal(r.cut.chunks, 1);
	memset(lanes, 0x5a, sizeof(lanes));
	memset(ref, 0, sizeof(ref));
	r.how->fill(&r, 0, lanes, &d);
	if (fake.wire)
		narrow_quant(&all, bits_of_wire(), plan->exp[0], ref, &h);
	else
		quant_chunk(&all, headroom_bits(N), plan->exp[0], ref, &h);
	assert_int_equal(d.exp, h.exp);
	assert_int_equal(d.want, h.want);
	assert_int_equal(d.flags, h.flags);
	if (!h.flags)
		assert_memory_equal(lanes, ref, used);
}

/* and what is left of them, by its definition, when the result's exponent is @shift larger */
static void check_rest(struct gagg_comm *c, struct gagg_plan *plan, const float *x,
		       unsigned int shift)
{
	static float y[4 * LONG], was[4 * LONG];
	static int32_t lanes[LONG];
	struct gagg_request r = {
		.comm = c, .how = &transfer_sum, .dtype = GAGG_FLOAT32, .plan = plan,
		.send = (const unsigned char *)x, .recv = (unsigned char *)y, .owner = -1,
		.part_bytes = plan->count * sizeof(*x),
	};
	unsigned int n = (unsigned int)plan->count, bits = bits_of_wire(), i;
	struct gagg_rdesc rd = { .counted = 1, .contributors = N, .flags = GAGG_C_ZERO };
	struct gagg_cdesc d = { 0 };
	double unit;

	c->region.cdesc = &d;
	c->region.contrib = (unsigned char *)lanes;
	c->region.geo.ring = 1;
	c->region.geo.per_block = 1;
	assert_true(partition_init(&r.cut, 1, n, comm_float_lanes(c)));
	r.how->fill(&r, 0, lanes, &d);
	memcpy(was, plan->carry, n * sizeof(*was));
	rd.exp = (uint8_t)(d.exp + shift);
	unit = quant_unit(bits < 32 ? bits : 31 - headroom_bits(N), rd.exp);
	r.how->take(&r, 0, lanes, &rd);
	for (i = 0; i < n; i++) {
		float rest = (float)((double)x[i] + was[i] -
				     quant_shift_rne(lane_at(lanes, bits, i), shift) * unit);

		if (d.flags & QUANT_NONFINITE)
			rest = was[i];
		else if (d.flags & QUANT_ZERO)
			rest = 0;
		assert_true(plan->carry[i] == rest);
	}
}

static void feedback__of_long_chunks(void **state)
{
	static float x[4 * LONG], carry[4 * LONG];
	struct gagg_plan *plan = calloc(1, sizeof(*plan));
	uint8_t exp;
	unsigned int k, i, n;

	(void)state;
	assert_non_null(plan);
	plan->chunks = 1;
	plan->feedback = true;
	plan->carry = carry;
	for (k = 0; k < 60; k++) {
		struct gagg_comm c = { .size = N, .region.geo.lanes = LONG };

		fake.wire = k % 3;
		c.region.geo.flags = fake.wire == 1 ? GAGG_GEO_INT16 :
				     fake.wire == 2 ? GAGG_GEO_INT8 : 0;
		n = LONG << fake.wire;
		for (i = 0; i < n; i++) {
			x[i] = (float)((int)(draw() % 2001) - 1000) / 7;
			carry[i] = (float)((int)(draw() % 2001) - 1000) / 7000;
			x[i] = ldexpf(x[i], i / QUANT_BLOCK == 0 ? -5 : 0);
		}
		/* nothing but zeros in one block, in all but one, in all; no number in one */
		for (i = 0; i < n; i++)
			if (k / 3 % 5 == 4 || (i / QUANT_BLOCK == 0 && k / 3 % 5 == 1) ||
			    (i / QUANT_BLOCK != 1 && k / 3 % 5 == 2))
				x[i] = carry[i] = 0;
		if (k / 3 % 5 == 3)
			x[draw() % n] = k & 1 ? INFINITY : NAN;
		plan->count = n - draw() % 7 * (k / 3 % 2);
		exp = k / 15 % 2 ? 140 : 0;
		plan->exp = &exp;
		choose_form(k / 30);
		check_blocks(&c, plan, x);
		check_rest(&c, plan, x, k / 5 % 3);
	}
	fake.wire = 0;
	free(plan);
}

/* what is far below a lane is lost without feedback, and comes in the end with it */
static void small_body(struct gagg_comm *c, int rank)
{
	float x[16] = { [0] = 1000, [1] = .25f }, y[16], residual[16] = { 0 }, total[2] = { 0 };
	struct gagg_plan *plan;
	int step, with;

	(void)rank;
	for (with = 0; with < 2; with++) {
		CHECK(!gagg_plan_create(c, 16, GAGG_FLOAT32, &plan));
		if (with)
			CHECK(!gagg_plan_feedback(c, plan, residual));
		for (step = 0; step < 100; step++) {
			CHECK(!gagg_allreduce(x, y, 16, GAGG_FLOAT32, GAGG_MEAN, c, plan));
			total[with] += y[1];
		}
		gagg_plan_free(plan);
	}
	CHECK(total[0] == 0);
	CHECK(fabsf(total[1] - 25) <= 1024 / 128);
}

static void feedback__brings_what_is_small(void **state)
{
	(void)state;
	fake.wire = 2;
	run(64, 16, small_body);
	fake.wire = 0;
}

static void nan_body(struct gagg_comm *c, int rank)
{
	float x[16], y[16], residual[16] = { 0 }, was[16];
	struct gagg_plan *plan;

	CHECK(!gagg_plan_create(c, 16, GAGG_FLOAT32, &plan));
	CHECK(!gagg_plan_feedback(c, plan, residual));
	for (int i = 0; i < 16; i++)
		x[i] = 1 + (float)i / 999;
	CHECK(!gagg_allreduce(x, y, 16, GAGG_FLOAT32, GAGG_SUM, c, plan));
	memcpy(was, residual, sizeof(was));
	CHECK(was[5] != 0);
	x[3] = rank == 2 ? (float)NAN : x[3];
	CHECK(!gagg_allreduce(x, y, 16, GAGG_FLOAT32, GAGG_SUM, c, plan));
	CHECK(isnan(y[0]));
	for (int i = 0; i < 16; i++)
		CHECK(isfinite(residual[i]) && (rank != 2 || residual[i] == was[i]));
	memset(x, 0, sizeof(x));
	for (int i = 0; i < 16; i++)
		x[i] = -residual[i];
	CHECK(!gagg_allreduce(x, y, 16, GAGG_FLOAT32, GAGG_SUM, c, plan));
	for (int i = 0; i < 16; i++)
		CHECK(residual[i] == 0 && y[i] == 0);
	gagg_plan_free(plan);
}

static void feedback__no_number_is_kept(void **state)
{
	(void)state;
	fake.wire = 2;
	run(64, 16, nan_body);
	fake.wire = 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lanes__are_what_they_are_defined_to_be),
		cmocka_unit_test(lanes__of_nothing_and_of_no_number),
		cmocka_unit_test(sums__within_their_bound),
		cmocka_unit_test(sums__in_parts),
		cmocka_unit_test(feedback__what_was_sent_and_what_is_left),
		cmocka_unit_test(feedback__of_what_came_too_late),
		cmocka_unit_test(feedback__takes_what_was_kept),
		cmocka_unit_test(feedback__loses_no_more_than_it_says),
		cmocka_unit_test(feedback__of_long_chunks),
		cmocka_unit_test(feedback__brings_what_is_small),
		cmocka_unit_test(feedback__no_number_is_kept),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
