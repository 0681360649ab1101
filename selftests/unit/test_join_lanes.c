// SPDX-License-Identifier: GPL-2.0
/* links: kmod/core/group/join*.c; libs: */
/*
 * How long chunks are, as hosts of different MTUs agree on it.
 */
#include "join_net.h"

static void limit(u32 n, u32 lanes)
{
	gagg_join_limit(&host[n].j, &host[n].g, lanes, now);
	drain(n);
}

/* before anything was said */
static void limits(u32 a, u32 b, u32 c)
{
	limit(0, a);
	limit(1, b);
	limit(2, c);
}

static void assert_lanes(u32 lanes)
{
	u32 n;

	for (n = 0; n < nodes; n++)
		assert_int_equal(host[n].j.lanes, lanes);
}

static void end_all(void)
{
	struct gagg_end end = { .reason = GAGG_R_ADMIN };

	gagg_join_end(&host[0].j, &host[0].g, &end, now);
	drain(0);
	run(200 * GAGG_MSEC);
}

/* an epoch, of so many lanes on every host */
static void assert_epoch(u64 epoch, u32 lanes)
{
	attach_all();
	run(200 * GAGG_MSEC);
	assert_true(all_run(epoch));
	assert_lanes(lanes);
}

static void lanes__are_the_least_limit(void **state)
{
	(void)state;
	world(3);
	limits(344, 328, 320);
	assert_epoch(1, 320);
	assert_int_equal(last[GAGG_T_START].m.lanes, 320);
	world(3);
	limits(264, 328, 344);
	assert_epoch(1, 264);
	started(3);
	assert_lanes(344);
}

static void limit__is_rounded(void **state)
{
	static const u32 of[][2] = {
		{ 0, 8 }, { 7, 8 }, { 9, 8 }, { 335, 328 }, { 343, 336 }, { 344, 344 },
		{ 345, 344 }, { 2240, 344 }, { ~0U, 344 },
	};
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(of) / sizeof(of[0]); i++) {
		world(2);
		limit(1, of[i][0]);
		assert_int_equal(host[1].j.limit, of[i][1]);
	}
	/* one that is no multiple of 8 stays what it is, but if less fits */
	world(2);
	host[1].g.lanes = 3;
	boot(1);
	limit(1, 2240);
	assert_int_equal(host[1].j.limit, 3);
}

/* START is the same however often it is sent, whatever its sender has heard since */
static void start__lost_and_limits_change(void **state)
{
	(void)state;
	world(3);
	limits(344, 328, 336);
	lost = lose_start;
	attach_all();
	run(100 * GAGG_MSEC);
	assert_int_equal(host[0].j.phase, GAGG_PHASE_RUNNING);
	assert_int_equal(host[2].j.phase, GAGG_PHASE_IDLE);
	limit(0, 200);
	limit(1, 344);
	run(100 * GAGG_MSEC);
	lost = NULL;
	run(100 * GAGG_MSEC);
	assert_true(all_run(1));
	assert_lanes(328);
	run(20 * GAGG_SEC);
	assert_true(all_run(1));
	assert_lanes(328);
	end_all();
	assert_epoch(2, 200);
}

/* it was queued, and is made when its epoch is over */
static void start__made_late_is_the_same(void **state)
{
	struct datagram d;

	(void)state;
	world(3);
	limits(344, 344, 328);
	assert_epoch(1, 328);
	limit(2, 344);
	end_all();
	assert_lanes(344);
	make(&d, 0, GAGG_JOIN_SEND_START, 1);
	assert_int_equal(d.m.epoch, 1);
	assert_int_equal(d.m.lanes, 328);
}

static void epoch__keeps_its_lanes(void **state)
{
	(void)state;
	started(3);
	limit(1, 240);
	run(20 * GAGG_SEC);
	assert_true(all_run(1));
	assert_lanes(344);
	end_all();
	assert_lanes(240);
	assert_epoch(2, 240);
	/* known here before anybody is heard again */
	limit(1, 200);
	leave(2, GAGG_R_BYE);
	assert_int_equal(host[1].j.lanes, 200);
	run(200 * GAGG_MSEC);
	assert_epoch(3, 200);
	limit(1, 400);
	run(20 * GAGG_SEC);
	assert_lanes(200);
	end_all();
	assert_epoch(4, 344);
}

static bool lose_hello_of_2(const struct datagram *d)
{
	return d->from == 2 && d->m.type == GAGG_T_HELLO;
}

