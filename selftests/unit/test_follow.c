// SPDX-License-Identifier: GPL-2.0
/* links: kmod/core/group/follow.c kmod/core/group/join*.c; libs: */
/*
 * What a host says and does because of the join object: up to three hosts, of which each does
 * it when the test says so.
 */
#include "join_net.h"
#include "group/follow.h"

static struct gagg_due due[NODES];
static struct gagg_step step;

/* @n has done what was due, and @runs: what follows? */
static void follow(u32 n, u64 runs, bool dead)
{
	memset(&step, 0xff, sizeof(step));
	gagg_follow(&host[n].j, &host[n].g, runs, dead, &step);
}

static void assert_nothing(void)
{
	assert_false(step.over);
	assert_int_equal(step.epoch, 0);
	assert_int_equal(step.never, 0);
}

static void due__is_kept_until_it_is_taken(void **state)
{
	struct gagg_due taken;

	(void)state;
	world(3);
	memset(due, 0, sizeof(due));
	assert_int_equal(gagg_due_collect(&due[1], &host[1].j), 0);
	assert_int_equal(gagg_due_types(&due[1]), 0);
	gagg_join_attach(&host[1].j, &host[1].g, 2, now);
	assert_int_equal(gagg_due_collect(&due[1], &host[1].j), GAGG_DUE_HELLO);
	assert_int_equal(host[1].j.nacts, 0);
	assert_int_equal(gagg_due_collect(&due[1], &host[1].j), 0);
	assert_int_equal(gagg_due_types(&due[1]), GAGG_DUE_HELLO);
	assert_int_equal(due[1].nodes[GAGG_JOIN_SEND_HELLO], 5);

	due[1].nodes[GAGG_JOIN_NOTIFY] = 4;
	assert_int_equal(gagg_due_take(&due[1], GAGG_DUE_NEWS | GAGG_DUE_FOLLOW, &taken),
			 GAGG_DUE_NEWS);
	assert_int_equal(taken.nodes[GAGG_JOIN_NOTIFY], 4);
	assert_int_equal(taken.nodes[GAGG_JOIN_SEND_HELLO], 0);
	assert_int_equal(gagg_due_types(&due[1]), GAGG_DUE_HELLO);
	assert_int_equal(due[1].nodes[GAGG_JOIN_SEND_HELLO], 5);
}

static void due__of_several_calls_is_one(void **state)
{
	(void)state;
	world(3);
	memset(due, 0, sizeof(due));
	gagg_join_attach(&host[0].j, &host[0].g, 0, now);
	gagg_due_collect(&due[0], &host[0].j);
	gagg_join_limit(&host[0].j, &host[0].g, 8, now);
	gagg_due_collect(&due[0], &host[0].j);
	assert_int_equal(due[0].nodes[GAGG_JOIN_SEND_HELLO], 6);
}

static void next__answers_before_start(void **state)
{
	static const struct {
		u8 type;
		u32 node;
	} want[] = {
		{ GAGG_JOIN_SEND_ABORT, 1 }, { GAGG_JOIN_SEND_ABORT, 63 },
		{ GAGG_JOIN_SEND_HELLO, 0 }, { GAGG_JOIN_SEND_HELLO, 2 },
		{ GAGG_JOIN_SEND_START, 1 }, { GAGG_JOIN_SEND_WIDE, 1 },
	};
	struct gagg_due taken = {
		.nodes = {
			[GAGG_JOIN_SEND_HELLO] = 5,
			[GAGG_JOIN_SEND_START] = 2,
			[GAGG_JOIN_SEND_ABORT] = GAGG_BIT(63) | 2,
			[GAGG_JOIN_SEND_WIDE] = 2,
			[GAGG_JOIN_EPOCH_START] = 1,
			[GAGG_JOIN_NOTIFY] = 1,
		},
	};
	u32 i, node;

	(void)state;
	for (i = 0; i < sizeof(want) / sizeof(want[0]); i++) {
		assert_int_equal(gagg_due_next(&taken, &node), want[i].type);
		assert_int_equal(node, want[i].node);
	}
	assert_int_equal(gagg_due_next(&taken, &node), GAGG_JOIN_TYPES);
}

static void follow__nothing_has_happened(void **state)
{
	(void)state;
	started(2);
	follow(0, 1, false);
	assert_nothing();
}

