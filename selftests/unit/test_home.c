// SPDX-License-Identifier: GPL-2.0
/* links: core kmod/core/path.c kmod/core/cwnd.c; libs: */
/*
 * The home's verdicts, row by row: node 0 is the home of all chunks and has
 * rank 0, which contributes what desc[0] says; ranks 1 and 2 are remote.
 */
#include <stdio.h>
#include "chan_node.h"

static void contrib__the_first_stores(void **state)
{
	(void)state;
	start(0);
	assert_int_equal(contrib(1, 3, 1, 100), GAGG_RX_ADD);
	assert_int_equal(in.todo.slot, 3);
	assert_int_equal(in.todo.acc, 3);
	assert_true(in.todo.first && !in.todo.to_result);
	assert_int_equal(in.todo.shift, 0);
	assert_int_equal(in.todo.lanes, 4);
	assert_int_equal(in.todo.laneop, ADD);
	assert_int_equal(nacts, 0);
	/* another chunk has another accumulator; the window makes them repeat */
	assert_int_equal(contrib(1, 7, 1, 100), GAGG_RX_ADD);
	assert_int_equal(in.todo.acc, 7);
}

static void contrib__a_smaller_exponent_is_shifted(void **state)
{
	(void)state;
	start(0);
	contrib(1, 0, 1, 105);
	assert_int_equal(contrib(2, 0, 1, 100), GAGG_RX_ADD);
	assert_int_equal(in.todo.shift, 5);
	assert_false(in.todo.first);
	assert_int_equal(sh->n[GAGG_N_VOIDS], 0);
}

static void contrib__a_larger_exponent_voids_the_sum(void **state)
{
	const struct gagg_act *a;

	(void)state;
	start(0);
	contrib(1, 0, 1, 100);
	assert_int_equal(contrib(2, 0, 1, 103), GAGG_RX_ADD);
	assert_true(in.todo.first);
	assert_int_equal(in.todo.shift, 0);
	assert_int_equal(sh->n[GAGG_N_VOIDS], 1);
	flush();
	a = only_ctrl(GAGG_T_RESEND);
	assert_int_equal(a->node, 1);
	assert_int_equal(a->m.aux, 1);
	assert_int_equal(a->m.src, 0);
	assert_int_equal(a->m.chunk, 0);
	assert_int_equal(a->m.round, 1);
	/* the same bytes again are no duplicate now */
	assert_int_equal(contrib(1, 0, 1, 100), GAGG_RX_ADD);
	assert_int_equal(in.todo.shift, 3);
	assert_false(in.todo.first);
	assert_int_equal(sh->n[GAGG_N_DUPLICATES], 0);
	assert_int_equal(sh->n[GAGG_N_VOIDS], 1);
}

static void contrib__a_void_leaves_what_has_no_lanes(void **state)
{
	(void)state;
	start(0);
	ready(2, 0, 1, 1);
	contrib(1, 0, 1, 100);
	desc[0].exp = 110;
	push_to(1);
	assert_int_equal(sh->n[GAGG_N_VOIDS], 1);
	flush();
	/* only rank 1 is asked, and only it is missing */
	assert_int_equal(only_ctrl(GAGG_T_RESEND)->m.aux, 1);
	assert_int_equal(count_acts(GAGG_ACT_PUBLISH), 0);
	contrib(1, 0, 1, 100);
	assert_int_equal(in.todo.shift, 10);
	assert_true(in.todo.first && in.todo.to_result);
	assert_int_equal(only(GAGG_ACT_PUBLISH)->pub.exp, 110);
}

static void contrib__local_lanes_are_not_voided(void **state)
{
	const struct gagg_publish *p;

	(void)state;
	start(0);
	desc[0].exp = 100;
	push_to(1);
	contrib(1, 0, 1, 120);
	assert_int_equal(sh->n[GAGG_N_VOIDS], 0);
	contrib(2, 0, 1, 110);
	p = &only(GAGG_ACT_PUBLISH)->pub;
	assert_int_equal(p->locals, 1);
	assert_int_equal(p->exp, 120);
	assert_int_equal(p->exp - gagg_chan_pushed(ch, 0, 0)->exp, 20);
}

