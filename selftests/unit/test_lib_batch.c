// SPDX-License-Identifier: GPL-2.0
/* links: agent/lib/agree.c agent/lib/batch.c agent/lib/broker.c agent/lib/message.c agent/lib/carry.c agent/lib/comm.c agent/lib/known.c agent/lib/call.c agent/lib/error.c agent/lib/given_up.c agent/lib/lanes.c agent/lib/late.c agent/lib/narrow.c agent/lib/op.c agent/lib/pace.c agent/lib/plan.c agent/lib/process.c agent/lib/progress.c agent/lib/quant.c agent/lib/quant_avx2.c agent/lib/quant_form.c agent/lib/region.c agent/lib/session.c agent/lib/share.c agent/lib/split.c agent/lib/store.c agent/lib/store_get.c agent/lib/wait.c sync kmod/core/wire.c; libs: -pthread */
/*
 * Batches divided by speed. Times are what the test says they are, so that shares
 * are known beforehand; gradients are numbers of which every sum is exact, so
 * that means can be compared for equality with those of a single node.
 */
#define _GNU_SOURCE 1
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "comm.h"
#include "fake_ranks.h"

#define TOTAL	65
#define PERIOD	3
#define COUNT	100	/* more chunks than the ring has */

static uint32_t firsts[N], counts[N];
static float means[N][COUNT];

/* element i of the gradient of sample s: a whole number */
static float gradient(uint32_t s, size_t i)
{
	return (float)((int)((s * 40503u ^ (uint32_t)i * 69069u) % 1000) - 500);
}

static struct gagg_batch_config config(uint32_t total, uint32_t period)
{
	return (struct gagg_batch_config){
		.size = sizeof(struct gagg_batch_config), .total = total, .period = period,
	};
}

/* the shares of a step are the batch, in order, without a gap */
static void check_cover(int rank, uint32_t first, uint32_t count)
{
	uint32_t at = 0;

	firsts[rank] = first;
	counts[rank] = count;
	pthread_barrier_wait(&all);
	for (int r = 0; r < N; r++) {
		CHECK(firsts[r] == at && counts[r] >= 1);
		at += counts[r];
	}
	CHECK(at == TOTAL);
	pthread_barrier_wait(&all);
}

/* the kernel has seen @count samples computed; then this rank waits for others */
static void compute(int rank, uint64_t ns, uint32_t count)
{
	pthread_mutex_lock(&fake.lock);
	fake.times[rank].compute_ns += ns * count;
	fake.times[rank].wait_ns += 5000000 - 1000000 * (uint64_t)rank;
	pthread_mutex_unlock(&fake.lock);
}

/* samples from @first, of which @left are missing at the end of the batch */
static void check_mean(struct gagg_batch *b, int rank, uint32_t first, uint32_t count,
		       uint32_t left, struct gagg_plan *plan)
{
	uint32_t s, end = first + count > TOTAL - left ? TOTAL - left : first + count;
	float sum[COUNT] = { 0 };
	uint32_t n = end > first ? end - first : 0;

	for (s = first; s < end; s++)
		for (size_t i = 0; i < COUNT; i++)
			sum[i] += gradient(s, i);
	CHECK(!gagg_batch_mean(b, sum, means[rank], COUNT, GAGG_FLOAT32, n, plan));
	for (size_t i = 0; i < COUNT; i++) {
		double want = 0;

		for (s = 0; s < TOTAL - left; s++)
			want += (double)gradient(s, i);
		if (means[rank][i] != (float)(want / (TOTAL - left))) {
			CHECK(!"the mean of a single node");
			break;
		}
	}
}