static void follow__begins(void **state)
{
	(void)state;
	started(2);
	host[1].j.lanes = 328;
	follow(1, 0, false);
	assert_false(step.over);
	assert_int_equal(step.never, 0);
	assert_int_equal(step.epoch, 1);
	assert_int_equal(step.cookie, host[1].j.cookie);
	assert_int_equal(step.lanes, 328);
}

static void follow__ends(void **state)
{
	(void)state;
	started(2);
	leave(2, GAGG_R_DIED);
	follow(1, 1, false);
	assert_true(step.over);
	assert_int_equal(step.epoch, 0);
	assert_int_equal(step.never, 0);
	assert_int_equal(step.end.reason, GAGG_R_DIED);
	assert_int_equal(step.end.rank, 2);
}

/* a host that was slow: one has ended and the next has begun */
static void follow__ends_and_begins(void **state)
{
	(void)state;
	started(2);
	leave(2, GAGG_R_BYE);
	run(GAGG_SEC);
	attach_all();
	run(GAGG_SEC);
	assert_true(all_run(2));
	follow(0, 1, false);
	assert_true(step.over);
	assert_int_equal(step.epoch, 2);
	assert_int_equal(step.never, 0);
}

static void follow__never_begins_what_has_ended(void **state)
{
	(void)state;
	started(2);
	leave(2, GAGG_R_BYE);
	follow(1, 0, false);
	assert_false(step.over);
	assert_int_equal(step.epoch, 0);
	assert_int_equal(step.never, host[1].g.ranks_of[1]);
	assert_int_equal(step.end.reason, GAGG_R_BYE);
}

static void follow__who_waits_goes_on(void **state)
{
	(void)state;
	world(2);
	attach(2);
	follow(1, 0, false);
	assert_false(step.over);
	assert_int_equal(step.epoch, 0);
	assert_int_equal(step.never, GAGG_BIT(3));
}

static void follow__a_dead_group_begins_nothing(void **state)
{
	(void)state;
	started(2);
	follow(1, 0, true);
	assert_nothing();
	follow(1, 7, true);
	assert_true(step.over);
	assert_int_equal(step.epoch, 0);

	world(2);
	attach(2);
	follow(1, 0, true);
	assert_int_equal(step.never, host[1].g.ranks_of[1]);
	assert_int_equal(step.end.reason, GAGG_R_DELETED);
}

/* why it ended counts for hosts that ran it, even if the group is dead by now */
static void follow__a_dead_group_says_why(void **state)
{
	(void)state;
	started(2);
	leave(2, GAGG_R_DIED);
	follow(1, 1, true);
	assert_true(step.over);
	assert_int_equal(step.end.reason, GAGG_R_DIED);
}

static void hear__what_a_shard_has_heard(void **state)
{
	static struct gagg_shard sh;

	(void)state;
	started(2);
	sh = (struct gagg_shard){ .index = 1, .epoch = 1 };
	sh.heard[1] = now + 7;
	sh.wide[1] = now + 5;
	gagg_follow_hear(&host[0].j, &sh);
	assert_int_equal(host[0].j.peer[1].heard, now + 7);
	assert_int_equal(host[0].j.peer[1].wide[1], now + 5);
}

static void timer__what_does_not_fit_ends_the_epoch(void **state)
{
	(void)state;
	started(2);
	gagg_follow_timer(&host[1].j, &host[1].g, false, 1, now);
	assert_int_equal(host[1].j.phase, GAGG_PHASE_RUNNING);
	gagg_follow_timer(&host[1].j, &host[1].g, true, 1, now);
	assert_ended(1, 1, GAGG_R_MTU, 2);
}

static void timer__is_that_of_the_join_object(void **state)
{
	(void)state;
	world(1);
	gagg_join_attach(&host[0].j, &host[0].g, 0, now);
	gagg_follow_timer(&host[0].j, &host[0].g, false, 4711, now);
	assert_int_equal(host[0].j.phase, GAGG_PHASE_RUNNING);
	assert_int_equal(host[0].j.cookie, 4711);
}

