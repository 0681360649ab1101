// SPDX-License-Identifier: GPL-2.0
/* links: agent/lib/agree.c agent/lib/broker.c agent/lib/message.c agent/lib/carry.c agent/lib/comm.c agent/lib/known.c agent/lib/copies.c agent/lib/call.c agent/lib/error.c agent/lib/given_up.c agent/lib/lanes.c agent/lib/late.c agent/lib/narrow.c agent/lib/op.c agent/lib/plan.c agent/lib/process.c agent/lib/progress.c agent/lib/quant.c agent/lib/quant_avx2.c agent/lib/quant_form.c agent/lib/region.c agent/lib/replica.c agent/lib/replica_easgd.c agent/lib/replica_gossip.c agent/lib/replica_hpsgd.c agent/lib/replica_localsgd.c agent/lib/session.c agent/lib/split.c agent/lib/store.c agent/lib/store_get.c agent/lib/wait.c sync kmod/core/wire.c; libs: -pthread */
/*
 * Replicas: what each mode must conserve, with ranks of random speeds. Updates
 * are small multiples of 2^-12, so that every sum and mean is exact in float32,
 * and weights can be compared with sums made in another order.
 */
#define _GNU_SOURCE 1
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "fake_ranks.h"
#include "full.h"
#include "replica.h"
#include "agent/lib/store.h"

#define COUNT	50
#define STEPS	61
#define GRAIN	(1.0 / 4096)
#define GRID	(8 * GRAIN)	/* coarser than updates */

static float weights_of[N][COUNT];
static uint64_t taken[N][STEPS];
static double carry_of[N][COUNT];
static int64_t center_of[N][COUNT];

static uint32_t draw(uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t x = a * 2654435761u ^ b * 40503u ^ c * 69069u;

	x ^= x >> 15;
	x *= 2246822519u;
	x ^= x >> 13;
	x *= 3266489917u;
	return x ^ x >> 16;
}

/* update of element i by rank r at step t: a mean of four is on the grid, too */
static float update(int r, int t, int i)
{
	return (float)(((int)(draw((uint32_t)r, (uint32_t)t, (uint32_t)i) % 64) - 32) * 4 * GRAIN);
}

static float begin(int i)
{
	return (float)(i % 7);
}

/* what all ranks together have learned in steps (0, to], without rank's own part */
static float learned(int i, int to)
{
	double sum = 0;

	for (int t = 1; t <= to; t++)
		for (int r = 0; r < N; r++)
			sum += (double)update(r, t, i) / N;
	return (float)(begin(i) + sum);
}

static void rest(int rank, int t)
{
	uint32_t x = draw((uint32_t)rank, (uint32_t)t, 77);

	if (x % 4 == 0)
		usleep(x / 4 % 300 * (rank == 2 ? 3 : 1));
}

static int create(struct gagg_comm *c, int rank, double step, float *w, struct gagg_replica **r)
{
	int err;

	/* only rank 0's count */
	for (int i = 0; i < COUNT; i++)
		w[i] = rank ? 1000 : begin(i);
	err = gagg_replica_create(c, w, COUNT, step, r);
	for (int i = 0; !err && i < COUNT; i++)
		CHECK(w[i] == begin(i));
	return err;
}

static void start(struct gagg_comm *c, int rank, double step, float *w, struct gagg_replica **r)
{
	CHECK(!create(c, rank, step, w, r));
}

static void advance(struct gagg_replica *r, int rank, int t, float *w)
{
	float u[COUNT];

	for (int i = 0; i < COUNT; i++)
		u[i] = update(rank, t, i);
	CHECK(!gagg_replica_step(r, w, u));
}

static void local_body(struct gagg_comm *c, int rank)
{
	struct gagg_replica *r;
	float w[COUNT];

	start(c, rank, 0, w, &r);
	for (int t = 1; t <= STEPS; t++) {
		rest(rank, t);
		advance(r, rank, t, w);
		CHECK(gagg_replica_centre(r, w) == GAGG_ERR_UNSUPPORTED);
		CHECK(strstr(gagg_last_error(c), "have a centre, not localsgd:5"));
		for (int i = 0; i < COUNT; i++) {
			float want = learned(i, t / 5 * 5);

			for (int k = t / 5 * 5 + 1; k <= t; k++)
				want += update(rank, k, i);
			CHECK(w[i] == want);
		}
	}
	CHECK(!gagg_replica_finish(r, w));
	for (int i = 0; i < COUNT; i++)
		CHECK(w[i] == learned(i, STEPS));
	gagg_replica_free(r);
}

static void localsgd__mean_every_tau_steps(void **state)
{
	(void)state;
	fake.sync = "localsgd:5";
	run(64, 16, local_body);
}

/* weights after each step of plain SGD, of rank 0 */
static float of_bsp[STEPS + 1][COUNT];

/* means of updates are added to the weights that all have */
static void bsp_body(struct gagg_comm *c, int rank)
{
	float w[COUNT], u[COUNT];

	for (int i = 0; i < COUNT; i++)
		w[i] = begin(i);
	for (int t = 1; t <= STEPS; t++) {
		for (int i = 0; i < COUNT; i++)
			u[i] = update(rank, t, i);
		CHECK(!gagg_allreduce(u, u, COUNT, GAGG_FLOAT32, GAGG_MEAN, c, NULL));
		for (int i = 0; i < COUNT; i++)
			w[i] += u[i];
		if (!rank)
			memcpy(of_bsp[t], w, sizeof(w));
	}
}

static void local_one_body(struct gagg_comm *c, int rank)
{
	struct gagg_replica *r;
	float w[COUNT];

	start(c, rank, 0, w, &r);
	for (int t = 1; t <= STEPS; t++) {
		advance(r, rank, t, w);
		CHECK(!memcmp(w, of_bsp[t], sizeof(w)));
	}
	gagg_replica_free(r);
}

