// SPDX-License-Identifier: GPL-2.0
/* links: agent/lib/pace.c kmod/core/wire.c; libs: */
/*
 * A worker's own batch: where it comes to in rings of workers that take turns, of
 * any speeds and ways to the store, and that it stays there.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "pace.h"
#include "wire.h"

#define USEC	1000ULL
#define MSEC	1000000ULL
#define RANKS	8
#define STEPS	5
#define SETTLED	8	/* periods until batches stay as they are */

static uint64_t dice;

static uint64_t between(uint64_t least, uint64_t most)
{
	return least + gagg_mix64(dice++, 11) % (most - least + 1);
}

/* --- a ring of workers ----------------------------------------------------- */

static struct {
	unsigned int n;
	uint64_t sample[RANKS];	/* ns that one takes */
	uint64_t way[RANKS];	/* ns of a step that are no blocking */
	struct pace_control c[RANKS];
	uint64_t wait[RANKS];	/* of a step of the last period */
	uint64_t round;		/* ns of a turn of all */
} ring;

static uint64_t alone(unsigned int i)
{
	return ring.c[i].batch * ring.sample[i] + ring.way[i];
}

/* nobody has its next turn before all have had theirs. @noise: percent */
static void turn(unsigned int noise)
{
	unsigned int i, s;

	for (i = 0; i < ring.n; i++)
		ring.wait[i] = 0;
	for (s = 0; s < STEPS; s++) {
		uint64_t took[RANKS];

		for (ring.round = 0, i = 0; i < ring.n; i++) {
			took[i] = ring.c[i].batch * ring.sample[i];
			took[i] = took[i] * between(100 - noise, 100 + noise) / 100;
			if (took[i] + ring.way[i] > ring.round)
				ring.round = took[i] + ring.way[i];
		}
		for (i = 0; i < ring.n; i++)
			ring.wait[i] += ring.round - took[i];
	}
}

static void step(unsigned int noise)
{
	unsigned int i;

	turn(noise);
	for (i = 0; i < ring.n; i++) {
		struct pace_work work = {
			.steps = STEPS,
			.samples = STEPS * (uint64_t)ring.c[i].batch,
			.compute_ns = STEPS * ring.c[i].batch * ring.sample[i],
			.wait_ns = ring.wait[i],
		};

		pace_step(&ring.c[i], &work);
		assert_in_range(ring.c[i].batch, ring.c[i].bounds.min, ring.c[i].bounds.max);
	}
}

static void ring_begin(unsigned int n, uint32_t first, uint32_t min, uint32_t max)
{
	const struct pace_bounds b = { first, min, max };
	unsigned int i;

	ring.n = n;
	for (i = 0; i < n; i++)
		pace_begin(&ring.c[i], &b);
}

static unsigned int slowest(void)
{
	unsigned int i, at = 0;

	for (i = 1; i < ring.n; i++)
		if (alone(i) > alone(at))
			at = i;
	return at;
}

/* --- where batches come to ------------------------------------------------- */

/* the paper's workers: 429, 628 and 917 samples a second, 512 at first; what is waited
 * for the network is given back at once, and no more than that
 */
static void fast_ones__grow_as_published(void **state)
{
	static const uint64_t rate[] = { 429, 628, 917 };
	static const uint32_t want[] = { 512, 749, 1094 };
	unsigned int i, k;

	(void)state;
	for (k = 0; k < 2; k++) {
		for (i = 0; i < 3; i++) {
			ring.sample[i] = 1000 * MSEC / rate[i];
			ring.way[i] = 400 * MSEC * k;
		}
		ring_begin(3, 512, 1, 4096);
		step(0);
		step(0);
		for (i = 0; i < 3; i++)
			assert_in_range(ring.c[i].batch, want[i] - 1, want[i] + 1);
	}
}

/* @was: of the slowest, alone, with its first batch; @ways: the longest one */
static void nobody_is_blocked(uint64_t was, uint64_t ways)
{
	unsigned int i;

	assert_in_range(alone(slowest()), was, was + 3 * ways + was / 8);
	for (i = 0; i < ring.n; i++)
		if (ring.c[i].batch < ring.c[i].bounds.max)
			assert_in_range(ring.round - alone(i), 0, ring.round / 4 + 2 * ways);
}

/* in a steady ring nobody is blocked in the end but by bounds; the slowest has its
 * batch, and the ring is not slower than it was by more than ways are long
 */
static void who_is_blocked__grows_until_it_is_not(void **state)
{
	unsigned int i, k, again;
	uint64_t was, ways;

	(void)state;
	for (k = 0; k < 2000; k++) {
		uint32_t first = (uint32_t)between(16, 500);
		uint32_t batch[RANKS];

		ring.n = (unsigned int)between(2, RANKS);
		for (ways = 0, i = 0; i < ring.n; i++) {
			ring.sample[i] = between(100 * USEC, 3000 * USEC);
			ring.way[i] = between(0, first * 300 * USEC);
			if (ring.way[i] > ways)
				ways = ring.way[i];
		}
		ring_begin(ring.n, first, 1, k % 2 ? 40 * first : 3 * first);
		was = alone(slowest());
		/* whenever they have begun anew they come to it again */
		for (again = 0; again < 8; again++) {
			while (ring.c[0].periods < SETTLED)
				step(0);
			nobody_is_blocked(was, ways);
			/* and there they stay */
			for (i = 0; i < ring.n; i++)
				batch[i] = ring.c[i].batch;
			while (ring.c[0].periods < PACE_AGAIN - 1) {
				step(0);
				for (i = 0; i < ring.n; i++)
					assert_int_equal(ring.c[i].batch, batch[i]);
			}
			step(0);
			for (i = 0; i < ring.n; i++)
				assert_int_equal(ring.c[i].batch, first);
		}
	}
}

