// SPDX-License-Identifier: GPL-2.0
/* links: core kmod/core/path.c kmod/core/cwnd.c; libs: */
/*
 * Which ranks an op waits for: what a home knows and tells, and what a worker
 * makes of that.
 */
#include "chan_node.h"
#include "store/internal.h"
#include "agent/conf/sync_text.h"

#define LONG	(250 * GAGG_MSEC)
#define ALL	7ULL

static u64 missing(void)
{
	return gagg_chan_missing(&g, ch, 0, 1);
}

static void home__knows(void **state)
{
	(void)state;
	start(0);
	/* its own rank is one of those that have not begun the op */
	assert_int_equal(missing(), ALL);
	push_to(8);
	assert_int_equal(missing(), GAGG_BIT(1) | GAGG_BIT(2));
	contrib(2, 0, 1, 100);
	assert_int_equal(missing(), GAGG_BIT(1));
	/* the lowest chunk counts: of another one that rank has come */
	contrib(1, 1, 1, 100);
	assert_int_equal(missing(), GAGG_BIT(1));
	contrib(1, 0, 1, 100);
	assert_int_equal(missing(), GAGG_BIT(2));
}

/* a rank that is asked for the same bytes again has come */
static void home__after_a_void(void **state)
{
	(void)state;
	start(0);
	push_to(8);
	contrib(1, 0, 1, 100);
	contrib(1, 1, 1, 100);
	contrib(2, 1, 1, 103);
	assert_int_equal(sh->n[GAGG_N_VOIDS], 1);
	contrib(2, 0, 1, 100);
	assert_int_equal(missing(), 0);
	contrib(1, 1, 1, 100);
	assert_int_equal(missing(), GAGG_BIT(1) | GAGG_BIT(2));
}

static void op__not_in_flight(void **state)
{
	(void)state;
	start(0);
	push_to(8);
	assert_int_equal(gagg_chan_missing(&g, ch, 0, 0), 0);
	assert_int_equal(gagg_chan_missing(&g, ch, 0, 2), 0);
	assert_int_equal(gagg_chan_missing(&g, ch, 0, 1 + GAGG_OPS), 0);
	assert_int_equal(gagg_chan_missing(&g, ch, 0, 1ULL << 40), 0);
	/* its chunks wait for those of the op before it */
	assert_int_equal(submit(0, 8), 2);
	assert_int_equal(gagg_chan_missing(&g, ch, 0, 2), 0);
}

static void op__is_done(void **state)
{
	(void)state;
	geometry(0);
	start_channel(0, g.workers);
	assert_int_equal(submit(0, 1), 1);
	assert_int_equal(submit(0, 1), 2);
	push_to(2);
	contrib(1, 0, 1, 100);
	contrib(2, 0, 1, 100);
	assert_int_equal(missing(), 0);
	assert_int_equal(gagg_chan_missing(&g, ch, 0, 2), GAGG_BIT(1) | GAGG_BIT(2));
}

static void query__is_told_after_a_while(void **state)
{
	const struct gagg_act *a;

	(void)state;
	geometry(0);
	more_ranks(2, 40);
	start_channel(0, g.workers);
	contrib(1, 0, 1, 100);
	contrib(1, 1, 1, 100);
	now += LONG - 1;
	ask(1, 0, 1, 2);
	assert_int_equal(count_ctrl(GAGG_T_WAITS, NULL), 0);
	now++;
	ask(1, 0, 1, 2);
	/* once a question, of the lowest */
	a = only_ctrl(GAGG_T_WAITS);
	assert_int_equal(a->node, 1);
	assert_int_equal(a->m.src, 0);
	assert_int_equal(a->m.chunk, 0);
	assert_int_equal(a->m.round, 1);
	assert_int_equal(a->m.run, 1);
	assert_int_equal(a->m.aux, GAGG_BIT(0) | GAGG_BIT(2));
	assert_int_equal(a->m.ranks, GAGG_BIT(40 - 32));
}

/* the chunk was opened by a batch whose time is later than that of this one */
static void query__before_it_was_opened(void **state)
{
	(void)state;
	start(0);
	contrib(1, 0, 1, 100);
	now--;
	ask(1, 0, 1, 1);
	assert_int_equal(count_ctrl(GAGG_T_WAITS, NULL), 0);
}

/* those that were counted are asked again: nobody is missing */
static void query__after_a_void(void **state)
{
	(void)state;
	start(0);
	push_to(8);
	contrib(1, 0, 1, 100);
	contrib(2, 0, 1, 103);
	now += LONG;
	ask(2, 0, 1, 1);
	assert_int_equal(count_ctrl(GAGG_T_WAITS, NULL), 0);
}

