// SPDX-License-Identifier: GPL-2.0
/* links: kmod/core/publish.c kmod/core/reduce.c kmod/core/chan.c kmod/core/geom.c kmod/core/wire.c kmod/core/shard.c kmod/core/home.c kmod/core/quorum.c kmod/core/worker.c kmod/core/path.c kmod/core/sync*.c kmod/core/clocks.c kmod/core/store.c kmod/core/store_worker.c; libs: */
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
	gagg_geom_rank(&g, 0, 0, GAGG_ROLE_WORKER | GAGG_ROLE_AGGREGATOR, 1, false);
	gagg_geom_rank(&g, 1, 0, GAGG_ROLE_WORKER, 1, false);
	mem = calloc(1, gagg_chan_bytes(&g, g.workers));
	assert_non_null(mem);
	return gagg_chan_init(mem, &g, 0, 0, g.workers);
}

static const s32 sum[LANES] = { 10, 20, 30, 40, 50 };
static const s32 first[LANES] = { 1, 2, 3, 4, 5 };
static const s32 second[LANES] = { -8, 6, 2, -2, 0 };

static void expect(const struct gagg_publish *pub, const s32 want[LANES])
{
	const void *const local[GAGG_LOCALS] = { first, second };
	struct gagg_chan *part = part_new();
	s32 result[LANES + 1];

	gagg_chan_pushed(part, SLOT, 0)->exp = 7;
	gagg_chan_pushed(part, SLOT, 1)->exp = 5;
	memset(result, 0x5a, sizeof(result));
	if (pub->placed)
		memcpy(result, sum, sizeof(sum));
	gagg_publish_lanes(pub, part, result,
			   pub->from_acc || pub->keep == GAGG_KEEP_TAKE ? sum : NULL, local,
			   gagg_reduce_chunk);
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
	/* a quorum: what is kept is taken as it is */
	pub.placed = 0;
	pub.keep = GAGG_KEEP_TAKE;
	expect(&pub, sum);
	pub.keep = GAGG_KEEP_STORE;
	expect(&pub, none);
}

static void test_desc(void **state)
{
	const struct gagg_publish pub = {
		.exp = 1, .want = 2, .flags = GAGG_C_NONFINITE, .contributors = 4, .nonfinite = 5,
		.counted = 6,
	};
	struct gagg_rdesc rd = { .published = 9 };

	(void)state;
	gagg_publish_desc(&pub, &rd);
	assert_int_equal(rd.published, 9);
	assert_int_equal(rd.exp, 1);
	assert_int_equal(rd.want, 2);
	assert_int_equal(rd.flags, GAGG_C_NONFINITE);
	assert_int_equal(rd.contributors, 4);
	assert_int_equal(rd.nonfinite, 5);
	assert_int_equal(rd.counted, 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lanes),
		cmocka_unit_test(test_desc),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