static void shares_body(struct gagg_comm *c, int rank)
{
	static const uint32_t thirds[N] = { 20, 20, 19, 6 };
	struct gagg_batch_config cfg = config(TOTAL, PERIOD);
	struct gagg_batch_rank info;
	struct gagg_batch *batch;
	struct gagg_plan *plan;
	uint32_t first, count;

	CHECK(!gagg_plan_create(c, COUNT, GAGG_FLOAT32, &plan));
	/* what was before is of no matter */
	compute(rank, 1000, 77 + (uint32_t)rank);
	CHECK(!gagg_batch_create(c, &cfg, &batch));
	CHECK(!gagg_batch_info(batch, 3, &info) && info.share == 16 && !info.samples &&
	      info.speed == 0);
	CHECK(gagg_batch_info(batch, N, &info) == GAGG_ERR_INVALID);
	CHECK(gagg_batch_info(batch, -1, &info) == GAGG_ERR_INVALID);
	for (uint32_t step = 0; step < 4 * PERIOD; step++) {
		CHECK(!gagg_batch_next(batch, &first, &count));
		check_cover(rank, first, count);
		CHECK(count == (step < PERIOD ? (uint32_t)16 + !rank : thirds[rank]));
		CHECK(fake.times[rank].share == count && fake.times[rank].batch == TOTAL);
		compute(rank, rank == 3 ? 3000000 : 1000000, count);
		check_mean(batch, rank, first, count, step % 3 ? 0 : 7 * step, step % 2 ? plan : NULL);
	}
	for (int r = 0; r < N; r++) {
		CHECK(!gagg_batch_info(batch, r, &info));
		CHECK(info.share == thirds[r] && info.samples == PERIOD * thirds[r]);
		CHECK(info.compute_ns == info.samples * (r == 3 ? 3000000 : 1000000));
		CHECK(info.wait_ns == PERIOD * (5000000 - 1000000 * (uint64_t)r));
		CHECK(fabs(info.speed - (r == 3 ? 1000.0 / 3 : 1000)) < 1e-3);
	}
	gagg_batch_free(batch);
	gagg_plan_free(plan);
}

static void shares__follow_the_kernels_times(void **state)
{
	(void)state;
	run(8, 4, shares_body);
}

/* what a trainer says itself counts in that period, and in no other */
static void said_body(struct gagg_comm *c, int rank)
{
	struct gagg_batch_config cfg = config(64, 1);
	struct gagg_batch *batch;
	uint32_t first, count;

	cfg.min = 10;
	cfg.max = 17;
	CHECK(!gagg_batch_create(c, &cfg, &batch));
	CHECK(!gagg_batch_next(batch, &first, &count) && count == 16);
	compute(rank, rank == 3 ? 3000000 : 1000000, count);
	gagg_batch_computed(batch, 8000000);
	gagg_batch_computed(batch, 8000000);
	CHECK(!gagg_batch_next(batch, &first, &count) && count == 16);
	compute(rank, rank == 3 ? 3000000 : 1000000, count);
	CHECK(!gagg_batch_next(batch, &first, &count));
	CHECK(count == (rank == 3 ? 13 : 17));
	gagg_batch_free(batch);
	gagg_batch_free(NULL);
}

static void own_times__count(void **state)
{
	(void)state;
	run(64, 16, said_body);
}

