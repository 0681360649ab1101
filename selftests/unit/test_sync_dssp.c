// SPDX-License-Identifier: GPL-2.0
/* links: sync kmod/core/wire.c; libs: */
/*
 * dssp and dssp-literal: the controller against a search of all pairs, the
 * policy with workers of given speeds, some of which finish, driven as a simulator
 * would.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "sync/internal.h"
#include "agent/conf/sync_text.h"

static u64 seed;

static u32 rnd(u32 below)
{
	seed += 0x9e3779b97f4a7c15ULL;
	return (u32)(gagg_mix64(seed, 7) % below);
}

/* by the letter of the paper */
static u32 search(const u64 fast[2], const u64 slow[2], u32 most)
{
	u64 best = GAGG_NEVER;
	u32 r, k, ahead = 0;

	for (r = 0; r <= most; r++)
		for (k = 0; k <= most; k++) {
			u64 a = fast[0] + r * (fast[0] - fast[1]);
			u64 b = slow[0] + (k + 1) * (slow[0] - slow[1]);
			u64 d = a < b ? b - a : a - b;

			if (d < best) {
				best = d;
				ahead = r;
			}
		}
	return ahead;
}

static void controller__is_the_search(void **state)
{
	u32 i;

	(void)state;
	for (i = 0, seed = 1; i < 100000; i++) {
		u64 now = GAGG_SEC + rnd(1000), fast[2], slow[2];
		/* few values, so that there are ties */
		u32 scale = 1 + rnd(i % 2 ? 1000 : 8);

		fast[0] = now;
		fast[1] = now - rnd(scale);
		slow[0] = now - rnd(4 * scale);
		slow[1] = slow[0] - rnd(4 * scale);
		assert_int_equal(gagg_dssp_ahead(fast, slow, i % 20),
				 search(fast, slow, i % 20));
	}
}

/* --- workers that compute for a given time a clock, then read ---------------- */
#define WORKERS 8

struct worker {
	u64 pace;	/* ns for a clock */
	u64 busy;	/* until; GAGG_NEVER: it waits to read */
	u32 goal;	/* clocks, after which it finishes; 0: it does not */
};

static struct gagg_sync_param param;
static const struct gagg_sync_ops *ops;
static union gagg_sync_state sync;
static struct gagg_clocks clocks;
static struct worker worker[WORKERS];
static u32 nworkers, jitter;
static u64 now;
static u32 largest;		/* lead of one that reads */
static u64 told;		/* digest of which worker was released when */

static bool may_read(u32 r)
{
	return ops->may_read(&param, &sync, &clocks, r, clocks.clock[r]);
}

static bool has_finished(u32 r)
{
	return clocks.clock[r] == GAGG_CLOCK_END;
}

static void release(void)
{
	u32 r, lead;

	for (r = 0; r < nworkers; r++) {
		if (worker[r].busy != GAGG_NEVER || has_finished(r) || !may_read(r))
			continue;
		lead = clocks.clock[r] - clocks.min;
		largest = lead > largest ? lead : largest;
		told = gagg_mix64(told ^ now, r);
		worker[r].busy = now + worker[r].pace +
				 (jitter ? rnd((u32)(worker[r].pace / 100 * jitter)) : 0);
	}
	/* somebody always goes on */
	for (r = 0; r < nworkers; r++)
		if (clocks.clock[r] == clocks.min)
			assert_true(may_read(r));
}

/* clocks of all together in @time */
static u64 drive(const char *mode, u64 time)
{
	u64 sum = 0;
	u32 r, first;

	assert_true(sync_text_parse(mode, &param, NULL, 0));
	ops = gagg_sync_get(param.mode);
	memset(&sync, 0, sizeof(sync));
	gagg_clocks_init(&clocks, &(u64){ GAGG_BIT(nworkers) - 1 });
	now = GAGG_SEC;
	largest = 0;
	told = 0;
	seed = 42;
	for (r = 0; r < nworkers; r++)
		worker[r].busy = GAGG_NEVER;
	release();
	for (;;) {
		for (first = 0, r = 1; r < nworkers; r++)
			if (worker[r].busy < worker[first].busy)
				first = r;
		now = worker[first].busy;
		/* nobody computes: all have finished */
		if (now == GAGG_NEVER)
			assert_int_equal(clocks.min, GAGG_CLOCK_END);
		if (now > GAGG_SEC + time)
			break;
		worker[first].busy = GAGG_NEVER;
		sum++;
		gagg_clocks_tick(&clocks, first, clocks.clock[first] + 1 == worker[first].goal ?
				 GAGG_CLOCK_END : clocks.clock[first] + 1);
		if (ops->on_tick)
			ops->on_tick(&param, &sync, &clocks, first, now);
		release();
	}
	return sum;
}

/* two workers, 1 : 2.8: where the paper's figure comes from */
static void two_workers(void)
{
	nworkers = 2;
	jitter = 0;
	worker[0] = (struct worker){ .pace = 1000 * GAGG_USEC };
	worker[1] = (struct worker){ .pace = 2800 * GAGG_USEC };
}

