// SPDX-License-Identifier: GPL-2.0
/* links: kmod/core/group/join*.c; libs: */
/*
 * A host is alive if it is heard, by HELLO or by data, on networks that lose in long
 * bursts, or are down most of the time.
 */
#include "join_net.h"

#define TEN_MINUTES	(600 * GAGG_SEC)

static u64 chance_state;

/* splitmix64; true in @percent of 100 */
static bool chance(u32 percent)
{
	u64 z = chance_state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return (z ^ z >> 31) % 100 < percent;
}

/* Gilbert-Elliott towards each node: 3 % begin a burst, 5 % end it, all in it is lost */
static bool bad[NODES];

static bool lose_bursts(const struct datagram *d)
{
	if (chance(bad[d->to] ? 5 : 3))
		bad[d->to] = !bad[d->to];
	return bad[d->to];
}

/* node 1's link is up for 150 ms after it was down for a second */
static bool lose_flapping(const struct datagram *d)
{
	return (d->from == 1 || d->to == 1) && now % (1150 * GAGG_MSEC) < GAGG_SEC;
}

/* node @n hears data of @from now, on both shards */
static void hear(u32 n, u32 from)
{
	u64 heard[GAGG_NODES] = { 0 };

	heard[from] = now;
	gagg_join_hear(&host[n].j, 0, 1, heard, heard);
	gagg_join_hear(&host[n].j, 1, 1, heard, heard);
}

static void alive__bursts_of_loss(void **state)
{
	u32 n, seed;

	(void)state;
	for (n = 2; n <= 3; n++)
		for (seed = 1; seed <= 5; seed++) {
			started(n);
			chance_state = seed;
			memset(bad, 0, sizeof(bad));
			lost = lose_bursts;
			run(TEN_MINUTES);
			assert_true(all_run(1));
		}
}

static void alive__link_that_comes_and_goes(void **state)
{
	u32 n;

	(void)state;
	for (n = 2; n <= 3; n++) {
		started(n);
		lost = lose_flapping;
		run(TEN_MINUTES);
		assert_true(all_run(1));
	}
}

static void alive__data_count(void **state)
{
	u32 i;

	(void)state;
	started(3);
	run(GAGG_SEC);
	lost = lose_node2;
	for (i = 0; i < 20; i++) {
		run(4 * GAGG_SEC);
		hear(0, 2);
		hear(1, 2);
		hear(2, 0);
		hear(2, 1);
	}
	assert_true(all_run(1));
	run(5 * GAGG_SEC - GAGG_MSEC);
	assert_true(all_run(1));
	run(GAGG_MSEC + DELAY);
	assert_ended(0, 1, GAGG_R_SILENT, 4);
	assert_ended(1, 1, GAGG_R_SILENT, 4);
}

static void alive__old_data_do_not(void **state)
{
	u64 heard[GAGG_NODES] = { 0 };

	(void)state;
	started(2);
	run(3 * GAGG_SEC);
	/* what a shard has heard in the meantime is older than the last HELLO */
	heard[1] = 1;
	gagg_join_hear(&host[0].j, 0, 1, heard, heard);
	lost = lose_all;
	run(3 * GAGG_SEC);
	assert_true(all_run(1));
}

/* a host that is gone is asked some hundred times, then left alone */
static void alive__gone_at_dead_after(void **state)
{
	u64 died;

	(void)state;
	started(3);
	run(1500 * GAGG_MSEC);
	hear(0, 2);
	hear(1, 2);
	died = now;
	host[2].up = false;
	run(1200 * GAGG_MSEC);
	sent[GAGG_T_HELLO] = 0;
	run(3700 * GAGG_MSEC);
	assert_in_range(sent[GAGG_T_HELLO], 2 * 250, 2 * 350);
	assert_true(host[0].j.phase == GAGG_PHASE_RUNNING);
	run(died + 5 * GAGG_SEC + DELAY - now);
	assert_ended(0, 1, GAGG_R_SILENT, 4);
	assert_int_equal(host[1].j.phase, GAGG_PHASE_IDLE);
	assert_int_equal(host[1].j.end.rank, 4);
	run(3 * GAGG_SEC);
	sent[GAGG_T_HELLO] = 0;
	run(10 * GAGG_SEC);
	assert_in_range(sent[GAGG_T_HELLO], 30, 90);
}

/* the other one speaks: no HELLO is asked for */
static void alive__nobody_is_asked_who_speaks(void **state)
{
	u32 i;

	(void)state;
	started(2);
	run(2 * GAGG_SEC);
	sent[GAGG_T_HELLO] = 0;
	for (i = 0; i < 100; i++) {
		run(100 * GAGG_MSEC);
		hear(0, 1);
		hear(1, 0);
	}
	assert_in_range(sent[GAGG_T_HELLO], 18, 20);
}

/* dead-after of less than 4 s: a HELLO comes every quarter of it, and that is not late */
static void alive__short_dead_after(void **state)
{
	u32 n;

	(void)state;
	started(2);
	for (n = 0; n < 2; n++)
		host[n].g.dead_after = GAGG_SEC;
	run(2 * GAGG_SEC);
	sent[GAGG_T_HELLO] = 0;
	run(10 * GAGG_SEC);
	/* each shows 14 times that chunks pass: a question, an answer, two shards */
	assert_in_range(sent[GAGG_T_HELLO], 78 + 2 * 13 * 3, 82 + 2 * 14 * 4);
}

/* not in an epoch: nobody is told of a death, but whether a host is there is shown */
static void alive__while_idle(void **state)
{
	(void)state;
	world(2);
	run(2 * GAGG_SEC);
	lost = lose_bursts;
	run(60 * GAGG_SEC);
	assert_int_equal(gagg_join_heard(&host[0].j, &host[0].g, now), 0xf);
	host[1].up = false;
	run(5 * GAGG_SEC);
	assert_int_equal(gagg_join_heard(&host[0].j, &host[0].g, now), 0x3);
	sent[GAGG_T_HELLO] = 0;
	run(10 * GAGG_SEC);
	assert_in_range(sent[GAGG_T_HELLO], 9, 11);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alive__bursts_of_loss),
		cmocka_unit_test(alive__link_that_comes_and_goes),
		cmocka_unit_test(alive__data_count),
		cmocka_unit_test(alive__old_data_do_not),
		cmocka_unit_test(alive__gone_at_dead_after),
		cmocka_unit_test(alive__nobody_is_asked_who_speaks),
		cmocka_unit_test(alive__short_dead_after),
		cmocka_unit_test(alive__while_idle),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