static void mean_body(struct gagg_comm *c, int rank)
{
	struct gagg_batch_config cfg = config(3 * N, 1);
	float x[9] = { 3, 1, 0, 0, 0, 0, 0, 0, 7 }, y[9];
	struct gagg_result res;
	struct gagg_batch *batch;
	uint32_t first, count;
	uint16_t half[2];

	CHECK(!gagg_batch_create(c, &cfg, &batch));
	CHECK(!gagg_batch_next(batch, &first, &count) && count == 3);
	/* ten samples, of which rank 1 has one: not a tenth of it, not a quarter */
	CHECK(!gagg_batch_mean(batch, x, y, 9, GAGG_FLOAT32, rank == 1 ? 1 : 3, NULL));
	CHECK(y[0] == 12.0f / 10 && y[1] == 4.0f / 10 && y[8] == 28.0f / 10);
	/* no samples at all: what there is */
	CHECK(!gagg_batch_mean(batch, x, x, 9, GAGG_FLOAT32, 0, NULL));
	CHECK(x[0] == 12 && x[1] == 4 && x[2] == 0);
	/* 2051 / 12 is 170.92, rounded once; what is 2051 in float16 would give 171 */
	half[0] = half[1] = rank ? 0x3c00 : 0x6800;
	CHECK(!gagg_batch_mean(batch, half, half, 2, GAGG_FLOAT16, 3, NULL));
	CHECK(half[0] == 0x5957 && half[1] == 0x5957);
	/* NaN keeps its name */
	x[3] = rank == 2 ? (float)NAN : 1;
	CHECK(!gagg_batch_mean(batch, x, y, 9, GAGG_FLOAT32, 3, NULL));
	gagg_last_result(c, &res);
	CHECK(isnan(y[3]) && res.nonfinite_rank == 2 && res.contributors == N);
	CHECK(gagg_batch_mean(batch, x, y, 9, GAGG_FLOAT32, 4, NULL) == GAGG_ERR_INVALID);
	CHECK(!strcmp(gagg_last_error(c), "a sum over 4 samples, of a share of 3"));
	CHECK(gagg_batch_mean(batch, x, y, 0, GAGG_FLOAT32, 3, NULL) == GAGG_ERR_INVALID);
	CHECK(!strcmp(gagg_last_error(c), "a mean of no elements"));
	CHECK(gagg_batch_mean(batch, x, y, 9, GAGG_INT32, 3, NULL) == GAGG_ERR_UNSUPPORTED);
	CHECK(gagg_batch_mean(batch, NULL, y, 9, GAGG_FLOAT32, 3, NULL) == GAGG_ERR_INVALID);
	/* nothing of that was begun */
	CHECK(!gagg_batch_mean(batch, x, y, 1, GAGG_FLOAT32, 3, NULL) && y[0] == 4);
	gagg_batch_free(batch);
}

static void mean__divides_by_samples(void **state)
{
	(void)state;
	run(64, 16, mean_body);
	run(2, 1, mean_body);
}

/* a call that is not made by all is told, and ends */
static void desync_body(struct gagg_comm *c, int rank)
{
	struct gagg_batch_config cfg = config(3 * N, 1);
	struct gagg_batch *batch;
	float x[9] = { 0 };
	uint32_t first, count;

	CHECK(!gagg_batch_create(c, &cfg, &batch));
	CHECK(!gagg_batch_next(batch, &first, &count));
	if (rank)
		CHECK(gagg_batch_mean(batch, x, x, 9, GAGG_FLOAT32, 3, NULL) == GAGG_ERR_DESYNC);
	else
		CHECK(gagg_allreduce(x, x, 9, GAGG_FLOAT32, GAGG_MEAN, c, NULL) ==
		      GAGG_ERR_DESYNC);
	CHECK(gagg_batch_next(batch, &first, &count) == GAGG_ERR_DESYNC);
	CHECK(gagg_batch_mean(batch, x, x, 9, GAGG_FLOAT32, 3, NULL) == GAGG_ERR_DESYNC);
	pthread_barrier_wait(&all);
	CHECK(!gagg_reattach(c));
	CHECK(gagg_batch_next(batch, &first, &count) == GAGG_ERR_CLOSED);
	CHECK(!strcmp(gagg_last_error(c), "the batch is of an epoch that was left: create it again"));
	CHECK(gagg_batch_mean(batch, x, x, 9, GAGG_FLOAT32, 3, NULL) == GAGG_ERR_CLOSED);
	gagg_batch_free(batch);
	CHECK(!gagg_batch_create(c, &cfg, &batch));
	gagg_batch_free(batch);
}

static void other_calls__end_it(void **state)
{
	(void)state;
	run(64, 16, desync_body);
}

static void refuse(struct gagg_comm *c, const struct gagg_batch_config *cfg, int code,
		   const char *why)
{
	struct gagg_batch *batch = (void *)&code;

	CHECK(gagg_batch_create(c, cfg, &batch) == code && !batch);
	if (strcmp(gagg_last_error(c), why)) {
		printf("# %s\n", gagg_last_error(c));
		CHECK(!"another sentence");
	}
}

