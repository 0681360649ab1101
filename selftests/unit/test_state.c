// SPDX-License-Identifier: GPL-2.0
/* links: kmod/core/group/state.c kmod/core/group/join*.c kmod/core/group/digest.c kmod/core/group/param.c kmod/core/geom.c kmod/core/wire.c sync; libs: */
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

static void state__of_a_group(void **state)
{
	struct gagg_ioc_status st = { .phase = GAGG_PHASE_IDLE };

	(void)state;
	assert_int_equal(gagg_state_group(&st), GAGG_GS_WAITING);
	st.blocked = 1;
	assert_int_equal(gagg_state_group(&st), GAGG_GS_BLOCKED);
	st.mismatch = 1;
	assert_int_equal(gagg_state_group(&st), GAGG_GS_MISMATCH);
	st.phase = GAGG_PHASE_RUNNING;
	assert_int_equal(gagg_state_group(&st), GAGG_GS_RUNNING);
}

static void state__of_a_member(void **state)
{
	struct gagg_ioc_status st = { .phase = GAGG_PHASE_IDLE };

	(void)state;
	assert_int_equal(gagg_state_member(&st, 63, false, true), GAGG_MS_UNHEARD);
	st.heard = GAGG_BIT(63);
	assert_int_equal(gagg_state_member(&st, 63, false, false), GAGG_MS_HEARD);
	assert_int_equal(gagg_state_member(&st, 62, false, false), GAGG_MS_UNHEARD);
	st.attached = GAGG_BIT(63);
	assert_int_equal(gagg_state_member(&st, 63, false, false), GAGG_MS_ATTACHED);
	st.phase = GAGG_PHASE_RUNNING;
	assert_int_equal(gagg_state_member(&st, 63, false, false), GAGG_MS_RUNNING);
	assert_int_equal(gagg_state_member(&st, 63, false, true), GAGG_MS_BLOCKED);
	assert_int_equal(gagg_state_member(&st, 63, true, true), GAGG_MS_MISMATCH);
	/* a host of another version is heard, and counts as unheard */
	assert_int_equal(gagg_state_member(&st, 62, true, false), GAGG_MS_MISMATCH);
}

/* of this host nothing is known but that it is here */
static void reach__of_another_host(void **state)
{
	struct gagg_join *j = calloc(1, sizeof(*j));
	struct gagg_geom g;
	struct gagg_reach r;

	(void)state;
	gagg_geom_init(&g);
	g.self = 1;
	g.nodes = 3;
	g.dead_after = 900 * GAGG_MSEC;
	j->peer[1] = (struct gagg_peer){ .heard = 5, .mismatch.field = 4 };
	gagg_state_reach(j, &g, 1, 7 * GAGG_SEC, &r);
	assert_true(!r.other && !r.heard && !r.heard_ms && !r.mismatch.field && !r.blocked);
	gagg_state_reach(j, &g, 2, 7 * GAGG_SEC, &r);
	assert_true(r.other && !r.heard && !r.heard_ms && !r.mismatch.field && !r.blocked);
	j->peer[2] = (struct gagg_peer){
		.heard = 6500 * GAGG_MSEC, .instance = 9, .stale = 1, .cut = 2,
		.mismatch = { 4, 5, 6 },
	};
	gagg_state_reach(j, &g, 2, 7 * GAGG_SEC, &r);
	assert_true(r.other && r.heard && r.blocked);
	assert_int_equal(r.heard_ms, 500);
	assert_int_equal(r.on.in, 1);
	assert_int_equal(r.on.out, 2);
	assert_int_equal(r.mismatch.there, 6);
	/* another CPU's clock is ahead */
	gagg_state_reach(j, &g, 2, 6499 * GAGG_MSEC, &r);
	assert_true(r.heard && !r.heard_ms);
	free(j);
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
		cmocka_unit_test(state__of_a_member),
		cmocka_unit_test(reach__of_another_host),
		cmocka_unit_test(epoch__cannot_start),
		cmocka_unit_test(digest__has_a_name),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("state", tests, NULL, NULL);
}
