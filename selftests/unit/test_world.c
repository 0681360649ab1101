// SPDX-License-Identifier: GPL-2.0
/* links: core kmod/core/path.c kmod/core/cwnd.c selftests/model/world.c selftests/model/world_net.c selftests/model/world_host.c selftests/model/world_ref.c; libs: */
/*
 * Whole collectives in the simulator (world.h says what it asserts at every
 * step): shapes with exact counts, and covers in which any two settings of any
 * two factors meet: without weather, and in any (outages, short queues, bursts of
 * losses, paths that become longer, datagrams that come much later). The other random
 * worlds have none, one kind, or some.
 *
 *	test_world [--full]	more worlds, as large as they get
 *	test_world [--seeds N]	that for N seeds
 *
 * SEED in the environment is the first seed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "selftests/model/world.h"
#include "full.h"
#include "path.h"

typedef unsigned long long ull;

static u64 first_seed = 1;
static u32 seeds = 1;

/* four hosts, all homes, one rank each */
static const struct world_config plain = {
	.seed = 1, .nodes = 4, .per_node = 1, .ring = 256, .window = 64, .stripe = 4,
	.shards = 2, .cwnd = 64, .chans = 1, .ops = 4, .max_chunks = 200, .exact = true,
};

static struct world *run(const struct world_config *cfg)
{
	struct world *w = world_new(cfg);

	if (world_run(w))
		fail_msg("%s", world_error(w));
	return w;
}

/* --- weather: what networks do beside losing at random ------------------ */

/* what is drawn says nothing about the world's own dice */
static u64 dice;

static u64 draw(u64 from, u64 to)
{
	return from + gagg_mix64(++dice, 3) % (to - from + 1);
}

/* from 1 to 2 as often as from 10 to 20, about */
static u64 draw_scale(u64 from, u64 to)
{
	u64 below = 2 * from;

	for (u64 n = draw(0, 63); n && below < to; n /= 2)
		below *= 2;
	return draw(below / 2, gagg_min64(below, to));
}

/* Outages, once or again and again, of what some host sends or gets, or of all. */
static struct world_outage draw_outage(u32 hosts)
{
	struct world_outage o = {
		.uneven = !draw(0, 1),
		.first = draw(0, 2) * draw_scale(20 * GAGG_USEC, 2 * GAGG_MSEC),
		.lasts = draw_scale(100 * GAGG_USEC, 20 * GAGG_MSEC),
	};

	if (draw(0, 3))
		o.every = o.lasts * draw(2, 8);
	if (draw(0, 3)) {
		o.nodes = GAGG_BIT(draw(0, hosts - 1));
		o.ways = (u32)draw(WORLD_IN, WORLD_IN | WORLD_OUT);
	}
	return o;
}

/* @kinds: bit each */
static void draw_weather(struct world_config *c, u32 kinds)
{
	if (kinds & GAGG_BIT(WORLD_OUTAGE))
		c->outage = draw_outage(c->nodes);
	if (kinds & GAGG_BIT(WORLD_QUEUE)) {
		c->wire = draw(2, 12) * GAGG_USEC;
		c->queue = (u32)draw_scale(1, 8);
		c->poll = draw(0, 2) * 25 * GAGG_USEC;
	}
	if (kinds & GAGG_BIT(WORLD_BURST)) {
		c->burst = (u32)draw(1, 20);
		c->burst_ends = (u32)draw(50, 300);
	}
	if (kinds & GAGG_BIT(WORLD_SWING)) {
		c->swing = draw_scale(50 * GAGG_USEC, 5 * GAGG_MSEC);
		c->swing_every = draw_scale(500 * GAGG_USEC, 20 * GAGG_MSEC);
	}
	if (kinds & GAGG_BIT(WORLD_STRAGGLE)) {
		c->straggle = (u32)draw(1, 50);
		c->straggle_by = draw_scale(100 * GAGG_USEC, 20 * GAGG_MSEC);
	}
}

/* none, one kind, or some */
static void any_weather(struct world_config *c)
{
	u32 kinds = 0;

	dice = c->seed << 20;
	switch (draw(0, 2)) {
	case 1:
		kinds = 1U << draw(0, WORLD_WEATHERS - 1);
		break;
	case 2:
		kinds = (u32)draw(1, (1 << WORLD_WEATHERS) - 1);
		break;
	}
	draw_weather(c, kinds);
}

/* --- exact counts without loss ----------------------------------------- */

