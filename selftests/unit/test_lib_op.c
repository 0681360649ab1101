// SPDX-License-Identifier: GPL-2.0
/* links: agent/lib/agree.c agent/lib/broker.c agent/lib/comm.c agent/lib/error.c agent/lib/exponent.c agent/lib/lanes.c agent/lib/op.c agent/lib/plan.c agent/lib/quant.c agent/lib/quant_avx2.c agent/lib/region.c agent/lib/session.c agent/lib/split.c agent/lib/uring.c agent/lib/wait.c; libs: -pthread */
/*
 * libgagg's collectives, four ranks as threads over a kernel that is played
 * (fake_dev.h): chunks of 8 lanes, and rings that operations exceed.
 */
#define _GNU_SOURCE 1
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "fake_dev.h"
#include "gagg.h"
#include "gagg_uring.h"
#include "plan.h"

#define N	FAKE_RANKS
#define MAXLEN	4000

/* cmocka's assertions belong to the main thread */
static unsigned int failures;

#define CHECK(cond) check(cond, #cond, __LINE__)

static void check(bool ok, const char *what, int line)
{
	if (ok)
		return;
	__atomic_fetch_add(&failures, 1, __ATOMIC_RELAXED);
	printf("# line %d: %s\n", line, what);
}

struct worker {
	pthread_t thread;
	int rank;
	void (*body)(struct gagg_comm *c, int rank);
	int timeout_ms;
	bool leave;
};

static pthread_barrier_t all;
static uint32_t weights = N;

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct gagg_comm *c;

	if (gagg_init_fd(&c, FAKE_FD + w->rank, w->timeout_ms)) {
		CHECK(!"init");
		return NULL;
	}
	/* an epoch that ends while a rank has yet to see it begin is no matter here */
	pthread_barrier_wait(&all);
	w->body(c, w->rank);
	if (w->leave)
		CHECK(!gagg_finalize(c));
	return NULL;
}

static void run_with(uint32_t ring, uint32_t window, int timeout_ms, bool leave,
		     void (*body)(struct gagg_comm *c, int rank))
{
	struct worker w[N];

	failures = 0;
	fake_start(ring, window);
	fake.weight = weights;
	pthread_barrier_init(&all, NULL, N);
	for (int r = 0; r < N; r++) {
		w[r] = (struct worker){ .rank = r, .body = body, .timeout_ms = timeout_ms,
					.leave = leave };
		pthread_create(&w[r].thread, NULL, worker_main, &w[r]);
	}
	for (int r = 0; r < N; r++)
		pthread_join(w[r].thread, NULL);
	pthread_barrier_destroy(&all);
	fake_stop();
	assert_int_equal(failures, 0);
}

static void run(uint32_t ring, uint32_t window, void (*body)(struct gagg_comm *c, int rank))
{
	run_with(ring, window, 0, true, body);
}

/* element i of rank r; a few binades apart from chunk to chunk */
static float value(int r, size_t i, int step)
{
	return (float)((int)((i * 37 + (size_t)r * 101 + (size_t)step * 7) % 201) - 100) *
	       ldexpf(1, (int)(i / 8 % 5) + r - step);
}

static void fill(float *x, int r, size_t n, int step)
{
	for (size_t i = 0; i < n; i++)
		x[i] = value(r, i, step);
}

static void sum_is(const float *y, size_t n, int step, double scale)
{
	for (size_t i = 0; i < n; i++) {
		double s = 0, a = 0;
		size_t first = i / 8 * 8;

		for (int r = 0; r < N; r++)
			s += (double)value(r, i, step) * scale;
		for (size_t k = first; k < first + 8 && k < n; k++)
			for (int r = 0; r < N; r++)
				a = fmax(a, fabs((double)value(r, k, step)));
		if (!(fabs(y[i] - s) <= a * ldexp(1, -22))) {
			CHECK(!"sum");
			return;
		}
	}
}

/* bits of every rank's results, to be compared */
static float results[N][MAXLEN];

static void same_everywhere(int rank, const float *y, size_t n)
{
	memcpy(results[rank], y, n * 4);
	pthread_barrier_wait(&all);
	CHECK(!memcmp(results[0], results[rank], n * 4));
	pthread_barrier_wait(&all);
}

static const size_t lengths[] = { 1, 7, 8, 9, 64, 65, 500, 513, 3999 };

