// SPDX-License-Identifier: GPL-2.0
/* links: agent/lib/agree.c agent/lib/broker.c agent/lib/message.c agent/lib/carry.c agent/lib/comm.c agent/lib/known.c agent/lib/call.c agent/lib/error.c agent/lib/given_up.c agent/lib/lanes.c agent/lib/late.c agent/lib/narrow.c agent/lib/op.c agent/lib/plan.c agent/lib/process.c agent/lib/progress.c agent/lib/quant.c agent/lib/quant_avx2.c agent/lib/quant_form.c agent/lib/region.c agent/lib/session.c agent/lib/split.c agent/lib/store.c agent/lib/store_get.c agent/lib/uring.c agent/lib/wait.c sync kmod/core/wire.c; libs: -pthread */
/*
 * Programs that are legal in MPI end, in whatever order ranks wait: random operations
 * on three communicators, more in flight than the kernel takes and longer than its
 * ring. All ranks start them in one order; which of them a rank blocks in, when it
 * waits for the others, and for which, is its own choice.
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
#include "full.h"

#define OPS		40
#define COMMS		3
#define RING		8
#define LONGEST		(3 * RING * FAKE_LANES)
#define TIMEOUT_MS	120000

static uint32_t seed;

/* splitmix */
static uint32_t dice(uint64_t *state, uint32_t sides)
{
	uint64_t x = *state += 0x9e3779b97f4a7c15ULL;

	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	return (uint32_t)((x ^ x >> 31) >> 32) % sides;
}

/* an operation in flight, of @n elements; 0: a barrier */
struct flying {
	struct gagg_request *req;
	size_t n;
	int number;
	int32_t x[LONGEST];
};

/* of the rank alone */
struct program {
	struct flying op[OPS];
	int started;
	int in_flight;
	uint64_t own;		/* dice of this rank */
};

static int32_t element(int rank, int number, size_t i)
{
	return rank * 1000 + number * 37 + (int32_t)i;
}

static void check_sum(const struct flying *op)
{
	size_t i;
	int r;

	for (i = 0; i < op->n; i++) {
		int32_t sum = 0;

		for (r = 0; r < N; r++)
			sum += element(r, op->number, i);
		if (op->x[i] != sum) {
			CHECK(!"sum");
			return;
		}
	}
}

static void finish(struct program *p, struct flying *op)
{
	CHECK(!gagg_wait(&op->req, TIMEOUT_MS));
	p->in_flight--;
	check_sum(op);
}

/* one that is in flight, wherever; or a look at it */
static void finish_any(struct program *p)
{
	uint32_t k = dice(&p->own, (uint32_t)p->in_flight);
	int i, done;

	for (i = 0; !p->op[i].req || k--; i++)
		;
	if (dice(&p->own, 2)) {
		finish(p, &p->op[i]);
		return;
	}
	CHECK(!gagg_test(&p->op[i].req, &done));
	if (done) {
		p->in_flight--;
		check_sum(&p->op[i]);
	}
}

/* @all: the dice of all ranks */
static void start_one(struct program *p, struct gagg_comm *c, uint64_t *all, int rank)
{
	struct flying *op = &p->op[p->started];
	size_t i;
	int err;

	op->number = p->started++;
	op->n = dice(all, 8) ? dice(all, dice(all, 3) ? 20 : LONGEST) + 1 : 0;
	for (i = 0; i < op->n; i++)
		op->x[i] = element(rank, op->number, i);
	if (!dice(&p->own, 4)) {
		err = op->n ? gagg_allreduce(op->x, op->x, op->n, GAGG_INT32, GAGG_SUM, c, NULL) :
			      gagg_barrier(c);
		CHECK(!err);
		check_sum(op);
		return;
	}
	err = op->n ? gagg_iallreduce(op->x, op->x, op->n, GAGG_INT32, GAGG_SUM, c, NULL,
				      &op->req) : gagg_ibarrier(c, &op->req);
	CHECK(!err);
	p->in_flight++;
}

