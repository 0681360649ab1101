// SPDX-License-Identifier: GPL-2.0
/* links: agent/lib/agree.c agent/lib/broker.c agent/lib/message.c agent/lib/carry.c agent/lib/comm.c agent/lib/known.c agent/lib/call.c agent/lib/error.c agent/lib/given_up.c agent/lib/lanes.c agent/lib/late.c agent/lib/narrow.c agent/lib/op.c agent/lib/plan.c agent/lib/process.c agent/lib/progress.c agent/lib/quant.c agent/lib/quant_avx2.c agent/lib/quant_form.c agent/lib/region.c agent/lib/session.c agent/lib/split.c agent/lib/store.c agent/lib/store_get.c agent/lib/wait.c sync kmod/core/wire.c; libs: -pthread */
/*
 * Rounds that are complete without some ranks: means are those of who is in them,
 * and what came late is dropped, or counts exactly once later.
 */
#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "fake_ranks.h"

#define COUNT	50	/* 7 chunks */
#define STEPS	40

/* the first four calls, and the last, are everybody's */
static bool late(unsigned int r, uint64_t v)
{
	uint64_t call = v / 7;

	return call >= 4 && call < STEPS && r != call % N && (r * 7 + v * 5 + call) % 3 == 0;
}

/* small integers: every sum is exact */
static float sent(int r, int call, int i)
{
	return (float)((r * 31 + call * 17 + i * 7) % 41 - 20);
}

static void body(struct gagg_comm *c, int rank, bool carry, bool in_place)
{
	static float kept[N][COUNT];
	struct gagg_plan *plan;
	uint64_t lates = 0;

	for (int i = 0; i < COUNT; i++)
		kept[rank][i] = 0;
	CHECK(!gagg_plan_create(c, COUNT, GAGG_FLOAT32, &plan));
	for (int call = 0; call <= STEPS; call++) {
		struct gagg_result res;
		float x[COUNT], y[COUNT], *out = in_place ? x : y;
		uint64_t own = 0;

		for (int i = 0; i < COUNT; i++)
			x[i] = sent(rank, call, i);
		pthread_barrier_wait(&all);
		CHECK(!gagg_allreduce(x, out, COUNT, GAGG_FLOAT32, GAGG_MEAN, c, plan));
		gagg_last_result(c, &res);
		for (int i = 0; i < COUNT; i++) {
			uint64_t v = (uint64_t)call * 7 + (uint64_t)i / 8;
			float sum = 0, n = 0;

			for (int r = 0; r < N; r++)
				if (!late((unsigned int)r, v)) {
					sum += sent(r, call, i) + kept[r][i];
					n++;
				}
			CHECK(fabsf(out[i] - sum / n) < 1e-4f);
			own += i % 8 == 0 && late((unsigned int)rank, v);
			CHECK(res.contributors <= n);
		}
		CHECK(res.late == own);
		lates += own;
		pthread_barrier_wait(&all);
		for (int i = 0; i < COUNT && carry; i++)
			kept[rank][i] = late((unsigned int)rank, (uint64_t)call * 7 + (uint64_t)i / 8) ?
					kept[rank][i] + sent(rank, call, i) : 0;
	}
	CHECK(lates > 0);
	gagg_plan_free(plan);
}

static void dropping(struct gagg_comm *c, int rank)
{
	body(c, rank, false, true);
}

static void carrying(struct gagg_comm *c, int rank)
{
	body(c, rank, true, false);
}

static void carrying_in_place(struct gagg_comm *c, int rank)
{
	body(c, rank, true, true);
}

static void late__dropped(void **state)
{
	(void)state;
	fake.late = late;
	fake.sync = "bsp-quorum:1:0";
	run(64, 16, dropping);
}

static void late__carried(void **state)
{
	(void)state;
	fake.late = late;
	fake.sync = "bsp-deadline:1:10:1";
	run(64, 16, carrying);
	run(4, 2, carrying);
	run(64, 16, carrying_in_place);
}

/* --- any schedule ------------------------------------------------------ */

static uint64_t schedule;

static bool late_somehow(unsigned int r, uint64_t v)
{
	uint64_t x = (schedule * 64 + r) * 1024 + v;

	x = (x ^ x >> 15) * 0x9e3779b97f4a7c15ULL;
	x = (x ^ x >> 31) * 0xff51afd7ed558ccdULL;
	/* somebody must be in it */
	return v / 7 < STEPS && r != (x >> 50) % N && r != (v + schedule) % N && (x >> 40) % 3;
}

