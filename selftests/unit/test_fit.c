// SPDX-License-Identifier: GPL-2.0
/* links: kmod/core/group/fit.c kmod/core/group/roster.c kmod/core/group/param.c kmod/core/geom.c kmod/core/wire.c sync; libs: */
/*
 * What does not fit in a group, at the limit and beyond it; each alone, and all at once. Groups
 * beside each other, and why one gets no socket.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "group/fit.h"
#include "refusal.h"
#include "wire.h"
#include <linux/gagg_netlink.h>
#include "agent/conf/sync_text.h"

static const u8 host[3][4] = { { 10, 0, 0, 1 }, { 10, 0, 0, 2 }, { 239, 0, 0, 1 } };
static const u8 v6[16] = { 0xfd };

static struct gagg_params v;
static struct gagg_sync_param sync;
static struct gagg_roster r;

/* two hosts with a rank each, with all defaults */
static void begin(const char *mode)
{
	u32 i;

	gagg_params_default(&v);
	memset(&r, 0, sizeof(r));
	assert_true(sync_text_parse(mode, &sync, NULL, 0));
	for (i = 0; i < 2; i++)
		gagg_roster_enter(&r, i, GAGG_ROLE_WORKER | GAGG_ROLE_AGGREGATOR, host[i], 4);
	r.local_len = 4;
}

static void fits(void)
{
	struct gagg_fit f = { .v = &v, .sync = &sync, .roster = &r };
	struct gagg_misfit bad;

	if (gagg_fit_next(&f, &bad))
		fail_msg("%s", bad.why);
}

/* this does not fit, and all else does */
static void misfit(u32 attr, u32 kind, const char *words, u32 number)
{
	struct gagg_fit f = { .v = &v, .sync = &sync, .roster = &r };
	struct gagg_misfit bad;

	assert_true(gagg_fit_next(&f, &bad));
	assert_int_equal(bad.attr, attr);
	assert_int_equal(bad.kind, kind);
	assert_non_null(strstr(bad.why, words));
	assert_int_equal(!!bad.noun, number != 0);
	if (number)
		assert_int_equal(bad.number, number);
	assert_false(gagg_fit_next(&f, &bad));
}

static void numbers__fit_each_other(void **state)
{
	(void)state;
	begin("bsp");
	fits();
	v.ring = v.window * 3 + 64;
	misfit(GAGG_GA_RING, GAGG_MISFIT_RANGE, "multiple of window", v.window);
	begin("bsp");
	v.port = 65535;
	fits();
	v.shards = 2;
	misfit(GAGG_GA_PORT, GAGG_MISFIT_RANGE, "65536 minus shards", 65534);
	v.port = 65534;
	fits();
}

/* a group without workers is to have some later */
static void mode__fits_the_workers(void **state)
{
	u32 workers;

	(void)state;
	begin("bsp-quorum:2:0");
	assert_null(gagg_fit_workers(&sync, &r, &workers));
	assert_int_equal(workers, 2);
	begin("bsp-quorum:3:0");
	assert_non_null(strstr(gagg_fit_workers(&sync, &r, &workers), "must be at most"));
	assert_int_equal(workers, 2);
	begin("bsp-quorum:2:0");
	r.roles[0] = GAGG_ROLE_AGGREGATOR;
	assert_non_null(gagg_fit_workers(&sync, &r, &workers));
	assert_int_equal(workers, 1);
	r.roles[1] = GAGG_ROLE_AGGREGATOR;
	assert_null(gagg_fit_workers(&sync, &r, &workers));
	assert_int_equal(workers, 0);
}

/* room for two stripes of each host in each shard */
static void ring__has_room(void **state)
{
	(void)state;
	begin("bsp");
	v.window = 64;
	v.stripe = 8;
	v.shards = 6;
	v.ring = 192;
	fits();
	v.shards = 7;
	misfit(GAGG_GA_RING, GAGG_MISFIT_RANGE, "2 * stripe * shards", 224);
}

