// SPDX-License-Identifier: GPL-2.0
/* links: agent/lib/agree.c agent/lib/broker.c agent/lib/message.c agent/lib/carry.c agent/lib/comm.c agent/lib/known.c agent/lib/copies.c agent/lib/call.c agent/lib/error.c agent/lib/given_up.c agent/lib/lanes.c agent/lib/late.c agent/lib/narrow.c agent/lib/op.c agent/lib/plan.c agent/lib/process.c agent/lib/progress.c agent/lib/quant.c agent/lib/quant_avx2.c agent/lib/quant_form.c agent/lib/region.c agent/lib/replica.c agent/lib/replica_easgd.c agent/lib/replica_gossip.c agent/lib/replica_hpsgd.c agent/lib/replica_localsgd.c agent/lib/session.c agent/lib/split.c agent/lib/store.c agent/lib/store_get.c agent/lib/wait.c sync kmod/core/wire.c; libs: -pthread */
/*
 * Parameter averaging: means of replicas and of what updaters remember, by ranks or by samples, and
 * when that is the mean of gradients. The first mode of replicas: test_lib_replica.c has the rest.
 */
#define _GNU_SOURCE 1
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "fake_ranks.h"

#define COUNT	50
#define MEMORY	20	/* elements of a state */
#define STEPS	24
#define TAU	3
#define GRAIN	(1.0f / 4096)
#define NEAR	(GRAIN / 64)

/* a small multiple of GRAIN: sums and means of four are exact in float32 */
static float update(int r, int t, int i)
{
	return (float)((r * 31 + t * 17 + i * 7) % 64 - 32) * 4 * GRAIN;
}

/* what a rank's updater remembers at step @t: other numbers */
static float remember(int r, int t, int i)
{
	return update(r + 4, t + 100, i);
}

/* rank 3 has none in the second period, no rank has any in the third */
static uint32_t samples(int r, int t)
{
	int period = (t - 1) / TAU;

	if (period == 2 || (period == 1 && r == 3))
		return 0;
	return (uint32_t)(1 + (r * 5 + t) % 7);
}

static struct gagg_replica *begin(struct gagg_comm *c, int rank, float *w)
{
	struct gagg_replica *r;

	/* only rank 0's count */
	for (int i = 0; i < COUNT; i++)
		w[i] = rank ? 1000 : (float)(i % 7);
	CHECK(!gagg_replica_create(c, w, COUNT, 0, &r));
	return r;
}

static void learn(struct gagg_replica *r, int rank, int t, float *w)
{
	float u[COUNT];

	for (int i = 0; i < COUNT; i++)
		u[i] = update(rank, t, i);
	CHECK(!gagg_replica_step(r, w, u));
}

static bool near(double a, double b)
{
	return a - b < NEAR && b - a < NEAR;
}

/* --- what updaters remember ---------------------------------------------- */

static void state_body(struct gagg_comm *c, int rank)
{
	float w[COUNT], v[MEMORY], v2[1] = { (float)rank };
	struct gagg_replica *r = begin(c, rank, w);
	double mean[MEMORY];

	for (int i = 0; i < MEMORY; i++) {
		v[i] = rank ? -1 : (float)i;
		mean[i] = i;
	}
	CHECK(!gagg_replica_state(r, v, MEMORY));
	CHECK(!gagg_replica_state(r, v2, 1));
	CHECK(v2[0] == 0);
	for (int t = 1; t <= STEPS; t++) {
		for (int i = 0; i < MEMORY; i++) {
			v[i] += remember(rank, t, i);
			for (int k = 0; k < N; k++)
				mean[i] += (double)remember(k, t, i) / N;
		}
		v2[0] = (float)(4 * rank);
		learn(r, rank, t, w);
		if (t % TAU)
			continue;
		for (int i = 0; i < MEMORY; i++)
			CHECK(v[i] == (float)mean[i]);
		CHECK(v2[0] == 6);
	}
	/* it ends with a mean of all, too */
	v[3] = (float)(8 * rank);
	CHECK(!gagg_replica_finish(r, w));
	CHECK(v[3] == 12);
	gagg_replica_free(r);
}

static void state__is_averaged(void **state)
{
	(void)state;
	fake.sync = "localsgd:3";
	run(64, 16, state_body);
}

/* --- one step a mean ------------------------------------------------------ */

#define MOMENTUM	0.9f

/* (without momentum it is bsp to the bit: test_lib_replica.c) */
static void momentum_body(struct gagg_comm *c, int rank)
{
	float w[COUNT], v[COUNT] = { 0 }, bsp[COUNT], bsp_v[COUNT] = { 0 }, g[COUNT], mean[COUNT];
	struct gagg_replica *r = begin(c, rank, w);

	memcpy(bsp, w, sizeof(w));
	CHECK(!gagg_replica_state(r, v, COUNT));
	for (int t = 1; t <= STEPS; t++) {
		for (int i = 0; i < COUNT; i++) {
			g[i] = update(rank, t, i);
			v[i] = MOMENTUM * v[i] + g[i];
		}
		CHECK(!gagg_replica_step(r, w, v));
		CHECK(!gagg_allreduce(g, mean, COUNT, GAGG_FLOAT32, GAGG_MEAN, c, NULL));
		for (int i = 0; i < COUNT; i++) {
			bsp_v[i] = MOMENTUM * bsp_v[i] + mean[i];
			bsp[i] += bsp_v[i];
			CHECK(near(w[i], bsp[i]));
		}
	}
	gagg_replica_free(r);
}