static void allreduce_body(struct gagg_comm *c, int rank)
{
	float x[MAXLEN], y[MAXLEN];
	struct gagg_result res;

	for (size_t k = 0; k < sizeof(lengths) / sizeof(*lengths); k++) {
		size_t n = lengths[k];

		fill(x, rank, n, 0);
		memset(y, 0x77, sizeof(y));
		CHECK(!gagg_allreduce(x, y, n, GAGG_FLOAT32, GAGG_SUM, c, NULL));
		sum_is(y, n, 0, 1);
		same_everywhere(rank, y, n);
		gagg_last_result(c, &res);
		CHECK(res.contributors == N && res.nonfinite_rank == -1 && !res.overflow);
		/* nothing beyond the end */
		CHECK(n == MAXLEN || ((unsigned char *)(y + n))[0] == 0x77);
		/* in place */
		CHECK(!gagg_allreduce(x, x, n, GAGG_FLOAT32, GAGG_MEAN, c, NULL));
		sum_is(x, n, 0, 0.25);
	}
}

static void allreduce__sums(void **state)
{
	(void)state;
	run(64, 16, allreduce_body);
	/* the ranks have agreed before */
	assert_int_equal(fake.shifts, 0);
	run(3, 1, allreduce_body);
	run(1, 1, allreduce_body);
}

static void plan_body(struct gagg_comm *c, int rank)
{
	float x[MAXLEN], y[MAXLEN];
	struct gagg_request *req;
	struct gagg_plan *plan;

	CHECK(!gagg_plan_create(c, 1000, GAGG_FLOAT32, &plan));
	for (int step = 0; step < 6; step++) {
		fill(x, rank, 1000, step % 3);
		CHECK(!gagg_allreduce(x, y, 1000, GAGG_FLOAT32, GAGG_SUM, c, plan));
		sum_is(y, 1000, step % 3, 1);
		same_everywhere(rank, y, 1000);
	}
	/* what was wanted is tried next, or one more: the largest is 180 */
	for (int step = 0; step < 12; step++)
		CHECK(!gagg_allreduce(x, y, 1000, GAGG_FLOAT32, GAGG_SUM, c, plan));
	CHECK(plan->exp[0] == 127 + 8 || plan->exp[0] == 127 + 9);
	CHECK(gagg_allreduce(x, y, 999, GAGG_FLOAT32, GAGG_SUM, c, plan) == GAGG_ERR_INVALID);
	CHECK(gagg_allreduce(x, y, 1000, GAGG_FLOAT16, GAGG_SUM, c, plan) == GAGG_ERR_INVALID);
	CHECK(!gagg_iallreduce(x, y, 1000, GAGG_FLOAT32, GAGG_SUM, c, plan, &req));
	CHECK(gagg_allreduce(x, y, 1000, GAGG_FLOAT32, GAGG_SUM, c, plan) == GAGG_ERR_BUSY);
	CHECK(!gagg_wait(req, GAGG_FOREVER));
	/* 1000 = 4 * 250 */
	CHECK(!gagg_reduce_scatter(x, y, 250, GAGG_FLOAT32, GAGG_SUM, c, plan));
	gagg_plan_free(plan);
	CHECK(gagg_plan_create(c, 1000, GAGG_INT32, &plan) == GAGG_ERR_UNSUPPORTED && !plan);
}

static void allreduce__plan(void **state)
{
	(void)state;
	run(64, 16, plan_body);
	run(512, 64, plan_body);
}

static void small_body(struct gagg_comm *c, int rank)
{
	uint16_t h[20], b[20], out[20];

	for (int i = 0; i < 20; i++) {
		h[i] = (uint16_t)(0x3c00 + (rank & 1 ? 0x8000 : 0));	/* 1, -1, 1, -1 */
		b[i] = (uint16_t)(0x3f80 + (rank << 7));		/* 1, 2, 4, 8 */
	}
	h[8] = 0x4800;	/* 8 */
	h[9] = 0x0801;	/* 2^-13 + 2^-23: exact beside 8, if the exponent is 8's */
	CHECK(!gagg_allreduce(h, out, 20, GAGG_FLOAT16, GAGG_SUM, c, NULL));
	CHECK(out[0] == 0 && out[19] == 0 && out[8] == 0x5000 && out[9] == 0x1001);
	CHECK(fake.shifts == 0);
	CHECK(!gagg_allreduce(h, out, 20, GAGG_FLOAT16, GAGG_MAX, c, NULL));
	CHECK(out[0] == 0x3c00 && out[19] == 0x3c00);
	CHECK(!gagg_allreduce(b, out, 20, GAGG_BFLOAT16, GAGG_SUM, c, NULL));
	CHECK(out[0] == 0x4170 && out[19] == 0x4170);			/* 15 */
	CHECK(!gagg_allreduce(b, out, 20, GAGG_BFLOAT16, GAGG_MEAN, c, NULL));
	CHECK(out[0] == 0x4070 && out[19] == 0x4070);			/* 3.75 */
	CHECK(fake.shifts == 0);
	CHECK(!gagg_allreduce(b, out, 20, GAGG_BFLOAT16, GAGG_MIN, c, NULL));
	CHECK(out[0] == 0x3f80 && out[19] == 0x3f80);
}