static void steady__nothing_is_said_twice(void **state)
{
	struct world_config cfg = plain;
	struct world *w = run(&cfg);
	u64 chunks = 800;

	(void)state;
	/* each chunk: three contributions to its home, its result to three */
	assert_int_equal(world_chunks(w, 0), chunks);
	assert_int_equal(world_sent(w, GAGG_T_CONTRIB), chunks * 3);
	assert_int_equal(world_lanes(w, GAGG_T_CONTRIB), chunks * 3 * WORLD_LANES);
	assert_int_equal(world_sent(w, GAGG_T_RESULT), chunks * 3);
	assert_int_equal(world_lanes(w, GAGG_T_RESULT), chunks * 3 * WORLD_LANES);
	assert_int_equal(world_count(w, GAGG_N_CONTRIBUTIONS), chunks * 4);
	assert_int_equal(world_count(w, GAGG_N_RESULTS), chunks * 3);
	assert_int_equal(world_sent(w, GAGG_T_ACK), world_count(w, GAGG_N_ACKS));
	assert_int_equal(world_sent(w, 0), world_sent(w, GAGG_T_CONTRIB) +
			 world_sent(w, GAGG_T_RESULT) + world_sent(w, GAGG_T_ACK));
	world_free(w);
}

static void steady__many_ops_in_flight(void **state)
{
	struct world_config cfg = plain;
	struct world *w;

	(void)state;
	/* twice as many as a rank may have in flight, each in one shard only */
	cfg.ops = 2 * GAGG_OPS;
	cfg.max_chunks = 1;
	w = run(&cfg);
	assert_int_equal(world_count(w, GAGG_N_CHUNKS), 2 * GAGG_OPS);
	assert_int_equal(world_count(w, GAGG_N_QUERIES), 0);
	world_free(w);
}

static void steady__ranks_of_a_host_share_a_result(void **state)
{
	struct world_config cfg = plain;
	struct world *w;

	(void)state;
	cfg.per_node = 4;
	w = run(&cfg);
	assert_int_equal(world_sent(w, GAGG_T_CONTRIB), 800 * 12);
	assert_int_equal(world_sent(w, GAGG_T_RESULT), 800 * 3);
	world_free(w);
}

static void steady__largest_groups(void **state)
{
	struct world_config cfg = plain;
	u32 chunks = full_or(64, 16);
	struct world *w;

	(void)state;
	cfg.nodes = 64;
	cfg.ops = 1;
	cfg.ring = full_or(256, 64);
	cfg.max_chunks = chunks;
	cfg.stripe = 1;
	w = run(&cfg);
	assert_int_equal(world_sent(w, GAGG_T_CONTRIB), chunks * 63);
	world_free(w);
	cfg.nodes = 4;
	cfg.per_node = GAGG_LOCALS;
	w = run(&cfg);
	assert_int_equal(world_sent(w, GAGG_T_CONTRIB), chunks * 48);
	world_free(w);
}

static void steady__other_exponents_void_at_most_so_often(void **state)
{
	struct world_config cfg = plain;
	struct world *w;

	(void)state;
	cfg.exps = 3;
	w = run(&cfg);
	assert_int_not_equal(world_count(w, GAGG_N_VOIDS), 0);
	assert_true(world_count(w, GAGG_N_VOIDS) <= 800 * 2);
	/* each void costs those that were in the sum one more, at once */
	assert_true(world_count(w, GAGG_N_RETRANSMITS) <= world_count(w, GAGG_N_VOIDS) * 2);
	assert_int_equal(world_count(w, GAGG_N_CONTRIBUTIONS),
			 800 * 4 + world_count(w, GAGG_N_RETRANSMITS));
	assert_int_equal(world_count(w, GAGG_N_QUERIES), 0);
	world_free(w);
}

/* --- lanes of two words ------------------------------------------------ */

static void int64__sums(void **state)
{
	u64 i, worlds = 16 * (u64)seeds;

	(void)state;
	for (i = 0; i < worlds; i++) {
		struct world_config cfg = plain;

		cfg.seed = first_seed + i;
		cfg.raw = true;
		cfg.laneop = GAGG_LANEOP(GAGG_LANE_S64, GAGG_OP_ADD);
		cfg.per_node = 1 + i % 2;
		cfg.ring = i % 3 ? 64 : 256;
		cfg.chans = 1 + i % 3;
		cfg.home_nodes = i % 4 == 1 ? 1 : i % 4 == 2 ? 6 : 0;
		cfg.exact = i % 2;
		cfg.loss = i % 4 == 3 ? 50 : 0;
		cfg.dup = cfg.loss;
		cfg.jitter = i % 2 * 300 * GAGG_USEC;
		cfg.zeros = i % 3 * 100;
		cfg.noresult = i % 5 / 4 * 500;
		cfg.sync = i % 8 == 7 ? "bsp-quorum:2:0" : NULL;
		cfg.max_chunks = 60;
		any_weather(&cfg);
		world_free(run(&cfg));
	}
}

