// SPDX-License-Identifier: GPL-2.0
/* links: core kmod/core/path.c kmod/core/cwnd.c kmod/core/layout.c kmod/core/front.c; libs: */
/*
 * Which datagrams leave together, to whom, in which order, and with which bytes. A host that notes
 * each message of its own.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core.h"

#define ALL	0x3e	/* nodes 1 to 5 */
#define LANES	8
#define LONG	(GAGG_WIRE_HDRLEN + 4 * LANES)

struct gagg_slot {
	struct gagg_load load;
	u8 data[16 * LONG];
	u32 used;
};

struct gagg_host {
	struct gagg_stats stats;
};

#include "send.h"

static struct gagg_host host;
static struct gagg_send batch;
static struct gagg_slot burst[GAGG_SEND_BURSTS];
static struct gagg_geom g;
static u32 lanes[GAGG_BLOCK / 4];
static void *mem[] = { lanes };
static u32 segs, bytes, side;	/* limits; most datagrams that lie side by side */
static bool memory, split;	/* split: what the burst has leaves before there is room */
static u32 refused;	/* so many times there is no memory yet */
static u32 begun, traced;
static char said[400];

static struct gagg_send *tx_batch(const struct gagg_host *h)
{
	assert_ptr_equal(h, &host);
	return &batch;
}

static const struct gagg_geom *tx_geom(const struct gagg_host *h)
{
	(void)h;
	return &g;
}

static struct gagg_stats *tx_stats(const struct gagg_host *h)
{
	(void)h;
	return &host.stats;
}

static u64 tx_all(const struct gagg_host *h)
{
	(void)h;
	return ALL;
}

static u32 tx_segs(const struct gagg_host *h)
{
	(void)h;
	return segs;
}

static u32 tx_bytes(const struct gagg_host *h)
{
	(void)h;
	return bytes;
}

static struct gagg_slot *tx_slot(const struct gagg_host *h, u32 number)
{
	(void)h;
	return &burst[number];
}

static struct gagg_load *tx_load(struct gagg_slot *slot)
{
	return slot->load.segs || memory ? &slot->load : NULL;
}

static u8 *tx_room(const struct gagg_host *h, struct gagg_slot *b, u32 len, u32 *n)
{
	assert_true(*n >= 1);
	if (!memory)
		return NULL;
	if (refused) {
		refused--;
		return NULL;
	}
	if (split)
		gagg_send_close(h, b);
	*n = *n < side ? *n : side;
	assert_true(b->used + *n * len <= sizeof(b->data));
	return b->data + b->used;
}

static u8 *tx_lanes(struct gagg_slot *b, u8 *at, void *from, u32 n)
{
	assert_ptr_equal(at, b->data + b->used);
	at += GAGG_WIRE_HDRLEN;
	if (n)
		memcpy(at, from, n);
	b->used += GAGG_WIRE_HDRLEN + n;
	return at + n;
}

static void say(const char *form, u32 number)
{
	size_t at = strlen(said);

	snprintf(said + at, sizeof(said) - at, form, number);
}

static void say_datagram(const struct gagg_hdr *hdr)
{
	const u32 *first = (const u32 *)(hdr + 1);
	u32 chunk = le32_to_cpu(hdr->chunk);

	say(hdr->type == GAGG_T_CONTRIB ? " C%u" : hdr->type == GAGG_T_RESULT ? " R%u" : " ?%u",
	    chunk);
	assert_int_equal(le32_to_cpu(hdr->pn), 100 + chunk);
	assert_int_equal(hdr->exp, chunk % 7);
	assert_int_equal(hdr->want, chunk % 5);
	if (!(le16_to_cpu(hdr->flags) & GAGG_WF_ZERO))
		assert_int_equal(*first, chunk);
}

static void say_burst(const struct gagg_slot *b)
{
	u32 at, n;

	assert_int_equal(b->used, b->load.bytes);
	for (at = 0, n = 0; at < b->used; at += b->load.seg, n++)
		say_datagram((const struct gagg_hdr *)(b->data + at));
	assert_int_equal(n, b->load.segs);
	say(";", 0);
	assert_true(begun);
	begun--;
}

