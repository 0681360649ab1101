// SPDX-License-Identifier: GPL-2.0
/* links: kmod/core/wire.c; libs: */
/*
 * When replicas take a result (hpsgd): ranks of all speeds, results and offers
 * that are seen at any time, many seeds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "switch.h"
#include "wire.h"

#define RANKS	8
#define ROUNDS	20

struct sim {
	struct hp_switch sw[RANKS];
	int clock[RANKS];		/* steps made */
	int round[RANKS];		/* all-reduces started */
	int offers[RANKS];		/* made */
	int took[RANKS][ROUNDS + 1];	/* clock at which a round was started */
	int32_t offer[RANKS][ROUNDS + 1];
	int waits, steps;
	u64 rng;
	int n;
};

static u64 draw(struct sim *s, u64 n)
{
	s->rng += 0x9e3779b97f4a7c15ULL;
	return gagg_mix64(s->rng, 5) % n;
}

static bool all_past(const struct sim *s, const int *what, int round)
{
	for (int r = 0; r < s->n; r++)
		if (what[r] < round)
			return false;
	return true;
}

static int32_t largest(const struct sim *s, int round)
{
	int32_t at = 0;

	for (int r = 0; r < s->n; r++)
		at = s->offer[r][round] > at ? s->offer[r][round] : at;
	return at;
}

/* what rank r can see; @late: if it does not happen to */
static bool progress(struct sim *s, int r, bool late)
{
	struct hp_switch *sw = &s->sw[r];
	int round = s->round[r];

	if (sw->phase == SWITCH_FLYING && all_past(s, s->round, round) && !late) {
		s->offer[r][round] = switch_offer(sw);
		s->offers[r] = round;
		return true;
	}
	if (sw->phase == SWITCH_OFFERED && all_past(s, s->offers, round) && !late) {
		switch_agree(sw, largest(s, round));
		return true;
	}
	return false;
}

static void step(struct sim *s, int r)
{
	struct hp_switch *sw = &s->sw[r];

	while (progress(s, r, draw(s, 3)))
		;
	if (switch_must_wait(sw)) {
		s->waits++;
		progress(s, r, false);
		return;
	}
	if (switch_applies(sw)) {
		/* nobody may come to it late */
		assert_true(sw->phase == SWITCH_IDLE || sw->clock == sw->at);
		s->round[r]++;
		s->took[r][s->round[r]] = s->clock[r];
		switch_start(sw);
		return;
	}
	s->clock[r]++;
	s->steps += sw->phase == SWITCH_FLYING;
	switch_tick(sw);
	assert_true(sw->clock <= sw->bound);
}

static void run(u64 seed)
{
	struct sim s;
	int turns = 0;

	memset(&s, 0, sizeof(s));
	s.rng = seed;
	s.n = 1 + (int)draw(&s, RANKS);
	for (int r = 0; r < s.n; r++)
		s.sw[r].bound = 1 + (int)(seed % 9);
	while (!all_past(&s, s.round, ROUNDS)) {
		/* some ranks are slow */
		int r = (int)draw(&s, draw(&s, 2) ? (u64)s.n : 1 + draw(&s, (u64)s.n));

		if (s.round[r] < ROUNDS)
			step(&s, r);
		assert_true(turns++ < 1000000);
	}
	for (int r = 0; r < s.n; r++)
		assert_memory_equal(s.took[r], s.took[0], sizeof(s.took[0]));
	/* each bound's worth of steps at most between two */
	for (int k = 2; k <= ROUNDS; k++)
		assert_in_range(s.took[0][k] - s.took[0][k - 1], 1, s.sw[0].bound);
	assert_true(s.steps > 0);
}

static void switch__same_clock_on_all_ranks(void **state)
{
	(void)state;
	for (u64 seed = 1; seed <= 3000; seed++)
		run(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(switch__same_clock_on_all_ranks),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
