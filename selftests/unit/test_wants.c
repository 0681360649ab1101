// SPDX-License-Identifier: GPL-2.0
/* links: kmod/core/wants.c kmod/core/table.c; libs: */
/* Channels that other hosts have asked for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "wants.h"

static struct gagg_wants w;
static struct gagg_table t;
static struct gagg_want next;

static int setup(void **state)
{
	(void)state;
	memset(&w, 0, sizeof(w));
	memset(&t, 0, sizeof(t));
	return 0;
}

static bool is_next(u64 epoch)
{
	memset(&next, 0xff, sizeof(next));
	return gagg_wants_next(&w, &t, epoch, &next);
}

static void want__is_told_once(void **state)
{
	(void)state;
	assert_false(is_next(1));
	gagg_wants_add(&w, 1, 7, 6);
	gagg_wants_add(&w, 1, 7, 6);
	assert_true(is_next(1));
	assert_int_equal(next.epoch, 1);
	assert_int_equal(next.id, 7);
	assert_int_equal(next.members, 6);
	assert_false(is_next(1));
}

static void want__of_another_epoch(void **state)
{
	(void)state;
	gagg_wants_add(&w, 1, 7, 3);
	gagg_wants_add(&w, 2, 7, 6);
	gagg_wants_add(&w, 1, 8, 6);
	/* the same id in two epochs is two channels */
	assert_true(is_next(2));
	assert_int_equal(next.id, 7);
	assert_int_equal(next.members, 6);
	/* the others are void */
	assert_false(is_next(2));
	assert_false(is_next(1));
}

static void want__that_is_there(void **state)
{
	(void)state;
	gagg_table_enter(&t, 3, 7);
	gagg_wants_add(&w, 1, 8, 6);
	gagg_wants_add(&w, 1, 7, 6);
	assert_true(is_next(1));
	assert_int_equal(next.id, 8);
	assert_false(is_next(1));
}

static void want__beyond_the_room(void **state)
{
	u32 i, n = 0;

	(void)state;
	for (i = 0; i < 3 * GAGG_WANTS; i++)
		gagg_wants_add(&w, 1, 1 + i, 6);
	while (is_next(1)) {
		assert_in_range(next.id, 1, GAGG_WANTS);
		n++;
	}
	assert_int_equal(n, GAGG_WANTS);
	/* a host that was not heard asks again */
	gagg_wants_add(&w, 1, 3 * GAGG_WANTS, 6);
	assert_true(is_next(1));
	assert_int_equal(next.id, 3 * GAGG_WANTS);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(want__is_told_once, setup),
		cmocka_unit_test_setup(want__of_another_epoch, setup),
		cmocka_unit_test_setup(want__that_is_there, setup),
		cmocka_unit_test_setup(want__beyond_the_room, setup),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
