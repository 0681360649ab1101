// SPDX-License-Identifier: GPL-2.0
/* links: agent/lib/agree.c agent/lib/broker.c agent/lib/message.c agent/lib/carry.c agent/lib/comm.c agent/lib/known.c agent/lib/call.c agent/lib/error.c agent/lib/given_up.c agent/lib/lanes.c agent/lib/late.c agent/lib/narrow.c agent/lib/op.c agent/lib/plan.c agent/lib/process.c agent/lib/progress.c agent/lib/quant.c agent/lib/quant_avx2.c agent/lib/quant_form.c agent/lib/region.c agent/lib/session.c agent/lib/split.c agent/lib/store.c agent/lib/store_get.c agent/lib/uring.c agent/lib/wait.c sync kmod/core/wire.c; libs: -pthread */
/*
 * libgagg's communicators: what is refused, splitting, and the ways an epoch
 * ends.
 */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "comm.h"
#include "fake_ranks.h"
#include "full.h"
#include "given_up.h"

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
		CHECK(!gagg_wait(&req, GAGG_FOREVER) && x == 3);
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

/* homes of tensors are those with the fewest bytes; ids, of rank 0, count from 1 */
static void tensor_body(struct gagg_comm *c, int rank)
{
	static const uint64_t bytes[] = { 90, 40, 30, 20, 25, 1 };
	static const uint32_t homes[] = { 0, 1, 2, 2, 1, 2 };
	struct gagg_comm *of[6], *other;
	int i;

	for (i = 0; i < 6; i++) {
		CHECK(!gagg_comm_tensor(c, bytes[i], &of[i]));
		CHECK(of[i]->region.geo.channel % 3 == homes[i]);
		CHECK(gagg_rank(of[i]) == rank && gagg_size(of[i]) == N);
		CHECK(!gagg_barrier(of[i]));
		if (i == 2) {
			/* the first number that is free, and no home is preferred */
			CHECK(!gagg_comm_split(c, 0, 0, &other));
			CHECK(other->region.geo.channel == 4);
			CHECK(!gagg_comm_free(other));
		}
	}
	for (i = 0; i < 6; i++)
		CHECK(!gagg_comm_free(of[i]));
}

/* as gagg_reattach() leaves it if the kernel describes a channel with more homes than there can be */
static void no_homes_body(struct gagg_comm *c, int rank)
{
	struct gagg_geometry geo = c->region.geo;
	struct gagg_comm *of;

	CHECK(!gagg_barrier(c));
	geo.homes = GAGG_RANKS_MAX + 1;
	comm_fail(c, GAGG_ERR_CLOSED);
	region_unmap(&c->region);
	CHECK(region_map(&c->region, FAKE_FD + rank, &geo) == -EPROTO);
	CHECK(gagg_comm_tensor(c, 1, &of) == GAGG_ERR_CLOSED && !of);
	pthread_barrier_wait(&all);
	gagg_abort(c);
}

static void tensor__without_homes(void **state)
{
	(void)state;
	run_with(8, 4, 0, false, no_homes_body);
}