/* elements of any type, of which each is a small integer */
static void put(enum gagg_dtype t, void *x, int i, float v)
{
	if (t == GAGG_FLOAT32)
		((float *)x)[i] = v;
	else if (t == GAGG_FLOAT16)
		((_Float16 *)x)[i] = (_Float16)v;
	else
		memcpy((char *)x + 2 * i, (char *)&v + 2, 2);
}

static float get(enum gagg_dtype t, const void *x, int i)
{
	float v = 0;

	if (t == GAGG_FLOAT32)
		return ((const float *)x)[i];
	if (t == GAGG_FLOAT16)
		return (float)((const _Float16 *)x)[i];
	memcpy((char *)&v + 2, (const char *)x + 2 * i, 2);
	return v;
}

/* -1, 0 or 1: sums of all that is ever sent are within bfloat16's integers, to 256 */
static float unit(int r, int call, int i)
{
	float v = sent(r, call, i);

	return v < -6 ? -1 : v > 6;
}

static enum gagg_dtype dtype;

/* all that was ever sent is in the results, once; and all have the same */
static void conserving(struct gagg_comm *c, int rank)
{
	static float shown[COUNT];
	float total[COUNT] = { 0 }, all_sent[COUNT] = { 0 };
	struct gagg_plan *plan;
	uint64_t lates = 0;

	CHECK(!gagg_plan_create(c, COUNT, dtype, &plan));
	for (int call = 0; call <= STEPS; call++) {
		float x[COUNT] = { 0 }, y[COUNT] = { 0 };
		struct gagg_result res;

		for (int i = 0; i < COUNT; i++)
			put(dtype, x, i, unit(rank, call, i));
		CHECK(!gagg_allreduce(x, y, COUNT, dtype, GAGG_SUM, c, plan));
		gagg_last_result(c, &res);
		lates += res.late;
		if (!rank)
			memcpy(shown, y, sizeof(shown));
		pthread_barrier_wait(&all);
		CHECK(!memcmp(shown, y, sizeof(shown)));
		pthread_barrier_wait(&all);
		for (int i = 0; i < COUNT; i++) {
			total[i] += get(dtype, y, i);
			for (int r = 0; r < N; r++)
				all_sent[i] += unit(r, call, i);
		}
	}
	CHECK(!memcmp(total, all_sent, sizeof(total)));
	CHECK(lates > STEPS);
	gagg_plan_free(plan);
}

static void late__counts_exactly_once_in_the_end(void **state)
{
	(void)state;
	fake.late = late_somehow;
	fake.sync = "bsp-quorum:1:1";
	for (schedule = 0; schedule < 24; schedule++) {
		dtype = (enum gagg_dtype[]){ GAGG_FLOAT32, GAGG_FLOAT16,
					     GAGG_BFLOAT16 }[schedule / 2 % 3];
		run(schedule % 2 ? 64 : 4, schedule % 2 ? 16 : 2, conserving);
	}
}

static void nan_body(struct gagg_comm *c, int rank)
{
	float x[COUNT], y[COUNT];
	struct gagg_plan *plan;

	CHECK(!gagg_plan_create(c, COUNT, GAGG_FLOAT32, &plan));
	for (int call = 0; call <= STEPS; call++) {
		for (int i = 0; i < COUNT; i++)
			x[i] = call < 30 && call % 3 == 1 && rank == 1 ? (float)INFINITY : 1;
		CHECK(!gagg_allreduce(x, y, COUNT, GAGG_FLOAT32, GAGG_MEAN, c, plan));
		/* it comes and goes */
		for (int i = 0; i < COUNT && (call % 3 != 1 || call >= 30); i++)
			CHECK(y[i] >= 1 && y[i] < STEPS);
	}
	gagg_plan_free(plan);
}

static void late__no_number_is_not_carried(void **state)
{
	(void)state;
	fake.late = late;
	fake.sync = "bsp-adaptive:1:10:1";
	run(64, 16, nan_body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(late__dropped),
		cmocka_unit_test(late__carried),
		cmocka_unit_test(late__counts_exactly_once_in_the_end),
		cmocka_unit_test(late__no_number_is_not_carried),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
