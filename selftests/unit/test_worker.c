// SPDX-License-Identifier: GPL-2.0
/* links: core kmod/core/path.c kmod/core/cwnd.c; libs: */
/*
 * What a worker does, row by row: node 1 has rank 1, node 0 is the home of all
 * chunks.
 */
#include <stdio.h>
#include "chan_node.h"
#include "cwnd.h"

static u8 state_of(u32 slot, u32 local)
{
	return gagg_chan_pushed(ch, slot, local)->state;
}

static void push__under_the_window(void **state)
{
	const struct gagg_act *a;
	u32 i;

	(void)state;
	start(1);
	desc[0] = (struct gagg_cdesc){ .exp = 100, .want = 99, .flags = 0xf8 };
	push_to(3);
	assert_int_equal(count_acts(GAGG_ACT_SEND_CONTRIB), 3);
	for (i = 0; i < 3; i++) {
		a = &acts[i];
		assert_int_equal(a->node, 0);
		assert_int_equal(a->local, 0);
		assert_int_equal(a->m.type, GAGG_T_CONTRIB);
		assert_int_equal(a->m.src, 1);
		assert_int_equal(a->m.chunk, i);
		assert_int_equal(a->m.round, 1);
		assert_int_equal(a->m.pn, 1 + i);
		assert_int_equal(a->m.exp, 100);
		assert_int_equal(a->m.want, 99);
		assert_int_equal(a->m.flags, 0);	/* those of the trainer are no flags */
		assert_int_equal(a->m.lanes, 4);
		assert_int_equal(a->m.sig, 0x51);
		assert_int_equal(a->m.weight, 1);
		assert_int_equal(a->m.epoch, (u32)EPOCH);
		assert_int_equal(a->m.cookie, COOKIE);
		assert_int_equal(state_of(i, 0), GAGG_PUSHED);
	}
	/* no more than the window of 8 above what is done, whatever is filled */
	push_to(1000);
	assert_int_equal(count_acts(GAGG_ACT_SEND_CONTRIB), 8);
	assert_int_equal(result(0, 1, 1), GAGG_RX_PLACE);
	refill();
	assert_int_equal(count_acts(GAGG_ACT_SEND_CONTRIB), 9);
	assert_int_equal(result(3, 1, 2), GAGG_RX_PLACE);
	refill();
	assert_int_equal(count_acts(GAGG_ACT_SEND_CONTRIB), 9);	/* 1 and 2 are open */
	/* nor beyond the end of the op, nor what is not filled */
	start(1);
	ch->local[0].issued = 2;
	push_to(5);
	assert_int_equal(count_acts(GAGG_ACT_SEND_CONTRIB), 2);
}

static void push__under_the_path(void **state)
{
	(void)state;
	start(1);
	sh->path[0].cwnd = 4;
	sh->path[0].slow_to = 4;
	push_to(8);
	assert_int_equal(count_acts(GAGG_ACT_SEND_CONTRIB), 4);
	/* an acknowledgement makes room, a result is not needed */
	acknowledge(0, GAGG_BIT(3) | GAGG_BIT(4));
	refill();
	assert_int_equal(count_acts(GAGG_ACT_SEND_CONTRIB), 7);
	assert_int_equal(state_of(0, 0), GAGG_PUSHED | GAGG_ACKED);
	assert_int_equal(state_of(2, 0), GAGG_PUSHED);
}

/* contributions that leave until no acknowledgement makes room for more */
static u32 contribs_ahead(u32 cwnd)
{
	u32 n;

	do {
		n = count_acts(GAGG_ACT_SEND_CONTRIB);
		acknowledge(0, 0);
		sh->path[0].cwnd = cwnd;
		refill();
	} while (count_acts(GAGG_ACT_SEND_CONTRIB) > n);
	return n;
}

static void push__is_not_far_ahead(void **state)
{
	(void)state;
	geometry(1);
	g.ring = 512;
	g.window = 256;
	g.stripe = 64;
	start_channel(0, g.workers);
	submit(0, 512);
	push_to(512);
	/* eight windows */
	assert_int_equal(contribs_ahead(4), 32);
	assert_int_equal(contribs_ahead(8), 64);
	assert_int_equal(contribs_ahead(9), 72);
	assert_int_equal(contribs_ahead(10), 80);
	result(0, 1, 1);
	assert_int_equal(contribs_ahead(10), 81);
	assert_int_equal(contribs_ahead(4), 81);
	assert_int_equal(contribs_ahead(100), 257);
	/* so many of each home, and this host is no way from itself */
	geometry(1);
	g.aggregators = 3;
	g.ring = 512;
	g.window = 512;
	start_channel(0, g.workers);
	submit(0, 512);
	push_to(512);
	assert_int_equal(contribs_ahead(4), 32);
	/* but for what has no lanes */
	zero_slots = ~0ULL;
	assert_int_equal(contribs_ahead(4), 32);
	assert_true(gagg_chan_way(ch, 0, 0)->next.v >= 512);
}

static void push__a_local_result_moves_the_window(void **state)
{
	(void)state;
	geometry(1);
	g.aggregators = 3;
	g.window = 1;
	start_channel(0, g.workers);
	submit(0, 10);
	push_to(1);
	acknowledge(0, 0);
	result(0, 1, 1);
	contrib(0, 1, 1, 0);
	contrib(2, 1, 1, 0);
	nacts = 0;
	/* chunk 1 is homed here and now complete: chunk 2 may go */
	push_to(10);
	assert_int_equal(only(GAGG_ACT_PUBLISH)->pub.slot, 1);
	assert_int_equal(only(GAGG_ACT_SEND_CONTRIB)->m.chunk, 2);
}

static void push__a_full_path_lets_ready_grow(void **state)
{
	const struct gagg_act *a;

	(void)state;
	start(1);
	sh->path[0].cwnd = 4;
	push_to(3);
	desc[0].flags = GAGG_C_ZERO;
	push_to(8);
	a = only_ctrl(GAGG_T_READY);
	assert_int_equal(a->m.chunk, 3);
	assert_int_equal(a->m.run, 5);
	assert_int_equal(a->m.pn, 4);
	/* one that does not fit is asked for again when there is room */
	start(1);
	sh->path[0].cwnd = 4;
	zero_slots = 8;
	push_to(8);
	assert_int_equal(only_ctrl(GAGG_T_READY)->m.run, 1);
	assert_int_equal(count_acts(GAGG_ACT_SEND_CONTRIB), 3);
	assert_int_equal(state_of(3, 0), GAGG_PUSHED);
	assert_int_equal(state_of(4, 0), 0);
	desc[0].exp = 33;
	acknowledge(0, 0);
	refill();
	assert_int_equal(acts[nacts - 1].m.exp, 33);
	assert_int_equal(acts[nacts - 1].m.chunk, 7);
}

/* what the actions from the @at-th on say, without the slots: chunks in a row */
static void assert_contribs(u32 at, u32 chunk, u32 n, u32 first_pn, u8 node)
{
	const struct gagg_pushed *p;
	u32 i;

	for (i = 0; i < n; i++) {
		const struct gagg_act *a = &acts[at + i];

		p = gagg_chan_pushed(ch, chunk + i, 0);
		assert_int_equal(a->type, GAGG_ACT_SEND_CONTRIB);
		assert_int_equal(a->node, node);
		assert_int_equal(a->m.run, 1);
		assert_int_equal(a->m.chunk, chunk + i);
		assert_int_equal(a->m.pn, first_pn + i);
		assert_int_equal(a->m.exp, 100 + chunk + i);
		assert_int_equal(a->m.want, 90 + chunk + i);
		assert_int_equal(p->exp, a->m.exp);
		assert_int_equal(p->want, a->m.want);
		assert_int_equal(p->state, GAGG_PUSHED);
	}
}

