// SPDX-License-Identifier: GPL-2.0
/* links: agent/lib/agree.c agent/lib/ako.c agent/lib/broker.c agent/lib/message.c agent/lib/carry.c agent/lib/checkpoint.c agent/lib/checkpoint_file.c agent/lib/comm.c agent/lib/known.c agent/lib/elastic.c agent/lib/call.c agent/lib/error.c agent/lib/given_up.c agent/lib/lanes.c agent/lib/late.c agent/lib/narrow.c agent/lib/op.c agent/lib/plan.c agent/lib/process.c agent/lib/progress.c agent/lib/quant.c agent/lib/quant_avx2.c agent/lib/quant_form.c agent/lib/region.c agent/lib/session.c agent/lib/split.c agent/lib/store.c agent/lib/store_get.c agent/lib/uring.c agent/lib/wait.c sync kmod/core/wire.c; libs: -pthread */
/*
 * libgagg's tables on a store: what is read back, what is cached, what a
 * checkpoint holds.
 */
#define _GNU_SOURCE 1
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <cmocka.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "element.h"
#include "comm.h"
#include "fake_ranks.h"

#define COUNT	37	/* elements: some chunks, the last one not full */
#define STEP	0.25

static char path[64], new[80];
static ino_t synced;
static bool no_tmpfile;		/* the file system has none */
static unsigned int nameless;	/* files that were synced before they had a name */

static ino_t inode(const char *name)
{
	struct stat st;

	return stat(name, &st) ? 0 : st.st_ino;
}

/* The one that was synced last. */
int fsync(int fd)
{
	struct stat st;

	if (!fstat(fd, &st)) {
		synced = st.st_ino;
		nameless += !st.st_nlink;
	}
	return (int)syscall(SYS_fsync, fd);
}

int open(const char *name, int flags, ...)
{
	bool tmpfile = (flags & O_TMPFILE) == O_TMPFILE;
	mode_t mode = 0;
	va_list ap;

	va_start(ap, flags);
	if (tmpfile || flags & O_CREAT)
		mode = va_arg(ap, mode_t);
	va_end(ap);
	if (no_tmpfile && tmpfile) {
		errno = EOPNOTSUPP;
		return -1;
	}
	return (int)syscall(SYS_openat, AT_FDCWD, name, flags, mode);
}

static void run_to(bool leave, uint32_t bound, void (*body)(struct gagg_comm *c, int rank))
{
	fake.store = true;
	fake.bound = bound;
	run_with(64, 16, 120000, leave, body);
	fake.store = false;
	free(fake.kept);
	fake.kept = NULL;
}

static void run_store(uint32_t bound, void (*body)(struct gagg_comm *c, int rank))
{
	run_to(true, bound, body);
}

/* lanes of int32, then of int64 */
static void run_both(uint32_t bound, void (*body)(struct gagg_comm *c, int rank))
{
	run_store(bound, body);
	fake.wide = true;
	run_store(bound, body);
	fake.wide = false;
}

static void run_ako(const char *sync, uint32_t bound, void (*body)(struct gagg_comm *c, int rank))
{
	fake.sync = sync;
	fake.copies = true;
	run_both(bound, body);
	fake.copies = false;
	fake.sync = NULL;
}

static void meet(void)
{
	pthread_barrier_wait(&all);
}

static void refusals_body(struct gagg_comm *c, int rank)
{
	struct gagg_table *t;
	float x[COUNT] = { 0 };

	(void)rank;
	CHECK(gagg_has_store(c));
	CHECK(gagg_allreduce(x, x, 1, GAGG_FLOAT32, GAGG_SUM, c, NULL) == GAGG_ERR_UNSUPPORTED);
	CHECK(gagg_table_create(c, 0, GAGG_FLOAT32, 1, &t) == GAGG_ERR_INVALID);
	CHECK(gagg_table_create(c, 8, GAGG_FLOAT32, 0, &t) == GAGG_ERR_INVALID);
	CHECK(gagg_table_create(c, 8, GAGG_FLOAT32, INFINITY, &t) == GAGG_ERR_INVALID);
	CHECK(gagg_table_create(c, 8, GAGG_FLOAT64, -1, &t) == GAGG_ERR_INVALID);
	CHECK(gagg_table_create(c, 8, GAGG_INT32, 2, &t) == GAGG_ERR_INVALID);
	CHECK(gagg_table_create(c, 8, GAGG_INT64, 2, &t) == GAGG_ERR_INVALID);
	CHECK(gagg_table_create(c, 8, GAGG_FLOAT16, 1, &t) == GAGG_ERR_UNSUPPORTED);
	CHECK(gagg_table_create(c, 64 * (fake.wide ? 4 : 8) + 1, GAGG_INT32, 1, &t) ==
	      GAGG_ERR_INVALID && !t);
	CHECK(strstr(gagg_last_error(c), fake.wide ? "room for 256 elements" : "for 512 "));
	CHECK(!gagg_table_create(c, COUNT, GAGG_FLOAT32, STEP, &t));
	x[3] = NAN;
	CHECK(gagg_inc(t, x) == GAGG_ERR_INVALID);
	x[3] = fake.wide ? 3e15f : 6e8f;
	CHECK(gagg_inc(t, x) == GAGG_ERR_INVALID);
	CHECK(strstr(gagg_last_error(c), fake.wide ? "2^53 steps and more" :
		     "2^31 steps and more in one clock: use a larger step, or lane-type int64"));
	CHECK(gagg_set(t, x, 4) == GAGG_ERR_INVALID);
	CHECK(gagg_checkpoint(c, path, -1) == GAGG_ERR_INVALID);
	CHECK(gagg_elastic(t, x, 1.5) == GAGG_ERR_INVALID);
	/* nothing of it was added */
	CHECK(!gagg_get(t, x));
	CHECK(x[3] == 0);
}

static void nonsense__is_refused(void **state)
{
	(void)state;
	run_both(~0U, refusals_body);
}

static void none_body(struct gagg_comm *c, int rank)
{
	struct gagg_table *t;

	(void)rank;
	CHECK(!gagg_has_store(c));
	CHECK(gagg_table_create(c, 1, GAGG_INT32, 1, &t) == GAGG_ERR_UNSUPPORTED);
}

static void a_ring__has_no_tables(void **state)
{
	(void)state;
	run(64, 16, none_body);
}

static bool all_are(const float *x, double value)
{
	for (int i = 0; i < COUNT; i++)
		if (x[i] != (float)value)
			return false;
	return true;
}

static void fill_with(float *x, double value)
{
	for (int i = 0; i < COUNT; i++)
		x[i] = (float)value;
}

static void sums_body(struct gagg_comm *c, int rank)
{
	struct gagg_table *other, *t;
	float x[COUNT];

	CHECK(!gagg_table_create(c, 9, GAGG_INT32, 1, &other));
	CHECK(!gagg_table_create(c, COUNT, GAGG_FLOAT32, STEP, &t));
	/* what is less than a step waits for more of it */
	fill_with(x, 0.4 * STEP);
	for (int clock = 0; clock < 5; clock++)
		CHECK(!gagg_inc(t, x) && !gagg_clock(c));
	CHECK(!gagg_snapshot(t, x) && all_are(x, 2 * N * STEP));
	/* the rank that has added it sees what is not pushed; no snapshot has it */
	fill_with(x, 3 * STEP);
	if (rank == 2)
		CHECK(!gagg_inc(t, x));
	CHECK(!gagg_get(t, x) && all_are(x, (2 * N + (rank == 2 ? 3 : 0)) * STEP));
	CHECK(!gagg_snapshot(t, x) && all_are(x, 2 * N * STEP));
	CHECK(!gagg_clock(c));
	CHECK(!gagg_snapshot(t, x) && all_are(x, (2 * N + 3) * STEP));
	/* beyond 32 bits of steps, by less than half of them between two reads */
	for (int clock = 0; clock < 9; clock++) {
		fill_with(x, rank ? 0 : -5e8);
		CHECK(!gagg_inc(t, x) && !gagg_clock(c));
		CHECK(!gagg_snapshot(t, x) && all_are(x, (2 * N + 3) * STEP - (clock + 1) * 5e8));
	}
}

