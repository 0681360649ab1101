// SPDX-License-Identifier: GPL-2.0
/* links: core kmod/core/path.c kmod/core/cwnd.c; libs: */
/*
 * A host that comes after all others completes what they have sent: as much of it leaves in
 * a round trip as its own contributions could.
 */
#include "chan_node.h"

#define RING	1024
#define WINDOW	512
#define CWND	64
#define ROOM	(CWND / 2)	/* in a round trip: the window doubles to half of the most */
#define TRIP	(8 * GAGG_MSEC)

static void away(u32 node, u64 trip)
{
	sh->path[node].srtt = trip;
	sh->path[node].rtt = trip;
}

/* node 0 is home of all; nodes 1 and 2 have contributed, and are so far away */
static void others_have_come(u64 trip, u64 trip2)
{
	u32 i, n;

	geometry(0);
	g.ring = RING;
	g.window = WINDOW;
	g.cwnd = CWND;
	start_channel(0, g.workers);
	away(1, trip);
	away(2, trip2);
	for (i = 0; i < WINDOW; i++)
		for (n = 1; n < g.nodes; n++)
			contrib(n, i, 1, 100);
	assert_int_equal(submit(0, WINDOW), 1);
	flush();
	assert_int_equal(count_acts(GAGG_ACT_SEND_RESULT), 0);
}

static u32 results(void)
{
	u32 n = count_acts(GAGG_ACT_SEND_RESULT);

	nacts = 0;
	return n;
}

/* until @end, whenever the channel says */
static u32 results_until(u64 end)
{
	u32 n = 0;
	u64 at;

	while ((at = gagg_chan_deadline(ch)) <= end) {
		now = gagg_max64(now, at);
		fire();
		n += results();
	}
	now = end;
	return n;
}

static void comes_late__leaves_by_and_by(void **state)
{
	u64 begin;
	u32 n, trip;

	(void)state;
	others_have_come(TRIP, TRIP);
	begin = now;
	push_to(WINDOW);
	n = results();
	assert_in_range(n, ROOM / 4, ROOM / 4 + 1);
	for (trip = 1; trip < WINDOW / ROOM; trip++) {
		n += results_until(begin + trip * TRIP);
		assert_in_range(n, trip * ROOM, trip * ROOM + ROOM / 4 + 1);
	}
	n += results_until(begin + (trip + 1) * TRIP);
	assert_int_equal(n, WINDOW);
	assert_int_equal(ch->base, WINDOW);
	assert_int_equal(ch->repair_at, GAGG_NEVER);
}

/* an eighth of a round trip's at a time: not each result has a timer */
static void waits__are_few(void **state)
{
	u32 waits = 0, n;

	(void)state;
	others_have_come(TRIP, TRIP);
	push_to(WINDOW);
	for (n = results(); n < WINDOW; n += results(), waits++) {
		assert_in_range(ch->repair_at - now, TRIP / 8, TRIP / 4);
		assert_true(gagg_chan_deadline(ch) <= ch->repair_at);
		now = ch->repair_at;
		fire();
	}
	assert_in_range(waits, WINDOW / ROOM, 8 * WINDOW / ROOM);
}

/* and none of it is lost to a call that comes too early */
static void calls_between__change_nothing(void **state)
{
	u64 begin;
	u32 i, n;

	(void)state;
	others_have_come(TRIP, TRIP);
	begin = now;
	push_to(WINDOW);
	n = results();
	for (i = 0; i < 64; i++) {
		now = begin + i * TRIP / 64;
		flush();
		n += results();
		assert_in_range(ch->repair_at, now + 1, now + TRIP / 4);
	}
	assert_in_range(n, ROOM, ROOM + ROOM / 4 + 1);
	n += results_until(begin + WINDOW / ROOM * TRIP);
	assert_int_equal(n, WINDOW);
}

static void slowest__decides(void **state)
{
	(void)state;
	others_have_come(GAGG_USEC, TRIP);
	push_to(WINDOW);
	assert_in_range(results_until(now + TRIP), ROOM, ROOM + ROOM / 4 + 1);
	others_have_come(TRIP, GAGG_USEC);
	push_to(WINDOW);
	assert_in_range(results_until(now + TRIP), ROOM, ROOM + ROOM / 4 + 1);
}

/* what the window is, if it is more than it doubles to */
static void window__is_the_room(void **state)
{
	u64 begin;
	u32 n;

	(void)state;
	others_have_come(TRIP, TRIP);
	sh->path[1].cwnd = CWND;
	sh->path[2].cwnd = CWND;
	begin = now;
	push_to(WINDOW);
	n = results() + results_until(begin + TRIP);
	assert_in_range(n, CWND, CWND + CWND / 4 + 1);
}

