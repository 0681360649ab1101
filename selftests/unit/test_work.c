// SPDX-License-Identifier: GPL-2.0
/* links: core kmod/core/work.c kmod/core/path.c kmod/core/cwnd.c; libs: */
/*
 * A turn of a shard: what is called, in which order, how much of it, and when again.
 */
#include <stdio.h>
#include "chan_node.h"
#include "work.h"

#define CALLS	64

static struct gagg_chan *chan_at[GAGG_CHANNELS_MAX];
static struct gagg_work work;
static struct {
	u8 call;
	u16 id;
	bool again;
} calls[CALLS];
static u32 ncalls;

static u64 channels(void)
{
	u64 mask = 0;
	u32 i;

	for (i = 0; i < GAGG_CHANNELS_MAX; i++)
		mask |= (u64)!!chan_at[i] << i;
	return mask;
}

static void turn(void)
{
	work = (struct gagg_work) {
		.sh = sh, .g = &g, .env = &env, .channel = chan_at,
		.channels = channels(), .now = now,
	};
	ncalls = 0;
	nacts = 0;
	while (gagg_work_step(&work)) {
		assert_true(ncalls < CALLS);
		calls[ncalls].call = work.call;
		calls[ncalls].id = work.id;
		calls[ncalls++].again = work.again;
		drain();
	}
}

static void expect(u32 n, u8 call, u16 id)
{
	assert_true(n < ncalls);
	assert_int_equal(calls[n].call, call);
	assert_int_equal(calls[n].id, id);
}

/* a channel of the local rank alone: each of its chunks is done when it is pushed */
static void add_channel(u32 index, u16 id, u64 chunks)
{
	struct gagg_chan *c = gagg_chan_init(calloc(1, gagg_chan_bytes(&g, GAGG_BIT(0))), &g, 0,
					     id, GAGG_BIT(0));

	assert_int_equal(gagg_ring_submit(c, 0, &(struct gagg_op){
		.sig = 0x51, .laneop = ADD, .last_lanes = 4,
	}, chunks), 1);
	chan_at[index] = c;
}

static int end(void **state)
{
	u32 i;

	for (i = 0; i < GAGG_CHANNELS_MAX; i++) {
		if (chan_at[i] != ch)
			free(chan_at[i]);
		chan_at[i] = NULL;
	}
	return finish_test(state);
}

/* three channels, at both ends of the table and between */
static void start_three(u64 chunks)
{
	geometry(0);
	start_channel(0, g.workers);
	free(ch);
	ch = NULL;
	add_channel(0, 100, chunks);
	add_channel(5, 105, chunks);
	add_channel(63, 163, chunks);
	filled[0] = chunks;
}

static void turn__channels_take_turns_in_being_first(void **state)
{
	static const u16 order[][3] = {
		{ 100, 105, 163 }, { 105, 163, 100 }, { 163, 100, 105 }, { 100, 105, 163 },
	};
	u32 i, c;

	(void)state;
	start_three(1);
	filled[0] = 0;
	for (i = 0; i < 4; i++) {
		turn();
		assert_int_equal(ncalls, 4);
		for (c = 0; c < 3; c++)
			expect(c, GAGG_WORK_REFILL, order[i][c]);
		expect(3, GAGG_WORK_FLUSH, 0);
		assert_false(work.more);
	}
}

static void turn__ends_when_the_budget_does(void **state)
{
	static const u16 order[] = { 100, 105, 163, 100 };
	u32 i, c;

	(void)state;
	start_three(4000);
	for (i = 0; i < 4; i++) {
		turn();
		assert_true(work.more);
		assert_int_equal(ncalls, GAGG_WORK_REFILLS + 1);
		for (c = 0; c < GAGG_WORK_REFILLS; c++) {
			expect(c, GAGG_WORK_REFILL, order[i]);
			assert_true(calls[c].again);
		}
		expect(GAGG_WORK_REFILLS, GAGG_WORK_FLUSH, 0);
		assert_false(calls[GAGG_WORK_REFILLS].again);
		assert_true(count_acts(GAGG_ACT_PUBLISH) > 0);
	}
}