static struct gagg_msg waits(u32 chunk, u32 round, u64 ranks)
{
	struct gagg_msg m = message(GAGG_T_WAITS, 0, chunk, round);

	m.aux = (u32)ranks;
	m.ranks = (u32)(ranks >> 32);
	return m;
}

static void worker__is_told(void **state)
{
	const u64 others = GAGG_BIT(0) | GAGG_BIT(2) | GAGG_BIT(40);

	(void)state;
	geometry(1);
	more_ranks(2, 40);
	start_channel(0, g.workers);
	assert_int_equal(submit(0, 8), 1);
	push_to(8);
	assert_int_equal(missing(), 0);
	assert_int_equal(rx(0, waits(0, 1, GAGG_BIT(2))), GAGG_RX_OK);
	assert_int_equal(missing(), GAGG_BIT(2));
	/* a rank that is no member is not missing, whatever is said */
	rx(0, waits(0, 1, ~GAGG_BIT(1)));
	assert_int_equal(missing(), others);
	/* of another chunk or round than the lowest that is open: old, or nonsense */
	rx(0, waits(1, 1, 0));
	rx(0, waits(0, 2, 0));
	rx(0, waits(0, 0, 0));
	assert_int_equal(missing(), others);
	/* it is no answer that ends a silence, and causes nothing */
	assert_int_equal(sh->path[0].heard, 0);
	nacts = 0;
	flush();
	assert_int_equal(nacts, 0);
	/* the chunk is done: of the next one nothing is known */
	result(0, 1, 1);
	assert_int_equal(missing(), 0);
}

static void worker__is_told_by_who_may_not(void **state)
{
	struct gagg_msg m;

	(void)state;
	start(1);
	push_to(8);
	m = waits(0, 1, GAGG_BIT(2));
	m.src = 2;
	assert_int_equal(rx(2, m), GAGG_RX_DROP);
	assert_int_equal(in.todo.drop, GAGG_DROP_CHUNK);
	assert_int_equal(rx(0, m), GAGG_RX_DROP);
	assert_int_equal(in.todo.drop, GAGG_DROP_RANK);
	assert_int_equal(rx(0, waits(16, 1, GAGG_BIT(2))), GAGG_RX_DROP);
	assert_int_equal(in.todo.drop, GAGG_DROP_CHUNK);
	assert_int_equal(missing(), 0);
}

/* two ranks of this host: what has not left here needs no home */
static void worker__has_a_late_rank(void **state)
{
	(void)state;
	geometry(1);
	more_ranks(1, 3);
	start_channel(0, g.workers);
	assert_int_equal(submit(0, 8), 1);
	filled[0] = 8;
	refill();
	assert_int_equal(missing(), GAGG_BIT(3));
	rx(0, waits(0, 1, GAGG_BIT(2)));
	assert_int_equal(missing(), GAGG_BIT(2) | GAGG_BIT(3));
}

/* each chunk has another home: what all of them say counts */
static void worker__asks_several_homes(void **state)
{
	struct gagg_msg m;

	(void)state;
	geometry(1);
	g.aggregators = ALL;
	start_channel(0, g.workers);
	assert_int_equal(submit(0, 6), 1);
	push_to(6);
	contrib(0, 1, 1, 100);
	assert_int_equal(missing(), GAGG_BIT(2));
	m = waits(2, 1, GAGG_BIT(0));
	m.src = 2;
	assert_int_equal(rx(2, m), GAGG_RX_OK);
	assert_int_equal(missing(), GAGG_BIT(0) | GAGG_BIT(2));
	/* not of each other's chunks */
	assert_int_equal(rx(0, waits(2, 1, 0)), GAGG_RX_DROP);
	assert_int_equal(in.todo.drop, GAGG_DROP_CHUNK);
}

/* published with three of four, and not read yet by a rank of this host that is late */
static void quorum__waits_for_a_local_rank(void **state)
{
	const u32 sig = GAGG_K_ALLREDUCE << 28;
	struct gagg_sync_param p;
	u32 rank;

	(void)state;
	geometry(0);
	more_ranks(0, 3);
	assert_true(sync_text_parse("bsp-quorum:3:0", &p, NULL, 0));
	gagg_sync_apply(&g, &p);
	start_channel(0, g.workers);
	assert_int_equal(gagg_ring_submit(ch, 0, &(struct gagg_op){
		.sig = sig, .laneop = ADD, .last_lanes = 4,
	}, 8), 1);
	filled[0] = 8;
	refill();
	assert_int_equal(missing(), GAGG_BIT(1) | GAGG_BIT(2) | GAGG_BIT(3));
	for (rank = 1; rank < 3; rank++) {
		struct gagg_msg m = message(GAGG_T_CONTRIB, rank, 0, 1);

		m.sig = sig;
		m.pn = ++pn[rank];
		rx(rank, m);
	}
	assert_int_equal(*gagg_chan_pub(ch, 0), 1);
	assert_int_equal(missing(), GAGG_BIT(3));
}