static void tensor__at_the_lightest_home(void **state)
{
	(void)state;
	fake.homes = 3;
	run(8, 4, tensor_body);
	fake.homes = 0;
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
			err = gagg_test(&req, &done);
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

/* what a child may do with what it has inherited: no request reaches the kernel */
static int child(struct gagg_comm *c, struct gagg_comm *sub, struct gagg_request *req, int how)
{
	int done = 0;

	fake.dead = true;
	/* a thread that is not here has held it, or might have */
	pthread_mutex_trylock(&c->lock);
	if (how == 0) {
		gagg_abort(c);
		return 0;
	}
	if (how == 1)
		return gagg_fd(c) != GAGG_ERR_CLOSED || gagg_finalize(c) != GAGG_ERR_CLOSED || gagg_comm_free(sub);
	if (gagg_barrier(sub) != GAGG_ERR_CLOSED || gagg_test(&req, &done) != GAGG_ERR_CLOSED ||
	    !done || gagg_reattach(c) != GAGG_ERR_CLOSED)
		return 1;
	return !strstr(gagg_last_error(c), "forked") || gagg_comm_free(sub) ||
	       gagg_finalize(c) != GAGG_ERR_CLOSED;
}

static void fork_body(struct gagg_comm *c, int rank)
{
	int32_t x[MAXLEN] = { 0 };
	struct gagg_request *req;
	struct gagg_comm *sub;
	int how, status;
	pid_t pid;

	CHECK(!gagg_comm_split(c, 0, 0, &sub));
	CHECK(!gagg_iallreduce(x, x, MAXLEN, GAGG_INT32, GAGG_SUM, c, NULL, &req));
	for (how = 0; how < 3 && !rank; how++) {
		pid = fork();
		if (!pid)
			_exit(child(c, sub, req, how));
		CHECK(waitpid(pid, &status, 0) == pid && !status);
	}
	CHECK(!gagg_wait(&req, GAGG_FOREVER) && !gagg_barrier(sub) && !gagg_comm_free(sub));
}

static void epoch__fork(void **state)
{
	(void)state;
	run(8, 4, fork_body);
}

/* --- forks beside the end of a session ---------------------------------------------- */

static bool forks_end;

static void *removes(void *arg)
{
	while (!__atomic_load_n(&forks_end, __ATOMIC_RELAXED))
		given_up_remove(arg);
	return NULL;
}

/* no child finds the lock held, though nobody has given up before */
static void given_up__fork(void **state)
{
	struct session s = { .owner = 0 };
	int i, status;
	pthread_t t;

	(void)state;
	pthread_create(&t, NULL, removes, &s);
	for (i = 0; i < (int)full_or(300, 60); i++) {
		pid_t child = fork();

		if (!child) {
			alarm(60);
			given_up_remove(&s);
			_exit(0);
		}
		assert_int_equal(waitpid(child, &status, 0), child);
		assert_int_equal(status, 0);
	}
	__atomic_store_n(&forks_end, true, __ATOMIC_RELAXED);
	pthread_join(t, NULL);
}

#define SECOND	"another thread is in a call"

/* of a thread beside the one that is in a call on @c */
static void refused_beside(struct gagg_comm *c)
{
	struct gagg_request *req = c->first;
	struct gagg_comm *sub = c;
	int32_t x = 0;
	int done = 1;

	CHECK(gagg_wait(&req, 0) == GAGG_ERR_BUSY && req == c->first);
	CHECK(gagg_test(&req, &done) == GAGG_ERR_BUSY && !done && req);
	CHECK(gagg_allreduce(&x, &x, 1, GAGG_INT32, GAGG_SUM, c, NULL) == GAGG_ERR_BUSY);
	CHECK(gagg_iallreduce(&x, &x, 1, GAGG_INT32, GAGG_SUM, c, NULL, &req) ==
	      GAGG_ERR_BUSY && !req);
	CHECK(gagg_allgather(&x, 0, &x, c) == GAGG_ERR_BUSY);
	CHECK(gagg_broadcast(&x, sizeof(x), 0, c) == GAGG_ERR_BUSY);
	CHECK(gagg_barrier(c) == GAGG_ERR_BUSY);
	CHECK(gagg_comm_split(c, 0, 0, &sub) == GAGG_ERR_BUSY && !sub);
	CHECK(gagg_reattach(c) == GAGG_ERR_BUSY);
	CHECK(gagg_finalize(c) == GAGG_ERR_BUSY);
	CHECK(strstr(gagg_last_error(c), SECOND) && strstr(gagg_last_error(NULL), SECOND));
	CHECK(!strcmp(c->error, "the first one's"));
}

static void *second_thread(void *arg)
{
	struct gagg_comm *c = arg;
	struct gagg_plan *plan;

	/* the operation has begun, and does not end before the others have begun it */
	while (!__atomic_load_n(&c->asleep, __ATOMIC_RELAXED))
		sched_yield();
	refused_beside(c);
	pthread_barrier_wait(&all);
	/* what fails afterwards has its own sentence */
	while (__atomic_load_n(&c->caller, __ATOMIC_ACQUIRE))
		sched_yield();
	CHECK(gagg_plan_create(c, 8, (enum gagg_dtype)99, &plan) == GAGG_ERR_UNSUPPORTED);
	CHECK(*gagg_last_error(c) && !strstr(gagg_last_error(c), SECOND));
	return NULL;
}

/* it is alone: no call of the first is left open */
static void *only_thread(void *arg)
{
	struct gagg_comm *c = arg;
	int32_t x = 1, y = 0;

	CHECK(!gagg_allreduce(&x, &y, 1, GAGG_INT32, GAGG_SUM, c, NULL) && y == N);
	CHECK(!strstr(gagg_last_error(c), SECOND));
	return NULL;
}

static void threads_body(struct gagg_comm *c, int rank)
{
	float x[100] = { 0 };
	struct gagg_comm *sub;
	struct gagg_request *req;
	pthread_t t;

	comm_error(c, 0, "the first one's");
	if (!rank)
		pthread_create(&t, NULL, second_thread, c);
	else
		pthread_barrier_wait(&all);
	/* of calls of every kind, one made of two and one that is refused among them */
	CHECK(!gagg_allreduce(x, x, 100, GAGG_FLOAT32, GAGG_SUM, c, NULL));
	if (!rank)
		pthread_join(t, NULL);
	CHECK(gagg_allreduce(x, x + 1, 9, GAGG_FLOAT32, GAGG_SUM, c, NULL) == GAGG_ERR_INVALID);
	CHECK(!gagg_allreduce(x, x, 0, GAGG_FLOAT32, GAGG_SUM, c, NULL));
	CHECK(!gagg_iallreduce(x, x, 0, GAGG_FLOAT32, GAGG_SUM, c, NULL, &req));
	CHECK(!gagg_wait(&req, 0) && !gagg_wait(&req, 0));
	CHECK(!gagg_ibarrier(c, &req) && !gagg_wait(&req, GAGG_FOREVER));
	CHECK(!gagg_comm_split(c, 0, 0, &sub) && !gagg_comm_free(sub));
	pthread_create(&t, NULL, only_thread, c);
	pthread_join(t, NULL);
}

static void *part_thread(void *arg)
{
	CHECK(!gagg_barrier(arg));
	return NULL;
}

/* of all that a thread is about to end another one is in a call on a part */
static void part_body(struct gagg_comm *c, int rank)
{
	struct gagg_comm *sub;
	pthread_t t;

	CHECK(!gagg_comm_split(c, 0, 0, &sub));
	if (!rank) {
		pthread_create(&t, NULL, part_thread, sub);
		while (!__atomic_load_n(&sub->asleep, __ATOMIC_RELAXED))
			sched_yield();
		CHECK(gagg_finalize(c) == GAGG_ERR_BUSY && gagg_reattach(c) == GAGG_ERR_BUSY);
		CHECK(gagg_comm_free(sub) == GAGG_ERR_BUSY);
	}
	pthread_barrier_wait(&all);
	if (rank)
		part_thread(sub);
	else
		pthread_join(t, NULL);
	CHECK(!gagg_comm_free(sub));
}

static void comm__of_one_thread(void **state)
{
	(void)state;
	run(8, 4, threads_body);
	run(8, 4, part_body);
}

static void desync_body(struct gagg_comm *c, int rank)
{
	float x[100] = { 1 }, y[400];
	int err = rank == 3 ? gagg_allgather(x, 4, y, c) :
			      gagg_allreduce(x, y, 100, GAGG_FLOAT32, GAGG_MAX, c, NULL);

	CHECK(err == GAGG_ERR_DESYNC);
	CHECK(strstr(gagg_last_error(c),
		     "rank 3 called all-gather (4 bytes) where rank 0 called all-reduce of float32 (100 elements, maximum) (epoch "));
	gagg_abort(c);
}

static void mean_body(struct gagg_comm *c, int rank)
{
	float x[100] = { 1 };

	/* the same lanes, another meaning */
	CHECK(gagg_allreduce(x, x, 100, GAGG_FLOAT32, rank ? GAGG_SUM : GAGG_MEAN, c, NULL) ==
	      GAGG_ERR_DESYNC);
	CHECK(strstr(gagg_last_error(c), "rank 1 called a blocking reduction of float32 without a plan (100 elements, sum, all-reduce) where rank 0 called a blocking reduction of float32 without a plan (100 elements, mean, all-reduce) (epoch "));
	gagg_abort(c);
}

/* rank 2 has another length; all ranks have called something else before, which goes well */
static void length_body(struct gagg_comm *c, int rank)
{
	struct gagg_request *req[2];
	int32_t x[120] = { 1 }, y[7] = { 1 };

	CHECK(!gagg_iallreduce(y, y, 7, GAGG_INT32, GAGG_SUM, c, NULL, &req[0]));
	CHECK(!gagg_iallreduce(x, x, rank == 2 ? 120 : 100, GAGG_INT32, GAGG_SUM, c, NULL,
			       &req[1]));
	gagg_wait(&req[0], GAGG_FOREVER);
	CHECK(gagg_wait(&req[1], GAGG_FOREVER) == GAGG_ERR_DESYNC);
	CHECK(strstr(gagg_last_error(c), "rank 2 called all-reduce of int32 (120 elements, sum) where rank 0 called all-reduce of int32 (100 elements, sum) (epoch "));
	gagg_abort(c);
}

/* rank 3 has a third root, which no sentence is about */
static void root_body(struct gagg_comm *c, int rank)
{
	char x = 0;

	CHECK(gagg_broadcast(&x, 1, rank < 2 ? 0 : rank - 1, c) == GAGG_ERR_DESYNC);
	CHECK(strstr(gagg_last_error(c), "rank 2 called broadcast (1 byte from rank 1) where rank 0 called broadcast (1 byte from rank 0) (epoch "));
	gagg_abort(c);
}

static void epoch__desync(void **state)
{
	(void)state;
	run_with(8, 4, 0, false, desync_body);
	run_with(8, 4, 0, false, mean_body);
	run_with(8, 4, 0, false, length_body);
	run_with(8, 4, 0, false, root_body);
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

static void twice_body(struct gagg_comm *c, int rank)
{
	struct gagg_comm *sub;

	CHECK(!gagg_comm_split(c, rank & 1, 0, &sub));
	CHECK(!gagg_comm_free(sub));
	CHECK(gagg_comm_free(sub) == GAGG_ERR_INVALID);
	CHECK(strstr(gagg_last_error(NULL), "freed before"));
	CHECK(!gagg_finalize(c));
	CHECK(gagg_finalize(c) == GAGG_ERR_INVALID && gagg_comm_free(c) == GAGG_ERR_INVALID);
	CHECK(strstr(gagg_last_error(NULL), "freed before"));
	gagg_abort(c);
}

static void free__twice(void **state)
{
	(void)state;
	run_with(8, 4, 0, false, twice_body);
}

#define BUT_RANK_0	((1 << N) - 2)	/* they come in late_body() and late_later_body() */

static void late_body(struct gagg_comm *c, int rank)
{
	int x = 0;

	if (rank) {
		CHECK(gagg_allreduce(&x, &x, 1, GAGG_INT32, GAGG_SUM, c, NULL) ==
		      GAGG_ERR_TIMEOUT);
		CHECK(!strcmp(gagg_last_error(c), "no end after 50 ms of all-reduce of int32 (1 element, sum; operation 1, 0 of 1 chunks are done); rank 0 has not contributed to it yet"));
		CHECK(gagg_barrier(c) == GAGG_ERR_TIMEOUT);
	}
	pthread_barrier_wait(&all);
	gagg_abort(c);
}

/* of the second one there is no end */
static void late_later_body(struct gagg_comm *c, int rank)
{
	int limit = c->session->timeout_ms;
	float x[64] = { 1 };
	struct gagg_request *req;

	c->session->timeout_ms = GAGG_FOREVER;
	CHECK(!gagg_allreduce(x, x, 64, GAGG_FLOAT32, GAGG_MAX, c, NULL));
	c->session->timeout_ms = limit;
	if (rank) {
		CHECK(!gagg_iallreduce(x, x, 64, GAGG_FLOAT32, GAGG_MEAN, c, NULL, &req));
		CHECK(gagg_barrier(c) == GAGG_ERR_TIMEOUT);
		CHECK(!strncmp(gagg_last_error(c), "no end after 50 ms of all-reduce of float32 (64 elements, mean; operation 2, 0 of 8 chunks are done); rank 0 has", 112));
		CHECK(gagg_wait(&req, 0) == GAGG_ERR_TIMEOUT);
	}
	pthread_barrier_wait(&all);
	gagg_abort(c);
}

/* all others are late, which a kernel may not know; and a wait in vain, which ends nothing */
static void alone_body(struct gagg_comm *c, int rank)
{
	struct gagg_request *req;
	int x[9] = { 0 };

	if (rank == 1) {
		CHECK(!gagg_iallreduce(x, x, 9, GAGG_INT32, GAGG_SUM, c, NULL, &req));
		CHECK(gagg_wait(&req, 1) == GAGG_ERR_TIMEOUT);
		CHECK(!strcmp(gagg_last_error(c), "time is over; the operation goes on"));
		CHECK(gagg_wait(&req, 250) == GAGG_ERR_TIMEOUT);
		CHECK(!strcmp(gagg_last_error(c), "time is over; all-reduce of int32 (9 elements, sum; operation 1, 0 of 2 chunks are done) goes on; no other rank has contributed to it yet"));
		fake.discreet = true;
		CHECK(gagg_barrier(c) == GAGG_ERR_TIMEOUT);
		fake.discreet = false;
		CHECK(!strcmp(gagg_last_error(c), "no end after 50 ms of all-reduce of int32 (9 elements, sum; operation 1, 0 of 2 chunks are done); no rank is known to be dead: one has not begun it, or is slow"));
		CHECK(gagg_wait(&req, 0) == GAGG_ERR_TIMEOUT);
	}
	pthread_barrier_wait(&all);
	gagg_abort(c);
}

/* rank 0 begins it, fills a ring, and comes no more: no thread of its own goes on with it */
static void rest_body(struct gagg_comm *c, int rank)
{
	struct gagg_request *req;
	float x[128] = { 1 };
	bool said = false;
	int i, err = GAGG_ERR_TIMEOUT;

	c->helped = !rank;
	if (!rank)
		CHECK(!gagg_iallreduce(x, x, 128, GAGG_FLOAT32, GAGG_MAX, c, NULL, &req));
	c->helped = false;
	pthread_barrier_wait(&all);
	if (rank) {
		CHECK(!gagg_iallreduce(x, x, 128, GAGG_FLOAT32, GAGG_MAX, c, NULL, &req));
		/* 8 chunks may take some time */
		for (i = 0; i < 240 && !said && err == GAGG_ERR_TIMEOUT; i++) {
			err = gagg_wait(&req, 250);
			said = strstr(gagg_last_error(c), "operation 1, 8 of 16 chunks are done) goes on; rank 0 has not contributed to the rest of it yet");
		}
		CHECK(said && err == GAGG_ERR_TIMEOUT);
	}
	pthread_barrier_wait(&all);
	gagg_abort(c);
}

/* the time is over as the epoch ends */
static void left_body(struct gagg_comm *c, int rank)
{
	struct gagg_request *req;
	int x = 0;

	c->session->timeout_ms = GAGG_FOREVER;
	CHECK(!gagg_barrier(c));
	if (rank == 1)
		CHECK(!gagg_iallreduce(&x, &x, 1, GAGG_INT32, GAGG_SUM, c, NULL, &req));
	pthread_barrier_wait(&all);
	if (rank == 2)
		gagg_abort(c);
	pthread_barrier_wait(&all);
	if (rank == 1) {
		CHECK(comm_wait_late(c, 250) == GAGG_ERR_TIMEOUT);
		CHECK(strstr(gagg_last_error(c), "operation 2, 0 of 1 chunks are done) goes on; rank 2 has left (epoch "));
	}
	if (rank != 2)
		gagg_abort(c);
}

static void stopped_body(struct gagg_comm *c, int rank)
{
	if (rank == 1) {
		fake.silent = true;
		CHECK(gagg_barrier(c) == GAGG_ERR_TIMEOUT);
		fake.silent = false;
		CHECK(!strcmp(gagg_last_error(c), "no end after 50 ms of barrier (operation 1, 0 of 1 chunks are done); gagg-twin on this host does not answer"));
	}
	pthread_barrier_wait(&all);
	gagg_abort(c);
}

/* a child leaves for nobody, and looks at nothing that it has freed */
static void give_up_child(struct gagg_comm *c)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		fake.dead = true;
		given_up_leave();
		gagg_abort(c);
		given_up_leave();
		_exit(0);
	}
	CHECK(waitpid(pid, &status, 0) == pid && !status);
}

