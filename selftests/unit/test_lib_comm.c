// SPDX-License-Identifier: GPL-2.0
/* links: agent/lib/agree.c agent/lib/broker.c agent/lib/message.c agent/lib/carry.c agent/lib/comm.c agent/lib/known.c agent/lib/error.c agent/lib/lanes.c agent/lib/narrow.c agent/lib/op.c agent/lib/plan.c agent/lib/process.c agent/lib/progress.c agent/lib/quant.c agent/lib/quant_avx2.c agent/lib/quant_form.c agent/lib/region.c agent/lib/session.c agent/lib/split.c agent/lib/store.c agent/lib/uring.c agent/lib/wait.c; libs: -pthread */
/*
 * libgagg's communicators: what is refused, splitting, and the ways an epoch
 * ends.
 */
#define _GNU_SOURCE 1
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include "comm.h"
#include "fake_ranks.h"

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
		return gagg_finalize(c) != GAGG_ERR_CLOSED || gagg_comm_free(sub);
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

static bool has_more_rights;	/* than who has started this program */

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

/* who says nothing does not wait for ever */
static void op__default_timeout(void **state)
{
	(void)state;
	assert_int_equal(default_of(NULL), 600000);
	assert_int_equal(default_of("x"), 600000);
	assert_int_equal(default_of("-1"), 600000);
	assert_int_equal(default_of("0"), GAGG_FOREVER);
	assert_int_equal(default_of("50"), 50);
	run_with(8, 4, 0, false, late_body);
	has_more_rights = true;
	assert_int_equal(default_of("50"), 600000);
	has_more_rights = false;
	unsetenv("GAGG_TIMEOUT_MS");
}

/* whom a caller without rights says is asked by nobody who has more */
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
			    "the host of rank 2 is heard, but chunks do not pass between it and all others: see gaggctl member list (MTU of the path, or a firewall)");
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
		cmocka_unit_test(op__refuses),
		cmocka_unit_test(op__weights),
		cmocka_unit_test(split__colors),
		cmocka_unit_test(split__full),
		cmocka_unit_test(split__all_or_nobody),
		cmocka_unit_test(epoch__died_and_again),
		cmocka_unit_test(epoch__fork),
		cmocka_unit_test(epoch__desync),
		cmocka_unit_test(finalize__bye),
		cmocka_unit_test(free__twice),
		cmocka_unit_test(op__timeout),
		cmocka_unit_test(op__default_timeout),
		cmocka_unit_test(init__fails),
		cmocka_unit_test(init__environment),
		cmocka_unit_test(last_error__is_of_the_last_call),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