/* --- narrow lanes -------------------------------------------------------- */

static void narrow__sums(void **state)
{
	u64 i, worlds = full_or(32, 8) * (u64)seeds;

	(void)state;
	for (i = 0; i < worlds; i++) {
		struct world_config cfg = plain;

		cfg.seed = first_seed + i;
		cfg.laneop = GAGG_LANEOP(i & 1 ? GAGG_LANE_S8 : GAGG_LANE_S16, GAGG_OP_ADD);
		cfg.per_node = 1 + i / 2 % 2 * 2;
		cfg.nodes = i % 16 == 14 ? 1 : cfg.nodes;
		cfg.ring = i % 3 ? 64 : 256;
		cfg.chans = cfg.nodes > 1 ? 1 + i % 3 : 1;
		cfg.home_nodes = cfg.nodes < 3 ? 0 : i % 4 == 1 ? 1 : i % 4 == 2 ? 6 : 0;
		cfg.exact = i % 5 < 2;
		cfg.loss = i % 4 == 3 ? 50 : 0;
		cfg.dup = cfg.loss;
		cfg.jitter = i % 2 * 300 * GAGG_USEC;
		cfg.exps = i % 3 * 5;
		cfg.zeros = i % 3 * 100;
		cfg.nonfinite = i % 7 / 6 * 50;
		cfg.noresult = i % 5 / 4 * 500;
		cfg.sync = i % 8 == 7 ? "bsp-quorum:2:0" : i % 8 == 6 ? "bsp-quorum:1:1" : NULL;
		cfg.max_chunks = 60;
		any_weather(&cfg);
		world_free(run(&cfg));
	}
}

/* --- rounds that need not wait for all --------------------------------- */

static void quorum__one_decision_for_all(void **state)
{
	static const char *const modes[] = {
		"bsp-quorum:1:0", "bsp-quorum:2:0", "bsp-quorum:3:0", "bsp-quorum:64:0",
		"bsp-deadline:1:1:0", "bsp-deadline:3:2:0", "bsp-adaptive:2:1:0",
	};
	u32 i, k, late = 0, voids = 0;

	(void)state;
	for (i = 0; i < full_or(12, 3) * seeds * 7; i++) {
		struct world_config cfg = plain;
		struct world *w;

		cfg.seed = first_seed + i;
		cfg.sync = modes[i % 7];
		k = i / 7;
		cfg.per_node = 1 + k % 2;
		cfg.ring = k % 3 ? 64 : 256;
		cfg.chans = 1 + k % 3;
		cfg.home_nodes = k % 4 == 1 ? 1 : k % 4 == 2 ? 6 : 0;
		cfg.exact = k % 2;
		cfg.loss = k % 4 == 3 ? 50 : 0;
		cfg.dup = k % 4 == 3 ? 50 : 0;
		cfg.jitter = k % 2 * 300 * GAGG_USEC;
		cfg.exps = k % 3 * 2;
		cfg.zeros = k % 2 * 100;
		cfg.nonfinite = k % 5 / 4 * 20;
		cfg.think = k % 3 / 2 * 3 * GAGG_MSEC;
		cfg.late = k % 2 * 30 * GAGG_MSEC;
		cfg.ops = 8;
		cfg.max_chunks = 60;
		any_weather(&cfg);
		w = world_new(&cfg);
		if (world_run(w))
			fail_msg("%s, seed %llu: %s", cfg.sync, (unsigned long long)cfg.seed,
				 world_error(w));
		late += !!world_count(w, GAGG_N_LATE);
		voids += !!world_count(w, GAGG_N_VOIDS);
		world_free(w);
	}
	assert_true(late > i / 3 && voids > i / 3);
}

/* --- shapes: which ranks send lanes, which get them -------------------- */

static void shape_zero(const struct world_config *cfg, u32 rank, u32 c, u64 v,
		       struct gagg_cdesc *d)
{
	(void)cfg, (void)rank, (void)c, (void)v;
	d->flags |= GAGG_C_ZERO;
	d->want = 0;
}

