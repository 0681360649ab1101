// SPDX-License-Identifier: GPL-2.0
/* links: sync kmod/core/wire.c; libs: */
/*
 * r2sp, driven as a simulator would: workers of different, varying speeds, one
 * that hangs, one that leaves, some that finish.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "sync/internal.h"
#include "agent/conf/sync_text.h"

#define WORKERS 16

struct worker {
	u64 pace;	/* ns for a clock */
	u64 push;	/* ns from when its update is admitted until it is in */
	u64 busy;	/* until; GAGG_NEVER: it waits */
	u64 seen;	/* updates in the store when it was released */
	u32 hangs;	/* from this clock on for @hung ns */
	u64 hung;
	u32 goal;	/* clocks, after which it finishes; 0: it does not */
	bool wants;	/* its update is ready */
	bool pushes;	/* and admitted */
};

static struct gagg_sync_param param;
static const struct gagg_sync_ops *ops = &gagg_sync_r2sp;
static union gagg_sync_state sync;
static struct gagg_clocks clocks;
static struct worker worker[WORKERS];
static u32 nworkers, jitter, last;
static u32 most;	/* updates under way at a time */
static u64 now, due, seed, updates, staleness, releases, least_gap, released_at;
static bool in_order;

static u32 rnd(u32 below)
{
	seed += 0x9e3779b97f4a7c15ULL;
	return (u32)(gagg_mix64(seed, 7) % below);
}

static bool may_read(u32 r)
{
	return ops->may_read(&param, &sync, &clocks, r, clocks.clock[r]);
}

static bool has_finished(u32 r)
{
	return clocks.clock[r] == GAGG_CLOCK_END;
}

/* the next one whose turn it is */
static u32 after(u32 r)
{
	do
		r = (r + 1) % nworkers;
	while (has_finished(r));
	return r;
}

static void begin_clock(u32 r)
{
	struct worker *w = &worker[r];

	if (releases++ && now - released_at < least_gap)
		least_gap = now - released_at;
	if (r != after(last))
		in_order = false;
	released_at = now;
	last = r;
	w->seen = updates;
	w->busy = now + w->pace + (jitter ? rnd((u32)(w->pace / 100 * jitter)) : 0);
	if (w->hung && clocks.clock[r] == w->hangs)
		w->busy += w->hung;
}

static void update(u32 r)
{
	u64 missed = updates - worker[r].seen;

	if (missed > staleness)
		staleness = missed;
	updates++;
	worker[r].pushes = false;
	gagg_clocks_tick(&clocks, r, clocks.clock[r] + 1 == worker[r].goal ?
			 GAGG_CLOCK_END : clocks.clock[r] + 1);
	ops->on_tick(&param, &sync, &clocks, r, now);
}

static void push(u32 r)
{
	worker[r].wants = false;
	worker[r].pushes = true;
	if (worker[r].push)
		worker[r].busy = now + worker[r].push;
	else
		update(r);
}

static u32 pushing(void)
{
	u32 r, n = 0;

	for (r = 0; r < nworkers; r++)
		n += worker[r].pushes;
	return n;
}

/* a worker that waits for its turn goes on, in the order of turns */
static bool go_on(void)
{
	u32 i, r, from = last + 1;
	bool moved = false;

	for (i = 0; i < nworkers; i++) {
		r = (from + i) % nworkers;
		if (has_finished(r) || worker[r].busy != GAGG_NEVER || worker[r].wants)
			continue;
		if (!may_read(r)) {
			assert_false(ops->may_update(&param, &sync, &clocks, r, now));
			continue;
		}
		begin_clock(r);
		moved = true;
	}
	return moved;
}

/* all that can happen now; in which order updates come is random */
static void settle(void)
{
	bool moved = true;
	u32 i, r, from;

	while (moved) {
		due = ops->run(&param, &sync, &clocks, now);
		assert_true(due > now);
		moved = go_on();
		for (i = 0, from = rnd(nworkers); i < nworkers; i++) {
			r = (from + i) % nworkers;
			if (!worker[r].wants ||
			    !ops->may_update(&param, &sync, &clocks, r, now))
				continue;
			push(r);
			moved = true;
		}
		if (pushing() > most)
			most = pushing();
	}
}

static void begin(const char *mode, u32 n)
{
	u32 r;

	assert_true(sync_text_parse(mode, &param, NULL, 0));
	memset(&sync, 0, sizeof(sync));
	memset(worker, 0, sizeof(worker));
	nworkers = n;
	gagg_clocks_init(&clocks, &(u64){ GAGG_BIT(n) - 1 });
	now = GAGG_SEC;
	updates = 0;
	staleness = 0;
	most = 0;
	releases = 0;
	least_gap = GAGG_NEVER;
	in_order = true;
	last = n - 1;
	for (r = 0; r < n; r++) {
		worker[r].busy = GAGG_NEVER;
		worker[r].pace = GAGG_MSEC;
	}
}