static void refused_body(struct gagg_comm *c, int rank)
{
	struct gagg_batch_config cfg = config(N - 1, 1);

	refuse(c, &cfg, GAGG_ERR_INVALID,
	       "the batch is too small for the least share of all ranks");
	cfg.total = 40;
	cfg.period = 0;
	refuse(c, &cfg, GAGG_ERR_INVALID, "the batch is divided anew after 1 step or more");
	cfg.period = 1;
	cfg.max = 9;
	refuse(c, &cfg, GAGG_ERR_INVALID,
	       "the batch is too large for the largest share of all ranks");
	cfg.max = 0;
	/* nobody goes on alone */
	cfg.total += rank == 2;
	refuse(c, &cfg, GAGG_ERR_INVALID, "rank 2 divides another batch than rank 0");
	cfg.total = 40;
	cfg.period += rank == 0;
	refuse(c, &cfg, GAGG_ERR_INVALID, "rank 1 divides another batch than rank 0");
	cfg.period = 1;
	pthread_barrier_wait(&all);
	fake.timeless = 1 << 3;
	pthread_barrier_wait(&all);
	refuse(c, &cfg, GAGG_ERR_UNSUPPORTED,
	       "the host of rank 3 does not measure times of computing (its gagg is too old)");
	cfg.size--;
	refuse(c, &cfg, GAGG_ERR_INVALID, "gagg_batch_config.size is that of another libgagg");
}

static void mode_body(struct gagg_comm *c, int rank)
{
	const struct gagg_batch_config cfg = config(40, 1);

	(void)rank;
	refuse(c, &cfg, GAGG_ERR_UNSUPPORTED,
	       "batches follow speeds in groups with sync mode bsp, localsgd or r2sp, not hpsgd:2");
}

static void bad_parameters__refused(void **state)
{
	(void)state;
	run(64, 16, refused_body);
	fake.sync = "hpsgd:2";
	run(64, 16, mode_body);
	fake.sync = NULL;
}

/* one step: samples take a millisecond, and a rank with fewer than 30 waits for that long */
static void turn(int rank, uint32_t count)
{
	pthread_mutex_lock(&fake.lock);
	fake.times[rank].compute_ns += 1000000ULL * count;
	fake.times[rank].wait_ns += 1000000ULL * (30 - count);
	pthread_mutex_unlock(&fake.lock);
}

static void alone_body(struct gagg_comm *c, int rank)
{
	static const uint32_t counts[N] = { 30, 20, 30, 30 };
	struct gagg_batch_config cfg = config(40, 2);
	uint32_t first, count, step, at = 0;
	struct gagg_batch_rank info;
	struct gagg_batch *batch;
	float x = 1;

	/* nobody else is told, so it is nobody else's matter */
	cfg.max = rank == 1 ? 20 : 0;
	cfg.period = rank == 2 ? 3 : 2;
	CHECK(!gagg_batch_create(c, &cfg, &batch));
	for (step = 0; step < 4 * cfg.period; step++) {
		CHECK(!gagg_batch_next(batch, &first, &count));
		CHECK(first == at && count == (step < cfg.period ? 10 : counts[rank]));
		CHECK(fake.times[rank].share == count && fake.times[rank].batch == 40);
		at += count;
		turn(rank, count);
	}
	CHECK(!gagg_batch_info(batch, rank, &info) && info.share == counts[rank]);
	CHECK(info.samples == cfg.period * counts[rank] && fabs(info.speed - 1000) < 1e-3);
	CHECK(info.wait_ns == 1000000ULL * (30 - counts[rank]) * cfg.period);
	CHECK(gagg_batch_info(batch, !rank, &info) == GAGG_ERR_UNSUPPORTED);
	CHECK(!strcmp(gagg_last_error(c), "ranks that take turns know of no batch but their own"));
	CHECK(gagg_batch_mean(batch, &x, &x, 1, GAGG_FLOAT32, 1, NULL) == GAGG_ERR_UNSUPPORTED);
	CHECK(!strcmp(gagg_last_error(c),
		      "ranks that take turns have no mean: add what was learned to a table"));
	gagg_batch_free(batch);
	cfg.period = 0;
	refuse(c, &cfg, GAGG_ERR_INVALID, "the batch is divided anew after 1 step or more");
	cfg.max = 9;
	refuse(c, &cfg, GAGG_ERR_INVALID,
	       "the batch is too large for the largest share of all ranks");
	pthread_barrier_wait(&all);
	fake.timeless = 1 << 3;
	pthread_barrier_wait(&all);
	cfg = config(40, 1);
	if (rank == 3) {
		refuse(c, &cfg, GAGG_ERR_UNSUPPORTED,
		       "this host does not measure times of computing (its gagg is too old)");
	} else {
		CHECK(!gagg_batch_create(c, &cfg, &batch));
		gagg_batch_free(batch);
	}
}

