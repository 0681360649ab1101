// SPDX-License-Identifier: GPL-2.0
/* links: core kmod/core/path.c kmod/core/cwnd.c; libs: */
/*
 * What a node may have a home send again: each result once for all that ask, no more than
 * its window in a round trip, and nothing for a stranger.
 */
#include "chan_node.h"

#define RING	1024
#define WINDOW	512
#define CWND	16

/* node 0 is home of RING chunks, the first WINDOW of them have results */
static void publish(u32 nodes)
{
	u32 i, n;

	geometry(0);
	g.ring = RING;
	g.window = WINDOW;
	g.cwnd = CWND;
	for (n = g.nodes; n < nodes; n++)
		more_ranks(n, n);
	g.nodes = (u8)nodes;
	start_channel(0, g.workers);
	assert_int_equal(submit(0, WINDOW), 1);
	push_to(WINDOW);
	for (i = 0; i < WINDOW; i++)
		for (n = 1; n < nodes; n++)
			contrib(n, i, 1, 100);
	flush();
	assert_int_equal(count_acts(GAGG_ACT_SEND_RESULT), WINDOW);
	nacts = 0;
}

static void pull(u32 node, u32 first, u32 run)
{
	struct gagg_msg m = message(GAGG_T_PULL, node, 0, 0);

	m.pn = first;
	m.run = (u16)run;
	assert_int_equal(rx(node, m), GAGG_RX_OK);
}

/* each of @nodes does, and then the batch ends */
static void pull_by(u64 nodes, u32 first, u32 run)
{
	for (; nodes; nodes &= nodes - 1)
		pull(gagg_lowest(nodes), first, run);
	flush();
}

/* results that were sent since, one by one; each to @nodes */
static u32 sent_to(u64 nodes)
{
	const struct gagg_act *a;
	u32 at = 0, n = 0;

	while ((a = next_act(&at, GAGG_ACT_SEND_RESULT))) {
		assert_true(a->m.flags & GAGG_WF_REPAIR);
		assert_true(a->nodes == nodes);
		n++;
	}
	nacts = 0;
	return n;
}

/* the time goes on to when the channel says */
static void wait(void)
{
	now = gagg_chan_deadline(ch);
	assert_true(now != GAGG_NEVER);
	fire();
}

static void asked_twice__is_sent_once(void **state)
{
	(void)state;
	publish(3);
	pull(1, 1, 4);
	pull(1, 3, 4);
	ask_repeat(1, 0, 1, 4);
	assert_int_equal(nacts, 0);
	assert_true(gagg_chan_deadline(ch) <= now);
	flush();
	assert_int_equal(sent_to(2), 6);
	assert_int_equal(sh->n[GAGG_N_REPAIRS], 6);
	assert_int_equal(ch->repair_at, GAGG_NEVER);
	/* and again, once it was sent */
	pull_by(2, 1, 1);
	assert_int_equal(sent_to(2), 1);
}

/* all of it comes, as much as the window holds at once, and the rest in its time */
static void asked_for_all__leaves_by_and_by(void **state)
{
	u32 n, waits = 0;
	u64 begin;

	(void)state;
	publish(3);
	begin = now;
	pull_by(4, 1, WINDOW);
	n = sent_to(4);
	assert_int_equal(n, CWND);
	for (; n < WINDOW; n += sent_to(4), waits++)
		wait();
	assert_int_equal(n, WINDOW);
	assert_in_range(now - begin, (WINDOW / CWND - 2) * GAGG_PATH_RTO_MIN,
			(WINDOW / CWND) * GAGG_PATH_RTO_MIN);
	assert_in_range(waits, WINDOW / CWND - 2, WINDOW);
	wait();
	assert_int_equal(ch->parked, 0);
	assert_int_equal(sent_to(4), 0);
}

/* bytes in a round trip do not depend on how often it asks; another node has its own */
static void asked_often__is_no_more(void **state)
{
	const u64 step = GAGG_PATH_RTO_MIN / 100;
	u32 i, trip, n;

	(void)state;
	publish(3);
	for (trip = 0; trip < 8; trip++) {
		for (n = 0, i = 0; i < 100; i++, now += step) {
			pull(1, 1, WINDOW);
			ask_repeat(1, 0, 1, WINDOW);
			flush();
			n += sent_to(2);
		}
		assert_in_range(n, CWND - 1, trip ? CWND + 1 : 2 * CWND);
	}
	pull_by(4, 1, CWND);
	n = 0;
	for (i = 0; i < nacts; i++)
		n += acts[i].type == GAGG_ACT_SEND_RESULT && (acts[i].nodes & 4);
	assert_int_equal(n, CWND);
}

/* what two nodes lack is copied once */
static void asked_by_two__is_sent_once(void **state)
{
	(void)state;
	publish(4);
	pull_by(6, 1, 4);
	assert_int_equal(sent_to(6), 4);
	assert_int_equal(sh->n[GAGG_N_REPAIRS], 8);
}

