// SPDX-License-Identifier: GPL-2.0
/* links: core kmod/core/path.c kmod/core/cwnd.c; libs: */
/*
 * The home in a quorum, row by row: node 0 is the home of all chunks and has
 * rank 0; ranks 1 and 2 are remote.
 */
#include <stdio.h>
#include "chan_node.h"
#include "ring/quorum.h"
#include "agent/conf/sync_text.h"

static u32 sig;
static u8 laneop = ADD;

static void begin(const char *mode, u32 kind)
{
	struct gagg_sync_param p;

	geometry(0);
	assert_true(sync_text_parse(mode, &p, NULL, 0));
	gagg_sync_apply(&g, &p);
	start_channel(0, g.workers);
	sig = kind << 28 | 5;
	assert_int_equal(gagg_ring_submit(ch, 0, &(struct gagg_op){
		.sig = sig, .laneop = laneop, .last_lanes = 4,
	}, 1000), 1);
}

static enum gagg_rx comes(u32 rank, u32 v, u8 exp)
{
	struct gagg_msg m = message(GAGG_T_CONTRIB, rank, v % g.ring, v / g.ring + 1);

	m.sig = sig;
	m.laneop = laneop;
	m.exp = exp;
	m.want = exp;
	m.pn = ++pn[rank];
	return rx(rank, m);
}

/* how often a result was said to be published, and not taken yet */
static u32 published(void)
{
	const struct gagg_act *a;
	u32 at = 0, n = 0;

	while ((a = next_act(&at, GAGG_ACT_PUBLISH)))
		n += a->pub.hold == GAGG_HOLD_PUT;
	return n;
}

static void round__is_complete_without_all(void **state)
{
	const struct gagg_act *a;
	u32 at = 0;

	(void)state;
	begin("bsp-quorum:2:0", GAGG_K_ALLREDUCE);
	assert_int_equal(comes(1, 0, 100), GAGG_RX_ADD);
	assert_int_equal(nacts, 0);
	assert_int_equal(comes(2, 0, 100), GAGG_RX_ADD);
	assert_false(in.todo.to_result);
	a = only(GAGG_ACT_PUBLISH);
	assert_int_equal(a->pub.hold, GAGG_HOLD_PUT);
	assert_int_equal(a->pub.contributors, 2);
	assert_int_equal(a->pub.counted, 0);
	assert_true(a->pub.from_acc && !a->pub.locals);
	a = only(GAGG_ACT_SEND_RESULT);
	assert_int_equal(a->nodes, 6);
	assert_int_equal(gagg_quorum_get(&a->m), 6);
	/* the home's own rank comes too late: now it may have the result */
	nacts = 0;
	push_to(1);
	a = next_act(&at, GAGG_ACT_PUBLISH);
	assert_int_equal(a->pub.hold, GAGG_HOLD_TAKE);
	assert_int_equal(a->pub.round, 1);
	assert_int_equal(a->pub.contributors, 2);
	assert_int_equal(a->pub.counted, 0);
	assert_int_equal(sh->n[GAGG_N_LATE], 1);
	assert_int_equal(ch->base, 1);
}

static void round__of_those_who_have_come(void **state)
{
	const struct gagg_act *a;
	u32 at = 0;

	(void)state;
	begin("bsp-quorum:2:0", GAGG_K_ALLREDUCE);
	push_to(1);
	comes(2, 0, 100);
	a = next_act(&at, GAGG_ACT_PUBLISH);
	assert_int_equal(a->pub.hold, GAGG_HOLD_PUT);
	assert_int_equal(a->pub.locals, 1);
	a = next_act(&at, GAGG_ACT_PUBLISH);
	assert_int_equal(a->pub.hold, GAGG_HOLD_TAKE);
	assert_int_equal(a->pub.locals, 0);
	assert_int_equal(a->pub.counted, 1);
	assert_int_equal(gagg_quorum_get(&only(GAGG_ACT_SEND_RESULT)->m), 5);
}

/* the result of the round before may be unread: nothing is added there */
static void round__of_all_is_held_too(void **state)
{
	u32 at = 0;

	(void)state;
	begin("bsp-quorum:3:0", GAGG_K_ALLREDUCE);
	push_to(1);
	comes(1, 0, 100);
	assert_int_equal(comes(2, 0, 100), GAGG_RX_ADD);
	assert_false(in.todo.to_result);
	assert_int_equal(next_act(&at, GAGG_ACT_PUBLISH)->pub.hold, GAGG_HOLD_PUT);
}

static void late__counts_once_as_late_and_is_answered(void **state)
{
	const struct gagg_act *a;
	u32 i;

	(void)state;
	begin("bsp-quorum:2:0", GAGG_K_ALLREDUCE);
	push_to(1);
	comes(1, 0, 100);
	for (i = 0; i < 2; i++) {
		nacts = 0;
		assert_int_equal(comes(2, 0, 100), GAGG_RX_OK);
		refill();
		a = only(GAGG_ACT_SEND_RESULT);
		assert_int_equal(a->nodes, 4);
		assert_int_equal(a->m.flags, GAGG_WF_REPAIR);
		assert_int_equal(gagg_quorum_get(&a->m), 3);
		assert_int_equal(sh->n[GAGG_N_LATE], 1);
	}
	/* a rank that is in it has only lost an acknowledgement */
	nacts = 0;
	assert_int_equal(comes(1, 0, 100), GAGG_RX_OK);
	refill();
	assert_int_equal(nacts, 0);
	assert_int_equal(sh->n[GAGG_N_LATE], 1);
	assert_int_equal(sh->n[GAGG_N_CONTRIBUTIONS], 2);
}