static void increments__add_up(void **state)
{
	(void)state;
	run_both(~0U, sums_body);
}

/* a rank that reads late, when others have added more than a lane of 32 bits tells */
static void late_body(struct gagg_comm *c, int rank)
{
	int64_t x[COUNT], sum = 5LL * N << 30;
	struct gagg_table *t;

	CHECK(!gagg_table_create(c, COUNT, GAGG_INT64, 1, &t));
	for (int i = 0; i < COUNT; i++)
		x[i] = (1LL << 30) + i;
	for (int clock = 0; clock < 5; clock++)
		CHECK(!gagg_inc(t, x) && !gagg_clock(c));
	meet();
	CHECK(!gagg_get(t, x));
	for (int i = 0; i < COUNT; i++)
		CHECK(x[i] == (fake.wide ? sum : 0) + 5 * N * i);
	(void)rank;
}

/* rank 0 may not be ahead, and gives up */
static void gives_up_body(struct gagg_comm *c, int rank)
{
	struct gagg_table *t;
	float x[COUNT];

	CHECK(!gagg_table_create(c, COUNT, GAGG_FLOAT32, STEP, &t));
	meet();
	if (!rank) {
		c->session->timeout_ms = 50;
		CHECK(!gagg_clock(c) && gagg_get(t, x) == GAGG_ERR_TIMEOUT);
		CHECK(!strcmp(gagg_last_error(c), fake.behind ?
			      "no end after 50 ms of an operation on the store; rank 2 has not come as far yet" :
			      "no end after 50 ms of an operation on the store; no rank is known to be dead"));
	}
	meet();
	gagg_abort(c);
}

static void read__waits_in_vain(void **state)
{
	(void)state;
	run_to(false, 0, gives_up_body);
	fake.behind = 1 << 2;
	run_to(false, 0, gives_up_body);
	fake.behind = 0;
}

static void lanes__what_they_hold(void **state)
{
	(void)state;
	run_both(~0U, late_body);
}

/* what a clock can push, and no more */
static void most_body(struct gagg_comm *c, int rank)
{
	int64_t most = fake.wide ? INT64_MAX : INT32_MAX, x[3] = { most, -most, 0 };
	int64_t one[3] = { 1, 0, 0 }, least[3] = { 0, 0, -most - 1 };
	struct gagg_table *t;

	CHECK(!gagg_table_create(c, 3, GAGG_INT64, 1, &t));
	if (rank < 2) {
		CHECK(!gagg_inc(t, x));
		CHECK(gagg_inc(t, one) == GAGG_ERR_INVALID);
		CHECK(gagg_inc(t, least) == GAGG_ERR_INVALID);
		CHECK(strstr(gagg_last_error(c), "the increment of element 2 is"));
		CHECK(strstr(gagg_last_error(c), fake.wide ? "2^63 and more" : "2^31 steps"));
	}
	CHECK(!gagg_clock(c) && !gagg_snapshot(t, x));
	/* twice that is 2^64 - 2, or 2^32 - 2 */
	CHECK(x[0] == -2 && x[1] == 2 && x[2] == 0);
}

static void increments__as_large_as_lanes(void **state)
{
	(void)state;
	run_both(~0U, most_body);
}

/* floats: more steps than int32 in one clock, and in a set */
static void wide_floats_body(struct gagg_comm *c, int rank)
{
	struct gagg_table *t;
	float x[COUNT];

	CHECK(!gagg_table_create(c, COUNT, GAGG_FLOAT32, STEP, &t));
	fill_with(x, ldexp(1 + rank, 40));
	CHECK(!gagg_inc(t, x) && !gagg_clock(c) && !gagg_snapshot(t, x));
	CHECK(all_are(x, ldexp(10, 40)));
	fill_with(x, 0.4 * STEP);
	for (int clock = 0; clock < 5; clock++)
		CHECK(!gagg_inc(t, x) && !gagg_clock(c));
	fill_with(x, -ldexp(1 + rank, 40));
	CHECK(!gagg_inc(t, x) && !gagg_clock(c) && !gagg_snapshot(t, x));
	CHECK(all_are(x, 2 * N * STEP));
}

static void increments__of_many_steps(void **state)
{
	(void)state;
	fake.wide = true;
	run_store(~0U, wide_floats_body);
	fake.wide = false;
}

static bool doubles_are(const double *x, double value)
{
	for (int i = 0; i < COUNT; i++)
		if (x[i] != value)
			return false;
	return true;
}

static void fill_doubles(double *x, double value)
{
	for (int i = 0; i < COUNT; i++)
		x[i] = value;
}

/* steps of 0.1, of which few multiples are doubles: what is shown is the double beside it */
static void tenths(struct gagg_comm *c)
{
	const double two[2] = { 0.7, -0.3 };
	struct gagg_table *t;
	double x[COUNT];

	CHECK(!gagg_table_create(c, COUNT, GAGG_FLOAT64, 0.1, &t));
	CHECK(!gagg_inc_range(t, 8, 2, two) && !gagg_get_range(t, 7, 4, 0, x));
	CHECK(x[0] == 0 && x[1] == 7 * 0.1 && x[2] == -3 * 0.1 && x[3] == 0);
	meet();
	CHECK(!gagg_clock(c) && !gagg_snapshot(t, x) && x[8] == 7 * N * 0.1);
	CHECK(!gagg_prefetch(t, 8, 2) && !gagg_get_range(t, 8, 2, GAGG_STALENESS_MODE, x));
	CHECK(x[0] == 7 * N * 0.1 && x[1] == -3 * N * 0.1);
}

/* tables of float64 do what those of float32 do; @odd steps are a double and no float */
static void doubles_body(struct gagg_comm *c, int rank)
{
	double x[COUNT], odd = ldexp(1, fake.wide ? 52 : 30) + 1;
	const double most = fake.wide ? 0x1p53 - 1 : INT32_MAX - 1;
	struct gagg_table *t;

	tenths(c);
	CHECK(!gagg_table_create(c, COUNT, GAGG_FLOAT64, STEP, &t));
	fill_doubles(x, 0.4 * STEP);
	for (int clock = 0; clock < 5; clock++)
		CHECK(!gagg_inc(t, x) && !gagg_clock(c));
	CHECK(!gagg_snapshot(t, x) && doubles_are(x, 2 * N * STEP));
	fill_doubles(x, rank == 2 ? odd * STEP : 0);
	CHECK(!gagg_inc(t, x) && !gagg_get(t, x));
	CHECK(doubles_are(x, (2 * N + (rank == 2 ? odd : 0)) * STEP));
	meet();
	CHECK(!gagg_clock(c) && !gagg_snapshot(t, x) && doubles_are(x, (2 * N + odd) * STEP));
	/* the most that a clock takes, with either sign, and one more */
	fill_doubles(x, rank ? 0 : -most * STEP);
	CHECK(!gagg_inc(t, x) && !gagg_clock(c));
	CHECK(!gagg_snapshot(t, x) && doubles_are(x, (2 * N + odd - most) * STEP));
	fill_doubles(x, (most + 1) * STEP);
	CHECK(gagg_inc(t, x) == GAGG_ERR_INVALID);
	CHECK(strstr(gagg_last_error(c), fake.wide ? "2^53 steps and more in one clock" :
		     "2^31 steps and more in one clock"));
	CHECK(!gagg_get(t, x) && doubles_are(x, (2 * N + odd - most) * STEP));
}

