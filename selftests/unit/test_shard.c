// SPDX-License-Identifier: GPL-2.0
/* links: core kmod/core/path.c kmod/core/cwnd.c; libs: */
/*
 * The door: what is dropped and why, acknowledgements, channels made on demand,
 * the end of an epoch, the queue of actions.
 */
#include <stdio.h>
#include "chan_node.h"
#include "cookie.h"
#include "agent/conf/sync_text.h"

static void expect_drop(u32 node, struct gagg_msg m, enum gagg_drop why)
{
	assert_int_equal(rx(node, m), GAGG_RX_DROP);
	assert_int_equal(in.todo.drop, why);
}

static void drop__of_another_epoch(void **state)
{
	static const u8 types[] = {
		GAGG_T_CONTRIB, GAGG_T_READY, GAGG_T_RESULT, GAGG_T_DONE, GAGG_T_RESEND,
		GAGG_T_ACK, GAGG_T_QUERY, GAGG_T_PULL, GAGG_T_NAK, GAGG_T_OPEN,
		GAGG_T_TOLD, GAGG_T_WAITS,
	};
	u32 i;

	(void)state;
	start(0);
	push_to(4);
	nacts = 0;
	for (i = 0; i < sizeof(types); i++) {
		struct gagg_msg m = message(types[i], 1, 0, 1);

		m.epoch--;
		expect_drop(1, m, GAGG_DROP_EPOCH);
		m.epoch++;
		m.cookie ^= 1ULL << 63;
		expect_drop(1, m, GAGG_DROP_COOKIE);
	}
	flush();
	assert_int_equal(nacts, 0);
	assert_int_equal(sh->path[1].rx_largest, 0);
}

/* a stranger that hears results by multicast cannot say anything in the epoch but results */
static void cookie__of_results_heard_by_others(void **state)
{
	static const u8 types[] = {
		GAGG_T_CONTRIB, GAGG_T_READY, GAGG_T_DONE, GAGG_T_RESEND, GAGG_T_ACK,
		GAGG_T_QUERY, GAGG_T_PULL, GAGG_T_NAK, GAGG_T_OPEN, GAGG_T_TOLD, GAGG_T_WAITS,
	};
	struct gagg_msg m;
	u32 i;

	(void)state;
	start(0);
	/* without multicast there is one value */
	rx(1, message(GAGG_T_RESULT, 1, 0, 1));
	assert_int_not_equal(in.todo.drop, GAGG_DROP_COOKIE);
	g.heard_by_others = 1;
	for (i = 0; i < sizeof(types); i++) {
		m = message(types[i], 1, 0, 1);
		m.cookie = gagg_cookie_of_results(COOKIE);
		expect_drop(1, m, GAGG_DROP_COOKIE);
	}
	m = message(GAGG_T_RESULT, 1, 0, 1);
	expect_drop(1, m, GAGG_DROP_COOKIE);
	m.cookie = gagg_cookie_of_results(COOKIE);
	rx(1, m);
	assert_int_not_equal(in.todo.drop, GAGG_DROP_COOKIE);
	contrib(1, 0, 1, 100);
	contrib(2, 0, 1, 100);
	push_to(1);
	flush();
	assert_int_equal(only(GAGG_ACT_SEND_RESULT)->m.cookie, gagg_cookie_of_results(COOKIE));
	for (i = 0; i < nacts; i++)
		if (acts[i].type == GAGG_ACT_SEND_CTRL)
			assert_int_equal(acts[i].m.cookie, COOKIE);
}

/* the vector of SipHash's authors for 8 bytes: key 0 to 15, message 0 to 7 */
static void cookie__is_siphash(void **state)
{
	(void)state;
	assert_true(gagg_siphash(0x0706050403020100ULL, 0x0f0e0d0c0b0a0908ULL,
				 0x0706050403020100ULL) == 0x93f5f5799a932462ULL);
}

static void drop__what_is_not_possible(void **state)
{
	struct gagg_msg m = message(GAGG_T_CONTRIB, 1, 0, 1);
	struct gagg_msg bad;

	(void)state;
	start(0);
	bad = m;
	bad.type = 13;	/* reserved */
	expect_drop(1, bad, GAGG_DROP_TYPE);
	bad.type = GAGG_T_HELLO;
	expect_drop(1, bad, GAGG_DROP_TYPE);
	bad = m;
	bad.chunk = 16;
	expect_drop(1, bad, GAGG_DROP_CHUNK);
	bad.chunk = 0xffffffff;
	expect_drop(1, bad, GAGG_DROP_CHUNK);
	expect_drop(2, m, GAGG_DROP_RANK);	/* another host's rank */
	bad = m;
	bad.src = 63;
	expect_drop(1, bad, GAGG_DROP_RANK);
	bad.src = 64;
	expect_drop(1, bad, GAGG_DROP_RANK);
	bad.src = 0xffff;
	expect_drop(1, bad, GAGG_DROP_RANK);
	bad = m;
	bad.type = GAGG_T_QUERY;
	bad.run = 9;				/* more than the window */
	expect_drop(1, bad, GAGG_DROP_WINDOW);
	bad.type = GAGG_T_PULL;
	expect_drop(1, bad, GAGG_DROP_WINDOW);
	bad = m;
	bad.laneop = 0x0f;
	expect_drop(1, bad, GAGG_DROP_OP);
	bad = m;
	bad.laneop = GAGG_LANEOP(GAGG_LANE_S64, GAGG_OP_ADD);
	bad.lanes = 3;			/* one and a half */
	expect_drop(1, bad, GAGG_DROP_OP);
	bad = m;
	bad.laneop = GAGG_LANEOP(GAGG_LANE_S16, GAGG_OP_ADD);	/* accumulators are too small */
	expect_drop(1, bad, GAGG_DROP_OP);
	bad = m;
	bad.lanes = 5;
	expect_drop(1, bad, GAGG_DROP_OP);
	/* a run ends with the ring */
	bad = message(GAGG_T_READY, 1, 14, 1);
	bad.flags = GAGG_WF_ZERO;
	bad.run = 3;
	expect_drop(1, bad, GAGG_DROP_CHUNK);
	bad = m;
	bad.channel = 0;
	ch->members = 5;			/* rank 1 is no member */
	expect_drop(1, bad, GAGG_DROP_RANK);
	ch->members = 7;
	/* nothing that was dropped without a look at the chunk is acknowledged */
	gagg_shard_flush(sh, &g);
	drain();
	assert_int_equal(only_ctrl(GAGG_T_ACK)->node, 1);	/* that run */
	assert_int_equal(sh->n[GAGG_N_CONTRIBUTIONS], 2);
}

