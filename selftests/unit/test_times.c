// SPDX-License-Identifier: GPL-2.0
/* links: kmod/core/group/times.c kmod/core/wire.c; libs: */
/*
 * Computing and waiting: directed cases, then random ops against a second
 * bookkeeping that looks at every unit of time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "group/times.h"
#include "wire.h"

static void is(const struct gagg_times *t, u64 now, u64 compute, u64 wait, u64 ops)
{
	u64 c, w;

	gagg_times_read(t, now, &c, &w);
	assert_int_equal(c, compute);
	assert_int_equal(w, wait);
	assert_int_equal(t->ops, ops);
}

static void first_op__begins(void **state)
{
	struct gagg_times t = { 0 };

	(void)state;
	is(&t, 1000, 0, 0, 0);
	gagg_times_submit(&t, 1000);
	is(&t, 1000, 0, 0, 0);
	is(&t, 1010, 0, 10, 0);
	gagg_times_done(&t, 1, 1030);
	is(&t, 1030, 0, 30, 1);
	is(&t, 1034, 4, 30, 1);
	gagg_times_submit(&t, 1050);
	is(&t, 1051, 20, 31, 1);
}

/* the last one that ends, ends the waiting */
static void overlap__is_waiting(void **state)
{
	struct gagg_times t = { 0 };

	(void)state;
	gagg_times_submit(&t, 100);
	gagg_times_submit(&t, 110);
	gagg_times_submit(&t, 120);
	gagg_times_done(&t, 2, 130);
	is(&t, 150, 0, 50, 2);
	gagg_times_done(&t, 1, 160);
	is(&t, 200, 40, 60, 3);
}

static void end__stops(void **state)
{
	struct gagg_times t = { 0 };

	(void)state;
	gagg_times_submit(&t, 100);
	gagg_times_done(&t, 1, 110);
	gagg_times_submit(&t, 115);
	gagg_times_end(&t, 120);
	is(&t, 999, 5, 15, 1);
	/* two that were in flight may come after it */
	gagg_times_done(&t, 2, 130);
	is(&t, 999, 5, 15, 1);
	gagg_times_end(&t, 140);
	is(&t, 999, 5, 15, 1);
}

static void backwards__is_now(void **state)
{
	struct gagg_times t = { 0 };

	(void)state;
	gagg_times_submit(&t, 100);
	gagg_times_done(&t, 1, 90);
	is(&t, 95, 0, 0, 1);
	gagg_times_submit(&t, 98);
	gagg_times_done(&t, 1, 104);
	is(&t, 104, 0, 4, 2);
	/* more than are in flight are none */
	gagg_times_done(&t, 7, 105);
	gagg_times_submit(&t, 106);
	is(&t, 108, 2, 6, 9);
}

static void random__adds_up(void **state)
{
	(void)state;
	for (u64 seed = 0; seed < 500; seed++) {
		struct gagg_times t = { 0 };
		u64 compute = 0, wait = 0, ops = 0, now = seed + 1;
		u32 flying = 0;
		bool begun = false;

		for (u64 i = 0; i < 200; i++) {
			u64 step = gagg_mix64(seed, 2 * i) % 5, what = gagg_mix64(seed, 2 * i + 1) % 3;

			for (; step; step--, now++) {
				wait += begun && flying;
				compute += begun && !flying;
			}
			if (what == 0) {
				gagg_times_submit(&t, now);
				begun = true;
				flying++;
			} else if (what == 1 && flying) {
				u32 n = 1 + (u32)(gagg_mix64(seed, i) % flying);

				gagg_times_done(&t, n, now);
				flying -= n;
				ops += n;
			}
			is(&t, now, compute, wait, ops);
		}
	}
}

static void show__of_the_first_op_on(void **state)
{
	struct gagg_times t = { .share = 3, .batch = 8 };
	struct gagg_ioc_times told;

	(void)state;
	assert_false(gagg_times_show(&t, &told, 50));
	gagg_times_submit(&t, 100);
	assert_true(gagg_times_show(&t, &told, 130));
	assert_int_equal(told.compute_ns, 0);
	assert_int_equal(told.wait_ns, 30);
	assert_int_equal(told.share, 3);
	assert_int_equal(told.batch, 8);
	/* it changes nothing, and the times of the last epoch stay */
	assert_int_equal(t.since, 100);
	gagg_times_done(&t, 1, 140);
	gagg_times_end(&t, 160);
	assert_true(gagg_times_show(&t, &told, 900));
	assert_int_equal(told.compute_ns, 20);
	assert_int_equal(told.wait_ns, 40);
	assert_int_equal(told.ops, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(show__of_the_first_op_on),
		cmocka_unit_test(first_op__begins),
		cmocka_unit_test(overlap__is_waiting),
		cmocka_unit_test(end__stops),
		cmocka_unit_test(backwards__is_now),
		cmocka_unit_test(random__adds_up),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