static void zeros__travel_as_runs(void **state)
{
	struct world_config cfg = plain;
	struct world *w;

	(void)state;
	cfg.shape = shape_zero;
	cfg.stripe = 16;
	w = run(&cfg);
	assert_int_equal(world_sent(w, GAGG_T_CONTRIB), 0);
	assert_int_equal(world_lanes(w, GAGG_T_RESULT), 0);
	/* 800 chunks, of which 64 may be under way: at worst a datagram for
	 * each stripe of 16, and one where window and ops begin and end
	 */
	assert_true(world_sent(w, GAGG_T_READY) <= 3 * (800 / 16 + 800 / 64 + 4) * 2);
	assert_true(world_sent(w, GAGG_T_RESULT) <= world_sent(w, GAGG_T_READY) * 2);
	world_free(w);
}

/* one run of READY may be up to a window long, whatever else is under way */
static void shape_half(const struct world_config *cfg, u32 rank, u32 c, u64 v,
		       struct gagg_cdesc *d)
{
	if (v >= 100)
		shape_zero(cfg, rank, c, v, d);
}

static void zeros__runs_behind_a_full_path(void **state)
{
	struct world_config cfg = plain;
	struct world *w;

	(void)state;
	cfg.nodes = 2;
	cfg.home_nodes = 1;
	cfg.shards = 1;
	cfg.ops = 1;
	cfg.ring = 4096;
	cfg.window = 4096;
	cfg.max_chunks = 4000;
	cfg.cwnd = 8;
	cfg.shape = shape_half;
	w = run(&cfg);
	assert_int_equal(world_sent(w, GAGG_T_CONTRIB), 100);
	assert_true(world_sent(w, GAGG_T_READY) <= 4);
	world_free(w);
}

static void shape_broadcast(const struct world_config *cfg, u32 rank, u32 c, u64 v,
			    struct gagg_cdesc *d)
{
	if (rank)
		shape_zero(cfg, rank, c, v, d);
	else
		d->flags |= GAGG_C_NORESULT;
}

static void broadcast__moves_the_lanes_once_per_receiver(void **state)
{
	struct world_config cfg = plain;
	struct world *w;

	(void)state;
	cfg.raw = true;
	cfg.shape = shape_broadcast;
	cfg.ops = 1;
	cfg.max_chunks = 256;	/* 64 at each home */
	w = run(&cfg);
	/* the root is home of a quarter; for the others it sends the lanes */
	assert_int_equal(world_lanes(w, GAGG_T_CONTRIB), 192 * WORLD_LANES);
	/* its own go to three hosts; others to all but the home and the root */
	assert_int_equal(world_lanes(w, GAGG_T_RESULT), (64 * 3 + 192 * 2) * WORLD_LANES);
	assert_int_equal(world_count(w, GAGG_N_CHUNKS), 256);
	world_free(w);
}

/* chunk v is wanted by one rank only */
static void shape_scatter(const struct world_config *cfg, u32 rank, u32 c, u64 v,
			  struct gagg_cdesc *d)
{
	(void)c;
	if (rank != v / 64 % (cfg->nodes * cfg->per_node))
		d->flags |= GAGG_C_NORESULT;
}

static void reduce_scatter__result_to_one(void **state)
{
	struct world_config cfg = plain;
	struct world *w;

	(void)state;
	cfg.shape = shape_scatter;
	cfg.ops = 1;
	cfg.max_chunks = 256;
	w = run(&cfg);
	assert_int_equal(world_lanes(w, GAGG_T_CONTRIB), 256 * 3 * WORLD_LANES);
	/* of the 64 that a rank wants it is home of 16 */
	assert_int_equal(world_lanes(w, GAGG_T_RESULT), 4 * 48 * WORLD_LANES);
	assert_true(world_sent(w, GAGG_T_DONE) <= 256 * 3 - 4 * 48);
	world_free(w);
}

/* chunk v is contributed by one rank only */
static void shape_gather(const struct world_config *cfg, u32 rank, u32 c, u64 v,
			 struct gagg_cdesc *d)
{
	if (rank != v / 64 % (cfg->nodes * cfg->per_node))
		shape_zero(cfg, rank, c, v, d);
}

static void allgather__each_part_goes_up_once(void **state)
{
	struct world_config cfg = plain;
	struct world *w;

	(void)state;
	cfg.raw = true;
	cfg.shape = shape_gather;
	cfg.ops = 1;
	cfg.max_chunks = 256;
	w = run(&cfg);
	assert_int_equal(world_lanes(w, GAGG_T_CONTRIB), 4 * 48 * WORLD_LANES);
	assert_int_equal(world_lanes(w, GAGG_T_RESULT), 256 * 3 * WORLD_LANES);
	world_free(w);
}

/* --- at scale ---------------------------------------------------------- */

