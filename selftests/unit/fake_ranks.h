/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Four ranks as threads over fake_dev.h: chunks of 8 lanes, and rings that are shorter than
 * operations. To be included after cmocka.h and its headers.
 */
#ifndef FAKE_RANKS_H
#define FAKE_RANKS_H

#include <math.h>
#include <stdio.h>

#include "comm.h"
#include "fake_dev.h"
#include "gagg.h"

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

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	struct gagg_comm *c;

	/* sets a sentence that gagg_init_fd() must clear */
	CHECK(gagg_open_rank("", 0) == GAGG_ERR_INVALID && *gagg_last_error(NULL));
	if (gagg_init_fd(&c, FAKE_FD + w->rank, w->timeout_ms)) {
		printf("# rank %d: init: %s\n", w->rank, gagg_last_error(NULL));
		/* the others would wait for it at the barrier */
		exit(1);
	}
	/* the epoch must not end before all ranks have seen it begin */
	pthread_barrier_wait(&all);
	__atomic_store_n(&fake.patient, false, __ATOMIC_RELAXED);
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
	/* the timeout is that of what follows: how long threads take to start is another matter */
	fake.patient = true;
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

static inline void run(uint32_t ring, uint32_t window,
		       void (*body)(struct gagg_comm *c, int rank))
{
	run_with(ring, window, 0, true, body);
}

/* element i of rank r; a few binades apart from chunk to chunk */
static float value(int r, size_t i, int step)
{
	return (float)((int)((i * 37 + (size_t)r * 101 + (size_t)step * 7) % 201) - 100) *
	       ldexpf(1, (int)(i / 8 % 5) + r - step);
}

static inline void fill(float *x, int r, size_t n, int step)
{
	for (size_t i = 0; i < n; i++)
		x[i] = value(r, i, step);
}

static inline void sum_is(const float *y, size_t n, int step, double scale)
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

#endif