/* stripes of 4 on two homes; node 2 has rank 2 */
static void start_stripes(void)
{
	geometry(2);
	g.aggregators = 3;
	g.stripe = 4;
	g.ring = 32;
	g.window = 16;
	start_channel(0, g.workers);
	desc[0] = (struct gagg_cdesc){ .exp = 100, .want = 90 };
	exp_step = 1;
}

static void push__a_stripe_is_one_action(void **state)
{
	struct gagg_act *a;
	u32 n;

	(void)state;
	start_stripes();
	submit(0, 1000);
	filled[0] = 15;
	assert_false(gagg_chan_refill(sh, &g, &env, ch, now));
	assert_int_equal(sh->nacts, 4);
	drain();
	assert_int_equal(nacts, 15);
	/* homes in turn, from the one behind this node on */
	assert_contribs(0, 4, 4, 1, 1);
	assert_contribs(4, 0, 4, 1, 0);
	assert_contribs(8, 12, 3, 5, 1);
	assert_contribs(11, 8, 4, 5, 0);
	/* what is filled later, under the window */
	push_to(1000);
	assert_int_equal(nacts, 16);
	assert_contribs(15, 15, 1, 8, 1);
	/* each has its place in the log: those that are lost are sent again */
	acknowledge(0, GAGG_BIT(2) | GAGG_BIT(3));
	refill();
	assert_int_equal(nacts, 18);
	assert_int_equal(acts[16].m.chunk, 1);
	assert_int_equal(acts[17].m.chunk, 2);
	/* a host that takes them all at once gets the same */
	start_stripes();
	submit(0, 4);
	filled[0] = 4;
	gagg_chan_refill(sh, &g, &env, ch, now);
	a = gagg_shard_act(sh);
	assert_int_equal(a->more, 3);
	for (n = 1; gagg_act_next(a); n++) {
		assert_int_equal(a->m.chunk, n);
		assert_int_equal(a->m.pn, 1 + n);
		assert_int_equal(a->m.exp, 100 + n);
		assert_int_equal(a->m.want, 90 + n);
	}
	assert_int_equal(n, 4);
	assert_null(gagg_shard_act(sh));
	assert_null(gagg_shard_act(sh));
}

/* though other homes have their turns between the stripes of one */
static void push__ready_of_stripes_is_one(void **state)
{
	u32 h;

	(void)state;
	start_stripes();
	exp_step = 0;
	desc[0].flags = GAGG_C_ZERO;
	submit(0, 16);
	push_to(16);
	assert_int_equal(nacts, 2);
	for (h = 0; h < 2; h++) {
		assert_int_equal(acts[h].m.type, GAGG_T_READY);
		assert_int_equal(acts[h].node, h);
		assert_int_equal(acts[h].m.chunk, 4 * h);
		assert_int_equal(acts[h].m.run, 8);
	}
}

static void push__an_action_ends_where_chunks_differ(void **state)
{
	u32 i;

	(void)state;
	/* the last chunk of an op, which is shorter, and those of the next */
	start_stripes();
	gagg_ring_submit(ch, 0, &(struct gagg_op){
		.sig = 0x51, .laneop = ADD, .last_lanes = 3,
	}, 3);
	gagg_ring_submit(ch, 0, &(struct gagg_op){
		.sig = 0x52, .laneop = ADD, .last_lanes = 4,
	}, 1);
	push_to(4);
	assert_int_equal(nacts, 4);
	assert_contribs(0, 0, 4, 1, 0);
	for (i = 0; i < 4; i++) {
		assert_int_equal(acts[i].m.lanes, i == 2 ? 3 : 4);
		assert_int_equal(acts[i].m.sig, i == 3 ? 0x52 : 0x51);
	}
	/* ops that end with whole chunks */
	start_stripes();
	submit(0, 2);
	gagg_ring_submit(ch, 0, &(struct gagg_op){
		.sig = 0x52, .laneop = ADD, .last_lanes = 4,
	}, 2);
	push_to(4);
	assert_contribs(0, 0, 4, 1, 0);
	for (i = 0; i < 4; i++)
		assert_int_equal(acts[i].m.sig, i < 2 ? 0x51 : 0x52);
	/* chunks without lanes */
	start_stripes();
	submit(0, 1000);
	zero_slots = GAGG_BIT(1);
	push_to(4);
	assert_int_equal(nacts, 4);
	assert_contribs(0, 0, 1, 1, 0);
	assert_int_equal(acts[1].m.type, GAGG_T_READY);
	assert_int_equal(acts[1].m.pn, 2);
	assert_contribs(2, 2, 2, 3, 0);
	/* and there is no room for the action that those need */
	start_stripes();
	submit(0, 1000);
	zero_slots = GAGG_BIT(1);
	filled[0] = 4;
	sh->nacts = sh->head = GAGG_ACTS - GAGG_ACTS_STEP;
	assert_true(gagg_chan_refill(sh, &g, &env, ch, now));
	assert_int_equal(state_of(0, 0), GAGG_PUSHED);
	assert_int_equal(state_of(1, 0), 0);
	drain();
	assert_contribs(0, 0, 1, 1, 0);
	/* no more room on the path */
	start_stripes();
	submit(0, 1000);
	sh->path[0].cwnd = 3;
	push_to(4);
	assert_int_equal(nacts, 3);
	assert_int_equal(state_of(3, 0), 0);
	sh->path[0].cwnd = 4;
	refill();
	assert_contribs(0, 0, 4, 1, 0);
	/* the end of the ring, in the midst of a stripe: what follows is of the next round */
	start_stripes();
	g.ring = 18;
	start_channel(0, g.workers);
	submit(0, 1000);
	gagg_chan_way(ch, 0, 0)->next = (struct gagg_cur){ .v = 16, .slot = 16, .round = 1 };
	gagg_chan_way(ch, 0, 1)->next = (struct gagg_cur){ .v = 22, .slot = 4, .round = 2 };
	ch->base = 16;
	push_to(20);
	assert_int_equal(acts[0].m.chunk, 16);
	assert_int_equal(acts[1].m.chunk, 17);
	assert_int_equal(acts[2].m.chunk, 0);
	assert_int_equal(acts[2].m.round, 2);
	assert_int_equal(acts[2].m.pn, 3);
}

