// SPDX-License-Identifier: GPL-2.0
/* links: kmod/core/stats.c; libs: */
/* What has left, and what has not, is counted once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stats.h"

static struct gagg_shard shard;

/* as they are told */
static void expect(const struct gagg_stats *st, u64 datagrams, u64 bytes, u64 errors)
{
	u64 value[GAGG_SA_MAX + 1] = { 0 };

	gagg_stats_add(st, &shard, value);
	assert_int_equal(value[GAGG_SA_TX_DATAGRAMS], datagrams);
	assert_int_equal(value[GAGG_SA_TX_BYTES], bytes);
	assert_int_equal(value[GAGG_SA_TX_ERRORS], errors);
}

static void counts__each_datagram_once(void **state)
{
	struct gagg_stats st = { 0 };

	(void)state;
	gagg_stats_sent(&st, 3, 4200);
	expect(&st, 3, 4200, 0);
	gagg_stats_failed(&st, 2, false);
	expect(&st, 3, 4200, 2);
	gagg_stats_unsent(&st, 2, 2800, false);
	expect(&st, 1, 1400, 4);
}

static void unfit__is_told_once(void **state)
{
	struct gagg_stats st = { 0 };

	(void)state;
	gagg_stats_sent(&st, 1, 1400);
	gagg_stats_failed(&st, 1, false);
	assert_false(gagg_stats_take_unfit(&st));
	gagg_stats_failed(&st, 1, true);
	gagg_stats_failed(&st, 1, false);
	assert_true(gagg_stats_take_unfit(&st));
	assert_false(gagg_stats_take_unfit(&st));
	gagg_stats_unsent(&st, 1, 1400, true);
	assert_true(gagg_stats_take_unfit(&st));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(counts__each_datagram_once),
		cmocka_unit_test(unfit__is_told_once),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
