// SPDX-License-Identifier: GPL-2.0
/* links: kmod/core/group/join*.c; libs: */
/*
 * How epochs end, and what nodes know that have lost their state.
 */
#include "join_net.h"

static void end__all_learn_reason_and_rank(void **state)
{
	u32 n;

	(void)state;
	started(3);
	leave(2, GAGG_R_DIED);
	run(2 * DELAY);
	for (n = 0; n < 3; n++) {
		assert_ended(n, 1, GAGG_R_DIED, 2);
		assert_int_equal(host[n].ends, 1);
		assert_int_equal(host[n].j.attached, 0);
	}
	attach_all();
	run(100 * GAGG_MSEC);
	assert_true(all_run(2));
}

static void end__lost_abort_is_repeated(void **state)
{
	(void)state;
	started(3);
	lost = lose_abort;
	leave(4, GAGG_R_BYE);
	run(3 * GAGG_SEC);
	assert_int_equal(host[0].j.phase, GAGG_PHASE_RUNNING);
	lost = NULL;
	run(GAGG_HELLO_FAST + 2 * DELAY);
	assert_ended(0, 1, GAGG_R_BYE, 4);
	assert_ended(1, 1, GAGG_R_BYE, 4);
}

static void end__nothing_arrives_for_a_while(void **state)
{
	(void)state;
	started(3);
	lost = lose_all;
	leave(0, GAGG_R_BYE);
	run(2 * GAGG_SEC);
	lost = NULL;
	run(GAGG_HELLO_FAST + 2 * DELAY);
	assert_ended(2, 1, GAGG_R_BYE, 0);
}

static void end__first_reason_is_kept(void **state)
{
	struct gagg_end why = {
		.reason = GAGG_R_DESYNC, .rank = 2, .other = 4, .sig = 11, .other_sig = 12,
		.call = 13, .other_call = 14,
	};

	(void)state;
	started(3);
	leave(0, GAGG_R_BYE);
	gagg_join_end(&host[1].j, &host[1].g, &why, now);
	drain(1);
	run(GAGG_SEC);
	assert_ended(0, 1, GAGG_R_BYE, 0);
	assert_ended(1, 1, GAGG_R_DESYNC, 2);
	assert_int_equal(host[1].j.end.other_sig, 12);
	assert_int_equal(host[1].j.end.other_call, 14);
	assert_int_equal(host[2].j.phase, GAGG_PHASE_IDLE);
	assert_int_equal(host[0].ends + host[1].ends + host[2].ends, 3);
	/* nothing runs: no effect */
	gagg_join_end(&host[2].j, &host[2].g, &why, now);
	assert_int_equal(host[2].j.nacts, 0);
}

static void end__all_is_told(void **state)
{
	struct gagg_end why = {
		.reason = GAGG_R_DESYNC, .rank = 2, .other = 4, .sig = 11, .other_sig = 12,
		.call = 13, .other_call = 14,
	};
	u32 n;

	(void)state;
	started(3);
	gagg_join_end(&host[1].j, &host[1].g, &why, now);
	drain(1);
	run(GAGG_SEC);
	for (n = 0; n < 3; n++)
		assert_memory_equal(&host[n].j.end, &why, sizeof(why));
}

static void end__wrong_cookie_or_epoch(void **state)
{
	struct datagram d = { .from = 0, .to = 1 };

	(void)state;
	started(2);
	make(&d, 0, GAGG_JOIN_SEND_ABORT, 1);
	d.m.epoch = 1;
	d.m.cookie = host[0].j.cookie ^ 1;
	d.body.abort.reason = cpu_to_le32(GAGG_R_ADMIN);
	assert_int_equal(deliver(&d), GAGG_DROP_COOKIE);
	d.m.cookie ^= 1;
	d.m.epoch = 2;
	assert_int_equal(deliver(&d), GAGG_DROP_EPOCH);
	d.m.epoch = 1;
	d.body.abort.rank = cpu_to_le16(64);
	assert_int_equal(deliver(&d), GAGG_DROP_RANK);
	d.m.len = 4;
	assert_int_equal(deliver(&d), GAGG_DROP_SHORT);
	assert_true(all_run(1));
	/* what a later version knows ends the epoch, too */
	d.m.len = sizeof(d.body.abort);
	d.body.abort.rank = 0;
	d.body.abort.reason = cpu_to_le32(77);
	assert_int_equal(deliver(&d), GAGG_DROP_NONE);
	assert_ended(1, 1, GAGG_R_ADMIN, 0);
}