/* what two lack goes to all, where one datagram reaches all */
static void asked_by_two__goes_to_all_once(void **state)
{
	(void)state;
	publish(4);
	g.heard_by_others = 1;
	pull_by(8, 1, 4);
	assert_int_equal(sent_to(8), 4);
	pull_by(10, 1, 4);
	assert_int_equal(sent_to(14), 4);
	/* a node that has asked meanwhile has it already */
	now += GAGG_MSEC;
	pull_by(4, 1, 4);
	assert_int_equal(sent_to(0), 0);
	/* a node that asks again has not heard it, and will not hear the next */
	now += 2 * GAGG_MSEC;
	pull_by(10, 1, 4);
	assert_int_equal(sent_to(10), 4);
	pull_by(10, 11, 4);
	assert_int_equal(sent_to(10), 4);
	/* two others that do: the third is sent its own, as is one that asks at once */
	publish(5);
	g.heard_by_others = 1;
	ch->deaf = 2;
	pull_by(14, 11, 1);
	assert_int_equal(count_acts(GAGG_ACT_SEND_RESULT), 2);
	assert_int_equal(acts[0].nodes, 30);
	assert_int_equal(acts[1].nodes, 2);
	nacts = 0;
	pull_by(2, 11, 1);
	assert_int_equal(sent_to(2), 1);
	/* a node that may have nothing for a while need not have it again */
	now += GAGG_SEC;
	publish(5);
	g.heard_by_others = 1;
	pull_by(4, 1, CWND);
	assert_int_equal(sent_to(4), CWND);
	pull_by(14, 100, 4);
	assert_int_equal(sent_to(30), 4);
	now += GAGG_SEC;
	fire();
	assert_int_equal(sent_to(0), 0);
	assert_int_equal(ch->parked, 0);
}

/* all others, none of which hears what goes to all: that is not said to all again */
static void asked_by_all__that_hear_nothing(void **state)
{
	(void)state;
	publish(3);
	g.heard_by_others = 1;
	ch->deaf = 6;
	pull_by(6, 1, 1);
	assert_int_equal(count_acts(GAGG_ACT_SEND_RESULT), 2);
	assert_int_equal(acts[0].nodes, 2);
	assert_int_equal(acts[1].nodes, 4);
	nacts = 0;
	/* after a window of results they may hear it */
	assert_int_equal(submit(0, WINDOW), 2);
	push_to(2 * WINDOW);
	ready(1, WINDOW, 1, WINDOW);
	ready(2, WINDOW, 1, WINDOW);
	assert_int_equal(ch->deaf, 0);
}

/* not all of them want it, or have members, or it has no lanes */
static void asked_by_two__does_not_reach_all(void **state)
{
	struct gagg_res *r;

	(void)state;
	publish(4);
	g.heard_by_others = 1;
	r = gagg_chan_res(ch, 0);
	r->nodes = 6;
	pull_by(6, 1, 1);
	assert_int_equal(count_ctrl(GAGG_T_DONE, NULL), 0);
	assert_int_equal(sent_to(6), 1);
	g.workers |= GAGG_BIT(9);
	pull_by(6, 2, 1);
	assert_int_equal(sent_to(6), 1);
	g.workers = ch->members;
	r = gagg_chan_res(ch, 2);
	r->flags |= GAGG_WF_ZERO;
	pull_by(6, 3, 1);
	assert_int_equal(count_ctrl(GAGG_T_RESULT, NULL), 2);
	assert_int_equal(sent_to(0), 0);
}

/* of what has no lanes as many as there are, in one datagram */
static void asked_for_zeros__costs_nothing(void **state)
{
	const struct gagg_act *a;
	u32 i;

	(void)state;
	publish(3);
	for (i = 0; i < 4 * CWND; i++)
		gagg_chan_res(ch, i)->flags |= GAGG_WF_ZERO;
	pull_by(2, 1, 4 * CWND);
	assert_int_equal(count_ctrl(GAGG_T_RESULT, &a), 1);
	assert_int_equal(a->m.run, 4 * CWND);
	assert_int_equal(ch->repair_at, GAGG_NEVER);
}

/* a round trip that was long, and is not any more */
static void round_trip__becomes_shorter(void **state)
{
	u64 begin;

	(void)state;
	publish(3);
	sh->path[1].srtt = 120 * GAGG_MSEC;
	pull_by(2, 1, 2 * CWND);
	assert_int_equal(sent_to(2), CWND);
	sh->path[1].srtt = GAGG_MSEC;
	begin = now;
	while (ch->parked)
		wait();
	/* after one pause as it was */
	assert_in_range(now - begin, 0, 120 * GAGG_MSEC / CWND + 2 * GAGG_MSEC);
	/* and one that is too short to be true is none */
	sh->path[1].srtt = 1;
	now += GAGG_MSEC;
	nacts = 0;
	pull_by(2, 1, WINDOW);
	now += 100 * GAGG_USEC;
	flush();
	assert_in_range(sent_to(2), CWND, CWND + CWND / 5 + 1);
}

