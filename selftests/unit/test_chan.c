// SPDX-License-Identifier: GPL-2.0
/* links: core kmod/core/path.c kmod/core/cwnd.c; libs: */
/*
 * A channel's shape, its cursors and ops.
 */
#include <stdio.h>
#include "chan_node.h"

static void shape__homes(void **state)
{
	(void)state;
	/* five nodes, homes 1, 2 and 4; ranks 0 to 4, and 5 on node 2 */
	geometry(2);
	g.nodes = 5;
	more_ranks(3, 3);
	more_ranks(4, 4);
	more_ranks(2, 5);
	g.aggregators = 0x16;
	start_channel(0, g.workers);
	assert_int_equal(ch->nhomes, 3);
	assert_int_equal(ch->home[0], 1);
	assert_int_equal(ch->home[1], 2);
	assert_int_equal(ch->home[2], 4);
	assert_int_equal(ch->self_home, 1);
	assert_int_equal(ch->nlocals, 2);
	assert_int_equal(ch->local[0].rank, 2);
	assert_int_equal(ch->local[1].rank, 5);
	assert_int_equal(gagg_chan_local(ch, 5), 1);
	assert_int_equal(gagg_chan_local(ch, 3), -1);
	assert_int_equal(ch->member_nodes, 0x1b);
	assert_int_equal(ch->headroom, 3);
	/* a channel has the homes that have a member */
	start_channel(3, 0x30);
	assert_int_equal(ch->nhomes, 2);
	assert_int_equal(ch->home[0], 4);
	assert_int_equal(ch->home[1], 2);
	assert_int_equal(ch->nlocals, 1);
	assert_int_equal(ch->member_nodes, 0x10);
	assert_int_equal(ch->headroom, 1);
	/* ... else all of them */
	start_channel(3, 0x9);
	assert_int_equal(ch->nhomes, 3);
	assert_int_equal(ch->nlocals, 0);
	assert_int_equal(ch->self_home, 1);
	assert_int_equal(ch->member_nodes, 9);
	/* a node that is neither */
	g.self = 3;
	start_channel(0, 0x7);
	assert_int_equal(ch->self_home, 0xff);
	assert_int_equal(ch->nlocals, 0);
}

static void shape__headroom_of_ranks(void **state)
{
	static const u8 bits[] = { 0, 1, 2, 2, 3, 3, 3, 3, 4 };
	u32 i;

	(void)state;
	geometry(0);
	for (i = 3; i < 9; i++)
		more_ranks(0, i);
	for (i = 0; i < 9; i++) {
		start_channel(0, GAGG_BIT(i + 1) - 1);
		assert_int_equal(ch->headroom, bits[i]);
	}
}

static void shape__memory(void **state)
{
	u64 bytes;

	(void)state;
	geometry(0);
	g.ring = 49152;
	g.window = 2048;
	more_ranks(0, 3);
	bytes = gagg_chan_bytes(&g, g.workers);
	assert_true(bytes <= sizeof(struct gagg_chan) + 49152 * (40 + 2 * 4) + 2048 * 80);
	/* no home: a word for what is done, one for what is pushed */
	g.self = 1;
	assert_true(gagg_chan_bytes(&g, g.workers) <= sizeof(struct gagg_chan) + 49152 * 8 + 4096);
}

static void homes__begin_elsewhere(void **state)
{
	u16 id;
	u32 h;

	(void)state;
	geometry(1);
	g.aggregators = 7;
	for (id = 0; id < 7; id++) {
		start_channel(id, g.workers);
		assert_int_equal(ch->nhomes, 3);
		for (h = 0; h < 3; h++)
			assert_int_equal(ch->home[h], (id + h) % 3);
		assert_int_equal(ch->home[ch->self_home], 1);
	}
}

