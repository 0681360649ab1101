// SPDX-License-Identifier: GPL-2.0
/* links: kmod/core/group/roster.c sync kmod/core/group/param.c kmod/core/geom.c kmod/core/wire.c; libs: */
/* What the ranks of a group come to: hosts, workers, nodes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "group/addr.h"
#include "group/name.h"
#include "group/roster.h"
#include "wire.h"

#define BOTH	(GAGG_ROLE_WORKER | GAGG_ROLE_AGGREGATOR)

/* of host n; the last two differ in their last byte only */
static const u8 v4[4][4] = {
	{ 10, 0, 0, 1 }, { 10, 0, 0, 2 }, { 10, 0, 1, 7 }, { 10, 0, 1, 8 },
};
/* begins with the bytes of the first */
static const u8 v6[16] = { 10, 0, 0, 1 };

static struct gagg_roster r;
static struct gagg_sums sums;

static void begin(void)
{
	memset(&r, 0, sizeof(r));
}

static void enter(u32 rank, u32 host, u8 roles)
{
	gagg_roster_enter(&r, rank, roles, v4[host], 4);
}

static void check(u32 hosts, u32 workers, u32 apart, u32 most)
{
	gagg_roster_sums(&r, &sums);
	assert_int_equal(sums.hosts, hosts);
	assert_int_equal(sums.workers, workers);
	assert_int_equal(sums.apart, apart);
	assert_int_equal(sums.most, most);
}

static void sums__of_hosts(void **state)
{
	(void)state;
	begin();
	check(0, 0, 0, 0);
	enter(5, 0, BOTH);
	check(1, 1, 1, 1);
	enter(3, 1, GAGG_ROLE_AGGREGATOR);
	check(2, 1, 1, 1);
	/* two of one host, of which one trains; then both do */
	enter(0, 1, GAGG_ROLE_WORKER);
	check(2, 2, 2, 2);
	enter(63, 1, GAGG_ROLE_WORKER);
	check(2, 3, 2, 3);
	enter(40, 2, BOTH);
	enter(41, 3, BOTH);
	check(4, 5, 4, 3);
	/* a member that changes its roles is one rank */
	enter(63, 1, GAGG_ROLE_AGGREGATOR);
	check(4, 4, 4, 3);
}

/* addresses of two families are never one host's */
static void sums__of_families(void **state)
{
	(void)state;
	begin();
	enter(1, 0, BOTH);
	enter(2, 1, BOTH);
	check(2, 2, 2, 1);
	assert_int_equal(sums.odd, GAGG_RANKS);
	gagg_roster_enter(&r, 9, BOTH, v6, 16);
	check(3, 3, 3, 1);
	assert_int_equal(sums.odd, 9);
	/* this host's is what counts */
	r.local_len = 16;
	check(3, 3, 3, 1);
	assert_int_equal(sums.odd, 1);
}

/* an address that is missing is of any family, and of one host */
static void sums__without_addresses(void **state)
{
	(void)state;
	begin();
	gagg_roster_enter(&r, 0, BOTH, NULL, 0);
	gagg_roster_enter(&r, 1, BOTH, NULL, 0);
	enter(2, 0, BOTH);
	check(2, 3, 2, 2);
	gagg_roster_enter(&r, 3, BOTH, NULL, 0);
	check(2, 4, 2, 3);
	assert_int_equal(sums.odd, GAGG_RANKS);
	gagg_roster_enter(&r, 4, BOTH, v6, 16);
	check(3, 5, 3, 3);
	assert_int_equal(sums.odd, 4);
}

/* nodes are in the order of their lowest ranks, however the ranks were entered */
static void geom__numbers_nodes(void **state)
{
	const struct gagg_sync_param quorum = { .mode = GAGG_SYNC_BSP_QUORUM, .arg = { 2, 0 } };
	struct gagg_sync_param sync = { .mode = GAGG_SYNC_BSP };
	struct gagg_params v;
	struct gagg_geom g;

	(void)state;
	gagg_params_default(&v);
	begin();
	enter(9, 0, GAGG_ROLE_WORKER);
	enter(4, 2, GAGG_ROLE_AGGREGATOR);
	enter(2, 0, BOTH);
	enter(7, 2, GAGG_ROLE_WORKER);
	r.here = GAGG_BIT(7);
	gagg_roster_geom(&r, &v, &sync, &g);
	assert_int_equal(g.nodes, 2);
	assert_int_equal(g.ranks_of[0], GAGG_BIT(2) | GAGG_BIT(9));
	assert_int_equal(g.ranks_of[1], GAGG_BIT(4) | GAGG_BIT(7));
	assert_int_equal(g.node_of[9], 0);
	assert_int_equal(g.node_of[3], 0xff);
	assert_int_equal(g.workers, GAGG_BIT(2) | GAGG_BIT(7) | GAGG_BIT(9));
	assert_int_equal(g.aggregators, 3);
	assert_int_equal(g.self, 1);
	assert_int_equal(g.ring, v.ring);
	assert_false(g.heard_by_others);
	assert_false(g.v6);
	v.placement = GAGG_PLACE_ROOT;
	r.multicast = v4[3];
	r.multicast_len = 4;
	assert_false(g.quorum);
	gagg_roster_geom(&r, &v, &quorum, &g);
	assert_true(g.quorum);
	assert_int_equal(g.aggregators, 1);
	assert_true(g.heard_by_others);
	/* this host's address counts before those of ranks, which may lack */
	r.local_len = 16;
	gagg_roster_geom(&r, &v, &quorum, &g);
	assert_true(g.v6);
	r.local_len = 0;
	r.len[2] = 16;
	gagg_roster_geom(&r, &v, &quorum, &g);
	assert_true(g.v6);
	begin();
	gagg_roster_geom(&r, &v, &quorum, &g);
	assert_false(g.v6);
}

