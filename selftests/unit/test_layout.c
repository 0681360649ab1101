// SPDX-License-Identifier: GPL-2.0
/* links: core kmod/core/path.c kmod/core/cwnd.c kmod/core/layout.c; libs: */
/* The memory of a channel: what there is, where chunks lie in it, what trainers are told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "layout.h"
#include "agent/conf/sync_text.h"

static struct gagg_geom g;
static struct gagg_layout l;

/* three hosts with a rank each, all of them workers and homes */
static void geometry(const char *sync)
{
	struct gagg_sync_param p;
	u32 r;

	gagg_geom_init(&g);
	for (r = 0; r < 3; r++)
		gagg_geom_rank(&g, r, r, GAGG_ROLE_WORKER | GAGG_ROLE_AGGREGATOR, false);
	g.room = 360;
	g.lanes = 320;
	g.stripe = 4;
	g.shards = 2;
	g.ring = 1000;
	g.window = 64;
	assert_true(sync_text_parse(sync, &p, NULL, 0));
	gagg_sync_apply(&g, &p);
}

static struct gagg_chan *channel(u16 id, u64 members)
{
	void *mem = calloc(1, gagg_chan_bytes(&g, members));

	assert_non_null(mem);
	return gagg_chan_init(mem, &g, 0, id, members);
}

static void lay_out(u16 id, u64 members)
{
	struct gagg_chan *ch = channel(id, members);

	gagg_layout_of(&g, ch, &l);
	free(ch);
}

static u64 byte_of(struct gagg_place p)
{
	return (u64)p.block * GAGG_BLOCK + p.at;
}

/* it is in one block, and behind the one before it */
static void check_place(struct gagg_place p, u64 *end, u32 size)
{
	assert_true(byte_of(p) >= *end);
	assert_true(p.at + size <= GAGG_BLOCK);
	*end = byte_of(p) + size;
}

/* the last one is in the last block */
static void check_end(u64 end, u64 bytes)
{
	assert_true(end <= bytes);
	assert_true(bytes - end < GAGG_BLOCK);
	assert_int_equal(bytes % GAGG_BLOCK, 0);
}

static void check_places(void)
{
	u32 i, s, size = (u32)g.room * 4 << g.wire;	/* sums are int32 */
	u64 end = 0;

	lay_out(0, g.workers);
	for (i = 0; i < g.ring; i++)
		check_place(gagg_chunk_place(&g, gagg_per_block(&g), i), &end, g.room * 4);
	check_end(end, l.result);
	assert_int_equal(l.contrib, l.result);
	end = 0;
	for (s = 0; s < g.shards; s++)
		for (i = 0; i < g.window; i++)
			check_place(gagg_acc_place(&g, s, i), &end, size);
	check_end(end, l.acc);
}

static void places__are_apart(void **state)
{
	static const u16 rooms[] = { 1, 8, 360, 2048, 2240 };
	u32 i;
	u8 wire;

	(void)state;
	for (i = 0; i < sizeof(rooms) / sizeof(rooms[0]); i++)
		for (wire = 0; wire <= GAGG_WIRE_INT8; wire++) {
			geometry("bsp");
			g.room = rooms[i];
			g.wire = wire;
			check_places();
			g.ring = 4096;
			g.shards = 16;
			check_places();
		}
}

/* as trainers find a chunk, by what they are told */
static void places__as_told(void **state)
{
	struct gagg_geometry geo;
	struct gagg_chan *ch;
	u32 i;

	(void)state;
	geometry("bsp");
	ch = channel(0, g.workers);
	gagg_layout_tell(&g, ch, 0, 0, &geo);
	for (i = 0; i < g.ring; i++)
		assert_int_equal(byte_of(gagg_chunk_place(&g, gagg_per_block(&g), i)),
				 i / geo.per_block * geo.block + i % geo.per_block * geo.stride);
	free(ch);
}

static void memory__of_rounds(void **state)
{
	(void)state;
	geometry("bsp");
	lay_out(0, g.workers);
	assert_int_equal(l.done, GAGG_DESC_OFFSET + 1000 * sizeof(struct gagg_rdesc));
	assert_int_equal(l.push, GAGG_DESC_OFFSET + 1000 * sizeof(struct gagg_cdesc));
	assert_int_equal(l.held, 0);
	assert_int_equal(l.copy, 0);
	assert_true(l.acc);
	/* a host that is no home adds nothing */
	g.aggregators = 6;
	lay_out(0, g.workers);
	assert_int_equal(l.acc, 0);
}

static void memory__of_a_quorum(void **state)
{
	(void)state;
	geometry("bsp-quorum:2:0");
	lay_out(0, g.workers);
	assert_int_equal(l.held, l.result);
	assert_true(l.acc);
	g.aggregators = 6;
	lay_out(0, g.workers);
	assert_int_equal(l.held, 0);
}

static void memory__of_a_store(void **state)
{
	(void)state;
	geometry("ssp:2");
	g.snapshot = 0;
	lay_out(0, g.workers);
	assert_int_equal(l.acc, 0);
	assert_int_equal(l.held, 0);
	assert_int_equal(gagg_copy_fresh(&g), l.contrib);
	assert_int_equal(l.copy, l.contrib + 1000 * sizeof(u32));
	g.snapshot = 1;
	lay_out(0, g.workers);
	assert_int_equal(l.acc, l.result);
	g.aggregators = 6;
	lay_out(0, g.workers);
	assert_int_equal(l.acc, 0);
}

