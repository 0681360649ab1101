// SPDX-License-Identifier: GPL-2.0
/* links: kmod/core/group/join*.c; libs: */
/*
 * Paths that carry HELLO but no chunks, and shards that are cut off.
 */
#include "join_net.h"

/* what is as long as a chunk does not pass from node 1 to node 2 */
static bool lose_chunks(const struct datagram *d)
{
	return d->from == 1 && d->to == 2 && d->m.len >= 344 * 4;
}

static bool lose_all_chunks(const struct datagram *d)
{
	return d->m.len >= 344 * 4;
}

/* the same from node 2 to anybody */
static bool lose_chunks_of_2(const struct datagram *d)
{
	return d->from == 2 && d->m.len >= 344 * 4;
}

/* nothing passes on shard 1, from anybody to node 2 */
static bool lose_shard1(const struct datagram *d)
{
	return d->to == 2 && d->shard == 1;
}

/* one in two of what is as long as a chunk */
static bool lose_some(const struct datagram *d)
{
	static u32 n;

	return d->m.len >= 344 * 4 && n++ % 2;
}

/* what node @n thinks of node @of */
static void assert_blocked(u32 n, u32 of, u32 in, u32 out)
{
	struct gagg_blocked on;

	assert_true(gagg_join_blocked(&host[n].j, &host[n].g, of, now, &on));
	assert_int_equal(on.in, in);
	assert_int_equal(on.out, out);
}

static void assert_names(u32 n, int rank)
{
	assert_int_equal(gagg_join_names_blocked(&host[n].j, &host[n].g, now), 1 + rank);
}

static bool any_blocked(void)
{
	struct gagg_blocked on;
	u32 n, of;

	for (n = 0; n < nodes; n++)
		for (of = 0; of < nodes; of++)
			if (gagg_join_blocked(&host[n].j, &host[n].g, of, now, &on))
				return true;
	return false;
}

static void start__not_before_chunks_pass(void **state)
{
	(void)state;
	world(3);
	lost = lose_chunks;
	attach_all();
	run(4 * GAGG_SEC);
	assert_int_equal(sent[GAGG_T_START], 0);
	assert_false(any_blocked());
	run(3 * GAGG_SEC);
	assert_blocked(2, 1, 3, 0);
	assert_blocked(1, 2, 0, 3);
	/* a third host hears of it, and cannot say which of the two is to blame */
	assert_blocked(0, 2, 0, 0);
	assert_true(host[0].notified > 0);
	assert_names(0, 4);
	assert_names(1, 4);
	assert_names(2, 2);
	lost = NULL;
	run(2 * GAGG_SEC);
	assert_true(all_run(1));
	assert_false(any_blocked());
}

static void start__not_before_all_shards_pass(void **state)
{
	(void)state;
	world(3);
	lost = lose_shard1;
	attach_all();
	run(8 * GAGG_SEC);
	assert_int_equal(sent[GAGG_T_START], 0);
	assert_blocked(2, 0, 2, 0);
	assert_blocked(2, 1, 2, 0);
	assert_blocked(0, 2, 0, 2);
	assert_blocked(1, 2, 0, 2);
	lost = NULL;
	run(2 * GAGG_SEC);
	assert_true(all_run(1));
}

/* not node 1, of which node 0 hears that it lacks something, too */
static void names__whose_chunks_are_missing(void **state)
{
	(void)state;
	world(3);
	lost = lose_chunks_of_2;
	attach_all();
	run(8 * GAGG_SEC);
	assert_blocked(0, 1, 0, 0);
	assert_names(0, 4);
	assert_names(1, 4);
	assert_names(2, 0);
	lost = NULL;
	run(2 * GAGG_SEC);
	assert_names(0, -1);
}

static void start__half_of_them_are_lost(void **state)
{
	(void)state;
	world(3);
	lost = lose_some;
	attach_all();
	run(GAGG_SEC);
	assert_true(all_run(1));
	run(60 * GAGG_SEC);
	assert_true(all_run(1));
	assert_false(any_blocked());
}

/* hears data of node @from on shard 0 only, as long as a chunk */
static void hear_data(u32 n, u32 from)
{
	u64 at[GAGG_NODES] = { 0 };

	at[from] = now;
	gagg_join_hear(&host[n].j, 0, 1, at, at);
}

static void end__chunks_pass_no_more(void **state)
{
	u64 since;

	(void)state;
	started(3);
	run(10 * GAGG_SEC);
	since = now;
	lost = lose_chunks;
	run(GAGG_SEC);
	assert_true(all_run(1));
	while (host[2].j.phase == GAGG_PHASE_RUNNING && now < since + 20 * GAGG_SEC)
		run(10 * GAGG_MSEC);
	/* the last one had come up to 3.75 s before */
	assert_in_range(now - since, GAGG_SEC, 5200 * GAGG_MSEC);
	run(GAGG_SEC);
	assert_ended(2, 1, GAGG_R_BLOCKED, 2);
	assert_int_equal(host[2].j.end.other, 4);
	assert_ended(0, 1, GAGG_R_BLOCKED, 2);
	assert_int_equal(host[0].j.end.other, 4);
	assert_blocked(2, 1, 3, 0);
}