static void last_words__of_an_epoch_that_was_deleted(void **state)
{
	struct gagg_end end;
	struct gagg_due taken = { 0 };
	u32 node;

	(void)state;
	world(3);
	end = gagg_end_here(&host[1].g, GAGG_R_DELETED);
	assert_int_equal(end.rank, 2);
	/* there was none */
	gagg_join_delete(&host[1].j, &host[1].g, &end, now);
	gagg_follow_last_words(&host[1].j, &taken);
	assert_int_equal(gagg_due_types(&taken), 0);
	/* what is due is said still, but nothing else */
	taken.nodes[GAGG_JOIN_SEND_HELLO] = 5;
	taken.nodes[GAGG_JOIN_SEND_START] = 5;
	taken.nodes[GAGG_JOIN_SEND_ABORT] = 1;
	gagg_follow_last_words(&host[1].j, &taken);
	assert_int_equal(taken.nodes[GAGG_JOIN_SEND_HELLO], 5);
	assert_int_equal(taken.nodes[GAGG_JOIN_SEND_ABORT], 1);
	assert_int_equal(gagg_due_types(&taken),
			 1 << GAGG_JOIN_SEND_HELLO | 1 << GAGG_JOIN_SEND_ABORT);
	/* it has ended of itself */
	memset(&taken, 0, sizeof(taken));
	started(3);
	leave(4, GAGG_R_BYE);
	run(GAGG_SEC);
	gagg_join_delete(&host[1].j, &host[1].g, &end, now);
	gagg_follow_last_words(&host[1].j, &taken);
	assert_int_equal(gagg_due_types(&taken), 0);

	started(3);
	gagg_join_delete(&host[1].j, &host[1].g, &end, now);
	taken.nodes[GAGG_JOIN_SEND_HELLO] = 5;
	gagg_follow_last_words(&host[1].j, &taken);
	assert_int_equal(gagg_due_next(&taken, &node), GAGG_JOIN_SEND_ABORT);
	assert_int_equal(node, 0);
	assert_int_equal(gagg_due_next(&taken, &node), GAGG_JOIN_SEND_ABORT);
	assert_int_equal(node, 2);
	assert_int_equal(gagg_due_next(&taken, &node), GAGG_JOIN_SEND_HELLO);
	assert_int_equal(node, 0);
	assert_int_equal(gagg_due_next(&taken, &node), GAGG_JOIN_SEND_HELLO);
	assert_int_equal(node, 2);
	assert_int_equal(gagg_due_next(&taken, &node), GAGG_JOIN_TYPES);
}

/* another host's deletion ended the epoch before: that ranks have left since is said all the same */
static void last_words__after_a_deletion_elsewhere(void **state)
{
	struct gagg_due taken;
	struct gagg_end end;

	(void)state;
	started(3);
	end = gagg_end_here(&host[2].g, GAGG_R_DELETED);
	gagg_join_end(&host[2].j, &host[2].g, &end, now);
	run(GAGG_SEC);
	assert_int_equal(host[1].j.end.reason, GAGG_R_DELETED);
	attach(2);
	run(GAGG_SEC);
	assert_int_equal(host[0].j.peer[1].attached, GAGG_BIT(2));
	gagg_join_delete(&host[1].j, &host[1].g, &end, now);
	gagg_due_collect(&due[1], &host[1].j);
	gagg_due_take(&due[1], GAGG_DUE_ALL, &taken);
	gagg_follow_last_words(&host[1].j, &taken);
	assert_int_equal(taken.nodes[GAGG_JOIN_SEND_HELLO], 5);
	assert_int_equal(taken.nodes[GAGG_JOIN_SEND_ABORT], 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(due__is_kept_until_it_is_taken),
		cmocka_unit_test(due__of_several_calls_is_one),
		cmocka_unit_test(next__answers_before_start),
		cmocka_unit_test(follow__nothing_has_happened),
		cmocka_unit_test(follow__begins),
		cmocka_unit_test(follow__ends),
		cmocka_unit_test(follow__ends_and_begins),
		cmocka_unit_test(follow__never_begins_what_has_ended),
		cmocka_unit_test(follow__who_waits_goes_on),
		cmocka_unit_test(follow__a_dead_group_begins_nothing),
		cmocka_unit_test(follow__a_dead_group_says_why),
		cmocka_unit_test(hear__what_a_shard_has_heard),
		cmocka_unit_test(timer__what_does_not_fit_ends_the_epoch),
		cmocka_unit_test(timer__is_that_of_the_join_object),
		cmocka_unit_test(last_words__of_an_epoch_that_was_deleted),
		cmocka_unit_test(last_words__after_a_deletion_elsewhere),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
