// SPDX-License-Identifier: GPL-2.0
/* links: kmod/core/group/state.c kmod/core/group/times.c kmod/core/group/join*.c kmod/core/group/digest.c kmod/core/group/param.c kmod/core/geom.c kmod/core/wire.c sync; libs: */
/* The states of a group and of its members, and the name of what differs. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "group/digest.h"
#include "group/state.h"

static u32 group_state(const struct gagg_ioc_status *st)
{
	const struct gagg_geom g = { .room = 344 };
	struct gagg_group_facts f;

	gagg_facts_group(&f, &g, st, 0);
	return f.number[GAGG_GA_STATE];
}

static void state__of_a_group(void **state)
{
	struct gagg_ioc_status st = { .phase = GAGG_PHASE_IDLE };

	(void)state;
	assert_int_equal(group_state(&st), GAGG_GS_WAITING);
	st.blocked = 1;
	assert_int_equal(group_state(&st), GAGG_GS_BLOCKED);
	st.mismatch = 1;
	assert_int_equal(group_state(&st), GAGG_GS_MISMATCH);
	st.phase = GAGG_PHASE_RUNNING;
	assert_int_equal(group_state(&st), GAGG_GS_RUNNING);
	assert_int_equal(group_state(NULL), GAGG_GS_INCOMPLETE);
}

static void facts__of_a_group(void **state)
{
	const u64 always = GAGG_BIT(GAGG_GA_STATE) | GAGG_BIT(GAGG_GA_REASON) |
			   GAGG_BIT(GAGG_GA_REASON_RANK) | GAGG_BIT(GAGG_GA_LANES_NOW) |
			   GAGG_BIT(GAGG_GA_MTU_NEEDED);
	const struct gagg_ioc_status st = {
		.phase = GAGG_PHASE_RUNNING, .epoch = 77, .reason = GAGG_R_MTU, .rank = 5,
		.lanes = 300, .mismatch = 1,
	};
	struct gagg_geom g = { .room = 344, .lanes = 10, .v6 = 1 };
	struct gagg_group_facts f;

	(void)state;
	gagg_facts_group(&f, &g, &st, 1400);
	assert_int_equal(f.set, always | GAGG_BIT(GAGG_GA_MTU));
	assert_int_equal(f.number[GAGG_GA_REASON], GAGG_R_MTU);
	assert_int_equal(f.number[GAGG_GA_REASON_RANK], 5);
	assert_int_equal(f.number[GAGG_GA_LANES_NOW], 300);
	assert_int_equal(f.number[GAGG_GA_MTU_NEEDED], gagg_wire_needs(300, true));
	assert_int_equal(f.number[GAGG_GA_MTU], 1400);
	assert_int_equal(f.epoch, 77);
	assert_string_equal(f.mismatch, gagg_digest_name(0));
	/* an interface that is not known, members that lack */
	g.v6 = 0;
	gagg_facts_group(&f, &g, NULL, 0);
	assert_int_equal(f.set, always);
	assert_int_equal(f.number[GAGG_GA_REASON], 0);
	assert_int_equal(f.number[GAGG_GA_REASON_RANK], 0);
	assert_int_equal(f.number[GAGG_GA_LANES_NOW], 344);
	assert_int_equal(f.number[GAGG_GA_MTU_NEEDED], gagg_wire_needs(344, false));
	assert_int_equal(f.epoch, 0);
	assert_null(f.mismatch);
}

static u32 member_state(const struct gagg_ioc_status *st, u32 rank, bool mismatch, bool blocked)
{
	struct gagg_facts f = { .mismatch = mismatch ? "window" : NULL, .blocked = blocked };

	gagg_facts_state(&f, st, rank);
	assert_int_equal(f.set, GAGG_BIT(GAGG_MA_STATE));
	return f.number[GAGG_MA_STATE];
}

static void state__of_a_member(void **state)
{
	struct gagg_ioc_status st = { .phase = GAGG_PHASE_IDLE };

	(void)state;
	assert_int_equal(member_state(&st, 63, false, true), GAGG_MS_UNHEARD);
	st.heard = GAGG_BIT(63);
	assert_int_equal(member_state(&st, 63, false, false), GAGG_MS_HEARD);
	assert_int_equal(member_state(&st, 62, false, false), GAGG_MS_UNHEARD);
	st.attached = GAGG_BIT(63);
	assert_int_equal(member_state(&st, 63, false, false), GAGG_MS_ATTACHED);
	st.phase = GAGG_PHASE_RUNNING;
	assert_int_equal(member_state(&st, 63, false, false), GAGG_MS_RUNNING);
	assert_int_equal(member_state(&st, 63, false, true), GAGG_MS_BLOCKED);
	assert_int_equal(member_state(&st, 63, true, true), GAGG_MS_MISMATCH);
	/* a host of another version is heard, and counts as unheard */
	assert_int_equal(member_state(&st, 62, true, false), GAGG_MS_MISMATCH);
}

static struct gagg_facts host_facts(const struct gagg_join *j, const struct gagg_geom *g, u32 node,
				    u64 now)
{
	const struct gagg_path path = { .srtt = 1999 * GAGG_USEC + 5, .cwnd = 77 };
	struct gagg_facts f = { 0 };

	gagg_facts_host(&f, j, g, node, now);
	gagg_facts_path(&f, &path);
	return f;
}