static void tables__of_float64(void **state)
{
	(void)state;
	run_both(~0U, doubles_body);
	run_both(0, doubles_body);
}

static void cache_body(struct gagg_comm *c, int rank)
{
	struct gagg_table *t;
	float x[COUNT], one[COUNT];

	CHECK(!gagg_table_create(c, COUNT, GAGG_FLOAT32, STEP, &t));
	fill_with(one, 1);
	gagg_cache(t, 1);
	for (int clock = 0; clock < 9; clock++) {
		int read = clock / 3 * 3;	/* the last time that it had to */

		meet();
		CHECK(!gagg_get(t, x));
		CHECK(all_are(x, N * read + clock - read));
		CHECK(!gagg_inc(t, one) && !gagg_get(t, x));
		CHECK(all_are(x, N * read + clock - read + 1));
		meet();
		CHECK(!gagg_clock(c));
	}
	/* of 18 reads 3 asked */
	CHECK(gagg_cache_hits(t) == 15);
	gagg_cache(t, 0);
	meet();
	CHECK(!gagg_get(t, x) && all_are(x, N * 9));
	CHECK(gagg_cache_hits(t) == 15);
	(void)rank;
}

static void a_cache__is_as_old_as_it_may_be(void **state)
{
	(void)state;
	run_both(2, cache_body);
}

static void range_refusals(struct gagg_comm *c, struct gagg_table *t, float *x)
{
	CHECK(gagg_get_range(t, 0, 0, 0, x) == GAGG_ERR_INVALID);
	CHECK(gagg_get_range(t, COUNT, 1, 0, x) == GAGG_ERR_INVALID);
	CHECK(gagg_get_range(t, 1, COUNT, 0, x) == GAGG_ERR_INVALID);
	CHECK(gagg_inc_range(t, 2, SIZE_MAX, x) == GAGG_ERR_INVALID);
	CHECK(strstr(gagg_last_error(c),
		     "from element 2 on is empty, or ends behind the table's 37"));
	CHECK(gagg_prefetch(t, COUNT - 1, 2) == GAGG_ERR_INVALID);
	CHECK(gagg_staleness(t) == UINT32_MAX);
}

/* increments of ranges, and what ranges show of them; the last chunk has 5 elements */
static void range_body(struct gagg_comm *c, int rank)
{
	struct gagg_table *t;
	float x[COUNT], some[4] = { 1, 2, 3, 4 };

	CHECK(!gagg_table_create(c, COUNT, GAGG_FLOAT32, STEP, &t));
	range_refusals(c, t, x);
	some[2] = NAN;
	CHECK(gagg_inc_range(t, 30, 4, some) == GAGG_ERR_INVALID);
	CHECK(strstr(gagg_last_error(c), "element 32 "));
	some[2] = 3;
	CHECK(!gagg_inc_range(t, 30, 4, some));
	CHECK(!gagg_get_range(t, 29, 6, 0, x));
	CHECK(x[0] == 0 && x[1] == 1 && x[2] == 2 && x[3] == 3 && x[4] == 4 && x[5] == 0);
	meet();
	CHECK(!gagg_clock(c));
	/* at its clock 1 it sees what others have pushed at clock 0, however late they are */
	if (rank != 1)
		usleep(20000 * (unsigned int)rank);
	CHECK(!gagg_get_range(t, 33, 4, 0, x));
	CHECK(x[0] == 4 * N && x[1] == 0 && x[3] == 0 && !gagg_staleness(t));
	CHECK(!gagg_get_range(t, 30, 2, 0, x));
	CHECK(x[0] == N && x[1] == 2 * N);
	CHECK(!gagg_get(t, x));
	CHECK(x[29] == 0 && x[32] == 3 * N && x[33] == 4 * N && x[34] == 0);
}

static void ranges__are_as_a_table_is(void **state)
{
	(void)state;
	run_both(7, range_body);
	run_both(~0U, range_body);
}

/* all are at one clock; a range of another chunk is another matter */
static void staleness_body(struct gagg_comm *c, int rank)
{
	struct gagg_table *t;
	float x[COUNT], one[COUNT];

	CHECK(!gagg_table_create(c, COUNT, GAGG_FLOAT32, STEP, &t));
	fill_with(one, 1);
	for (int clock = 0; clock < 9; clock++) {
		int read = clock / 2 * 2;

		meet();
		CHECK(!gagg_get_range(t, 0, 5, 1, x));
		CHECK(x[4] == (float)(N * read + clock - read));
		CHECK(gagg_staleness(t) == (uint32_t)(clock - read));
		if (clock % 4 == 3) {
			CHECK(!gagg_get_range(t, 20, 1, 1, x));
			CHECK(x[0] == (float)(N * clock) && !gagg_staleness(t));
		}
		CHECK(!gagg_inc(t, one));
		meet();
		CHECK(!gagg_clock(c));
	}
	CHECK(gagg_cache_hits(t) == 4);
	meet();
	CHECK(!gagg_get_range(t, 0, 5, GAGG_STALENESS_MODE, x) && x[0] == N * 9);
	(void)rank;
}

static void a_range__is_as_old_as_it_may_be(void **state)
{
	(void)state;
	run_both(5, staleness_body);
	run_both(~0U, staleness_body);
}

static void prefetch_body(struct gagg_comm *c, int rank)
{
	struct gagg_table *large, *t;
	int32_t numbers[1];
	float x[COUNT], one[COUNT];
	uint64_t ops;

	CHECK(!gagg_table_create(c, COUNT, GAGG_FLOAT32, STEP, &t));
	CHECK(!gagg_table_create(c, 160, GAGG_INT32, 1, &large));
	fill_with(one, 1);
	CHECK(!gagg_inc(t, one) && !gagg_clock(c));
	meet();
	CHECK(!gagg_prefetch(t, 16, 21));
	ops = c->store_op;
	/* it is under way */
	CHECK(!gagg_prefetch(t, 16, 21) && !gagg_prefetch(t, 20, 3) && c->store_op == ops);
	CHECK(!gagg_get_range(t, 30, 2, GAGG_STALENESS_MODE, x) && c->store_op == ops);
	CHECK(x[0] == N && x[1] == N);
	/* what was read beside it is there, too */
	CHECK(!gagg_get_range(t, 16, 14, GAGG_STALENESS_MODE, x) && x[13] == N);
	CHECK(c->store_op == ops && !c->store_reads && !gagg_prefetch(t, 17, 3));
	CHECK(c->store_op == ops);
	/* of what is asked for a part was prefetched */
	CHECK(!gagg_prefetch(t, 0, 1) && c->store_op == ops + 1);
	CHECK(!gagg_get(t, x) && c->store_op == ops + 2 && all_are(x, N));
	/* one that waits for others takes over all; each is read once */
	CHECK(!gagg_prefetch(t, 8, 1) && c->store_op == ops + 3);
	CHECK(!gagg_get_range(large, 0, 1, GAGG_STALENESS_MODE, numbers) && !c->store_reads);
	CHECK(c->store_op == ops + 4);
	CHECK(!gagg_get_range(t, 8, 1, GAGG_STALENESS_MODE, x) && c->store_op == ops + 4);
	meet();
	/* a clock waits for it, and takes it over before it pushes: own increments count once */
	CHECK(!gagg_inc_range(t, (size_t)rank, 1, one) && !gagg_prefetch(t, 0, COUNT));
	CHECK(!gagg_clock(c) && !c->store_reads);
	CHECK(!gagg_get_range(t, 0, COUNT, 1, x) && x[rank] == N + 1 && x[N] == N);
	/* it was of the last clock */
	ops = c->store_op;
	CHECK(!gagg_get_range(t, 0, 1, GAGG_STALENESS_MODE, x) && c->store_op == ops + 1);
	/* there is always room for a clock */
	for (size_t i = 0; i < 20; i++)
		CHECK(!gagg_prefetch(large, 8 * i, 1) && c->store_reads <= 16);
	CHECK(c->store_reads == 4);
	ops = c->store_op;
	for (size_t i = 0; i < 20; i++)
		CHECK(!gagg_get_range(large, 8 * i, 1, GAGG_STALENESS_MODE, numbers) &&
		      gagg_staleness(large) <= 2 && c->store_op == ops);
	CHECK(!gagg_clock(c) && !gagg_snapshot(t, x));
	for (int i = 0; i < COUNT; i++)
		CHECK(x[i] == (float)(N + (i < N)));
}