static void push__what_has_no_lanes_is_ready(void **state)
{
	static const u8 flags[] = { GAGG_C_ZERO, GAGG_C_NONFINITE, GAGG_C_ZERO | GAGG_C_NORESULT };
	static const u16 wire[] = { GAGG_WF_ZERO, GAGG_WF_NONFINITE,
				    GAGG_WF_ZERO | GAGG_WF_NORESULT };
	const struct gagg_act *a;
	u32 i;

	(void)state;
	for (i = 0; i < 3; i++) {
		start(1);
		desc[0].flags = flags[i];
		push_to(5);
		a = only_ctrl(GAGG_T_READY);
		assert_int_equal(a->m.flags, wire[i]);
		assert_int_equal(a->m.run, 5);
		assert_int_equal(a->m.lanes, 4);
		assert_int_equal(a->m.pn, 1);
		assert_int_equal(sh->path[0].next_pn, 2);
	}
	/* raw lanes have no exponent */
	geometry(1);
	start_channel(0, g.workers);
	gagg_ring_submit(ch, 0, &(struct gagg_op){
		.sig = 0x51, .laneop = ADD, .flags = GAGG_OP_RAW, .last_lanes = 4,
	}, 1);
	desc[0].exp = 9;
	push_to(1);
	assert_int_equal(only(GAGG_ACT_SEND_CONTRIB)->m.flags, GAGG_WF_RAW);
	assert_int_equal(only(GAGG_ACT_SEND_CONTRIB)->m.exp, 0);
	/* a chunk without lanes, of a barrier, has none to contribute */
	geometry(1);
	start_channel(0, g.workers);
	gagg_ring_submit(ch, 0, &(struct gagg_op){
		.sig = 0x51, .laneop = ADD, .last_lanes = 0,
	}, 1);
	push_to(1);
	assert_int_equal(only_ctrl(GAGG_T_READY)->m.flags, GAGG_WF_ZERO);
	assert_int_equal(only_ctrl(GAGG_T_READY)->m.lanes, 0);
}

static void result__is_placed(void **state)
{
	const struct gagg_publish *p;

	(void)state;
	start(1);
	push_to(2);
	nacts = 0;
	assert_int_equal(result(1, 1, 1), GAGG_RX_PLACE);
	assert_int_equal(in.todo.slot, 1);
	assert_int_equal(in.todo.lanes, 4);
	p = &only(GAGG_ACT_PUBLISH)->pub;
	assert_int_equal(p->slot, 1);
	assert_int_equal(p->round, 1);
	assert_true(p->placed && !p->from_acc && !p->locals);
	assert_int_equal(p->contributors, 3);
	assert_int_equal(*gagg_chan_done(ch, 1), 1);
	assert_int_equal(state_of(1, 0), 0);
	assert_int_equal(ch->base, 0);
	result(0, 1, 2);
	assert_int_equal(ch->base, 2);
}

static void result__anything_else_is_ignored(void **state)
{
	struct gagg_msg m = message(GAGG_T_RESULT, 0, 0, 1);

	(void)state;
	start(1);
	push_to(1);
	assert_int_equal(result(0, 1, 1), GAGG_RX_PLACE);
	nacts = 0;
	assert_int_equal(result(0, 1, 1), GAGG_RX_OK);		/* repeated */
	assert_int_equal(result(0, 0, 1), GAGG_RX_OK);		/* late */
	assert_int_equal(result(0, 2, 2), GAGG_RX_DROP);	/* not pushed */
	assert_int_equal(in.todo.drop, GAGG_DROP_ROUND);
	assert_int_equal(result(0, 3, 3), GAGG_RX_DROP);	/* of the future */
	assert_int_equal(result(1, 1, 4), GAGG_RX_DROP);	/* not pushed */
	m.flags = GAGG_WF_ZERO;
	m.round = 2;
	m.run = 3;
	m.pn = 5;
	assert_int_equal(rx(0, m), GAGG_RX_OK);
	m.type = GAGG_T_DONE;
	m.flags = 0;
	m.pn = 8;
	assert_int_equal(rx(0, m), GAGG_RX_OK);
	assert_int_equal(nacts, 0);
	assert_int_equal(*gagg_chan_done(ch, 0), 1);
	assert_int_equal(*gagg_chan_done(ch, 1), 0);
}

static void result__runs(void **state)
{
	struct gagg_msg m = message(GAGG_T_RESULT, 0, 1, 1);
	u32 at = 0;
	const struct gagg_act *a;

	(void)state;
	start(1);
	push_to(8);
	nacts = 0;
	m.flags = GAGG_WF_NONFINITE;
	m.aux = 3 | 2 << 16;
	m.run = 3;
	m.pn = 1;
	assert_int_equal(rx(0, m), GAGG_RX_OK);
	m.type = GAGG_T_DONE;
	m.flags = 0;
	m.chunk = 4;
	m.aux = 3;
	m.run = 8;	/* what is pushed ends before */
	m.pn = 4;
	assert_int_equal(rx(0, m), GAGG_RX_OK);
	m.chunk = 12;	/* the ring does */
	m.pn = 12;
	assert_int_equal(rx(0, m), GAGG_RX_DROP);
	assert_int_equal(in.todo.drop, GAGG_DROP_CHUNK);
	assert_int_equal(count_acts(GAGG_ACT_PUBLISH), 7);
	a = next_act(&at, GAGG_ACT_PUBLISH);
	assert_int_equal(a->pub.flags, GAGG_C_NONFINITE);
	assert_int_equal(a->pub.nonfinite, 2);
	assert_int_equal(a->pub.lanes, 0);
	assert_int_equal(acts[6].pub.flags, GAGG_C_NORESULT);
	assert_int_equal(acts[6].pub.slot, 7);
	assert_int_equal(count_ctrl(GAGG_T_PULL, NULL), 0);
}

static void result__needs_all_local_ranks(void **state)
{
	(void)state;
	geometry(1);
	more_ranks(1, 3);
	start_channel(0, g.workers);
	submit(0, 10);
	submit(1, 10);
	filled[0] = 1;
	refill();
	assert_int_equal(result(0, 1, 1), GAGG_RX_DROP);
	filled[1] = 1;
	refill();
	assert_int_equal(result(0, 1, 1), GAGG_RX_PLACE);
	assert_int_equal(acts[1].m.src, 3);
	assert_int_equal(acts[1].local, 1);
}

static void resend__the_same_again(void **state)
{
	struct gagg_msg m = message(GAGG_T_RESEND, 0, 0, 1);
	struct gagg_act first;

	(void)state;
	start(1);
	desc[0].exp = 100;
	push_to(3);
	acknowledge(0, 0);
	first = acts[0];
	nacts = 0;
	desc[0].exp = 50;	/* not looked at again */
	m.aux = 1;
	m.run = 2;
	assert_int_equal(rx(0, m), GAGG_RX_OK);
	assert_int_equal(state_of(0, 0), GAGG_PUSHED | GAGG_AGAIN);
	rx(0, m);
	refill();
	assert_int_equal(nacts, 2);
	assert_int_equal(acts[0].m.pn, 4);
	acts[0].m.pn = first.m.pn;
	assert_memory_equal(&acts[0].m, &first.m, sizeof(first.m));
	assert_int_equal(acts[1].m.chunk, 1);
	assert_int_equal(sh->n[GAGG_N_RETRANSMITS], 2);
	assert_int_equal(state_of(0, 0), GAGG_PUSHED);
}

static void resend__otherwise_ignored(void **state)
{
	struct gagg_msg m = message(GAGG_T_RESEND, 0, 0, 1);

	(void)state;
	start(1);
	push_to(1);
	nacts = 0;
	m.aux = 2;
	assert_int_equal(rx(0, m), GAGG_RX_DROP);	/* another host's rank */
	m.aux = 0x10000;
	assert_int_equal(rx(0, m), GAGG_RX_DROP);
	m.aux = 1;
	m.round = 2;
	rx(0, m);					/* another round */
	m.round = 0;
	rx(0, m);
	assert_int_equal(state_of(0, 0), GAGG_PUSHED);
	m.round = 1;
	m.chunk = 1;
	m.run = 0xffff;
	rx(0, m);					/* not pushed */
	result(0, 1, 1);
	nacts = 0;
	m.chunk = 0;
	m.run = 1;
	rx(0, m);					/* done */
	refill();
	assert_int_equal(nacts, 0);
	assert_int_equal(sh->n[GAGG_N_RETRANSMITS], 0);
}