/* nothing is known of the way */
static void no_round_trip__all_at_once(void **state)
{
	(void)state;
	others_have_come(0, 0);
	push_to(WINDOW);
	assert_int_equal(results(), WINDOW);
}

/* results that others complete leave with what they send, and are not counted */
static void comes_first__waits_for_nothing(void **state)
{
	u32 i, n;

	(void)state;
	others_have_come(TRIP, TRIP);
	push_to(WINDOW);
	results_until(now + GAGG_SEC);
	assert_int_equal(submit(0, WINDOW), 2);
	push_to(2 * WINDOW);
	assert_int_equal(results(), 0);
	for (i = WINDOW; i < 2 * WINDOW; i++)
		for (n = 1; n < g.nodes; n++)
			contrib(n, i, 1, 100);
	assert_int_equal(results(), WINDOW);
	assert_true(sh->path[1].results_at < now);
}

/* of zeros many are one datagram */
static void zeros__wait_for_nothing(void **state)
{
	u32 n;

	(void)state;
	geometry(0);
	g.ring = RING;
	g.window = WINDOW;
	start_channel(0, g.workers);
	for (n = 1; n < g.nodes; n++) {
		away(n, TRIP);
		ready(n, 0, 1, WINDOW);
	}
	assert_int_equal(submit(0, WINDOW), 1);
	desc[0].flags = GAGG_C_ZERO;
	push_to(WINDOW);
	assert_int_equal(ch->base, WINDOW);
}

/* two ranks of this host: the second one completes */
static void two_ranks__the_last_one_waits(void **state)
{
	u32 i, l;

	(void)state;
	geometry(0);
	g.ring = RING;
	g.window = WINDOW;
	g.cwnd = CWND;
	more_ranks(0, 3);
	start_channel(0, g.workers);
	away(1, TRIP);
	away(2, TRIP);
	for (i = 0; i < WINDOW; i++) {
		contrib(1, i, 1, 100);
		contrib(2, i, 1, 100);
	}
	for (l = 0; l < 2; l++)
		assert_int_equal(submit(l, WINDOW), 1);
	push_to(WINDOW);
	assert_in_range(results(), ROOM / 4, ROOM / 4 + 1);
	assert_int_equal(gagg_chan_way(ch, 0, 0)->next.v, WINDOW);
	results_until(now + (WINDOW / ROOM + 1) * TRIP);
	assert_int_equal(ch->base, WINDOW);
}

/* the rank before it has lanes, which no accumulation holds */
static void two_ranks__the_last_one_is_zero(void **state)
{
	u32 n;

	(void)state;
	geometry(0);
	g.ring = RING;
	g.window = WINDOW;
	g.cwnd = CWND;
	more_ranks(0, 3);
	start_channel(0, g.workers);
	for (n = 1; n < g.nodes; n++) {
		away(n, TRIP);
		ready(n, 0, 1, WINDOW);
	}
	for (n = 0; n < 2; n++)
		assert_int_equal(submit(n, WINDOW), 1);
	desc[1].flags = GAGG_C_ZERO;
	push_to(WINDOW);
	assert_in_range(results(), ROOM / 4, ROOM / 4 + 1);
}

/* a node that does not want the lanes does not count, nor do results without any */
static void not_wanted__waits_for_nobody(void **state)
{
	u32 i;

	(void)state;
	others_have_come(TRIP, 0);
	for (i = 0; i < WINDOW; i++)
		GAGG_CHAN_AT(ch, off_acc, struct gagg_acc)[i].noresult = GAGG_BIT(1);
	push_to(WINDOW);
	assert_int_equal(results(), WINDOW);
	others_have_come(TRIP, TRIP);
	for (i = 0; i < WINDOW; i++)
		GAGG_CHAN_AT(ch, off_acc, struct gagg_acc)[i].noresult = GAGG_BIT(1) | GAGG_BIT(2);
	desc[0].flags = GAGG_C_NORESULT;
	push_to(WINDOW);
	assert_int_equal(ch->base, WINDOW);
	others_have_come(TRIP, TRIP);
	desc[0].flags = GAGG_C_NONFINITE;
	push_to(WINDOW);
	assert_int_equal(ch->base, WINDOW);
	others_have_come(TRIP, TRIP);
	for (i = 0; i < WINDOW; i++)
		GAGG_CHAN_AT(ch, off_acc, struct gagg_acc)[i].nonfinite = 1;
	push_to(WINDOW);
	assert_int_equal(ch->base, WINDOW);
}