static void allreduce__half(void **state)
{
	(void)state;
	run(8, 4, small_body);
}

static void int_body(struct gagg_comm *c, int rank)
{
	int32_t x[100], y[100];
	struct gagg_result res;

	for (int i = 0; i < 100; i++)
		x[i] = i < 16 ? 0 : (i - 50) * (rank + 1);
	CHECK(!gagg_allreduce(x, y, 100, GAGG_INT32, GAGG_SUM, c, NULL));
	for (int i = 0; i < 100; i++)
		CHECK(y[i] == (i < 16 ? 0 : (i - 50) * 10));
	CHECK(!gagg_allreduce(x, y, 100, GAGG_INT32, GAGG_MIN, c, NULL));
	for (int i = 0; i < 100; i++)
		CHECK(y[i] == (i < 16 ? 0 : i < 50 ? (i - 50) * 4 : i - 50));
	CHECK(!gagg_allreduce(x, y, 100, GAGG_INT32, GAGG_MAX, c, NULL));
	for (int i = 0; i < 100; i++)
		CHECK(y[i] == (i < 16 ? 0 : i < 50 ? i - 50 : (i - 50) * 4));
	gagg_last_result(c, &res);
	CHECK(!res.overflow);
	/* a chunk of zeros counts in a minimum */
	for (int i = 0; i < 8; i++)
		x[i] = rank ? 5 : 0;
	CHECK(!gagg_allreduce(x, y, 8, GAGG_INT32, GAGG_MIN, c, NULL));
	CHECK(y[0] == 0 && y[7] == 0);
	x[99] = 1 << 30;
	CHECK(!gagg_allreduce(x, x, 100, GAGG_INT32, GAGG_SUM, c, NULL));
	CHECK(x[99] == 0 && x[0] == 15);
	gagg_last_result(c, &res);
	CHECK(res.overflow);
}

static void allreduce__int(void **state)
{
	(void)state;
	run(8, 4, int_body);
}

static void nonfinite_body(struct gagg_comm *c, int rank)
{
	float x[24], y[24];
	struct gagg_result res;

	fill(x, rank, 24, 0);
	if (rank >= 2)
		x[10] = rank == 2 ? INFINITY : NAN;
	CHECK(!gagg_allreduce(x, y, 24, GAGG_FLOAT32, GAGG_SUM, c, NULL));
	gagg_last_result(c, &res);
	CHECK(res.nonfinite_rank == 2);
	CHECK(isnan(y[8]) && isnan(y[15]) && !isnan(y[7]) && !isnan(y[16]));
	/* the lowest rank of all chunks */
	if (rank == 1)
		x[16] = NAN;
	CHECK(!gagg_allreduce(x, y, 24, GAGG_FLOAT32, GAGG_SUM, c, NULL));
	gagg_last_result(c, &res);
	CHECK(res.nonfinite_rank == 1);
	x[16] = value(rank, 16, 0);
	/* to a maximum, infinity is a value */
	CHECK(!gagg_allreduce(x, y, 24, GAGG_FLOAT32, GAGG_MAX, c, NULL));
	gagg_last_result(c, &res);
	CHECK(res.nonfinite_rank == 3);
	CHECK(isnan(y[8]) && !isnan(y[7]) && !isnan(y[16]));
	if (rank == 3)
		x[10] = -INFINITY;
	CHECK(!gagg_allreduce(x, y, 24, GAGG_FLOAT32, GAGG_MAX, c, NULL));
	gagg_last_result(c, &res);
	CHECK(res.nonfinite_rank == -1 && y[10] == INFINITY);
	CHECK(!gagg_allreduce(x, y, 24, GAGG_FLOAT32, GAGG_MIN, c, NULL));
	CHECK(y[10] == -INFINITY);
	for (int i = 0; i < 24; i++) {
		float low = INFINITY;

		for (int r = 0; r < N && i != 10; r++)
			low = fminf(low, value(r, (size_t)i, 0));
		CHECK(i == 10 || y[i] == low);
	}
	/* zeros are a header only, and leave a sum alone */
	memset(x, 0, sizeof(x));
	CHECK(!gagg_allreduce(x, y, 24, GAGG_FLOAT32, GAGG_SUM, c, NULL));
	CHECK(y[0] == 0 && y[23] == 0);
}