/* of this host nothing is known but that it is here */
static void facts__of_another_host(void **state)
{
	const u64 path = GAGG_BIT(GAGG_MA_RTT) | GAGG_BIT(GAGG_MA_CWND);
	struct gagg_join *j = calloc(1, sizeof(*j));
	struct gagg_facts f;
	struct gagg_geom g;

	(void)state;
	gagg_geom_init(&g);
	g.self = 1;
	g.nodes = 3;
	g.dead_after = 900 * GAGG_MSEC;
	j->peer[1] = (struct gagg_peer){ .heard = 5, .mismatch.field = 4 };
	f = host_facts(j, &g, 1, 7 * GAGG_SEC);
	assert_true(!f.other && !f.set && !f.mismatch && !f.blocked);
	f = host_facts(j, &g, 2, 7 * GAGG_SEC);
	assert_true(f.other && !f.mismatch && !f.blocked);
	assert_int_equal(f.set, path);
	assert_int_equal(f.number[GAGG_MA_RTT], 1999);
	assert_int_equal(f.number[GAGG_MA_CWND], 77);
	j->peer[2] = (struct gagg_peer){
		.heard = 6500 * GAGG_MSEC, .instance = 9, .stale = 1, .cut = 2,
		.mismatch = { 1 + GAGG_DG_WINDOW, 5, 6 },
	};
	f = host_facts(j, &g, 2, 7 * GAGG_SEC);
	assert_true(f.other && f.blocked);
	assert_int_equal(f.set, path | GAGG_BIT(GAGG_MA_HEARD) | GAGG_BIT(GAGG_MA_BLOCKED_IN) |
			 GAGG_BIT(GAGG_MA_BLOCKED_OUT) | GAGG_BIT(GAGG_MA_MISMATCH_HERE) |
			 GAGG_BIT(GAGG_MA_MISMATCH_THERE));
	assert_int_equal(f.number[GAGG_MA_HEARD], 500);
	assert_int_equal(f.number[GAGG_MA_BLOCKED_IN], 1);
	assert_int_equal(f.number[GAGG_MA_BLOCKED_OUT], 2);
	assert_int_equal(f.number[GAGG_MA_MISMATCH_HERE], 5);
	assert_int_equal(f.number[GAGG_MA_MISMATCH_THERE], 6);
	assert_string_equal(f.mismatch, "window");
	/* another CPU's clock is ahead */
	f = host_facts(j, &g, 2, 6499 * GAGG_MSEC);
	assert_true(f.set & GAGG_BIT(GAGG_MA_HEARD));
	assert_int_equal(f.number[GAGG_MA_HEARD], 0);
	free(j);
}

/* a hash says nothing to whoever reads it */
static void facts__of_what_has_no_number(void **state)
{
	struct gagg_facts f = { 0 };

	(void)state;
	gagg_facts_mismatch(&f, &(struct gagg_mismatch){ 1 + GAGG_DG_ADDRESS, 5, 6 });
	assert_int_equal(f.set, 0);
	assert_string_equal(f.mismatch, gagg_digest_name(GAGG_DG_ADDRESS));
}

/* a round trip that was never measured is not 0 us */
static void facts__of_a_path_that_is_new(void **state)
{
	struct gagg_facts f = { .other = true };

	(void)state;
	gagg_facts_path(&f, &(struct gagg_path){ .cwnd = 4 });
	assert_int_equal(f.set, GAGG_BIT(GAGG_MA_CWND));
}

static void facts__of_times(void **state)
{
	struct gagg_times t = { 0 };
	struct gagg_facts f = { 0 };

	(void)state;
	gagg_facts_times(&f, &t, 10);
	assert_false(f.timed);
	gagg_times_submit(&t, 20);
	gagg_facts_times(&f, &t, 50);
	assert_true(f.timed && !f.set);
	assert_int_equal(f.times.wait_ns, 30);
}

static void epoch__cannot_start(void **state)
{
	(void)state;
	assert_false(gagg_state_is_stuck(&(struct gagg_ioc_status){ .missing = 3 }));
	assert_true(gagg_state_is_stuck(&(struct gagg_ioc_status){ .mismatch = 1 }));
	assert_true(gagg_state_is_stuck(&(struct gagg_ioc_status){ .blocked = 1 }));
}

static void digest__has_a_name(void **state)
{
	(void)state;
	for (u32 i = 0; i < GAGG_DG_COUNT; i++)
		assert_string_not_equal(gagg_digest_name(i), "unknown");
	assert_string_equal(gagg_digest_name(GAGG_DG_DEAD_AFTER), "dead-after");
	assert_string_equal(gagg_digest_name(GAGG_DG_COUNT), "version");
	assert_string_equal(gagg_digest_name(GAGG_DG_COUNT + 1), "unknown");
	assert_string_equal(gagg_digest_name(UINT32_MAX), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(state__of_a_group),
		cmocka_unit_test(facts__of_a_group),
		cmocka_unit_test(state__of_a_member),
		cmocka_unit_test(facts__of_another_host),
		cmocka_unit_test(facts__of_what_has_no_number),
		cmocka_unit_test(facts__of_a_path_that_is_new),
		cmocka_unit_test(facts__of_times),
		cmocka_unit_test(epoch__cannot_start),
		cmocka_unit_test(digest__has_a_name),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("state", tests, NULL, NULL);
}