static void tx_begin(const struct gagg_host *h, u32 n)
{
	(void)h;
	assert_int_equal(begun, 0);
	begun = n;
}

static void tx_to(const struct gagg_host *h, const struct gagg_slot *b, u32 node)
{
	(void)h;
	say("%u:", node);
	say_burst(b);
}

static void tx_to_all(const struct gagg_host *h, const struct gagg_slot *b)
{
	(void)h;
	say("all:", 0);
	say_burst(b);
}

static void tx_clear(const struct gagg_host *h, struct gagg_slot *b)
{
	(void)h;
	memset(b, 0xee, sizeof(*b));
	b->load = (struct gagg_load){ 0 };
	b->used = 0;
}

static void tx_alone(const struct gagg_host *h, const struct gagg_act *a)
{
	(void)h;
	say("%u:!;", a->node);
}

static void tx_trace(const struct gagg_host *h, const struct gagg_act *a)
{
	(void)h;
	(void)a;
	traced++;
}

static int setup(void **state)
{
	u32 i;

	(void)state;
	memset(&host, 0, sizeof(host));
	memset(&batch, 0, sizeof(batch));
	memset(burst, 0, sizeof(burst));
	gagg_geom_init(&g);
	g.room = LANES;
	g.lanes = LANES;
	for (i = 0; i < 64; i++)
		*(u32 *)gagg_chunk_at(&g, mem, i) = i;
	segs = 4;
	bytes = 100 * LONG;
	side = 64;
	memory = true;
	split = false;
	refused = 0;
	begun = 0;
	traced = 0;
	said[0] = 0;
	return 0;
}

/* @n chunks from @chunk on */
static struct gagg_act run_of(u8 type, u32 chunk, u32 n)
{
	struct gagg_act a = {
		.type = type == GAGG_T_CONTRIB ? GAGG_ACT_SEND_CONTRIB : GAGG_ACT_SEND_RESULT,
		.m = {
			.type = type, .lanes = LANES, .chunk = chunk, .pn = 100 + chunk,
			.exp = chunk % 7, .want = chunk % 5, .len = 4 * LANES,
		},
		.more = (u8)(n - 1),
	};
	u32 i;

	for (i = 1; i < n; i++)
		a.each[i - 1] = (struct gagg_each){ (u8)((chunk + i) % 7), (u8)((chunk + i) % 5) };
	return a;
}

static void contrib(u8 node, u32 chunk, u32 n)
{
	struct gagg_act a = run_of(GAGG_T_CONTRIB, chunk, n);

	a.node = node;
	gagg_send_contrib(&host, &a, mem);
}

static void result(u64 nodes, u32 chunk, u32 n)
{
	struct gagg_act a = run_of(GAGG_T_RESULT, chunk, n);

	a.nodes = nodes;
	gagg_send_result(&host, &a, mem);
}

/* without lanes, which are all 0 */
static void zero(u8 node, u32 chunk)
{
	struct gagg_act a = run_of(GAGG_T_CONTRIB, chunk, 1);

	a.node = node;
	a.m.flags = GAGG_WF_ZERO;
	a.m.len = 0;
	gagg_send_contrib(&host, &a, mem);
}

static void ctrl(u8 node, u8 type)
{
	struct gagg_act a = { .type = GAGG_ACT_SEND_CTRL, .node = node, .m.type = type };

	gagg_send_ctrl(&host, &a);
}

static void left(const char *expected)
{
	assert_string_equal(said, expected);
	assert_int_equal(begun, 0);
	said[0] = 0;
}

static void contributions__collect_for_their_node(void **state)
{
	(void)state;
	contrib(2, 5, 2);
	contrib(1, 9, 1);
	contrib(2, 20, 1);
	left("");
	assert_int_equal(traced, 1);
	gagg_send_flush(&host);
	left("1: C9;2: C5 C6 C20;");
	assert_int_equal(batch.open, 0);
	gagg_send_flush(&host);
	left("");
}