static void addr__of_a_host(void **state)
{
	static const u8 good[][GAGG_ADDR_V4] = {
		{ 10, 0, 0, 1 }, { 127, 0, 0, 1 }, { 223, 255, 255, 255 }, { 240, 0, 0, 1 },
		{ 255, 255, 255, 254 }, { 0, 0, 0, 1 },
	};
	static const u8 bad[][GAGG_ADDR_V4] = {
		{ 0 }, { 224, 0, 0, 1 }, { 239, 255, 255, 255 }, { 255, 255, 255, 255 },
	};
	static const u8 good6[][GAGG_ADDR_V6] = {
		{ [15] = 1 }, { 0xfd, [15] = 1 }, { 0xfe, 0x7f, 1 }, { 0xfe, 0xc0, 1 },
	};
	static const u8 bad6[][GAGG_ADDR_V6] = {
		{ 0 }, { 0xff, 0x15, [15] = 1 }, { 0xfe, 0x80, [15] = 1 }, { 0xfe, 0xbf, [15] = 1 },
	};
	u32 i;

	(void)state;
	for (i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		assert_true(gagg_addr_is_host(good[i], GAGG_ADDR_V4));
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_false(gagg_addr_is_host(bad[i], GAGG_ADDR_V4));
	for (i = 0; i < sizeof(good6) / sizeof(good6[0]); i++)
		assert_true(gagg_addr_is_host(good6[i], GAGG_ADDR_V6));
	for (i = 0; i < sizeof(bad6) / sizeof(bad6[0]); i++)
		assert_false(gagg_addr_is_host(bad6[i], GAGG_ADDR_V6));
}

static void name__is_a_word(void **state)
{
	(void)state;
	assert_true(gagg_name_fits("a", 2));
	assert_true(gagg_name_fits("azAZ09._-", 10));
	assert_false(gagg_name_fits("azAZ09._-", 9));
	assert_false(gagg_name_fits("", 2));
	assert_false(gagg_name_fits("a b", 32));
	assert_false(gagg_name_fits("a/b", 32));
	assert_false(gagg_name_fits("\xe4", 32));
	assert_false(gagg_name_fits("a\n", 32));
	/* neighbours of what it may have */
	assert_false(gagg_name_fits("@", 32) || gagg_name_fits("[", 32));
	assert_false(gagg_name_fits("`", 32) || gagg_name_fits("{", 32));
	assert_false(gagg_name_fits(",", 32) || gagg_name_fits(":", 32));
}

static void addr__of_multicast(void **state)
{
	(void)state;
	assert_true(gagg_addr_is_multicast((const u8[]){ 224, 0, 0, 1 }, GAGG_ADDR_V4));
	assert_true(gagg_addr_is_multicast((const u8[]){ 239, 1, 2, 3 }, GAGG_ADDR_V4));
	assert_false(gagg_addr_is_multicast((const u8[]){ 223, 1, 2, 3 }, GAGG_ADDR_V4));
	assert_false(gagg_addr_is_multicast((const u8[]){ 240, 1, 2, 3 }, GAGG_ADDR_V4));
	assert_true(gagg_addr_is_multicast((const u8[16]){ 0xff, 2 }, GAGG_ADDR_V6));
	assert_true(gagg_addr_is_multicast((const u8[16]){ 0xff, 0x15 }, GAGG_ADDR_V6));
	assert_false(gagg_addr_is_multicast((const u8[16]){ 0xff, 0x11 }, GAGG_ADDR_V6));
	assert_false(gagg_addr_is_multicast((const u8[16]){ 0xfe, 2 }, GAGG_ADDR_V6));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sums__of_hosts),
		cmocka_unit_test(sums__of_families),
		cmocka_unit_test(sums__without_addresses),
		cmocka_unit_test(geom__numbers_nodes),
		cmocka_unit_test(addr__of_a_host),
		cmocka_unit_test(addr__of_multicast),
		cmocka_unit_test(name__is_a_word),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