/* but for rounding, if momentum is averaged */
static void one_step__is_bsp(void **state)
{
	(void)state;
	fake.sync = "localsgd:1";
	run(64, 16, momentum_body);
}

/* --- by samples ----------------------------------------------------------- */

/* the weights of all ranks, as this one calculates them */
static void all_learn(double all_w[N][COUNT], int t)
{
	for (int k = 0; k < N; k++)
		for (int i = 0; i < COUNT; i++)
			all_w[k][i] += update(k, t, i);
}

static void all_meet(double all_w[N][COUNT], const double count[N])
{
	double total = count[0] + count[1] + count[2] + count[3];

	for (int i = 0; i < COUNT; i++) {
		double sum = 0;

		for (int k = 0; k < N; k++)
			sum += all_w[k][i] * (total > 0 ? count[k] / total : 1.0 / N);
		for (int k = 0; k < N; k++)
			all_w[k][i] = sum;
	}
}

static void samples_body(struct gagg_comm *c, int rank)
{
	double all_w[N][COUNT], count[N] = { 0 };
	float w[COUNT], v[MEMORY] = { 0 };
	struct gagg_replica *r = begin(c, rank, w);

	CHECK(!gagg_replica_state(r, v, MEMORY));
	for (int k = 0; k < N; k++)
		for (int i = 0; i < COUNT; i++)
			all_w[k][i] = w[i];
	for (int t = 1; t <= STEPS; t++) {
		all_learn(all_w, t);
		for (int k = 0; k < N; k++)
			count[k] += samples(k, t);
		/* a rank that has learned nothing says nothing, whatever it has */
		if (t == 2 * TAU && rank == 3)
			w[0] = INFINITY;
		v[0] = (float)rank;
		CHECK(!gagg_replica_samples(r, samples(rank, t)));
		learn(r, rank, t, w);
		if (t % TAU)
			continue;
		all_meet(all_w, count);
		for (int i = 0; i < COUNT; i++)
			CHECK(near(w[i], all_w[rank][i]));
		if (count[0] > 0)
			CHECK(near(v[0], (count[1] + 2 * count[2] + 3 * count[3]) /
				   (count[0] + count[1] + count[2] + count[3])));
		memset(count, 0, sizeof(count));
	}
	/* none since the last mean: all count alike, and are alike */
	CHECK(!gagg_replica_finish(r, w));
	for (int i = 0; i < COUNT; i++)
		CHECK(near(w[i], all_w[rank][i]));
	gagg_replica_free(r);
}

static void samples__weigh_replicas(void **state)
{
	(void)state;
	fake.sync = "localsgd:3";
	run(64, 16, samples_body);
}

/* --- refused --------------------------------------------------------------- */

static void limits_body(struct gagg_comm *c, int rank)
{
	float w[COUNT], v[5] = { 0 };
	struct gagg_replica *r = begin(c, rank, w);

	CHECK(gagg_replica_state(r, NULL, 1) == GAGG_ERR_INVALID);
	CHECK(gagg_replica_state(r, v, 0) == GAGG_ERR_INVALID);
	CHECK(!strcmp(gagg_last_error(c), "a state needs elements"));
	for (int i = 0; i < 4; i++)
		CHECK(!gagg_replica_state(r, v + i, 1));
	CHECK(gagg_replica_state(r, v + 4, 1) == GAGG_ERR_INVALID);
	CHECK(!strcmp(gagg_last_error(c), "an updater has at most 4 states"));
	CHECK(!gagg_replica_samples(r, 0));
	CHECK(gagg_replica_samples(r, INT32_MAX / N + 1) == GAGG_ERR_INVALID);
	CHECK(!gagg_replica_samples(r, INT32_MAX / N - 1));
	CHECK(!gagg_replica_samples(r, 1));
	CHECK(gagg_replica_samples(r, 1) == GAGG_ERR_INVALID);
	CHECK(!strcmp(gagg_last_error(c),
		      "1 samples more: a rank has at most 536870911 between two means"));
	/* nothing of all that counts */
	for (int i = 0; i < COUNT; i++)
		w[i] = (float)rank;
	CHECK(!gagg_replica_finish(r, w));
	for (int i = 0; i < COUNT; i++)
		CHECK(w[i] == 1.5f);
	gagg_replica_free(r);
}

static void other_body(struct gagg_comm *c, int rank)
{
	float w[COUNT], v[1] = { 0 };
	struct gagg_replica *r = begin(c, rank, w);

	CHECK(gagg_replica_state(r, v, 1) == GAGG_ERR_UNSUPPORTED);
	CHECK(!strcmp(gagg_last_error(c),
		      "only localsgd averages the state of an updater, not hpsgd:2"));
	CHECK(gagg_replica_samples(r, 1) == GAGG_ERR_UNSUPPORTED);
	CHECK(!strcmp(gagg_last_error(c),
		      "only in localsgd replicas count by samples, not in hpsgd:2"));
	gagg_replica_free(r);
}

static void nonsense__refused(void **state)
{
	(void)state;
	fake.sync = "localsgd:3";
	run(64, 16, limits_body);
	fake.sync = "hpsgd:2";
	run(64, 16, other_body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(state__is_averaged),
		cmocka_unit_test(one_step__is_bsp),
		cmocka_unit_test(samples__weigh_replicas),
		cmocka_unit_test(nonsense__refused),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