/* it voids what was added: nothing is complete */
static void larger_exponent__is_at_once(void **state)
{
	u32 n;

	(void)state;
	others_have_come(TRIP, TRIP);
	desc[0].exp = 120;
	push_to(WINDOW);
	flush();
	assert_int_equal(results(), 0);
	assert_int_equal(gagg_chan_way(ch, 0, 0)->next.v, WINDOW);
	assert_int_equal(sh->n[GAGG_N_VOIDS], WINDOW);
	for (n = 1; n < g.nodes; n++)
		assert_true(sh->path[n].results_at < now);
}

/* a queue that is gone, or a peer that was stopped */
static void round_trip__was_longer(void **state)
{
	u32 n;

	(void)state;
	others_have_come(2 * GAGG_SEC, 2 * GAGG_SEC);
	push_to(WINDOW);
	assert_in_range(results(), ROOM / 4, ROOM / 4 + 1);
	for (n = 1; n < g.nodes; n++)
		sh->path[n].rtt = TRIP;
	assert_in_range(results_until(now + 2 * TRIP), ROOM, 3 * ROOM);
}

/* nothing but READY has left: it does not grow */
static void window__collapsed(void **state)
{
	u32 n, least = GAGG_PATH_CWND_CALM;

	(void)state;
	others_have_come(TRIP, TRIP);
	for (n = 1; n < g.nodes; n++)
		sh->path[n].cwnd = sh->path[n].slow_to = GAGG_PATH_CWND_MIN;
	push_to(WINDOW);
	n = results();
	assert_in_range(n, least / 4, least / 4 + 1);
	n += results_until(now + TRIP);
	assert_in_range(n, least, least + least / 4 + 1);
}

/* timers are no more exact: as much as that is at once */
static void round_trip__is_short(void **state)
{
	(void)state;
	others_have_come(50 * GAGG_USEC, 50 * GAGG_USEC);
	push_to(WINDOW);
	assert_in_range(results(), ROOM, ROOM + 1);
	assert_in_range(ch->repair_at, now + 25 * GAGG_USEC, now + 30 * GAGG_USEC);
}

/* what waits here holds up no other home's */
static void other_homes__go_on(void **state)
{
	u32 i, n;

	(void)state;
	geometry(0);
	g.ring = RING;
	g.window = WINDOW;
	g.cwnd = CWND;
	g.aggregators = 7;
	start_channel(0, g.workers);
	for (n = 1; n < g.nodes; n++) {
		away(n, TRIP);
		sh->path[n].cwnd = CWND;
		sh->path[n].results_at = now + TRIP / 2;
	}
	for (i = 0; i < WINDOW; i++)
		for (n = 1; n < g.nodes && gagg_geom_home(&g, ch->nhomes, i) == ch->self_home; n++)
			contrib(n, i, 1, 100);
	assert_int_equal(submit(0, WINDOW), 1);
	push_to(WINDOW);
	assert_int_equal(count_acts(GAGG_ACT_SEND_RESULT), 0);
	assert_int_equal(count_acts(GAGG_ACT_SEND_CONTRIB), 2 * CWND);
}

/* results that are asked for again have their time, what waits to be complete has its own */
static void repairs__while_it_waits(void **state)
{
	u32 n;

	(void)state;
	others_have_come(TRIP, TRIP);
	push_to(WINDOW);
	n = results();
	ask_repeat(1, 0, 1, 4);
	flush();
	assert_int_equal(results(), 4);
	assert_in_range(ch->repair_at, now + 1, now + TRIP / 4);
	now = ch->repair_at;
	fire();
	assert_in_range(results(), n / 2, n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(comes_late__leaves_by_and_by, finish_test),
		cmocka_unit_test_teardown(waits__are_few, finish_test),
		cmocka_unit_test_teardown(calls_between__change_nothing, finish_test),
		cmocka_unit_test_teardown(slowest__decides, finish_test),
		cmocka_unit_test_teardown(window__is_the_room, finish_test),
		cmocka_unit_test_teardown(no_round_trip__all_at_once, finish_test),
		cmocka_unit_test_teardown(comes_first__waits_for_nothing, finish_test),
		cmocka_unit_test_teardown(zeros__wait_for_nothing, finish_test),
		cmocka_unit_test_teardown(two_ranks__the_last_one_waits, finish_test),
		cmocka_unit_test_teardown(two_ranks__the_last_one_is_zero, finish_test),
		cmocka_unit_test_teardown(not_wanted__waits_for_nobody, finish_test),
		cmocka_unit_test_teardown(larger_exponent__is_at_once, finish_test),
		cmocka_unit_test_teardown(round_trip__was_longer, finish_test),
		cmocka_unit_test_teardown(window__collapsed, finish_test),
		cmocka_unit_test_teardown(round_trip__is_short, finish_test),
		cmocka_unit_test_teardown(other_homes__go_on, finish_test),
		cmocka_unit_test_teardown(repairs__while_it_waits, finish_test),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
