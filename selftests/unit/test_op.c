// SPDX-License-Identifier: GPL-2.0
/* links: core kmod/core/path.c kmod/core/cwnd.c kmod/core/front.c kmod/core/ledger.c kmod/core/group/times.c; libs: */
/*
 * An op of a rank over three shards: it begins and ends, and its times and the rounds are counted
 * under the locks that the host has for them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core.h"
#include "agent/conf/sync_text.h"

#define SHARDS	3
#define RANK	1	/* on node 1 */

struct gagg_host {
	struct gagg_times times;
};

#include "op.h"

static struct gagg_geom g;
static struct gagg_shard *sh;
static struct gagg_site site;
static struct gagg_ledger led;
static struct gagg_stats stats;
static struct gagg_host host;
static u64 now;
static char locks[64];
static bool alone;	/* there is no group */

static void lock(const char *what, u32 number)
{
	snprintf(locks + strlen(locks), sizeof(locks) - strlen(locks), "%s%u ", what, number);
}

static void locked(const char *expected)
{
	assert_string_equal(locks, expected);
	locks[0] = 0;
}

static struct gagg_times *op_times_lock(const struct gagg_host *h)
{
	assert_ptr_equal(h, &host);
	lock("times", 1);
	return &host.times;
}

static void op_times_unlock(const struct gagg_host *h)
{
	assert_ptr_equal(h, &host);
	lock("times", 0);
}

static u64 op_times_now(void)
{
	return now;
}

static const struct gagg_shard *op_shard(const struct gagg_host *h)
{
	assert_ptr_equal(h, &host);
	return sh;
}

static struct gagg_stats *op_stats(const struct gagg_host *h, u32 shard)
{
	assert_ptr_equal(h, &host);
	assert_in_range(shard, 0, SHARDS - 1);
	return &stats;
}

static void op_shard_lock(const struct gagg_host *h, u32 shard)
{
	assert_ptr_equal(h, &host);
	lock("lock", shard);
}

static void op_shard_unlock(const struct gagg_host *h, u32 shard)
{
	assert_ptr_equal(h, &host);
	lock("unlock", shard);
}

static enum gagg_refusal op_tell_epoch(const struct gagg_host *h, struct gagg_ioc_status *st)
{
	assert_ptr_equal(h, &host);
	if (alone)
		return GAGG_REFUSE_IDLE;
	assert_int_equal(st->attached, 0);
	st->epoch = 7;
	return GAGG_REFUSE_NOT;
}

static u64 op_missing(const struct gagg_host *h, u32 channel, u64 number)
{
	assert_ptr_equal(h, &host);
	return 100 * channel + number;
}

static int finish(void **state)
{
	u32 s;

	(void)state;
	for (s = 0; s < SHARDS; s++) {
		free(site.part[s]);
		site.part[s] = NULL;
	}
	free(sh);
	sh = NULL;
	return 0;
}

/* three nodes with a rank each, all of them homes, of one epoch */
static void start(void)
{
	struct gagg_sync_param p;
	u32 r, s;

	finish(NULL);
	memset(&stats, 0, sizeof(stats));
	memset(&host, 0, sizeof(host));
	locks[0] = 0;
	alone = false;
	gagg_geom_init(&g);
	for (r = 0; r < 3; r++)
		gagg_geom_rank(&g, r, r, GAGG_ROLE_WORKER | GAGG_ROLE_AGGREGATOR, false);
	g.self = RANK;
	g.lanes = 4;
	g.room = 4;
	g.stripe = 1;
	g.shards = SHARDS;
	g.ring = 36;
	g.window = 16;
	g.cwnd = 64;
	assert_true(sync_text_parse("bsp", &p, NULL, 0));
	gagg_sync_apply(&g, &p);
	sh = calloc(1, gagg_shard_bytes(&g));
	gagg_shard_init(sh, &g, 0);
	gagg_shard_start(sh, &g, 1, 2);
	for (s = 0; s < SHARDS; s++)
		site.part[s] = gagg_chan_init(calloc(1, gagg_chan_bytes(&g, 7)), &g, s, 5, 7);
	site.nparts = SHARDS;
	assert_true(gagg_ledger_init(&led, site.part[0], RANK));
}

static enum gagg_refusal op(u64 chunks)
{
	const struct gagg_ioc_submit arg = {
		.kind = GAGG_K_ALLREDUCE, .laneop = GAGG_LANEOP(GAGG_LANE_S32, GAGG_OP_ADD),
		.last_lanes = 4, .count = 4 * chunks, .chunks = chunks,
	};

	return gagg_op_begin(&host, &g, &site, &led, &arg);
}

static void begin__counts(void **state)
{
	(void)state;
	start();
	now = 100;
	assert_int_equal(op(3), GAGG_REFUSE_NOT);
	locked("times1 times0 ");
	assert_int_equal(led.submitted, 1);
	assert_int_equal(host.times.flying, 1);
	assert_int_equal(host.times.since, 100);
}

static void begin__refused(void **state)
{
	(void)state;
	start();
	gagg_shard_stop(sh);
	assert_int_equal(op(3), GAGG_REFUSE_STOPPED);
	locked("");
	assert_int_equal(led.submitted, 0);
	assert_false(host.times.begun);
}