static void late__to_another_collective(void **state)
{
	const struct gagg_act *a;

	(void)state;
	begin("bsp-quorum:2:0", GAGG_K_ALLREDUCE);
	push_to(1);
	comes(1, 0, 100);
	nacts = 0;
	sig++;
	comes(2, 0, 100);
	a = only(GAGG_ACT_DESYNC);
	assert_int_equal(a->end.rank, 2);
	assert_int_equal(a->end.other, 0);
	assert_int_equal(count_acts(GAGG_ACT_SEND_RESULT), 0);
}

static void voided__who_has_come_stays(void **state)
{
	(void)state;
	begin("bsp-quorum:2:0", GAGG_K_ALLREDUCE);
	comes(1, 0, 100);
	comes(2, 0, 105);
	assert_int_equal(sh->n[GAGG_N_VOIDS], 1);
	/* that would be two */
	push_to(1);
	assert_int_equal(published(), 0);
	comes(1, 0, 100);
	assert_int_equal(published(), 1);
	assert_int_equal(gagg_quorum_get(&only(GAGG_ACT_SEND_RESULT)->m), 7);
}

static void deadline__of_those_who_have_come(void **state)
{
	(void)state;
	begin("bsp-deadline:2:10:0", GAGG_K_ALLREDUCE);
	comes(1, 0, 100);
	now += 4 * GAGG_MSEC;
	comes(2, 0, 100);
	assert_int_equal(published(), 0);
	now += 6 * GAGG_MSEC - 1;
	fire();
	assert_int_equal(published(), 0);
	now += GAGG_MSEC;
	assert_true(gagg_chan_deadline(ch) <= now);
	fire();
	assert_int_equal(published(), 1);
	assert_int_equal(ch->due_at, GAGG_NEVER);
}

/* by a batch whose time is later than that of this one */
static void deadline__of_a_round_opened_later(void **state)
{
	(void)state;
	begin("bsp-deadline:2:10:0", GAGG_K_ALLREDUCE);
	assert_int_equal(comes(1, 0, 100), GAGG_RX_ADD);
	now--;
	assert_int_equal(comes(2, 0, 100), GAGG_RX_ADD);
	assert_int_equal(published(), 0);
	assert_int_equal(ch->delays.n, 1);
	assert_int_equal(ch->delays.us[0], 0);
}

static void deadline__all_need_not_wait_for_it(void **state)
{
	(void)state;
	begin("bsp-deadline:1:10:0", GAGG_K_ALLREDUCE);
	comes(1, 0, 100);
	comes(2, 0, 100);
	assert_int_equal(published(), 0);
	push_to(1);
	assert_int_equal(published(), 1);
}

static void deadline__too_few(void **state)
{
	(void)state;
	begin("bsp-deadline:3:10:0", GAGG_K_ALLREDUCE);
	comes(1, 0, 100);
	comes(2, 0, 100);
	now += GAGG_SEC;
	fire();
	assert_int_equal(published(), 0);
	push_to(1);
	assert_int_equal(published(), 1);
}

/* a result goes only when all are known to have it: ring 16, window 8 */
static void ring__waits_for_a_straggler(void **state)
{
	u32 v;

	(void)state;
	begin("bsp-quorum:2:0", GAGG_K_ALLREDUCE);
	for (v = 0; v < 16; v++) {
		push_to(v + 1);
		comes(1, v, 100);
	}
	assert_int_equal(published(), 16);
	push_to(17);
	comes(1, 16, 100);
	assert_int_equal(published(), 16);
	/* a rank that pushes 7 need not have the result of 0 */
	comes(2, 7, 100);
	fire();
	assert_int_equal(published(), 16);
	/* a rank that pushes 8 has the result of 0 */
	nacts = 0;
	comes(2, 8, 100);
	assert_true(gagg_chan_deadline(ch) <= now);
	fire();
	assert_int_equal(published(), 1);
}

/* what a broadcast is without its root */
static void other_collectives__need_all(void **state)
{
	(void)state;
	begin("bsp-quorum:1:0", GAGG_K_BROADCAST);
	comes(1, 0, 100);
	comes(2, 0, 100);
	assert_int_equal(nacts, 0);
	push_to(1);
	assert_int_equal(published(), 1);
}

/* lanes of 8 bits are a sum like any other */
static void round__of_narrow_lanes(void **state)
{
	(void)state;
	laneop = GAGG_LANEOP(GAGG_LANE_S8, GAGG_OP_ADD);
	begin("bsp-quorum:2:0", GAGG_K_ALLREDUCE);
	g.wire = gagg_lane_narrow(laneop);
	comes(1, 0, 100);
	comes(2, 0, 100);
	assert_int_equal(published(), 1);
	laneop = ADD;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(round__is_complete_without_all, finish_test),
		cmocka_unit_test_teardown(round__of_those_who_have_come, finish_test),
		cmocka_unit_test_teardown(round__of_all_is_held_too, finish_test),
		cmocka_unit_test_teardown(late__counts_once_as_late_and_is_answered, finish_test),
		cmocka_unit_test_teardown(late__to_another_collective, finish_test),
		cmocka_unit_test_teardown(voided__who_has_come_stays, finish_test),
		cmocka_unit_test_teardown(deadline__of_those_who_have_come, finish_test),
		cmocka_unit_test_teardown(deadline__of_a_round_opened_later, finish_test),
		cmocka_unit_test_teardown(deadline__all_need_not_wait_for_it, finish_test),
		cmocka_unit_test_teardown(deadline__too_few, finish_test),
		cmocka_unit_test_teardown(ring__waits_for_a_straggler, finish_test),
		cmocka_unit_test_teardown(other_collectives__need_all, finish_test),
		cmocka_unit_test_teardown(round__of_narrow_lanes, finish_test),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