/* what a home says is bounded as well, and longer runs are no sign of life of its answers */
static void drop__answers_longer_than_the_window(void **state)
{
	static const u8 types[] = { GAGG_T_RESULT, GAGG_T_DONE, GAGG_T_TOLD, GAGG_T_RESEND };
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(types); i++) {
		struct gagg_msg m = message(types[i], 0, 0, 1);

		start(1);
		push_to(8);
		sh->path[0].heard = 0;
		m.flags = types[i] == GAGG_T_RESULT ? GAGG_WF_ZERO : 0;
		m.aux = 1;
		m.pn = 1;
		m.run = 9;
		expect_drop(0, m, GAGG_DROP_WINDOW);
		m.run = 0xffff;
		expect_drop(0, m, GAGG_DROP_WINDOW);
		assert_true(!sh->path[0].heard);
		m.run = 8;
		assert_int_equal(rx(0, m), GAGG_RX_OK);
		assert_true(sh->path[0].heard == now);
		assert_int_equal(count_acts(GAGG_ACT_PUBLISH),
				 types[i] == GAGG_T_RESULT || types[i] == GAGG_T_DONE ? 8 : 0);
	}
}

/* the messages of @type to node 1 are these runs */
static void expect_runs(u8 type, u32 n, const u32 *slot, u32 run)
{
	const struct gagg_act *a;
	u32 at = 0, i = 0;

	while ((a = next_act(&at, GAGG_ACT_SEND_CTRL)))
		if (a->m.type == type && a->node == 1) {
			assert_true(i < n);
			assert_int_equal(a->m.chunk, slot[i++]);
			assert_int_equal(a->m.run, run);
		}
	assert_int_equal(i, n);
}

/* node 1 asks for the second half of the ring, and has asked for the first, which is late */
static void run__is_no_longer_than_the_window(void **state)
{
	static const u32 halves[] = { 0, 8 };
	u32 i;

	(void)state;
	start(0);
	zero_slots = 0xffff;
	for (i = 0; i < 2; i++) {
		ready(1, halves[i], 1, 8);
		ready(2, halves[i], 1, 8);
		push_to(halves[i] + 8);
		flush();
	}
	assert_int_equal(sh->n[GAGG_N_CHUNKS], 16);
	nacts = 0;
	for (i = 0; i < 2; i++)
		ask(1, halves[i], 1, 8);
	flush();
	expect_runs(GAGG_T_TOLD, 2, halves, 8);
	for (i = 0; i < 2; i++)
		ask_repeat(1, halves[i], 1, 8);
	nacts = 0;
	flush();
	expect_runs(GAGG_T_RESULT, 2, halves, 8);
}

/* one rank is enough, and is a ring ahead of the others when the batch ends */
static void run__is_no_longer_than_the_window_in_a_quorum(void **state)
{
	static const u32 halves[] = { 0, 8 };
	struct gagg_sync_param one;

	(void)state;
	geometry(0);
	assert_true(sync_text_parse("bsp-quorum:1:0", &one, NULL, 0));
	gagg_sync_apply(&g, &one);
	start_channel(0, g.workers);
	zero_slots = 0xffff;
	assert_int_equal(gagg_ring_submit(ch, 0, &(struct gagg_op){
		.sig = GAGG_K_ALLREDUCE << 28 | 1, .laneop = ADD, .last_lanes = 4,
	}, 100), 1);
	push_to(100);
	flush();
	expect_runs(GAGG_T_RESULT, 2, halves, 8);
}

static void drop__at_the_wrong_home_or_shard(void **state)
{
	struct gagg_msg m;

	(void)state;
	geometry(0);
	g.aggregators = 3;
	g.shards = 2;
	start_channel(0, g.workers);
	expect_drop(1, message(GAGG_T_CONTRIB, 1, 1, 1), GAGG_DROP_CHUNK);	/* node 1's */
	expect_drop(1, message(GAGG_T_QUERY, 1, 1, 1), GAGG_DROP_CHUNK);
	expect_drop(1, message(GAGG_T_CONTRIB, 1, 2, 1), GAGG_DROP_CHUNK);	/* shard 1 */
	assert_int_equal(rx(1, message(GAGG_T_CONTRIB, 1, 4, 1)), GAGG_RX_ADD);
	/* results and RESENDs of a node that is not their home */
	expect_drop(1, message(GAGG_T_RESULT, 1, 0, 1), GAGG_DROP_CHUNK);
	expect_drop(2, message(GAGG_T_RESULT, 2, 1, 1), GAGG_DROP_CHUNK);
	expect_drop(1, message(GAGG_T_RESULT, 2, 1, 1), GAGG_DROP_RANK);
	expect_drop(1, message(GAGG_T_RESEND, 2, 1, 1), GAGG_DROP_RANK);
	expect_drop(1, message(GAGG_T_RESEND, 1, 0, 1), GAGG_DROP_CHUNK);
	expect_drop(2, message(GAGG_T_RESEND, 2, 1, 1), GAGG_DROP_CHUNK);
	/* results that are longer than a chunk */
	m = message(GAGG_T_RESULT, 1, 1, 1);
	m.lanes = 5;
	expect_drop(1, m, GAGG_DROP_OP);
	/* contributions where there is no home; results where no rank is */
	g.aggregators = 2;
	start_channel(0, 6);
	expect_drop(1, message(GAGG_T_CONTRIB, 1, 0, 1), GAGG_DROP_CHUNK);
	m = message(GAGG_T_PULL, 1, 0, 0);
	m.pn = 1;
	expect_drop(1, m, GAGG_DROP_CHUNK);
	expect_drop(1, message(GAGG_T_RESULT, 1, 0, 1), GAGG_DROP_RANK);
	assert_int_equal(nacts, 0);
}

/* node 0 acknowledges the first datagram, which has just come */
static void first_trip(u64 rtt)
{
	struct gagg_msg m = message(GAGG_T_ACK, 0, 0, 0);
	struct gagg_ack ack = { .base = cpu_to_le32(2), .largest = cpu_to_le32(1) };

	m.flags = GAGG_WF_FRESH;
	m.aux = 1;
	m.len = sizeof(ack);
	now += rtt;
	assert_int_equal(rx_body(0, &m, &ack, false), GAGG_RX_OK);
	assert_true(sh->path[0].srtt == rtt);
}