static void lost__is_sent_again_with_a_new_number(void **state)
{
	(void)state;
	start(1);
	push_to(8);
	nacts = 0;
	/* 1 and 2 are three and more behind what has arrived */
	acknowledge(0, GAGG_BIT(1) | GAGG_BIT(2));
	refill();
	assert_int_equal(count_acts(GAGG_ACT_SEND_CONTRIB), 2);
	assert_int_equal(acts[0].m.chunk, 0);
	assert_int_equal(acts[0].m.pn, 9);
	assert_int_equal(acts[1].m.chunk, 1);
	assert_int_equal(sh->n[GAGG_N_RETRANSMITS], 2);
}

static void lost__leaves_as_far_as_there_is_room(void **state)
{
	(void)state;
	start(1);
	zero_slots = GAGG_BIT(0);
	push_to(8);
	acknowledge(0, GAGG_BIT(1) | GAGG_BIT(2));
	nacts = 0;
	/* the window has nothing more to push: what is READY does not wait for it */
	sh->path[0].cwnd = 1;
	refill();
	assert_int_equal(nacts, 1);
	assert_int_equal(only_ctrl(GAGG_T_READY)->m.chunk, 0);
	assert_int_equal(acts[0].m.pn, 9);
	sh->path[0].cwnd = 2;
	refill();
	assert_int_equal(nacts, 2);
	assert_int_equal(only(GAGG_ACT_SEND_CONTRIB)->m.chunk, 1);
}

static void lost__is_not_sent_when_it_is_done(void **state)
{
	(void)state;
	start(1);
	push_to(8);
	result(0, 1, 1);
	nacts = 0;
	acknowledge(0, GAGG_BIT(1) | GAGG_BIT(2));
	result(1, 1, 2);	/* was to be sent again */
	refill();
	assert_int_equal(count_acts(GAGG_ACT_SEND_CONTRIB), 0);
	assert_int_equal(gagg_chan_way(ch, 0, 0)->nagain, 0);
}

static void timer__not_acknowledged_then_again(void **state)
{
	(void)state;
	start(1);
	push_to(1);
	assert_int_equal(gagg_shard_deadline(sh, &g), now + GAGG_PATH_RTO_INIT);
	nacts = 0;
	now = gagg_shard_deadline(sh, &g);
	fire();
	assert_int_equal(only(GAGG_ACT_SEND_CONTRIB)->m.pn, 2);
	assert_int_equal(sh->path[0].log[1].again, 0);
	assert_int_equal(sh->path[0].log[2].again, 1);
	assert_int_equal(count_ctrl(GAGG_T_QUERY, NULL), 0);
	assert_true(gagg_shard_deadline(sh, &g) > now);
}

static void timer__acknowledged_then_asks(void **state)
{
	u64 wait, was, began, longest = 0, shortest = GAGG_NEVER;
	u32 i;

	(void)state;
	start(1);
	wait = gagg_path_rto(&sh->path[0]);
	began = now;
	ch->local[0].issued = 5;
	push_to(5);
	acknowledge(0, 0);
	refill();
	assert_int_equal(gagg_shard_deadline(sh, &g), GAGG_NEVER);
	for (i = 0; i < 60; i++) {
		const struct gagg_act *a;

		assert_int_equal(gagg_chan_deadline(ch), now + wait);
		nacts = 0;
		was = now;
		now = gagg_chan_deadline(ch);
		fire();
		assert_int_equal(nacts, 1);
		a = only_ctrl(GAGG_T_QUERY);
		assert_int_equal(a->node, 0);
		assert_int_equal(a->m.src, 1);
		assert_int_equal(a->m.chunk, 0);
		assert_int_equal(a->m.round, 1);
		assert_int_equal(a->m.run, 5);
		/* ever rarer, each sixteenth of the silence, but four times a second at least */
		wait = gagg_max64(gagg_path_rto(&sh->path[0]), (now - began) / 16);
		if (wait >= 250 * GAGG_MSEC) {
			wait = gagg_chan_deadline(ch) - now;
			longest = gagg_max64(longest, wait);
			shortest = gagg_min64(shortest, wait);
		}
		assert_true(now > was);
	}
	/* and not each time after as long: see gagg_path_bound() */
	assert_in_range(shortest, 187 * GAGG_MSEC, longest - 20 * GAGG_MSEC);
	assert_true(longest <= 250 * GAGG_MSEC);
	/* some news: soon again */
	result(0, 1, 1);
	assert_int_equal(gagg_chan_deadline(ch), now + gagg_path_rto(&sh->path[0]));
	for (i = 1; i < 5; i++)
		result(i, 1, 1 + i);
	/* nothing is open any more */
	now = gagg_chan_deadline(ch);
	nacts = 0;
	fire();
	assert_int_equal(nacts, 0);
	assert_int_equal(gagg_chan_deadline(ch), GAGG_NEVER);
}

static void timer__one_rank_of_a_host_asks(void **state)
{
	u32 i;

	(void)state;
	geometry(1);
	more_ranks(1, 3);
	start_channel(0, g.workers);
	submit(0, 1);
	submit(1, 1);
	push_to(1);
	acknowledge(0, 0);
	for (i = 0; i < 3; i++) {
		nacts = 0;
		now = gagg_chan_deadline(ch);
		fire();
		assert_int_equal(only_ctrl(GAGG_T_QUERY)->m.src, 1);
	}
}

static void timer__asks_beyond_what_has_come(void **state)
{
	u32 i;

	(void)state;
	start(1);
	push_to(8);
	acknowledge(0, GAGG_BIT(7));
	for (i = 1; i < 8; i += 2)
		result(i, 1, i + 1);
	flush();
	nacts = 0;
	now += GAGG_SEC;
	fire();
	/* chunks 0, 2 and 4 are open; 6 is not known to have arrived */
	assert_int_equal(only_ctrl(GAGG_T_QUERY)->m.chunk, 0);
	assert_int_equal(only_ctrl(GAGG_T_QUERY)->m.run, 5);
}

/* an op whose chunk 0 has its home at node 0, and chunk 1 at node 2; nothing is filled */
static void start_two_homes(void)
{
	geometry(1);
	g.aggregators = 5;
	start_channel(0, g.workers);
	submit(0, 10);
}

static void timer__who_tells_news_is_not_asked(void **state)
{
	struct gagg_msg m;

	(void)state;
	start_two_homes();
	push_to(10);
	acknowledge(0, 0);
	acknowledge(2, 0);
	m = message(GAGG_T_RESULT, 2, 1, 1);
	m.pn = 1;
	rx(2, m);	/* 0 is open: the wait is not begun anew */
	nacts = 0;
	now = gagg_chan_deadline(ch);
	fire();
	assert_int_equal(only_ctrl(GAGG_T_QUERY)->node, 0);
	/* no more news since then */
	nacts = 0;
	now = gagg_chan_deadline(ch);
	fire();
	assert_int_equal(count_ctrl(GAGG_T_QUERY, NULL), 2);
}