static void allreduce__nonfinite(void **state)
{
	(void)state;
	run(8, 4, nonfinite_body);
}

static void scatter_body(struct gagg_comm *c, int rank)
{
	float x[MAXLEN], y[1000], whole[MAXLEN];

	for (size_t k = 0; lengths[k] < 1000; k++) {
		size_t n = lengths[k];

		fill(x, rank, n * N, 0);
		CHECK(!gagg_allreduce(x, whole, n * N, GAGG_FLOAT32, GAGG_SUM, c, NULL));
		sum_is(whole, n * N, 0, 1);
		CHECK(!gagg_reduce_scatter(x, y, n, GAGG_FLOAT32, GAGG_SUM, c, NULL));
		for (size_t i = 0; i < n; i++)
			CHECK(fabsf(y[i] - whole[(size_t)rank * n + i]) < 0.01);
		/* in place, at the start and at its place */
		CHECK(!gagg_reduce_scatter(x, x, n, GAGG_FLOAT32, GAGG_SUM, c, NULL));
		CHECK(!memcmp(x, y, n * 4));
		fill(x, rank, n * N, 0);
		CHECK(!gagg_reduce_scatter(x, x + (size_t)rank * n, n, GAGG_FLOAT32, GAGG_SUM,
					   c, NULL));
		CHECK(!memcmp(x + (size_t)rank * n, y, n * 4));
		fill(x, rank, n * N, 0);
		CHECK(!gagg_reduce_scatter(x, y, n, GAGG_FLOAT32, GAGG_MIN, c, NULL));
		for (size_t i = 0; i < n; i++)
			CHECK(y[i] <= value(0, (size_t)rank * n + i, 0));
	}
}

static void reduce_scatter__parts(void **state)
{
	(void)state;
	run(16, 4, scatter_body);
	run(512, 64, scatter_body);
}

static void move_body(struct gagg_comm *c, int rank)
{
	unsigned char mine[600], every[2400];

	for (size_t n = 1; n < 600; n = n * 2 + 1) {
		for (size_t i = 0; i < n; i++)
			mine[i] = (unsigned char)(i * 7 + (size_t)rank * 50 + n);
		memset(every, 0, sizeof(every));
		CHECK(!gagg_allgather(mine, n, every, c));
		for (size_t i = 0; i < N * n; i++)
			CHECK(every[i] == (unsigned char)(i % n * 7 + i / n * 50 + n));
		/* in place */
		memset(every, 0, sizeof(every));
		memcpy(every + (size_t)rank * n, mine, n);
		CHECK(!gagg_allgather(every + (size_t)rank * n, n, every, c));
		for (size_t i = 0; i < N * n; i++)
			CHECK(every[i] == (unsigned char)(i % n * 7 + i / n * 50 + n));
		for (int root = 0; root < N; root++) {
			unsigned char b[601];

			memset(b, 0x33, sizeof(b));
			if (rank == root)
				memcpy(b, mine, n);
			CHECK(!gagg_broadcast(b, n, root, c));
			for (size_t i = 0; i < n; i++)
				CHECK(b[i] == (unsigned char)(i * 7 + (size_t)root * 50 + n));
			CHECK(b[n] == 0x33);
		}
		CHECK(!gagg_barrier(c));
	}
}

static void allgather_broadcast__bytes(void **state)
{
	(void)state;
	run(16, 4, move_body);
	run(2, 1, move_body);
}

static unsigned int entered;

static void barrier_body(struct gagg_comm *c, int rank)
{
	for (unsigned int round = 1; round <= 20; round++) {
		if (rank == (int)round % N)
			usleep(1000);
		__atomic_fetch_add(&entered, 1, __ATOMIC_SEQ_CST);
		CHECK(!gagg_barrier(c));
		CHECK(__atomic_load_n(&entered, __ATOMIC_SEQ_CST) >= N * round);
	}
}

static void barrier__waits(void **state)
{
	(void)state;
	entered = 0;
	run(8, 4, barrier_body);
}

/* --- non-blocking ------------------------------------------------------------ */

#define FLIGHT	12	/* more than the kernel takes at once */