/* paths without a round trip have the longest timeout of those that have one */
static void ack__first_round_trip_of_a_shard(void **state)
{
	(void)state;
	start(1);
	push_to(4);
	assert_true(gagg_path_rto(&sh->path[2]) == GAGG_PATH_RTO_INIT);
	first_trip(100 * GAGG_USEC);
	assert_true(gagg_path_rto(&sh->path[2]) == GAGG_PATH_RTO_MIN);

	/* of what flies already, too */
	start(1);
	push_to(4);
	assert_int_equal(gagg_path_send(&sh->path[2], &(struct gagg_sent){ .run = 1 }, now), 1);
	assert_true(sh->path[2].rto_at == now + GAGG_PATH_RTO_INIT);
	first_trip(100 * GAGG_USEC);
	assert_true(sh->path[2].rto_at == now - 100 * GAGG_USEC + GAGG_PATH_RTO_MIN);

	start(1);
	push_to(4);
	sh->path[1].srtt = 4 * GAGG_MSEC;
	first_trip(100 * GAGG_USEC);
	assert_true(gagg_path_rto(&sh->path[2]) == 4 * GAGG_MSEC);

	start(1);
	push_to(4);
	first_trip(GAGG_SEC);
	assert_true(gagg_path_rto(&sh->path[2]) == GAGG_PATH_RTO_INIT);
}

/* what HELLO has shown of a path goes before what others have shown of theirs */
static void trips__of_hello(void **state)
{
	u32 trip[GAGG_NODES] = { 100 * GAGG_USEC, 0, 3 * GAGG_MSEC };

	(void)state;
	start(1);
	gagg_shard_trips(sh, &g, trip);
	assert_true(gagg_path_rto(&sh->path[0]) == 2 * GAGG_PATH_RTO_MIN);
	assert_true(gagg_path_rto(&sh->path[1]) == 9 * GAGG_MSEC);
	assert_true(gagg_path_rto(&sh->path[2]) == 9 * GAGG_MSEC);
	push_to(4);
	first_trip(100 * GAGG_USEC);
	assert_true(gagg_path_rto(&sh->path[1]) == GAGG_PATH_RTO_MIN);
	assert_true(gagg_path_rto(&sh->path[2]) == 9 * GAGG_MSEC);

	trip[2] = ~0U;
	start(1);
	gagg_shard_trips(sh, &g, trip);
	assert_true(gagg_path_rto(&sh->path[2]) == GAGG_PATH_RTO_INIT);

	/* those of the epoch before count no more */
	gagg_shard_start(sh, &g, EPOCH, COOKIE);
	push_to(4);
	first_trip(100 * GAGG_USEC);
	assert_true(gagg_path_rto(&sh->path[2]) == GAGG_PATH_RTO_MIN);

	memset(trip, 0, sizeof(trip));
	start(1);
	gagg_shard_trips(sh, &g, trip);
	assert_true(gagg_path_rto(&sh->path[2]) == GAGG_PATH_RTO_INIT);
}

/* every path has what the group is configured with, in each epoch */
static void paths__as_configured(void **state)
{
	u32 n;

	(void)state;
	start(1);
	g.cwnd = 100;
	g.idle_after = 30 * GAGG_MSEC;
	gagg_shard_start(sh, &g, EPOCH + 1, COOKIE);
	for (n = 0; n < g.nodes; n++) {
		assert_int_equal(sh->path[n].cwnd_max, 100);
		assert_true(sh->path[n].idle_after == 30 * GAGG_MSEC);
	}
}

static void ack__once_per_batch_and_peer(void **state)
{
	struct gagg_msg m = message(GAGG_T_CONTRIB, 1, 0, 1);
	const struct gagg_act *a;

	(void)state;
	start(0);
	m.pn = 1;
	rx_body(1, &m, NULL, false);
	m.chunk = 1;
	m.pn = 3;
	rx_body(1, &m, NULL, true);	/* congestion was experienced */
	assert_int_equal(nacts, 0);
	flush();
	a = only_ctrl(GAGG_T_ACK);
	assert_int_equal(a->node, 1);
	assert_int_equal(a->m.src, 0);
	assert_int_equal(a->m.len, sizeof(struct gagg_ack));
	assert_int_equal(a->m.flags, GAGG_WF_FRESH);
	assert_int_equal(a->m.pn, 1);
	assert_int_equal(a->m.aux, 3);
	assert_int_equal(le32_to_cpu(a->ack.largest), 3);
	assert_int_equal(le64_to_cpu(a->ack.map[0]), 5);
	flush();
	assert_int_equal(count_ctrl(GAGG_T_ACK, NULL), 1);
	/* what is not a contribution is not acknowledged */
	ask(1, 0, 1, 1);
	flush();
	assert_int_equal(count_ctrl(GAGG_T_ACK, NULL), 1);
}

static void nak__once_per_batch_and_peer(void **state)
{
	struct gagg_msg m = message(GAGG_T_CONTRIB, 1, 0, 1);
	const struct gagg_act *a;

	(void)state;
	start(0);
	m.channel = 9;
	expect_drop(1, m, GAGG_DROP_CHANNEL);
	m.type = GAGG_T_READY;
	expect_drop(1, m, GAGG_DROP_CHANNEL);
	m.type = GAGG_T_RESULT;
	expect_drop(2, m, GAGG_DROP_CHANNEL);
	a = only_ctrl(GAGG_T_NAK);
	assert_int_equal(a->node, 1);
	assert_int_equal(a->m.channel, 9);
	assert_int_equal(a->m.aux, 1);
	m.type = GAGG_T_QUERY;
	m.src = 2;
	expect_drop(2, m, GAGG_DROP_CHANNEL);
	assert_int_equal(count_ctrl(GAGG_T_NAK, NULL), 2);
	flush();
	expect_drop(2, m, GAGG_DROP_CHANNEL);
	assert_int_equal(count_ctrl(GAGG_T_NAK, NULL), 3);
	/* it is no acknowledgement: the sender goes on trying */
	assert_int_equal(count_ctrl(GAGG_T_ACK, NULL), 0);
}

static void nak__is_answered_with_the_members(void **state)
{
	struct gagg_msg m = message(GAGG_T_NAK, 0, 0, 0);
	const struct gagg_act *a;

	(void)state;
	geometry(1);
	start_channel(5, 6);
	m.channel = 5;
	assert_int_equal(rx(0, m), GAGG_RX_OK);
	a = only_ctrl(GAGG_T_OPEN);
	assert_int_equal(a->node, 0);
	assert_int_equal(a->m.channel, 5);
	assert_int_equal(a->m.src, 1);
	assert_int_equal(a->m.len, sizeof(struct gagg_open));
	assert_int_equal(le64_to_cpu(a->open.members), 6);
	m.channel = 6;
	expect_drop(0, m, GAGG_DROP_CHANNEL);
	/* a home without members has nothing to say */
	g.self = 0;
	start_channel(5, 6);
	m.channel = 5;
	expect_drop(1, m, GAGG_DROP_CHANNEL);
}

