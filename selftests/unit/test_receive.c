// SPDX-License-Identifier: GPL-2.0
/* links: core kmod/core/path.c kmod/core/cwnd.c kmod/core/layout.c kmod/core/front.c kmod/core/site.c; libs: */
/*
 * What is dropped of what arrives, why, and where that is counted; when actions are carried out;
 * and what becomes of lanes. A host that notes each call of its own, over the real core.
 */
#include <stdio.h>
#include "chan_node.h"
#include "out.h"

#define GROUP	7
#define LONG	(GAGG_WIRE_HDRLEN + 16)	/* a chunk of four lanes */

struct gagg_source {
	struct gagg_receipts rx;
};

#include "receive.h"

static struct gagg_source src;
static struct gagg_stats stats;
static struct gagg_site site;
static u8 memory[1 + sizeof(struct gagg_hdr) + sizeof(struct gagg_hello)];
static u8 *const raw = memory + 1;	/* segments of any length have any alignment */
static char calls[256];		/* a letter for each */
static u32 node;		/* that is found */
static enum gagg_drop joins;	/* the join object's verdict */
static bool tracing;
static bool crowded;		/* the shard has no room for a step when a message is judged */

static void call(char letter)
{
	size_t n = strlen(calls);

	assert_true(n + 1 < sizeof(calls));
	calls[n] = letter;
	calls[n + 1] = 0;
}

static bool rx_group(struct gagg_source *s, u32 id)
{
	call('f');
	assert_true(!s->rx.stats && !s->rx.burst.in.vis.sh && !s->rx.burst.in.vis.g);
	if (id != GROUP)
		return false;
	s->rx.stats = &stats;
	s->rx.burst.in.vis.sh = sh;
	s->rx.burst.in.vis.g = &g;
	return true;
}

static bool rx_is_from(const struct gagg_source *s, u32 n)
{
	(void)s;
	assert_true(n < g.nodes);
	return n == node;
}

static void rx_drop_alone(struct gagg_source *s)
{
	(void)s;
	call('x');
}

static struct gagg_site *rx_site(struct gagg_source *s, u16 id)
{
	(void)s;
	return ch && id == ch->id ? &site : NULL;
}

static void rx_lend(struct gagg_source *s, struct gagg_env *e)
{
	(void)s;
	*e = env;
	while (crowded && gagg_shard_spare(sh) >= GAGG_ACTS_STEP)
		gagg_shard_emit(sh, GAGG_ACT_OP_DONE, 0);
}

static void rx_add(struct gagg_source *s, const struct gagg_sum *sum, const void *lanes)
{
	(void)sum;
	assert_int_equal(s->rx.burst.in.todo.lanes, 4);
	assert_int_equal(*(const u8 *)lanes, 42);
	call('+');
}

static void rx_lacks(struct gagg_source *s)
{
	(void)s;
	call('?');
}

static enum gagg_drop rx_join(struct gagg_source *s, const struct gagg_msg *m, const void *body)
{
	(void)s;
	assert_int_equal(m->type, GAGG_T_HELLO);
	assert_ptr_equal(body, raw + GAGG_WIRE_HDRLEN);
	call('j');
	return joins;
}

static void rx_drain(struct gagg_source *s)
{
	(void)s;
	call('d');
	drain();
}

static bool rx_traces(void)
{
	return tracing;
}

static void rx_trace_before(struct gagg_source *s, const struct gagg_msg *m, const void *body)
{
	(void)s, (void)m, (void)body;
	call('b');
}

static void rx_trace(struct gagg_source *s, enum gagg_rx rx)
{
	(void)s, (void)rx;
	call('t');
}

static void begin(void)
{
	static u8 block[1 << 16];
	static void *const region[] = { block };

	start(0);
	g.room = g.lanes;
	memset(&stats, 0, sizeof(stats));
	memset(&src, 0, sizeof(src));
	memset(&site, 0, sizeof(site));
	site.part[0] = ch;
	site.nparts = 1;
	site.acc = region;
	site.result = region;
	node = 1;
	joins = 0;
	tracing = false;
	crowded = false;
	src.rx.burst.in.vis.now = now;
}