/* half a round trip makes room for half a window */
static void time__makes_room(void **state)
{
	(void)state;
	publish(3);
	sh->path[1].srtt = 16 * GAGG_MSEC;
	pull_by(2, 1, CWND);
	assert_int_equal(sent_to(2), CWND);
	now += 8 * GAGG_MSEC;
	pull_by(2, 101, CWND);
	assert_int_equal(sent_to(2), CWND / 2);
	now += GAGG_MSEC;
	fire();
	assert_int_equal(sent_to(2), 1);
}

/* the oldest first: the ring begins at the home's base */
static void order__begins_at_the_base(void **state)
{
	u32 i;

	(void)state;
	publish(3);
	assert_int_equal(submit(0, RING - WINDOW + 4), 2);
	push_to(RING + 4);
	for (i = WINDOW; i < RING + 4; i++) {
		contrib(1, i % RING, 1 + i / RING, 100);
		contrib(2, i % RING, 1 + i / RING, 100);
		push_to(RING + 4);
	}
	flush();
	nacts = 0;
	pull_by(2, RING + 1 - 4, 8);
	assert_int_equal(count_acts(GAGG_ACT_SEND_RESULT), 8);
	for (i = 0; i < 8; i++)
		assert_int_equal(acts[i].m.pn, RING + 1 - 4 + i);
}

/* nobody lacks it any more */
static void next_result__ends_what_is_parked(void **state)
{
	u32 i;

	(void)state;
	publish(3);
	/* nothing may leave for a while */
	pull_by(2, CWND + 2, CWND + 2);
	nacts = 0;
	pull_by(2, 1, 1);
	assert_int_equal(sent_to(2), 0);
	assert_true(ch->parked);
	/* the rest of the ring, and that chunk once more */
	assert_int_equal(submit(0, RING), 2);
	for (i = WINDOW; i < RING + 1; i++) {
		push_to(i + 1);
		contrib(1, i % RING, 1 + i / RING, 100);
		contrib(2, i % RING, 1 + i / RING, 100);
	}
	flush();
	nacts = 0;
	now += GAGG_SEC;
	fire();
	for (i = 0; i < nacts; i++)
		assert_false(acts[i].type == GAGG_ACT_SEND_RESULT && !acts[i].m.chunk);
	assert_int_equal(ch->parked, 0);
}

static void stranger__gets_nothing(void **state)
{
	struct gagg_msg m = message(GAGG_T_PULL, 1, 0, 0);

	(void)state;
	publish(3);
	m.pn = 1;
	m.run = WINDOW;
	m.cookie++;
	assert_int_equal(rx(1, m), GAGG_RX_DROP);
	m.cookie--;
	/* a rank that does not live there; more than the window holds */
	assert_int_equal(rx(2, m), GAGG_RX_DROP);
	m.run = WINDOW + 1;
	assert_int_equal(rx(1, m), GAGG_RX_DROP);
	now += GAGG_SEC;
	fire();
	assert_int_equal(count_acts(GAGG_ACT_SEND_RESULT), 0);
}

/* the queue of actions is drained, and what did not fit follows at once */
static void many_nodes__more_than_the_queue_holds(void **state)
{
	u32 n, calls = 0, at = 0, sent = 0;
	const struct gagg_act *a;

	(void)state;
	publish(34);
	for (n = 1; n < 34; n++)
		pull(n, 1 + (n - 1) * (CWND - 1), CWND - 1);
	while (gagg_chan_refill(sh, &g, &env, ch, now)) {
		assert_true(sh->nacts <= GAGG_ACTS - GAGG_ACTS_STEP + 1);
		drain();
		calls++;
	}
	drain();
	while ((a = next_act(&at, GAGG_ACT_SEND_RESULT)))
		sent += gagg_weight64(a->nodes);
	assert_int_equal(sent, 33 * (CWND - 1));
	assert_int_equal(calls, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(asked_twice__is_sent_once, finish_test),
		cmocka_unit_test_teardown(asked_for_all__leaves_by_and_by, finish_test),
		cmocka_unit_test_teardown(asked_often__is_no_more, finish_test),
		cmocka_unit_test_teardown(asked_by_two__is_sent_once, finish_test),
		cmocka_unit_test_teardown(asked_by_two__goes_to_all_once, finish_test),
		cmocka_unit_test_teardown(asked_by_all__that_hear_nothing, finish_test),
		cmocka_unit_test_teardown(asked_by_two__does_not_reach_all, finish_test),
		cmocka_unit_test_teardown(asked_for_zeros__costs_nothing, finish_test),
		cmocka_unit_test_teardown(round_trip__becomes_shorter, finish_test),
		cmocka_unit_test_teardown(time__makes_room, finish_test),
		cmocka_unit_test_teardown(order__begins_at_the_base, finish_test),
		cmocka_unit_test_teardown(next_result__ends_what_is_parked, finish_test),
		cmocka_unit_test_teardown(stranger__gets_nothing, finish_test),
		cmocka_unit_test_teardown(many_nodes__more_than_the_queue_holds, finish_test),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