static void contrib__an_exponent_without_lanes_does_not_void(void **state)
{
	struct gagg_msg m = message(GAGG_T_READY, 2, 0, 1);

	(void)state;
	start(0);
	push_to(1);
	contrib(1, 0, 1, 100);
	m.flags = GAGG_WF_ZERO;
	m.exp = 200;
	m.pn = 1;
	assert_int_equal(rx(2, m), GAGG_RX_OK);
	assert_int_equal(sh->n[GAGG_N_VOIDS], 0);
	assert_int_equal(only(GAGG_ACT_PUBLISH)->pub.exp, 100);
}

/* CONTRIB that carries nothing is what READY is: no lane may be read */
static void contrib__without_lanes_is_ready(void **state)
{
	struct gagg_msg m = message(GAGG_T_CONTRIB, 2, 0, 1);

	(void)state;
	start(0);
	push_to(1);
	contrib(1, 0, 1, 100);
	m.flags = GAGG_WF_ZERO;
	m.exp = 200;
	m.pn = 1;
	assert_int_equal(rx(2, m), GAGG_RX_OK);
	assert_int_equal(sh->n[GAGG_N_VOIDS], 0);
	assert_int_equal(only(GAGG_ACT_PUBLISH)->pub.exp, 100);
	m.flags = GAGG_WF_NONFINITE;
	m.round = 2;
	m.pn = 2;
	assert_int_equal(rx(2, m), GAGG_RX_OK);
	assert_int_equal(sh->n[GAGG_N_CONTRIBUTIONS], 4);
}

static void contrib__again_is_a_duplicate(void **state)
{
	(void)state;
	start(0);
	contrib(1, 0, 1, 100);
	assert_int_equal(contrib(1, 0, 1, 100), GAGG_RX_OK);
	assert_int_equal(ready(1, 0, 1, 1), GAGG_RX_OK);
	assert_int_equal(sh->n[GAGG_N_DUPLICATES], 2);
	assert_int_equal(sh->n[GAGG_N_CONTRIBUTIONS], 1);
	assert_int_equal(nacts, 0);
	/* it is acknowledged all the same: the acknowledgement was lost */
	flush();
	assert_int_equal(only_ctrl(GAGG_T_ACK)->node, 1);
}

static void publish__when_all_have_contributed(void **state)
{
	const struct gagg_act *a;

	(void)state;
	start(0);
	contrib(1, 0, 1, 100);
	desc[0].exp = 90;
	desc[0].want = 101;
	push_to(1);
	assert_int_equal(count_acts(GAGG_ACT_PUBLISH), 0);
	assert_int_equal(contrib(2, 0, 1, 99), GAGG_RX_ADD);
	/* the last one makes the result, the local one is added to that */
	assert_true(in.todo.to_result && !in.todo.first);
	assert_int_equal(in.todo.shift, 1);
	a = only(GAGG_ACT_PUBLISH);
	assert_int_equal(a->pub.slot, 0);
	assert_int_equal(a->pub.round, 1);
	assert_int_equal(a->pub.locals, 1);
	assert_int_equal(a->pub.lanes, 4);
	assert_true(a->pub.placed && !a->pub.from_acc);
	assert_int_equal(a->pub.exp, 100);
	assert_int_equal(a->pub.want, 101);
	assert_int_equal(a->pub.contributors, 3);
	assert_int_equal(a->pub.flags, 0);
	a = only(GAGG_ACT_SEND_RESULT);
	assert_int_equal(a->nodes, 6);
	assert_int_equal(a->m.type, GAGG_T_RESULT);
	assert_int_equal(a->m.exp, 100);
	assert_int_equal(a->m.want, 101);
	assert_int_equal(a->m.aux, 3);
	assert_int_equal(a->m.pn, 1);
	assert_int_equal(a->m.sig, 0x51);
	assert_int_equal(a->m.flags, 0);
	assert_int_equal(*gagg_chan_done(ch, 0), 1);
	/* first PUBLISH, then RESULT: it takes its lanes from there */
	assert_int_equal(acts[0].type, GAGG_ACT_PUBLISH);
}