static void told__of_a_channel(void **state)
{
	struct gagg_geometry geo;
	struct gagg_chan *ch;
	u32 i;

	(void)state;
	geometry("bsp");
	g.self = 2;
	ch = channel(7, 6);
	memset(&geo, 0xff, sizeof(geo));
	gagg_layout_tell(&g, ch, 5, 2, &geo);
	free(ch);
	assert_int_equal(geo.channel, 7);
	assert_int_equal(geo.rank, 2);
	assert_int_equal(geo.members, 6);
	assert_int_equal(geo.epoch, 0);
	assert_int_equal(geo.ring, 1000);
	assert_int_equal(geo.window, 64);
	assert_int_equal(geo.lanes, 320);
	assert_int_equal(geo.stride, 1440);
	assert_int_equal(geo.per_block, GAGG_BLOCK / 1440);
	assert_int_equal(geo.block, GAGG_BLOCK);
	assert_int_equal(geo.flags, 0);
	assert_int_equal(geo.bound, 0);
	assert_int_equal(geo.fresh, 0);
	assert_int_equal(geo.local, 0);
	assert_int_equal(geo.homes, 1);
	for (i = 0; i < GAGG_REG_COUNT; i++) {
		assert_int_equal(geo.region[i].offset, gagg_region_offset(5, i));
		assert_int_equal(geo.region[i].length, 0);
	}
}

/* @local: index of rank 1 among those of its host */
static void check_told(u32 flags, u32 bound, u32 local)
{
	struct gagg_chan *ch = channel(0, g.workers);
	struct gagg_geometry geo;

	gagg_layout_tell(&g, ch, 0, 1, &geo);
	free(ch);
	assert_int_equal(geo.flags, flags);
	assert_int_equal(geo.bound, bound);
	assert_int_equal(geo.fresh, g.store ? gagg_copy_fresh(&g) : 0);
	assert_int_equal(geo.local, local);
}

static void told__of_lanes(void **state)
{
	(void)state;
	geometry("bsp");
	g.self = 1;
	g.wire = GAGG_WIRE_INT16;
	check_told(GAGG_GEO_INT16, 0, 0);
	g.wire = GAGG_WIRE_INT8;
	check_told(GAGG_GEO_INT8, 0, 0);
	geometry("ssp:2");
	g.self = 1;
	check_told(GAGG_GEO_STORE, 2, 0);
	g.wide = 1;
	check_told(GAGG_GEO_STORE | GAGG_GEO_INT64, 2, 0);
	geometry("asp");
	g.self = 1;
	check_told(GAGG_GEO_STORE, ~0U, 0);
	geometry("gossip-pull:1");
	g.self = 1;
	assert_true(g.copies);
	check_told(GAGG_GEO_STORE | GAGG_GEO_COPIES, gagg_sync_bound(&g.sync), 0);
	geometry("bsp");
	g.ranks_of[0] = 3;
	g.node_of[1] = 0;
	check_told(0, 0, 1);
}

static void region__by_its_offset(void **state)
{
	u32 index, region, c, r;

	(void)state;
	for (c = 0; c < GAGG_CHANNELS_MAX; c++)
		for (r = 0; r < GAGG_REG_COUNT; r++) {
			u64 at = gagg_region_offset(c, r);

			assert_true(gagg_region_of(at, &index, &region));
			assert_int_equal(index, c);
			assert_int_equal(region, r);
			assert_false(gagg_region_of(at + 1, &index, &region));
			assert_false(gagg_region_of(at + (1ULL << 35), &index, &region));
		}
	assert_false(gagg_region_of(gagg_region_offset(GAGG_CHANNELS_MAX, 0), &index, &region));
	assert_false(gagg_region_of(0xffffffffULL << 36, &index, &region));
}

/* a rank with a copy of a store maps that, and no chunks; no other region changes */
static void regions__that_are_mapped(void **state)
{
	int copy;

	(void)state;
	for (copy = 0; copy < 2; copy++) {
		assert_int_equal(gagg_region_maps(GAGG_REG_PUSH, copy), GAGG_MAPPED_PUSH);
		assert_int_equal(gagg_region_maps(GAGG_REG_CONTRIB, copy), GAGG_MAPPED_CONTRIB);
		assert_int_equal(gagg_region_maps(GAGG_REG_DONE, copy), GAGG_MAPPED_DONE);
	}
	assert_int_equal(gagg_region_maps(GAGG_REG_RESULT, false), GAGG_MAPPED_RESULT);
	assert_int_equal(gagg_region_maps(GAGG_REG_RESULT, true), GAGG_MAPPED_COPY);
	assert_true(gagg_region_is_theirs(GAGG_REG_PUSH));
	assert_true(gagg_region_is_theirs(GAGG_REG_CONTRIB));
	assert_false(gagg_region_is_theirs(GAGG_REG_DONE));
	assert_false(gagg_region_is_theirs(GAGG_REG_RESULT));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places__are_apart),
		cmocka_unit_test(places__as_told),
		cmocka_unit_test(memory__of_rounds),
		cmocka_unit_test(memory__of_a_quorum),
		cmocka_unit_test(memory__of_a_store),
		cmocka_unit_test(told__of_a_channel),
		cmocka_unit_test(told__of_lanes),
		cmocka_unit_test(region__by_its_offset),
		cmocka_unit_test(regions__that_are_mapped),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
