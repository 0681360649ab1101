// SPDX-License-Identifier: GPL-2.0
/* links: kmod/core/geom.c; libs: */
/* Next and first slot against a search that knows only home and shard. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "geom.h"

static u32 search(const struct gagg_geom *g, u32 homes, u32 home, u32 shard, u32 slot)
{
	for (; slot < g->ring; slot++)
		if (gagg_geom_home(g, homes, slot) == home &&
		    gagg_geom_shard(g, homes, slot) == shard)
			return slot;
	return g->ring;
}

/* The inline functions first, against a walk over stripes, rows and shards. */
static void test_layout(void **state)
{
	struct gagg_geom g = { 0 };
	u32 homes, slot;

	(void)state;
	for (homes = 1; homes <= 5; homes++)
		for (g.stripe = 1; g.stripe <= 5; g.stripe++)
			for (g.shards = 1; g.shards <= 4; g.shards++) {
				u32 in_stripe = 0, home = 0, shard = 0;

				for (slot = 0; slot < 250; slot++) {
					assert_int_equal(gagg_geom_home(&g, homes, slot), home);
					assert_int_equal(gagg_geom_shard(&g, homes, slot), shard);
					if (++in_stripe < g.stripe)
						continue;
					in_stripe = 0;
					if (++home < homes)
						continue;
					home = 0;
					shard = (shard + 1) % g.shards;
				}
			}
}

static void check_ring(const struct gagg_geom *g, u32 homes)
{
	u32 home, shard, slot;

	for (slot = 0; slot < g->ring; slot++)
		assert_int_equal(gagg_geom_next(g, homes, slot),
				 search(g, homes, gagg_geom_home(g, homes, slot),
					gagg_geom_shard(g, homes, slot), slot + 1));
	for (home = 0; home < homes; home++)
		for (shard = 0; shard < g->shards; shard++)
			for (slot = 0; slot <= g->ring + 1; slot++)
				assert_int_equal(gagg_geom_first(g, homes, home, shard, slot),
						 search(g, homes, home, shard, slot));
}

static void test_exhaustive(void **state)
{
	struct gagg_geom g = { 0 };
	u32 homes;

	(void)state;
	for (homes = 1; homes <= 4; homes++)
		for (g.stripe = 1; g.stripe <= 4; g.stripe++)
			for (g.shards = 1; g.shards <= 4; g.shards++)
				for (g.ring = 1; g.ring <= 70; g.ring++)
					check_ring(&g, homes);
}

/* every slot is on exactly one of the chains that start with first(0) */
static void test_chains(void **state)
{
	struct gagg_geom g = { .stripe = 16, .shards = 3, .ring = 4096 + 512 };
	static u8 seen[4096 + 512];
	u32 homes = 7, home, shard, slot, n = 0;

	(void)state;
	for (home = 0; home < homes; home++)
		for (shard = 0; shard < g.shards; shard++)
			for (slot = gagg_geom_first(&g, homes, home, shard, 0); slot < g.ring;
			     slot = gagg_geom_next(&g, homes, slot)) {
				assert_int_equal(seen[slot]++, 0);
				n++;
			}
	assert_int_equal(n, g.ring);
}

/* strides that do not fit into 32 bits, a ring that nearly fills them */
static void test_large(void **state)
{
	struct gagg_geom g = { .stripe = 65535, .shards = 65535, .ring = 0xffffffff };
	u32 width = 65535 * 64;

	(void)state;
	assert_int_equal(gagg_geom_next(&g, 64, 65533), 65534);
	assert_int_equal(gagg_geom_next(&g, 64, 65534), g.ring);
	assert_int_equal(gagg_geom_next(&g, 64, 0xfffffffe), g.ring);
	assert_int_equal(gagg_geom_first(&g, 64, 63, 1, 0), width + 63 * 65535);
	assert_int_equal(gagg_geom_first(&g, 64, 0, 65534, 0), g.ring);
	assert_int_equal(gagg_geom_first(&g, 64, 0, 0, 65535), g.ring);
	g.shards = 1;
	assert_int_equal(gagg_geom_next(&g, 64, 65534), width);
	assert_int_equal(gagg_geom_first(&g, 64, 0, 0, 0xffffffff / width * width),
			 0xffffffff / width * width);
	assert_int_equal(gagg_geom_first(&g, 64, 1, 0, 0xfffffffe), g.ring);
}

/* three hosts: ranks 0 and 2 on the first, 5 on the second, 7 only adds */
static void enter(struct gagg_geom *g, bool root)
{
	gagg_geom_init(g);
	assert_false(gagg_geom_complete(g));
	gagg_geom_rank(g, 0, 0, GAGG_ROLE_WORKER, root);
	gagg_geom_rank(g, 2, 0, GAGG_ROLE_WORKER | GAGG_ROLE_AGGREGATOR, root);
	gagg_geom_rank(g, 5, 1, GAGG_ROLE_WORKER, root);
	gagg_geom_rank(g, 7, 2, GAGG_ROLE_AGGREGATOR, root);
}

static void test_ranks(void **state)
{
	struct gagg_geom g;

	(void)state;
	enter(&g, false);
	assert_true(gagg_geom_complete(&g));
	assert_int_equal(g.nodes, 3);
	assert_int_equal(g.workers, 0x25);
	assert_int_equal(g.aggregators, 0x5);
	assert_int_equal(g.ranks_of[0], 0x5);
	assert_int_equal(g.ranks_of[2], 0x80);
	assert_int_equal(g.node_of[2], 0);
	assert_int_equal(g.node_of[5], 1);
	assert_int_equal(g.node_of[1], 0xff);
	enter(&g, true);
	assert_int_equal(g.aggregators, 0x1);
}

/* a result is sent once if all other nodes that train are two at least */
static void test_all(void **state)
{
	struct gagg_geom g;

	(void)state;
	enter(&g, false);
	g.heard_by_others = 1;
	g.self = 2;
	assert_true(gagg_geom_trains(&g, 0));
	assert_true(gagg_geom_trains(&g, 1));
	assert_false(gagg_geom_trains(&g, 2));
	assert_int_equal(gagg_geom_all(&g), 0x3);
	assert_false(gagg_geom_hears(&g));
	g.self = 0;
	assert_true(gagg_geom_hears(&g));
	assert_int_equal(gagg_geom_all(&g), 0);
	gagg_geom_rank(&g, 9, 3, GAGG_ROLE_WORKER, false);
	assert_int_equal(gagg_geom_all(&g), 0xa);
	g.heard_by_others = 0;
	assert_int_equal(gagg_geom_all(&g), 0);
	assert_false(gagg_geom_hears(&g));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ranks),
		cmocka_unit_test(test_all),
		cmocka_unit_test(test_layout),
		cmocka_unit_test(test_exhaustive),
		cmocka_unit_test(test_chains),
		cmocka_unit_test(test_large),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