static void prefetch__reads_once(void **state)
{
	(void)state;
	run_both(7, prefetch_body);
}

static void no_bound_body(struct gagg_comm *c, int rank)
{
	struct gagg_table *t;
	float x[COUNT];

	(void)rank;
	CHECK(!gagg_table_create(c, COUNT, GAGG_FLOAT32, STEP, &t));
	gagg_cache(t, 1);
	CHECK(!gagg_get(t, x) && !gagg_get(t, x));
	CHECK(!gagg_cache_hits(t));
}

static void a_cache__needs_a_bound(void **state)
{
	(void)state;
	run_store(~0U, no_bound_body);
}

static double far(int i)
{
	return ldexp(i % 2 ? -i : i, i % 40) + 1;
}

static void put_body(struct gagg_comm *c, int rank)
{
	struct gagg_table *ints, *t;
	float x[COUNT];
	int32_t n[3] = { INT32_MIN, -1, INT32_MAX }, k[3] = { 0 };

	CHECK(!gagg_table_create(c, 3, GAGG_INT32, 1, &ints));
	CHECK(!gagg_table_create(c, COUNT, GAGG_FLOAT32, STEP, &t));
	/* what was there is gone, and what was to come */
	fill_with(x, 7);
	CHECK(!gagg_inc(t, x) && !gagg_clock(c) && !gagg_inc(t, x));
	for (int i = 0; i < COUNT; i++)
		x[i] = (float)far(i);
	CHECK(!gagg_set(t, rank == 2 ? x : NULL, 2));
	CHECK(!gagg_set(ints, rank == 0 ? n : NULL, 0));
	fill_with(x, 0);
	CHECK(!gagg_clock(c) && !gagg_snapshot(t, x) && !gagg_get(ints, k));
	for (int i = 0; i < COUNT; i++)
		CHECK(x[i] == (float)far(i));
	CHECK(!memcmp(n, k, sizeof(n)));
	CHECK(!gagg_checkpoint(c, path, 1));
	CHECK(rank != 1 || synced == inode("/tmp"));
	CHECK(gagg_checkpoint(c, "/no/such/dir/x", 1) == (rank == 1 ? GAGG_ERR_SYSTEM : 0));
	/* gaggd would have to know whose it is */
	CHECK(gagg_checkpoint(c, "agent:x", 1) == (rank == 1 ? GAGG_ERR_INVALID : 0));
	CHECK(rank != 1 || strstr(gagg_last_error(c), "only a communicator of gagg_init()"));
	/* on it goes */
	fill_with(x, rank);
	CHECK(!gagg_inc(t, x) && !gagg_clock(c) && !gagg_snapshot(t, x));
	CHECK(x[0] == (float)(far(0) + 6));
}

/* the same with tables of chunks enough for partitions */
static void put_one_body(struct gagg_comm *c, int rank)
{
	struct gagg_table *t;
	float x[COUNT];

	CHECK(!gagg_table_create(c, COUNT, GAGG_FLOAT32, STEP, &t));
	fill_with(x, 7 + rank);
	CHECK(!gagg_inc(t, x) && !gagg_clock(c) && !gagg_inc(t, x));
	for (int i = 0; i < COUNT; i++)
		x[i] = (float)far(i);
	CHECK(!gagg_set(t, rank == 2 ? x : NULL, 2));
	CHECK(!gagg_get(t, x));
	for (int i = 0; i < COUNT; i++)
		CHECK(x[i] == (float)far(i));
	meet();
	fill_with(x, rank);
	CHECK(!gagg_inc(t, x) && !gagg_clock(c) && !gagg_snapshot(t, x));
	CHECK(x[0] == (float)(far(0) + 6));
	CHECK(!gagg_checkpoint(c, path, 1));
	CHECK(!gagg_set(t, rank == 0 ? x : NULL, 0));
	CHECK(!gagg_restore(c, rank == 3 ? path : NULL, 3) && !gagg_get(t, x));
	CHECK(x[0] == (float)(far(0) + 6));
}

static void take_body(struct gagg_comm *c, int rank)
{
	struct gagg_table *ints, *t;
	float x[COUNT];
	int32_t n[3];

	CHECK(!gagg_table_create(c, 3, GAGG_INT32, 1, &ints));
	CHECK(!gagg_table_create(c, COUNT, GAGG_FLOAT32, STEP, &t));
	CHECK(!gagg_restore(c, rank == 3 ? path : NULL, 3));
	CHECK(!gagg_get(t, x) && !gagg_get(ints, n));
	for (int i = 0; i < COUNT; i++)
		CHECK(x[i] == (float)far(i));
	CHECK(n[0] == INT32_MIN && n[1] == -1 && n[2] == INT32_MAX);
}

static const int64_t numbers[3] = { INT64_MIN, -1, INT64_MAX - 5 };

static void put_numbers_body(struct gagg_comm *c, int rank)
{
	int64_t n[3] = { 1, 2, 3 };
	struct gagg_table *t;

	CHECK(!gagg_table_create(c, 3, GAGG_INT64, 1, &t));
	CHECK(!gagg_inc(t, n) && !gagg_clock(c) && !gagg_inc(t, n));
	CHECK(!gagg_set(t, rank == 2 ? numbers : NULL, 2) && !gagg_get(t, n));
	CHECK(!memcmp(n, numbers, sizeof(n)));
	CHECK(!gagg_checkpoint(c, path, 1));
}

static void take_numbers_body(struct gagg_comm *c, int rank)
{
	int64_t n[3] = { rank, 0, 1 };
	struct gagg_table *t;

	CHECK(!gagg_table_create(c, 3, GAGG_INT64, 1, &t));
	CHECK(!gagg_restore(c, rank == 3 ? path : NULL, 3));
	CHECK(!gagg_inc(t, n) && !gagg_clock(c) && !gagg_snapshot(t, n));
	CHECK(n[0] == INT64_MIN + 6 && n[1] == -1 && n[2] == INT64_MAX - 1);
}

/* to both ends of what doubles can tell apart */
static double nth_double(int i)
{
	return (i % 2 ? 1 - 0x1p53 + i : 0x1p53 - 1 - i) * STEP;
}