/* all is acknowledged, after long round trips; node 2 has spoken 1 ms later */
static void start_tail(void)
{
	struct gagg_msg m;

	start_two_homes();
	sh->path[0].srtt = 40 * GAGG_MSEC;
	sh->path[2].srtt = 40 * GAGG_MSEC;
	sh->path[0].beat = GAGG_MSEC;
	sh->path[2].beat = GAGG_MSEC;
	push_to(10);
	acknowledge(0, 0);
	acknowledge(2, 0);
	now += GAGG_MSEC;
	m = message(GAGG_T_RESULT, 2, 3, 1);
	m.pn = 1;
	rx(2, m);
	nacts = 0;
}

static void timer__silent_homes_are_asked_soon(void **state)
{
	u64 then;

	(void)state;
	start_tail();
	assert_int_equal(gagg_chan_deadline(ch), now - GAGG_MSEC + GAGG_PATH_QUIET_MIN);
	now = gagg_chan_deadline(ch);
	fire();
	assert_int_equal(only_ctrl(GAGG_T_QUERY)->node, 0);
	/* and again after the same time */
	assert_int_equal(gagg_chan_deadline(ch), now + GAGG_PATH_QUIET_MIN);
	/* nor before an answer can be there */
	start_tail();
	sh->path[0].rtt_min = 40 * GAGG_MSEC;
	now = gagg_chan_deadline(ch);
	fire();
	assert_int_equal(gagg_chan_deadline(ch), now + 45 * GAGG_MSEC);
	sh->path[0].rtt_min = 0;
	/* not what more is under way to: answers wait behind that. But after a timeout */
	start_tail();
	then = now - GAGG_MSEC + 40 * GAGG_MSEC;
	sh->path[2].flying = 9;
	now = gagg_chan_deadline(ch);
	fire();
	assert_int_equal(count_ctrl(GAGG_T_QUERY, NULL), 0);
	assert_int_equal(gagg_chan_deadline(ch), then);
	now = then;
	gagg_path_heard(&sh->path[2], now);
	fire();
	assert_int_equal(count_ctrl(GAGG_T_QUERY, NULL), 2);
	sh->path[2].flying = 0;
}

/* the base passes from home to home within a burst: the last one's path says how long */
static void timer__is_of_the_home_that_the_base_waits_for(void **state)
{
	struct gagg_msg m = message(GAGG_T_RESULT, 2, 1, 1);

	(void)state;
	start_two_homes();
	sh->path[0].srtt = 30 * GAGG_MSEC;
	sh->path[2].srtt = 40 * GAGG_MSEC;
	sh->path[0].beat = GAGG_MSEC;
	sh->path[2].beat = GAGG_MSEC;
	push_to(10);
	now += GAGG_MSEC;
	result(0, 1, 1);
	assert_int_equal(ch->stuck_at, now + gagg_path_rto(&sh->path[2]));
	m.pn = 1;
	rx(2, m);
	assert_int_equal(ch->stuck_at, now + gagg_path_rto(&sh->path[0]));
	assert_int_not_equal(gagg_path_rto(&sh->path[0]), gagg_path_rto(&sh->path[2]));
}

static void timer__what_is_over_is_no_probe(void **state)
{
	(void)state;
	start(1);
	push_to(4);
	result(0, 1, 1);	/* no acknowledgement has come */
	result(1, 1, 2);
	nacts = 0;
	now = gagg_shard_deadline(sh, &g);
	fire();
	assert_int_equal(count_acts(GAGG_ACT_SEND_CONTRIB), 2);
	assert_int_equal(acts[0].m.chunk, 2);
	assert_int_equal(acts[1].m.chunk, 3);
	result(2, 1, 3);
	result(3, 1, 4);
	nacts = 0;
	now = gagg_shard_deadline(sh, &g);
	fire();
	assert_int_equal(count_acts(GAGG_ACT_SEND_CONTRIB), 0);
	assert_int_equal(gagg_shard_deadline(sh, &g), GAGG_NEVER);
}

static void timer__runs_though_a_refill_stopped(void **state)
{
	u32 calls = 0, chunks = GAGG_ACTS - GAGG_ACTS_STEP + 1;

	(void)state;
	geometry(1);
	g.ring = 4096;
	g.window = 1024;
	g.cwnd = 448;
	start_channel(0, g.workers);
	sh->path[0].cwnd = 448;
	submit(0, chunks);
	filled[0] = chunks;
	for (calls = 1; gagg_chan_refill(sh, &g, &env, ch, now); calls++)
		drain();
	drain();
	/* the second call had nothing to push */
	assert_int_equal(calls, 2);
	assert_int_equal(count_acts(GAGG_ACT_SEND_CONTRIB), chunks);
	assert_int_equal(gagg_chan_deadline(ch), now + 20 * GAGG_MSEC);
}

static void timer__looks_at_filled_again(void **state)
{
	u64 wait = 100 * GAGG_USEC;
	u32 i;

	(void)state;
	start(1);
	refill();
	for (i = 0; i < 8; i++) {
		assert_int_equal(gagg_chan_deadline(ch), now + wait);
		now = gagg_chan_deadline(ch);
		fire();
		wait = wait * 2 < 2 * GAGG_MSEC ? wait * 2 : 2 * GAGG_MSEC;
	}
	/* more is filled, but not all */
	push_to(2);
	assert_int_equal(ch->poll_at, now + 100 * GAGG_USEC);
	/* no op: nothing to look for */
	geometry(1);
	start_channel(0, g.workers);
	push_to(2);
	assert_int_equal(gagg_chan_deadline(ch), GAGG_NEVER);
}

static void gap__is_pulled_when_the_batch_was_read(void **state)
{
	const struct gagg_act *a;

	(void)state;
	start(1);
	push_to(8);
	nacts = 0;
	result(0, 1, 1);
	flush();
	assert_int_equal(count_ctrl(GAGG_T_PULL, NULL), 0);
	assert_int_equal(result(5, 1, 4), GAGG_RX_PLACE);
	assert_int_equal(count_ctrl(GAGG_T_PULL, NULL), 0);
	flush();
	a = only_ctrl(GAGG_T_PULL);
	assert_int_equal(a->node, 0);
	assert_int_equal(a->m.src, 1);
	assert_int_equal(a->m.pn, 2);
	assert_int_equal(a->m.run, 2);
	/* once; and what comes late, or was asked for, is no gap */
	nacts = 0;
	result(6, 1, 5);
	flush();
	result(1, 1, 2);
	result(2, 1, 3);
	result(2, 1, 3);
	flush();
	assert_int_equal(count_ctrl(GAGG_T_PULL, NULL), 0);
}

/* two sockets, one read after the other */
static void gap__overtaken_in_a_batch_is_none(void **state)
{
	u32 i;

	(void)state;
	start(1);
	push_to(8);
	nacts = 0;
	for (i = 1; i < 8; i += 2)
		assert_int_equal(result(i, 1, i + 1), GAGG_RX_PLACE);
	for (i = 0; i < 8; i += 2)
		assert_int_equal(result(i, 1, i + 1), GAGG_RX_PLACE);
	flush();
	assert_int_equal(count_ctrl(GAGG_T_PULL, NULL), 0);
	assert_true(ch->pull_at == GAGG_NEVER);
	/* but what has not come by then */
	start(1);
	push_to(8);
	nacts = 0;
	for (i = 1; i < 8; i += 2)
		result(i, 1, i + 1);
	for (i = 0; i < 8; i += 2)
		if (i != 4)
			result(i, 1, i + 1);
	flush();
	assert_int_equal(only_ctrl(GAGG_T_PULL)->m.pn, 5);
	assert_int_equal(only_ctrl(GAGG_T_PULL)->m.run, 1);
}