static void homes__of_single_channels(void **state)
{
	u16 id;

	(void)state;
	geometry(0);
	g.nodes = 5;
	more_ranks(3, 3);
	more_ranks(4, 4);
	g.aggregators = 0x16;
	assert_int_equal(gagg_chan_choices(&g, g.workers), 1);
	g.single = 1;
	assert_int_equal(gagg_chan_choices(&g, g.workers), 3);
	/* of 3 homes, nodes 1, 2 and 4, channel c has the (c % 3)-th */
	for (id = 0; id < 7; id++) {
		start_channel(id, g.workers);
		assert_int_equal(ch->nhomes, 1);
		assert_int_equal(ch->home[0], id % 3 == 2 ? 4 : 1 + id % 3);
		assert_int_equal(ch->self_home, 0xff);
	}
	/* of those with a member, if there is one; channel 0 of all */
	assert_int_equal(gagg_chan_choices(&g, GAGG_BIT(2) | GAGG_BIT(4)), 2);
	start_channel(2, GAGG_BIT(2) | GAGG_BIT(4));
	assert_int_equal(ch->home[0], 2);
	assert_int_equal(gagg_chan_choices(&g, GAGG_BIT(0) | GAGG_BIT(3)), 3);
}

static void memory__of_a_home_at_any_id(void **state)
{
	u64 bytes;

	(void)state;
	geometry(2);
	more_ranks(2, 3);
	g.single = 1;
	g.aggregators = GAGG_BIT(2);
	bytes = gagg_chan_bytes(&g, g.workers);
	/* the only home of channel 2, 5, ... */
	g.aggregators = 7;
	assert_int_equal(gagg_chan_bytes(&g, g.workers), bytes);
	g.single = 0;
	assert_true(gagg_chan_bytes(&g, g.workers) >= bytes);
}

static void cursors__visit_each_chunk_once(void **state)
{
	static const u8 homes[] = { 1, 3, 7 };
	static const u16 stripes[] = { 1, 3, 8 };
	u8 seen[4 * 96];
	u32 i, k, s, h;

	(void)state;
	for (i = 0; i < 3; i++)
		for (k = 0; k < 3; k++) {
			geometry(0);
			g.aggregators = homes[i];
			g.stripe = stripes[k];
			g.shards = 1 + (u16)(i + k) % 3;
			g.ring = 96;
			memset(seen, 0, sizeof(seen));
			for (s = 0; s < g.shards; s++) {
				start_channel(0, g.workers);
				memset(ch, 0, gagg_chan_bytes(&g, g.workers));
				gagg_chan_init(ch, &g, s, 0, g.workers);
				for (h = 0; h < ch->nhomes; h++) {
					struct gagg_cur c = gagg_chan_way(ch, 0, h)->next;

					for (; c.v < 4 * 96; gagg_cur_next(&g, ch, &c)) {
						assert_int_equal(c.slot, c.v % 96);
						assert_int_equal(c.round, c.v / 96 + 1);
						assert_int_equal(gagg_geom_home(&g, ch->nhomes,
										c.slot), h);
						assert_int_equal(gagg_geom_shard(&g, ch->nhomes,
										 c.slot), s);
						seen[c.v]++;
					}
				}
			}
			for (h = 0; h < 4 * 96; h++)
				assert_int_equal(seen[h], 1);
		}
}

static void ops__as_many_as_may_be_in_flight(void **state)
{
	const struct gagg_op *op;
	u32 i;

	(void)state;
	geometry(1);
	start_channel(0, g.workers);
	for (i = 1; i <= GAGG_OPS; i++)
		assert_int_equal(gagg_ring_submit(ch, 0, &(struct gagg_op){
			.sig = i, .laneop = ADD, .last_lanes = (u16)(i % 4 + 1),
		}, i % 3 + 1), i);
	assert_int_equal(gagg_ring_submit(ch, 0, &(struct gagg_op){
		.sig = 77, .laneop = ADD, .last_lanes = 4,
	}, 1), 0);
	/* ops of 2, 3, 1, 2, 3, 1 .. chunks */
	op = gagg_ring_op(ch, 0, 0);
	assert_int_equal(op->number, 1);
	assert_int_equal(gagg_ring_op(ch, 0, 1)->number, 1);
	assert_int_equal(gagg_ring_op(ch, 0, 2)->number, 2);
	assert_int_equal(gagg_ring_op(ch, 0, 5)->number, 3);
	assert_int_equal(gagg_ring_op(ch, 0, 6)->number, 4);
	assert_int_equal(gagg_ring_op(ch, 0, 6)->sig, 4);
	assert_null(gagg_ring_op(ch, 0, ch->local[0].issued));
}

