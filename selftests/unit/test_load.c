// SPDX-License-Identifier: GPL-2.0
/* links: kmod/core/wire.c; libs: */
/* Which datagrams join a burst, at each limit and beyond it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "load.h"

static const struct gagg_msg contrib = { .type = GAGG_T_CONTRIB };
static const struct gagg_msg result = { .type = GAGG_T_RESULT };

static void takes__of_one_length(void **state)
{
	struct gagg_load l = { 0 };

	(void)state;
	/* the first, whatever it is */
	assert_true(gagg_load_takes(&l, 6, 5000, 1, 4000));
	gagg_load_add(&l, 6, 100, 3, &contrib);
	assert_int_equal(l.nodes, 6);
	assert_int_equal(l.seg, 100);
	assert_int_equal(l.segs, 3);
	assert_int_equal(l.bytes, 300);
	assert_true(gagg_load_takes(&l, 6, 100, 4, 400));
	assert_false(gagg_load_takes(&l, 6, 100, 3, 400));
	assert_false(gagg_load_takes(&l, 6, 100, 4, 399));
	assert_false(gagg_load_takes(&l, 2, 100, 4, 400));
	assert_false(gagg_load_takes(&l, 6, 101, 4, 500));
	assert_false(gagg_load_ends(&l, 100));
	/* a shorter one is the last */
	assert_true(gagg_load_takes(&l, 6, 99, 4, 400));
	gagg_load_add(&l, 6, 99, 1, &contrib);
	assert_int_equal(l.seg, 100);
	assert_int_equal(l.bytes, 399);
	assert_true(gagg_load_ends(&l, 99));
}

static void room__at_each_limit(void **state)
{
	struct gagg_load l = { 0 };

	(void)state;
	assert_int_equal(gagg_load_room(&l, 100, 5, 64, 65000), 5);
	assert_int_equal(gagg_load_room(&l, 100, 70, 64, 65000), 64);
	assert_int_equal(gagg_load_room(&l, 100, 70, 64, 1099), 10);
	assert_int_equal(gagg_load_room(&l, 100, 5, 64, 99), 1);
	gagg_load_add(&l, 1, 100, 60, &contrib);
	assert_int_equal(gagg_load_room(&l, 100, 9, 64, 65000), 4);
	assert_int_equal(gagg_load_room(&l, 100, 9, 64, 6250), 2);
	assert_int_equal(gagg_load_room(&l, 100, 3, 64, 65000), 3);
	assert_int_equal(gagg_load_room(&l, 99, 9, 64, 65000), 1);
}

static void reacts__as_the_first(void **state)
{
	struct gagg_load l = { 0 }, of_results = { 0 };

	(void)state;
	gagg_load_add(&l, 1, 100, 1, &contrib);
	assert_true(l.reacts);
	gagg_load_add(&of_results, 1, 100, 1, &result);
	gagg_load_add(&of_results, 1, 100, 1, &contrib);
	assert_false(of_results.reacts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(takes__of_one_length),
		cmocka_unit_test(room__at_each_limit),
		cmocka_unit_test(reacts__as_the_first),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