/* the budget is that of the turn: what one channel leaves is for the others */
static void turn__the_budget_is_for_all(void **state)
{
	u32 left = 100, turns = 0, again, i;

	(void)state;
	start_three(400);
	do {
		turn();
		for (i = 0, again = 0; i < ncalls; i++)
			again += calls[i].again;
		assert_int_equal(work.more, again == GAGG_WORK_REFILLS);
		assert_int_not_equal(--left, 0);
		turns++;
	} while (work.more);
	assert_true(turns > 1 && turns < 5);
	assert_int_equal(chan_at[0]->base, 400);
	assert_int_equal(chan_at[5]->base, 400);
	assert_int_equal(chan_at[63]->base, 400);
}

/* the channel that used up the budget is last in line, whichever was first */
static void turn__who_ended_it_is_behind(void **state)
{
	(void)state;
	start_three(1000);
	chan_at[0]->local[0].op[1].end = 0;	/* nothing to do here */
	chan_at[0]->local[0].issued = 0;
	turn();
	expect(0, GAGG_WORK_REFILL, 100);
	assert_false(calls[0].again);
	expect(1, GAGG_WORK_REFILL, 105);
	assert_true(work.more);
	turn();
	expect(0, GAGG_WORK_REFILL, 163);
}

/* a worker whose home is silent: the path's timer, the channel's before its refill */
static void turn__timers_when_they_are_due(void **state)
{
	u64 path, chan;

	(void)state;
	start(1);
	chan_at[3] = ch;
	filled[0] = 2;
	turn();
	assert_int_equal(ncalls, 2);
	expect(0, GAGG_WORK_REFILL, 0);
	path = gagg_shard_deadline(sh, &g);
	chan = gagg_chan_deadline(ch);
	assert_true(chan < path && path < GAGG_NEVER);
	assert_true(gagg_work_deadline(&work) == chan);
	now = chan - 1;
	turn();
	assert_int_equal(ncalls, 2);
	now = chan;
	turn();
	assert_int_equal(ncalls, 3);
	expect(0, GAGG_WORK_CHAN_TIMER, 0);
	expect(1, GAGG_WORK_REFILL, 0);
	now = gagg_shard_deadline(sh, &g);
	ch->query_at = now;
	turn();
	assert_int_equal(ncalls, 4);
	expect(0, GAGG_WORK_TIMER, 0);
	expect(1, GAGG_WORK_CHAN_TIMER, 0);
	expect(2, GAGG_WORK_REFILL, 0);
	expect(3, GAGG_WORK_FLUSH, 0);
}

static void turn__flushes_what_waited(void **state)
{
	(void)state;
	start(0);
	chan_at[0] = ch;
	assert_int_equal(contrib(1, 0, 1, 100), GAGG_RX_ADD);
	turn();
	assert_int_equal(count_ctrl(GAGG_T_ACK, NULL), 1);
}

static void turn__deadline_is_the_first_of_all(void **state)
{
	(void)state;
	start_three(1);
	turn();
	now += GAGG_SEC;	/* the timers of what was pushed: all is done */
	turn();
	assert_int_equal(gagg_work_deadline(&work), GAGG_NEVER);
	chan_at[5]->poll_at = now + 7;
	chan_at[63]->poll_at = now + 5;
	chan_at[0]->poll_at = now + 9;
	assert_int_equal(gagg_work_deadline(&work), now + 5);
	sh->path[1].rto_at = now + 3;
	assert_int_equal(gagg_work_deadline(&work), now + 3);
}

static void turn__of_a_shard_that_does_not_run(void **state)
{
	(void)state;
	start_three(16);
	chan_at[5]->poll_at = now;
	gagg_shard_stop(sh);
	turn();
	assert_int_equal(ncalls, 0);
	assert_false(work.more);
	assert_int_equal(gagg_work_deadline(&work), GAGG_NEVER);
}

static void turn__without_channels(void **state)
{
	(void)state;
	geometry(0);
	start_channel(0, g.workers);
	free(ch);
	ch = NULL;
	turn();
	assert_int_equal(ncalls, 1);
	expect(0, GAGG_WORK_FLUSH, 0);
}

#define TEST(f)	cmocka_unit_test_teardown(f, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(turn__channels_take_turns_in_being_first),
		TEST(turn__ends_when_the_budget_does),
		TEST(turn__the_budget_is_for_all),
		TEST(turn__who_ended_it_is_behind),
		TEST(turn__timers_when_they_are_due),
		TEST(turn__flushes_what_waited),
		TEST(turn__deadline_is_the_first_of_all),
		TEST(turn__of_a_shard_that_does_not_run),
		TEST(turn__without_channels),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