static void open__makes_the_channel(void **state)
{
	struct gagg_msg m = message(GAGG_T_OPEN, 1, 0, 0);
	struct gagg_open open = { .members = cpu_to_le64(6) };
	const struct gagg_act *a;

	(void)state;
	start(0);
	m.channel = 5;
	m.len = sizeof(open);
	assert_int_equal(rx_body(1, &m, &open, false), GAGG_RX_OK);
	a = only(GAGG_ACT_OPEN);
	assert_int_equal(a->channel, 5);
	assert_int_equal(a->members, 6);
	nacts = 0;
	m.channel = 0;				/* there already */
	assert_int_equal(rx_body(1, &m, &open, false), GAGG_RX_OK);
	m.channel = 5;
	m.src = 0;				/* no member, not there */
	assert_int_equal(rx_body(1, &m, &open, false), GAGG_RX_DROP);
	m.src = 2;
	assert_int_equal(rx_body(1, &m, &open, false), GAGG_RX_DROP);
	m.src = 1;
	open.members = cpu_to_le64(0xe);	/* rank 3 is no worker */
	assert_int_equal(rx_body(1, &m, &open, false), GAGG_RX_DROP);
	assert_int_equal(in.todo.drop, GAGG_DROP_RANK);
	assert_int_equal(nacts, 0);
}

static void desync__names_both(void **state)
{
	static const u16 flags[] = { 0, 0, 0, GAGG_WF_RAW, 0 };
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		struct gagg_msg m = message(GAGG_T_CONTRIB, 2, 0, 1), first = m;
		const struct gagg_act *a;

		first.src = 1;
		first.pn = 1;
		first.aux = 0x5a;
		start(0);
		rx(1, first);
		m.sig += i == 0;
		m.aux = 0xa5;
		m.lanes = i == 1 ? 3 : 4;
		m.laneop = i == 2 ? GAGG_LANEOP(GAGG_LANE_S32, GAGG_OP_MAX) :
			   i == 4 ? GAGG_LANEOP(GAGG_LANE_S64, GAGG_OP_ADD) : ADD;
		m.flags = flags[i];
		assert_int_equal(rx(2, m), GAGG_RX_DROP);
		assert_int_equal(in.todo.drop, GAGG_DROP_OP);
		a = only(GAGG_ACT_DESYNC);
		assert_int_equal(a->end.reason, GAGG_R_DESYNC);
		assert_int_equal(a->end.rank, 2);
		assert_int_equal(a->end.other, 1);
		assert_int_equal(a->end.sig, m.sig);
		assert_int_equal(a->end.other_sig, 0x51);
		assert_int_equal(a->end.call, 0xa5);
		assert_int_equal(a->end.other_call, 0x5a);
	}
	/* the local rank, too, and in a run */
	start(0);
	ch->local[0].op[1].sig = 0x52;
	ready(1, 0, 1, 1);
	push_to(1);
	assert_int_equal(only(GAGG_ACT_DESYNC)->end.rank, 0);
	assert_int_equal(count_acts(GAGG_ACT_PUBLISH), 0);
}

static void epoch__ends(void **state)
{
	(void)state;
	start(1);
	filled[0] = 4;
	gagg_chan_refill(sh, &g, &env, ch, now);
	gagg_shard_stop(sh);
	assert_null(gagg_shard_act(sh));
	nacts = 0;
	expect_drop(0, message(GAGG_T_RESULT, 0, 0, 1), GAGG_DROP_EPOCH);
	push_to(8);
	flush();
	now += GAGG_SEC;
	fire();
	assert_int_equal(gagg_shard_deadline(sh, &g), GAGG_NEVER);
	assert_int_equal(nacts, 0);
	/* the next one begins with nothing of the last */
	sh->wide[0] = now;
	gagg_shard_start(sh, &g, EPOCH + 1, COOKIE + 1);
	assert_int_equal(sh->wide[0], 0);
	assert_int_equal(sh->path[0].next_pn, 1);
	assert_int_equal(gagg_shard_deadline(sh, &g), GAGG_NEVER);
	expect_drop(0, message(GAGG_T_RESULT, 0, 0, 1), GAGG_DROP_EPOCH);
}

static void queue__runs_that_wait_end_with_the_epoch(void **state)
{
	(void)state;
	start(0);
	ask(1, 0, 1, 1);
	desc[0].flags = GAGG_C_ZERO;
	ready(1, 1, 1, 1);
	ready(2, 1, 1, 1);
	push_to(2);
	nacts = 0;
	gagg_shard_start(sh, &g, EPOCH + 1, COOKIE);
	flush();
	assert_int_equal(nacts, 0);
}

/* 64 nodes with a rank each: every chunk of a run is published to 63, by runs
 * that do not continue
 */
static void queue__never_runs_over(void **state)
{
	struct gagg_msg m = message(GAGG_T_READY, 1, 0, 1);
	enum gagg_rx verdict;
	u32 n, again = 0, published = 0;

	(void)state;
	geometry(0);
	g.nodes = 64;
	for (n = 3; n < 64; n++)
		more_ranks(n, n);
	g.ring = 64;
	g.window = 64;
	start_channel(0, g.workers);
	m.flags = GAGG_WF_ZERO;
	m.run = 64;
	for (n = 0; n < 63; n++) {
		m.src = (u16)n;
		m.chunk = 0;
		m.run = 64;
		assert_int_equal(rx(n, m), GAGG_RX_OK);
	}
	/* every second chunk has another wanted exponent */
	for (n = 0; n < 64; n += 2)
		GAGG_CHAN_AT(ch, off_acc, struct gagg_acc)[n].want = 9;
	m.src = 63;
	m.chunk = 0;
	m.run = 64;
	do {
		verdict = arrive(63, &m, NULL, false);
		assert_true(sh->nacts <= GAGG_ACTS - GAGG_ACTS_STEP + 146);
		drain();
		for (n = 0; n < nacts; n++)
			published += acts[n].type == GAGG_ACT_PUBLISH;
		nacts = 0;
		again += verdict == GAGG_RX_AGAIN;
	} while (verdict == GAGG_RX_AGAIN);
	assert_int_equal(verdict, GAGG_RX_OK);
	assert_int_equal(published, 64);
	assert_true(again >= 64 * 63 / GAGG_ACTS);
	flush();
	assert_int_equal(count_ctrl(GAGG_T_RESULT, NULL), 63);
	assert_int_equal(sh->n[GAGG_N_CONTRIBUTIONS], 64 * 64);
}

