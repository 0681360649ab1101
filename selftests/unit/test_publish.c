// SPDX-License-Identifier: GPL-2.0
/* links: core kmod/core/path.c kmod/core/cwnd.c; libs: */
/* The lanes of a result, from each of the places where they may begin. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core.h"

#define LANES	5
#define SLOT	3

/* a host with ranks 0 and 1, in a group of its own */
static struct gagg_chan *part_new(void)
{
	struct gagg_geom g;
	void *mem;

	gagg_geom_init(&g);
	g.lanes = 8;
	g.stripe = 2;
	g.shards = 1;
	g.ring = 64;
	g.window = 64;
	gagg_geom_rank(&g, 0, 0, GAGG_ROLE_WORKER | GAGG_ROLE_AGGREGATOR, false);
	gagg_geom_rank(&g, 1, 0, GAGG_ROLE_WORKER, false);
	mem = calloc(1, gagg_chan_bytes(&g, g.workers));
	assert_non_null(mem);
	return gagg_chan_init(mem, &g, 0, 0, g.workers);
}

static s32 sum[LANES] = { 10, 20, 30, 40, 50 };
static const s32 first[LANES] = { 1, 2, 3, 4, 5 };
static const s32 second[LANES] = { -8, 6, 2, -2, 0 };

static void expect(const struct gagg_publish *pub, const s32 want[LANES])
{
	struct gagg_chan *part = part_new();
	s32 result[LANES + 1];
	const struct gagg_lanes lanes = {
		.result = result, .local = { first, second },
		.acc = pub->from_acc || pub->hold == GAGG_HOLD_TAKE ? sum : NULL,
	};

	gagg_chan_pushed(part, SLOT, 0)->exp = 7;
	gagg_chan_pushed(part, SLOT, 1)->exp = 5;
	memset(result, 0x5a, sizeof(result));
	if (pub->placed)
		memcpy(result, sum, sizeof(sum));
	gagg_publish_lanes(pub, part, &lanes, &gagg_loops);
	assert_memory_equal(result, want, LANES * sizeof(*want));
	assert_int_equal(result[LANES], 0x5a5a5a5a);
	free(part);
}

static void test_lanes(void **state)
{
	struct gagg_publish pub = { .slot = SLOT, .lanes = LANES, .exp = 7 };
	static const s32 none[LANES];

	(void)state;
	expect(&pub, none);
	pub.locals = 1;
	expect(&pub, first);
	/* the second has the smaller exponent: a quarter, to the nearest even */
	pub.locals = 2;
	expect(&pub, (const s32[]){ -2, 2, 0, 0, 0 });
	pub.locals = 3;
	expect(&pub, (const s32[]){ -1, 4, 3, 4, 5 });
	pub.raw = 1;
	expect(&pub, (const s32[]){ -7, 8, 5, 2, 5 });
	pub.placed = 1;
	expect(&pub, (const s32[]){ 3, 28, 35, 42, 55 });
	pub.placed = 0;
	pub.from_acc = 1;
	expect(&pub, (const s32[]){ 3, 28, 35, 42, 55 });
	pub.locals = 0;
	expect(&pub, sum);
	pub.placed = 1;
	pub.from_acc = 0;
	expect(&pub, sum);
	/* a quorum: what is held is taken as it is */
	pub.placed = 0;
	pub.hold = GAGG_HOLD_TAKE;
	expect(&pub, sum);
	pub.hold = GAGG_HOLD_PUT;
	expect(&pub, none);
}

