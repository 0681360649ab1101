// SPDX-License-Identifier: GPL-2.0
/* links: core kmod/core/path.c kmod/core/cwnd.c kmod/core/front.c kmod/core/ledger.c; libs: */
/*
 * The ops of a rank over three shards: which are refused and why, and that one is in all shards
 * or in none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "ledger.h"
#include "store/store.h"
#include "agent/conf/sync_text.h"

#define SHARDS	3
#define RANK	1	/* on node 1 */

static struct gagg_geom g;
static struct gagg_shard *sh;
static struct gagg_chan *part[SHARDS];
static struct gagg_ledger led;

static int finish(void **state)
{
	u32 s;

	(void)state;
	for (s = 0; s < SHARDS; s++) {
		free(part[s]);
		part[s] = NULL;
	}
	free(sh);
	sh = NULL;
	return 0;
}

/* three nodes with a rank each, all of them homes, of one epoch */
static void start(const char *sync)
{
	struct gagg_sync_param p;
	u32 r, s;

	finish(NULL);
	gagg_geom_init(&g);
	for (r = 0; r < 3; r++)
		gagg_geom_rank(&g, r, r, GAGG_ROLE_WORKER | GAGG_ROLE_AGGREGATOR, false);
	g.self = RANK;
	g.lanes = 4;
	g.room = 4;
	g.stripe = 1;
	g.shards = SHARDS;
	g.ring = 32;
	g.window = 8;
	g.cwnd = 64;
	assert_true(sync_text_parse(sync, &p, NULL, 0));
	gagg_sync_apply(&g, &p);
	sh = calloc(1, gagg_shard_bytes(&g));
	gagg_shard_init(sh, &g, 0);
	gagg_shard_start(sh, &g, 1, 2);
	for (s = 0; s < SHARDS; s++)
		part[s] = gagg_chan_init(calloc(1, gagg_chan_bytes(&g, 7)), &g, s, 5, 7);
	assert_true(gagg_ledger_init(&led, part[0], RANK));
}

static struct gagg_ioc_submit sum_of(u64 chunks)
{
	return (struct gagg_ioc_submit){
		.kind = GAGG_K_ALLREDUCE, .laneop = GAGG_LANEOP(GAGG_LANE_S32, GAGG_OP_ADD),
		.last_lanes = 4, .count = 4 * chunks, .chunks = chunks,
	};
}

static enum gagg_refusal submit(struct gagg_ioc_submit arg)
{
	return gagg_ledger_submit(sh, &g, part, &led, &arg);
}

/* every shard has as many ops as the ledger */
static void check_numbers(u64 ops)
{
	u32 s;

	assert_int_equal(led.submitted, ops);
	for (s = 0; s < SHARDS; s++)
		assert_int_equal(part[s]->local[led.local].numbers, ops);
}

static void check(struct gagg_ioc_submit arg, enum gagg_refusal no)
{
	assert_int_equal(gagg_ledger_check(&g, &arg), no);
	assert_int_equal(submit(arg), no);
}

static void submit__in_all_shards(void **state)
{
	(void)state;
	start("bsp");
	assert_int_equal(submit(sum_of(7)), GAGG_REFUSE_NOT);
	assert_int_equal(submit(sum_of(3)), GAGG_REFUSE_NOT);
	check_numbers(2);
	assert_int_equal(led.cursor, 10);
	assert_int_equal(part[2]->local[0].issued, 10);
	assert_int_equal(gagg_ledger_last(&led, part[1])->number, 2);
	assert_int_equal(gagg_ledger_last(&led, part[1])->start, 7);
}

static void submit__of_another_kind(void **state)
{
	struct gagg_ioc_submit update = { .kind = GAGG_K_UPDATE, .chunks = 1 };
	struct gagg_ioc_submit read = { .kind = GAGG_K_READ, .chunks = 1 };
	struct gagg_ioc_submit odd = sum_of(1);

	(void)state;
	start("bsp");
	check(update, GAGG_REFUSE_KIND);
	check(read, GAGG_REFUSE_KIND);
	odd.kind = GAGG_K_ALLREDUCE - 1;
	check(odd, GAGG_REFUSE_BAD);
	odd.kind = GAGG_K_READ + 1;
	check(odd, GAGG_REFUSE_BAD);
	odd = sum_of(1);
	odd.last_lanes = 5;
	check(odd, GAGG_REFUSE_BAD);
	check_numbers(0);
	start("ssp:2");
	check(sum_of(1), GAGG_REFUSE_KIND);
	odd.kind = GAGG_K_EXPONENTS;
	check(odd, GAGG_REFUSE_KIND);
	odd.kind = GAGG_K_ALLREDUCE - 1;
	check(odd, GAGG_REFUSE_BAD);
	read.chunks = 0;
	check(read, GAGG_REFUSE_BAD);
	check_numbers(0);
	check(update, GAGG_REFUSE_NOT);
	check_numbers(1);
	/* chunks of a store are no positions */
	assert_int_equal(led.cursor, 0);
}

static void submit__without_an_epoch(void **state)
{
	struct gagg_ioc_submit odd = { .kind = GAGG_K_UPDATE, .chunks = 1 };

	(void)state;
	start("bsp");
	assert_true(gagg_ledger_open(sh));
	gagg_shard_stop(sh);
	assert_false(gagg_ledger_open(sh));
	assert_int_equal(submit(sum_of(1)), GAGG_REFUSE_STOPPED);
	/* what may never be is said first */
	assert_int_equal(submit(odd), GAGG_REFUSE_KIND);
	check_numbers(0);
}