static void random_body(struct gagg_comm *c, int rank)
{
	struct program *p = calloc(1, sizeof(*p));
	struct gagg_comm *comm[COMMS] = { c };
	uint64_t all = seed;
	int i;

	p->own = seed + (uint64_t)(rank + 1) * 1000003;
	for (i = 1; i < COMMS; i++)
		CHECK(!gagg_comm_split(c, 0, i & 1 ? -rank : rank, &comm[i]));
	for (i = 0; i < OPS && !failures; i++) {
		start_one(p, comm[dice(&all, COMMS)], &all, rank);
		while (p->in_flight && !dice(&p->own, 6))
			finish_any(p);
	}
	for (i = OPS; i-- && !failures;)
		if (p->op[i].req)
			finish(p, &p->op[i]);
	if (failures)
		printf("# rank %d: %s\n", rank, gagg_last_error(c));
	for (i = 1; i < COMMS && !failures; i++)
		CHECK(!gagg_comm_free(comm[i]));
	free(p);
}

static void order__random(void **state)
{
	const char *env = getenv("SEED");
	uint32_t n = env ? 1 : full_or(200, 20);

	(void)state;
	for (seed = env ? (uint32_t)atoi(env) : 1; n--; seed++) {
		printf("# seed %u\n", seed);
		run_with(RING, 4, TIMEOUT_MS, true, random_body);
	}
}

/* ranks that block in another call than the one that others wait for */
static void cross(struct gagg_comm *c, int rank, int n, size_t length)
{
	int32_t *x = calloc((size_t)n * length, sizeof(*x)), one = 1;
	struct gagg_request *req[OPS];
	struct gagg_comm *other;
	int i;

	CHECK(!gagg_comm_split(c, 0, 0, &other));
	for (i = 0; i < n; i++)
		CHECK(!gagg_iallreduce(x + (size_t)i * length, x + (size_t)i * length, length,
				       GAGG_INT32, GAGG_SUM, c, NULL, &req[i]));
	if (!rank)
		CHECK(!gagg_allreduce(&one, &one, 1, GAGG_INT32, GAGG_SUM, other, NULL));
	for (i = 0; i < n; i++)
		CHECK(!gagg_wait(&req[i], TIMEOUT_MS));
	if (rank)
		CHECK(!gagg_allreduce(&one, &one, 1, GAGG_INT32, GAGG_SUM, other, NULL));
	CHECK(one == N);
	CHECK(!gagg_comm_free(other));
	free(x);
}

static void many_body(struct gagg_comm *c, int rank)
{
	cross(c, rank, OPS, 4);
}

static void long_body(struct gagg_comm *c, int rank)
{
	cross(c, rank, 1, LONGEST);
}

static void order__more_than_the_kernel_takes(void **state)
{
	(void)state;
	run_with(RING, 4, TIMEOUT_MS, true, many_body);
}

static void order__longer_than_the_ring(void **state)
{
	(void)state;
	run_with(RING, 4, TIMEOUT_MS, true, long_body);
}

/* a rank that does something else, and calls nothing, until the others are done */
static void elsewhere_body(struct gagg_comm *c, int rank)
{
	static int done;
	int32_t x[LONGEST] = { 0 };
	struct gagg_request *req;

	if (!rank)
		__atomic_store_n(&done, 0, __ATOMIC_SEQ_CST);
	CHECK(!gagg_barrier(c));
	CHECK(!gagg_iallreduce(x, x, LONGEST, GAGG_INT32, GAGG_SUM, c, NULL, &req));
	for (int i = 0; !rank && i < TIMEOUT_MS && __atomic_load_n(&done, __ATOMIC_SEQ_CST) < 3; i++)
		usleep(1000);
	CHECK(rank || __atomic_load_n(&done, __ATOMIC_SEQ_CST) == 3);
	CHECK(!gagg_wait(&req, TIMEOUT_MS));
	__atomic_add_fetch(&done, 1, __ATOMIC_SEQ_CST);
}

static void order__elsewhere(void **state)
{
	(void)state;
	run_with(RING, 4, TIMEOUT_MS, true, elsewhere_body);
}

/* one thread has two sessions, and waits in the second's first */
static struct gagg_comm *comms[N];

static void two_sessions(int rank)
{
	static int32_t x[N][OPS][LONGEST];
	struct gagg_request *req[2][OPS];
	int s, i;

	for (s = 0; s < 2; s++)
		for (i = 0; i < OPS; i++)
			CHECK(!gagg_iallreduce(x[rank + s][i], x[rank + s][i], LONGEST, GAGG_INT32,
					       GAGG_SUM, comms[rank + s], NULL, &req[s][i]));
	for (s = 2; s--;)
		for (i = 0; i < OPS; i++)
			CHECK(!gagg_wait(&req[s][i], TIMEOUT_MS));
}