/*
 * Plain SGD adds updates to weights that all replicas have, so the mean of the sums is the sum with
 * the mean. It is so to the bit where neither is rounded: updates here are on a grid, and float32
 * holds all that they come to.
 */
static void localsgd__of_one_step_is_bsp(void **state)
{
	(void)state;
	fake.sync = "bsp";
	run(64, 16, bsp_body);
	fake.sync = "localsgd:1";
	run(64, 16, local_one_body);
}

/* in a mode with a store, with lanes of int32, then perhaps of int64 */
static void run_store(const char *sync, uint32_t ring, bool leave, int types,
		      void (*body)(struct gagg_comm *c, int rank))
{
	fake.sync = sync;
	fake.store = true;
	fake.bound = ~0U;
	for (int i = 0; i < types; i++) {
		fake.wide = i;
		run_with(ring, ring / 4, 120000, leave, body);
		free(fake.kept);
		fake.kept = NULL;
	}
	fake.wide = false;
	fake.store = false;
}

/* elastic averaging: easgd-sync, then easgd with lanes of int32 and of int64 */
static void run_elastic(const char *sync, const char *async,
			void (*body)(struct gagg_comm *c, int rank))
{
	fake.sync = sync;
	if (sync)
		run(64, 16, body);
	run_store(async, 64, true, 2, body);
}

/* what a rank knows of it; of all steps so far once publish() is over */
static int64_t center(const struct gagg_replica *r, int i)
{
	return r->table ? store_pushed(r->table, (size_t)i) : r->center[i];
}

/* in steps of the grid, before and after; exact in double */
static double total(const struct gagg_replica *r, int i)
{
	double sum = (double)center(r, i);

	for (int k = 0; k < N; k++)
		sum += weights_of[k][i] / GRID + carry_of[k][i];
	return sum;
}

/* all ranks are at the same step */
static void publish(const struct gagg_replica *r, int rank, const float *w)
{
	CHECK(!r->table || !store_snapshot(r->table));
	pthread_barrier_wait(&all);
	memcpy(weights_of[rank], w, sizeof(weights_of[rank]));
	memcpy(carry_of[rank], r->carry, sizeof(carry_of[rank]));
	for (int i = 0; i < COUNT; i++)
		center_of[rank][i] = center(r, i);
	pthread_barrier_wait(&all);
	CHECK(!memcmp(center_of[rank], center_of[0], sizeof(center_of[0])));
}

/* what easgd moves of a distance, times ELASTIC_ONE */
static uint32_t pull;

static void elastic_body(struct gagg_comm *c, int rank)
{
	struct gagg_replica *r;
	double before[COUNT];
	float w[COUNT];

	start(c, rank, GRID, w, &r);
	CHECK(r->pull == 65536 * 90 / 400 || (r->table && r->pull == pull));
	publish(r, rank, w);
	for (int i = 0; i < COUNT; i++) {
		before[i] = total(r, i);
		CHECK(before[i] == (N + 1) * begin(i) / GRID);
	}
	for (int t = 1; t <= STEPS; t++) {
		rest(rank, t);
		advance(r, rank, t, w);
		publish(r, rank, w);
		for (int i = 0; i < COUNT; i++) {
			for (int k = 0; k < N; k++)
				before[i] += update(k, t, i) / GRID;
			CHECK(total(r, i) == before[i]);
		}
	}
	/* it is drawn to where they are: to the mean at last, if all keep on */
	for (int t = 0; t < 400; t++) {
		float zero[COUNT] = { 0 };

		pthread_barrier_wait(&all);
		CHECK(!gagg_replica_step(r, w, zero));
	}
	publish(r, rank, w);
	for (int i = 0; i < COUNT; i++) {
		CHECK(total(r, i) == before[i]);
		for (int k = 0; k < N; k++)
			CHECK(fabs(weights_of[k][i] / GRID - (double)center(r, i)) < 5);
	}
	CHECK(!gagg_replica_finish(r, w));
	publish(r, rank, w);
	CHECK(!memcmp(weights_of[0], weights_of[rank], sizeof(w)));
	for (int i = 0; i < COUNT; i++)
		CHECK((double)w[i] == (double)center(r, i) * GRID);
	w[3] = 1 << (r->bits - 9);	/* times 512 */
	CHECK(r->bits == 30 || (r->table && !fake.wide && r->bits == 29));
	pthread_barrier_wait(&all);
	CHECK(gagg_replica_finish(r, w) == GAGG_ERR_INVALID);
	gagg_replica_free(r);
}

static void easgd__conserves_the_sum(void **state)
{
	(void)state;
	pull = 65536 * 22 / 100;
	run_elastic("easgd-sync:3:90", "easgd:3:22", elastic_body);
	pull = 65536ULL * 225625 / 1000000;
	run_elastic(NULL, "easgd:3:22.5625", elastic_body);
}

static void alpha_body(struct gagg_comm *c, int rank)
{
	struct gagg_replica *r;
	float w[COUNT];

	start(c, rank, GRID, w, &r);
	CHECK(r->pull == pull);
	CHECK(!gagg_replica_finish(r, w));
	gagg_replica_free(r);
}

