// SPDX-License-Identifier: GPL-2.0
/* links: agent/lib/share.c kmod/core/wire.c; libs: */
/*
 * Shares of a batch: their sum, their bounds, how far they are from the ideal, and
 * where they come to when ranks have speeds, steady ones or not.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "full.h"
#include "share.h"
#include "wire.h"

#define MSEC	1000000ULL

static void check(const struct share_bounds *b, const char *want)
{
	const char *got = share_check(b);

	assert_true(got && want ? !strcmp(got, want) : got == want);
}

static void bounds__refused(void **state)
{
	struct share_bounds b = { .ranks = 4, .total = 4, .min = 1, .max = 1 };

	(void)state;
	check(&b, NULL);
	b.max = 0;
	check(&b, NULL);
	b.total = 3;
	check(&b, "the batch is too small for the least share of all ranks");
	b.total = 0;
	check(&b, "a batch has 1 to 2147483647 samples");
	b.total = 0x80000000;
	check(&b, "a batch has 1 to 2147483647 samples");
	b.total = 100;
	b.min = 0;
	check(&b, "the least share is at least 1 sample");
	b.min = 0x40000001;	/* four of them are 4 in 32 bits */
	check(&b, "the batch is too small for the least share of all ranks");
	b.min = 10;
	b.max = 9;
	check(&b, "the largest share is smaller than the least");
	b.max = 24;
	check(&b, "the batch is too large for the largest share of all ranks");
	b.max = 25;
	check(&b, NULL);
	b.max = 0x40000001;	/* four of them are 4 in 32 bits */
	check(&b, NULL);
}

static void divide__golden(void **state)
{
	const struct share_bounds b = { .ranks = 4, .total = 64, .min = 1 };
	const uint64_t rate[] = { 137, 165, 196, 142 };
	const uint32_t want[] = { 14, 16, 20, 14 };
	uint32_t share[4];

	(void)state;
	share_divide(&b, rate, share);
	assert_memory_equal(share, want, sizeof(want));
}

/* the published rounding would give 2 to each: it raises what is half or more */
static void divide__where_the_published_code_errs(void **state)
{
	const struct share_bounds b = { .ranks = 3, .total = 7, .min = 1 };
	const uint64_t rate[] = { 1, 1, 1 };
	const uint32_t want[] = { 3, 2, 2 };
	uint32_t share[3];

	(void)state;
	share_divide(&b, rate, share);
	assert_memory_equal(share, want, sizeof(want));
}

static void divide__bounds(void **state)
{
	struct share_bounds b = { .ranks = 4, .total = 4, .min = 1 };
	const uint64_t rate[] = { SHARE_RATE_MAX, 1, SHARE_RATE_MAX, 1 };
	const uint32_t low[] = { 10, 10, 40, 40 }, high[] = { 33, 33, 17, 17 };
	const uint64_t skew[] = { 1, 2, 100, 100 }, few[] = { 50, 40, 1, 1 };
	uint32_t share[4];

	(void)state;
	share_divide(&b, rate, share);
	for (int i = 0; i < 4; i++)
		assert_int_equal(share[i], 1);
	b.total = SHARE_TOTAL_MAX;
	share_divide(&b, rate, share);
	assert_in_range(share[1], 1, 32);
	assert_true(share[0] >= SHARE_TOTAL_MAX / 2 - 32 && share[3] == share[1]);
	assert_int_equal((uint64_t)share[0] + share[1] + share[2] + share[3], SHARE_TOTAL_MAX);
	b.total = 100;
	b.min = 10;
	share_divide(&b, skew, share);
	assert_memory_equal(share, low, sizeof(low));
	b.min = 1;
	b.max = 33;
	share_divide(&b, few, share);
	assert_memory_equal(share, high, sizeof(high));
	/* what ranks with the most leave, to those with next to nothing */
	b.max = 40;
	share_divide(&b, rate, share);
	assert_int_equal(share[0], 40);
	assert_int_equal(share[1], 10);
	assert_int_equal(share[3], 10);
}