/* how long results of one home were overtaken is how long gaps of all wait */
static void gap__of_one_home_teaches_all(void **state)
{
	(void)state;
	start_two_homes();
	push_to(10);
	result(2, 1, 2);
	assert_int_equal(ch->overtaken[0] + ch->overtaken[1], 0);
	now += 300 * GAGG_USEC;
	result(0, 1, 1);
	assert_int_equal(ch->overtaken[0], 300 * GAGG_USEC);
	assert_int_equal(ch->overtaken[1], 300 * GAGG_USEC);
	/* what it knows of longer ones it keeps */
	ch->overtaken[0] = 0;
	ch->overtaken[1] = 600 * GAGG_USEC;
	result(6, 1, 4);
	now += 400 * GAGG_USEC;
	result(4, 1, 3);
	assert_int_equal(ch->overtaken[0], 400 * GAGG_USEC);
	assert_int_equal(ch->overtaken[1], 600 * GAGG_USEC);
}

static enum gagg_rx repaired(u32 chunk, u32 round, u32 rpn)
{
	struct gagg_msg m = message(GAGG_T_RESULT, 0, chunk, round);

	m.pn = rpn;
	m.flags = GAGG_WF_REPAIR;
	return rx(0, m);
}

/* what had to be asked for was lost: the time goes, and in the end none is left */
static void gap__forgets_how_long_results_were_overtaken(void **state)
{
	(void)state;
	start(1);
	push_to(8);
	ch->overtaken[0] = 16 * GAGG_USEC;
	result(1, 1, 2);
	now += 18 * GAGG_USEC;
	flush();
	repaired(0, 1, 1);
	assert_int_equal(ch->overtaken[0], 14 * GAGG_USEC);
	ch->overtaken[0] = 9 * GAGG_USEC;
	result(3, 1, 4);
	now += 18 * GAGG_USEC;
	flush();
	repaired(2, 1, 3);
	assert_int_equal(ch->overtaken[0], 0);
	/* QUERY was sooner than the PULL; or, by multicast, another host has asked for it */
	ch->overtaken[0] = 16 * GAGG_USEC;
	result(5, 1, 6);
	repaired(4, 1, 5);
	assert_int_equal(ch->overtaken[0], 14 * GAGG_USEC);
	g.heard_by_others = 1;
	result(7, 1, 8);
	repaired(6, 1, 7);
	assert_int_equal(ch->overtaken[0], 14 * GAGG_USEC);
}

static void gap__closed_by_repetitions(void **state)
{
	(void)state;
	start(1);
	push_to(8);
	nacts = 0;
	/* the first three are lost and asked for with QUERY */
	repaired(0, 1, 1);
	repaired(1, 1, 2);
	repaired(2, 1, 3);
	result(3, 1, 4);
	flush();
	assert_int_equal(count_ctrl(GAGG_T_PULL, NULL), 0);
	/* one that is not the next says nothing */
	repaired(6, 1, 7);
	flush();
	assert_int_equal(count_ctrl(GAGG_T_PULL, NULL), 0);
	result(7, 1, 8);
	flush();
	assert_int_equal(only_ctrl(GAGG_T_PULL)->m.pn, 5);
	assert_int_equal(only_ctrl(GAGG_T_PULL)->m.run, 3);
}

static void gap__wider_than_the_window(void **state)
{
	(void)state;
	start(1);
	ch->home_rpn[0] = 0xfffffff0;	/* numbers wrap */
	push_to(8);
	nacts = 0;
	result(0, 1, 30);
	flush();
	assert_int_equal(only_ctrl(GAGG_T_PULL)->m.pn, 22);
	assert_int_equal(only_ctrl(GAGG_T_PULL)->m.run, 8);
	nacts = 0;
	result(1, 1, 31);
	flush();
	assert_int_equal(count_ctrl(GAGG_T_PULL, NULL), 0);
	result(2, 1, 33);
	flush();
	assert_int_equal(only_ctrl(GAGG_T_PULL)->m.pn, 32);
}

/* the PULL or its answer is lost: after 9/8 round trips, then twice as long */
static void gap__is_pulled_again(void **state)
{
	(void)state;
	start(1);
	push_to(1000);
	result(0, 1, 1);
	sh->path[0].srtt = 4 * GAGG_MSEC;
	result(0, 1, 4);
	flush();
	nacts = 0;
	assert_true(gagg_chan_deadline(ch) == now + 4500 * GAGG_USEC);
	now += 4500 * GAGG_USEC - 1;
	fire();
	assert_int_equal(count_ctrl(GAGG_T_PULL, NULL), 0);
	now += 1;
	fire();
	assert_int_equal(only_ctrl(GAGG_T_PULL)->node, 0);
	assert_int_equal(only_ctrl(GAGG_T_PULL)->m.pn, 2);
	assert_int_equal(only_ctrl(GAGG_T_PULL)->m.run, 2);
	assert_int_equal(only_ctrl(GAGG_T_PULL)->m.src, 1);
	/* what has come is not asked for */
	repaired(1, 1, 2);
	nacts = 0;
	now += 9 * GAGG_MSEC;
	fire();
	assert_int_equal(only_ctrl(GAGG_T_PULL)->m.pn, 3);
	assert_int_equal(only_ctrl(GAGG_T_PULL)->m.run, 1);
	result(2, 1, 3);	/* it was late, not lost */
	nacts = 0;
	now += GAGG_SEC;
	fire();
	assert_int_equal(count_ctrl(GAGG_T_PULL, NULL), 0);
}

/* of six results nothing comes but their number; a round trip is 800 us, a timeout 4 ms */
static struct gagg_path *six_are_pulled(void)
{
	struct gagg_path *p;
	u32 next;

	start(1);
	push_to(1000);
	result(0, 1, 1);
	p = &sh->path[0];
	p->srtt = 800 * GAGG_USEC;
	p->rttvar = 800 * GAGG_USEC;
	result(7, 1, 8);
	next = p->next_pn;
	flush();
	assert_int_equal(gagg_chan_gaps(ch, 0)->gap[0].pn, next);
	assert_int_equal(only_ctrl(GAGG_T_PULL)->m.run, 6);
	return p;
}

static u32 pulls_after(u64 wait)
{
	nacts = 0;
	now += wait;
	fire();
	return count_ctrl(GAGG_T_PULL, NULL);
}

/*
 * Many may wait in a queue that was shorter when round trips were measured: they are pulled
 * again when what was sent after the PULL is acknowledged, or a timeout has passed.
 */
static void gap__of_many_is_not_pulled_twice(void **state)
{
	u64 trip = 900 * GAGG_USEC;	/* and an eighth */
	struct gagg_path *p;
	u32 pn;

	(void)state;
	p = six_are_pulled();
	pn = gagg_chan_gaps(ch, 0)->gap[0].pn;
	assert_int_equal(pulls_after(trip), 0);
	assert_true(gagg_chan_deadline(ch) <= now + trip);
	/* of what was sent before it nothing follows */
	p->told = pn - 1;
	assert_int_equal(pulls_after(trip), 0);
	p->told = pn;
	assert_int_equal(pulls_after(trip), 1);
	assert_int_equal(only_ctrl(GAGG_T_PULL)->m.pn, 2);
	assert_int_equal(only_ctrl(GAGG_T_PULL)->m.run, 6);

	/* nothing more is sent: a timeout */
	six_are_pulled();
	assert_int_equal(pulls_after(trip), 0);
	assert_int_equal(pulls_after(trip), 0);
	assert_int_equal(pulls_after(trip), 0);
	assert_int_equal(pulls_after(trip), 0);
	assert_int_equal(pulls_after(trip), 1);

	/* what was pulled behind them has come: they were lost */
	six_are_pulled();
	repaired(6, 1, 7);
	assert_int_equal(pulls_after(trip), 1);
	assert_int_equal(only_ctrl(GAGG_T_PULL)->m.run, 5);

	/* but few are pulled again after a round trip */
	six_are_pulled();
	repaired(1, 1, 2);
	repaired(2, 1, 3);
	assert_int_equal(pulls_after(trip), 1);
	assert_int_equal(only_ctrl(GAGG_T_PULL)->m.run, 4);
}