/* a rank has come to a clock of the store */
static void tick(u32 rank, u32 clock)
{
	const struct gagg_visit vis = { .sh = sh, .g = &g, .ch = ch, .now = now };

	gagg_store_tick(&vis, rank, clock);
}

/* of a store: those furthest behind, if a read waits for them */
static void begin_store(const char *mode, u8 flags)
{
	struct gagg_sync_param p;

	geometry(0);
	assert_true(sync_text_parse(mode, &p, NULL, 0));
	gagg_sync_apply(&g, &p);
	start_channel(0, g.workers);
	/* the rank is at clock 2 */
	assert_int_equal(gagg_store_submit(ch, 0, &(struct gagg_op){ .end = 1 }), 1);
	assert_int_equal(gagg_store_submit(ch, 0, &(struct gagg_op){ .end = 1 }), 2);
	assert_int_equal(gagg_store_submit(ch, 0, &(struct gagg_op){ .end = 1, .flags = flags }), 3);
	tick(0, 2);
}

static void store__who_is_behind(void **state)
{
	(void)state;
	begin_store("ssp:1", GAGG_OP_READ);
	assert_int_equal(gagg_chan_missing(&g, ch, 0, 3), GAGG_BIT(1) | GAGG_BIT(2));
	tick(1, 1);
	assert_int_equal(gagg_chan_missing(&g, ch, 0, 3), GAGG_BIT(2));
	tick(2, 1);
	assert_int_equal(gagg_chan_missing(&g, ch, 0, 3), 0);
	/* what is over waits for nobody */
	begin_store("ssp:1", GAGG_OP_READ);
	ch->local[0].finished = 3;
	assert_int_equal(gagg_chan_missing(&g, ch, 0, 3), 0);
	/* nor does an update, */
	begin_store("ssp:0", 0);
	assert_int_equal(gagg_chan_missing(&g, ch, 0, 3), 0);
	/* or a read in asp, */
	begin_store("asp", GAGG_OP_READ);
	assert_int_equal(gagg_chan_missing(&g, ch, 0, 3), 0);
	/* but that all are to see alike */
	begin_store("asp", GAGG_OP_READ | GAGG_OP_FENCE);
	tick(1, 1);
	assert_int_equal(gagg_chan_missing(&g, ch, 0, 3), GAGG_BIT(2));
	tick(2, 2);
	assert_int_equal(gagg_chan_missing(&g, ch, 0, 3), GAGG_BIT(1));
}

/* and the end, which waits for all */
static void store__who_has_not_finished(void **state)
{
	(void)state;
	begin_store("asp", GAGG_OP_READ);
	assert_int_equal(gagg_store_submit(ch, 0, &(struct gagg_op){ .flags = GAGG_OP_LAST }), 4);
	assert_int_equal(gagg_store_submit(ch, 0, &(struct gagg_op){
		.end = 1, .flags = GAGG_OP_READ,
	}), 5);
	tick(1, GAGG_CLOCK_END);
	assert_int_equal(gagg_chan_missing(&g, ch, 0, 5), GAGG_BIT(2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(home__knows, finish_test),
		cmocka_unit_test_teardown(home__after_a_void, finish_test),
		cmocka_unit_test_teardown(op__not_in_flight, finish_test),
		cmocka_unit_test_teardown(op__is_done, finish_test),
		cmocka_unit_test_teardown(query__is_told_after_a_while, finish_test),
		cmocka_unit_test_teardown(query__before_it_was_opened, finish_test),
		cmocka_unit_test_teardown(query__after_a_void, finish_test),
		cmocka_unit_test_teardown(worker__is_told, finish_test),
		cmocka_unit_test_teardown(worker__is_told_by_who_may_not, finish_test),
		cmocka_unit_test_teardown(worker__has_a_late_rank, finish_test),
		cmocka_unit_test_teardown(worker__asks_several_homes, finish_test),
		cmocka_unit_test_teardown(quorum__waits_for_a_local_rank, finish_test),
		cmocka_unit_test_teardown(store__who_is_behind, finish_test),
		cmocka_unit_test_teardown(store__who_has_not_finished, finish_test),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