/* what is ideal within bounds: lambda * rate, or the bound; by bisection */
static double ideal(const struct share_bounds *b, const uint64_t *rate, double *q)
{
	double from = 0, to = 4e10, max = b->max ? b->max : b->total, sum = 0;

	for (int k = 0; k < 300; k++) {
		double lambda = (from + to) / 2;

		sum = 0;
		for (uint32_t i = 0; i < b->ranks; i++) {
			q[i] = fmin(max, fmax(b->min, lambda * (double)rate[i]));
			sum += q[i];
		}
		if (sum < b->total)
			from = lambda;
		else
			to = lambda;
	}
	return sum;
}

static struct share_bounds draw_bounds(uint64_t seed)
{
	struct share_bounds b = { .ranks = 1 + (uint32_t)(gagg_mix64(seed, 1) % SHARE_RANKS) };
	uint32_t mean;

	b.min = 1 + (uint32_t)(gagg_mix64(seed, 2) % (seed % 3 ? 3 : 300));
	b.total = b.min * b.ranks + (uint32_t)(gagg_mix64(seed, 3) % (seed % 2 ? 1000 : 1 << 30));
	mean = (b.total + b.ranks - 1) / b.ranks;
	if (seed % 5 < 2)
		b.max = mean + (uint32_t)(gagg_mix64(seed, 4) % (mean + 1));
	return b;
}

static void divide__sum_is_exact(void **state)
{
	int bounded = 0, small = 0;

	(void)state;
	for (uint64_t seed = 0; seed < full_or(60000, 15000); seed++) {
		struct share_bounds b = draw_bounds(seed);
		uint64_t rate[SHARE_RANKS], got = 0;
		uint32_t share[SHARE_RANKS];
		double q[SHARE_RANKS];

		assert_null(share_check(&b));
		for (uint32_t i = 0; i < b.ranks; i++)
			rate[i] = 1 + gagg_mix64(seed, 9 + i) % (seed % 7 ? 100 : 1 << 20);
		share_divide(&b, rate, share);
		if (seed % 6 == 0)
			assert_true(fabs(ideal(&b, rate, q) - b.total) < 0.01);
		for (uint32_t i = 0; i < b.ranks; i++) {
			got += share[i];
			assert_true(share[i] >= b.min && (!b.max || share[i] <= b.max));
			bounded += share[i] == b.max;
			small += share[i] == b.min;
			if (seed % 6 == 0)
				assert_true(fabs(share[i] - q[i]) < 1.001);
			/* a rank that is as fast has as much, but for one sample to the lower rank */
			for (uint32_t k = 0; k < i; k++)
				if (rate[k] >= rate[i])
					assert_true(share[k] >= share[i]);
		}
		assert_int_equal(got, b.total);
	}
	assert_true(bounded > 1000 && small > 1000);
}

static void rate__range(void **state)
{
	(void)state;
	assert_int_equal(share_rate(0, 5), 0);
	assert_int_equal(share_rate(5, 0), 0);
	assert_int_equal(share_rate(1, ~0ULL), 1);
	assert_int_equal(share_rate(~0ULL, 1), SHARE_RATE_MAX);
	assert_int_equal(share_rate(~0ULL, ~0ULL), 1ULL << 40);
	assert_int_equal(share_rate(1, 1), 1ULL << 40);
	assert_int_equal(share_rate(1ULL << 24, 1ULL << 20), 1ULL << 44);
	assert_int_equal(share_rate(1ULL << 33, 1), SHARE_RATE_MAX);
	assert_int_equal(share_rate(1ULL << 23, 1), SHARE_RATE_MAX);
	for (uint64_t seed = 0; seed < 100000; seed++) {
		uint64_t samples = 1 + (gagg_mix64(seed, 1) >> (32 + seed % 32));
		uint64_t ns = 1000 + (gagg_mix64(seed, 2) >> (20 + seed % 40));
		double want = ldexp((double)samples / (double)ns, 40);
		double got = (double)share_rate(samples, ns);

		if (want > 1e6 && want < ldexp(1, 52))
			assert_true(fabs(got - want) <= want * 1e-5);
	}
	assert_true(fabs(share_per_second(share_rate(250, 500 * MSEC)) - 500) < 1e-3);
}

/* --- ranks with speeds ---------------------------------------------------- */