static void publish__the_local_rank_may_be_last(void **state)
{
	const struct gagg_publish *p;

	(void)state;
	start(0);
	contrib(1, 0, 1, 100);
	contrib(2, 0, 1, 100);
	assert_false(in.todo.to_result);
	push_to(1);
	p = &only(GAGG_ACT_PUBLISH)->pub;
	assert_true(p->from_acc && !p->placed);
	assert_int_equal(p->locals, 1);
}

static void publish__local_lanes_only(void **state)
{
	const struct gagg_publish *p;

	(void)state;
	start(0);
	push_to(1);
	ready(1, 0, 1, 1);
	ready(2, 0, 1, 1);
	p = &only(GAGG_ACT_PUBLISH)->pub;
	assert_true(!p->from_acc && !p->placed);
	assert_int_equal(p->lanes, 4);
	assert_int_equal(p->locals, 1);
}

static void publish__next_round_has_its_own_buffer(void **state)
{
	(void)state;
	start(0);
	contrib(1, 0, 1, 100);
	contrib(2, 0, 1, 100);
	push_to(1);
	/* rank 1 has the result and is in the next round, rank 2 has not */
	assert_int_equal(contrib(1, 0, 2, 90), GAGG_RX_ADD);
	assert_true(in.todo.first && !in.todo.to_result);
	assert_int_equal(in.todo.shift, 0);
	nacts = 0;
	ask_repeat(2, 0, 1, 1);
	refill();
	assert_int_equal(only(GAGG_ACT_SEND_RESULT)->m.round, 1);
	assert_int_equal(only(GAGG_ACT_SEND_RESULT)->m.exp, 100);
}

static void contrib__of_the_last_round_is_acknowledged(void **state)
{
	(void)state;
	start(0);
	push_to(1);
	contrib(1, 0, 1, 100);
	contrib(2, 0, 1, 100);
	flush();
	nacts = 0;
	assert_int_equal(contrib(2, 0, 1, 100), GAGG_RX_OK);
	assert_int_equal(nacts, 0);
	assert_int_equal(sh->n[GAGG_N_STALE], 1);
	flush();
	only_ctrl(GAGG_T_ACK);
}

static void contrib__of_older_and_later_rounds(void **state)
{
	(void)state;
	start(0);
	*gagg_chan_done(ch, 0) = 5;
	assert_int_equal(contrib(1, 0, 4, 100), GAGG_RX_OK);
	assert_int_equal(contrib(1, 0, 1, 100), GAGG_RX_OK);
	assert_int_equal(contrib(1, 0, 7, 100), GAGG_RX_DROP);
	assert_int_equal(in.todo.drop, GAGG_DROP_ROUND);
	assert_int_equal(contrib(1, 0, 6, 100), GAGG_RX_ADD);
	assert_int_equal(sh->n[GAGG_N_STALE], 2);
}

static void contrib__rounds_wrap(void **state)
{
	(void)state;
	start(0);
	*gagg_chan_done(ch, 9) = 0xffffffff;
	assert_int_equal(contrib(1, 9, 0, 100), GAGG_RX_ADD);
	assert_int_equal(contrib(1, 9, 1, 100), GAGG_RX_DROP);
	assert_int_equal(contrib(1, 9, 0xffffffff, 100), GAGG_RX_OK);
	contrib(2, 9, 0, 100);
	ready(0, 9, 0, 1);	/* the local rank, by another way */
	assert_int_equal(*gagg_chan_done(ch, 9), 0);
	nacts = 0;
	ask_repeat(2, 9, 0, 1);
	refill();
	assert_int_equal(only(GAGG_ACT_SEND_RESULT)->m.round, 0);
}