/* all that a shard and its channel are */
static void *snapshot(size_t *bytes)
{
	size_t shard = gagg_shard_bytes(&g), chan = gagg_chan_bytes(&g, g.workers);
	char *copy = malloc(shard + chan);

	assert_non_null(copy);
	memcpy(copy, sh, shard);
	memcpy(copy + shard, ch, chan);
	*bytes = shard + chan;
	return copy;
}

static void restore(const char *copy)
{
	memcpy(sh, copy, gagg_shard_bytes(&g));
	memcpy(ch, copy + gagg_shard_bytes(&g), gagg_chan_bytes(&g, g.workers));
}

/* @m follows what was just received: both ways to the same verdict and state, the
 * one with a commit, the other without
 */
static enum gagg_rx expect_same(u32 node, const struct gagg_msg *m, bool ce)
{
	struct gagg_arrival before = in, after;
	struct gagg_msg copy = *m;
	char *was, *one, *other;
	enum gagg_rx verdict;
	size_t bytes;
	u32 expected;

	was = snapshot(&bytes);
	nacts = 0;
	verdict = rx_body(node, &copy, NULL, ce);
	one = snapshot(&bytes);
	after = in;
	expected = nacts;
	nacts = 0;
	restore(was);
	in = before;
	in.todo.m = *m;
	assert_int_equal(follow(ce), verdict);
	if (verdict == GAGG_RX_ADD || verdict == GAGG_RX_PLACE) {
		assert_ptr_equal(in.vis.ch, after.vis.ch);
		assert_int_equal(in.todo.slot, after.todo.slot);
		assert_int_equal(in.todo.acc, after.todo.acc);
		assert_int_equal(in.todo.first, after.todo.first);
		assert_int_equal(in.todo.to_result, after.todo.to_result);
		assert_int_equal(in.todo.shift, after.todo.shift);
		assert_int_equal(in.todo.laneop, after.todo.laneop);
		assert_int_equal(in.todo.lanes, after.todo.lanes);
		assert_int_equal(in.node, after.node);
	} else if (verdict == GAGG_RX_DROP) {
		assert_int_equal(in.todo.drop, after.todo.drop);
	}
	drain();
	assert_int_equal(nacts, expected);
	other = snapshot(&bytes);
	assert_memory_equal(one, other, bytes);
	free(was);
	free(one);
	free(other);
	return verdict;
}

/* the first of some: the verdict that others may follow */
static void contrib_first(u32 rank, u32 chunk, u32 round)
{
	assert_int_equal(contrib(rank, chunk, round, 100), GAGG_RX_ADD);
}

static void next__contributions(void **state)
{
	struct gagg_msg m = message(GAGG_T_CONTRIB, 1, 0, 1);
	u32 i;

	(void)state;
	start(0);
	g.stripe = 2;		/* the others belong to nobody's home */
	g.aggregators = 3;
	start_channel(0, g.workers);
	contrib_first(1, 0, 1);
	m.pn = 2;
	m.exp = 90;
	m.want = 90;
	m.chunk = 1;
	assert_int_equal(expect_same(1, &m, true), GAGG_RX_ADD);
	m.pn = 3;
	m.chunk = 2;		/* of another home */
	assert_int_equal(expect_same(1, &m, false), GAGG_RX_DROP);
	contrib_first(2, 0, 1);
	m.src = 2;
	for (i = 0; i < 2; i++) {
		m.exp = (u8)(120 - 40 * i);	/* the first voids */
		m.chunk = 4 + i;
		m.pn = 2 + i;
		assert_int_equal(expect_same(2, &m, false), GAGG_RX_ADD);
	}
	m.pn = 4;		/* a repetition */
	contrib_first(2, 8 - 7, 1);
	assert_int_equal(expect_same(2, &m, false), GAGG_RX_OK);
	for (i = 0; i < 4; i++) {
		static const u32 bad[] = { 16, 17, 0x80000000, 0xffffffff };

		m.chunk = bad[i];
		assert_int_equal(expect_same(2, &m, false), GAGG_RX_DROP);
	}
}

static void next__results(void **state)
{
	struct gagg_msg m = message(GAGG_T_RESULT, 0, 1, 1);

	(void)state;
	start(1);
	push_to(4);
	assert_int_equal(result(0, 1, 1), GAGG_RX_PLACE);
	m.aux = 3;
	m.pn = 2;
	assert_int_equal(expect_same(0, &m, false), GAGG_RX_PLACE);
	m.chunk = 3;		/* one is missing: it is asked for */
	m.pn = 4;
	assert_int_equal(expect_same(0, &m, false), GAGG_RX_PLACE);
	m.chunk = 1;
	m.pn = 5;
	assert_int_equal(expect_same(0, &m, false), GAGG_RX_OK);
	m.chunk = 5;		/* not pushed */
	m.pn = 6;
	assert_int_equal(expect_same(0, &m, false), GAGG_RX_DROP);
	m.chunk = 16;
	assert_int_equal(expect_same(0, &m, false), GAGG_RX_DROP);
}

/* in the other shard it is dropped */
static void next__of_another_shard(void **state)
{
	struct gagg_msg m = message(GAGG_T_CONTRIB, 1, 1, 1);

	(void)state;
	start(0);
	g.shards = 2;
	start_channel(0, g.workers);
	contrib_first(1, 0, 1);
	m.pn = 2;
	assert_int_equal(expect_same(1, &m, false), GAGG_RX_DROP);
	m.chunk = 2;
	assert_int_equal(expect_same(1, &m, false), GAGG_RX_ADD);
}

/* the last row of the ring ends within a stripe; what is before and behind it is
 * of others
 */
static void next__to_the_end_of_the_ring(void **state)
{
	struct gagg_msg m = message(GAGG_T_CONTRIB, 1, 15, 1);

	(void)state;
	geometry(0);
	g.stripe = 3;
	g.shards = 2;
	start_channel(0, g.workers);
	sh->index = 1;
	contrib_first(1, 9, 1);
	m.pn = 2;
	assert_int_equal(expect_same(1, &m, false), GAGG_RX_ADD);
	m.pn = 3;
	m.chunk = 16;
	assert_int_equal(expect_same(1, &m, false), GAGG_RX_DROP);
	m.chunk = 14;
	assert_int_equal(expect_same(1, &m, false), GAGG_RX_DROP);
}

