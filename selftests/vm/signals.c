// SPDX-License-Identifier: GPL-2.0
/*
 * One rank whose threads take a signal every millisecond, and disturb each other.
 *
 *	signals GROUP RANK ROUNDS
 *
 * Three threads all-reduce, each on a communicator of its own; or, where the group
 * has a store, one adds to it, clock by clock. One more keeps the session's lock from
 * them by mapping a region of it, again and again. Every sum is checked. Prints how
 * many signals there were; exit status 1: an error, or something was lost.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "comm.h"
#include "gagg.h"

#define THREADS		3
#define COUNT		1000

static struct gagg_comm *world;
static int rank, size, rounds;
static unsigned int signals;
static bool over;

static void caught(int sig)
{
	(void)sig;
	__atomic_fetch_add(&signals, 1, __ATOMIC_RELAXED);
}

static void die(const char *what, const char *why)
{
	fprintf(stderr, "rank %d: %s: %s\n", rank, what, why);
	exit(1);
}

/* for the calling thread; its calls do not begin again by themselves */
static void shower(void)
{
	struct sigevent ev = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 };
	const struct itimerspec every = { { 0, 1000000 }, { 0, 1000000 } };
	timer_t timer;

	ev._sigev_un._tid = gettid();
	if (timer_create(CLOCK_MONOTONIC, &ev, &timer) || timer_settime(timer, 0, &every, NULL))
		die("timer", strerror(errno));
}

static int32_t element(int r, int round, int i)
{
	return r * 1000003 + round * 8191 + i;
}

static void *reduce(void *arg)
{
	struct gagg_comm *c = arg;
	int32_t x[COUNT], sum;
	int k, i, r;

	shower();
	for (k = 0; k < rounds; k++) {
		for (i = 0; i < COUNT; i++)
			x[i] = element(rank, k, i);
		if (gagg_allreduce(x, x, COUNT, GAGG_INT32, GAGG_SUM, c, NULL))
			die("all-reduce", gagg_last_error(c));
		for (i = 0; i < COUNT; i++) {
			for (sum = 0, r = 0; r < size; r++)
				sum += element(r, k, i);
			if (x[i] != sum)
				die("all-reduce", "a sum is wrong");
		}
	}
	return NULL;
}

static void *add(void *arg)
{
	int64_t x[COUNT], sum;
	struct gagg_table *t;
	int k, i, r;

	(void)arg;
	shower();
	if (gagg_table_create(world, COUNT, GAGG_INT64, 1, &t))
		die("table", gagg_last_error(world));
	for (k = 0; k < rounds; k++) {
		for (i = 0; i < COUNT; i++)
			x[i] = element(rank, k, i);
		if (gagg_inc(t, x) || gagg_clock(world))
			die("clock", gagg_last_error(world));
		if (k % 4 == 0 && gagg_get(t, x))
			die("get", gagg_last_error(world));
	}
	if (gagg_snapshot(t, x))
		die("snapshot", gagg_last_error(world));
	for (i = 0; i < COUNT; i++) {
		for (sum = 0, r = 0; r < size; r++)
			for (k = 0; k < rounds; k++)
				sum += element(r, k, i);
		if (x[i] != sum)
			die("store", "an update was lost, or counted twice");
	}
	return NULL;
}

/* each page of the region is entered under the session's lock */
static void *hold(void *arg)
{
	const struct gagg_region *r = &world->region.geo.region[GAGG_REG_RESULT];
	void *addr;

	(void)arg;
	while (!__atomic_load_n(&over, __ATOMIC_RELAXED)) {
		addr = mmap(NULL, r->length, PROT_READ, MAP_SHARED, gagg_fd(world),
			    (off_t)r->offset);
		if (addr == MAP_FAILED)
			die("mmap", strerror(errno));
		munmap(addr, r->length);
	}
	return NULL;
}

/* the communicators are made while signals come, too */
static void run_threads(void)
{
	bool store = gagg_has_store(world);
	struct gagg_comm *part[THREADS];
	pthread_t holder, thread[THREADS];
	int i, n = store ? 1 : THREADS;

	if (pthread_create(&holder, NULL, hold, NULL))
		die("thread", strerror(errno));
	for (i = 0; i < n; i++)
		if (!store && gagg_comm_split(world, 0, 0, &part[i]))
			die("split", gagg_last_error(world));
	for (i = 0; i < n; i++)
		if (pthread_create(&thread[i], NULL, store ? add : reduce, part[i]))
			die("thread", strerror(errno));
	for (i = 0; i < n; i++)
		pthread_join(thread[i], NULL);
	for (i = 0; !store && i < n; i++)
		if (gagg_comm_free(part[i]))
			die("free", gagg_last_error(world));
	__atomic_store_n(&over, true, __ATOMIC_RELAXED);
	pthread_join(holder, NULL);
}

int main(int argc, char **argv)
{
	const struct sigaction act = { .sa_handler = caught };
	int fd;

	if (argc != 4)
		return 2;
	rank = atoi(argv[2]);
	rounds = atoi(argv[3]);
	if (sigaction(SIGUSR1, &act, NULL))
		return 2;
	shower();
	fd = gagg_open_rank(argv[1], (uint32_t)rank);
	if (fd < 0 || gagg_init_fd(&world, fd, 120000))
		die("init", gagg_last_error(NULL));
	size = gagg_size(world);
	run_threads();
	if (gagg_finalize(world))
		die("finalize", gagg_last_error(NULL));
	printf("signals %u\n", signals);
	return 0;
}
