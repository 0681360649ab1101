// SPDX-License-Identifier: GPL-2.0
/* links: kmod/core/sync.c kmod/core/sync_bsp.c; libs: */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sync.h"

static void mode__by_name(void **state)
{
	(void)state;
	assert_int_equal(gagg_sync_find("bsp"), 0);
	assert_int_equal(gagg_sync_find(""), -1);
	assert_int_equal(gagg_sync_find("bs"), -1);
	assert_int_equal(gagg_sync_find("bspx"), -1);
	assert_int_equal(gagg_sync_find("BSP"), -1);
	assert_ptr_equal(gagg_sync_get(0), &gagg_sync_bsp);
	assert_ptr_equal(gagg_sync_get(1), &gagg_sync_bsp);
	assert_ptr_equal(gagg_sync_get(~0U), &gagg_sync_bsp);
}

static void bsp__takes_the_open_round_only(void **state)
{
	(void)state;
	assert_int_equal(gagg_sync_bsp.take(0), GAGG_TAKE_ADD);
	assert_int_equal(gagg_sync_bsp.take(-1), GAGG_TAKE_OLD);
	assert_int_equal(gagg_sync_bsp.take(-2), GAGG_TAKE_STALE);
	assert_int_equal(gagg_sync_bsp.take(INT32_MIN), GAGG_TAKE_STALE);
	assert_int_equal(gagg_sync_bsp.take(1), GAGG_TAKE_AHEAD);
	assert_int_equal(gagg_sync_bsp.take(INT32_MAX), GAGG_TAKE_AHEAD);
}

static void bsp__is_complete_with_all_members(void **state)
{
	(void)state;
	assert_true(gagg_sync_bsp.complete(0xf1, 0xf1));
	assert_true(gagg_sync_bsp.complete(~0ULL, ~0ULL));
	assert_false(gagg_sync_bsp.complete(0x71, 0xf1));
	assert_false(gagg_sync_bsp.complete(0, 1));
	assert_false(gagg_sync_bsp.complete(~0ULL >> 1, ~0ULL));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mode__by_name),
		cmocka_unit_test(bsp__takes_the_open_round_only),
		cmocka_unit_test(bsp__is_complete_with_all_members),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