static void put_doubles_body(struct gagg_comm *c, int rank)
{
	struct gagg_table *t;
	double x[COUNT];

	CHECK(!gagg_table_create(c, COUNT, GAGG_FLOAT64, STEP, &t));
	fill_doubles(x, 0x1p53 * STEP);
	CHECK(gagg_set(t, x, rank) == GAGG_ERR_INVALID);
	for (int i = 0; i < COUNT; i++)
		x[i] = nth_double(i);
	CHECK(!gagg_set(t, rank == 2 ? x : NULL, 2));
	CHECK(!gagg_checkpoint(c, path, 1));
}

static void take_doubles_body(struct gagg_comm *c, int rank)
{
	struct gagg_table *t;
	double x[COUNT];

	CHECK(!gagg_table_create(c, COUNT, GAGG_FLOAT64, STEP, &t));
	CHECK(!gagg_restore(c, rank == 3 ? path : NULL, 3) && !gagg_snapshot(t, x));
	for (int i = 0; i < COUNT; i++)
		CHECK(x[i] == nth_double(i));
}

/* float32 is another type */
static void take_floats_body(struct gagg_comm *c, int rank)
{
	struct gagg_table *t;

	CHECK(!gagg_table_create(c, COUNT, GAGG_FLOAT32, STEP, &t));
	CHECK(rank || gagg_restore(c, path, 0) == GAGG_ERR_INVALID);
	CHECK(rank || strstr(gagg_last_error(c), "has other tables"));
}

/* a file of one lane type is taken up by the other */
static void checkpoint__of_another_lane_type(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		fake.wide = i;
		run_store(~0U, put_numbers_body);
		fake.wide = !i;
		run_store(0, take_numbers_body);
		run_store(0, put_doubles_body);
		fake.wide = i;
		run_store(~0U, take_doubles_body);
	}
	run_store(~0U, take_floats_body);
	fake.wide = true;
	run_store(~0U, put_body);
	run_store(2, take_body);
	fake.wide = false;
	run_store(0, take_body);
}

/* rank 0 alone asks, and has not begun: all go on */
static void not_taken_body(struct gagg_comm *c, int rank)
{
	struct gagg_table *t;

	CHECK(!gagg_table_create(c, COUNT, GAGG_FLOAT32, STEP, &t));
	if (rank)
		return;
	CHECK(gagg_restore(c, "/no/such/file", 0) == GAGG_ERR_SYSTEM);
	/* an error of reading is no damage */
	CHECK(gagg_restore(c, "/tmp", 0) == GAGG_ERR_SYSTEM);
	CHECK(strstr(gagg_last_error(c), "/tmp: Is a directory"));
	CHECK(gagg_restore(c, "agent:x", 0) == GAGG_ERR_INVALID);
	CHECK(gagg_restore(c, path, 0) == GAGG_ERR_INVALID);
	CHECK(strstr(gagg_last_error(c), "another number of tables"));
	CHECK(!gagg_table_create(c, 3, GAGG_INT32, 1, &t));
	CHECK(gagg_restore(c, path, 0) == GAGG_ERR_INVALID);
	CHECK(strstr(gagg_last_error(c), "other tables"));
}

static void in_the_way_body(struct gagg_comm *c, int rank)
{
	CHECK(gagg_checkpoint(c, path, 1) == (rank == 1 ? GAGG_ERR_SYSTEM : 0));
	CHECK(rank != 1 || strstr(gagg_last_error(c), "File exists"));
}

static void damaged_body(struct gagg_comm *c, int rank)
{
	struct gagg_table *t;

	CHECK(!gagg_table_create(c, 3, GAGG_INT32, 1, &t));
	CHECK(!gagg_table_create(c, COUNT, GAGG_FLOAT32, STEP, &t));
	if (!rank)
		CHECK(gagg_restore(c, path, 0) == GAGG_ERR_INVALID);
}

static void damage(long at)
{
	FILE *f = fopen(path, "r+");
	int byte;

	fseek(f, at, SEEK_SET);
	byte = fgetc(f);
	fseek(f, at, SEEK_SET);
	fputc(byte ^ 4, f);
	fclose(f);
}

static void checkpoint__comes_back(void **state)
{
	long size, at;
	FILE *f;

	(void)state;
	run_store(~0U, put_body);
	run_store(0, take_body);
	run_store(1, not_taken_body);
	f = fopen(path, "r");
	assert_non_null(f);
	fseek(f, 0, SEEK_END);
	size = ftell(f);
	fclose(f);
	assert_int_equal(size, 8 + 8 + 2 * 24 + (3 + COUNT) * 8 + 8);
	for (at = 0; at < size; at += 24) {
		damage(at);
		run_store(~0U, damaged_body);
		damage(at);
	}
	run_store(~0U, take_body);
	assert_int_equal(truncate(path, size - 1), 0);
	run_store(~0U, damaged_body);
}

static void same_file(const char *name, const char *text)
{
	char buf[16] = { 0 };
	FILE *f = fopen(name, "r");

	assert_non_null(f);
	assert_int_equal(fread(buf, 1, sizeof(buf) - 1, f), strlen(text));
	assert_string_equal(buf, text);
	fclose(f);
}

/* somebody else's links where the new file will be, and where the last one was */
static void checkpoint__follows_no_link(void **state)
{
	char victim[80];
	struct stat st;
	FILE *f;

	(void)state;
	snprintf(victim, sizeof(victim), "%s.victim", path);
	umask(027);
	for (int i = 0; i < 2; i++) {
		no_tmpfile = i;
		nameless = 0;
		f = fopen(victim, "w");
		fputs("mine", f);
		fclose(f);
		unlink(path);
		assert_int_equal(symlink(victim, new), 0);
		assert_int_equal(symlink(victim, path), 0);
		run_store(~0U, put_body);
		same_file(victim, "mine");
		assert_int_equal(nameless, !i);
		assert_int_equal(access(new, F_OK), -1);
		assert_int_equal(lstat(path, &st), 0);
		assert_int_equal(st.st_mode, S_IFREG | 0640);
		run_store(0, take_body);
	}
	no_tmpfile = false;
	umask(022);
	/* what stays in the way is told */
	assert_int_equal(mkdir(new, 0700), 0);
	run_store(~0U, in_the_way_body);
	assert_int_equal(rmdir(new), 0);
	unlink(victim);
}

static void elastic_body(struct gagg_comm *c, int rank)
{
	static int32_t total[COUNT];
	struct gagg_table *t;
	int32_t x[COUNT], centre[COUNT];

	CHECK(!gagg_table_create(c, COUNT, GAGG_INT32, 1, &t));
	memset(total, 0, sizeof(total));
	meet();
	for (int i = 0; i < COUNT; i++) {
		x[i] = (int32_t)(value(rank, (size_t)i, 0) * 1000);
		__atomic_fetch_add(&total[i], x[i], __ATOMIC_RELAXED);
	}
	for (int k = 0; k < 300; k++) {
		/* at first nobody waits for anybody, then nobody gets ahead */
		if (k > 50)
			meet();
		CHECK(!gagg_elastic(t, x, 0.2));
	}
	CHECK(!gagg_snapshot(t, centre));
	for (int i = 0; i < COUNT; i++) {
		CHECK(abs(x[i] - centre[i]) <= 5);
		__atomic_fetch_sub(&total[i], x[i], __ATOMIC_RELAXED);
	}
	meet();
	for (int i = 0; i < COUNT; i++)
		CHECK(total[i] == centre[i]);
}