/* speeds of each step are within a tenth: batches do not creep */
static void noise__is_no_blocking(void **state)
{
	unsigned int i, k;

	(void)state;
	for (k = 0; k < 50; k++) {
		for (i = 0; i < RANKS; i++) {
			ring.sample[i] = MSEC;
			ring.way[i] = between(0, 40 * MSEC);
		}
		ring_begin(RANKS, 100, 1, 100000);
		for (i = 0; i < 1000; i++)
			step(5);
		for (i = 0; i < RANKS; i++)
			assert_in_range(ring.c[i].batch, 100, 300);
	}
}

/* operations that take long are no blocking, however long they take */
static void a_long_way__is_no_blocking(void **state)
{
	unsigned int i;

	(void)state;
	ring.sample[0] = ring.sample[1] = MSEC;
	ring.way[0] = ring.way[1] = 1000 * MSEC;
	ring_begin(2, 100, 1, 100000);
	for (i = 0; i < 1000; i++)
		step(0);
	assert_int_equal(ring.c[0].batch, 100);
	assert_int_equal(ring.c[1].batch, 100);
}

/* one that becomes slow sets the pace of the others: they grow, in one period, and in
 * another give back what is not blocking; and again
 */
static void a_change__is_followed(void **state)
{
	static const uint64_t slow[] = { 3, 5, 9 };
	unsigned int i, k;

	(void)state;
	for (i = 0; i < 4; i++) {
		ring.sample[i] = MSEC;
		ring.way[i] = MSEC;
	}
	ring_begin(4, 32, 1, 1000);
	for (i = 0; i < 4; i++)
		step(0);
	for (i = 0; i < 4; i++)
		assert_int_equal(ring.c[i].batch, 32);
	for (k = 0; k < 3; k++) {
		ring.sample[3] = slow[k] * MSEC;
		step(0);
		step(0);
		for (i = 0; i < 3; i++)
			assert_in_range(ring.c[i].batch, 32 * slow[k] - 2, 32 * slow[k] + 2);
		assert_int_equal(ring.c[3].batch, 32);
	}
	/* when it is fast it grows at once, being blocked; then all of them shrink */
	ring.sample[3] = MSEC;
	step(0);
	assert_in_range(ring.c[3].batch, 32 * slow[2] - 2, 32 * slow[2] + 2);
	while (ring.c[0].periods)
		step(0);
	for (k = 0; k < PACE_AGAIN - 1; k++) {
		step(0);
		for (i = 0; i < 4; i++)
			assert_in_range(ring.c[i].batch, 31, 33);
	}
}

/* --- one controller -------------------------------------------------------- */

static void bounds__are_kept(void **state)
{
	struct pace_control c;
	unsigned int i;

	(void)state;
	for (i = 0; i < 100000; i++) {
		struct pace_bounds b = { .min = (uint32_t)between(1, 50) };
		unsigned int k;

		b.max = b.min + (uint32_t)between(0, i % 2 ? 100 : UINT32_MAX - 100);
		b.first = (uint32_t)between(0, i % 3 ? 100 : UINT32_MAX);
		pace_begin(&c, &b);
		assert_in_range(c.batch, b.min, b.max);
		for (k = 0; k < 8; k++) {
			unsigned int less = (unsigned int)between(0, 63);
			struct pace_work work = {
				.steps = between(0, 9),
				.samples = between(0, UINT64_MAX - 1) >> less,
				.compute_ns = between(0, UINT64_MAX - 1) >> between(0, 63),
				.wait_ns = between(0, UINT64_MAX - 1) >> between(0, 63),
			};

			pace_step(&c, &work);
			assert_in_range(c.batch, b.min, b.max);
		}
	}
}

/* a rank that waits for less than an eighth of a step has nothing to gain */
static void a_short_wait__is_no_blocking(void **state)
{
	const struct pace_bounds b = { 100, 1, 1000 };
	struct pace_work work = { .steps = 1, .samples = 100, .compute_ns = 100 * MSEC };
	struct pace_control c;

	(void)state;
	pace_begin(&c, &b);
	work.wait_ns = 14 * MSEC;
	pace_step(&c, &work);
	assert_int_equal(c.batch, 100);
	work.wait_ns = 15 * MSEC;
	pace_step(&c, &work);
	assert_int_equal(c.batch, 115);
}

static void nothing_measured__changes_nothing(void **state)
{
	const struct pace_bounds b = { 10, 1, 100 };
	struct pace_work none[] = {
		{ 0, 10, MSEC, 9 * MSEC }, { 1, 0, MSEC, 9 * MSEC }, { 1, 10, 0, 9 * MSEC },
	};
	struct pace_control c, was;
	unsigned int i;

	(void)state;
	pace_begin(&c, &b);
	was = c;
	for (i = 0; i < 3; i++) {
		pace_step(&c, &none[i]);
		assert_memory_equal(&c, &was, sizeof(c));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fast_ones__grow_as_published),
		cmocka_unit_test(who_is_blocked__grows_until_it_is_not),
		cmocka_unit_test(noise__is_no_blocking),
		cmocka_unit_test(a_long_way__is_no_blocking),
		cmocka_unit_test(a_change__is_followed),
		cmocka_unit_test(bounds__are_kept),
		cmocka_unit_test(a_short_wait__is_no_blocking),
		cmocka_unit_test(nothing_measured__changes_nothing),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