/* a period of every rank; @ms[i]: of one sample. Returns that of the slowest, in ms */
static uint64_t period(struct share_control *c, const uint32_t *ms)
{
	struct share_work work[SHARE_RANKS];
	uint64_t longest = 0;

	for (uint32_t i = 0; i < c->bounds.ranks; i++) {
		work[i].samples = 10ULL * c->share[i];
		work[i].compute_ns = work[i].samples * ms[i] * MSEC;
		if (work[i].compute_ns > longest)
			longest = work[i].compute_ns;
	}
	share_step(c, work);
	return longest / MSEC;
}

/* time proportional to samples: one period finds the shares, the next keep them */
static void steady__in_one_period(void **state)
{
	const struct share_bounds b = { .ranks = 4, .total = 512, .min = 1 };
	const uint32_t ms[] = { 4, 4, 2, 1 }, want[] = { 64, 64, 128, 256 };
	struct share_control c;

	(void)state;
	share_begin(&c, &b);
	for (int i = 0; i < 4; i++)
		assert_int_equal(c.share[i], 128);
	assert_int_equal(period(&c, ms), 10 * 128 * 4);
	for (int i = 0; i < 9; i++) {
		assert_memory_equal(c.share, want, sizeof(want));
		/* half of the time, as speeds of 1 1 2 4 let one hope */
		assert_int_equal(period(&c, ms), 10 * 128 * 2);
	}
}

/* a rank that is three times as slow gets a third of what the others get */
static void slow__gets_a_third(void **state)
{
	const struct share_bounds b = { .ranks = 8, .total = 22 * 64, .min = 1 };
	uint32_t ms[8] = { 2, 2, 2, 2, 2, 6, 2, 2 };
	struct share_control c;
	int periods;

	(void)state;
	share_begin(&c, &b);
	period(&c, ms);
	assert_int_equal(c.share[5], 64);
	assert_int_equal(c.share[0], 3 * 64);
	/* another one, later: it takes some periods, and is not passed */
	ms[5] = 2;
	ms[1] = 6;
	for (periods = 0; c.share[1] > 65 || c.share[5] < 3 * 64 - 3; periods++) {
		uint32_t was = c.share[1];

		period(&c, ms);
		assert_true(c.share[1] <= was && c.share[1] >= 64 && c.share[5] <= 3 * 64);
		assert_true(periods < 40);
	}
	assert_true(periods > 3);
}

/* time that does not grow with samples: rates change with shares, times agree in the end */
static void fixed_cost__times_agree(void **state)
{
	const struct share_bounds b = { .ranks = 3, .total = 3000, .min = 1 };
	const uint64_t cost[] = { 1000, 100, 500 }, each[] = { 1, 2, 3 };
	struct share_control c;
	uint64_t took[3];

	(void)state;
	share_begin(&c, &b);
	for (int p = 0; p < 60; p++) {
		struct share_work work[3];

		for (int i = 0; i < 3; i++) {
			took[i] = cost[i] + each[i] * c.share[i];
			work[i].samples = c.share[i];
			work[i].compute_ns = took[i] * MSEC;
		}
		share_step(&c, work);
	}
	/* 2300 ms each */
	assert_in_range(c.share[0], 1298, 1302);
	assert_in_range(c.share[1], 1098, 1102);
	assert_in_range(c.share[2], 598, 602);
	assert_in_range(took[0], 2290, 2310);
}

/* one odd period of a rank, twenty times as slow or as fast */
static void spike__is_damped(void **state)
{
	const struct share_bounds b = { .ranks = 4, .total = 4000, .min = 1 };
	uint32_t ms[4] = { 20, 20, 20, 20 };
	struct share_control c;

	(void)state;
	for (int fast = 0; fast < 2; fast++) {
		share_begin(&c, &b);
		for (int i = 0; i < 5; i++)
			period(&c, ms);
		assert_int_equal(c.share[2], 1000);
		ms[2] = fast ? 1 : 400;
		period(&c, ms);
		if (fast)
			assert_in_range(c.share[2], 1100, 1177);	/* 5/4 of 17/4 */
		else
			assert_in_range(c.share[2], 903, 960);		/* 7/8 of 31/8 */
		ms[2] = 20;
		for (int i = 0; i < 10; i++)
			period(&c, ms);
		assert_in_range(c.share[2], 992, 1012);
	}
	/* an odd first one does not last either */
	share_begin(&c, &b);
	ms[2] = 400;
	period(&c, ms);
	assert_true(c.share[2] < 100);
	ms[2] = 20;
	for (int i = 0; i < 12; i++)
		period(&c, ms);
	assert_in_range(c.share[2], 970, 1000);
}