/* contributions that complete a chunk each */
static void next__actions_wait(void **state)
{
	u32 at = 0, i;

	(void)state;
	start(0);
	push_to(8);
	for (i = 0; i < 8; i++)
		contrib_first(1, i, 1);
	contrib_first(2, 0, 1);
	nacts = 0;
	for (i = 1; i < 8; i++) {
		in.todo.m.chunk = i;
		in.todo.m.pn++;
		assert_int_equal(follow(false), GAGG_RX_ADD);
		assert_true(in.todo.to_result);
		assert_false(gagg_shard_must_act(sh, &g));
	}
	assert_int_equal(sh->n[GAGG_N_CONTRIBUTIONS], 8 * 3);
	drain();
	assert_int_equal(count_acts(GAGG_ACT_PUBLISH), 7);
	for (i = 1; i < 8; i++) {
		const struct gagg_publish *pub = &next_act(&at, GAGG_ACT_PUBLISH)->pub;

		assert_int_equal(pub->slot, i);
		assert_true(pub->placed);
	}
}

/* a home's results in a row are a PUBLISH and a SEND_RESULT, as long as they are alike */
static void next__results_of_a_home_in_a_row(void **state)
{
	static const u8 order[] = { 1, 2, 3, 5, 4, 6, 7 };
	u32 i;

	(void)state;
	start(0);
	push_to(8);
	for (i = 0; i < 8; i++)
		assert_int_equal(contrib(1, i, 1, (u8)(101 + i)), GAGG_RX_ADD);
	contrib_first(2, 0, 1);
	nacts = 0;
	for (i = 0; i < 7; i++) {
		in.todo.m.chunk = order[i];
		in.todo.m.pn++;
		assert_int_equal(follow(false), GAGG_RX_ADD);
	}
	assert_int_equal(sh->nacts, 8);		/* 1 to 3; 5; 4; 6 and 7 */
	assert_int_equal(sh->more, 6);
	drain();
	assert_int_equal(nacts, 14);
	for (i = 0; i < 14; i++) {
		/* of each action first all chunks, then those of the next */
		static const u8 slots[] = { 1, 2, 3, 1, 2, 3, 5, 5, 4, 4, 6, 7, 6, 7 };
		const struct gagg_act *a = &acts[i];

		if (a->type == GAGG_ACT_PUBLISH) {
			assert_int_equal(a->pub.slot, slots[i]);
			assert_int_equal(a->pub.exp, 101 + slots[i]);
			assert_int_equal(a->pub.want, 101 + slots[i]);
			assert_true(a->pub.placed);
			continue;
		}
		assert_int_equal(a->type, GAGG_ACT_SEND_RESULT);
		assert_int_equal(a->m.chunk, slots[i]);
		assert_int_equal(a->m.exp, 101 + slots[i]);
		assert_int_equal(a->m.want, 101 + slots[i]);
		assert_int_equal(a->m.pn, gagg_chan_res(ch, slots[i])->rpn);
		assert_int_equal(a->nodes, 6);
	}
	/* more than an action has room for */
	geometry(0);
	g.ring = 64;
	g.window = 64;
	start_channel(0, g.workers);
	assert_int_equal(submit(0, 1000), 1);
	push_to(64);
	for (i = 0; i < 40; i++)
		contrib_first(1, i, 1);
	contrib_first(2, 0, 1);
	for (i = 1; i < 40; i++) {
		in.todo.m.chunk = i;
		in.todo.m.pn++;
		assert_int_equal(follow(false), GAGG_RX_ADD);
	}
	assert_int_equal(sh->nacts, 6);
	nacts = 0;
	drain();
	assert_int_equal(nacts, 2 * 39);
}

/* what that causes waits */
static void rx_waits(struct gagg_msg m)
{
	m.pn = ++pn[m.src];
	if (arrive(m.src, &m, NULL, false) == GAGG_RX_ADD)
		gagg_shard_commit(&in);
}

/* rank 2 is the last */
static void last(u8 type, u32 chunk, u16 flags)
{
	struct gagg_msg m = message(type, 2, chunk, 1);

	m.flags = flags | (type == GAGG_T_READY ? GAGG_WF_ZERO : 0);
	rx_waits(m);
}

#define S16	GAGG_LANEOP(GAGG_LANE_S16, GAGG_OP_ADD)

/* two results are two of each action; else one */
static bool apart(void)
{
	u32 n = sh->nacts;

	drain();
	assert_true(n == 2 || n == 4);
	return n == 4;
}