/* narrow lanes are added as int32, and have the least shift that makes them fit */
static void test_narrow(void **state)
{
	static const s16 one[4] = { 32767, -32767, 3, 1 }, two[4] = { 32767, 2, 4, 1 };
	static const s8 bytes[4] = { 127, -127, 1, 0 };
	struct gagg_publish pub = {
		.slot = SLOT, .lanes = 2, .exp = 7, .locals = 3, .narrow = 1,
		.laneop = GAGG_LANEOP(GAGG_LANE_S16, GAGG_OP_ADD),
	};
	struct gagg_chan *part = part_new();
	s32 acc[4] = { 32767, 1, 0, 1 };
	struct gagg_rdesc rd = { 0 };
	struct gagg_msg m = { .chunk = SLOT, .aux = 3 };
	s16 result[4];
	s8 narrow[4];
	struct gagg_lanes lanes = { .result = result, .acc = acc, .local = { one, two } };

	(void)state;
	gagg_chan_pushed(part, SLOT, 0)->exp = 7;
	gagg_chan_pushed(part, SLOT, 1)->exp = 5;
	/* 32767 + rne(32767 / 4) = 40959, -32767 + rne(2 / 4), 3 + 1, 1 + rne(1 / 4) */
	gagg_publish_lanes(&pub, part, &lanes, &gagg_loops);
	assert_memory_equal(acc, ((s32[]){ 40959, -32767, 4, 1 }), sizeof(acc));
	assert_memory_equal(result, ((s16[]){ 20480, -16384, 2, 0 }), sizeof(result));
	gagg_publish_desc(&pub, part, &rd);
	assert_int_equal(rd.nonfinite, 1);
	assert_int_equal(rd.exp, 7);
	gagg_publish_shift(part, &m);
	assert_int_equal(m.aux, 1 << 16 | 3);
	/* on what others have sent; nothing is lost to a shift of none */
	pub.from_acc = 1;
	pub.locals = 2;
	memcpy(acc, (s32[]){ -8192, 7, 0, 1 }, sizeof(acc));
	gagg_publish_lanes(&pub, part, &lanes, &gagg_loops);
	assert_memory_equal(result, ((s16[]){ 0, 7, 1, 1 }), sizeof(result));
	gagg_publish_desc(&pub, part, &rd);
	assert_int_equal(rd.nonfinite, 0);
	pub.laneop = GAGG_LANEOP(GAGG_LANE_S8, GAGG_OP_ADD);
	pub.lanes = 1;
	pub.locals = 1;
	lanes.local[0] = bytes;
	lanes.result = narrow;
	memcpy(acc, (s32[]){ 127, -127, 0, 2 }, sizeof(acc));
	gagg_publish_lanes(&pub, part, &lanes, &gagg_loops);
	assert_memory_equal(narrow, ((s8[]){ 127, -127, 0, 1 }), sizeof(narrow));
	gagg_publish_desc(&pub, part, &rd);
	assert_int_equal(rd.nonfinite, 1);
	/* a quorum: what is held is narrow, and has the same shift */
	pub.hold = GAGG_HOLD_TAKE;
	pub.locals = 0;
	lanes.result = result;
	gagg_publish_lanes(&pub, part, &lanes, &gagg_loops);
	assert_memory_equal(result, acc, 4);
	rd.nonfinite = 9;
	gagg_publish_desc(&pub, part, &rd);
	assert_int_equal(rd.nonfinite, 1);
	free(part);
}

static void test_desc(void **state)
{
	struct gagg_publish pub = {
		.exp = 1, .want = 2, .flags = GAGG_C_NONFINITE, .contributors = 4, .nonfinite = 5,
		.shift = 7, .counted = 6,
	};
	struct gagg_rdesc rd = { .published = 9 };

	(void)state;
	gagg_publish_desc(&pub, NULL, &rd);
	assert_int_equal(rd.published, 9);
	assert_int_equal(rd.exp, 1);
	assert_int_equal(rd.want, 2);
	assert_int_equal(rd.flags, GAGG_C_NONFINITE);
	assert_int_equal(rd.contributors, 4);
	assert_int_equal(rd.nonfinite, 5);
	assert_int_equal(rd.counted, 6);
	/* narrowed elsewhere */
	pub.flags = 0;
	gagg_publish_desc(&pub, NULL, &rd);
	assert_int_equal(rd.nonfinite, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lanes),
		cmocka_unit_test(test_desc),
		cmocka_unit_test(test_narrow),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
