// SPDX-License-Identifier: GPL-2.0
/* links: kmod/core/front.c; libs: -pthread */
/* What all shards have come to: one after the other, and all at once. */
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "front.h"

#define SHARDS	3
#define ROUNDS	300
#define STEPS	300

static struct gagg_front f;
static u64 all;

static int setup(void **state)
{
	(void)state;
	memset(&f, 0, sizeof(f));
	all = 0;
	return 0;
}

static void front__is_the_slowest(void **state)
{
	(void)state;
	assert_int_equal(gagg_front_move(&f, 3, 0, 5, &all), 0);
	assert_int_equal(gagg_front_move(&f, 3, 2, 9, &all), 0);
	assert_int_equal(all, 0);
	assert_int_equal(gagg_front_move(&f, 3, 1, 4, &all), 4);
	assert_int_equal(all, 4);
	assert_int_equal(gagg_front_move(&f, 3, 1, 7, &all), 1);
	assert_int_equal(all, 5);
	/* nothing new */
	assert_int_equal(gagg_front_move(&f, 3, 1, 7, &all), 0);
	assert_int_equal(gagg_front_move(&f, 3, 2, 10, &all), 0);
	assert_int_equal(all, 5);
}

static void front__of_one(void **state)
{
	(void)state;
	assert_int_equal(gagg_front_move(&f, 1, 0, 5, &all), 5);
	assert_int_equal(all, 5);
	assert_int_equal(gagg_front_move(&f, GAGG_SHARDS_MAX, 0, 6, &all), 0);
	assert_int_equal(all, 5);
}

/* a shard without chunks holds nobody up; without any there is nothing to tell */
static void front__of_what_never_comes(void **state)
{
	(void)state;
	assert_int_equal(gagg_front_move(&f, 2, 1, GAGG_NEVER, &all), 0);
	assert_int_equal(gagg_front_move(&f, 2, 0, 3, &all), 3);
	assert_int_equal(gagg_front_move(&f, 2, 0, GAGG_NEVER, &all), 0);
	assert_int_equal(all, 3);
}

/* another one is further than what this one sees */
static void front__never_goes_back(void **state)
{
	(void)state;
	all = 8;
	assert_int_equal(gagg_front_move(&f, 1, 0, 5, &all), 0);
	assert_int_equal(all, 8);
}

struct mover {
	pthread_barrier_t *start;
	u32 shard;
	u64 raised;
};

static void *mover_run(void *arg)
{
	struct mover *m = arg;
	u64 at;

	pthread_barrier_wait(m->start);
	for (at = 1; at <= STEPS; at++)
		m->raised += gagg_front_move(&f, SHARDS, m->shard, at, &all);
	return NULL;
}

/* the last position of each is seen, and each step is counted once */
static void front__of_all_at_once(void **state)
{
	struct mover m[SHARDS];
	pthread_t thread[SHARDS];
	pthread_barrier_t start;
	u32 round, s;

	(void)state;
	for (round = 0; round < ROUNDS; round++) {
		u64 raised = 0;

		setup(NULL);
		pthread_barrier_init(&start, NULL, SHARDS);
		for (s = 0; s < SHARDS; s++) {
			m[s] = (struct mover){ .start = &start, .shard = s };
			assert_int_equal(pthread_create(&thread[s], NULL, mover_run, &m[s]), 0);
		}
		for (s = 0; s < SHARDS; s++) {
			pthread_join(thread[s], NULL);
			raised += m[s].raised;
		}
		pthread_barrier_destroy(&start);
		assert_int_equal(all, STEPS);
		assert_int_equal(raised, STEPS);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(front__is_the_slowest, setup),
		cmocka_unit_test_setup(front__of_one, setup),
		cmocka_unit_test_setup(front__of_what_never_comes, setup),
		cmocka_unit_test_setup(front__never_goes_back, setup),
		cmocka_unit_test_setup(front__of_all_at_once, setup),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