static void start__with_more_than_fits_is_refused(void **state)
{
	(void)state;
	world(3);
	attach(0);
	attach(4);
	run(100 * GAGG_MSEC);
	lost = lose_hello_of_2;
	limit(2, 320);
	attach(2);
	run(200 * GAGG_MSEC);
	lost = NULL;
	run(200 * GAGG_MSEC);
	assert_ended(0, 1, GAGG_R_MTU, 4);
	assert_ended(1, 1, GAGG_R_MTU, 4);
	assert_ended(2, 1, GAGG_R_MTU, 4);
	assert_int_equal(host[2].starts, 0);
	assert_epoch(2, 320);
}

static void start__of_no_lanes_is_dropped(void **state)
{
	static const u16 bad[] = { 0, 1, 7, 12, 343, 352, 2240, 65535 };
	struct datagram d;
	u32 i;

	(void)state;
	world(3);
	lost = lose_start;
	attach_all();
	run(100 * GAGG_MSEC);
	d = last[GAGG_T_START];
	d.to = 1;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		d.m.lanes = bad[i];
		assert_int_equal(deliver(&d), GAGG_DROP_OP);
		assert_int_equal(host[1].j.phase, GAGG_PHASE_IDLE);
	}
	d.m.lanes = 344;
	assert_int_equal(deliver(&d), GAGG_DROP_NONE);
	assert_int_equal(host[1].j.phase, GAGG_PHASE_RUNNING);
}

static u16 nonsense;

/* not lost, but changed on the way */
static bool say_nonsense(const struct datagram *d)
{
	if (d->m.type == GAGG_T_HELLO && d->from == 1)
		((struct datagram *)d)->m.lanes = nonsense;
	return false;
}

static void hello__nonsense_is_no_limit(void **state)
{
	static const u16 bad[] = { 0, 1, 7, 12, 343, 352, 2240, 65535 };
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		world(3);
		nonsense = bad[i];
		lost = say_nonsense;
		assert_epoch(1, 344);
	}
	world(3);
	nonsense = 16;
	lost = say_nonsense;
	limit(1, 16);
	assert_epoch(1, 16);
}

static bool lose_wide(const struct datagram *d)
{
	return d->m.len >= 328 * 4;
}

/* more than 328 lanes do not pass between nodes 1 and 2 */
static bool lose_longer(const struct datagram *d)
{
	return d->from && d->to && d->m.len > 328 * 4;
}

static void wide__is_as_long_as_agreed(void **state)
{
	(void)state;
	world(3);
	lost = lose_longer;
	limits(344, 344, 328);
	assert_epoch(1, 328);
	run(20 * GAGG_SEC);
	assert_true(all_run(1));
	end_all();
	/* what has shown that 328 pass says nothing of 344 */
	limit(2, 344);
	run(20 * GAGG_MSEC);
	attach_all();
	run(8 * GAGG_SEC);
	assert_int_equal(host[0].j.epoch, 1);
	assert_lanes(344);
	assert_true(gagg_join_names_blocked(&host[0].j, &host[0].g, now));
	limit(0, 328);
	run(3 * GAGG_SEC);
	assert_true(all_run(2));
	assert_lanes(328);
	assert_false(gagg_join_names_blocked(&host[0].j, &host[0].g, now));
}

/* shards of hosts 1 and 2 that are in @epoch have heard chunks of it from each other now */
static void hear_chunks(u64 epoch)
{
	u32 n, shard;

	for (n = 1; n < 3; n++)
		for (shard = 0; shard < SHARDS; shard++) {
			u64 at[GAGG_NODES] = { 0 };

			at[3 - n] = now;
			gagg_join_hear(&host[n].j, shard, epoch, at, at);
		}
}

/* an epoch had less: that its chunks passed says nothing of more */
static void wide__again_after_an_epoch_of_less(void **state)
{
	(void)state;
	world(3);
	limits(344, 344, 328);
	assert_epoch(1, 328);
	lost = lose_longer;
	limit(2, 344);
	run(GAGG_SEC);
	hear_chunks(1);
	end_all();
	attach_all();
	run(3 * GAGG_SEC);
	assert_int_equal(host[0].j.epoch, 1);
	lost = NULL;
	run(2 * GAGG_SEC);
	assert_true(all_run(2));
	assert_lanes(344);
}

/* its shards hear them when it has ended here, and until the next one begins there */
static void wide__not_by_shards_of_an_epoch_of_less(void **state)
{
	u32 i;

	(void)state;
	world(3);
	limits(344, 344, 328);
	assert_epoch(1, 328);
	lost = lose_longer;
	limit(2, 344);
	end_all();
	attach_all();
	for (i = 0; i < 30; i++) {
		assert_lanes(344);
		hear_chunks(1);
		run(100 * GAGG_MSEC);
	}
	assert_int_equal(host[0].j.epoch, 1);
	lost = NULL;
	run(2 * GAGG_SEC);
	assert_true(all_run(2));
	lost = lose_longer;
	for (i = 0; i < 100; i++) {
		hear_chunks(1);
		run(100 * GAGG_MSEC);
	}
	assert_int_equal(host[2].j.end.reason, GAGG_R_BLOCKED);
}

