// SPDX-License-Identifier: GPL-2.0
/* links: agent/lib/agree.c agent/lib/broker.c agent/lib/message.c agent/lib/carry.c agent/lib/comm.c agent/lib/known.c agent/lib/call.c agent/lib/error.c agent/lib/given_up.c agent/lib/lanes.c agent/lib/late.c agent/lib/narrow.c agent/lib/op.c agent/lib/plan.c agent/lib/process.c agent/lib/progress.c agent/lib/quant.c agent/lib/quant_avx2.c agent/lib/quant_form.c agent/lib/region.c agent/lib/session.c agent/lib/split.c agent/lib/store.c agent/lib/store_get.c agent/lib/uring.c agent/lib/wait.c sync kmod/core/wire.c; libs: -pthread */
/*
 * libgagg's collectives: what comes out, in flight and blocking, and how many
 * system calls it takes.
 */
#define _GNU_SOURCE 1
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include "comm.h"
#include "fake_ranks.h"
#include "gagg_uring.h"
#include "plan.h"

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
	/* each chunk has an exponent of its own */
	for (int i = 0; i < 1000; i++)
		x[i] = ldexpf(1, i / 8 % 20);
	for (int step = 0; step < 30; step++)
		CHECK(!gagg_allreduce(x, y, 1000, GAGG_FLOAT32, GAGG_SUM, c, plan));
	for (int i = 0; i < 125; i++)
		CHECK(plan->exp[i] == 128 + i % 20 || plan->exp[i] == 129 + i % 20);
	/* of an epoch whose chunks were longer: there were fewer, and other ones */
	plan->lanes *= 2;
	plan->chunks /= 2;
	plan->exp[0] = 1;
	CHECK(!gagg_allreduce(x, y, 1000, GAGG_FLOAT32, GAGG_SUM, c, plan));
	CHECK(plan->chunks >= 1000 / 8 && plan->lanes == 8);
	CHECK(plan->exp[0] == 128 || plan->exp[0] == 129);
	CHECK(gagg_allreduce(x, y, 999, GAGG_FLOAT32, GAGG_SUM, c, plan) == GAGG_ERR_INVALID);
	CHECK(gagg_allreduce(x, y, 1000, GAGG_FLOAT16, GAGG_SUM, c, plan) == GAGG_ERR_INVALID);
	/* it does not end before the others have begun it */
	if (rank == 0) {
		CHECK(!gagg_iallreduce(x, y, 1000, GAGG_FLOAT32, GAGG_SUM, c, plan, &req));
		CHECK(gagg_allreduce(x, y, 1000, GAGG_FLOAT32, GAGG_SUM, c, plan) ==
		      GAGG_ERR_BUSY);
	}
	pthread_barrier_wait(&all);
	if (rank)
		CHECK(!gagg_iallreduce(x, y, 1000, GAGG_FLOAT32, GAGG_SUM, c, plan, &req));
	CHECK(!gagg_wait(&req, GAGG_FOREVER));
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