/* so far apart that their difference has no 64 bits */
static void elastic_numbers_body(struct gagg_comm *c, int rank)
{
	static uint64_t total;
	int64_t x[3] = { rank % 2 ? INT64_MAX : INT64_MIN, rank, -(5LL << 40) }, centre[3];
	const int64_t far[3] = { INT64_MIN, 7, 5LL << 40 };
	struct gagg_table *t;

	CHECK(!gagg_table_create(c, 3, GAGG_INT64, 1, &t));
	CHECK(!gagg_set(t, rank ? NULL : far, 0));
	total = 0;
	for (int k = 0; k < 40; k++)
		CHECK(!gagg_elastic(t, x, 0.7));
	CHECK(!gagg_snapshot(t, centre));
	__atomic_fetch_add(&total, (uint64_t)x[0] + (uint64_t)x[1] + (uint64_t)x[2],
			   __ATOMIC_RELAXED);
	CHECK(x[2] > -(5LL << 40) && centre[2] < 5LL << 40);
	meet();
	/* what was there: far, and all x */
	CHECK(total + (uint64_t)centre[0] + (uint64_t)centre[1] + (uint64_t)centre[2] ==
	      (uint64_t)INT64_MIN + 7 + (5ULL << 40) + (uint64_t)(2 * (INT64_MAX + INT64_MIN)) +
	      6 - 4 * (5ULL << 40));
}

/* where int32 begins anew the centre and a replica are at one place */
static void elastic_around_body(struct gagg_comm *c, int rank)
{
	int32_t x = INT32_MAX, ten = 10;
	struct gagg_table *t;

	CHECK(!gagg_table_create(c, 1, GAGG_INT32, 1, &t));
	CHECK(!gagg_set(t, rank ? NULL : &x, 0) && (rank || !gagg_inc(t, &ten)));
	CHECK(!gagg_clock(c) && !gagg_snapshot(t, &x) && x == INT32_MIN + 9);
	CHECK(!gagg_elastic(t, &x, 1) && x == INT32_MIN + 9);
}

/* floats, of which each is a whole number of steps, at first and ever after */
static void elastic_floats_body(struct gagg_comm *c, int rank)
{
	static int32_t total[COUNT];
	struct gagg_table *t;
	float x[COUNT], centre[COUNT];

	CHECK(!gagg_table_create(c, COUNT, GAGG_FLOAT32, STEP, &t));
	memset(total, 0, sizeof(total));
	meet();
	for (int i = 0; i < COUNT; i++) {
		int32_t steps = (int32_t)(value(rank, (size_t)i, 0) * 1000);

		x[i] = (float)(steps * STEP);
		__atomic_fetch_add(&total[i], steps, __ATOMIC_RELAXED);
	}
	for (int k = 0; k < 20; k++)
		CHECK(!gagg_elastic(t, x, 0.2));
	CHECK(!gagg_snapshot(t, centre));
	for (int i = 0; i < COUNT; i++) {
		CHECK(x[i] / STEP == rint(x[i] / STEP));
		__atomic_fetch_sub(&total[i], (int32_t)(x[i] / STEP), __ATOMIC_RELAXED);
	}
	meet();
	for (int i = 0; i < COUNT; i++)
		CHECK(total[i] == (int32_t)(centre[i] / STEP));
}

/* the same of doubles, beside a centre of more steps than a float can tell */
static void elastic_doubles_body(struct gagg_comm *c, int rank)
{
	static int64_t total[COUNT];
	struct gagg_table *t;
	double x[COUNT], centre[COUNT];

	CHECK(!gagg_table_create(c, COUNT, GAGG_FLOAT64, STEP, &t));
	fill_doubles(centre, 0x1p52 * STEP);
	CHECK(!gagg_set(t, rank ? NULL : centre, 0));
	memset(total, 0, sizeof(total));
	meet();
	for (int i = 0; i < COUNT; i++) {
		int64_t apart = (int64_t)(value(rank, (size_t)i, 0) * 1000);

		x[i] = (0x1p52 + (double)apart) * STEP;
		__atomic_fetch_add(&total[i], apart, __ATOMIC_RELAXED);
	}
	for (int k = 0; k < 20; k++)
		CHECK(!gagg_elastic(t, x, 0.2));
	CHECK(!gagg_snapshot(t, centre));
	for (int i = 0; i < COUNT; i++) {
		CHECK(x[i] / STEP == rint(x[i] / STEP));
		__atomic_fetch_sub(&total[i], (int64_t)(x[i] / STEP - 0x1p52), __ATOMIC_RELAXED);
	}
	meet();
	for (int i = 0; i < COUNT; i++)
		CHECK(total[i] == (int64_t)(centre[i] / STEP - 0x1p52));
	x[5] = 0x1p53 * STEP;
	CHECK(gagg_elastic(t, x, 0.2) == GAGG_ERR_INVALID);
	CHECK(strstr(gagg_last_error(c), "element 5 is not finite, or 2^53 steps and more"));
}

static void elastic__keeps_the_sum(void **state)
{
	(void)state;
	run_both(~0U, elastic_body);
	run_both(~0U, elastic_around_body);
	run_both(~0U, elastic_floats_body);
	run_both(~0U, elastic_doubles_body);
	fake.wide = true;
	run_store(~0U, elastic_numbers_body);
	fake.wide = false;
}

/* one of a table's calls after the other, with @at that suits no element */
static void unaligned_table(struct gagg_comm *c, int rank, enum gagg_dtype dtype, size_t size)
{
	unsigned char buf[3 * sizeof(int64_t) + 1], *at = buf + 1;
	double step = dtype == GAGG_FLOAT32 || dtype == GAGG_FLOAT64 ? STEP : 1;
	const int32_t n[3] = { 1, 2, 3 };
	const int64_t wide[3] = { 1, 2, 3 };
	const float f[3] = { 1, 2, 3 };
	const double d[3] = { 1, 2, 3 };
	const void *x = dtype == GAGG_INT32 ? (const void *)n :
			dtype == GAGG_INT64 ? (const void *)wide :
			dtype == GAGG_FLOAT32 ? (const void *)f : d;
	struct gagg_table *t;

	memcpy(at, x, 3 * size);
	CHECK(!gagg_table_create(c, 3, dtype, step, &t));
	CHECK(!gagg_set(t, rank ? NULL : at, 0));
	memset(buf, 0, sizeof(buf));
	CHECK(!gagg_snapshot(t, at) && !memcmp(at, x, 3 * size));
	CHECK(!gagg_inc(t, at) && !gagg_clock(c) && !gagg_snapshot(t, at));
	/* at where the centre is: nothing moves */
	CHECK(!gagg_elastic(t, at, 0.5));
	CHECK(!gagg_get(t, at));
	for (int i = 0; i < 3; i++) {
		double sum = dtype == GAGG_FLOAT32 ? element_float(at, (size_t)i) :
			     dtype == GAGG_FLOAT64 ? element_double(at, (size_t)i) :
			     dtype == GAGG_INT32 ? element_int32(at, (size_t)i) :
						   (double)element_int64(at, (size_t)i);

		CHECK(sum == (i + 1) * (1 + N));
	}
}

static void unaligned_body(struct gagg_comm *c, int rank)
{
	unaligned_table(c, rank, GAGG_INT32, sizeof(int32_t));
	unaligned_table(c, rank, GAGG_INT64, sizeof(int64_t));
	unaligned_table(c, rank, GAGG_FLOAT32, sizeof(float));
	unaligned_table(c, rank, GAGG_FLOAT64, sizeof(double));
}

static void buffers__of_any_alignment(void **state)
{
	(void)state;
	run_both(~0U, unaligned_body);
}