static void mode__limits_parameters(void **state)
{
	(void)state;
	begin("push-sum:1");
	fits();
	v.shards = 2;
	misfit(GAGG_GA_SHARDS, GAGG_MISFIT_BAD, "requires one shard", 0);
	begin("bsp");
	v.shards = 2;
	fits();
	v.lane_type = GAGG_LANE_TYPE_INT64;
	misfit(GAGG_GA_LANE_TYPE, GAGG_MISFIT_BAD, "mode with a store", 0);
	begin("ssp:1");
	v.lane_type = GAGG_LANE_TYPE_INT64;
	fits();
	v.lane_type = GAGG_LANE_TYPE_INT32;
	v.wire = GAGG_WIRE_INT8;
	misfit(GAGG_GA_WIRE, GAGG_MISFIT_BAD, "sums gradients in rounds", 0);
	v.wire = GAGG_WIRE_INT32;
	v.placement = GAGG_PLACE_TENSOR;
	misfit(GAGG_GA_PLACEMENT, GAGG_MISFIT_BAD, "mode without a store", 0);
	begin("bsp-quorum:1:0");
	v.wire = GAGG_WIRE_INT8;
	v.placement = GAGG_PLACE_TENSOR;
	fits();
}

static void multicast__of_rounds(void **state)
{
	(void)state;
	begin("bsp");
	r.multicast = host[2];
	r.multicast_len = 4;
	fits();
	r.multicast = v6;
	r.multicast_len = 16;
	misfit(GAGG_GA_MULTICAST, GAGG_MISFIT_FAMILY, "members' family", 0);
	/* this host's address is not known: it is the members' */
	r.local_len = 0;
	misfit(GAGG_GA_MULTICAST, GAGG_MISFIT_FAMILY, "members' family", 0);
	memset(&r, 0, sizeof(r));
	r.multicast = v6;
	r.multicast_len = 16;
	fits();
	begin("asp");
	r.multicast = host[2];
	r.multicast_len = 4;
	misfit(GAGG_GA_MULTICAST, GAGG_MISFIT_BAD, "without a store", 0);
}

static void members__on_hosts(void **state)
{
	u32 i;

	(void)state;
	begin("bsp");
	gagg_roster_enter(&r, 7, GAGG_ROLE_WORKER, v6, 16);
	misfit(GAGG_GA_MEMBERS, GAGG_MISFIT_FAMILY, "of one family", 7);
	begin("bsp");
	for (i = 2; i < 17; i++)
		gagg_roster_enter(&r, i, GAGG_ROLE_WORKER, host[1], 4);
	fits();
	/* wherever it is: that host would refuse the group */
	gagg_roster_enter(&r, i, GAGG_ROLE_WORKER, host[1], 4);
	misfit(GAGG_GA_MEMBERS, GAGG_MISFIT_MANY, "at most 16", 17);
	begin("ako:1:0");
	gagg_roster_enter(&r, 2, GAGG_ROLE_AGGREGATOR, host[1], 4);
	fits();
	gagg_roster_enter(&r, 2, GAGG_ROLE_WORKER, host[1], 4);
	misfit(GAGG_GA_SYNC, GAGG_MISFIT_BAD, "one worker each", 0);
}

/* no fault hides another */
static void all__are_told(void **state)
{
	struct gagg_fit f = { .v = &v, .sync = &sync, .roster = &r };
	struct gagg_misfit bad;
	u64 told = 0;

	(void)state;
	begin("push-sum:1");
	v.shards = 2;
	v.wire = GAGG_WIRE_INT16;
	v.port = 65535;
	gagg_roster_enter(&r, 2, GAGG_ROLE_WORKER, host[1], 4);
	while (gagg_fit_next(&f, &bad)) {
		assert_false(told & GAGG_BIT(bad.attr));
		told |= GAGG_BIT(bad.attr);
	}
	assert_true(told == (GAGG_BIT(GAGG_GA_SHARDS) | GAGG_BIT(GAGG_GA_WIRE) |
			     GAGG_BIT(GAGG_GA_PORT) | GAGG_BIT(GAGG_GA_SYNC)));
}

