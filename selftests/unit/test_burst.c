// SPDX-License-Identifier: GPL-2.0
/* links: core kmod/core/path.c kmod/core/cwnd.c; libs: */
/*
 * Which datagrams of a burst are judged by what differs from the one before.
 */
#include <stdio.h>
#include "chan_node.h"
#include "burst.h"

static struct gagg_burst burst;
static u8 raw[GAGG_WIRE_HDRLEN];

static void begin(u32 node)
{
	memset(&burst, 0xff, sizeof(burst));
	burst.in.vis.sh = sh;
	burst.in.vis.g = &g;
	burst.in.vis.now = now;
	burst.in.node = node;
	burst.in.ce = false;
	burst.len = 0;
}

static u32 length(const struct gagg_msg *m)
{
	return GAGG_WIRE_HDRLEN + (gagg_wire_has_lanes(m) ? m->lanes * 4 : 0);
}

/* one that follows none */
static enum gagg_rx first(struct gagg_msg m)
{
	enum gagg_rx verdict;

	m.len = length(&m) - GAGG_WIRE_HDRLEN;
	gagg_wire_build(raw, &m);
	verdict = gagg_burst_rx(&burst, &env, &m, NULL);
	if (verdict == GAGG_RX_ADD || verdict == GAGG_RX_PLACE)
		gagg_burst_commit(&burst, raw);
	drain();
	return verdict;
}

static bool follows(const struct gagg_msg *m)
{
	gagg_wire_build(raw, m);
	return gagg_burst_follows(&burst, raw, length(m));
}

static void burst__contributions_in_a_row(void **state)
{
	struct gagg_msg m = message(GAGG_T_CONTRIB, 1, 0, 1);
	u32 i;

	(void)state;
	start(0);
	begin(1);
	m.pn = 1;
	assert_false(follows(&m));
	assert_int_equal(first(m), GAGG_RX_ADD);
	for (i = 1; i < 4; i++) {
		m.chunk = i;
		m.pn++;
		assert_true(follows(&m));
		assert_int_equal(gagg_burst_next(&burst), GAGG_RX_ADD);
		assert_int_equal(burst.in.todo.slot, i);
	}
	assert_int_equal(sh->n[GAGG_N_CONTRIBUTIONS], 4);
	assert_int_equal(sh->path[1].rx_largest, 4);
}

static void burst__results_in_a_row(void **state)
{
	struct gagg_msg m = message(GAGG_T_RESULT, 0, 0, 1);
	u32 i;

	(void)state;
	start(1);
	push_to(4);
	begin(0);
	m.pn = 1;
	m.aux = 3;
	assert_int_equal(first(m), GAGG_RX_PLACE);
	for (i = 1; i < 4; i++) {
		m.chunk = i;
		m.pn++;
		assert_true(follows(&m));
		assert_int_equal(gagg_burst_next(&burst), GAGG_RX_PLACE);
	}
	assert_int_equal(sh->n[GAGG_N_RESULTS], 4);
	drain();
}

/* the length is no part of the header */
static void burst__a_shorter_one_follows_none(void **state)
{
	struct gagg_msg m = message(GAGG_T_CONTRIB, 1, 0, 1);

	(void)state;
	start(0);
	begin(1);
	m.pn = 1;
	assert_int_equal(first(m), GAGG_RX_ADD);
	m.chunk = 1;
	m.pn = 2;
	gagg_wire_build(raw, &m);
	assert_false(gagg_burst_follows(&burst, raw, length(&m) - 4));
	assert_false(gagg_burst_follows(&burst, raw, length(&m) + 4));
	assert_true(gagg_burst_follows(&burst, raw, length(&m)));
}

/* what was not taken is no begin, and ends what has begun */
static void burst__only_what_was_taken_is_followed(void **state)
{
	struct gagg_msg m = message(GAGG_T_CONTRIB, 1, 0, 1), other;

	(void)state;
	start(0);
	begin(1);
	m.pn = 1;
	m.round = 9;
	assert_int_equal(first(m), GAGG_RX_DROP);
	assert_false(follows(&m));
	m.round = 1;
	assert_int_equal(first(m), GAGG_RX_ADD);
	m.chunk = 16;		/* behind the ring */
	m.pn = 2;
	assert_true(follows(&m));
	assert_int_equal(gagg_burst_next(&burst), GAGG_RX_DROP);
	assert_int_equal(burst.in.todo.drop, GAGG_DROP_CHUNK);
	m.chunk = 1;
	assert_false(follows(&m));
	assert_int_equal(first(m), GAGG_RX_ADD);
	assert_true(follows(&m));
	assert_int_equal(gagg_burst_next(&burst), GAGG_RX_OK);	/* a repetition */
	m.chunk = 2;
	assert_false(follows(&m));
	assert_int_equal(first(m), GAGG_RX_ADD);
	other = m;
	other.round = 9;
	assert_int_equal(first(other), GAGG_RX_DROP);
	m.chunk = 3;
	m.pn = 3;
	assert_false(follows(&m));
}

/* clocks decide about each update of a store */
static void burst__of_a_store_follow_none(void **state)
{
	struct gagg_msg m = message(GAGG_T_CONTRIB, 1, 0, 1);

	(void)state;
	start(0);
	begin(1);
	m.pn = 1;
	assert_int_equal(first(m), GAGG_RX_ADD);
	assert_int_equal(burst.len, length(&m));
	m.chunk = 1;
	m.pn = 2;
	m.len = length(&m) - GAGG_WIRE_HDRLEN;
	gagg_wire_build(raw, &m);
	assert_int_equal(gagg_burst_rx(&burst, &env, &m, NULL), GAGG_RX_ADD);
	/* as a store says, which test_store.c looks at */
	burst.in.todo.alone = 1;
	gagg_burst_commit(&burst, raw);
	drain();
	assert_int_equal(burst.len, 0);
}

/* it is echoed in the acknowledgement */
static void burst__a_mark_is_the_burst_s(void **state)
{
	struct gagg_msg m = message(GAGG_T_CONTRIB, 1, 0, 1);

	(void)state;
	start(0);
	begin(1);
	burst.in.ce = true;
	m.pn = 1;
	assert_int_equal(first(m), GAGG_RX_ADD);
	m.chunk = 1;
	m.pn = 2;
	assert_true(follows(&m));
	assert_int_equal(gagg_burst_next(&burst), GAGG_RX_ADD);
	assert_int_equal(sh->path[1].rx_marks, 2);
}

#define TEST(f)	cmocka_unit_test_teardown(f, finish_test)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(burst__contributions_in_a_row),
		TEST(burst__results_in_a_row),
		TEST(burst__a_shorter_one_follows_none),
		TEST(burst__only_what_was_taken_is_followed),
		TEST(burst__of_a_store_follow_none),
		TEST(burst__a_mark_is_the_burst_s),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