/* as if the process of rank 1 ended, which has waited for rank 0 in vain */
static void give_up_body(struct gagg_comm *c, int rank)
{
	struct gagg_failure f;

	if (rank)
		CHECK(gagg_barrier(c) == GAGG_ERR_TIMEOUT);
	pthread_barrier_wait(&all);
	/* the four are one process here: rank 1 is the only one that ends */
	if (rank > 1)
		given_up_remove(c->session);
	pthread_barrier_wait(&all);
	if (rank == 1) {
		give_up_child(c);
		CHECK(!fake.status.reason);
		given_up_leave();
	}
	pthread_barrier_wait(&all);
	if (!rank) {
		CHECK(gagg_barrier(c) == GAGG_ERR_PEER);
		gagg_failure(c, &f);
		CHECK(f.reason == GAGG_R_BYE && f.rank == 1);
	}
	pthread_barrier_wait(&all);
	gagg_abort(c);
	/* of those that are freed none is left */
	pthread_barrier_wait(&all);
	if (!rank) {
		fake.dead = true;
		given_up_leave();
		fake.dead = false;
	}
}

/* a rank that has attached again has no longer given up */
static void again_body(struct gagg_comm *c, int rank)
{
	if (rank)
		CHECK(gagg_barrier(c) == GAGG_ERR_TIMEOUT);
	pthread_barrier_wait(&all);
	c->session->timeout_ms = GAGG_FOREVER;
	CHECK(!gagg_reattach(c));
	pthread_barrier_wait(&all);
	if (!rank)
		given_up_leave();
	pthread_barrier_wait(&all);
	CHECK(!gagg_barrier(c));
}