/* tables are of one epoch, and know it */
static void reattach_body(struct gagg_comm *c, int rank)
{
	float x[COUNT], one[COUNT];
	struct gagg_table *t, *old;

	fill_with(one, 1);
	CHECK(!gagg_table_create(c, COUNT, GAGG_FLOAT32, STEP, &old));
	CHECK(!gagg_inc(old, one) && !gagg_clock(c) && !gagg_snapshot(old, x));
	CHECK(all_are(x, N));
	meet();
	for (int i = 0; i < 2; i++) {
		CHECK(!gagg_reattach(c));
		meet();
		CHECK(gagg_inc(old, one) == GAGG_ERR_CLOSED);
		CHECK(strstr(gagg_last_error(c), "table is of an epoch that was left"));
		CHECK(gagg_get(old, x) == GAGG_ERR_CLOSED);
		CHECK(gagg_snapshot(old, x) == GAGG_ERR_CLOSED);
		CHECK(gagg_set(old, rank ? NULL : x, 0) == GAGG_ERR_CLOSED);
		CHECK(gagg_elastic(old, x, 0.5) == GAGG_ERR_CLOSED);
		gagg_cache(old, 1);
		CHECK(!gagg_cache_hits(old));
		/* another store, and all of it */
		CHECK(!gagg_table_create(c, COUNT, GAGG_FLOAT32, STEP, &t));
		CHECK(!gagg_inc(t, one) && !gagg_clock(c) && !gagg_snapshot(t, x));
		CHECK(all_are(x, N));
		meet();
	}
}

static void reattach__closes_tables(void **state)
{
	(void)state;
	run_both(~0U, reattach_body);
	run_ako("ako:2:3", 5, reattach_body);
}

static int32_t gradient(int r, int clock, int i)
{
	return (int32_t)(value(r, (size_t)i, clock) * 8);
}

/* of all ranks, of the first so many clocks */
static int32_t total(int clocks, int i)
{
	int32_t sum = 0;

	for (int r = 0; r < N; r++)
		for (int c = 0; c < clocks; c++)
			sum += gradient(r, c, i);
	return sum;
}

#define AKO_CLOCKS	23

static void ako_body(struct gagg_comm *c, int rank)
{
	struct gagg_table *t;
	int32_t x[COUNT], g[COUNT];

	CHECK(gagg_has_store(c));
	CHECK(!gagg_table_create(c, COUNT, GAGG_INT32, 1, &t));
	for (int clock = 0; clock < AKO_CLOCKS; clock++) {
		for (int i = 0; i < COUNT; i++)
			g[i] = gradient(rank, clock, i);
		CHECK(!gagg_get(t, x) && !gagg_inc(t, g) && !gagg_clock(c));
		if (clock != 9)
			continue;
		/* what is not pushed is in no snapshot, on no rank */
		CHECK(!gagg_inc(t, g) && !gagg_snapshot(t, x));
		for (int i = 0; i < COUNT; i++) {
			CHECK(x[i] == total(10, i));
			g[i] = -g[i];
		}
		CHECK(!gagg_inc(t, g));
	}
	CHECK(!gagg_snapshot(t, x));
	for (int i = 0; i < COUNT; i++)
		CHECK(x[i] == total(AKO_CLOCKS, i));
	CHECK(gagg_get_range(t, 1, 2, 3, x) == GAGG_ERR_UNSUPPORTED);
	CHECK(!gagg_get_range(t, 1, 2, GAGG_STALENESS_MODE, x) && gagg_staleness(t) == UINT32_MAX);
	CHECK(x[0] == total(AKO_CLOCKS, 1) && x[1] == total(AKO_CLOCKS, 2));
	/* as others see it, too */
	CHECK(!gagg_get(t, x));
	for (int i = 0; i < COUNT; i++)
		CHECK(x[i] == total(AKO_CLOCKS, i));
}

static void ako__every_increment_everywhere_once(void **state)
{
	(void)state;
	run_ako("ako:1:0", 1, ako_body);
	run_ako("ako:2:3", 5, ako_body);
	run_ako("ako:3:1", 4, ako_body);
	run_ako("ako:5:0", 5, ako_body);
}

/* after P clocks it is everywhere, without a snapshot */
static void spread_body(struct gagg_comm *c, int rank)
{
	struct gagg_table *t;
	int32_t x[COUNT], none[COUNT] = { 0 };

	CHECK(!gagg_table_create(c, COUNT, GAGG_INT32, 1, &t));
	for (int i = 0; i < COUNT; i++)
		x[i] = rank * 100 + i;
	/* one's own at once, and nothing of others */
	CHECK(!gagg_inc(t, x) && !gagg_get(t, x));
	for (int i = 0; i < COUNT; i++)
		CHECK(x[i] == rank * 100 + i);
	meet();
	CHECK(!gagg_clock(c));
	for (int clock = 0; clock < 2; clock++)
		CHECK(!gagg_inc(t, none) && !gagg_clock(c));
	meet();
	CHECK(!gagg_get(t, x));
	for (int i = 0; i < COUNT; i++)
		CHECK(x[i] == 600 + 4 * i);
}

static void ako__all_after_p_clocks(void **state)
{
	(void)state;
	run_ako("ako:3:9", 12, spread_body);
}

static void few_chunks_body(struct gagg_comm *c, int rank)
{
	struct gagg_table *t;

	(void)rank;
	CHECK(gagg_table_create(c, COUNT, GAGG_INT32, 1, &t) == GAGG_ERR_INVALID && !t);
	CHECK(strstr(gagg_last_error(c), fake.wide ?
		     "more partitions than the table has chunks, 10 of 4" :
		     "more partitions than the table has chunks, 5 of 8"));
	CHECK(!gagg_table_create(c, 11 * (fake.wide ? 4 : 8), GAGG_INT32, 1, &t));
}

static void ako__partitions_that_there_are(void **state)
{
	(void)state;
	run_ako("ako:11:0", 11, few_chunks_body);
	assert_int_equal(gagg_ako_partitions(2, 100e6, 16, 1e9), 3);
	assert_int_equal(gagg_ako_partitions(2, 100e6, 16, 1.5e9), 2);
	assert_int_equal(gagg_ako_partitions(0.1, 1e6, 2, 1e9), 1);
	assert_int_equal(gagg_ako_partitions(1e6, 1e9, 64, 1e6), 1024);
	assert_int_equal(gagg_ako_partitions(0, 1e6, 2, 1e9), GAGG_ERR_INVALID);
	assert_int_equal(gagg_ako_partitions(1, NAN, 2, 1e9), GAGG_ERR_INVALID);
	assert_int_equal(gagg_ako_partitions(1, 1e6, 1, 1e9), GAGG_ERR_INVALID);
	assert_int_equal(gagg_ako_partitions(1, 1e6, 2, 0), GAGG_ERR_INVALID);
}