/* only the last shard ends it */
static void end__in_all_shards(void **state)
{
	(void)state;
	start();
	now = 100;
	op(3);
	op(3);
	locked("times1 times0 times1 times0 ");
	now = 130;
	assert_int_equal(gagg_op_end(&host, &site, &led, 2, 2), 0);
	assert_int_equal(gagg_op_end(&host, &site, &led, 0, 2), 0);
	locked("");
	assert_int_equal(stats.rounds, 0);
	assert_int_equal(host.times.flying, 2);
	assert_int_equal(gagg_op_end(&host, &site, &led, 1, 1), 1);
	assert_int_equal(gagg_op_end(&host, &site, &led, 1, 2), 1);
	locked("times1 times0 times1 times0 ");
	assert_int_equal(stats.rounds, 2);
	assert_int_equal(host.times.flying, 0);
	assert_int_equal(host.times.ops, 2);
	assert_int_equal(host.times.wait, 30);
}

/* three chunks are a row, and the rows are of the shards in turn */
static void waits_for__in_any_shard(void **state)
{
	(void)state;
	start();
	op(3);
	op(3);
	op(3);
	locked("times1 times0 times1 times0 times1 times0 ");
	assert_int_equal(gagg_op_waits_for(&host, &g, &site, &led, 1), 7);
	locked("lock0 unlock0 lock1 unlock1 lock2 unlock2 ");
	assert_int_equal(gagg_op_waits_for(&host, &g, &site, &led, 3), 7);
	assert_int_equal(gagg_op_waits_for(&host, &g, &site, &led, 4), 0);
}

static void tell_times__of_now(void **state)
{
	struct gagg_ioc_times arg = { .flags = GAGG_TIMES_SHARE, .share = 3, .batch = 8 };

	(void)state;
	start();
	now = 100;
	op(3);
	locked("times1 times0 ");
	now = 170;
	assert_int_equal(gagg_op_tell_times(&host, GAGG_S_RUNNING, &arg), GAGG_REFUSE_NOT);
	locked("times1 times0 ");
	assert_int_equal(arg.wait_ns, 70);
	assert_int_equal(host.times.share, 3);
}

/* before the first op, and after the epoch, but not before a rank has attached */
static void tell_times__if_attached(void **state)
{
	struct gagg_ioc_times arg = { .flags = GAGG_TIMES_SHARE, .share = 3, .batch = 8 };

	(void)state;
	start();
	assert_int_equal(gagg_op_tell_times(&host, GAGG_S_BOUND, &arg), GAGG_REFUSE_IDLE);
	locked("");
	assert_int_equal(host.times.batch, 0);
	assert_int_equal(gagg_op_tell_times(&host, GAGG_S_ATTACHED, &arg), GAGG_REFUSE_NOT);
	assert_int_equal(gagg_op_tell_times(&host, GAGG_S_ENDED, &arg), GAGG_REFUSE_NOT);
	locked("times1 times0 times1 times0 ");
}

static void times__of_an_epoch(void **state)
{
	(void)state;
	start();
	now = 100;
	op(3);
	now = 150;
	locked("times1 times0 ");
	gagg_op_stop_times(&host);
	locked("times1 times0 ");
	assert_int_equal(host.times.wait, 50);
	assert_false(host.times.begun);
	gagg_op_reset_times(&host);
	locked("times1 times0 ");
	assert_int_equal(host.times.wait, 0);
	assert_int_equal(host.times.since, 0);
}

static void tell_status__of_an_op(void **state)
{
	struct gagg_ioc_status arg = { .size = 99, .channel = 3, .op = 5, .attached = 1 };

	(void)state;
	start();
	assert_int_equal(gagg_op_tell_status(&host, &arg), GAGG_REFUSE_NOT);
	assert_int_equal(arg.size, 99);
	assert_int_equal(arg.channel, 3);
	assert_int_equal(arg.op, 5);
	assert_int_equal(arg.missing, 305);
	assert_int_equal(arg.epoch, 7);
	assert_int_equal(arg.attached, 0);
}

static void tell_status__of_no_op(void **state)
{
	struct gagg_ioc_status arg = { .channel = 3, .missing = 6 };

	(void)state;
	start();
	assert_int_equal(gagg_op_tell_status(&host, &arg), GAGG_REFUSE_NOT);
	assert_int_equal(arg.missing, 0);
	assert_int_equal(arg.epoch, 7);
}

static void tell_status__without_a_group(void **state)
{
	struct gagg_ioc_status arg = { .channel = 3, .op = 5, .missing = 6 };

	(void)state;
	start();
	alone = true;
	assert_int_equal(gagg_op_tell_status(&host, &arg), GAGG_REFUSE_IDLE);
	assert_int_equal(arg.missing, 6);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(begin__counts, finish),
		cmocka_unit_test_teardown(begin__refused, finish),
		cmocka_unit_test_teardown(end__in_all_shards, finish),
		cmocka_unit_test_teardown(waits_for__in_any_shard, finish),
		cmocka_unit_test_teardown(tell_times__of_now, finish),
		cmocka_unit_test_teardown(tell_times__if_attached, finish),
		cmocka_unit_test_teardown(times__of_an_epoch, finish),
		cmocka_unit_test_teardown(tell_status__of_an_op, finish),
		cmocka_unit_test_teardown(tell_status__of_no_op, finish),
		cmocka_unit_test_teardown(tell_status__without_a_group, finish),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