static void long_body(struct gagg_comm *c, int rank)
{
	int64_t x[100], y[100], part[25];
	struct gagg_plan *plan;
	struct gagg_result res;

	for (int i = 0; i < 100; i++)
		x[i] = i < 16 ? 0 : (i - 50) * (rank + 1) * 0x123456789LL;
	CHECK(!gagg_allreduce(x, y, 100, GAGG_INT64, GAGG_SUM, c, NULL));
	for (int i = 0; i < 100; i++)
		CHECK(y[i] == (i < 16 ? 0 : (i - 50) * 10 * 0x123456789LL));
	CHECK(!gagg_reduce_scatter(x, part, 25, GAGG_INT64, GAGG_SUM, c, NULL));
	CHECK(!memcmp(part, y + 25 * rank, sizeof(part)));
	/* once around; one element alone */
	x[0] = INT64_MAX;
	CHECK(!gagg_allreduce(x, y, 1, GAGG_INT64, GAGG_SUM, c, NULL) && y[0] == -4);
	gagg_last_result(c, &res);
	CHECK(!res.overflow && res.contributors == N);
	/* a chunk that ends with a zero */
	CHECK(!gagg_allreduce(x, y, 2, GAGG_INT64, GAGG_SUM, c, NULL) && y[0] == -4 && !y[1]);
	CHECK(!gagg_allreduce(x + 1, x + 1, 3, GAGG_INT64, GAGG_SUM, c, NULL));
	CHECK(x[0] == INT64_MAX && !x[1] && !x[2] && !x[3] && x[99] == 49 * (rank + 1) * 0x123456789LL);
	CHECK(gagg_allreduce(x, y, 1, GAGG_INT64, GAGG_MIN, c, NULL) == GAGG_ERR_UNSUPPORTED);
	CHECK(gagg_allreduce(x, y, 1, GAGG_INT64, GAGG_MAX, c, NULL) == GAGG_ERR_UNSUPPORTED);
	CHECK(gagg_allreduce(x, y, 1, GAGG_INT64, GAGG_MEAN, c, NULL) == GAGG_ERR_UNSUPPORTED);
	CHECK(gagg_allreduce(x, y, 1, GAGG_FLOAT64, GAGG_SUM, c, NULL) == GAGG_ERR_UNSUPPORTED);
	CHECK(strstr(gagg_last_error(c), "reduce float32, or whole steps as int64"));
	CHECK(gagg_plan_create(c, 1, GAGG_FLOAT64, &plan) == GAGG_ERR_UNSUPPORTED && !plan);
	CHECK(strstr(gagg_last_error(c), "float32, float16 or bfloat16"));
}