static void who_takes_turns__has_its_own(void **state)
{
	(void)state;
	fake.sync = "r2sp:80:0";
	run(64, 16, alone_body);
	fake.sync = NULL;
}

struct beside {
	struct gagg_comm *comm;
	struct gagg_batch *batch;
};

/* of a thread beside the one that waits for the others in a mean */
static void *beside_a_mean(void *arg)
{
	struct gagg_batch_config cfg = config(TOTAL, PERIOD);
	const struct beside *of = arg;
	struct gagg_batch *b = of->batch, *other = b;
	struct gagg_batch_rank info = { .share = 77 };
	uint32_t first = 77, count = 77;
	float x = 77, y = 77;
	struct gagg_comm *c = of->comm;

	while (!__atomic_load_n(&c->asleep, __ATOMIC_RELAXED))
		sched_yield();
	CHECK(gagg_batch_create(c, &cfg, &other) == GAGG_ERR_BUSY && !other);
	CHECK(gagg_batch_next(b, &first, &count) == GAGG_ERR_BUSY && first == 77);
	CHECK(gagg_batch_mean(b, &x, &y, 1, GAGG_FLOAT32, 1, NULL) == GAGG_ERR_BUSY && y == 77);
	CHECK(gagg_batch_info(b, 0, &info) == GAGG_ERR_BUSY && info.share == 77);
	pthread_barrier_wait(&all);
	return NULL;
}

static void *only_thread(void *arg)
{
	struct gagg_batch_rank info;
	uint32_t first, count;

	CHECK(!gagg_batch_next(arg, &first, &count) && count);
	CHECK(!gagg_batch_info(arg, 0, &info));
	return NULL;
}

static void beside_body(struct gagg_comm *c, int rank)
{
	struct gagg_batch_config cfg = config(TOTAL, PERIOD);
	struct beside of = { .comm = c };
	struct gagg_batch_rank info;
	struct gagg_batch *batch;
	uint32_t first, count;
	pthread_t thread;
	float x = 1;

	CHECK(!gagg_batch_create(c, &cfg, &batch));
	of.batch = batch;
	CHECK(!gagg_batch_next(batch, &first, &count));
	if (!rank)
		pthread_create(&thread, NULL, beside_a_mean, &of);
	else
		pthread_barrier_wait(&all);
	CHECK(!gagg_batch_mean(batch, &x, &x, 1, GAGG_FLOAT32, 1, NULL) && x == 1);
	if (!rank)
		pthread_join(thread, NULL);
	CHECK(gagg_batch_info(batch, N, &info) == GAGG_ERR_INVALID);
	pthread_create(&thread, NULL, only_thread, batch);
	pthread_join(thread, NULL);
	gagg_batch_free(batch);
}

static void batches__of_one_thread(void **state)
{
	(void)state;
	run(64, 16, beside_body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shares__follow_the_kernels_times),
		cmocka_unit_test(own_times__count),
		cmocka_unit_test(mean__divides_by_samples),
		cmocka_unit_test(other_calls__end_it),
		cmocka_unit_test(bad_parameters__refused),
		cmocka_unit_test(who_takes_turns__has_its_own),
		cmocka_unit_test(batches__of_one_thread),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