static void alpha__has_steps_of_a_65536th(void **state)
{
	static const struct {
		const char *sync;
		uint32_t pull;
	} cases[] = {
		{ "easgd:1:0.0016", 1 }, { "easgd:1:0.0031", 2 }, { "easgd:1:1.4063", 921 },
		{ "easgd:1:99.9985", 65535 }, { "easgd:1:100", 65536 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pull = cases[i].pull;
		run_elastic(NULL, cases[i].sync, alpha_body);
	}
}

/* what 24 bits cannot hold of a weight on its way comes along later */
static void far_body(struct gagg_comm *c, int rank)
{
	float w[COUNT], zero[COUNT] = { 0 };
	struct gagg_replica *r;
	double before;

	start(c, rank, GRID, w, &r);
	w[1] = rank == 1 ? 0x1p-30f : 4096;
	publish(r, rank, w);
	before = total(r, 1);
	CHECK(!gagg_replica_step(r, w, zero));
	CHECK(!gagg_replica_step(r, w, zero));
	CHECK(!gagg_replica_step(r, w, zero));
	publish(r, rank, w);
	CHECK(carry_of[1][1] == 0x1p-30 / GRID && total(r, 1) == before);
	gagg_replica_free(r);
}

static void easgd__loses_nothing_far_away(void **state)
{
	(void)state;
	run_elastic("easgd-sync:3:90", "easgd:3:22", far_body);
}

/* in 2^-22 of a step, which is what positions are multiples of after an exchange */
static int64_t fine_total(const struct gagg_replica *r, int i)
{
	int64_t sum = center(r, i) * (1 << 22);

	for (int k = 0; k < N; k++) {
		double x = (weights_of[k][i] * r->grid + carry_of[k][i]) * (1 << 22);

		CHECK(x == (double)(int64_t)x);
		sum += (int64_t)x;
	}
	return sum;
}

/* weights of all magnitudes, and steps that no float is a multiple of */
static void uneven_body(struct gagg_comm *c, int rank)
{
	float w[COUNT], zero[COUNT] = { 0 };
	struct gagg_replica *r;
	int64_t before[COUNT];

	start(c, rank, 0.0003, w, &r);
	for (int i = 0; i < COUNT; i++)
		w[i] = ldexpf((float)(int32_t)draw((uint32_t)rank, 3, (uint32_t)i), -14 - 3 * (i % 9));
	for (int t = 0; t < 60; t++) {
		CHECK(!gagg_replica_step(r, w, zero));
		publish(r, rank, w);
		for (int i = 0; i < COUNT; i++) {
			CHECK(!t || fine_total(r, i) == before[i]);
			before[i] = fine_total(r, i);
		}
	}
	/* nothing comes along from there */
	CHECK(!gagg_replica_finish(r, w));
	for (int i = 0; i < COUNT; i++)
		CHECK(!r->carry[i]);
	gagg_replica_free(r);
}

static void easgd__conserves_what_no_float_is(void **state)
{
	(void)state;
	run_elastic("easgd-sync:1:90", "easgd:1:22", uneven_body);
}

/* the largest distance there is: nothing wraps, the centre stays between them */
static void farthest_body(struct gagg_comm *c, int rank)
{
	const float most = (1 << 30) - 64;
	float w[COUNT], zero[COUNT] = { 0 };
	struct gagg_replica *r;

	start(c, rank, 1, w, &r);
	for (int t = 0; t < 40; t++) {
		for (int i = 0; i < COUNT; i++)
			w[i] = t % 2 ? -most : most;
		memset(r->carry, 0, COUNT * sizeof(*r->carry));
		CHECK(!gagg_replica_step(r, w, zero));
		for (int i = 0; i < COUNT; i++)
			CHECK(fabs((double)r->center[i]) <= (double)most && fabsf(w[i]) <= most &&
			      (r->center[i] > 0) == !(t % 2));
	}
	gagg_replica_free(r);
}

static void easgd__wraps_nowhere(void **state)
{
	(void)state;
	fake.sync = "easgd-sync:1:100";
	run(64, 16, farthest_body);
}

static int64_t truth[COUNT];

static void meet(void)
{
	pthread_barrier_wait(&all);
}

static bool shows_truth(const struct gagg_replica *r)
{
	float shown[COUNT];
	bool is = !gagg_replica_centre(r, shown);

	for (int i = 0; i < COUNT; i++)
		is &= shown[i] == (float)((double)truth[i] * GRID);
	return is;
}

/*
 * What the centre gets is what replicas give. Rounds are of all ranks at once; into a store each
 * adds in its turn, and knows of those before it.
 */
static void centre_body(struct gagg_comm *c, int rank)
{
	float w[COUNT], shown[COUNT], later[COUNT];
	struct gagg_replica *r;

	start(c, rank, GRID, w, &r);
	for (int i = 0; i < COUNT && !rank; i++)
		truth[i] = (int64_t)((double)begin(i) / GRID);
	meet();
	CHECK(shows_truth(r));
	meet();
	for (int t = 1; t <= 9; t++) {
		double before[COUNT];

		for (int turn = 0; r->table && turn < rank; turn++)
			meet();
		for (int i = 0; i < COUNT; i++)
			before[i] = replica_at(r, w, (size_t)i) + update(rank, t, i) / GRID;
		advance(r, rank, t, w);
		for (int i = 0; i < COUNT; i++)
			__atomic_fetch_add(&truth[i],
					   (int64_t)(before[i] - replica_at(r, w, (size_t)i)),
					   __ATOMIC_RELAXED);
		if (!r->table)
			meet();
		CHECK(shows_truth(r) && !gagg_replica_centre(r, shown));
		for (int turn = rank; r->table && turn < N; turn++)
			meet();
		/* what others have added is not looked for */
		CHECK(!gagg_replica_centre(r, later) && !memcmp(later, shown, sizeof(shown)));
		meet();
	}
	CHECK(!gagg_replica_finish(r, w) && !gagg_replica_centre(r, shown));
	CHECK(!memcmp(w, shown, sizeof(w)));
	gagg_replica_free(r);
}

static void easgd__shows_the_centre(void **state)
{
	(void)state;
	run_elastic("easgd-sync:1:90", "easgd:1:22", centre_body);
}

/* ranks of random speed; the last one begins when the others have made all their steps */
static void alone_body(struct gagg_comm *c, int rank)
{
	struct gagg_replica *r;
	uint64_t clocks;
	int moved = 0;
	float w[COUNT];

	start(c, rank, GRID, w, &r);
	clocks = c->store_clock;
	for (int late = 0; late < 2; late++) {
		for (int t = 1; t <= STEPS && late == (rank == N - 1); t++) {
			rest(rank, t);
			advance(r, rank, t, w);
		}
		pthread_barrier_wait(&all);
	}
	CHECK(c->store_clock - clocks == STEPS / r->arg[0]);
	publish(r, rank, w);
	for (int i = 0; i < COUNT; i++) {
		double sum = (N + 1) * begin(i) / GRID;

		for (int t = 1; t <= STEPS; t++)
			for (int k = 0; k < N; k++)
				sum += update(k, t, i) / GRID;
		CHECK(total(r, i) == sum);
		moved += (double)center(r, i) != begin(i) / GRID;
	}
	CHECK(moved > COUNT / 2);
	CHECK(!gagg_replica_finish(r, w));
	publish(r, rank, w);
	for (int i = 0; i < COUNT; i++)
		CHECK(weights_of[0][i] == w[i] && (double)w[i] == (double)center(r, i) * GRID);
	gagg_replica_free(r);
}

static void easgd__nobody_waits(void **state)
{
	(void)state;
	run_elastic(NULL, "easgd:3:22", alone_body);
	run_elastic(NULL, "easgd:1:100", alone_body);
}

/* from here on all ranks have read before any of them adds */
static void in_step(int rank, bool on)
{
	meet();
	if (!rank)
		fake.waited = on ? meet : NULL;
	meet();
}

/*
 * The centre goes as far as it can, which is noticed where it is too far: before a
 * lane of 32 bits has another meaning.
 */
static void apart_body(struct gagg_comm *c, int rank)
{
	float w[COUNT], zero[COUNT] = { 0 };
	int64_t where[COUNT], far, most;
	char sentence[256];
	struct gagg_replica *r;

	start(c, rank, 1, w, &r);
	far = 1 << r->bits;
	most = far - 128;
	CHECK(r->bits == (fake.wide ? 30 : 27));
	for (int i = 0; i < COUNT; i++)
		truth[i] = (int64_t)begin(i);
	in_step(rank, true);
	for (int t = 0; t < 60; t++) {
		bool lost = false;
		int err;

		for (int i = 0; i < COUNT; i++) {
			lost |= llabs(truth[i]) >= far;
			CHECK(fake.wide || llabs(truth[i]) <= INT32_MAX);
			where[i] = draw((uint32_t)rank, (uint32_t)t, (uint32_t)i) % 2 ? most : -most;
			w[i] = (float)(where[i] / (t % 3 ? 1 : 64));
			where[i] = (int64_t)w[i];
			r->carry[i] = 0;
		}
		meet();
		err = gagg_replica_step(r, w, zero);
		CHECK(err == (lost ? GAGG_ERR_INVALID : 0));
		CHECK(!lost || strstr(gagg_last_error(c), "the centre of weight"));
		for (int i = 0; i < COUNT; i++)
			__atomic_fetch_add(&truth[i], where[i] - (int64_t)(w[i] + r->carry[i]),
					   __ATOMIC_RELAXED);
		meet();
		if (!lost)
			continue;
		for (int i = 0; i < COUNT; i++)
			where[i] = draw(0, (uint32_t)t, (uint32_t)i) % 2 ? most : -most;
		CHECK(!store_put(r->table, rank ? NULL : where));
		if (!rank)
			memcpy(truth, where, sizeof(truth));
		meet();
		/* whose lanes may mean another place does not believe that it is back */
		snprintf(sentence, sizeof(sentence), "%s", gagg_last_error(c));
		CHECK(gagg_replica_step(r, w, zero) == GAGG_ERR_INVALID);
		CHECK(!strcmp(gagg_last_error(c), sentence));
		CHECK(gagg_replica_centre(r, w) == GAGG_ERR_INVALID);
		CHECK(!strcmp(gagg_last_error(c), sentence));
		r->astray = 0;
	}
	in_step(rank, false);
	gagg_replica_free(r);
}

static void easgd__notices_who_goes_too_far(void **state)
{
	(void)state;
	run_elastic(NULL, "easgd:1:100", apart_body);
}

/* rank 2 leaves: ranks that go on hear of it, and those that wait for it */
static void left_body(struct gagg_comm *c, int rank)
{
	struct gagg_replica *r;
	float w[COUNT];
	int err = 0;

	start(c, rank, GRID, w, &r);
	for (int t = 1; t <= 7; t++)
		advance(r, rank, t, w);
	meet();
	if (rank == 1)
		err = gagg_replica_finish(r, w);
	for (int t = 0; rank != 2 && !err; t++) {
		float zero[COUNT] = { 0 };

		err = gagg_replica_step(r, w, zero);
		usleep(100);
	}
	CHECK(rank == 2 || (err == GAGG_ERR_PEER && !strncmp(gagg_last_error(c), "rank 2 ", 7)));
	CHECK(rank == 2 || gagg_replica_finish(r, w) == GAGG_ERR_PEER);
	gagg_replica_free(r);
	gagg_abort(c);
}

static void easgd__ends_when_a_rank_leaves(void **state)
{
	(void)state;
	run_store("easgd:2:22", 64, false, 1, left_body);
}

/* a program's own, pushed with the exchanges */
static void tables_body(struct gagg_comm *c, int rank)
{
	float w[COUNT], zero[COUNT] = { 0 };
	int32_t one[3] = { 1, 2, rank }, sum[3];
	struct gagg_replica *r;
	struct gagg_table *t;

	CHECK(gagg_has_store(c));
	CHECK(gagg_allreduce(w, w, 1, GAGG_FLOAT32, GAGG_SUM, c, NULL) == GAGG_ERR_UNSUPPORTED);
	start(c, rank, GRID, w, &r);
	CHECK(!gagg_table_create(c, 3, GAGG_INT32, 1, &t));
	for (int k = 0; k < 8; k++)
		CHECK(!gagg_inc(t, one) && !gagg_replica_step(r, w, zero));
	CHECK(!gagg_replica_finish(r, w) && !gagg_snapshot(t, sum));
	CHECK(sum[0] == 8 * N && sum[1] == 16 * N && sum[2] == 8 * (0 + 1 + 2 + 3));
	for (int i = 0; i < COUNT; i++)
		CHECK(w[i] == begin(i));
	w[0] = 1 << (r->bits - 9);
	CHECK(gagg_replica_finish(r, w) == GAGG_ERR_INVALID);
	CHECK(strstr(gagg_last_error(c), "weight 0 is not finite, or 2^"));
	gagg_replica_free(r);
	CHECK(gagg_replica_create(c, w, COUNT, GRID, &r) == GAGG_ERR_INVALID && !r);
	CHECK(strstr(gagg_last_error(c), "the store has room for"));
}

static void easgd__has_room_for_tables(void **state)
{
	(void)state;
	run_store("easgd:4:22", 12, true, 1, tables_body);
}

static void overlapped_body(struct gagg_comm *c, int rank)
{
	uint64_t took = 0, overlapped = 0;
	struct gagg_replica *r;
	float w[COUNT];

	start(c, rank, 0, w, &r);
	memset(taken[rank], 0, sizeof(taken[rank]));
	for (int t = 1; t <= STEPS; t++) {
		rest(rank, t);
		overlapped += !!r->req;
		advance(r, rank, t, w);
		CHECK(r->sw.clock <= 6);
		if (!r->sw.clock)
			taken[rank][took++] = r->clock;
		/* what has not been taken yet is this rank's own */
		for (int i = 0; i < COUNT; i++)
			CHECK(w[i] == r->base[i] + r->learned[i] +
			      (took == 1 ? update(rank, 1, i) : 0));
	}
	CHECK(took > 1 && overlapped > STEPS / 4);
	CHECK(!gagg_replica_finish(r, w));
	pthread_barrier_wait(&all);
	CHECK(!memcmp(taken[0], taken[rank], sizeof(taken[0])));
	for (int i = 0; i < COUNT; i++)
		CHECK(w[i] == learned(i, STEPS));
	/* it goes on from there */
	advance(r, rank, STEPS + 1, w);
	CHECK(!gagg_replica_finish(r, w));
	for (int i = 0; i < COUNT; i++)
		CHECK(w[i] == learned(i, STEPS + 1));
	gagg_replica_free(r);
}

static void hpsgd__every_update_once(void **state)
{
	(void)state;
	fake.sync = "hpsgd:6";
	run(64, 16, overlapped_body);
	run(2, 1, overlapped_body);
}

/* while this thread's owner waits in a barrier behind the operation of @arg */
static void *beside_barrier(void *arg)
{
	struct gagg_replica *r = arg;
	float w[COUNT] = { 0 }, u[COUNT];
	struct gagg_replica *other = r;

	while (!__atomic_load_n(&r->comm->asleep, __ATOMIC_RELAXED))
		sched_yield();
	for (int i = 0; i < COUNT; i++)
		u[i] = 1;
	CHECK(gagg_replica_create(r->comm, w, COUNT, 0, &other) == GAGG_ERR_BUSY && !other);
	/* nothing has changed */
	CHECK(gagg_replica_step(r, w, u) == GAGG_ERR_BUSY && !w[0]);
	CHECK(gagg_replica_finish(r, w) == GAGG_ERR_BUSY && !w[0]);
	CHECK(gagg_replica_centre(r, w) == GAGG_ERR_BUSY && !w[0]);
	pthread_barrier_wait(&all);
	/* what it frees is written to until the others have made their steps */
	gagg_replica_free(r);
	return NULL;
}

static void beside_body(struct gagg_comm *c, int rank)
{
	float w[COUNT] = { 0 }, u[COUNT] = { 1 };
	struct gagg_replica *r;
	pthread_t t;

	CHECK(!gagg_replica_create(c, w, COUNT, 0, &r));
	if (rank) {
		pthread_barrier_wait(&all);
		usleep(100000);
	}
	CHECK(!gagg_replica_step(r, w, u));
	if (!rank)
		pthread_create(&t, NULL, beside_barrier, r);
	CHECK(!gagg_barrier(c));
	if (!rank)
		pthread_join(t, NULL);
	else
		gagg_replica_free(r);
}

static void hpsgd__second_thread(void **state)
{
	(void)state;
	fake.sync = "hpsgd:6";
	run(8, 4, beside_body);
}

/* with lanes of int32, then of int64 */
static void run_gossip(const char *sync, void (*body)(struct gagg_comm *c, int rank))
{
	fake.copies = true;
	run_store(sync, 64, true, 2, body);
	fake.copies = false;
}

/* the sum of all updates is what it has to be; then on it goes */
static void conserve_body(struct gagg_comm *c, int rank)
{
	struct gagg_replica *r;
	float w[COUNT];

	start(c, rank, GRAIN, w, &r);
	for (int t = 1; t <= STEPS; t++) {
		rest(rank, t);
		advance(r, rank, t, w);
	}
	CHECK(!gagg_replica_finish(r, w));
	for (int i = 0; i < COUNT; i++)
		CHECK(w[i] == learned(i, STEPS));
	for (int t = STEPS + 1; t <= STEPS + 7; t++)
		advance(r, rank, t, w);
	CHECK(!gagg_replica_finish(r, w));
	for (int i = 0; i < COUNT; i++)
		CHECK(w[i] == learned(i, STEPS + 7));
	gagg_replica_free(r);
}

static void gossip__conserves_the_sum(void **state)
{
	(void)state;
	run_gossip("gossip-pair:1", conserve_body);
	run_gossip("gossip-pair:4", conserve_body);
	run_gossip("push-sum:1", conserve_body);
	run_gossip("push-sum:3", conserve_body);
}

/* weights of all magnitudes: in steps the sum stays, ranks get no farther from each
 * other, and all come together
 */
static void pairs_body(struct gagg_comm *c, int rank)
{
	static double sum[COUNT], spread[COUNT];
	float w[COUNT], far[COUNT];
	struct gagg_replica *r;

	/* int64: of more than 2^24 steps */
	start(c, rank, fake.wide ? 0.003 / 64 : 0.003, w, &r);
	for (int i = 0; i < COUNT; i++)
		far[i] = ldexpf((float)(int32_t)draw((uint32_t)rank, 3, (uint32_t)i), -20 - i % 9);
	for (int t = 0; t < 60; t++) {
		CHECK(!gagg_replica_step(r, w, far));
		memset(far, 0, sizeof(far));
		pthread_barrier_wait(&all);
		memcpy(weights_of[rank], w, sizeof(weights_of[rank]));
		memcpy(carry_of[rank], r->carry, sizeof(carry_of[rank]));
		pthread_barrier_wait(&all);
		for (int i = rank; i < COUNT; i += N) {
			double all = 0, low = INFINITY, high = -INFINITY;

			for (int k = 0; k < N; k++) {
				double x = (double)steps_nearest(replica_settled(
					weights_of[k][i] * r->grid + carry_of[k][i]));

				all += x;
				low = fmin(low, x);
				high = fmax(high, x);
			}
			CHECK(!t || (all == sum[i] && high - low <= spread[i]));
			sum[i] = all;
			spread[i] = high - low;
			CHECK(t < 59 || spread[i] <= 2);
		}
	}
	gagg_replica_free(r);
}

static void pairs__come_together(void **state)
{
	(void)state;
	run_gossip("gossip-pair:1", pairs_body);
}

/* all come together, and nobody leaves the hull of what all began with (push-sum: by more than what halves of
 * steps are worth when divided by a small weight)
 */
static float slack;

/* a rank that had no CPU while others made all their steps comes to them when all go on in step */
static void hull_meet(struct gagg_replica *r, float w[COUNT])
{
	const float still[COUNT] = { 0 };

	for (int t = 0; t < 30; t++) {
		pthread_barrier_wait(&all);
		CHECK(!gagg_replica_step(r, w, still));
	}
}

static void hull_body(struct gagg_comm *c, int rank)
{
	float w[COUNT], far[COUNT], low[COUNT], high[COUNT];
	struct gagg_replica *r;

	start(c, rank, GRAIN, w, &r);
	for (int i = 0; i < COUNT; i++) {
		low[i] = begin(i) - slack;
		high[i] = begin(i) + slack;
		for (int k = 0; k < N; k++) {
			low[i] = fminf(low[i], begin(i) + update(k, 7, i) - slack);
			high[i] = fmaxf(high[i], begin(i) + update(k, 7, i) + slack);
		}
		far[i] = update(rank, 7, i);
	}
	for (int t = 0; t < 60; t++) {
		rest(rank, t);
		CHECK(!gagg_replica_step(r, w, far));
		memset(far, 0, sizeof(far));
		for (int i = 0; i < COUNT; i++)
			CHECK(w[i] >= low[i] && w[i] <= high[i]);
	}
	hull_meet(r, w);
	/* in means each rank's own has a part: a rank that takes others' only changes places */
	memcpy(weights_of[rank], w, sizeof(weights_of[rank]));
	pthread_barrier_wait(&all);
	for (int i = 0; i < COUNT; i++)
		CHECK(fabsf(w[i] - weights_of[0][i]) <= (high[i] - low[i]) / 8);
	pthread_barrier_wait(&all);
	CHECK(!gagg_replica_finish(r, w));
	memcpy(weights_of[rank], w, sizeof(weights_of[rank]));
	pthread_barrier_wait(&all);
	CHECK(!memcmp(weights_of[rank], weights_of[0], sizeof(weights_of[0])));
	for (int i = 0; i < COUNT; i++)
		CHECK(w[i] >= low[i] && w[i] <= high[i]);
	gagg_replica_free(r);
}

static void gossip__stays_in_the_hull(void **state)
{
	(void)state;
	run_gossip("gossip-pull:1", hull_body);
	run_gossip("gossip-push:1:0", hull_body);
	run_gossip("gossip-push:1:3", hull_body);
	run_gossip("gossip-pair:1", hull_body);
	slack = (float)(64 * GRAIN);
	run_gossip("push-sum:1", hull_body);
	slack = 0;
}

#define ALIKE	64	/* steps; a multiple of twice each period below */

/* least and most, as a share of what plain SGD moves by in as many steps */
static double least, most;

/*
 * Replicas that are the same and learn the same, all ranks at the same step: over the second
 * half, when what is under way is as much at its end as at its beginning.
 */
static void alike_body(struct gagg_comm *c, int rank)
{
	float w[COUNT] = { 0 }, u[COUNT], half = 0;
	struct gagg_replica *r;
	double share;

	for (int i = 0; i < COUNT; i++)
		u[i] = 1;
	CHECK(!gagg_replica_create(c, w, COUNT, GRAIN, &r));
	for (int t = 1; t <= ALIKE; t++) {
		pthread_barrier_wait(&all);
		CHECK(!gagg_replica_step(r, w, u));
		if (t == ALIKE / 2)
			half = w[0];
	}
	share = (double)(w[0] - half) / (ALIKE / 2);
	check(share >= least && share <= most, fake.sync, __LINE__);
	if (!(share >= least && share <= most))
		printf("# rank %d has moved %.3f as far\n", rank, share);
	CHECK(!gagg_replica_finish(r, w));
	gagg_replica_free(r);
}

static void replicas__alike_move_as_one(void **state)
{
	(void)state;
	least = 0.99;
	most = 1.01;
	fake.sync = "localsgd:4";
	run(64, 16, alike_body);
	fake.sync = "hpsgd:2";
	run(64, 16, alike_body);
	run_gossip("gossip-pull:1", alike_body);
	run_gossip("gossip-pull:4", alike_body);
	run_gossip("gossip-push:1:0", alike_body);
	run_gossip("gossip-push:1:2", alike_body);
	run_gossip("gossip-push:4:2", alike_body);
	run_gossip("gossip-pair:1", alike_body);
	/* what a rank has of the sum, and of the weight, is not of one step */
	least = 0.8;
	most = 1.2;
	run_gossip("push-sum:1", alike_body);
}

/*
 * Exchanges conserve the sum of the replicas and the centre (easgd__conserves_the_sum). So of
 * what n ranks learn each of n + 1 has an equal part, once all move at the same pace.
 */
static void easgd__alike_move_with_the_centre(void **state)
{
	(void)state;
	least = 0.95 * N / (N + 1);
	most = 1.05 * N / (N + 1);
	run_elastic("easgd-sync:1:90", "easgd:1:22", alike_body);
}

static void die(int rank)
{
	pthread_mutex_lock(&fake.lock);
	fake_end(GAGG_R_DIED, (uint32_t)rank, 0, 0, 0);
	pthread_mutex_unlock(&fake.lock);
}

/* a rank dies at a random step, every third time before it begins, again and again;
 * then all is as if nobody had
 */
static void (*after_deaths)(struct gagg_comm *c, int rank);

static void mortal_body(struct gagg_comm *c, int rank)
{
	struct gagg_replica *r;
	float w[COUNT], u[COUNT];

	for (uint32_t life = 0; life < full_or(6, 3); life++) {
		int dies = (int)(draw(life, 1, 2) % N), at = (int)(draw(life, 3, 4) % STEPS), err;
		bool early = life % 3 == 2;

		if (early && rank == dies)
			die(rank);
		/* others may have begun before a death, or not */
		err = create(c, rank, GRID, w, &r);
		CHECK(!r == !!err);
		CHECK(err || !early || rank != dies);
		/* without a store nobody goes on for longer than between two exchanges */
		for (int t = 1; !err && (fake.store || t <= at + 20); t++) {
			rest(rank, t);
			if (rank == dies && t > at)
				die(rank);
			for (int i = 0; i < COUNT; i++)
				u[i] = update(rank, t + 1000, i);
			err = gagg_replica_step(r, w, u);
		}
		CHECK(err == GAGG_ERR_PEER && (!r || gagg_replica_finish(r, w) == GAGG_ERR_PEER));
		pthread_barrier_wait(&all);
		CHECK(!gagg_reattach(c));
		CHECK(!r || (gagg_replica_step(r, w, u) == GAGG_ERR_CLOSED &&
			     gagg_replica_finish(r, w) == GAGG_ERR_CLOSED &&
			     gagg_replica_centre(r, w) == GAGG_ERR_CLOSED));
		gagg_replica_free(r);
		pthread_barrier_wait(&all);
	}
	after_deaths(c, rank);
}

static void death__ends_all_and_leaves_nothing(void **state)
{
	(void)state;
	fake.sync = "localsgd:5";
	after_deaths = local_body;
	run(64, 16, mortal_body);
	after_deaths = elastic_body;
	pull = 65536 * 22 / 100;
	run_elastic("easgd-sync:3:90", "easgd:3:22", mortal_body);
	after_deaths = conserve_body;
	run_gossip("gossip-pair:1", mortal_body);
	run_gossip("push-sum:3", mortal_body);
	after_deaths = hull_body;
	run_gossip("gossip-pull:1", mortal_body);
	run_gossip("gossip-push:1:3", mortal_body);
	fake.sync = "hpsgd:6";
	after_deaths = overlapped_body;
	run(64, 16, mortal_body);
	run(2, 1, mortal_body);
}

static void gossip_refused_body(struct gagg_comm *c, int rank)
{
	struct gagg_replica *r;
	struct gagg_table *t;
	float w[2] = { 0, rank ? 1 : (float)NAN }, u[2] = { fake.wide ? 1 << 30 : 1 << 24, 0 };
	const char *far = fake.wide ? "is not finite, or 2^30 steps and more" :
				      "is not finite, or 2^24 steps and more";

	CHECK(!gagg_has_store(c));
	CHECK(gagg_table_create(c, 8, GAGG_INT32, 1, &t) == GAGG_ERR_UNSUPPORTED && !t);
	CHECK(!strcmp(gagg_last_error(c), "the group's sync mode has no tables"));
	CHECK(gagg_allreduce(w, w, 2, GAGG_FLOAT32, GAGG_SUM, c, NULL) == GAGG_ERR_UNSUPPORTED);
	CHECK(gagg_replica_create(c, w, 2, 0, &r) == GAGG_ERR_INVALID && !r);
	CHECK(strstr(gagg_last_error(c), "needs a step above 0"));
	/* rank 0's is not a number */
	CHECK(gagg_replica_create(c, w, 2, 1, &r) == GAGG_ERR_INVALID && !r);
	CHECK(strstr(gagg_last_error(c), "weight 1") && strstr(gagg_last_error(c), far));
	w[1] = 0;
	CHECK(!gagg_replica_create(c, w, 2, 1, &r));
	CHECK(gagg_replica_step(r, w, u) == GAGG_ERR_INVALID);
	CHECK(strstr(gagg_last_error(c), "weight 0") && strstr(gagg_last_error(c), far));
	gagg_replica_free(r);
}

/* no rank goes on alone, nor waits for one that does not come */
static void steps_differ_body(struct gagg_comm *c, int rank)
{
	const double odd[] = { 0, 0.5, -1, (double)NAN, 1 - 0x1p-40 };
	struct gagg_replica *r;
	float w[2] = { 0 };

	for (int i = 0; i < 10; i++) {
		double step = rank == (i % 2 ? 2 : 0) ? odd[i / 2] : 1;
		char want[80];

		snprintf(want, sizeof(want), "rank %d has another step than this one, rank %d",
			 i % 2 ? (rank == 2 ? 0 : 2) : !rank, rank);
		CHECK(gagg_replica_create(c, w, 2, step, &r) == GAGG_ERR_INVALID && !r);
		CHECK(!strcmp(gagg_last_error(c), want));
	}
	CHECK(!gagg_replica_create(c, w, 2, 1, &r) && r);
	gagg_replica_free(r);
}

static void gossip__steps_differ(void **state)
{
	(void)state;
	run_gossip("gossip-pull:1", steps_differ_body);
	run_gossip("gossip-push:1:0", steps_differ_body);
	run_gossip("gossip-pair:1", steps_differ_body);
	run_gossip("push-sum:1", steps_differ_body);
}

static void gossip__nonsense_refused(void **state)
{
	(void)state;
	run_gossip("gossip-pull:1", gossip_refused_body);
	run_gossip("gossip-push:1:0", gossip_refused_body);
	run_gossip("gossip-pair:1", gossip_refused_body);
	run_gossip("push-sum:1", gossip_refused_body);
}

static void refused_body(struct gagg_comm *c, int rank)
{
	struct gagg_replica *r;
	float w[2] = { 0, 1 };

	(void)rank;
	CHECK(gagg_replica_create(c, w, 2, 1, &r) == GAGG_ERR_UNSUPPORTED && !r);
	CHECK(!strcmp(gagg_last_error(c), "sync mode bsp has no replicas"));
	CHECK(gagg_replica_create(c, w, 0, 1, &r) == GAGG_ERR_INVALID && !r);
	CHECK(!strcmp(gagg_sync(c), "bsp"));
}

static void other_modes__refused(void **state)
{
	(void)state;
	fake.sync = "bsp";
	run(8, 4, refused_body);
}

/* a client of the kernel's that is not ours may configure anything */
static void ranges_body(struct gagg_comm *c, int rank)
{
	uint32_t *arg = c->region.geo.arg, good = arg[0];
	struct gagg_replica *r;
	float w[2] = { 0 };

	(void)rank;
	arg[0] = 0;
	CHECK(gagg_replica_create(c, w, 2, 1, &r) == GAGG_ERR_INVALID && !r);
	arg[0] = 1000001;
	CHECK(gagg_replica_create(c, w, 2, 1, &r) == GAGG_ERR_INVALID && !r);
	CHECK(strstr(gagg_last_error(c), "parameter 1 is 1000001, which is out of range"));
	arg[0] = good;
	arg[3] = 1;
	CHECK(gagg_replica_create(c, w, 2, 1, &r) == GAGG_ERR_INVALID && !r);
	arg[3] = 0;
	CHECK(!gagg_replica_create(c, w, 2, 1, &r));
	gagg_replica_free(r);
}

static void algorithms__out_of_range(void **state)
{
	(void)state;
	fake.sync = "localsgd:5";
	run(8, 4, ranges_body);
	fake.sync = "easgd-sync:5:90";
	run(64, 16, ranges_body);
	fake.sync = "hpsgd:5";
	run(8, 4, ranges_body);
}

static void gridless_body(struct gagg_comm *c, int rank)
{
	struct gagg_replica *r;
	float w[2] = { 0, (float)NAN };

	(void)rank;
	CHECK(gagg_replica_create(c, w, 2, 0, &r) == GAGG_ERR_INVALID && !r);
	CHECK(!strcmp(gagg_last_error(c),
		      fake.store ? "easgd needs a step above 0, the resolution of the exchange" :
		      "easgd-sync needs a step above 0, the resolution of the exchange"));
	CHECK(gagg_replica_create(c, w, 2, (double)NAN, &r) == GAGG_ERR_INVALID && !r);
	/* nobody goes on alone */
	CHECK(gagg_replica_create(c, w, 2, rank == 2 ? 0 : 1, &r) == GAGG_ERR_INVALID && !r);
	CHECK(!strcmp(gagg_last_error(c), fake.store ? "ranks with another step than rank 0: 1" :
		      "rank 2 has another step than rank 0"));
	CHECK(gagg_replica_create(c, w, 2, 1, &r) == GAGG_ERR_INVALID && !r);
	CHECK(!strcmp(gagg_last_error(c), fake.store && !fake.wide ?
		      "weight 1 is not finite, or 2^29 steps and more" :
		      "weight 1 is not finite, or 2^30 steps and more"));
}

static void easgd__needs_a_grid(void **state)
{
	(void)state;
	run_elastic("easgd-sync:3:90", "easgd:3:22", gridless_body);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(localsgd__mean_every_tau_steps),
		cmocka_unit_test(localsgd__of_one_step_is_bsp),
		cmocka_unit_test(easgd__conserves_the_sum),
		cmocka_unit_test(alpha__has_steps_of_a_65536th),
		cmocka_unit_test(easgd__loses_nothing_far_away),
		cmocka_unit_test(easgd__conserves_what_no_float_is),
		cmocka_unit_test(easgd__wraps_nowhere),
		cmocka_unit_test(easgd__needs_a_grid),
		cmocka_unit_test(easgd__shows_the_centre),
		cmocka_unit_test(easgd__nobody_waits),
		cmocka_unit_test(easgd__notices_who_goes_too_far),
		cmocka_unit_test(easgd__ends_when_a_rank_leaves),
		cmocka_unit_test(easgd__has_room_for_tables),
		cmocka_unit_test(hpsgd__every_update_once),
		cmocka_unit_test(hpsgd__second_thread),
		cmocka_unit_test(other_modes__refused),
		cmocka_unit_test(algorithms__out_of_range),
		cmocka_unit_test(gossip__conserves_the_sum),
		cmocka_unit_test(pairs__come_together),
		cmocka_unit_test(gossip__stays_in_the_hull),
		cmocka_unit_test(replicas__alike_move_as_one),
		cmocka_unit_test(easgd__alike_move_with_the_centre),
		cmocka_unit_test(gossip__nonsense_refused),
		cmocka_unit_test(gossip__steps_differ),
		/* what is broken otherwise is noticed before, as ranks may wait for long here */
		cmocka_unit_test(death__ends_all_and_leaves_nothing),
	};

	full = full_asked(argc, argv);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