/* as many chunks as 16 Mi lanes have, with the default ring and window; and a
 * ring that this goes round nearly six times. Or an eighth of all that.
 */
static void scale__sixteen_mebi_lanes(void **state)
{
	static const u32 rings[] = { 49152, 8192 };
	struct world_config cfg = plain;
	u32 part = full_or(1, 8), i;

	(void)state;
	cfg.ops = 1;
	cfg.max_chunks = (16 << 20) / GAGG_WIRE_LANES / part + 1;
	cfg.window = 2048 / part;
	cfg.stripe = 8;
	cfg.cwnd = 256;
	cfg.loss = 10;
	cfg.dup = 10;
	cfg.jitter = 50 * GAGG_USEC;
	cfg.exps = 8;
	for (i = 0; i < 2; i++) {
		struct world *w;

		cfg.ring = rings[i] / part;
		w = run(&cfg);
		assert_int_equal(world_chunks(w, 0), cfg.max_chunks);
		world_free(w);
	}
}

/* --- ranks that are slow ----------------------------------------------- */

static void late__no_storm(void **state)
{
	struct world_config cfg = plain;
	struct world *w = run(&cfg);
	u64 base = world_sent(w, 0), took = world_time(w);

	(void)state;
	world_free(w);
	cfg.late = 2 * GAGG_SEC;
	w = run(&cfg);
	/* three hosts wait for two homes each: a QUERY each 2 ms, after 32 ms each sixteenth
	 * of the silence: 16 + 16 ln(2 s / 32 ms) of them
	 */
	assert_true(world_sent(w, GAGG_T_QUERY) <= 3 * 3 * 2 * 83);
	assert_int_equal(world_count(w, GAGG_N_RETRANSMITS), 0);
	assert_true(world_sent(w, 0) <= base + base / 4 + 2 * 3 * 3 * 2 * 83);
	assert_true(world_time(w) <= cfg.late + took + GAGG_MSEC);
	world_free(w);
}

static void late__with_loss(void **state)
{
	struct world_config cfg = plain;
	struct world *w;
	u64 base;

	(void)state;
	cfg.loss = 50;
	w = run(&cfg);
	base = world_sent(w, 0);
	world_free(w);
	cfg.late = 2 * GAGG_SEC;
	w = run(&cfg);
	assert_true(world_sent(w, 0) <= 2 * base);
	/* a QUERY may be due only after its longest wait, and be lost */
	assert_true(world_time(w) <= cfg.late + GAGG_SEC);
	world_free(w);
}

static void late__on_one_channel_only(void **state)
{
	struct world_config cfg = plain;
	u64 took[3];
	struct world *w;
	u32 c;

	(void)state;
	cfg.chans = 3;
	cfg.cwnd = 16;
	w = run(&cfg);
	for (c = 0; c < 3; c++)
		took[c] = world_chan_time(w, c);
	world_free(w);
	/* rank 3 is on channels 0 and 2 */
	cfg.late = 2 * GAGG_SEC;
	cfg.late_chans = 4;
	w = run(&cfg);
	assert_true(world_chan_time(w, 0) <= took[0] + took[0] / 4);
	assert_true(world_chan_time(w, 1) <= took[1] + took[1] / 4);
	assert_true(world_chan_time(w, 2) >= cfg.late);
	world_free(w);
}

static void slow_trainers__are_polled(void **state)
{
	struct world_config cfg = plain;
	struct world *w;

	(void)state;
	cfg.think = 3 * GAGG_MSEC;
	w = run(&cfg);
	assert_int_equal(world_sent(w, GAGG_T_CONTRIB), 800 * 3);
	world_free(w);
}

/* --- loss -------------------------------------------------------------- */

static void loss__costs_little(void **state)
{
	struct world_config cfg = plain;
	struct world *w;

	(void)state;
	cfg.max_chunks = 1000;
	cfg.loss = 10;
	w = run(&cfg);
	/* 12000 contributions and as many results, one in a hundred lost: found
	 * by gaps, sent again once, hardly ever asked for
	 */
	assert_in_range(world_count(w, GAGG_N_RETRANSMITS), 60, 300);
	assert_in_range(world_count(w, GAGG_N_REPAIRS), 60, 400);
	assert_true(world_count(w, GAGG_N_QUERIES) <= 60);
	assert_int_equal(world_sent(w, GAGG_T_CONTRIB),
			 12000 + world_count(w, GAGG_N_RETRANSMITS));
	assert_int_equal(world_sent(w, GAGG_T_RESULT), 12000 + world_count(w, GAGG_N_REPAIRS));
	world_free(w);
}