static void next__results_of_a_home_apart(void **state)
{
	struct gagg_msg m = message(GAGG_T_CONTRIB, 1, 0, 1);
	u32 i;

	(void)state;
	start(0);
	zero_slots = 0x80;
	push_to(8);
	for (i = 0; i < 8; i++)
		if (i < 3 || i > 5)
			contrib_first(1, i, 1);
		else
			ready(1, i, 1, 1);
	last(GAGG_T_READY, 0, 0);
	last(GAGG_T_READY, 1, 0);
	assert_false(apart());
	/* with a sum, without */
	last(GAGG_T_READY, 2, 0);
	last(GAGG_T_READY, 3, 0);
	assert_true(apart());
	/* without a sum, placed */
	last(GAGG_T_READY, 4, 0);
	last(GAGG_T_CONTRIB, 5, 0);
	assert_true(apart());
	/* with lanes from here, without */
	last(GAGG_T_READY, 6, 0);
	last(GAGG_T_READY, 7, 0);
	assert_true(apart());
	/* for all, for one */
	start(0);
	push_to(8);
	contrib_first(1, 0, 1);
	contrib_first(1, 1, 1);
	last(GAGG_T_READY, 0, 0);
	last(GAGG_T_READY, 1, GAGG_WF_NORESULT);
	assert_int_equal(sh->nacts, 4);
	assert_int_equal(sh->act[1].nodes, 6);
	assert_int_equal(sh->act[3].nodes, 2);
	drain();
	/* of narrow lanes, which are shifted one by one */
	geometry(0);
	g.wire = 1;
	start_channel(0, g.workers);
	assert_int_equal(gagg_ring_submit(ch, 0, &(struct gagg_op){
		.sig = 0x51, .laneop = S16, .last_lanes = 4,
	}, 2), 1);
	push_to(2);
	for (i = 0; i < 4; i++) {
		m = message(GAGG_T_CONTRIB, 1 + i / 2, i % 2, 1);
		m.laneop = S16;
		m.pn = 1 + i % 2;
		assert_int_equal(arrive(m.src, &m, NULL, false), GAGG_RX_ADD);
		gagg_shard_commit(&in);
	}
	assert_int_equal(sh->act[0].more, 0);
	assert_int_equal(sh->act[1].more, 0);
	drain();
	m = message(GAGG_T_CONTRIB, 1, 0, 1);
	/* of two ops, and one that may have left the range */
	geometry(0);
	start_channel(0, g.workers);
	assert_int_equal(gagg_ring_submit(ch, 0, &(struct gagg_op){
		.sig = 0x50, .laneop = ADD, .flags = GAGG_OP_RAW, .last_lanes = 4,
	}, 1), 1);
	assert_int_equal(gagg_ring_submit(ch, 0, &(struct gagg_op){
		.sig = 0x51, .laneop = ADD, .flags = GAGG_OP_RAW, .last_lanes = 2,
	}, 3), 2);
	push_to(4);
	m.flags = GAGG_WF_RAW;
	for (i = 1; i < 4; i++) {
		m.chunk = i;
		m.pn = i;
		m.lanes = i == 3 ? 2 : 4;
		m.want = i == 2 ? 31 : 1;
		assert_int_equal(rx(1, m), GAGG_RX_ADD);
	}
	m.pn = 4;
	m.chunk = 0;
	m.lanes = 4;
	m.sig = 0x50;
	assert_int_equal(rx(1, m), GAGG_RX_ADD);
	m.src = 2;
	m.pn = 1;
	m.type = GAGG_T_READY;
	m.flags = GAGG_WF_RAW | GAGG_WF_ZERO;
	assert_int_equal(arrive(2, &m, NULL, false), GAGG_RX_OK);
	pn[2] = 1;
	last(GAGG_T_READY, 1, GAGG_WF_RAW);
	last(GAGG_T_READY, 2, GAGG_WF_RAW);
	for (i = 0, nacts = 0, drain(); i < nacts; i++)
		assert_int_equal(acts[i].more, 0);
	assert_int_equal(count_acts(GAGG_ACT_SEND_RESULT), 3);
	assert_int_equal(acts[nacts - 1].m.flags, GAGG_WF_RAW | GAGG_WF_OVERFLOW);
}

/* the results of two ops in a row, neither of which is over: chunk 0 is open */
static bool ops_apart(u32 sig, u8 laneop, u16 lanes)
{
	struct gagg_msg m = message(GAGG_T_CONTRIB, 1, 0, 1);
	u32 i;

	geometry(0);
	start_channel(0, g.workers);
	assert_int_equal(gagg_ring_submit(ch, 0, &(struct gagg_op){
		.sig = 0x51, .laneop = ADD, .flags = GAGG_OP_RAW, .last_lanes = 4,
	}, 2), 1);
	assert_int_equal(gagg_ring_submit(ch, 0, &(struct gagg_op){
		.sig = sig, .laneop = laneop, .flags = GAGG_OP_RAW, .last_lanes = lanes,
	}, 1), 2);
	push_to(3);
	m.flags = GAGG_WF_RAW;
	for (i = 0; i < 4; i++) {
		m.src = 1 + i / 2;
		m.chunk = 1 + i % 2;
		m.sig = m.chunk == 2 ? sig : 0x51;
		m.laneop = m.chunk == 2 ? laneop : ADD;
		m.lanes = m.chunk == 2 ? lanes : 4;
		rx_waits(m);
	}
	return apart();
}

static void next__results_of_ops_apart(void **state)
{
	(void)state;
	assert_false(ops_apart(0x51, ADD, 4));
	assert_true(ops_apart(0x52, ADD, 4));
	assert_true(ops_apart(0x51, GAGG_LANEOP(GAGG_LANE_S32, GAGG_OP_MAX), 4));
	assert_true(ops_apart(0x51, ADD, 3));
}

static void next__results_of_channels_apart(void **state)
{
	struct gagg_msg m = message(GAGG_T_CONTRIB, 2, 1, 1);

	(void)state;
	start(0);
	push_to(2);
	contrib_first(1, 0, 1);
	contrib_first(1, 1, 1);
	last(GAGG_T_CONTRIB, 0, 0);
	/* it has all that the one before it has, but for the channel */
	ch->id = 1;
	m.channel = 1;
	rx_waits(m);
	assert_true(apart());
}

/* a chunk is published behind the one before it, whose round is another */
static void next__results_of_rounds_apart(void **state)
{
	struct gagg_msg m = message(GAGG_T_CONTRIB, 2, 1, 2);

	(void)state;
	start(0);
	*gagg_chan_done(ch, 1) = 1;
	contrib(1, 0, 1, 100);
	contrib(1, 1, 2, 100);
	ready(0, 0, 1, 1);
	ready(0, 1, 2, 1);
	last(GAGG_T_CONTRIB, 0, 0);
	rx_waits(m);
	assert_true(apart());
}

/* results in a row are one PUBLISH, which says what is of each */
static void next__results_in_a_row(void **state)
{
	static const u8 order[] = { 1, 2, 3, 5, 4, 6, 7 };
	u32 i;

	(void)state;
	start(1);
	push_to(8);
	assert_int_equal(result(0, 1, 1), GAGG_RX_PLACE);
	nacts = 0;
	for (i = 0; i < 7; i++) {
		in.todo.m.chunk = order[i];
		in.todo.m.pn++;
		in.todo.m.exp = (u8)(100 + order[i]);
		in.todo.m.want = (u8)(90 + order[i]);
		assert_int_equal(follow(false), GAGG_RX_PLACE);
	}
	assert_int_equal(sh->n[GAGG_N_RESULTS], 8);
	assert_int_equal(ch->base, 8);
	assert_int_equal(sh->nacts, 4);		/* 1 to 3; 5; 4; 6 and 7 */
	drain();
	assert_int_equal(nacts, 7);
	for (i = 0; i < 7; i++) {
		const struct gagg_publish *pub = &acts[i].pub;

		assert_int_equal(acts[i].type, GAGG_ACT_PUBLISH);
		assert_int_equal(pub->slot, order[i]);
		assert_int_equal(pub->exp, 100 + order[i]);
		assert_int_equal(pub->want, 90 + order[i]);
		assert_int_equal(pub->round, 1);
		assert_int_equal(pub->lanes, 4);
		assert_int_equal(pub->contributors, 3);
		assert_true(pub->placed);
	}
	/* more than an action has room for */
	geometry(1);
	g.ring = 64;
	g.window = 64;
	start_channel(0, g.workers);
	assert_int_equal(submit(0, 1000), 1);
	sh->path[0].cwnd = 64;
	push_to(64);
	assert_int_equal(result(0, 1, 1), GAGG_RX_PLACE);
	nacts = 0;
	for (i = 1; i < 40; i++) {
		in.todo.m.chunk = i;
		in.todo.m.pn++;
		assert_int_equal(follow(false), GAGG_RX_PLACE);
	}
	assert_int_equal(sh->nacts, 3);
	drain();
	assert_int_equal(nacts, 39);
	for (i = 0; i < 39; i++)
		assert_int_equal(acts[i].pub.slot, i + 1);
}