static void flight_body(struct gagg_comm *c, int rank)
{
	struct gagg_request *req[FLIGHT];
	float x[FLIGHT][100], y[FLIGHT][100];
	int done;

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < FLIGHT; i++) {
			fill(x[i], rank, 100, i);
			CHECK(!gagg_iallreduce(x[i], y[i], 100, GAGG_FLOAT32, GAGG_SUM, c, NULL,
					       &req[i]));
		}
		for (int k = 0; k < FLIGHT; k++) {
			/* last first, first first, or by asking */
			int i = round == 0 ? FLIGHT - 1 - k : k;

			if (round < 2) {
				CHECK(!gagg_wait(req[i], GAGG_FOREVER));
			} else {
				do
					CHECK(!gagg_test(req[i], &done));
				while (!done);
			}
			sum_is(y[i], 100, i, 1);
		}
	}
	/* what is not waited for is freed with the communicator */
	CHECK(!gagg_ibarrier(c, &req[0]));
}

static void iallreduce__in_flight(void **state)
{
	(void)state;
	run(256, 64, flight_body);
	run(20, 5, flight_body);
	assert_true(fake.too_many > 0);
}

static void wait_body(struct gagg_comm *c, int rank)
{
	struct gagg_request *req;
	struct io_uring_sqe sqe;
	struct gagg_uring_cmd cmd;
	struct gagg_ioc_wait *arg;
	int done;

	if (rank == 0) {
		CHECK(!gagg_ibarrier(c, &req));
		CHECK(gagg_wait(req, 0) == GAGG_ERR_TIMEOUT);
		CHECK(gagg_wait(req, 20) == GAGG_ERR_TIMEOUT);
		CHECK(!gagg_test(req, &done) && !done);
		memset(&sqe, 0xff, sizeof(sqe));
		sqe.user_data = 42;
		CHECK(!gagg_prep_wait(&sqe, req));
		memcpy(&cmd, sqe.cmd, sizeof(cmd));
		arg = (struct gagg_ioc_wait *)(uintptr_t)cmd.addr;
		CHECK(sqe.opcode == IORING_OP_URING_CMD && sqe.cmd_op == GAGG_IOC_WAIT &&
		      sqe.fd == gagg_fd(c) && sqe.user_data == 42 && !sqe.flags);
		CHECK(cmd.len == sizeof(*arg) && arg->timeout_ns == UINT64_MAX && arg->op == 1 &&
		      !arg->chunk);
	}
	pthread_barrier_wait(&all);
	if (rank)
		CHECK(!gagg_ibarrier(c, &req));
	CHECK(!gagg_wait(req, 60000));
	/* nothing to be done is done */
	CHECK(!gagg_iallreduce(NULL, NULL, 0, GAGG_FLOAT32, GAGG_SUM, c, NULL, &req));
	CHECK(gagg_prep_wait(&sqe, req) == GAGG_ERR_INVALID);
	CHECK(!gagg_test(req, &done) && done);
	CHECK(!gagg_allreduce(NULL, NULL, 0, GAGG_INT32, GAGG_SUM, c, NULL));
	CHECK(!gagg_allgather(NULL, 0, NULL, c) && !gagg_broadcast(NULL, 0, 1, c));
}

static void wait__timeout(void **state)
{
	(void)state;
	run(8, 4, wait_body);
}

/* --- system calls -------------------------------------------------------------- */

static void budget_body(struct gagg_comm *c, int rank)
{
	static float x[N][8 * 4096];
	struct gagg_plan *plan;
	unsigned int before;

	CHECK(!gagg_plan_create(c, 8 * 4096, GAGG_FLOAT32, &plan));
	for (int i = 0; i < 8 * 4096; i++)
		x[rank][i] = (float)i;
	for (int step = 0; step < 3; step++) {
		before = fake.calls[rank];
		CHECK(!gagg_allreduce(x[rank], x[rank], 8 * 4096, GAGG_FLOAT32, GAGG_MEAN, c,
				      plan));
		CHECK(fake.calls[rank] - before <= 4);
		before = fake.calls[rank];
		CHECK(!gagg_allreduce(x[rank], x[rank], 8 * 4096, GAGG_FLOAT32, GAGG_MEAN, c,
				      NULL));
		CHECK(fake.calls[rank] - before <= 4);
		CHECK(x[rank][8 * 4096 - 1] == 8 * 4096 - 1);
	}
	gagg_plan_free(plan);
}

static void allreduce__system_calls(void **state)
{
	(void)state;
	run(4096, 1024, budget_body);
}

/* --- refusals --------------------------------------------------------------------- */