/* a refill may stop because the queue of actions is full */
static void loss__large_windows(void **state)
{
	struct world_config cfg = plain;
	u64 seed;

	(void)state;
	cfg.nodes = 2;
	cfg.shards = 1;
	cfg.ring = 2048;
	cfg.window = 1024;
	cfg.cwnd = 448;
	cfg.ops = 2;
	cfg.max_chunks = 700;
	cfg.loss = 200;
	for (seed = 1; seed <= 4; seed++) {
		cfg.seed = seed;
		world_free(run(&cfg));
	}
}

/* --- deaths ------------------------------------------------------------ */

static void death__nothing_of_an_epoch_outlives_it(void **state)
{
	static const char *const modes[] = { "bsp", "bsp-quorum:2:0", "bsp-deadline:3:2:0" };
	u32 i, deaths = 0;

	(void)state;
	for (i = 0; i < full_or(24, 4) * 3 * seeds; i++) {
		struct world_config cfg = plain;
		struct world *w;

		cfg.seed = first_seed + i;
		cfg.sync = modes[i % 3];
		cfg.mortality = 1U << (4 + i % 7);
		cfg.per_node = 1 + i % 2;
		cfg.ring = i % 4 ? 64 : 256;
		cfg.chans = 1 + i % 3;
		cfg.exact = i % 2;
		cfg.loss = i % 5 * 25;
		cfg.dup = i % 4 * 25;
		cfg.jitter = i % 3 * 200 * GAGG_USEC;
		cfg.exps = i % 2 * 3;
		cfg.zeros = i % 3 * 100;
		cfg.think = i % 5 / 4 * 3 * GAGG_MSEC;
		cfg.late = i % 4 / 3 * 20 * GAGG_MSEC;	/* others ask their homes */
		cfg.ops = 8;
		cfg.max_chunks = 60;
		any_weather(&cfg);
		w = run(&cfg);
		deaths += world_deaths(w);
		world_free(w);
	}
	assert_in_range(deaths, i / 2, i * (WORLD_LIVES - 1));
}

/* --- the cover --------------------------------------------------------- */

enum factor {
	F_NODES, F_PER_NODE, F_HOMES, F_SHARDS, F_STRIPE, F_WINDOW, F_RING, F_CWND, F_CHANS,
	F_LENGTH, F_OPS, F_LOSS, F_DUP, F_JITTER, F_EXPS, F_ZEROS, F_NONFINITE, F_NORESULT,
	F_LANES, F_LATE, F_THINK, F_NARROW, F_WEATHER, FACTORS
};

static u8 levels[FACTORS] = {
	[F_NODES] = 6, [F_PER_NODE] = 2, [F_HOMES] = 5, [F_SHARDS] = 3, [F_STRIPE] = 3,
	[F_WINDOW] = 3, [F_RING] = 3, [F_CWND] = 3, [F_CHANS] = 2, [F_LENGTH] = 4, [F_OPS] = 3,
	[F_LOSS] = 4, [F_DUP] = 2, [F_JITTER] = 3, [F_EXPS] = 3, [F_ZEROS] = 3,
	[F_NONFINITE] = 2, [F_NORESULT] = 3, [F_LANES] = 4, [F_LATE] = 2, [F_THINK] = 2,
	[F_NARROW] = 3, [F_WEATHER] = 1,
};

#define LEVELS	6
#define BUDGET	full_or(6000, 1000)	/* contributions of a world, about */

static u64 rng;
static bool covered[FACTORS][LEVELS][FACTORS][LEVELS];

static u32 rnd(u32 n)
{
	return (u32)(gagg_mix64(++rng, 5) % n);
}

static u32 gain(const u8 *pick, bool take)
{
	u32 a, b, n = 0;

	for (a = 0; a < FACTORS; a++)
		for (b = a + 1; b < FACTORS; b++) {
			n += !covered[a][pick[a]][b][pick[b]];
			if (take)
				covered[a][pick[a]][b][pick[b]] = true;
		}
	return n;
}

/* a pair that is not covered yet, in pick[a] and pick[b] */
static bool find_pair(u8 *pick, u32 *a, u32 *b)
{
	for (*a = 0; *a < FACTORS; ++*a)
		for (*b = *a + 1; *b < FACTORS; ++*b)
			for (pick[*a] = 0; pick[*a] < levels[*a]; pick[*a]++)
				for (pick[*b] = 0; pick[*b] < levels[*b]; pick[*b]++)
					if (!covered[*a][pick[*a]][*b][pick[*b]])
						return true;
	return false;
}