/* noise of a tenth moves shares by less, and about the right place */
static void noise__is_averaged(void **state)
{
	const struct share_bounds b = { .ranks = 4, .total = 4000, .min = 1 };
	struct share_control c;
	double sum = 0, off = 0;
	int n = 0;

	(void)state;
	share_begin(&c, &b);
	for (uint64_t p = 0; p < 500; p++) {
		uint32_t ms[4];

		for (uint64_t i = 0; i < 4; i++)
			ms[i] = (i == 3 ? 3 : 1) * (900 + (uint32_t)(gagg_mix64(p, i) % 201));
		period(&c, ms);
		if (p < 20)
			continue;
		sum += c.share[3];
		off += pow((double)c.share[3] - 400, 2);
		n++;
	}
	assert_true(fabs(sum / n - 400) < 8);
	/* a single period's share would be off by about 20 */
	assert_true(sqrt(off / n) < 12);
}

/* a rank that has said nothing changes nothing */
static void silence__keeps_shares(void **state)
{
	const struct share_bounds b = { .ranks = 2, .total = 300, .min = 1 };
	const struct share_work none[2] = { { 10, 0 }, { 10, 5 * MSEC } };
	const struct share_work some[2] = { { 10, 10 * MSEC }, { 10, 0 } };
	const struct share_work zero[2] = { { 0, 10 * MSEC }, { 0, 5 * MSEC } };
	struct share_control c;

	(void)state;
	share_begin(&c, &b);
	share_step(&c, zero);
	share_step(&c, none);
	assert_int_equal(c.share[0], 150);
	share_step(&c, some);
	assert_int_equal(c.share[0], 100);
	assert_int_equal(c.share[1], 200);
	share_step(&c, zero);
	assert_int_equal(c.share[1], 200);
}

/*
 * Each rank has a controller; all are told the same, of which a rank knows its own part
 * first. Nothing else may decide.
 */
static void ranks__agree(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < full_or(300, 100); seed++) {
		static struct share_control c[SHARE_RANKS];
		struct share_bounds b = draw_bounds(seed);
		struct share_work work[SHARE_RANKS];

		memset(c, seed & 1 ? 0x5a : 0, sizeof(c));
		for (uint32_t r = 0; r < b.ranks; r++) {
			/* stale memory is no input */
			memset(&c[r], (int)r, sizeof(c[r]));
			share_begin(&c[r], &b);
		}
		for (uint64_t p = 0; p < 12; p++) {
			for (uint32_t r = 0; r < b.ranks; r++) {
				work[r].samples = 3ULL * c[r].share[r];
				work[r].compute_ns = work[r].samples *
					(1 + gagg_mix64(seed * 64 + r, p) % 1000000);
			}
			for (uint32_t r = 0; r < b.ranks; r++)
				share_step(&c[r], work);
			for (uint32_t r = 1; r < b.ranks; r++)
				assert_memory_equal(&c[r], &c[0], sizeof(c[0]));
		}
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bounds__refused),
		cmocka_unit_test(divide__golden),
		cmocka_unit_test(divide__where_the_published_code_errs),
		cmocka_unit_test(divide__bounds),
		cmocka_unit_test(divide__sum_is_exact),
		cmocka_unit_test(rate__range),
		cmocka_unit_test(steady__in_one_period),
		cmocka_unit_test(slow__gets_a_third),
		cmocka_unit_test(fixed_cost__times_agree),
		cmocka_unit_test(spike__is_damped),
		cmocka_unit_test(noise__is_averaged),
		cmocka_unit_test(silence__keeps_shares),
		cmocka_unit_test(ranks__agree),
	};

	full = full_asked(argc, argv);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