static void contrib__place_taken_by_another_chunk(void **state)
{
	(void)state;
	start(0);
	contrib(1, 0, 1, 100);
	/* no rank that keeps the window gets here */
	assert_int_equal(contrib(1, 8, 1, 100), GAGG_RX_DROP);
	assert_int_equal(in.todo.drop, GAGG_DROP_WINDOW);
}

static void query__of_the_open_round(void **state)
{
	const struct gagg_act *a;

	(void)state;
	start(0);
	contrib(1, 0, 1, 100);
	assert_int_equal(ask(1, 0, 1, 1), GAGG_RX_OK);	/* it is in: silence */
	flush();
	assert_int_equal(count_ctrl(GAGG_T_RESEND, NULL), 0);
	ask(2, 0, 1, 1);				/* it is not */
	ask(1, 1, 1, 1);				/* nobody's is */
	flush();
	assert_int_equal(count_ctrl(GAGG_T_RESEND, &a), 2);
	assert_int_equal(count_acts(GAGG_ACT_SEND_RESULT), 0);
	ask(1, 1, 2, 1);				/* not even open */
	ask(1, 1, 0, 1);				/* never was one */
	flush();
	assert_int_equal(count_ctrl(GAGG_T_RESEND, &a), 2);
	assert_int_equal(count_acts(GAGG_ACT_SEND_RESULT), 0);
}

/* the result of @chunk that is sent */
static const struct gagg_act *only_of(u32 chunk)
{
	const struct gagg_act *a, *found = NULL;
	u32 at = 0;

	while ((a = next_act(&at, GAGG_ACT_SEND_RESULT)))
		if (a->m.chunk == chunk) {
			assert_null(found);
			found = a;
		}
	assert_non_null(found);
	return found;
}

static void query__of_a_run(void **state)
{
	const struct gagg_act *a;

	(void)state;
	start(0);
	push_to(8);
	ready(1, 0, 1, 8);
	ready(2, 0, 1, 3);	/* chunks 0 to 2 are published */
	contrib(2, 5, 1, 100);	/* and 5 */
	flush();
	nacts = 0;
	ask_repeat(2, 0, 1, 8);
	flush();
	/* RESULT with lanes of 0 to 2 and 5, RESEND for 3, 4 and 6, 7 */
	assert_int_equal(count_acts(GAGG_ACT_SEND_RESULT), 4);
	assert_int_equal(only_of(5)->nodes, 4);
	assert_int_equal(only_of(5)->m.flags, GAGG_WF_REPAIR);
	assert_int_equal(count_ctrl(GAGG_T_RESEND, &a), 2);
	assert_int_equal(a->m.chunk, 6);
	assert_int_equal(a->m.run, 2);
	assert_int_equal(a->m.aux, 2);
	assert_int_equal(a->node, 2);
	assert_int_equal(sh->n[GAGG_N_REPAIRS], 4);
}

static void query__is_told_behind_the_results(void **state)
{
	const struct gagg_act *a;

	(void)state;
	start(0);
	push_to(8);
	ready(1, 0, 1, 8);
	ready(2, 3, 1, 3);	/* 3 to 5 are published, with the local lanes */
	nacts = 0;
	ask(2, 0, 1, 8);
	flush();
	assert_int_equal(count_acts(GAGG_ACT_SEND_RESULT), 0);
	a = only_ctrl(GAGG_T_TOLD);
	assert_int_equal(a->node, 2);
	assert_int_equal(a->m.src, 0);
	assert_int_equal(a->m.chunk, 3);
	assert_int_equal(a->m.round, 1);
	assert_int_equal(a->m.run, 3);
	assert_int_equal(a->m.pn, ch->rpn);
	/* results without lanes wait for more of them: they leave before it */
	start(0);
	zero_slots = 8;
	push_to(8);
	ready(1, 0, 1, 8);
	nacts = 0;
	ready(2, 0, 1, 8);
	ask(2, 0, 1, 8);
	flush();
	assert_int_equal(count_ctrl(GAGG_T_RESULT, &a), 2);
	assert_true(a < only_ctrl(GAGG_T_TOLD));
}