/* of many candidates with such a pair the one with most of them */
static bool next_pick(u8 *best)
{
	u32 most = 0, k, f, a, b;
	u8 pick[FACTORS];

	if (!find_pair(pick, &a, &b))
		return false;
	for (k = 0; k < 100; k++) {
		for (f = 0; f < FACTORS; f++)
			if (f != a && f != b)
				pick[f] = (u8)rnd(levels[f]);
		if (gain(pick, false) > most) {
			most = gain(pick, false);
			memcpy(best, pick, sizeof(pick));
		}
	}
	gain(best, true);
	return true;
}

static void config_of(const u8 *pick, u64 seed, struct world_config *c)
{
	static const u32 nodes[] = { 1, 2, 3, 5, 8, 16 }, stripes[] = { 1, 3, 16 };
	static const u32 windows[] = { 8, 32, 128 }, cwnds[] = { 8, 32, 448 };
	static const u32 losses[] = { 0, 10, 50, 200 };
	u32 ranks, length;

	memset(c, 0, sizeof(*c));
	c->seed = seed;
	c->nodes = nodes[pick[F_NODES]];
	c->per_node = pick[F_PER_NODE] ? 4 : 1;
	/* all, the first, every other; one or two that are nothing else */
	if (pick[F_HOMES] == 1)
		c->home_nodes = 1;
	if (pick[F_HOMES] == 2)
		c->home_nodes = 0x5555 & ((1U << c->nodes) - 1);
	if (pick[F_HOMES] >= 3 && c->nodes > 3) {
		c->home_nodes = pick[F_HOMES] == 3 ? 2 : 3;
		c->worker_nodes = ((1U << c->nodes) - 1) & ~c->home_nodes;
	}
	c->shards = 1 + pick[F_SHARDS];
	c->stripe = stripes[pick[F_STRIPE]];
	c->window = windows[pick[F_WINDOW]];
	c->ring = c->window * (1 + pick[F_RING]);
	c->cwnd = cwnds[pick[F_CWND]];
	ranks = gagg_weight64(c->worker_nodes ? c->worker_nodes : (1U << c->nodes) - 1) *
		c->per_node;
	c->chans = pick[F_CHANS] && ranks > 1 ? 3 : 1;
	length = pick[F_LENGTH] == 0 ? 1 : pick[F_LENGTH] == 1 ? c->window / 2 :
		 pick[F_LENGTH] == 2 ? c->ring : 2 * c->ring + 3;
	c->max_chunks = length;
	c->exact = pick[F_LENGTH] == 3;
	c->ops = pick[F_OPS] == 0 ? 1 : pick[F_OPS] == 1 ? 5 : 40;
	while (c->ops > 1 && c->ops * length * ranks * c->chans > BUDGET)
		c->ops--;
	c->loss = losses[pick[F_LOSS]];
	c->dup = pick[F_DUP] ? 50 : 0;
	c->jitter = pick[F_JITTER] == 0 ? 0 : pick[F_JITTER] == 1 ? 20000 : 400000;
	c->exps = pick[F_EXPS] == 0 ? 0 : pick[F_EXPS] == 1 ? 1 : 20;
	c->zeros = pick[F_ZEROS] == 0 ? 0 : pick[F_ZEROS] == 1 ? 300 : 1000;
	c->nonfinite = pick[F_NONFINITE] ? 50 : 0;
	c->noresult = pick[F_NORESULT] == 0 ? 0 : pick[F_NORESULT] == 1 ? 500 : 1000;
	if (pick[F_LANES]) {
		c->raw = true;
		c->exps = 0;
		c->laneop = GAGG_LANEOP(GAGG_LANE_S32, pick[F_LANES] - 1);
	}
	if (pick[F_NARROW] && !pick[F_LANES]) {
		c->laneop = GAGG_LANEOP(pick[F_NARROW] == 1 ? GAGG_LANE_S16 : GAGG_LANE_S8,
					GAGG_OP_ADD);
	}
	c->late = pick[F_LATE] ? 2 * GAGG_SEC : 0;
	c->think = pick[F_THINK] ? 5 * GAGG_MSEC : 0;
}

static void print_weather(const struct world_config *c)
{
	const struct world_outage *o = &c->outage;

	print_message("# outage %llu, %llu of %llu ns, hosts %llx ways %u; wire %llu queue %u poll %llu; burst %u to %u; swing %llu, %llu ns; straggle %u, %llu ns\n",
		      (ull)o->first, (ull)o->lasts, (ull)o->every, (ull)o->nodes, o->ways,
		      (ull)c->wire, c->queue, (ull)c->poll, c->burst, c->burst_ends, (ull)c->swing,
		      (ull)c->swing_every, c->straggle, (ull)c->straggle_by);
}