static void gap__may_be_filled_in_the_middle(void **state)
{
	const struct gagg_act *a;
	u32 at = 0;

	(void)state;
	start(1);
	ch->home_rpn[0] = 0xfffffffe;	/* numbers wrap */
	push_to(8);
	result(0, 1, 0xfffffffe);
	result(0, 1, 5);	/* without 0xffffffff to 4 */
	flush();
	repaired(1, 1, 1);
	repaired(2, 1, 2);
	nacts = 0;
	now += GAGG_SEC;
	fire();
	assert_int_equal(count_ctrl(GAGG_T_PULL, NULL), 2);
	do {
		a = next_act(&at, GAGG_ACT_SEND_CTRL);
	} while (a->m.type != GAGG_T_PULL);
	assert_int_equal(a->m.pn, 0xffffffff);
	assert_int_equal(a->m.run, 2);
	count_ctrl(GAGG_T_PULL, &a);
	assert_int_equal(a->m.pn, 3);
	assert_int_equal(a->m.run, 2);
}

static enum gagg_rx told(u32 chunk, u32 run, u32 rpn);

static void gap__shrinks_the_window(void **state)
{
	struct gagg_msg m = message(GAGG_T_RESULT, 0, 1, 1);
	struct gagg_path *p;

	(void)state;
	start(1);
	p = &sh->path[0];
	p->cwnd = 60;
	p->slow_to = 60;
	push_to(8);
	acknowledge(0, 0);
	p->cwnd = 60;
	result(0, 1, 1);
	result(0, 1, 5);
	assert_int_equal(p->cwnd, 60);
	flush();
	assert_int_equal(p->cwnd, 57);
	/* what was lost came again; what comes by itself was late */
	m.pn = 2;
	m.aux = 3;
	m.flags = GAGG_WF_REPAIR;
	assert_int_equal(rx(0, m), GAGG_RX_PLACE);
	assert_int_equal(p->cwnd, 57);
	result(2, 1, 3);
	assert_int_equal(p->cwnd, 60);
	result(3, 1, 4);

	/* asked for again it was not lost again, and another cut is not undone */
	now += 30 * GAGG_MSEC;
	result(4, 1, 8);
	flush();
	assert_int_equal(p->cwnd, 57);
	push_to(12);
	acknowledge(0, 0);
	p->cwnd = 60;
	now += 30 * GAGG_MSEC;
	fire();
	assert_int_equal(p->cwnd, 60);
	gagg_cwnd_cut(p, p->una, 1);
	assert_int_equal(p->cwnd, 59);
	result(5, 1, 6);
	assert_int_equal(p->cwnd, 59);
}

/* a run without lanes is one datagram, however many results it is */
static void gap__of_runs_is_one_datagram(void **state)
{
	struct gagg_msg m = message(GAGG_T_DONE, 0, 1, 1);
	struct gagg_path *p;

	(void)state;
	start(1);
	p = &sh->path[0];
	push_to(8);
	acknowledge(0, 0);
	p->cwnd = 60;
	p->slow_to = 60;
	m.pn = 41;
	m.run = 1;
	rx(0, m);
	flush();
	assert_int_equal(p->cwnd, 57);
	assert_int_equal(p->cuts, 1);
	assert_int_equal(p->overflowed, 0);
	/* nor does TOLD say what was lost */
	start(1);
	p = &sh->path[0];
	push_to(8);
	acknowledge(0, 0);
	p->cwnd = 60;
	told(0, 1, 41);
	flush();
	assert_int_equal(p->cuts, 1);
	/* results with lanes are one each */
	start(1);
	p = &sh->path[0];
	push_to(8);
	acknowledge(0, 0);
	p->cwnd = 60;
	result(0, 1, 41);
	flush();
	assert_int_equal(p->cuts, 8);	/* the window */
}

static void gap__too_many(void **state)
{
	const struct gagg_act *a;
	u32 i, at = 0;

	(void)state;
	start(1);
	push_to(8);
	result(0, 1, 1);
	for (i = 0; i < GAGG_GAPS + 1; i++) {
		now++;
		result(0, 1, 3 + 2 * i);
		flush();
	}
	nacts = 0;
	now += 30 * GAGG_MSEC;
	fire();
	assert_int_equal(count_ctrl(GAGG_T_PULL, NULL), GAGG_GAPS);
	while ((a = next_act(&at, GAGG_ACT_SEND_CTRL)))
		assert_true(a->m.type != GAGG_T_PULL || a->m.pn > 2);	/* the oldest */
}

/* the oldest is asked for to make place for one, or for what is left of one */
static void gap__too_many_in_a_batch(void **state)
{
	u32 i, first = 1 + GAGG_GAPS * 4;

	(void)state;
	start(1);
	push_to(8);
	result(0, 1, 1);
	nacts = 0;
	for (i = 0; i < GAGG_GAPS; i++)
		result(0, 1, 5 + 4 * i);
	assert_int_equal(count_ctrl(GAGG_T_PULL, NULL), 0);
	result(0, 1, first + 4);
	assert_int_equal(only_ctrl(GAGG_T_PULL)->m.pn, 2);
	assert_int_equal(only_ctrl(GAGG_T_PULL)->m.run, 3);
	nacts = 0;
	result(0, 1, first + 2);
	assert_int_equal(only_ctrl(GAGG_T_PULL)->m.pn, 6);
	nacts = 0;
	flush();
	assert_int_equal(count_ctrl(GAGG_T_PULL, NULL), GAGG_GAPS);
	/* those that were asked for make place for nothing */
	nacts = 0;
	result(0, 1, first + 8);
	assert_int_equal(count_ctrl(GAGG_T_PULL, NULL), 0);
	flush();
	assert_int_equal(only_ctrl(GAGG_T_PULL)->m.pn, first + 5);
}

static void gap__of_a_home_that_is_silent(void **state)
{
	u32 i;

	(void)state;
	start(1);
	push_to(1000);
	result(0, 1, 1);
	result(0, 1, 3);
	flush();
	nacts = 0;
	for (i = 0; i < 1000; i++) {
		now = gagg_chan_deadline(ch);
		fire();
	}
	/* each 20 ms; after 250 ms QUERY goes on, if it has to */
	assert_int_equal(count_ctrl(GAGG_T_PULL, NULL), 13);
	assert_true(ch->pull_at == GAGG_NEVER);
}

static enum gagg_rx told(u32 chunk, u32 run, u32 rpn)
{
	struct gagg_msg m = message(GAGG_T_TOLD, 0, chunk, 1);

	m.pn = rpn;
	m.run = (u16)run;
	return rx(0, m);
}