static void sessions_body(struct gagg_comm *c, int rank)
{
	comms[rank] = c;
	pthread_barrier_wait(&all);
	if (!(rank & 1))
		two_sessions(rank);
	pthread_barrier_wait(&all);
}

static void order__two_sessions_of_a_thread(void **state)
{
	(void)state;
	run_with(RING, 4, TIMEOUT_MS, true, sessions_body);
}

/* communicators of one session, each of a thread of its own */
static void *sums(void *arg)
{
	struct gagg_comm *c = arg;
	struct flying op = { .n = LONGEST };
	size_t i;

	for (op.number = 0; op.number < OPS && !failures; op.number++) {
		for (i = 0; i < op.n; i++)
			op.x[i] = element(gagg_rank(c), op.number, i);
		CHECK(!gagg_iallreduce(op.x, op.x, op.n, GAGG_INT32, GAGG_SUM, c, NULL,
				       &op.req));
		CHECK(!gagg_wait(&op.req, TIMEOUT_MS));
		check_sum(&op);
	}
	return NULL;
}

static void threads_body(struct gagg_comm *c, int rank)
{
	struct gagg_comm *comm[COMMS] = { c };
	pthread_t thread[COMMS];
	int i;

	for (i = 1; i < COMMS; i++)
		CHECK(!gagg_comm_split(c, 0, rank, &comm[i]));
	for (i = 0; i < COMMS; i++)
		pthread_create(&thread[i], NULL, sums, comm[i]);
	for (i = 0; i < COMMS; i++)
		pthread_join(thread[i], NULL);
	for (i = 1; i < COMMS && !failures; i++)
		CHECK(!gagg_comm_free(comm[i]));
}

static void order__a_thread_each(void **state)
{
	(void)state;
	run_with(RING, 4, TIMEOUT_MS, true, threads_body);
}

/* what is left behind while the library's thread is at work */
static void abort_body(struct gagg_comm *c, int rank)
{
	int32_t x[LONGEST] = { 0 }, y[LONGEST] = { 0 };
	struct gagg_request *req[2];
	struct gagg_comm *other;
	int err;

	CHECK(!gagg_comm_split(c, 0, 0, &other));
	if (rank != 2)
		CHECK(!gagg_iallreduce(x, x, LONGEST, GAGG_INT32, GAGG_SUM, c, NULL, &req[0]));
	CHECK(!gagg_iallreduce(y, y, LONGEST, GAGG_INT32, GAGG_SUM, other, NULL, &req[1]));
	if (rank == 3) {
		pthread_mutex_lock(&fake.lock);
		fake_end(GAGG_R_DIED, 3, 0, 0, 0);
		pthread_mutex_unlock(&fake.lock);
	}
	pthread_barrier_wait(&all);
	if (rank == 1)
		CHECK(gagg_wait(&req[0], TIMEOUT_MS) == GAGG_ERR_PEER && !req[0] &&
		      !gagg_wait(&req[0], TIMEOUT_MS));
	CHECK(!gagg_reattach(c));
	CHECK(!gagg_comm_free(other));
	CHECK(!gagg_allreduce(x, x, LONGEST, GAGG_INT32, GAGG_SUM, c, NULL));
	/* cannot end; the others' leaving may be noticed before ours */
	if (!rank)
		CHECK(!gagg_iallreduce(x, x, LONGEST, GAGG_INT32, GAGG_SUM, c, NULL, &req[0]));
	pthread_barrier_wait(&all);
	gagg_abort(c);
	if (rank)
		return;
	err = gagg_wait(&req[0], TIMEOUT_MS);
	CHECK((err == GAGG_ERR_CLOSED || err == GAGG_ERR_PEER) && !req[0]);
	CHECK(strstr(gagg_last_error(NULL), "freed before the operation had ended"));
}

static void order__left_behind(void **state)
{
	(void)state;
	run_with(RING, 4, TIMEOUT_MS, false, abort_body);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order__more_than_the_kernel_takes),
		cmocka_unit_test(order__longer_than_the_ring),
		cmocka_unit_test(order__elsewhere),
		cmocka_unit_test(order__two_sessions_of_a_thread),
		cmocka_unit_test(order__a_thread_each),
		cmocka_unit_test(order__left_behind),
		cmocka_unit_test(order__random),
	};

	full = full_asked(argc, argv);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("lib_order", tests, NULL, NULL);
}