/* those of an epoch of as many do count when it has ended */
static void wide__by_shards_of_an_epoch_of_as_many(void **state)
{
	u32 i;

	(void)state;
	world(3);
	limits(328, 344, 328);
	assert_epoch(1, 328);
	end_all();
	lost = lose_wide;
	for (i = 0; i < 100; i++) {
		hear_chunks(1);
		run(100 * GAGG_MSEC);
	}
	assert_int_equal(host[2].j.peer[1].lacks, 0);
	assert_true(host[2].j.peer[0].lacks);
}

static bool lose_2_to_1(const struct datagram *d)
{
	return d->from == 2 && d->to == 1;
}

/* node 0 pads to what node 2 can send, which node 1 has never heard */
static void blocked__not_by_who_knows_less(void **state)
{
	struct gagg_blocked on;
	u32 i;

	(void)state;
	world(3);
	lost = lose_2_to_1;
	limits(344, 344, 200);
	attach_all();
	for (i = 0; i < 100; i++) {
		run(300 * GAGG_MSEC);
		assert_false(gagg_join_blocked(&host[1].j, &host[1].g, 0, now, &on));
		assert_false(gagg_join_blocked(&host[0].j, &host[0].g, 1, now, &on));
	}
	assert_int_equal(host[0].j.epoch, 0);
	lost = NULL;
	run(2 * GAGG_SEC);
	assert_true(all_run(1));
	assert_lanes(200);
}

/* a host that pads to less is asked with each slow HELLO, and not faster */
static void short__is_asked_for_seldom(void **state)
{
	u32 was;

	(void)state;
	world(3);
	lost = lose_2_to_1;
	limits(344, 344, 200);
	attach_all();
	run(5 * GAGG_SEC);
	was = wides;
	run(20 * GAGG_SEC);
	assert_in_range(wides - was, 1, 5 * 20);
	/* and fast again when there is another limit, between two slow HELLOs */
	run(300 * GAGG_MSEC);
	assert_true(host[1].j.peer[0].lacks);
	limit(1, 200);
	run(200 * GAGG_MSEC);
	assert_false(host[1].j.peer[0].lacks);
}

static void limit__is_told_at_once(void **state)
{
	(void)state;
	world(3);
	run(300 * GAGG_MSEC);
	limit(2, 200);
	run(2 * DELAY);
	assert_lanes(200);
	/* what all others can do as well is no news */
	sent[GAGG_T_HELLO] = 0;
	limit(2, 203);
	run(2 * DELAY);
	assert_int_equal(sent[GAGG_T_HELLO], 0);
}

/* a host that has shown that more passes need not show that less does */
static void limit__less_is_no_reason_to_ask(void **state)
{
	u32 was;

	(void)state;
	world(3);
	run(300 * GAGG_MSEC);
	was = wides;
	assert_int_equal(host[0].j.through, 1);
	limit(2, 200);
	run(300 * GAGG_MSEC);
	assert_int_equal(wides, was);
	assert_int_equal(host[0].j.through, 1);
}

/* of one that comes back with another MTU the old one does not count */
static void limit__of_a_new_instance(void **state)
{
	(void)state;
	world(3);
	limits(344, 344, 200);
	assert_epoch(1, 200);
	boot(2);
	run(2 * GAGG_SEC);
	assert_epoch(2, 344);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lanes__are_the_least_limit),
		cmocka_unit_test(limit__is_rounded),
		cmocka_unit_test(start__lost_and_limits_change),
		cmocka_unit_test(start__made_late_is_the_same),
		cmocka_unit_test(epoch__keeps_its_lanes),
		cmocka_unit_test(start__with_more_than_fits_is_refused),
		cmocka_unit_test(start__of_no_lanes_is_dropped),
		cmocka_unit_test(hello__nonsense_is_no_limit),
		cmocka_unit_test(wide__is_as_long_as_agreed),
		cmocka_unit_test(wide__again_after_an_epoch_of_less),
		cmocka_unit_test(wide__not_by_shards_of_an_epoch_of_less),
		cmocka_unit_test(wide__by_shards_of_an_epoch_of_as_many),
		cmocka_unit_test(blocked__not_by_who_knows_less),
		cmocka_unit_test(short__is_asked_for_seldom),
		cmocka_unit_test(limit__is_told_at_once),
		cmocka_unit_test(limit__less_is_no_reason_to_ask),
		cmocka_unit_test(limit__of_a_new_instance),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
