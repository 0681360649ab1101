// SPDX-License-Identifier: GPL-2.0
/* links: ; libs: */
/* What rounds a double to whole steps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "steps.h"

/* doubles around whole numbers and halves of every magnitude; 4 * @x is a whole number */
static void nearest(double x)
{
	int64_t quarters = (int64_t)(x * 4), want = (quarters + (quarters < 0 ? -2 : 2)) / 4;

	assert_true(steps_nearest(x) == want);
	assert_true(steps_nearest(-x) == -want);
}

static void nearest__of_every_magnitude(void **state)
{
	(void)state;
	for (int bits = 0; bits <= 60; bits++)
		for (int k = -9; k <= 9; k++)
			nearest((double)(INT64_C(1) << bits) + k * 0.25);
}

/* what a sum with 0.5 makes the next number of */
static void nearest__where_a_sum_is_rounded(void **state)
{
	(void)state;
	assert_true(steps_nearest(0x1p52 + 1) == (INT64_C(1) << 52) + 1);
	assert_true(steps_nearest(-0x1p53 + 1) == -(INT64_C(1) << 53) + 1);
	assert_true(steps_nearest(0.5 - 0x1p-54) == 0);
	assert_true(steps_nearest(0x1p-54 - 0.5) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nearest__of_every_magnitude),
		cmocka_unit_test(nearest__where_a_sum_is_rounded),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