/* receives a datagram of @len bytes that follows none; @came: what was called */
static void arrives(const struct gagg_msg *m, u32 len, const char *came)
{
	static const u8 lanes[16] = { 42 };

	memset(memory, 0, sizeof(memory));
	gagg_wire_build(raw, m);
	calls[0] = 0;
	src.rx.burst.in.vis.g = NULL;
	if (gagg_receive_begin(&src, len))
		gagg_receive(&src, raw, len, lanes);
	if (strcmp(calls, came))
		fail_msg("called %s, not %s", calls, came);
}

/* all that was dropped, which has one reason */
static void dropped(enum gagg_drop why, u64 n)
{
	u32 i;

	for (i = 0; i < GAGG_DROP_COUNT; i++)
		assert_int_equal(stats.drop[i], i == why ? n : 0);
}

static struct gagg_msg contribution(u32 slot)
{
	struct gagg_msg m = message(GAGG_T_CONTRIB, 1, slot, 1);

	m.group = GROUP;
	m.pn = slot + 1;
	return m;
}

static void unknown__is_nobodys(void **state)
{
	struct gagg_msg m;

	(void)state;
	begin();
	m = contribution(0);
	arrives(&m, GAGG_WIRE_HDRLEN - 1, "x");
	m.group = GROUP + 1;
	arrives(&m, LONG, "fx");
	assert_int_equal(stats.rx_datagrams, 0);
	dropped(0, 0);
}

static void known__is_counted_and_judged(void **state)
{
	struct gagg_msg m;

	(void)state;
	begin();
	m = contribution(0);
	arrives(&m, LONG, "f+");
	assert_int_equal(stats.rx_datagrams, 1);
	assert_int_equal(stats.rx_bytes, LONG);
	assert_int_equal(sh->n[GAGG_N_CONTRIBUTIONS], 1);
	/* a length that no contribution has */
	arrives(&m, LONG - 4, "f");
	dropped(GAGG_DROP_SHORT, stats.drop[GAGG_DROP_SHORT]);
	assert_int_equal(stats.drop[GAGG_DROP_SHORT], 1);
	assert_int_equal(stats.rx_datagrams, 2);
}

/* what was found is true of all datagrams of a source, but of those of another group */
static void find__once_for_a_source(void **state)
{
	(void)state;
	begin();
	calls[0] = 0;
	gagg_receive_find(&src, GROUP);
	gagg_receive_find(&src, GROUP);
	assert_string_equal(calls, "f");
	assert_int_equal(src.rx.burst.in.node, 1);
	gagg_receive_find(&src, GROUP + 1);
	gagg_receive_find(&src, GROUP + 1);
	assert_string_equal(calls, "fff");
	assert_null(src.rx.stats);
	assert_int_equal(src.rx.burst.in.node, GAGG_NO_NODE);
	node = g.nodes - 1;
	gagg_receive_find(&src, GROUP);
	assert_int_equal(src.rx.burst.in.node, node);
	assert_ptr_equal(src.rx.stats, &stats);
}

static void strangers__are_dropped(void **state)
{
	struct gagg_msg m;

	(void)state;
	begin();
	node = GAGG_NO_NODE;
	m = contribution(0);
	arrives(&m, LONG, "f");
	dropped(GAGG_DROP_SOURCE, 1);
	/* not even a HELLO */
	m.type = GAGG_T_HELLO;
	arrives(&m, GAGG_WIRE_HDRLEN + sizeof(struct gagg_hello), "f");
	dropped(GAGG_DROP_SOURCE, 2);
	/* its type, which multicast has not, is no matter */
	src.rx.multicast = true;
	arrives(&m, GAGG_WIRE_HDRLEN + sizeof(struct gagg_hello), "f");
	dropped(GAGG_DROP_SOURCE, 3);
}

