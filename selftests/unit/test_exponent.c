// SPDX-License-Identifier: GPL-2.0
/* links: */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "../../agent/lib/exponent.h"
#include "../../agent/lib/quant.h"

static void test_next_all(void **state)
{
	int E, W;

	(void)state;
	for (E = 1; E <= 255; E++) {
		for (W = 0; W <= 255; W++) {
			int want = E;

			if (W != 0 && E - W >= 2)
				want = E - 1;
			assert_int_equal(exponent_next(E, W), want);
		}
	}
}

static void test_next_stays_on_the_wire(void **state)
{
	int E, W;

	(void)state;
	for (E = 1; E <= 255; E++) {
		for (W = 0; W <= 255; W++) {
			uint8_t next = exponent_next(E, W);

			assert_true(next >= QUANT_EXP_MIN);
			assert_true(next <= E);
			/* Never below what was just wanted, unless E was. */
			if (W <= E)
				assert_true(next >= W);
		}
	}
}

/* Constant data: reaches W or W + 1 in E - W rounds and stays there. */
static void test_next_settles(void **state)
{
	int E, W;

	(void)state;
	for (E = 1; E <= 255; E++) {
		for (W = 1; W <= 255; W++) {
			uint8_t e = E > W ? E : W;
			int i;

			for (i = 0; i < E - W; i++) {
				e = exponent_next(e, W);
				e = e > W ? e : W;
			}
			assert_int_equal(e, E > W ? W + 1 : W);
			assert_int_equal(exponent_next(e, W), e);
		}
	}
}

/* Data that alternates between two binades never outruns the prediction. */
static void test_next_hysteresis(void **state)
{
	uint8_t e = 200;
	int i;

	(void)state;
	for (i = 0; i < 100; i++) {
		uint8_t want = 199 + (i & 1);

		assert_true(want <= e);
		e = exponent_next(e, want);
	}
	assert_int_equal(e, 200);
}

static void test_headroom(void **state)
{
	unsigned b;
	uint64_t w;

	(void)state;
	assert_int_equal(headroom_bits(0), 0);
	assert_int_equal(headroom_bits(1), 0);
	for (w = 2; w < 100000; w++) {
		b = headroom_bits(w);
		assert_true(w <= (uint64_t)1 << b);
		assert_true(w > (uint64_t)1 << (b - 1));
	}
	assert_int_equal(headroom_bits(128), QUANT_HEADROOM_EXACT);
	assert_int_equal(headroom_bits(129), QUANT_HEADROOM_EXACT + 1);
	for (b = 1; b < 64; b++) {
		assert_int_equal(headroom_bits((uint64_t)1 << b), b);
		assert_int_equal(headroom_bits(((uint64_t)1 << b) + 1), b + 1);
	}
	assert_int_equal(headroom_bits(UINT64_MAX), 64);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_next_all),
		cmocka_unit_test(test_next_stays_on_the_wire),
		cmocka_unit_test(test_next_settles),
		cmocka_unit_test(test_next_hysteresis),
		cmocka_unit_test(test_headroom),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