static void told__a_gap_is_pulled(void **state)
{
	const struct gagg_act *a;

	(void)state;
	start(1);
	push_to(8);
	result(0, 1, 1);
	nacts = 0;
	told(1, 2, 4);
	flush();
	a = only_ctrl(GAGG_T_PULL);
	assert_int_equal(a->m.pn, 2);
	assert_int_equal(a->m.run, 2);
	assert_int_equal(count_ctrl(GAGG_T_QUERY, NULL), 0);
	/* unless it overtakes results in a batch */
	nacts = 0;
	told(3, 2, 6);
	result(3, 1, 4);
	result(4, 1, 5);
	flush();
	assert_int_equal(nacts, 2);	/* PUBLISH */
}

static void told__without_a_gap_repeats_are_asked_for(void **state)
{
	const struct gagg_act *a;

	(void)state;
	start(1);
	push_to(8);
	result(0, 1, 1);
	result(3, 1, 4);	/* 2 and 3 are asked for, and do not come */
	flush();
	nacts = 0;
	told(0, 4, 5);
	assert_int_equal(count_ctrl(GAGG_T_PULL, NULL), 0);
	a = only_ctrl(GAGG_T_QUERY);
	assert_int_equal(a->node, 0);
	assert_int_equal(a->m.src, 1);
	assert_int_equal(a->m.flags, GAGG_WF_REPAIR);
	assert_int_equal(a->m.chunk, 1);
	assert_int_equal(a->m.round, 1);
	assert_int_equal(a->m.run, 2);
	/* an old one, of what has come meanwhile */
	result(1, 1, 2);
	result(2, 1, 3);
	nacts = 0;
	told(0, 4, 5);
	assert_int_equal(nacts, 0);
}

/* where every other result was lost, all of them are asked for at once */
static void told__each_run_that_is_open_is_asked_for(void **state)
{
	u32 at = 0, i;

	(void)state;
	start(1);
	push_to(8);
	for (i = 0; i < 8; i += 2)
		result(i, 1, i + 1);
	flush();
	nacts = 0;
	told(0, 8, 9);
	flush();
	/* the last one by its number */
	assert_int_equal(only_ctrl(GAGG_T_PULL)->m.pn, 8);
	nacts = 0;
	told(0, 8, 9);
	for (i = 1; i < 8; i += 2) {
		const struct gagg_act *a = next_act(&at, GAGG_ACT_SEND_CTRL);

		assert_non_null(a);
		assert_int_equal(a->m.type, GAGG_T_QUERY);
		assert_int_equal(a->m.flags, GAGG_WF_REPAIR);
		assert_int_equal(a->m.chunk, i);
		assert_int_equal(a->m.run, 1);
	}
	assert_null(next_act(&at, GAGG_ACT_SEND_CTRL));
}

static void told__anything_else_is_ignored(void **state)
{
	(void)state;
	start(1);
	push_to(2);
	nacts = 0;
	told(4, 8, 1);		/* not pushed */
	assert_int_equal(nacts, 0);
	assert_int_equal(told(16, 1, 1), GAGG_RX_DROP);
	assert_int_equal(told(12, 8, 1), GAGG_RX_OK);	/* the ring ends */
	assert_int_equal(nacts, 0);
	assert_int_equal(told(0, 8, 1), GAGG_RX_OK);
	assert_int_equal(only_ctrl(GAGG_T_QUERY)->m.run, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(push__under_the_window, finish_test),
		cmocka_unit_test_teardown(push__under_the_path, finish_test),
		cmocka_unit_test_teardown(push__is_not_far_ahead, finish_test),
		cmocka_unit_test_teardown(push__a_local_result_moves_the_window, finish_test),
		cmocka_unit_test_teardown(push__a_full_path_lets_ready_grow, finish_test),
		cmocka_unit_test_teardown(push__a_stripe_is_one_action, finish_test),
		cmocka_unit_test_teardown(push__ready_of_stripes_is_one, finish_test),
		cmocka_unit_test_teardown(push__an_action_ends_where_chunks_differ, finish_test),
		cmocka_unit_test_teardown(push__what_has_no_lanes_is_ready, finish_test),
		cmocka_unit_test_teardown(result__is_placed, finish_test),
		cmocka_unit_test_teardown(result__anything_else_is_ignored, finish_test),
		cmocka_unit_test_teardown(result__runs, finish_test),
		cmocka_unit_test_teardown(result__needs_all_local_ranks, finish_test),
		cmocka_unit_test_teardown(resend__the_same_again, finish_test),
		cmocka_unit_test_teardown(resend__otherwise_ignored, finish_test),
		cmocka_unit_test_teardown(lost__is_sent_again_with_a_new_number, finish_test),
		cmocka_unit_test_teardown(lost__leaves_as_far_as_there_is_room, finish_test),
		cmocka_unit_test_teardown(lost__is_not_sent_when_it_is_done, finish_test),
		cmocka_unit_test_teardown(timer__not_acknowledged_then_again, finish_test),
		cmocka_unit_test_teardown(timer__acknowledged_then_asks, finish_test),
		cmocka_unit_test_teardown(timer__one_rank_of_a_host_asks, finish_test),
		cmocka_unit_test_teardown(timer__asks_beyond_what_has_come, finish_test),
		cmocka_unit_test_teardown(timer__who_tells_news_is_not_asked, finish_test),
		cmocka_unit_test_teardown(timer__silent_homes_are_asked_soon, finish_test),
		cmocka_unit_test_teardown(timer__is_of_the_home_that_the_base_waits_for,
					  finish_test),
		cmocka_unit_test_teardown(timer__what_is_over_is_no_probe, finish_test),
		cmocka_unit_test_teardown(timer__runs_though_a_refill_stopped, finish_test),
		cmocka_unit_test_teardown(timer__looks_at_filled_again, finish_test),
		cmocka_unit_test_teardown(gap__is_pulled_when_the_batch_was_read, finish_test),
		cmocka_unit_test_teardown(gap__overtaken_in_a_batch_is_none, finish_test),
		cmocka_unit_test_teardown(gap__of_one_home_teaches_all, finish_test),
		cmocka_unit_test_teardown(gap__forgets_how_long_results_were_overtaken,
					  finish_test),
		cmocka_unit_test_teardown(gap__closed_by_repetitions, finish_test),
		cmocka_unit_test_teardown(gap__wider_than_the_window, finish_test),
		cmocka_unit_test_teardown(gap__is_pulled_again, finish_test),
		cmocka_unit_test_teardown(gap__of_many_is_not_pulled_twice, finish_test),
		cmocka_unit_test_teardown(gap__may_be_filled_in_the_middle, finish_test),
		cmocka_unit_test_teardown(gap__shrinks_the_window, finish_test),
		cmocka_unit_test_teardown(gap__of_runs_is_one_datagram, finish_test),
		cmocka_unit_test_teardown(gap__too_many, finish_test),
		cmocka_unit_test_teardown(gap__too_many_in_a_batch, finish_test),
		cmocka_unit_test_teardown(gap__of_a_home_that_is_silent, finish_test),
		cmocka_unit_test_teardown(told__a_gap_is_pulled, finish_test),
		cmocka_unit_test_teardown(told__without_a_gap_repeats_are_asked_for, finish_test),
		cmocka_unit_test_teardown(told__each_run_that_is_open_is_asked_for, finish_test),
		cmocka_unit_test_teardown(told__anything_else_is_ignored, finish_test),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