static void multicast__has_results_only(void **state)
{
	struct gagg_msg m;

	(void)state;
	begin();
	src.rx.multicast = true;
	m = contribution(0);
	arrives(&m, LONG, "f");
	dropped(GAGG_DROP_TYPE, 1);
	m.type = GAGG_T_HELLO;
	arrives(&m, GAGG_WIRE_HDRLEN + sizeof(struct gagg_hello), "f");
	dropped(GAGG_DROP_TYPE, 2);
	m.type = GAGG_T_RESULT;
	arrives(&m, LONG, "f");
	assert_int_equal(stats.drop[GAGG_DROP_TYPE], 2);
}

static void hello__is_the_join_objects(void **state)
{
	struct gagg_msg m;

	(void)state;
	begin();
	m = contribution(0);
	arrives(&m, LONG, "f+");
	assert_int_equal(src.rx.burst.len, LONG);
	m.type = GAGG_T_HELLO;
	arrives(&m, GAGG_WIRE_HDRLEN + sizeof(struct gagg_hello), "fj");
	dropped(0, 0);
	/* none follows it */
	assert_int_equal(src.rx.burst.len, 0);
	joins = GAGG_DROP_EPOCH;
	arrives(&m, GAGG_WIRE_HDRLEN + sizeof(struct gagg_hello), "fj");
	dropped(GAGG_DROP_EPOCH, 1);
}

static void shard__drops_are_counted(void **state)
{
	struct gagg_msg m;

	(void)state;
	begin();
	m = contribution(0);
	m.epoch++;
	arrives(&m, LONG, "f");
	dropped(GAGG_DROP_EPOCH, 1);
	assert_int_equal(src.rx.burst.len, 0);
}

/* before one that does not follow; of those that follow only where room is short, or traced */
static void actions__in_time(void **state)
{
	struct gagg_msg m;

	(void)state;
	begin();
	gagg_shard_emit(sh, GAGG_ACT_OP_DONE, 0);
	src.rx.burst.in.vis.sh = sh;
	m = contribution(0);
	arrives(&m, GAGG_WIRE_HDRLEN - 1, "dx");
	arrives(&m, LONG, "f+");
	/* counted already */
	arrives(&m, LONG, "f");
	/* a channel that is not there has an answer */
	m = contribution(2);
	m.channel = 5;
	arrives(&m, LONG, "fd");
	tracing = true;
	m = contribution(1);
	arrives(&m, LONG, "fbt+");
}

static void run__follows(void **state)
{
	u8 bytes[3 * LONG + 8] = { 0 };
	struct gagg_msg m;
	u32 i;

	(void)state;
	begin();
	m = contribution(0);
	arrives(&m, LONG, "f+");
	for (i = 0; i < 3; i++) {
		m = contribution(i + 1);
		gagg_wire_build(bytes + i * LONG, &m);
		bytes[i * LONG + GAGG_WIRE_HDRLEN] = 42;
	}
	calls[0] = 0;
	assert_int_equal(gagg_receive_run(&src, bytes, sizeof(bytes), LONG), 3);
	assert_string_equal(calls, "+++");
	assert_int_equal(stats.rx_datagrams, 4);
	assert_int_equal(stats.rx_bytes, 4 * LONG);
	/* they do not follow themselves: chunk 1 is no longer next to 3 */
	tracing = true;
	m = contribution(4);
	gagg_wire_build(bytes, &m);
	calls[0] = 0;
	assert_int_equal(gagg_receive_run(&src, bytes, LONG, LONG), 1);
	assert_true(!strncmp(calls, "+bt", 3));
	assert_int_equal(gagg_receive_run(&src, bytes, LONG - 1, LONG), 0);
	assert_int_equal(stats.rx_datagrams, 5);
}

/* receives contribution @slot if it follows; @came: what was called */
static void follows(u32 slot, u32 n, const char *came)
{
	struct gagg_msg m = contribution(slot);
	u8 bytes[LONG] = { 0 };

	gagg_wire_build(bytes, &m);
	bytes[GAGG_WIRE_HDRLEN] = 42;
	calls[0] = 0;
	assert_int_equal(gagg_receive_run(&src, bytes, LONG, LONG), n);
	assert_string_equal(calls, came);
}