static void refuse_body(struct gagg_comm *c, int rank)
{
	float x[8] = { 0 };
	struct gagg_request *req = (struct gagg_request *)x;
	struct gagg_comm *sub;

	(void)rank;
	CHECK(gagg_allreduce(x, x, 8, GAGG_INT32, GAGG_MEAN, c, NULL) == GAGG_ERR_UNSUPPORTED);
	CHECK(strstr(gagg_last_error(c), "divide the sum"));
	CHECK(gagg_allreduce(x, x, 8, GAGG_BYTE, GAGG_SUM, c, NULL) == GAGG_ERR_UNSUPPORTED);
	CHECK(gagg_allreduce(x, x, 8, (enum gagg_dtype)99, GAGG_SUM, c, NULL) ==
	      GAGG_ERR_UNSUPPORTED);
	CHECK(gagg_allreduce(x, x, 8, GAGG_FLOAT32, (enum gagg_op)9, c, NULL) ==
	      GAGG_ERR_INVALID);
	CHECK(gagg_iallreduce(x, NULL, 8, GAGG_FLOAT32, GAGG_SUM, c, NULL, &req) ==
	      GAGG_ERR_INVALID && !req);
	CHECK(gagg_allreduce(x, x, SIZE_MAX / 2, GAGG_FLOAT32, GAGG_SUM, c, NULL) ==
	      GAGG_ERR_INVALID);
	CHECK(gagg_broadcast(x, 8, N, c) == GAGG_ERR_INVALID);
	CHECK(gagg_broadcast(x, 8, -1, c) == GAGG_ERR_INVALID);
	CHECK(gagg_comm_free(c) == GAGG_ERR_INVALID);
	CHECK(gagg_group_rank(c, N) == GAGG_ERR_INVALID && gagg_group_rank(c, 2) == 2);
	/* all of that has left it usable */
	CHECK(!gagg_allreduce(x, x, 8, GAGG_FLOAT32, GAGG_SUM, c, NULL));
	CHECK(!gagg_comm_split(c, GAGG_COLOR_NONE, 0, &sub) && !sub);
}

static void op__refuses(void **state)
{
	(void)state;
	run(8, 4, refuse_body);
}

static void weight_body(struct gagg_comm *c, int rank)
{
	float x[8] = { 1 };

	(void)rank;
	CHECK(gagg_weight(c) == 9);
	CHECK(gagg_allreduce(x, x, 8, GAGG_FLOAT32, GAGG_MEAN, c, NULL) == GAGG_ERR_UNSUPPORTED);
	CHECK(!gagg_allreduce(x, x, 8, GAGG_FLOAT32, GAGG_MAX, c, NULL));
}

static void op__weights(void **state)
{
	(void)state;
	weights = 9;
	run(8, 4, weight_body);
	weights = N;
}

/* --- communicators ------------------------------------------------------------- */

static void split_body(struct gagg_comm *c, int rank)
{
	struct gagg_comm *half, *pair;
	int32_t x, all4[N];

	/* odd and even; in descending order */
	CHECK(!gagg_comm_split(c, rank & 1, -rank, &half));
	CHECK(gagg_size(half) == 2 && gagg_rank(half) == (rank < 2 ? 1 : 0));
	CHECK(gagg_group_rank(half, 0) == (rank & 1) + 2);
	x = rank;
	CHECK(!gagg_allgather(&x, 4, all4, half));
	CHECK(all4[0] == (rank & 1) + 2 && all4[1] == (rank & 1));
	CHECK(!gagg_allreduce(&x, &x, 1, GAGG_INT32, GAGG_SUM, half, NULL));
	CHECK(x == 2 + 2 * (rank & 1));
	/* in both at once, and a split of a split */
	CHECK(!gagg_allreduce(&x, &x, 1, GAGG_INT32, GAGG_SUM, c, NULL));
	CHECK(x == 12);
	CHECK(!gagg_comm_split(half, 0, 0, &pair));
	CHECK(gagg_rank(pair) == gagg_rank(half));
	CHECK(!gagg_barrier(pair));
	CHECK(!gagg_comm_free(pair));
	CHECK(!gagg_comm_free(half));
	/* 3 of 4 */
	CHECK(!gagg_comm_split(c, rank == 1 ? GAGG_COLOR_NONE : 5, 0, &half));
	CHECK((rank == 1) == !half);
	if (half) {
		struct gagg_request *req;

		x = 1;
		CHECK(!gagg_iallreduce(&x, &x, 1, GAGG_INT32, GAGG_SUM, half, NULL, &req));
		CHECK(!gagg_wait(req, GAGG_FOREVER) && x == 3);
	}
	/* one that is freed after the group was left */
	CHECK(!gagg_finalize(c));
	if (half) {
		CHECK(gagg_barrier(half) == GAGG_ERR_CLOSED);
		CHECK(strstr(gagg_last_error(half), "was left"));
		CHECK(!gagg_comm_free(half));
	}
}