static void allreduce__long(void **state)
{
	(void)state;
	run(8, 4, long_body);
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
				CHECK(!gagg_wait(&req[i], GAGG_FOREVER));
			} else {
				do
					CHECK(!gagg_test(&req[i], &done));
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

/* what an operation still reads is not freed */
static void plan_in_use_body(struct gagg_comm *c, int rank)
{
	float x[100] = { 1 }, y[100];
	struct gagg_request *req;
	struct gagg_plan *plan;

	CHECK(!gagg_plan_create(c, 100, GAGG_FLOAT32, &plan));
	if (rank == 0) {
		CHECK(!gagg_iallreduce(x, y, 100, GAGG_FLOAT32, GAGG_SUM, c, plan, &req));
		CHECK(gagg_plan_free(plan) == GAGG_ERR_BUSY);
		CHECK(strstr(gagg_last_error(NULL), "plan is in use"));
	}
	pthread_barrier_wait(&all);
	if (rank)
		CHECK(!gagg_iallreduce(x, y, 100, GAGG_FLOAT32, GAGG_SUM, c, plan, &req));
	CHECK(!gagg_wait(&req, GAGG_FOREVER) && y[0] == N);
	CHECK(!gagg_plan_free(plan) && !gagg_plan_free(NULL));
	CHECK(gagg_plan_free(plan) == GAGG_ERR_INVALID);
	CHECK(strstr(gagg_last_error(NULL), "it was freed before"));
}

static void plan__in_use(void **state)
{
	(void)state;
	run(256, 64, plan_in_use_body);
	run(8, 4, plan_in_use_body);
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
		CHECK(gagg_wait(&req, 0) == GAGG_ERR_TIMEOUT);
		CHECK(gagg_wait(&req, 20) == GAGG_ERR_TIMEOUT);
		CHECK(!gagg_test(&req, &done) && !done && req);
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
	CHECK(!gagg_wait(&req, 60000) && !req);
	/* it has ended, and is waited for once */
	CHECK(!gagg_wait(&req, 0) && !gagg_test(&req, &done) && done);
	/* nothing to be done is done */
	CHECK(!gagg_iallreduce(NULL, NULL, 0, GAGG_FLOAT32, GAGG_SUM, c, NULL, &req));
	CHECK(gagg_prep_wait(&sqe, req) == GAGG_ERR_INVALID);
	CHECK(!gagg_test(&req, &done) && done && !req);
	CHECK(!gagg_allreduce(NULL, NULL, 0, GAGG_INT32, GAGG_SUM, c, NULL));
	CHECK(!gagg_allgather(NULL, 0, NULL, c) && !gagg_broadcast(NULL, 0, 1, c));
}

static bool overlap_is_refused(struct gagg_comm *c, int err)
{
	return err == GAGG_ERR_INVALID && strstr(gagg_last_error(c), "overlap");
}

/* in place, or apart, and nothing between */
static void overlap_body(struct gagg_comm *c, int rank)
{
	struct gagg_request *req;
	float x[10 * N] = { 0 };
	char b[10 * N + 10] = { 0 };

	for (int at = -10; at <= 10; at++) {
		float *send = x + 10, *recv = send + at;
		int err;

		if (at && at > -10 && at < 10) {
			err = gagg_allreduce(send, recv, 10, GAGG_FLOAT32, GAGG_MAX, c, NULL);
			CHECK(overlap_is_refused(c, err));
			err = gagg_iallreduce(send, recv, 10, GAGG_FLOAT32, GAGG_MAX, c, NULL,
					      &req);
			CHECK(overlap_is_refused(c, err) && !req);
		} else {
			CHECK(!gagg_allreduce(send, recv, 10, GAGG_FLOAT32, GAGG_MAX, c, NULL));
		}
	}
	for (int at = 0; at < 10 * N; at++) {
		int err = gagg_allgather(b + at, 10, b, c);

		CHECK(at == rank * 10 ? !err : overlap_is_refused(c, err));
	}
	for (int at = 0; at < 10 * (N - 1); at++) {
		int err = at && at != rank * 10 ?
			  gagg_reduce_scatter(x, x + at, 10, GAGG_FLOAT32, GAGG_MAX, c, NULL) :
			  GAGG_ERR_BUSY;

		CHECK(err == GAGG_ERR_BUSY || overlap_is_refused(c, err));
	}
	CHECK(!gagg_reduce_scatter(x, x, 10, GAGG_FLOAT32, GAGG_MAX, c, NULL));
	CHECK(!gagg_reduce_scatter(x, x + rank * 10, 10, GAGG_FLOAT32, GAGG_MAX, c, NULL));
}

static void buffers__overlap(void **state)
{
	(void)state;
	run(8, 4, overlap_body);
}

static void wait__timeout(void **state)
{
	(void)state;
	run(8, 4, wait_body);
}

static void rounds_body(struct gagg_comm *c, int rank)
{
	(void)rank;
	CHECK(!gagg_barrier(c));
	/* as after so many: the next is a round later than can be told */
	c->cursor = c->region.geo.ring * (UINT32_MAX - 1ULL);
	c->filled = c->cursor;
	c->taken = c->cursor;
	CHECK(gagg_barrier(c) == GAGG_ERR_SYSTEM);
	CHECK(strstr(gagg_last_error(c), "used up"));
	CHECK(gagg_barrier(c) == GAGG_ERR_SYSTEM);
	gagg_abort(c);
}

static void barrier__no_more_rounds(void **state)
{
	(void)state;
	run_with(8, 4, 0, false, rounds_body);
}

/* --- system calls -------------------------------------------------------------- */

static void budget_body(struct gagg_comm *c, int rank)
{
	static float x[N][8 * 4096];
	struct gagg_plan *plan;
	unsigned int before;

	/* one that is slow asks once more, to say so */
	c->session->noticed = true;
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(allreduce__sums),
		cmocka_unit_test(allreduce__plan),
		cmocka_unit_test(allreduce__half),
		cmocka_unit_test(allreduce__int),
		cmocka_unit_test(allreduce__long),
		cmocka_unit_test(allreduce__nonfinite),
		cmocka_unit_test(reduce_scatter__parts),
		cmocka_unit_test(allgather_broadcast__bytes),
		cmocka_unit_test(barrier__waits),
		cmocka_unit_test(iallreduce__in_flight),
		cmocka_unit_test(plan__in_use),
		cmocka_unit_test(buffers__overlap),
		cmocka_unit_test(wait__timeout),
		cmocka_unit_test(barrier__no_more_rounds),
		cmocka_unit_test(allreduce__system_calls),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