/* any number of any speed, half of the times some of them finish early */
static void some_workers(void)
{
	u32 early = rnd(2), r;

	nworkers = 2 + rnd(WORKERS - 1);
	for (r = 0; r < nworkers; r++) {
		worker[r].pace = (100 + rnd(900)) * GAGG_USEC;
		worker[r].goal = early * rnd(2) * (1 + rnd(200));
	}
	jitter = rnd(100);
}

static void dssp__keeps_its_upper_bound(void **state)
{
	u32 i;

	(void)state;
	two_workers();
	drive("dssp:3:15", 10 * GAGG_SEC);
	assert_in_range(largest, 4, 15);
	for (i = 0; i < 400; i++) {
		char mode[] = "dssp:3:8";

		seed = i;
		some_workers();
		mode[5] = (char)('0' + rnd(6));
		mode[7] = (char)(mode[5] + rnd(4));
		drive(mode, GAGG_SEC / 5);
		assert_true(largest <= (u32)(mode[7] - '0'));
	}
}

static void dssp_literal__has_no_upper_bound(void **state)
{
	u64 asp;

	(void)state;
	two_workers();
	drive("dssp-literal:3:15", 20 * GAGG_SEC);
	assert_true(largest > 1000);
	/* and so it is as fast as a mode that has none */
	asp = drive("asp", 20 * GAGG_SEC);
	assert_in_range(drive("dssp-literal:3:15", 20 * GAGG_SEC), asp - asp / 100, asp);
}

static void dssp__gains_nothing_from_one_that_is_always_slow(void **state)
{
	u64 ssp;

	(void)state;
	two_workers();
	ssp = drive("ssp:3", 20 * GAGG_SEC);
	assert_in_range(drive("dssp:3:15", 20 * GAGG_SEC), ssp, ssp + ssp / 100);
}

static void equal_bounds__are_ssp(void **state)
{
	u64 digest;
	u32 i;

	(void)state;
	for (i = 0; i < 100; i++) {
		char mode[] = "dssp:3:3", literal[] = "dssp-literal:3:3", ssp[] = "ssp:3";

		seed = i;
		some_workers();
		ssp[4] = (char)('0' + i % 7);
		mode[5] = ssp[4];
		mode[7] = ssp[4];
		literal[13] = ssp[4];
		literal[15] = ssp[4];
		drive(ssp, GAGG_SEC / 5);
		digest = told;
		drive(mode, GAGG_SEC / 5);
		assert_true(told == digest);
		drive(literal, GAGG_SEC / 5);
		assert_true(told == digest);
	}
}

static void push(u32 r, u64 at)
{
	gagg_clocks_tick(&clocks, r, clocks.clock[r] + 1);
	ops->on_tick(&param, &sync, &clocks, r, at);
}

/* three workers that have pushed nothing */
static void begin_three(const char *mode)
{
	assert_true(sync_text_parse(mode, &param, NULL, 0));
	ops = gagg_sync_get(param.mode);
	memset(&sync, 0, sizeof(sync));
	gagg_clocks_init(&clocks, &(u64){ 7 });
}

/* a worker that has finished is neither the slowest nor the fastest, and has not pushed */
static void the_end__is_not_a_push(void **state)
{
	u32 c;

	(void)state;
	begin_three("dssp:1:5");
	for (c = 1; c <= 2; c++)
		push(1, c * 10 * GAGG_MSEC);
	gagg_clocks_tick(&clocks, 2, GAGG_CLOCK_END);
	ops->on_tick(&param, &sync, &clocks, 2, 20 * GAGG_MSEC);
	assert_int_equal(sync.dssp.worker[2].at[0], 0);
	for (c = 1; c <= 4; c++)
		push(0, (20 + c) * GAGG_MSEC);
	assert_int_equal(clocks.min, 2);
	/* the slowest pushes at 30, 40, ...: after 6 clocks of 1 ms, at most 4 */
	assert_int_equal(sync.dssp.worker[0].left, 3);
	assert_true(may_read(0));
	assert_false(ops->may_read(&param, &sync, &clocks, 0, 5));
}

/* a worker beyond the lower bound is granted nothing while another is ahead of it */
static void the_fastest__alone_runs_on(void **state)
{
	u32 c;

	(void)state;
	begin_three("dssp:1:5");
	for (c = 1; c <= 2; c++) {
		push(0, c * 10 * GAGG_MSEC);
		push(1, c * GAGG_MSEC);
	}
	for (c = 1; c <= 5; c++)
		push(2, (20 + c) * GAGG_MSEC);
	assert_true(may_read(2));
	/* one more would be nearer to the slowest's next push, at 30 */
	for (c = 1; c <= 2; c++)
		push(1, (27 + c) * GAGG_MSEC);
	assert_int_equal(sync.dssp.worker[1].left, 0);
	assert_false(may_read(1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(controller__is_the_search),
		cmocka_unit_test(dssp__keeps_its_upper_bound),
		cmocka_unit_test(dssp_literal__has_no_upper_bound),
		cmocka_unit_test(dssp__gains_nothing_from_one_that_is_always_slow),
		cmocka_unit_test(equal_bounds__are_ssp),
		cmocka_unit_test(the_end__is_not_a_push),
		cmocka_unit_test(the_fastest__alone_runs_on),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