/* in the midst of clocks, which are exact afterwards as if nothing had been */
static void measure_body(struct gagg_comm *c, int rank)
{
	struct gagg_ako a;
	struct gagg_table *t;
	int32_t x[COUNT], g[COUNT];

	CHECK(gagg_ako_measure(c, &a) == GAGG_ERR_INVALID &&
	      strstr(gagg_last_error(c), "no table"));
	CHECK(!gagg_table_create(c, COUNT, GAGG_INT32, 1, &t));
	CHECK(gagg_ako_measure(c, &a) == GAGG_ERR_INVALID &&
	      strstr(gagg_last_error(c), "two gagg_clock()"));
	for (int clock = 0; clock < AKO_CLOCKS; clock++) {
		for (int i = 0; i < COUNT; i++)
			g[i] = gradient(rank, clock, i);
		CHECK(!gagg_inc(t, g) && !gagg_clock(c));
		if (clock != 8 && clock != 20)
			continue;
		CHECK(!gagg_ako_measure(c, &a));
		CHECK(a.rate > 0 && isfinite(a.rate) && a.bandwidth > 0 && isfinite(a.bandwidth));
		/* chunks of 32 bytes: 8 elements, or 4 */
		CHECK(a.bytes == (fake.wide ? 10 : 5) * 32);
		CHECK(a.partitions == gagg_ako_partitions(a.rate, a.bytes, N, a.bandwidth));
	}
	CHECK(!gagg_snapshot(t, x));
	for (int i = 0; i < COUNT; i++)
		CHECK(x[i] == total(AKO_CLOCKS, i));
}

static void ako__measured(void **state)
{
	(void)state;
	run_ako("ako:1:1", 2, measure_body);
	run_ako("ako:3:2", 7, measure_body);
}

/* stores of other modes have no partitions */
static void no_ako_body(struct gagg_comm *c, int rank)
{
	struct gagg_ako a;

	(void)rank;
	CHECK(gagg_ako_measure(c, &a) == GAGG_ERR_UNSUPPORTED &&
	      strstr(gagg_last_error(c), "is not ako"));
}

static void ako__measured_elsewhere(void **state)
{
	(void)state;
	run_store(1, no_ako_body);
}

static void ako__values_from_outside(void **state)
{
	(void)state;
	run_ako("ako:1:1", 2, put_one_body);
	run_ako("ako:4:1", 5, put_one_body);
}

struct beside {
	struct gagg_comm *comm;
	struct gagg_table *table;
};

/* of a thread beside the one that reads */
static void *beside_a_read(void *arg)
{
	const struct beside *of = arg;
	struct gagg_table *t = of->table, *other = t;
	float x[COUNT] = { 1 }, y[COUNT] = { 3 };
	struct gagg_comm *c = of->comm;
	struct gagg_ako a;

	/* the read has begun, and does not end before the others have made a clock */
	while (!__atomic_load_n(&c->caller, __ATOMIC_RELAXED))
		sched_yield();
	CHECK(gagg_table_create(c, 1, GAGG_INT32, 1, &other) == GAGG_ERR_BUSY && !other);
	CHECK(gagg_inc(t, x) == GAGG_ERR_BUSY);
	CHECK(gagg_clock(c) == GAGG_ERR_BUSY);
	CHECK(gagg_get(t, y) == GAGG_ERR_BUSY && y[0] == 3);
	CHECK(gagg_inc_range(t, 0, 1, x) == GAGG_ERR_BUSY);
	CHECK(gagg_get_range(t, 0, 1, 0, y) == GAGG_ERR_BUSY && y[0] == 3);
	CHECK(gagg_prefetch(t, 0, 1) == GAGG_ERR_BUSY);
	CHECK(gagg_snapshot(t, y) == GAGG_ERR_BUSY && y[0] == 3);
	CHECK(gagg_set(t, x, 0) == GAGG_ERR_BUSY);
	CHECK(gagg_elastic(t, y, 0.5) == GAGG_ERR_BUSY && y[0] == 3);
	CHECK(gagg_ako_measure(c, &a) == GAGG_ERR_BUSY);
	CHECK(gagg_checkpoint(c, path, 0) == GAGG_ERR_BUSY && !inode(path));
	CHECK(gagg_restore(c, path, 0) == GAGG_ERR_BUSY);
	CHECK(gagg_reattach(c) == GAGG_ERR_BUSY && gagg_finalize(c) == GAGG_ERR_BUSY);
	CHECK(strstr(gagg_last_error(c), "another thread is in a call"));
	CHECK(!*c->error);
	meet();
	return NULL;
}

static void *only_reader(void *arg)
{
	float x[COUNT];

	CHECK(!gagg_prefetch(arg, 0, 1) && !gagg_get_range(arg, 0, 1, 0, x) && x[0] == N);
	CHECK(!gagg_get(arg, x) && x[0] == N);
	return NULL;
}

static void beside_body(struct gagg_comm *c, int rank)
{
	struct beside of = { .comm = c };
	float x[COUNT] = { 1 };
	struct gagg_table *t;
	struct gagg_ako a;
	pthread_t thread;

	CHECK(!gagg_table_create(c, COUNT, GAGG_FLOAT32, STEP, &t));
	of.table = t;
	if (rank)
		meet();
	CHECK(!gagg_inc(t, x) && !gagg_clock(c));
	if (!rank)
		pthread_create(&thread, NULL, beside_a_read, &of);
	CHECK(!gagg_get(t, x));
	if (!rank)
		pthread_join(thread, NULL);
	/* nothing of it was added; calls of every kind, made of others, leave none open */
	CHECK(!gagg_snapshot(t, x) && x[0] == N);
	CHECK(!gagg_elastic(t, x, 0.5) && x[0] == N);
	*x = 0;
	/* rank 0, which gives the values, may have begun */
	CHECK(!gagg_inc_range(t, 0, 1, x) && !gagg_get_range(t, 0, 1, 0, x));
	CHECK((rank || x[0] == N) && !gagg_prefetch(t, 0, 1));
	CHECK(gagg_ako_measure(c, &a) == GAGG_ERR_UNSUPPORTED);
	CHECK(gagg_set(t, x, N) == GAGG_ERR_INVALID && !gagg_set(t, x, 0));
	CHECK(!gagg_checkpoint(c, path, 0) && !gagg_restore(c, path, 0));
	pthread_create(&thread, NULL, only_reader, t);
	pthread_join(thread, NULL);
}

static void tables__of_one_thread(void **state)
{
	(void)state;
	unlink(path);
	run_store(0, beside_body);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nonsense__is_refused),
		cmocka_unit_test(a_ring__has_no_tables),
		cmocka_unit_test(increments__add_up),
		cmocka_unit_test(lanes__what_they_hold),
		cmocka_unit_test(read__waits_in_vain),
		cmocka_unit_test(increments__as_large_as_lanes),
		cmocka_unit_test(increments__of_many_steps),
		cmocka_unit_test(tables__of_float64),
		cmocka_unit_test(a_cache__is_as_old_as_it_may_be),
		cmocka_unit_test(a_cache__needs_a_bound),
		cmocka_unit_test(ranges__are_as_a_table_is),
		cmocka_unit_test(a_range__is_as_old_as_it_may_be),
		cmocka_unit_test(prefetch__reads_once),
		cmocka_unit_test(checkpoint__comes_back),
		cmocka_unit_test(checkpoint__follows_no_link),
		cmocka_unit_test(checkpoint__of_another_lane_type),
		cmocka_unit_test(elastic__keeps_the_sum),
		cmocka_unit_test(buffers__of_any_alignment),
		cmocka_unit_test(reattach__closes_tables),
		cmocka_unit_test(ako__every_increment_everywhere_once),
		cmocka_unit_test(ako__all_after_p_clocks),
		cmocka_unit_test(ako__partitions_that_there_are),
		cmocka_unit_test(ako__measured),
		cmocka_unit_test(ako__measured_elsewhere),
		cmocka_unit_test(ako__values_from_outside),
		cmocka_unit_test(tables__of_one_thread),
	};
	int status;

	snprintf(path, sizeof(path), "/tmp/test_lib_store.%d", getpid());
	snprintf(new, sizeof(new), "%s.new", path);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	status = cmocka_run_group_tests(tests, NULL, NULL);
	unlink(path);
	return status;
}
