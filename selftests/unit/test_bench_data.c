// SPDX-License-Identifier: GPL-2.0
/* links: agent/bench/data.c agent/bench/op.c agent/bench/stat.c */
/* What gagg-bench contributes and expects, and its statistics. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "bench/data.h"
#include "bench/stat.h"

#define COUNT	1000
#define SEED	42

union buffer {
	float f32[64 * COUNT];
	_Float16 f16[64 * COUNT];
	uint16_t u16[64 * COUNT];
	int32_t s32[64 * COUNT];
	int64_t s64[64 * COUNT];
};

static union buffer part[64], result;

static double get(enum bench_dtype t, const union buffer *b, size_t i)
{
	uint32_t u = (uint32_t)b->u16[i] << 16;
	float x;

	switch (t) {
	case BENCH_FLOAT32:
		return b->f32[i];
	case BENCH_FLOAT16:
		return (double)b->f16[i];
	case BENCH_BFLOAT16:
		memcpy(&x, &u, 4);
		return x;
	case BENCH_INT64:
		return (double)b->s64[i];
	default:
		return b->s32[i];
	}
}

/* rounded towards zero where it does not fit, which the bound allows for */
static void put(enum bench_dtype t, union buffer *b, size_t i, double v)
{
	float x = (float)v;
	uint32_t u;

	memcpy(&u, &x, 4);
	if (t == BENCH_FLOAT32)
		b->f32[i] = x;
	else if (t == BENCH_FLOAT16)
		b->f16[i] = (_Float16)v;
	else if (t == BENCH_BFLOAT16)
		b->u16[i] = (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
	else if (t == BENCH_INT64)
		b->s64[i] = (int64_t)v;
	else
		b->s32[i] = (int32_t)(uint32_t)(int64_t)v;
}

static double reduce(enum bench_dtype t, enum bench_redop op, int n, size_t i)
{
	double v = get(t, &part[0], i);

	for (int r = 1; r < n; r++) {
		double x = get(t, &part[r], i);

		v = op == BENCH_MIN ? fmin(v, x) : op == BENCH_MAX ? fmax(v, x) : v + x;
	}
	return op == BENCH_MEAN ? v / n : v;
}

static void fill(struct bench_data *d, enum bench_dtype t, int n, size_t count)
{
	bench_data_init(d, t, n, SEED, 7);
	for (int r = 0; r < n; r++)
		bench_data_fill(d, r, 0, count, &part[r]);
}

/* the closed form is the sum of what the ranks are given, and nothing else is */
static void test_reductions(void **state)
{
	(void)state;
	static const int ranks[] = { 1, 2, 5, 64 };
	struct bench_data d;

	for (size_t k = 0; k < 4; k++)
		for (int t = BENCH_FLOAT32; t <= BENCH_INT64; t++)
			for (int o = BENCH_SUM; o <= BENCH_MAX; o++) {
				struct bench_op op = { BENCH_ALL_REDUCE, t, o, 0, COUNT };

				if (!bench_dtype_float(t) && o == BENCH_MEAN)
					continue;
				fill(&d, t, ranks[k], COUNT);
				for (size_t i = 0; i < COUNT; i++)
					put(t, &result, i, reduce(t, o, ranks[k], i));
				assert_int_equal(bench_data_wrong(&d, &op, 0, 0, &result), 0);
				/* half of one rank's is missing */
				for (size_t i = 0; i < COUNT && ranks[k] == 2; i++)
					put(t, &result, i, get(t, &part[0], i));
				if (ranks[k] == 2)
					assert_true(bench_data_wrong(&d, &op, 0, 0, &result) >
						    COUNT / 5);
			}
}

/* one element, by as little as is not allowed */
static void test_one_wrong(void **state)
{
	(void)state;
	struct bench_op op = { BENCH_ALL_REDUCE, BENCH_FLOAT32, BENCH_SUM, 0, COUNT };
	double bound = 0x1p-26;
	struct bench_data d;

	fill(&d, BENCH_FLOAT32, 4, COUNT);
	for (size_t i = 0; i < COUNT; i++)
		result.f32[i] = (float)reduce(BENCH_FLOAT32, BENCH_SUM, 4, i);
	result.f32[500] += 0x1p-20f;
	assert_int_equal(bench_data_wrong(&d, &op, 0, bound, &result), 1);
	result.f32[500] = NAN;
	assert_int_equal(bench_data_wrong(&d, &op, 0, bound, &result), 1);
	/* the last operation's */
	bench_data_init(&d, BENCH_FLOAT32, 4, SEED, 8);
	assert_true(bench_data_wrong(&d, &op, 0, bound, &result) > COUNT * 9 / 10);
}

static void test_parts(void **state)
{
	(void)state;
	struct bench_op scatter = { BENCH_REDUCE_SCATTER, BENCH_INT32, BENCH_SUM, 0, 100 };
	struct bench_op gather = { BENCH_ALL_GATHER, BENCH_FLOAT16, BENCH_SUM, 0, 100 };
	struct bench_op broadcast = { BENCH_BROADCAST, BENCH_BFLOAT16, BENCH_SUM, 2, 100 };
	struct bench_data d;

	fill(&d, BENCH_INT32, 4, 400);
	for (size_t i = 0; i < 100; i++)
		put(BENCH_INT32, &result, i, reduce(BENCH_INT32, BENCH_SUM, 4, 200 + i));
	assert_int_equal(bench_data_wrong(&d, &scatter, 2, 0, &result), 0);
	assert_true(bench_data_wrong(&d, &scatter, 1, 0, &result) > 90);

	fill(&d, BENCH_FLOAT16, 4, 100);
	for (int r = 0; r < 4; r++)
		memcpy(result.f16 + 100 * r, part[r].f16, 200);
	assert_int_equal(bench_data_wrong(&d, &gather, 0, 0, &result), 0);
	memcpy(result.f16 + 100, part[2].f16, 200);
	assert_true(bench_data_wrong(&d, &gather, 0, 0, &result) > 50);

	fill(&d, BENCH_BFLOAT16, 4, 100);
	assert_int_equal(bench_data_wrong(&d, &broadcast, 0, 0, &part[2]), 0);
	assert_true(bench_data_wrong(&d, &broadcast, 0, 0, &part[1]) > 50);
}

/* wraps, as sums of int32 do */
static void test_int_wraps(void **state)
{
	(void)state;
	struct bench_op op = { BENCH_ALL_REDUCE, BENCH_INT32, BENCH_SUM, 0, COUNT };
	struct bench_data d;
	bool wrapped = false;

	fill(&d, BENCH_INT32, 64, COUNT);
	for (size_t i = 0; i < COUNT; i++) {
		int64_t v = (int64_t)reduce(BENCH_INT32, BENCH_SUM, 64, i);

		wrapped = wrapped || v != (int32_t)v;
		result.s32[i] = (int32_t)(uint32_t)v;
	}
	assert_true(wrapped);
	assert_int_equal(bench_data_wrong(&d, &op, 0, 0, &result), 0);
}

/* sums of int64 do not, and both halves of an element matter */
static void test_long_halves(void **state)
{
	(void)state;
	struct bench_op op = { BENCH_ALL_REDUCE, BENCH_INT64, BENCH_SUM, 0, COUNT };
	struct bench_data d;

	fill(&d, BENCH_INT64, 64, COUNT);
	for (size_t i = 0; i < COUNT; i++)
		result.s64[i] = (int64_t)reduce(BENCH_INT64, BENCH_SUM, 64, i);
	assert_int_equal(bench_data_wrong(&d, &op, 0, 0, &result), 0);
	result.s64[3] ^= 1;
	result.s64[5] ^= INT64_C(1) << 32;
	result.s64[7] ^= INT64_MIN;
	assert_int_equal(bench_data_wrong(&d, &op, 0, 0, &result), 3);
}

/* no two ranks have the same factor, and what they have is below 1 */
static void test_factors(void **state)
{
	(void)state;
	struct bench_data d;

	for (int t = BENCH_FLOAT32; t <= BENCH_INT64; t++) {
		fill(&d, t, 64, COUNT);
		for (int r = 0; r < 64; r++) {
			for (int s = 0; s < r; s++)
				assert_int_not_equal(d.c[r], d.c[s]);
			for (size_t i = 0; i < COUNT && bench_dtype_float(t); i++)
				assert_true(fabs(get(t, &part[r], i)) <= BENCH_ABSMAX);
		}
	}
}

static void test_statistics(void **state)
{
	(void)state;
	double v[] = { 5, 1, 4, 2, 3 }, one[] = { 7 };

	stat_sort(v, 5);
	for (int i = 0; i < 5; i++)
		assert_true(v[i] == i + 1);
	assert_true(stat_mean(v, 5) == 3);
	assert_true(stat_percentile(v, 5, 50) == 3);
	assert_true(stat_percentile(v, 5, 99) == 5);
	assert_true(stat_percentile(v, 5, 20) == 1);
	assert_true(stat_percentile(v, 5, 21) == 2);
	assert_true(stat_percentile(v, 4, 50) == 2);
	assert_true(stat_percentile(v, 5, 0) == 1);
	assert_true(stat_percentile(v, 5, 100) == 5);
	assert_true(stat_percentile(one, 1, 50) == 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reductions),
		cmocka_unit_test(test_one_wrong),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_int_wraps),
		cmocka_unit_test(test_long_halves),
		cmocka_unit_test(test_factors),
		cmocka_unit_test(test_statistics),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