static void end__old_abort_does_not_end_the_next(void **state)
{
	struct datagram d, made = { .from = 0, .to = 1 };

	(void)state;
	started(2);
	leave(0, GAGG_R_DIED);
	d = last[GAGG_T_ABORT];
	run(GAGG_SEC);
	attach_all();
	run(GAGG_SEC);
	assert_true(all_run(2));
	assert_int_equal(deliver(&d), GAGG_DROP_EPOCH);
	/* queued in epoch 1, made in epoch 2 */
	make(&made, 0, GAGG_JOIN_SEND_ABORT, 1);
	assert_int_equal(deliver(&made), GAGG_DROP_EPOCH);
	assert_true(all_run(2));
}

static void end__silence(void **state)
{
	(void)state;
	started(3);
	run(GAGG_SEC);
	lost = lose_node2;
	run(3 * GAGG_SEC);
	assert_true(all_run(1));
	run(3 * GAGG_SEC);
	assert_ended(0, 1, GAGG_R_SILENT, 4);
	assert_ended(1, 1, GAGG_R_SILENT, 4);
	assert_int_equal(host[2].j.end.reason, GAGG_R_SILENT);
	assert_int_equal(gagg_join_heard(&host[0].j, &host[0].g, now), 0xf);
	lost = NULL;
	attach_all();
	run(2 * GAGG_SEC);
	assert_true(all_run(2));
}

static void restart__ends_the_epoch(void **state)
{
	(void)state;
	started(3);
	boot(1);
	run(GAGG_SEC);
	assert_ended(0, 1, GAGG_R_RESTART, 2);
	assert_ended(2, 1, GAGG_R_RESTART, 2);
	attach_all();
	run(GAGG_SEC);
	assert_true(all_run(2));
}

static void restart__coordinator_learns_the_epoch(void **state)
{
	(void)state;
	world(3);
	host[1].j.epoch = 0x700000005;
	run(GAGG_SEC);
	boot(0);
	attach_all();
	run(GAGG_SEC);
	assert_true(all_run(0x700000006));
	boot(0);
	run(GAGG_SEC);
	assert_ended(1, 0x700000006, GAGG_R_RESTART, 0);
	attach_all();
	run(GAGG_SEC);
	assert_true(all_run(0x700000007));
}

static void restart__old_hello_does_no_harm(void **state)
{
	struct datagram d = { .from = 1, .to = 0 };
	u64 instance;

	(void)state;
	started(2);
	/* it echoes our instance, and the network has kept it */
	make(&d, 1, GAGG_JOIN_SEND_HELLO, 0);
	boot(1);
	run(GAGG_SEC);
	attach_all();
	run(GAGG_SEC);
	assert_true(all_run(2));
	instance = host[0].j.peer[1].instance;
	deliver(&d);
	deliver(&d);
	assert_int_equal(host[0].j.peer[1].instance, instance);
	run(10 * GAGG_SEC);
	assert_true(all_run(2));
	assert_true(!host[0].j.peer[1].other);
}

static void restart__both_doubt_each_other(void **state)
{
	struct datagram a = { .from = 1, .to = 0 }, b = { .from = 0, .to = 1 };

	(void)state;
	started(2);
	make(&a, 1, GAGG_JOIN_SEND_HELLO, 0);
	make(&b, 0, GAGG_JOIN_SEND_HELLO, 1);
	boot(0);
	boot(1);
	attach_all();
	run(GAGG_SEC);
	assert_true(host[0].j.phase == GAGG_PHASE_RUNNING);
	deliver(&a);
	deliver(&b);
	run(GAGG_SEC);
	assert_true(!host[0].j.peer[1].other && !host[1].j.peer[0].other);
	assert_true(all_run(host[0].j.epoch));
}

static void epoch__crosses_32_bits(void **state)
{
	(void)state;
	world(3);
	host[2].j.epoch = 0xfffffffe;
	attach_all();
	run(GAGG_SEC);
	assert_true(all_run(0xffffffff));
	leave(0, GAGG_R_BYE);
	run(GAGG_SEC);
	attach_all();
	run(GAGG_SEC);
	assert_true(all_run(0x100000000));
	boot(1);
	run(GAGG_SEC);
	assert_ended(0, 0x100000000, GAGG_R_RESTART, 2);
	attach_all();
	run(GAGG_SEC);
	assert_true(all_run(0x100000001));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(end__all_learn_reason_and_rank),
		cmocka_unit_test(end__lost_abort_is_repeated),
		cmocka_unit_test(end__nothing_arrives_for_a_while),
		cmocka_unit_test(end__first_reason_is_kept),
		cmocka_unit_test(end__all_is_told),
		cmocka_unit_test(end__wrong_cookie_or_epoch),
		cmocka_unit_test(end__old_abort_does_not_end_the_next),
		cmocka_unit_test(end__silence),
		cmocka_unit_test(restart__ends_the_epoch),
		cmocka_unit_test(restart__coordinator_learns_the_epoch),
		cmocka_unit_test(restart__old_hello_does_no_harm),
		cmocka_unit_test(restart__both_doubt_each_other),
		cmocka_unit_test(epoch__crosses_32_bits),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