static void drive(u64 time)
{
	u64 end = now + time, next;
	u32 r;

	for (;;) {
		settle();
		next = due;
		for (r = 0; r < nworkers; r++)
			if (worker[r].busy < next)
				next = worker[r].busy;
		if (next > end)
			break;
		now = next;
		for (r = 0; r < nworkers; r++)
			if (worker[r].busy <= now) {
				worker[r].busy = GAGG_NEVER;
				if (worker[r].pushes)
					update(r);
				else
					worker[r].wants = true;
			}
	}
	now = end;
}

/* a world of workers, K of which update at a time */
static void random_world(u32 i, u32 k)
{
	char mode[32];
	u32 r;

	seed = i;
	snprintf(mode, sizeof(mode), "r2sp:%d:0:%u", i % 2 ? 80 : 0, k);
	begin(mode, 2 + i % (WORKERS - 1));
	/* some finish early; not all, who is left goes on */
	for (r = 0; r < nworkers; r++) {
		worker[r].pace = (500 + rnd(1000)) * GAGG_USEC;
		worker[r].push = i % 5 ? rnd(800) * GAGG_USEC : 0;
		worker[r].goal = r && i % 4 > 1 ? rnd(2) * (1 + rnd(20)) : 0;
	}
	jitter = i % 3 * 50;
	drive(GAGG_SEC / 10);
}

static void turns__have_an_order_and_a_bound(void **state)
{
	u32 i, r, k, bound, met = 0;

	(void)state;
	for (i = 0; i < 600; i++) {
		k = 1 + (i / 3) % 5;
		random_world(i, k);
		bound = nworkers + (u32)gagg_min64(k, nworkers) - 2;
		assert_true(in_order);
		assert_true(staleness <= bound);
		assert_true(most <= k);
		met += k > 1 && staleness == bound && most == (u32)gagg_min64(k, nworkers);
		assert_true(updates > 20);
		/* nobody reads more than a turn ahead, but may have updated since */
		for (r = 0; r < nworkers; r++)
			if (!has_finished(r))
				assert_in_range(clocks.clock[r], clocks.min,
						clocks.min + (k > 1 ? 2 : 1));
	}
	/* the bound is the least one */
	assert_true(met > 20);
}

/* if K is not given it is one more than there are homes */
static void homes__say_how_many_update(void **state)
{
	u32 homes, r;

	(void)state;
	for (homes = 1; homes < 8; homes++) {
		seed = homes;
		jitter = 50;
		begin("r2sp:0:0", WORKERS);
		clocks.homes = homes;
		for (r = 0; r < WORKERS; r++)
			worker[r].push = GAGG_MSEC;
		drive(GAGG_SEC / 10);
		assert_int_equal(most, homes + 1);
		assert_true(staleness <= WORKERS + homes - 1);
	}
}

/* its update is of a clock's time as well */
static void gaps__are_of_the_clocks_time(void **state)
{
	u32 r;

	(void)state;
	seed = 1;
	jitter = 10;
	begin("r2sp:80:0:4", 8);
	for (r = 0; r < 8; r++) {
		worker[r].pace = 6 * GAGG_MSEC / 10;
		worker[r].push = 42 * GAGG_MSEC / 100;
	}
	drive(GAGG_SEC / 10);
	/* the average is known: 1.05 ms, of which 80 %, for 8 */
	least_gap = GAGG_NEVER;
	drive(GAGG_SEC / 10);
	assert_in_range(sync.r2sp.clock_time, GAGG_MSEC, 11 * GAGG_MSEC / 10);
	assert_in_range(least_gap, 99 * GAGG_USEC, 11 * GAGG_MSEC / 100);
	/* and the ring is as fast as its workers */
	assert_in_range(updates, 8 * 150, 8 * 200);
}

static void who_hangs__is_passed_over(void **state)
{
	u32 r;

	(void)state;
	seed = 2;
	jitter = 10;
	begin("r2sp:80:20", 8);
	worker[3].hangs = 10;
	worker[3].hung = GAGG_SEC / 2;
	drive(GAGG_SEC / 4);
	assert_int_equal(clocks.clock[3], 10);
	for (r = 0; r < 8; r++)
		assert_true(r == 3 || clocks.clock[r] > 100);
	/* what it was at is added whenever it comes, then it has turns again */
	drive(GAGG_SEC);
	assert_true(clocks.clock[3] > 300);
	in_order = true;
	staleness = 0;
	drive(GAGG_SEC / 4);
	assert_true(in_order);
	assert_true(staleness <= 7);
}

static void without_patience__the_ring_waits(void **state)
{
	(void)state;
	seed = 3;
	jitter = 0;
	begin("r2sp:80:0", 4);
	worker[2].hangs = 5;
	worker[2].hung = GAGG_SEC;
	drive(GAGG_SEC / 2);
	assert_int_equal(clocks.clock[2], 5);
	assert_true(clocks.clock[0] <= 6);
	assert_int_equal(due, GAGG_NEVER);
	drive(GAGG_SEC);
	assert_true(clocks.clock[2] > 100);
	assert_true(staleness <= 3);
}