static void op__gives_up(void **state)
{
	(void)state;
	run_with(8, 4, 50, false, give_up_body);
	run_with(8, 4, 50, true, again_body);
}

static void op__timeout(void **state)
{
	(void)state;
	fake.awaited = BUT_RANK_0;
	run_with(8, 4, 50, false, late_body);
	fake.awaited = BUT_RANK_0;
	run_with(8, 4, 50, false, late_later_body);
	run_with(8, 4, 50, false, alone_body);
	run_with(8, 4, 50, false, rest_body);
	run_with(8, 4, 50, false, left_body);
	run_with(8, 4, 50, false, stopped_body);
}

/* the error output is a file of @fds meanwhile */
static void errors_since(int fds[2])
{
	char name[] = "/tmp/gagg-errors-XXXXXX";

	fds[0] = mkstemp(name);
	unlink(name);
	fds[1] = dup(STDERR_FILENO);
	dup2(fds[0], STDERR_FILENO);
}

static const char *errors_until(const int fds[2])
{
	static char text[4096];
	ssize_t n = pread(fds[0], text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = 0;
	dup2(fds[1], STDERR_FILENO);
	close(fds[0]);
	close(fds[1]);
	return text;
}

/* returns when something is in the file, or after a minute */
static void wait_for_bytes(int fd)
{
	struct stat st = { .st_size = 0 };

	for (int i = 0; i < 6000 && !fstat(fd, &st) && !st.st_size; i++)
		usleep(10000);
}

#define NOTICE	"gagg: rank 0 has waited for 0.02 s: no end of "
#define SLOW	"; rank 2 has not contributed to it yet\n"

/* rank 2 is late twice: rank 0 says so once, the others never */
static void notice_body(struct gagg_comm *c, int rank)
{
	static int fds[2];
	int i;

	CHECK(c->session->notice_ms == 10000);
	c->session->notice_ms = 20;
	c->session->noticed = rank;
	if (!rank)
		errors_since(fds);
	pthread_barrier_wait(&all);
	for (i = 0; i < 2; i++) {
		if (rank == 2 && !i)
			wait_for_bytes(fds[0]);
		if (rank == 2)
			usleep(100000);
		CHECK(!gagg_barrier(c));
	}
	pthread_barrier_wait(&all);
	if (!rank)
		CHECK(!strcmp(errors_until(fds), NOTICE "barrier (operation 1, 0 of 1 chunks are done)" SLOW));
}

/* nobody reads what it would write: it waits for rank 2, and for nobody else */
static void full_pipe_body(struct gagg_comm *c, int rank)
{
	int fds[2], err = dup(STDERR_FILENO);

	if (!rank) {
		CHECK(!pipe(fds) && fcntl(fds[1], F_SETFL, O_NONBLOCK) >= 0);
		while (write(fds[1], c, 1) > 0)
			;
		CHECK(!fcntl(fds[1], F_SETFL, 0));
		dup2(fds[1], STDERR_FILENO);
	}
	c->session->notice_ms = 20;
	c->session->noticed = rank;
	pthread_barrier_wait(&all);
	if (rank == 2)
		usleep(100000);
	CHECK(!gagg_barrier(c));
	if (!rank) {
		/* nor does a reader that has gone end the process */
		close(fds[0]);
		c->session->noticed = false;
	}
	if (rank == 2)
		usleep(100000);
	CHECK(!gagg_barrier(c));
	pthread_barrier_wait(&all);
	if (!rank) {
		dup2(err, STDERR_FILENO);
		close(fds[1]);
	}
	close(err);
}

static void op__notice(void **state)
{
	(void)state;
	fake.awaited = ~(1ULL << 2);
	run(8, 4, notice_body);
	/* a deadlock */
	alarm(120);
	run(8, 4, full_pipe_body);
	alarm(0);
}

static void init__notice(void **state)
{
	struct session *s = session_new(FAKE_FD + 1, 1000);
	struct gagg_geometry geo;
	int fds[2];

	(void)state;
	fake_start(8, 4);
	s->notice_ms = 20;
	errors_since(fds);
	assert_int_equal(session_attach(s, &geo), GAGG_ERR_TIMEOUT);
	assert_string_equal(errors_until(fds), "gagg: rank 1 has waited for 0.02 s: not joined yet: rank 0 (host not heard), rank 2 (host not heard), rank 3 (host not heard)\n");
	/* an operation is told of, too */
	assert_false(s->noticed);
	fake.silent = true;
	errors_since(fds);
	assert_int_equal(session_attach(s, &geo), GAGG_ERR_TIMEOUT);
	assert_string_equal(errors_until(fds), "gagg: rank 1 has waited for 0.02 s: gagg-twin on this host does not answer\n");
	fake.silent = false;
	fake_stop();
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static bool has_more_rights;	/* than the user that has started this program */

char *secure_getenv(const char *name)
{
	return has_more_rights ? NULL : getenv(name);
}

static int default_of(const char *env)
{
	struct session *s;
	int ms;

	if (env)
		setenv("GAGG_TIMEOUT_MS", env, 1);
	else
		unsetenv("GAGG_TIMEOUT_MS");
	s = session_new(-1, 0);
	ms = s->timeout_ms;
	free(s);
	return ms;
}

/* a caller that says nothing does not wait for ever */
static void op__default_timeout(void **state)
{
	(void)state;
	assert_int_equal(default_of(NULL), 600000);
	assert_int_equal(default_of("x"), 600000);
	assert_int_equal(default_of("-1"), 600000);
	assert_int_equal(default_of("0"), GAGG_FOREVER);
	assert_int_equal(default_of("50"), 50);
	fake.awaited = BUT_RANK_0;
	run_with(8, 4, 0, false, late_body);
	has_more_rights = true;
	assert_int_equal(default_of("50"), 600000);
	has_more_rights = false;
	unsetenv("GAGG_TIMEOUT_MS");
}

/* a process that a caller without rights names is asked by none with more rights */
static void init__environment(void **state)
{
	struct gagg_config cfg = { .size = sizeof(cfg), .group = "g" };
	struct gagg_comm *c;

	(void)state;
	setenv("GAGG_SOCKET", "/nonexistent/said.sock", 1);
	assert_int_equal(gagg_init(&c, &cfg), GAGG_ERR_BROKER);
	assert_non_null(strstr(gagg_last_error(NULL), "gaggd at /nonexistent/said.sock:"));
	has_more_rights = true;
	assert_int_equal(gagg_init(&c, &cfg), GAGG_ERR_BROKER);
	assert_non_null(strstr(gagg_last_error(NULL), "gaggd at /run/gagg/gaggd.sock:"));
	has_more_rights = false;
	unsetenv("GAGG_SOCKET");
}

static void sentence_body(struct gagg_comm *c, int rank)
{
	struct gagg_comm *none;

	CHECK(!*gagg_last_error(NULL));
	CHECK(gagg_init(&none, NULL) == GAGG_ERR_INVALID && *gagg_last_error(NULL));
	pthread_barrier_wait(&all);
	/* what is told of a communicator is of that alone */
	if (rank) {
		gagg_abort(c);
		return;
	}
	CHECK(gagg_reattach(c) == GAGG_ERR_TIMEOUT && *gagg_last_error(c));
	CHECK(!*gagg_last_error(NULL));
	CHECK(gagg_finalize(c) == GAGG_ERR_CLOSED && *gagg_last_error(NULL));
	CHECK(!gagg_finalize(NULL) && !*gagg_last_error(NULL));
}

/* of a call that succeeds there is no sentence of an earlier one */
static void last_error__is_of_the_last_call(void **state)
{
	(void)state;
	run_with(8, 4, 300, false, sentence_body);
}

/* neither a newer one nor an older one is asked for anything that it might misunderstand */
static void init__of_another_version(void **state)
{
	struct gagg_comm *c = NULL;
	char why[160];
	int by;

	(void)state;
	for (by = -1; by <= 1; by += 2) {
		fake.newer = (uint32_t)by;
		assert_int_equal(gagg_init_fd(&c, FAKE_FD + 1, 0), GAGG_ERR_UNSUPPORTED);
		snprintf(why, sizeof(why),
			 "libgagg speaks version %u of the interface, and gagg on this host version %u: install both of one version",
			 GAGG_ABI, GAGG_ABI + by);
		assert_string_equal(gagg_last_error(NULL), why);
		assert_null(c);
		assert_int_equal(fake.attached, 0);
	}
	fake.newer = 0;
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
	fake.status.blocked = 1 + 2;
	assert_int_equal(gagg_init_fd(&c, FAKE_FD + 1, 0), GAGG_ERR_PEER);
	assert_string_equal(gagg_last_error(NULL),
			    "the host of rank 2 is heard, but chunks do not pass between it and another host: see gaggctl member list (MTU of the path, or a firewall)");
	fake.status.mismatch = 1 + GAGG_DG_WINDOW;
	fake.status.mismatch_node = 3;
	fake.status.mismatch_here = 2048;
	fake.status.mismatch_there = 1024;
	assert_int_equal(gagg_init_fd(&c, FAKE_FD + 1, 0), GAGG_ERR_MISMATCH);
	assert_string_equal(gagg_last_error(NULL),
			    "config-mismatch: window is 1024 on the host of rank 3, 2048 here");
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

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(given_up__fork),
		cmocka_unit_test(op__refuses),
		cmocka_unit_test(split__colors),
		cmocka_unit_test(tensor__at_the_lightest_home),
		cmocka_unit_test(tensor__without_homes),
		cmocka_unit_test(split__full),
		cmocka_unit_test(split__all_or_nobody),
		cmocka_unit_test(epoch__died_and_again),
		cmocka_unit_test(epoch__fork),
		cmocka_unit_test(comm__of_one_thread),
		cmocka_unit_test(epoch__desync),
		cmocka_unit_test(finalize__bye),
		cmocka_unit_test(free__twice),
		cmocka_unit_test(op__timeout),
		cmocka_unit_test(op__default_timeout),
		cmocka_unit_test(op__notice),
		cmocka_unit_test(op__gives_up),
		cmocka_unit_test(init__notice),
		cmocka_unit_test(init__fails),
		cmocka_unit_test(init__of_another_version),
		cmocka_unit_test(init__environment),
		cmocka_unit_test(last_error__is_of_the_last_call),
	};

	full = full_asked(argc, argv);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