static void results__go_to_each_node(void **state)
{
	(void)state;
	result(0x6, 5, 2);
	result(0x6, 7, 1);
	left("");
	result(0xc, 8, 1);
	left("1: R5 R6 R7;2: R5 R6 R7;");
	gagg_send_flush(&host);
	left("2: R8;3: R8;");
}

/* what one lacks of what all got is its own */
static void results__go_to_all_at_once(void **state)
{
	(void)state;
	result(ALL, 5, 2);
	result(0x4, 5, 1);
	left("all: R5 R6;");
	gagg_send_flush(&host);
	left("2: R5;");
}

static void burst__is_full(void **state)
{
	(void)state;
	contrib(1, 5, 10);
	left("1: C5 C6 C7 C8;1: C9 C10 C11 C12;");
	gagg_send_flush(&host);
	left("1: C13 C14;");
	bytes = 2 * LONG + 1;
	contrib(1, 20, 3);
	left("1: C20 C21;");
	gagg_send_flush(&host);
	left("1: C22;");
}

/* a limit that is smaller than a datagram is one of a datagram */
static void burst__of_one_datagram(void **state)
{
	(void)state;
	bytes = LONG - 1;
	contrib(1, 5, 3);
	gagg_send_flush(&host);
	left("1: C5;1: C6;1: C7;");
}

static void burst__ends_with_a_shorter_one(void **state)
{
	(void)state;
	contrib(1, 5, 2);
	zero(1, 7);
	left("1: C5 C6 C7;");
	zero(1, 8);
	left("");
	/* a longer one begins another */
	contrib(1, 9, 1);
	left("1: C8;");
	gagg_send_flush(&host);
	left("1: C9;");
}

/* a header is made from the one before only if that is still there */
static void burst__of_several_pieces(void **state)
{
	(void)state;
	segs = 64;
	side = 2;
	contrib(1, 5, 5);
	gagg_send_flush(&host);
	left("1: C5 C6 C7 C8 C9;");
	split = true;
	contrib(1, 10, 5);
	left("1: C10 C11;1: C12 C13;");
	gagg_send_flush(&host);
	left("1: C14;");
}

static void control__overtakes_nothing_of_its_kind(void **state)
{
	(void)state;
	contrib(1, 5, 1);
	contrib(2, 6, 1);
	result(0x6, 7, 1);
	ctrl(1, GAGG_T_ACK);
	left("1:!;");
	ctrl(1, GAGG_T_READY);
	left("1: C5;1:!;");
	ctrl(3, GAGG_T_TOLD);
	left("3:!;");
	ctrl(2, GAGG_T_DONE);
	left("1: R7;2: R7;2:!;");
	gagg_send_flush(&host);
	left("2: C6;");
	ctrl(2, GAGG_T_DONE);
	left("2:!;");
}

static void memory__is_short(void **state)
{
	(void)state;
	memory = false;
	contrib(1, 5, 3);
	assert_int_equal(host.stats.tx_errors, 3);
	memory = true;
	contrib(1, 8, 1);
	gagg_send_flush(&host);
	left("1: C8;");
	refused = 2;
	contrib(1, 20, 5);
	assert_int_equal(host.stats.tx_errors, 5);
	gagg_send_flush(&host);
	left("1: C22 C23 C24;");
	/* what was there leaves, whatever follows */
	contrib(1, 9, 1);
	memory = false;
	contrib(1, 10, 2);
	assert_int_equal(host.stats.tx_errors, 7);
	gagg_send_flush(&host);
	left("1: C9;");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(contributions__collect_for_their_node, setup),
		cmocka_unit_test_setup(results__go_to_each_node, setup),
		cmocka_unit_test_setup(results__go_to_all_at_once, setup),
		cmocka_unit_test_setup(burst__is_full, setup),
		cmocka_unit_test_setup(burst__of_one_datagram, setup),
		cmocka_unit_test_setup(burst__ends_with_a_shorter_one, setup),
		cmocka_unit_test_setup(burst__of_several_pieces, setup),
		cmocka_unit_test_setup(control__overtakes_nothing_of_its_kind, setup),
		cmocka_unit_test_setup(memory__is_short, setup),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("send", tests, NULL, NULL);
}