static void query__for_all_ranks_of_a_host(void **state)
{
	const struct gagg_act *a;

	(void)state;
	geometry(0);
	more_ranks(1, 3);
	start_channel(0, g.workers);
	contrib(1, 0, 1, 100);
	ask(1, 0, 1, 1);	/* 1 is in, 3 of the same host is not */
	flush();
	assert_int_equal(count_ctrl(GAGG_T_RESEND, &a), 1);
	assert_int_equal(a->m.aux, 3);
	assert_int_equal(a->node, 1);
}

static void pull__by_number(void **state)
{
	struct gagg_msg m = message(GAGG_T_PULL, 1, 0, 0);
	u32 i;

	(void)state;
	start(0);
	push_to(8);
	/* published in the order 7, 6, .. 0 */
	for (i = 0; i < 8; i++) {
		contrib(1, 7 - i, 1, 100);
		contrib(2, 7 - i, 1, 100);
	}
	flush();
	nacts = 0;
	m.pn = 2;
	m.run = 3;
	assert_int_equal(rx(1, m), GAGG_RX_OK);
	refill();
	assert_int_equal(count_acts(GAGG_ACT_SEND_RESULT), 3);
	for (i = 0; i < 3; i++) {
		assert_int_equal(acts[i].m.chunk, 4 + i);
		assert_int_equal(acts[i].m.pn, 4 - i);
		assert_int_equal(acts[i].nodes, 2);
		assert_true(acts[i].m.flags & GAGG_WF_REPAIR);
	}
	/* not published yet, or never */
	nacts = 0;
	m.pn = 8;
	m.run = 8;
	rx(1, m);
	refill();
	assert_int_equal(nacts, 1);
	m.pn = 0xfffffff0;
	rx(1, m);
	m.pn = 0;
	m.run = 1;
	rx(1, m);
	refill();
	assert_int_equal(nacts, 1);
}

static void pull__of_what_was_overwritten(void **state)
{
	struct gagg_msg m = message(GAGG_T_PULL, 1, 0, 0);
	u32 round;

	(void)state;
	start(0);
	ch->rpn = 0xfffffffe;	/* and the numbers wrap */
	for (round = 1; round <= 4; round++) {
		push_to(16 * (round - 1) + 1);
		contrib(1, 0, round, 100);
		contrib(2, 0, round, 100);
		/* the rest of the ring */
		ready(1, 1, round, 7);
		ready(2, 1, round, 7);
		push_to(16 * (round - 1) + 8);
		ready(1, 8, round, 8);
		ready(2, 8, round, 8);
		push_to(16 * round);
	}
	flush();
	nacts = 0;
	/* the last eight, of them only the last is left in each slot */
	m.pn = ch->rpn - 8;
	m.run = 8;
	rx(1, m);
	flush();
	assert_int_equal(count_acts(GAGG_ACT_SEND_RESULT), 8);
	nacts = 0;
	m.pn = ch->rpn - 8 - 16;
	m.run = 8;
	rx(1, m);
	refill();
	assert_int_equal(nacts, 0);
}