/* actions of datagrams that follow wait for the end, unless room is short or they are traced */
static void run__waits_with_actions(void **state)
{
	struct gagg_msg m;

	(void)state;
	begin();
	m = contribution(0);
	arrives(&m, LONG, "f+");
	gagg_shard_emit(sh, GAGG_ACT_OP_DONE, 0);
	follows(1, 1, "+");
	while (!gagg_shard_must_act(sh, &g))
		gagg_shard_emit(sh, GAGG_ACT_OP_DONE, 0);
	follows(2, 1, "+d");
	gagg_shard_emit(sh, GAGG_ACT_OP_DONE, 0);
	tracing = true;
	follows(3, 1, "+btd");
}

/* a message whose actions have no room is judged again after others were carried out */
static void again__is_repeated(void **state)
{
	struct gagg_msg m;

	(void)state;
	begin();
	m = contribution(0);
	arrives(&m, LONG, "f+");
	m = message(GAGG_T_READY, 1, 1, 1);
	m.group = GROUP;
	m.pn = 2;
	m.run = 5;
	tracing = true;
	crowded = true;
	arrives(&m, GAGG_WIRE_HDRLEN, "fbtdbt");
	assert_int_equal(src.rx.steps, 4);
}

static void lanes__go_where_the_core_says(void **state)
{
	static const u8 lanes[16] = { 42 };

	(void)state;
	begin();
	gagg_receive_find(&src, GROUP);
	src.rx.site = &site;
	src.rx.burst.in.todo.lanes = 4;
	calls[0] = 0;
	assert_false(gagg_receive_obey(&src, GAGG_RX_OK, lanes));
	assert_false(gagg_receive_obey(&src, GAGG_RX_AGAIN, lanes));
	assert_string_equal(calls, "");
	assert_true(gagg_receive_obey(&src, GAGG_RX_ADD, lanes));
	assert_string_equal(calls, "+");
	/* a copy for a trainer that has left */
	src.rx.burst.in.todo.area = GAGG_AREA_COPY;
	assert_true(gagg_receive_obey(&src, GAGG_RX_PLACE, lanes));
	assert_string_equal(calls, "+?");
	src.rx.burst.in.todo.drop = GAGG_DROP_RANK;
	assert_false(gagg_receive_obey(&src, GAGG_RX_DROP, lanes));
	dropped(GAGG_DROP_RANK, 1);
}

/* a question of many chunks is work for many datagrams */
static void steps__are_counted(void **state)
{
	struct gagg_msg m;

	(void)state;
	begin();
	m = contribution(0);
	arrives(&m, LONG, "f+");
	assert_int_equal(src.rx.steps, 0);
	m = message(GAGG_T_READY, 1, 1, 1);
	m.group = GROUP;
	m.pn = 2;
	m.run = 5;
	calls[0] = 0;
	memset(memory, 0, sizeof(memory));
	gagg_wire_build(raw, &m);
	assert_true(gagg_receive_begin(&src, GAGG_WIRE_HDRLEN));
	gagg_receive(&src, raw, GAGG_WIRE_HDRLEN, NULL);
	assert_int_equal(src.rx.steps, 4);
	/* of one that is dropped none */
	m.epoch++;
	gagg_wire_build(raw, &m);
	assert_true(gagg_receive_begin(&src, GAGG_WIRE_HDRLEN));
	gagg_receive(&src, raw, GAGG_WIRE_HDRLEN, NULL);
	assert_int_equal(src.rx.steps, 4);
}

#define TEST(f)	cmocka_unit_test_teardown(f, finish_test)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(unknown__is_nobodys),
		TEST(known__is_counted_and_judged),
		TEST(find__once_for_a_source),
		TEST(strangers__are_dropped),
		TEST(multicast__has_results_only),
		TEST(hello__is_the_join_objects),
		TEST(shard__drops_are_counted),
		TEST(actions__in_time),
		TEST(run__follows),
		TEST(run__waits_with_actions),
		TEST(again__is_repeated),
		TEST(lanes__go_where_the_core_says),
		TEST(steps__are_counted),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