/* one shard that lags behind has no room: none of them takes it */
static void submit__without_room(void **state)
{
	u32 i, s;

	(void)state;
	for (s = 0; s < SHARDS; s++) {
		start("bsp");
		for (i = 0; i < GAGG_OPS; i++)
			assert_int_equal(submit(sum_of(1)), GAGG_REFUSE_NOT);
		for (i = 0; i < SHARDS; i++)
			part[i]->local[led.local].finished = i != s;
		assert_int_equal(submit(sum_of(1)), GAGG_REFUSE_FULL);
		check_numbers(GAGG_OPS);
		assert_int_equal(led.cursor, GAGG_OPS);
		part[s]->local[led.local].finished = 1;
		assert_int_equal(submit(sum_of(1)), GAGG_REFUSE_NOT);
		check_numbers(GAGG_OPS + 1);
	}
}

static void submit__beyond_the_rounds(void **state)
{
	u64 end;

	(void)state;
	start("bsp");
	end = (u64)g.ring * 0xfffffffe;
	assert_int_equal(submit(sum_of(end + 1)), GAGG_REFUSE_ROUNDS);
	assert_int_equal(submit(sum_of(end - 1)), GAGG_REFUSE_NOT);
	assert_int_equal(submit(sum_of(2)), GAGG_REFUSE_ROUNDS);
	check_numbers(1);
	assert_int_equal(submit(sum_of(1)), GAGG_REFUSE_NOT);
	check_numbers(2);
	/* a store has none */
	start("ssp:2");
	led.cursor = end;
	check((struct gagg_ioc_submit){ .kind = GAGG_K_READ, .chunks = 1 }, GAGG_REFUSE_NOT);
}

static void submit__of_a_store(void **state)
{
	struct gagg_ioc_submit last = {
		.kind = GAGG_K_UPDATE, .flags = GAGG_SUBMIT_LAST, .chunks = 1,
	};

	(void)state;
	start("ssp:2");
	assert_int_equal(submit(last), GAGG_REFUSE_NOT);
	/* no update comes after the last */
	assert_int_equal(submit(last), GAGG_REFUSE_BAD);
	check_numbers(1);
}

static void submit__of_a_copy(void **state)
{
	struct gagg_ioc_submit read = {
		.kind = GAGG_K_READ, .flags = GAGG_SUBMIT_PEER, .root = 3, .chunks = 1,
	};

	(void)state;
	start("gossip-pull:1");
	assert_int_equal(submit(read), GAGG_REFUSE_BAD);
	check_numbers(0);
	read.root = 2;
	assert_int_equal(submit(read), GAGG_REFUSE_NOT);
	check_numbers(1);
	assert_int_equal(gagg_ledger_last(&led, part[0])->copy, 2);
}

static void done__in_all_shards(void **state)
{
	(void)state;
	start("bsp");
	assert_false(gagg_ledger_busy(&led));
	submit(sum_of(1));
	submit(sum_of(1));
	assert_true(gagg_ledger_busy(&led));
	assert_int_equal(gagg_ledger_done(&led, SHARDS, 0, 2), 0);
	assert_int_equal(gagg_ledger_done(&led, SHARDS, 2, 1), 0);
	assert_int_equal(gagg_ledger_done(&led, SHARDS, 1, 2), 1);
	assert_int_equal(led.completed, 1);
	assert_true(gagg_ledger_busy(&led));
	assert_int_equal(gagg_ledger_done(&led, SHARDS, 2, 2), 1);
	assert_false(gagg_ledger_busy(&led));
}

static void channel__is_asked_for(void **state)
{
	(void)state;
	start("bsp");
	assert_int_equal(gagg_ledger_asks(&g, RANK, 1, 7), GAGG_REFUSE_NOT);
	assert_int_equal(gagg_ledger_asks(&g, RANK, 65535, 2), GAGG_REFUSE_NOT);
	assert_int_equal(gagg_ledger_asks(&g, RANK, 0, 7), GAGG_REFUSE_BAD);
	assert_int_equal(gagg_ledger_asks(&g, RANK, 65536, 7), GAGG_REFUSE_BAD);
	assert_int_equal(gagg_ledger_asks(&g, RANK, 1, 5), GAGG_REFUSE_BAD);
	assert_int_equal(gagg_ledger_asks(&g, RANK, 1, 15), GAGG_REFUSE_BAD);
}

static void channel__admits_once(void **state)
{
	struct gagg_ledger other;

	(void)state;
	start("bsp");
	assert_int_equal(gagg_ledger_admits(part[0], RANK, 7, false), GAGG_REFUSE_NOT);
	assert_int_equal(gagg_ledger_admits(part[0], RANK, 7, true), GAGG_REFUSE_AGAIN);
	assert_int_equal(gagg_ledger_admits(part[0], RANK, 6, false), GAGG_REFUSE_MEMBERS);
	/* a rank of another host */
	assert_int_equal(gagg_ledger_admits(part[0], 2, 7, false), GAGG_REFUSE_BAD);
	assert_false(gagg_ledger_init(&other, part[0], 2));
	submit(sum_of(1));
	assert_int_equal(gagg_ledger_admits(part[0], RANK, 7, false), GAGG_REFUSE_AGAIN);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(submit__in_all_shards, finish),
		cmocka_unit_test_teardown(submit__of_another_kind, finish),
		cmocka_unit_test_teardown(submit__without_an_epoch, finish),
		cmocka_unit_test_teardown(submit__without_room, finish),
		cmocka_unit_test_teardown(submit__beyond_the_rounds, finish),
		cmocka_unit_test_teardown(submit__of_a_store, finish),
		cmocka_unit_test_teardown(submit__of_a_copy, finish),
		cmocka_unit_test_teardown(done__in_all_shards, finish),
		cmocka_unit_test_teardown(channel__is_asked_for, finish),
		cmocka_unit_test_teardown(channel__admits_once, finish),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