/* the last ones to two chunks, and to one of them again: each way they are the same */
static void next__to_what_is_over(void **state)
{
	struct gagg_msg m = message(GAGG_T_CONTRIB, 2, 1, 1);
	u32 i;

	(void)state;
	start(0);
	push_to(8);
	for (i = 0; i < 3; i++)
		contrib_first(1, i, 1);
	contrib_first(2, 0, 1);
	m.exp = 100;
	m.pn = 2;
	assert_int_equal(expect_same(2, &m, false), GAGG_RX_ADD);
	assert_true(in.todo.to_result);
	m.pn = 3;
	assert_int_equal(expect_same(2, &m, false), GAGG_RX_OK);
	assert_int_equal(sh->n[GAGG_N_STALE], 1);
}

/* what the first of a chunk decides: the others follow, or are no part of it */
static void next__to_what_has_begun(void **state)
{
	struct gagg_msg first = message(GAGG_T_CONTRIB, 2, 1, 1), m;
	u32 i;

	(void)state;
	for (i = 0; i < 9; i++) {
		start(0);
		first.exp = 100;
		first.pn = 2;
		contrib_first(1, 1, 1);
		contrib_first(2, 0, 1);
		m = first;
		switch (i) {
		case 0:
			m.exp = 99;
			break;
		case 1:
			m.exp = 101;
			break;
		case 2:
			m.want = 101;
			break;
		case 3:
			GAGG_CHAN_AT(ch, off_acc, struct gagg_acc)[1].sig++;
			break;
		case 4:
			GAGG_CHAN_AT(ch, off_acc, struct gagg_acc)[1].lanes--;
			break;
		case 5:
			GAGG_CHAN_AT(ch, off_acc, struct gagg_acc)[1].laneop++;
			break;
		case 6:
			GAGG_CHAN_AT(ch, off_acc, struct gagg_acc)[1].flags ^= GAGG_WF_RAW;
			break;
		case 7:
			GAGG_CHAN_AT(ch, off_acc, struct gagg_acc)[1].round++;
			break;
		case 8:
			m.chunk += g.window;
			break;
		}
		assert_int_equal(expect_same(2, &m, false), i < 3 ? GAGG_RX_ADD : GAGG_RX_DROP);
		finish_test(NULL);
	}
}

/* what is left has room; in a quorum nothing is left */
static void next__actions_must_not_wait(void **state)
{
	(void)state;
	start(0);
	assert_false(gagg_shard_must_act(sh, &g));
	sh->nacts = GAGG_ACTS - GAGG_ACTS_STEP;
	assert_false(gagg_shard_must_act(sh, &g));
	sh->nacts++;
	assert_true(gagg_shard_must_act(sh, &g));
	sh->nacts = 1;
	assert_false(gagg_shard_must_act(sh, &g));
	g.quorum = 1;
	assert_true(gagg_shard_must_act(sh, &g));
	sh->nacts = 0;
	assert_false(gagg_shard_must_act(sh, &g));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(drop__of_another_epoch, finish_test),
		cmocka_unit_test_teardown(cookie__of_results_heard_by_others, finish_test),
		cmocka_unit_test(cookie__is_siphash),
		cmocka_unit_test_teardown(drop__what_is_not_possible, finish_test),
		cmocka_unit_test_teardown(drop__answers_longer_than_the_window, finish_test),
		cmocka_unit_test_teardown(run__is_no_longer_than_the_window, finish_test),
		cmocka_unit_test_teardown(run__is_no_longer_than_the_window_in_a_quorum, finish_test),
		cmocka_unit_test_teardown(drop__at_the_wrong_home_or_shard, finish_test),
		cmocka_unit_test_teardown(ack__first_round_trip_of_a_shard, finish_test),
		cmocka_unit_test_teardown(trips__of_hello, finish_test),
		cmocka_unit_test_teardown(paths__as_configured, finish_test),
		cmocka_unit_test_teardown(ack__once_per_batch_and_peer, finish_test),
		cmocka_unit_test_teardown(nak__once_per_batch_and_peer, finish_test),
		cmocka_unit_test_teardown(nak__is_answered_with_the_members, finish_test),
		cmocka_unit_test_teardown(open__makes_the_channel, finish_test),
		cmocka_unit_test_teardown(desync__names_both, finish_test),
		cmocka_unit_test_teardown(epoch__ends, finish_test),
		cmocka_unit_test_teardown(queue__runs_that_wait_end_with_the_epoch, finish_test),
		cmocka_unit_test_teardown(queue__never_runs_over, finish_test),
		cmocka_unit_test_teardown(next__contributions, finish_test),
		cmocka_unit_test_teardown(next__results, finish_test),
		cmocka_unit_test_teardown(next__of_another_shard, finish_test),
		cmocka_unit_test_teardown(next__to_the_end_of_the_ring, finish_test),
		cmocka_unit_test_teardown(next__actions_wait, finish_test),
		cmocka_unit_test_teardown(next__results_of_a_home_in_a_row, finish_test),
		cmocka_unit_test_teardown(next__results_of_a_home_apart, finish_test),
		cmocka_unit_test_teardown(next__results_of_ops_apart, finish_test),
		cmocka_unit_test_teardown(next__results_of_channels_apart, finish_test),
		cmocka_unit_test_teardown(next__results_of_rounds_apart, finish_test),
		cmocka_unit_test_teardown(next__results_in_a_row, finish_test),
		cmocka_unit_test_teardown(next__to_what_is_over, finish_test),
		cmocka_unit_test_teardown(next__to_what_has_begun, finish_test),
		cmocka_unit_test_teardown(next__actions_must_not_wait, finish_test),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