static void split__colors(void **state)
{
	(void)state;
	run_with(8, 4, 0, false, split_body);
}

static void full_body(struct gagg_comm *c, int rank)
{
	struct gagg_comm *sub[FAKE_CHANNELS];
	int n = 0, err = 0;

	(void)rank;
	while (n < FAKE_CHANNELS && !(err = gagg_comm_split(c, 0, 0, &sub[n])))
		n++;
	CHECK(n == FAKE_CHANNELS - 1 && err == GAGG_ERR_NOMEM && !sub[n]);
	CHECK(!gagg_barrier(c));
	while (n--)
		CHECK(!gagg_comm_free(sub[n]));
}

static void split__full(void **state)
{
	(void)state;
	run(8, 4, full_body);
}

static void poor_body(struct gagg_comm *c, int rank)
{
	struct gagg_comm *sub;

	if (!rank)
		fake.poor = 1 << 2;
	CHECK(!gagg_barrier(c));
	/* rank 2 has no memory: nobody of its color gets a channel, others do */
	CHECK(gagg_comm_split(c, rank == 1, 0, &sub) == (rank == 1 ? 0 : GAGG_ERR_NOMEM));
	CHECK((rank == 1) == !!sub);
	if (rank != 1)
		CHECK(strstr(gagg_last_error(c), rank == 2 ? "channel" : "rank 2: out of memory"));
	CHECK(!gagg_comm_free(sub));
	CHECK(!gagg_barrier(c));
	if (!rank)
		fake.poor = 0;
	CHECK(!gagg_barrier(c));
	CHECK(!gagg_comm_split(c, 0, 0, &sub) && !gagg_barrier(sub) && !gagg_comm_free(sub));
}

static void split__all_or_nobody(void **state)
{
	(void)state;
	run(8, 4, poor_body);
}

/* --- endings ----------------------------------------------------------------------- */

static void die_body(struct gagg_comm *c, int rank)
{
	struct gagg_comm *sub;
	struct gagg_request *req;
	struct gagg_failure f;
	float x[100], y[100];
	int done = 0, err = 0;

	fill(x, rank, 100, 0);
	CHECK(!gagg_comm_split(c, 0, 0, &sub));
	CHECK(!gagg_barrier(c));
	if (rank == 2) {
		pthread_mutex_lock(&fake.lock);
		fake_end(GAGG_R_DIED, 2, 0, 0, 0);
		pthread_mutex_unlock(&fake.lock);
	} else if (rank == 0) {
		CHECK(!gagg_iallreduce(x, y, 100, GAGG_FLOAT32, GAGG_MAX, c, NULL, &req));
		while (!done)
			err = gagg_test(req, &done);
		CHECK(err == GAGG_ERR_PEER);
	} else {
		CHECK(gagg_allreduce(x, y, 100, GAGG_FLOAT32, GAGG_MAX, c, NULL) ==
		      GAGG_ERR_PEER);
	}
	/* from then on, and on the other channel */
	CHECK(gagg_barrier(c) == GAGG_ERR_PEER && gagg_barrier(sub) == GAGG_ERR_PEER);
	gagg_failure(c, &f);
	CHECK(f.reason == GAGG_R_DIED && f.rank == 2 && f.epoch == fake.epoch);
	CHECK(!strncmp(gagg_last_error(c), "rank 2 died (epoch ", 19));
	pthread_barrier_wait(&all);
	CHECK(!gagg_reattach(c));
	CHECK(gagg_barrier(sub) == GAGG_ERR_CLOSED);
	CHECK(gagg_reattach(sub) == GAGG_ERR_INVALID);
	CHECK(!gagg_comm_free(sub));
	CHECK(!gagg_allreduce(x, y, 100, GAGG_FLOAT32, GAGG_SUM, c, NULL));
	sum_is(y, 100, 0, 1);
}

static void epoch__died_and_again(void **state)
{
	(void)state;
	run(8, 4, die_body);
}

static void desync_body(struct gagg_comm *c, int rank)
{
	float x[100] = { 1 }, y[400];
	int err = rank == 3 ? gagg_allgather(x, 4, y, c) :
			      gagg_allreduce(x, y, 100, GAGG_FLOAT32, GAGG_MAX, c, NULL);

	CHECK(err == GAGG_ERR_DESYNC);
	CHECK(!strncmp(gagg_last_error(c),
		       "rank 3 called all-gather where rank 0 called all-reduce of float32", 66));
	gagg_abort(c);
}