static void ready__counts_each_chunk_of_a_run(void **state)
{
	const struct gagg_act *a;

	(void)state;
	start(0);
	desc[0].flags = GAGG_C_ZERO;
	push_to(8);
	assert_int_equal(ready(1, 0, 1, 8), GAGG_RX_OK);
	assert_int_equal(ready(2, 2, 1, 3), GAGG_RX_OK);
	assert_int_equal(count_acts(GAGG_ACT_PUBLISH), 3);
	assert_int_equal(sh->n[GAGG_N_CONTRIBUTIONS], 8 + 8 + 3);
	/* some again: not twice */
	ready(2, 0, 1, 8);
	assert_int_equal(count_acts(GAGG_ACT_PUBLISH), 8);
	assert_int_equal(sh->n[GAGG_N_CONTRIBUTIONS], 24);
	flush();
	/* to each of both: 2 to 4, then 0 and 1, then 5 to 7 */
	assert_int_equal(count_ctrl(GAGG_T_RESULT, &a), 6);
	assert_int_equal(a->m.chunk, 5);
	assert_int_equal(a->m.run, 3);
	assert_int_equal(a->m.pn, 6);
	assert_int_equal(a->m.flags, GAGG_WF_ZERO);
	assert_int_equal(count_acts(GAGG_ACT_SEND_RESULT), 0);
}

static void result__runs_leave_before_later_lanes(void **state)
{
	u32 at, next[3] = { 1, 1, 1 };

	(void)state;
	start(0);
	desc[0].flags = GAGG_C_ZERO;
	push_to(8);
	ready(1, 0, 1, 8);
	/* zeros, lanes, zeros, in one batch */
	ready(2, 0, 1, 2);
	contrib(2, 2, 1, 100);
	ready(2, 3, 1, 5);
	flush();
	for (at = 0; at < nacts; at++) {
		const struct gagg_act *a = &acts[at];
		u64 to = a->type == GAGG_ACT_SEND_RESULT ? a->nodes : GAGG_BIT(a->node);

		if (a->m.type != GAGG_T_RESULT)
			continue;
		for (; to; to &= to - 1) {
			assert_int_equal(a->m.pn, next[gagg_lowest(to)]);
			next[gagg_lowest(to)] += a->m.run;
		}
	}
	assert_int_equal(next[1], 9);
	assert_int_equal(next[2], 9);
}

static void result__to_those_who_want_it(void **state)
{
	struct gagg_msg m = message(GAGG_T_CONTRIB, 1, 0, 1);
	const struct gagg_act *a;

	(void)state;
	geometry(0);
	more_ranks(2, 3);
	start_channel(0, g.workers);
	submit(0, 10);
	push_to(1);
	m.flags = GAGG_WF_NORESULT;
	m.pn = 1;
	rx(1, m);
	m.src = 2;	/* one of two ranks of node 2 */
	rx(2, m);
	contrib(3, 0, 1, 0);
	flush();
	assert_int_equal(only(GAGG_ACT_SEND_RESULT)->nodes, 4);
	a = only_ctrl(GAGG_T_DONE);
	assert_int_equal(a->node, 1);
	assert_int_equal(a->m.flags, 0);
	assert_int_equal(a->m.aux, 4);
	/* told again: the same */
	nacts = 0;
	ask_repeat(1, 0, 1, 1);
	ask_repeat(3, 0, 1, 1);
	flush();
	assert_int_equal(only_ctrl(GAGG_T_DONE)->m.flags, GAGG_WF_REPAIR);
	assert_int_equal(only(GAGG_ACT_SEND_RESULT)->nodes, 4);
}

static void result__names_the_rank_with_nan(void **state)
{
	struct gagg_msg m = message(GAGG_T_READY, 2, 0, 1);
	const struct gagg_act *a;

	(void)state;
	start(0);
	push_to(1);
	m.flags = GAGG_WF_NONFINITE;
	m.exp = 250;
	m.want = 1;
	m.pn = 1;
	rx(2, m);
	m.src = 1;
	rx(1, m);
	a = only(GAGG_ACT_PUBLISH);
	assert_int_equal(a->pub.flags, GAGG_C_NONFINITE);
	assert_int_equal(a->pub.nonfinite, 1);
	assert_int_equal(a->pub.lanes, 0);
	assert_int_equal(a->pub.locals, 0);
	assert_int_equal(a->pub.exp, 0);	/* that of the only lanes */
	flush();
	assert_int_equal(count_ctrl(GAGG_T_RESULT, &a), 2);
	assert_int_equal(a->m.flags, GAGG_WF_NONFINITE);
	assert_int_equal(a->m.aux, 3 | 1 << 16);
	assert_int_equal(sh->n[GAGG_N_NONFINITE], 1);
}