static void end__one_shard_passes_no_more(void **state)
{
	u32 i;

	(void)state;
	started(3);
	lost = lose_shard1;
	/* data that pass on the other are none on this one */
	for (i = 0; i < 30; i++) {
		run(200 * GAGG_MSEC);
		hear_data(2, 0);
		hear_data(2, 1);
	}
	assert_int_equal(host[2].j.end.reason, GAGG_R_BLOCKED);
	assert_int_equal(host[0].j.end.reason, GAGG_R_BLOCKED);
}

/* of what passes by itself nothing is asked for */
static void end__not_while_data_pass(void **state)
{
	u64 at[GAGG_NODES] = { 0 };
	u32 i, n, shard;

	(void)state;
	started(2);
	run(2 * GAGG_SEC);
	sent[GAGG_T_HELLO] = 0;
	for (i = 0; i < 100; i++) {
		run(100 * GAGG_MSEC);
		for (n = 0; n < 2; n++)
			for (shard = 0; shard < SHARDS; shard++) {
				at[1 - n] = now;
				gagg_join_hear(&host[n].j, shard, 1, at, at);
			}
	}
	assert_true(all_run(1));
	assert_in_range(sent[GAGG_T_HELLO], 18, 20);
}

static bool clogs(u32 n)
{
	return n == 1;
}

/* a socket that is full: HELLO leaves, what is as long as a chunk does not */
static void end__not_while_a_socket_is_full(void **state)
{
	(void)state;
	started(3);
	run(10 * GAGG_SEC);
	clogged = clogs;
	run(20 * GAGG_SEC);
	assert_true(all_run(1));
	assert_false(any_blocked());
	clogged = NULL;
	run(10 * GAGG_SEC);
	assert_true(all_run(1));
}

/* what is asked for every 12.5 ms is sent every 78 ms */
static void wide__not_at_each_question(void **state)
{
	u32 wide;

	(void)state;
	started(2);
	run(10 * GAGG_SEC);
	wide = wides;
	lost = lose_all_chunks;
	while (host[0].j.phase == GAGG_PHASE_RUNNING)
		run(10 * GAGG_MSEC);
	/* for a quarter of dead-after, of two hosts, on two shards */
	assert_in_range(wides - wide, 4 * 8, 4 * 18);
	lost = NULL;
}

/* the silence of a host that is gone has its own name */
static void end__silence_is_no_blocked_path(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < 20; i++) {
		started(3);
		run(10 * GAGG_SEC + i * 250 * GAGG_MSEC);
		host[2].up = false;
		run(6 * GAGG_SEC);
		assert_ended(0, 1, GAGG_R_SILENT, 4);
		assert_ended(1, 1, GAGG_R_SILENT, 4);
	}
}

/* down for less than dead-after: it is asked again before it is judged */
static void end__not_after_an_outage(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < 20; i++) {
		started(3);
		run(10 * GAGG_SEC + i * 200 * GAGG_MSEC);
		lost = lose_node2;
		run(3800 * GAGG_MSEC);
		lost = NULL;
		run(10 * GAGG_SEC);
		assert_true(all_run(1));
		assert_false(any_blocked());
	}
}

static void wide__is_as_long_as_a_chunk(void **state)
{
	struct datagram d;

	(void)state;
	started(2);
	host[0].j.peer[1].ask = 1;
	make(&d, 0, GAGG_JOIN_SEND_WIDE, 1);
	assert_int_equal(d.m.len, 344 * 4);
	assert_false(d.body.hello.flags & GAGG_HELLO_ASK);
	host[0].j.lanes = 8;
	make(&d, 0, GAGG_JOIN_SEND_WIDE, 1);
	assert_int_equal(d.m.len, sizeof(struct gagg_hello));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(start__not_before_chunks_pass),
		cmocka_unit_test(start__not_before_all_shards_pass),
		cmocka_unit_test(names__whose_chunks_are_missing),
		cmocka_unit_test(start__half_of_them_are_lost),
		cmocka_unit_test(end__chunks_pass_no_more),
		cmocka_unit_test(end__one_shard_passes_no_more),
		cmocka_unit_test(end__not_while_data_pass),
		cmocka_unit_test(end__not_while_a_socket_is_full),
		cmocka_unit_test(wide__not_at_each_question),
		cmocka_unit_test(end__silence_is_no_blocked_path),
		cmocka_unit_test(end__not_after_an_outage),
		cmocka_unit_test(wide__is_as_long_as_a_chunk),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