static void mean_body(struct gagg_comm *c, int rank)
{
	float x[100] = { 1 };

	/* the same lanes, another meaning */
	CHECK(gagg_allreduce(x, x, 100, GAGG_FLOAT32, rank ? GAGG_SUM : GAGG_MEAN, c, NULL) ==
	      GAGG_ERR_DESYNC);
	gagg_abort(c);
}

static void epoch__desync(void **state)
{
	(void)state;
	run_with(8, 4, 0, false, desync_body);
	run_with(8, 4, 0, false, mean_body);
}

static void bye_body(struct gagg_comm *c, int rank)
{
	/* rank 0 leaves while the others' barrier has not come back */
	if (rank == 3) {
		pthread_mutex_lock(&fake.lock);
		fake_end(GAGG_R_BYE, 0, 0, 0, 0);
		pthread_mutex_unlock(&fake.lock);
	}
	CHECK(!gagg_finalize(c));
}

static void finalize__bye(void **state)
{
	(void)state;
	run_with(8, 4, 0, false, bye_body);
}

static void late_body(struct gagg_comm *c, int rank)
{
	int x = 0;

	if (rank) {
		CHECK(gagg_allreduce(&x, &x, 1, GAGG_INT32, GAGG_SUM, c, NULL) ==
		      GAGG_ERR_TIMEOUT);
		CHECK(gagg_barrier(c) == GAGG_ERR_TIMEOUT);
	}
	pthread_barrier_wait(&all);
	gagg_abort(c);
}

static void op__timeout(void **state)
{
	(void)state;
	run_with(8, 4, 50, false, late_body);
}

/* alone, with nobody to answer */
static void init__fails(void **state)
{
	struct gagg_config cfg = { 0 };
	struct gagg_comm *c = (struct gagg_comm *)&cfg;

	(void)state;
	fake_start(8, 4);
	assert_int_equal(gagg_init_fd(&c, FAKE_FD + 1, 20), GAGG_ERR_TIMEOUT);
	assert_null(c);
	assert_string_equal(gagg_last_error(NULL),
			    "time is over; not joined yet: rank 0 (host not heard), rank 2 (host not heard), rank 3 (host not heard)");
	fake.status.mismatch = 1 + GAGG_DG_WINDOW;
	fake.status.mismatch_node = 3;
	assert_int_equal(gagg_init_fd(&c, FAKE_FD + 1, 0), GAGG_ERR_MISMATCH);
	assert_string_equal(gagg_last_error(NULL),
			    "config-mismatch: window differs on the host of rank 3");
	fake_stop();

	assert_int_equal(gagg_init(&c, &cfg), GAGG_ERR_INVALID);
	cfg.size = sizeof(cfg);
	assert_int_equal(gagg_init(&c, &cfg), GAGG_ERR_INVALID);
	cfg.group = "a-name-of-far-more-than-31-characters";
	assert_int_equal(gagg_init(&c, &cfg), GAGG_ERR_INVALID);
	cfg.group = "g";
	cfg.socket = "/nonexistent/gaggd.sock";
	assert_int_equal(gagg_init(&c, &cfg), GAGG_ERR_BROKER);
	assert_non_null(strstr(gagg_last_error(NULL), "is gaggd running"));
	assert_null(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(allreduce__sums),
		cmocka_unit_test(allreduce__plan),
		cmocka_unit_test(allreduce__half),
		cmocka_unit_test(allreduce__int),
		cmocka_unit_test(allreduce__nonfinite),
		cmocka_unit_test(reduce_scatter__parts),
		cmocka_unit_test(allgather_broadcast__bytes),
		cmocka_unit_test(barrier__waits),
		cmocka_unit_test(iallreduce__in_flight),
		cmocka_unit_test(wait__timeout),
		cmocka_unit_test(allreduce__system_calls),
		cmocka_unit_test(op__refuses),
		cmocka_unit_test(op__weights),
		cmocka_unit_test(split__colors),
		cmocka_unit_test(split__full),
		cmocka_unit_test(split__all_or_nobody),
		cmocka_unit_test(epoch__died_and_again),
		cmocka_unit_test(epoch__desync),
		cmocka_unit_test(finalize__bye),
		cmocka_unit_test(op__timeout),
		cmocka_unit_test(init__fails),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