/*
 * Results came to nobody for longer than outages and trainers explain. Where all that is in flight
 * on a path is lost it waits for a timeout, of 500 ms in the end, as QUERY does. Two of those in a
 * row may get no answer; where much is lost, or a burst has to be outlasted by datagrams that are
 * that rare, more.
 */
static bool stalls(const struct world *w, const struct world_config *c)
{
	u64 vain = c->loss < 100 ? 2 : 4;

	if (c->burst)
		vain += 1000 / c->burst_ends;
	return world_stall(w) > c->late + c->outage.lasts + vain * GAGG_PATH_RTO_MAX;
}

/* @kinds: of weather, each; and some at once. @had: worlds that had some of each */
static void cover(u32 kinds, u32 had[WORLD_WEATHERS])
{
	struct world_config cfg;
	u32 n = 0, s, f, k;
	u8 pick[FACTORS];

	levels[F_WEATHER] = (u8)(kinds + 1);
	for (s = 0; s < seeds; s++) {
		u64 seed = first_seed + s;

		rng = seed << 32;
		dice = seed << 32;
		memset(covered, 0, sizeof(covered));
		while (next_pick(pick)) {
			struct world *w;

			config_of(pick, seed, &cfg);
			if (kinds)
				draw_weather(&cfg, pick[F_WEATHER] < WORLD_WEATHERS ? 1U << pick[F_WEATHER] :
					     (u32)draw(1, (1 << WORLD_WEATHERS) - 1));
			w = world_new(&cfg);
			n++;
			if (world_run(w) || stalls(w, &cfg)) {
				print_message("# seed %llu: %s; %llu ms without a result\n#",
					      (ull)seed, world_error(w),
					      (ull)world_stall(w) / GAGG_MSEC);
				for (f = 0; f < FACTORS; f++)
					print_message(" %u", pick[f]);
				print_message("\n");
				print_weather(&cfg);
				fail();
			}
			for (k = 0; k < kinds; k++)
				had[k] += !!world_befell(w, k);
			world_free(w);
		}
	}
	print_message("# %u worlds\n", n);
}

static void cover__any_two_settings_meet(void **state)
{
	(void)state;
	cover(0, NULL);
}

static void cover__any_two_settings_meet_in_any_weather(void **state)
{
	u32 had[WORLD_WEATHERS] = { }, k;

	(void)state;
	cover(WORLD_WEATHERS, had);
	/* some of those of a kind are over before it comes, or have one host */
	for (k = 0; k < WORLD_WEATHERS; k++)
		assert_in_range(had[k], seeds, 40 * seeds);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steady__nothing_is_said_twice),
		cmocka_unit_test(steady__many_ops_in_flight),
		cmocka_unit_test(steady__ranks_of_a_host_share_a_result),
		cmocka_unit_test(steady__largest_groups),
		cmocka_unit_test(int64__sums),
		cmocka_unit_test(narrow__sums),
		cmocka_unit_test(quorum__one_decision_for_all),
		cmocka_unit_test(steady__other_exponents_void_at_most_so_often),
		cmocka_unit_test(zeros__travel_as_runs),
		cmocka_unit_test(zeros__runs_behind_a_full_path),
		cmocka_unit_test(broadcast__moves_the_lanes_once_per_receiver),
		cmocka_unit_test(reduce_scatter__result_to_one),
		cmocka_unit_test(allgather__each_part_goes_up_once),
		cmocka_unit_test(scale__sixteen_mebi_lanes),
		cmocka_unit_test(late__no_storm),
		cmocka_unit_test(late__with_loss),
		cmocka_unit_test(late__on_one_channel_only),
		cmocka_unit_test(slow_trainers__are_polled),
		cmocka_unit_test(loss__costs_little),
		cmocka_unit_test(loss__large_windows),
		cmocka_unit_test(death__nothing_of_an_epoch_outlives_it),
		cmocka_unit_test(cover__any_two_settings_meet),
		cmocka_unit_test(cover__any_two_settings_meet_in_any_weather),
	};
	const char *seed = getenv("SEED");

	if (seed)
		first_seed = strtoull(seed, NULL, 0);
	full = argc == 3 && !strcmp(argv[1], "--seeds");
	if (full)
		seeds = (u32)strtoul(argv[2], NULL, 0);
	else
		full = full_asked(argc, argv);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