static void ops__done_in_order_with_their_last_chunk(void **state)
{
	const struct gagg_act *a;
	u32 i;

	(void)state;
	geometry(1);
	start_channel(0, g.workers);
	submit(0, 2);
	gagg_ring_submit(ch, 0, &(struct gagg_op){
		.sig = 0x51, .laneop = ADD, .last_lanes = 2,
	}, 1);
	submit(0, 1);
	push_to(4);
	assert_int_equal(acts[2].m.lanes, 2);
	nacts = 0;
	result(3, 1, 1);
	result(1, 1, 2);
	result(2, 1, 3);
	assert_int_equal(count_acts(GAGG_ACT_OP_DONE), 0);
	result(0, 1, 4);
	a = only(GAGG_ACT_OP_DONE);
	assert_int_equal(a->number, 3);
	assert_int_equal(a->local, 0);
	/* and all places are free again */
	for (i = 0; i < GAGG_OPS; i++)
		assert_int_equal(submit(0, 1), 4 + i);
	assert_int_equal(submit(0, 1), 0);
}

static void ops__of_which_a_shard_has_no_chunk(void **state)
{
	(void)state;
	geometry(1);
	g.stripe = 8;
	g.shards = 2;
	start_channel(0, g.workers);
	memset(ch, 0, gagg_chan_bytes(&g, g.workers));
	gagg_chan_init(ch, &g, 1, 0, g.workers);	/* chunks 8 to 15 */
	submit(0, 3);
	submit(0, 5);
	submit(0, 1);
	push_to(9);
	assert_int_equal(acts[0].type, GAGG_ACT_OP_DONE);
	assert_int_equal(acts[0].number, 2);
	assert_int_equal(only(GAGG_ACT_SEND_CONTRIB)->m.chunk, 8);
	/* a shard without any chunk: all homes of one row, no second row */
	g.stripe = 16;
	start_channel(0, g.workers);
	memset(ch, 0, gagg_chan_bytes(&g, g.workers));
	gagg_chan_init(ch, &g, 1, 0, g.workers);
	submit(0, 1000);
	push_to(1000);
	assert_int_equal(nacts, 1);
	assert_int_equal(only(GAGG_ACT_OP_DONE)->number, 1);
}

static void ops__longer_than_the_ring(void **state)
{
	u32 v, rpn = 1;

	(void)state;
	start(1);
	for (v = 0; v < 50; v++) {
		push_to(v + 1);
		acknowledge(0, 0);
		assert_int_equal(result(v % 16, v / 16 + 1, rpn++), GAGG_RX_PLACE);
	}
	assert_int_equal(ch->base, 50);
	assert_int_equal(count_acts(GAGG_ACT_SEND_CONTRIB), 50);
	assert_int_equal(count_acts(GAGG_ACT_OP_DONE), 0);
}

