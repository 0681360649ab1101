// SPDX-License-Identifier: GPL-2.0
/* links: kmod/core/table.c; libs: */
/* Places of channels. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "table.h"

static struct gagg_table t;

static int setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	return 0;
}

static int enter(u32 id, u32 limit)
{
	int place = gagg_table_place(&t, id, limit);

	if (place >= 0)
		gagg_table_enter(&t, (u32)place, id);
	return place;
}

static void place__of_channel_0(void **state)
{
	(void)state;
	/* it is the first, there or not, and has room whatever there is */
	assert_int_equal(gagg_table_find(&t, 0), 0);
	assert_int_equal(enter(7, 2), 1);
	assert_int_equal(enter(8, 2), -1);
	assert_int_equal(enter(0, 2), 0);
	assert_int_equal(t.taken, 3);
	assert_int_equal(gagg_table_find(&t, 0), 0);
}

static void place__is_the_lowest(void **state)
{
	(void)state;
	assert_int_equal(enter(100, 64), 1);
	assert_int_equal(enter(200, 64), 2);
	assert_int_equal(enter(65535, 64), 3);
	gagg_table_leave(&t, 2);
	assert_int_equal(gagg_table_find(&t, 100), 1);
	assert_int_equal(gagg_table_find(&t, 200), -1);
	assert_int_equal(gagg_table_find(&t, 65535), 3);
	assert_int_equal(enter(300, 64), 2);
	assert_int_equal(gagg_table_find(&t, 300), 2);
}

/* what is not there is not found by the id it had, nor by that of a place never taken */
static void find__what_is_not_there(void **state)
{
	(void)state;
	assert_int_equal(gagg_table_find(&t, 1), -1);
	assert_int_equal(enter(0, 64), 0);
	assert_int_equal(enter(9, 64), 1);
	gagg_table_leave(&t, 1);
	assert_int_equal(gagg_table_find(&t, 9), -1);
	assert_int_equal(t.taken, 1);
}

static void limit__counts_channel_0(void **state)
{
	u32 limit, id;

	(void)state;
	for (limit = 1; limit <= GAGG_CHANNELS_MAX; limit++) {
		setup(NULL);
		for (id = 1; id < limit; id++)
			assert_int_equal(enter(1000 + id, limit), id);
		assert_int_equal(enter(1, limit), -1);
		assert_int_equal(enter(0, limit), 0);
		assert_int_equal(enter(1, limit), -1);
		for (id = 1; id < limit; id++)
			assert_int_equal(gagg_table_find(&t, 1000 + id), id);
		/* another one has the place of one that is gone */
		if (limit == 1)
			continue;
		gagg_table_leave(&t, limit - 1);
		assert_int_equal(enter(1, limit), limit - 1);
	}
}

static void stale__after_an_epoch(void **state)
{
	(void)state;
	/* the end of an epoch of which nothing is left */
	gagg_table_spend(&t);
	assert_false(gagg_table_stale(&t));
	enter(0, 64);
	assert_false(gagg_table_stale(&t));
	gagg_table_spend(&t);
	assert_true(gagg_table_stale(&t));
	/* others do not make it a new one */
	enter(5, 64);
	assert_true(gagg_table_stale(&t));
	gagg_table_leave(&t, 0);
	assert_false(gagg_table_stale(&t));
	enter(0, 64);
	assert_false(gagg_table_stale(&t));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(place__of_channel_0, setup),
		cmocka_unit_test_setup(place__is_the_lowest, setup),
		cmocka_unit_test_setup(find__what_is_not_there, setup),
		cmocka_unit_test_setup(limit__counts_channel_0, setup),
		cmocka_unit_test_setup(stale__after_an_epoch, setup),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