/* of a group with ports from @port on beside another with ports from @other on */
static enum gagg_beside beside(u32 port, u32 shards, u32 other, u32 other_shards)
{
	const struct gagg_params one = { .id = 1, .port = port, .shards = shards };
	const struct gagg_params two = { .id = 2, .port = other, .shards = other_shards };

	return gagg_fit_beside(&one, &two);
}

/* groups on one address have all ports in common, or none */
static void ports__of_two_groups(void **state)
{
	(void)state;
	assert_int_equal(beside(100, 4, 100, 4), GAGG_BESIDE_FITS);
	assert_int_equal(beside(100, 4, 104, 4), GAGG_BESIDE_FITS);
	assert_int_equal(beside(104, 4, 100, 4), GAGG_BESIDE_FITS);
	assert_int_equal(beside(100, 4, 103, 4), GAGG_BESIDE_PORTS);
	assert_int_equal(beside(103, 4, 100, 4), GAGG_BESIDE_PORTS);
	assert_int_equal(beside(100, 4, 100, 3), GAGG_BESIDE_PORTS);
	assert_int_equal(beside(100, 4, 102, 2), GAGG_BESIDE_PORTS);
	assert_int_equal(beside(101, 2, 100, 4), GAGG_BESIDE_PORTS);
	assert_int_equal(beside(65535, 1, 65534, 1), GAGG_BESIDE_FITS);
}

/* an id says which group of those with the same ports is meant, and nothing elsewhere */
static void id__of_two_groups(void **state)
{
	const struct gagg_params a = { .id = 7, .port = 100, .shards = 2 };
	struct gagg_params b = a;

	(void)state;
	assert_int_equal(gagg_fit_beside(&a, &b), GAGG_BESIDE_SAME_ID);
	b.port = 102;
	assert_int_equal(gagg_fit_beside(&a, &b), GAGG_BESIDE_FITS);
	b.port = 101;
	assert_int_equal(gagg_fit_beside(&a, &b), GAGG_BESIDE_PORTS);
}

static void beside__has_a_sentence(void **state)
{
	(void)state;
	assert_null(gagg_beside_wrong(GAGG_BESIDE_FITS));
	assert_non_null(strstr(gagg_beside_wrong(GAGG_BESIDE_PORTS), "another base port"));
	assert_non_null(strstr(gagg_beside_wrong(GAGG_BESIDE_SAME_ID), "the same id"));
}

static void socket__has_a_sentence(void **state)
{
	(void)state;
	assert_non_null(strstr(gagg_refused_socket(EADDRNOTAVAIL, false), "address of this host"));
	assert_non_null(strstr(gagg_refused_socket(EADDRINUSE, false), "another base port"));
	assert_non_null(strstr(gagg_refused_socket(EACCES, false), "CAP_NET_BIND_SERVICE"));
	assert_null(gagg_refused_socket(ENODEV, false));
	assert_null(gagg_refused_socket(ENOMEM, false));
	assert_non_null(strstr(gagg_refused_socket(ENODEV, true), "flag MULTICAST"));
	assert_non_null(strstr(gagg_refused_socket(EADDRINUSE, true), "or multicast address"));
	assert_null(gagg_refused_socket(EADDRNOTAVAIL, true));
	assert_null(gagg_refused_socket(EACCES, true));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers__fit_each_other),
		cmocka_unit_test(mode__fits_the_workers),
		cmocka_unit_test(ring__has_room),
		cmocka_unit_test(mode__limits_parameters),
		cmocka_unit_test(multicast__of_rounds),
		cmocka_unit_test(members__on_hosts),
		cmocka_unit_test(all__are_told),
		cmocka_unit_test(ports__of_two_groups),
		cmocka_unit_test(id__of_two_groups),
		cmocka_unit_test(beside__has_a_sentence),
		cmocka_unit_test(socket__has_a_sentence),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
