// SPDX-License-Identifier: GPL-2.0
/* links: ; libs: */
/* What replicas and a centre exchange in elastic averaging. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "elastic.h"

static uint64_t seed = 1;

static uint64_t rnd(void)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return seed * 0x2545f4914f6cdd1dULL;
}

static void delta__is_the_rounded_product(void **state)
{
	int i;

	(void)state;
	for (i = 0; i < 100000; i++) {
		int64_t a = (int64_t)rnd() >> (10 + rnd() % 54);
		int64_t b = (int64_t)rnd() >> (10 + rnd() % 54);
		uint32_t alpha = 1 + (uint32_t)(rnd() % ELASTIC_ONE);
		__int128 want = (__int128)(a - b) * alpha / ELASTIC_ONE;
		int32_t e = elastic_delta(a, b, alpha);

		if (want < -ELASTIC_MOST || want > ELASTIC_MOST) {
			/* far apart, but for tiny alphas that see less of it */
			assert_true(want > 0 ? e > 0 : e < 0);
			assert_in_range(abs(e), 0, ELASTIC_MOST);
		} else {
			assert_true(e == (int32_t)want ||
				    a - b > ELASTIC_FAR || b - a > ELASTIC_FAR);
		}
		/* neither side is favoured */
		assert_int_equal(e, -elastic_delta(b, a, alpha));
	}
	assert_int_equal(elastic_delta(10, 3, ELASTIC_ONE), 7);
	assert_int_equal(elastic_delta(-10, 3, ELASTIC_ONE / 2), -6);
	assert_int_equal(elastic_delta(INT64_C(1) << 53, -(INT64_C(1) << 53), ELASTIC_ONE),
			 ELASTIC_MOST);
	assert_int_equal(elastic_delta(INT64_MAX, INT64_MIN, ELASTIC_ONE), ELASTIC_MOST);
	assert_int_equal(elastic_delta(INT64_MIN, 1, ELASTIC_ONE), -ELASTIC_MOST);
}

/* replicas that do nothing but meet end up together, and keep the sum */
static void exchanges__keep_the_sum(void **state)
{
	enum { N = 8 };
	const uint32_t alpha = ELASTIC_ONE * 9 / 10 / N;
	int64_t x[N], centre = 0, sum = 0, least, most;
	int i, r;

	(void)state;
	for (r = 0; r < N; r++)
		sum += x[r] = (int64_t)rnd() >> 30;
	for (i = 0; i < 2000; i++) {
		/* a rank reads late: the centre has moved on meanwhile */
		int64_t seen[N], now = centre;

		for (r = 0; r < N; r++) {
			seen[r] = rnd() % 2 ? centre : now;
			now = centre;
			seen[r] = elastic_delta(x[r], seen[r], alpha);
			x[r] -= seen[r];
			centre += seen[r];
		}
	}
	least = most = centre;
	for (r = 0; r < N; r++) {
		least = x[r] < least ? x[r] : least;
		most = x[r] > most ? x[r] : most;
		sum -= x[r];
	}
	assert_int_equal(sum, centre);
	/* at rest when alpha of the difference is less than a step */
	assert_true(most - least <= 4 * ELASTIC_ONE / alpha);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(delta__is_the_rounded_product),
		cmocka_unit_test(exchanges__keep_the_sum),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