/* a minute that one clock takes is lost once, not with each of the next ones */
static void one_slow_clock__is_soon_forgotten(void **state)
{
	u32 i, r;

	(void)state;
	for (i = 0; i < 2; i++) {
		seed = 5;
		jitter = 10;
		begin("r2sp:80:0", 4);
		/* of all, the first; or one of the others */
		for (r = 0; r < (i ? 1 : 4); r++) {
			worker[r].hangs = i * 20;
			worker[r].hung = 60 * GAGG_SEC;
		}
		drive(60 * GAGG_SEC + GAGG_SEC / 10);
		assert_true(clocks.min > 60);
	}
}

/* a clock's time has a gap: from when its update is ready until that is admitted */
static void waiting__is_no_computing(void **state)
{
	u32 r;

	(void)state;
	begin("r2sp:0:0", 2);
	ops->run(&param, &sync, &clocks, now);
	for (r = 0; r < 2; r++) {
		assert_true(ops->may_update(&param, &sync, &clocks, r, now));
		update(r);
	}
	ops->run(&param, &sync, &clocks, now);
	assert_false(ops->may_update(&param, &sync, &clocks, 1, now + GAGG_MSEC));
	now += 50 * GAGG_MSEC;
	assert_false(ops->may_update(&param, &sync, &clocks, 1, now));
	assert_true(ops->may_update(&param, &sync, &clocks, 0, now));
	update(0);
	assert_true(sync.r2sp.clock_time == 50 * GAGG_MSEC);
	/* admitted, and asked again on its way: both are no news */
	assert_true(ops->may_update(&param, &sync, &clocks, 1, now));
	assert_true(ops->may_update(&param, &sync, &clocks, 1, now + GAGG_MSEC));
	now += 10 * GAGG_MSEC;
	update(1);
	assert_true(sync.r2sp.clock_time == 50 * GAGG_MSEC + 11 * GAGG_MSEC / 8 -
					    50 * GAGG_MSEC / 8);
}

/* what rank 0 computes for 2 ms, and sends at once */
static void one_clock(void)
{
	ops->run(&param, &sync, &clocks, now);
	now += 2 * GAGG_MSEC;
	assert_true(ops->may_update(&param, &sync, &clocks, 0, now));
	update(0);
}

/* a clock counts once, though the tick of an empty last update follows; the first one never does */
static void last_tick__is_no_clock(void **state)
{
	(void)state;
	begin("r2sp:0:0", 2);
	one_clock();
	assert_true(ops->may_update(&param, &sync, &clocks, 1, now));
	update(1);
	assert_true(sync.r2sp.clock_time == 0);
	one_clock();
	assert_true(sync.r2sp.clock_time == 2 * GAGG_MSEC);
	now += GAGG_SEC;
	gagg_clocks_tick(&clocks, 0, GAGG_CLOCK_END);
	ops->on_tick(&param, &sync, &clocks, 0, now);
	assert_true(sync.r2sp.clock_time == 2 * GAGG_MSEC);

	/* the first may be the last, too */
	begin("r2sp:0:0", 2);
	worker[0].goal = 1;
	one_clock();
	assert_true(has_finished(0));
	assert_true(sync.r2sp.clock_time == 0);
}

static void who_finishes__has_no_turns(void **state)
{
	u32 r;

	(void)state;
	for (r = 0; r < 4; r++) {
		seed = 4;
		begin("r2sp:80:0", 4);
		drive(GAGG_SEC / 10);
		worker[r].busy = GAGG_NEVER;
		worker[r].wants = false;
		gagg_clocks_tick(&clocks, r, GAGG_CLOCK_END);
		ops->on_tick(&param, &sync, &clocks, r, now);
		drive(GAGG_SEC / 10);
		assert_true(clocks.clock[(r + 1) % 4] > 150);
	}
	/* the last one turns the light off */
	for (r = 0; r < 4; r++)
		gagg_clocks_tick(&clocks, r, GAGG_CLOCK_END);
	assert_int_equal(ops->run(&param, &sync, &clocks, now), GAGG_NEVER);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(turns__have_an_order_and_a_bound),
		cmocka_unit_test(homes__say_how_many_update),
		cmocka_unit_test(gaps__are_of_the_clocks_time),
		cmocka_unit_test(who_hangs__is_passed_over),
		cmocka_unit_test(without_patience__the_ring_waits),
		cmocka_unit_test(one_slow_clock__is_soon_forgotten),
		cmocka_unit_test(waiting__is_no_computing),
		cmocka_unit_test(last_tick__is_no_clock),
		cmocka_unit_test(who_finishes__has_no_turns),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