static void result__says_that_it_may_have_wrapped(void **state)
{
	u32 want, over = 0;

	(void)state;
	/* three ranks: two bits of headroom */
	for (want = 28; want < 33; want++) {
		struct gagg_msg m = message(GAGG_T_CONTRIB, 1, 0, 1);
		const struct gagg_act *a;

		geometry(0);
		start_channel(0, g.workers);
		gagg_ring_submit(ch, 0, &(struct gagg_op){
			.sig = 0x51, .laneop = ADD, .flags = GAGG_OP_RAW, .last_lanes = 4,
		}, 10);
		desc[0].exp = 77;
		push_to(1);
		assert_int_equal(gagg_chan_pushed(ch, 0, 0)->exp, 0);
		m.flags = GAGG_WF_RAW;
		m.want = (u8)want;
		m.pn = 1;
		rx(1, m);
		m.src = 2;
		m.want = 3;
		rx(2, m);
		a = only(GAGG_ACT_PUBLISH);
		assert_true(a->pub.raw);
		assert_int_equal(!!(a->pub.flags & GAGG_C_OVERFLOW), want > 29);
		over += want > 29;
		assert_int_equal(only(GAGG_ACT_SEND_RESULT)->m.flags,
				 GAGG_WF_RAW | (want > 29 ? GAGG_WF_OVERFLOW : 0));
	}
	assert_int_equal(over, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(contrib__the_first_stores, finish_test),
		cmocka_unit_test_teardown(contrib__a_smaller_exponent_is_shifted, finish_test),
		cmocka_unit_test_teardown(contrib__a_larger_exponent_voids_the_sum, finish_test),
		cmocka_unit_test_teardown(contrib__a_void_leaves_what_has_no_lanes, finish_test),
		cmocka_unit_test_teardown(contrib__local_lanes_are_not_voided, finish_test),
		cmocka_unit_test_teardown(contrib__without_lanes_is_ready, finish_test),
		cmocka_unit_test_teardown(contrib__an_exponent_without_lanes_does_not_void,
					  finish_test),
		cmocka_unit_test_teardown(contrib__again_is_a_duplicate, finish_test),
		cmocka_unit_test_teardown(contrib__of_the_last_round_is_acknowledged, finish_test),
		cmocka_unit_test_teardown(contrib__of_older_and_later_rounds, finish_test),
		cmocka_unit_test_teardown(contrib__rounds_wrap, finish_test),
		cmocka_unit_test_teardown(contrib__place_taken_by_another_chunk, finish_test),
		cmocka_unit_test_teardown(publish__when_all_have_contributed, finish_test),
		cmocka_unit_test_teardown(publish__the_local_rank_may_be_last, finish_test),
		cmocka_unit_test_teardown(publish__local_lanes_only, finish_test),
		cmocka_unit_test_teardown(publish__next_round_has_its_own_buffer, finish_test),
		cmocka_unit_test_teardown(query__of_the_open_round, finish_test),
		cmocka_unit_test_teardown(query__of_a_run, finish_test),
		cmocka_unit_test_teardown(query__is_told_behind_the_results, finish_test),
		cmocka_unit_test_teardown(query__for_all_ranks_of_a_host, finish_test),
		cmocka_unit_test_teardown(pull__by_number, finish_test),
		cmocka_unit_test_teardown(pull__of_what_was_overwritten, finish_test),
		cmocka_unit_test_teardown(ready__counts_each_chunk_of_a_run, finish_test),
		cmocka_unit_test_teardown(result__runs_leave_before_later_lanes, finish_test),
		cmocka_unit_test_teardown(result__to_those_who_want_it, finish_test),
		cmocka_unit_test_teardown(result__names_the_rank_with_nan, finish_test),
		cmocka_unit_test_teardown(result__says_that_it_may_have_wrapped, finish_test),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