static void submit__what_can_be(void **state)
{
	struct gagg_geom geom = { .lanes = 344 };
	const struct gagg_ioc_submit good = {
		.kind = GAGG_K_ALLREDUCE, .last_lanes = 344, .count = 344, .chunks = 1,
	};
	const struct gagg_ioc_submit barrier = { .kind = GAGG_K_BARRIER, .chunks = 1 };
	struct gagg_ioc_submit a;

	(void)state;
	assert_true(gagg_chan_may_submit(&geom, &good));
	assert_true(gagg_chan_may_submit(&geom, &barrier));
#define REFUSED(base, change) do {					\
	a = (base);							\
	change;								\
	assert_false(gagg_chan_may_submit(&geom, &a));			\
} while (0)
	REFUSED(good, a.flags = 2);
	REFUSED(good, a.reserved = 1);
	REFUSED(good, a.kind = 0);
	REFUSED(good, a.kind = GAGG_K_EXPONENTS + 1);
	REFUSED(good, a.laneop = 0xff);
	REFUSED(good, a.laneop = GAGG_LANEOP(GAGG_LANE_S64, GAGG_OP_ADD); a.last_lanes = 343);
	/* narrow lanes: of the group's format, whose accumulators are large enough */
	REFUSED(good, a.laneop = GAGG_LANEOP(GAGG_LANE_S16, GAGG_OP_ADD));
	geom.wire = GAGG_WIRE_INT16;
	REFUSED(good, a.laneop = GAGG_LANEOP(GAGG_LANE_S8, GAGG_OP_ADD));
	REFUSED(good, a.laneop = GAGG_LANEOP(GAGG_LANE_S16, GAGG_OP_MAX));
	REFUSED(good, a.laneop = GAGG_LANEOP(GAGG_LANE_S16, GAGG_OP_ADD);
		a.flags = GAGG_SUBMIT_RAW);
	a = good;
	a.laneop = GAGG_LANEOP(GAGG_LANE_S16, GAGG_OP_ADD);
	assert_true(gagg_chan_may_submit(&geom, &a));
	REFUSED(good, a.dtype = 16);
	REFUSED(good, a.last_lanes = 0);
	REFUSED(good, a.last_lanes = 345);
	REFUSED(good, a.chunks = 0);
	REFUSED(good, a.chunks = GAGG_VIRTUAL_MAX + 1);
	REFUSED(good, a.count = GAGG_VIRTUAL_MAX + 1);
	REFUSED(barrier, a.last_lanes = 1);
	REFUSED(barrier, a.chunks = 2);
#undef REFUSED
}

static void submit__before_rounds_wrap(void **state)
{
	const struct gagg_geom geom = { .ring = 64 };
	/* of round 2^32 - 1, which is the first that is not there */
	u64 end = 64 * (u64)UINT32_MAX - 64;

	(void)state;
	assert_true(gagg_chan_has_rounds(&geom, 0, end));
	assert_true(gagg_chan_has_rounds(&geom, end - 1, 1));
	assert_true(gagg_chan_has_rounds(&geom, end, 0));
	assert_false(gagg_chan_has_rounds(&geom, 0, end + 1));
	assert_false(gagg_chan_has_rounds(&geom, end - 1, 2));
	assert_false(gagg_chan_has_rounds(&geom, end + 1, 0));
	assert_false(gagg_chan_has_rounds(&geom, end, GAGG_VIRTUAL_MAX));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(shape__homes, finish_test),
		cmocka_unit_test_teardown(shape__headroom_of_ranks, finish_test),
		cmocka_unit_test_teardown(shape__memory, finish_test),
		cmocka_unit_test_teardown(homes__begin_elsewhere, finish_test),
		cmocka_unit_test_teardown(homes__of_single_channels, finish_test),
		cmocka_unit_test_teardown(memory__of_a_home_at_any_id, finish_test),
		cmocka_unit_test_teardown(cursors__visit_each_chunk_once, finish_test),
		cmocka_unit_test_teardown(ops__as_many_as_may_be_in_flight, finish_test),
		cmocka_unit_test_teardown(ops__done_in_order_with_their_last_chunk, finish_test),
		cmocka_unit_test_teardown(ops__of_which_a_shard_has_no_chunk, finish_test),
		cmocka_unit_test_teardown(ops__longer_than_the_ring, finish_test),
		cmocka_unit_test(submit__what_can_be),
		cmocka_unit_test(submit__before_rounds_wrap),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
