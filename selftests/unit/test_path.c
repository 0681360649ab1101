// SPDX-License-Identifier: GPL-2.0
/* links: kmod/core/path.c kmod/core/cwnd.c kmod/core/wire.c; libs: */
/*
 * Directed tests of each rule, then a simulated link with loss, duplication,
 * reordering and held-up acknowledgements, where a shadow of every datagram is
 * kept by its sender and receiver. SEED=n runs the simulation with one seed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "event_heap.h"
#include "full.h"
#include "cwnd.h"
#include "path.h"

static const u32 starts[] = { 1, 0xfffffff0u, 0xffffff80u, 0x7fffff00u, 0xfffffe00u };

/* a path that has come to @pn, with a window that has grown */
static void path_at(struct gagg_path *p, u32 pn, u32 cwnd)
{
	gagg_path_init(p, cwnd * 2);
	p->cwnd = cwnd > GAGG_PATH_CWND_MIN ? cwnd : GAGG_PATH_CWND_MIN;
	p->slow_to = p->cwnd;
	p->next_pn = pn;
	p->una = pn;
	p->scan = pn;
	p->cut_pn = pn;
	p->calm_pn = pn;
	p->taken = pn;
	p->taken_end = pn;
	p->told = pn - 1;
	p->rx_base = pn;
	p->rx_largest = pn - 1;
}

static struct gagg_path *new_path(u32 pn, u32 cwnd)
{
	struct gagg_path *p = malloc(sizeof(*p));

	assert_non_null(p);
	path_at(p, pn, cwnd);
	return p;
}

/* everything that must hold between two calls */
static void check(struct gagg_path *p)
{
	u32 flying = 0, lost = 0, pn;

	for (pn = p->una; pn != p->next_pn; pn++) {
		u8 state = p->log[pn % GAGG_PATH_LOG].state;

		assert_true(pn - p->una < GAGG_PATH_SPAN);
		flying += state == GAGG_SENT_FLYING;
		lost += state == GAGG_SENT_LOST;
		if ((s32)(pn - p->scan) < 0)
			assert_true(state == GAGG_SENT_ACKED || state == GAGG_SENT_LOST);
		else
			assert_true(state == GAGG_SENT_ACKED || state == GAGG_SENT_FLYING);
	}
	assert_int_equal(p->flying, flying);
	assert_int_equal(p->lost, lost);
	if (p->una != p->next_pn)
		assert_int_not_equal(p->log[p->una % GAGG_PATH_LOG].state, GAGG_SENT_ACKED);
	assert_true((s32)(p->scan - p->una) >= 0);
	assert_true((s32)(p->next_pn - p->scan) >= 0);
	assert_true((s32)(p->cut_pn - p->una) >= 0);
	assert_true((s32)(p->next_pn - p->cut_pn) >= 0);
	assert_int_equal(p->rto_at == GAGG_NEVER, p->flying == 0);
	assert_in_range(p->cwnd, GAGG_PATH_CWND_MIN, p->cwnd_max);
	assert_true(p->credit < p->cwnd_max);
	assert_true(p->probes <= 2 && p->timeouts <= 2);
	assert_true((s32)(p->taken_end - p->taken) >= 0);
	assert_true((s32)(p->una - p->taken_end) >= 0);
	assert_true(p->srtt == 0 || p->rtt_min > 0);
	assert_true(gagg_path_rto(p) >= (p->timeouts > 1 ? GAGG_PATH_ASK_MIN : GAGG_PATH_RTO_MIN));
	assert_true(gagg_path_rto(p) <= GAGG_PATH_RTO_MAX);
}

static void send_some(struct gagg_path *p, u32 n, u64 now, u64 apart)
{
	u32 i;

	for (i = 0; i < n; i++) {
		struct gagg_sent what = { .slot = p->next_pn, .round = 7, .run = 1 };

		assert_true(gagg_path_room(p) > 0);
		assert_int_equal(gagg_path_send(p, &what, now + i * apart), what.slot);
		assert_int_equal(p->next_pn, what.slot + 1);
		check(p);
	}
}

static void count_acked(void *ctx, const struct gagg_sent *s)
{
	assert_int_equal(s->round, 7);
	assert_int_equal(s->state, GAGG_SENT_ACKED);
	(*(u32 *)ctx)++;
}

/* acknowledge the @n numbers of @list, of which the last is the largest */
static u32 ack_list(struct gagg_path *p, u32 base, const u32 *list, u32 n, u32 fresh,
		    bool ce, u64 now)
{
	struct gagg_ack ack = { .base = cpu_to_le32(base) };
	const struct gagg_receipt r = {
		.ack = &ack, .fresh = fresh, .marks = p->marks + ce, .now = now,
	};
	u32 count = 0, i;

	ack.largest = cpu_to_le32(n ? list[n - 1] : base - 1);
	for (i = 0; i < n; i++)
		ack.map[(list[i] - base) / 64] |= cpu_to_le64(GAGG_BIT((list[i] - base) % 64));
	gagg_path_ack(p, &r, count_acked, &count);
	check(p);
	return count;
}

static u32 ack_pn(struct gagg_path *p, u32 base, u32 pn, u32 fresh, u64 now)
{
	return ack_list(p, base, &pn, 1, fresh, false, now);
}

static u32 take_all(struct gagg_path *p)
{
	struct gagg_sent s;
	u32 n = 0, last = 0;

	while (gagg_path_lost(p, &s)) {
		assert_int_equal(s.round, 7);
		assert_true(!n || (s32)(s.slot - last) > 0);
		last = s.slot;
		n++;
		check(p);
	}
	return n;
}

static void test_init(void **state)
{
	static struct gagg_path p;
	struct gagg_sent s;

	(void)state;
	gagg_path_init(&p, 64);
	check(&p);
	assert_int_equal(p.next_pn, 1);
	assert_int_equal(gagg_path_room(&p), GAGG_PATH_CWND_START);
	assert_int_equal(p.slow_to, 32);
	assert_false(gagg_path_lost(&p, &s));
	assert_true(gagg_path_rto(&p) == GAGG_PATH_RTO_INIT);
	gagg_path_timer(&p, GAGG_SEC);
	check(&p);
	gagg_path_init(&p, 4);
	assert_int_equal(gagg_path_room(&p), 4);
}

static void test_ack_frees_window(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < 5; i++) {
		u32 s = starts[i];
		struct gagg_path *p = new_path(s, 32);

		send_some(p, 32, 1000, 0);
		assert_int_equal(gagg_path_room(p), 0);
		assert_true(p->rto_at == 1000 + GAGG_PATH_RTO_INIT);
		/* by base: nothing else in the map */
		assert_int_equal(ack_list(p, s + 16, NULL, 0, 0, false, 2000), 16);
		assert_int_equal(p->una, s + 16);
		assert_int_equal(p->cwnd, 33);
		assert_int_equal(gagg_path_room(p), 17);
		assert_true(p->rto_at == 2000 + GAGG_PATH_RTO_INIT);
		/* again: nothing new, the timer is not moved */
		assert_int_equal(ack_list(p, s + 16, NULL, 0, 0, false, 3000), 0);
		assert_true(p->rto_at == 2000 + GAGG_PATH_RTO_INIT);
		/* an older one that was overtaken */
		assert_int_equal(ack_list(p, s + 3, NULL, 0, 0, false, 3000), 0);
		assert_int_equal(ack_list(p, s + 32, NULL, 0, 0, false, 3000), 16);
		assert_int_equal(p->una, p->next_pn);
		free(p);
	}
}

static void test_sample(void **state)
{
	struct gagg_path *p = new_path(1, 32);
	u32 two[] = { 1, 3 };

	(void)state;
	send_some(p, 6, 1000000, 1000);
	ack_list(p, 1, two, 1, 0, false, 1100000);	/* not fresh: no sample */
	assert_true(p->srtt == 0);
	ack_list(p, 1, two, 2, 1, false, 1200000);	/* 1 was acknowledged before */
	assert_true(p->srtt == 0);
	ack_pn(p, 1, 4, 4, 1203000);
	assert_true(p->srtt == 200000);
	assert_true(p->rttvar == 100000);
	assert_true(p->rtt_min == 200000);
	assert_true(gagg_path_rto(p) == GAGG_PATH_RTO_MIN);
	ack_pn(p, 1, 5, 5, 1004000 + 1000000);
	assert_true(p->srtt == 175000 + 125000);
	assert_true(p->rttvar == 75000 + 200000);
	assert_true(p->rtt_min == 200000);
	/* a number that this acknowledgement does not acknowledge */
	ack_list(p, 1, two, 2, 6, false, 1400000);
	assert_true(p->srtt == 300000);
	/* 2 was given up when 5 arrived, and comes after all: still a sample */
	assert_int_equal(p->lost, 1);
	ack_pn(p, 1, 2, 2, 1001000 + 300000);
	assert_int_equal(p->lost, 0);
	assert_true(p->rttvar == 275000 - 275000 / 4);
	/* the clock ran backwards, then stood */
	ack_pn(p, 1, 6, 6, 1);
	assert_true(p->srtt == 300000);
	send_some(p, 1, 5000000, 0);
	ack_pn(p, 1, 7, 7, 5000000);
	assert_true(p->rtt_min == 1);
	free(p);
}

static void test_gap(void **state)
{
	struct gagg_sent s;
	u32 i;

	(void)state;
	for (i = 0; i < 5; i++) {
		u32 b = starts[i];
		struct gagg_path *p = new_path(b, 32);

		send_some(p, 10, 1000, 0);
		ack_pn(p, b, b + 2, 0, 2000);
		assert_int_equal(p->lost, 0);
		ack_pn(p, b, b + 3, 0, 2000);		/* 3 above b, 2 above b + 1 */
		assert_int_equal(p->lost, 1);
		assert_true(gagg_path_lost(p, &s));
		assert_int_equal(s.slot, b);
		assert_int_equal(p->una, b + 1);
		assert_false(gagg_path_lost(p, &s));
		ack_pn(p, b, b + 9, 0, 2000);
		assert_int_equal(p->lost, 4);		/* b + 1, 4, 5, 6 */
		assert_int_equal(p->flying, 2);
		assert_int_equal(take_all(p), 4);
		assert_int_equal(p->una, b + 7);
		free(p);
	}
}

/* what is acknowledged before it was taken is not lost */
static void test_late(void **state)
{
	struct gagg_path *p = new_path(1, 32);

	(void)state;
	send_some(p, 9, 1000, 0);
	ack_pn(p, 1, 8, 0, 2000);
	assert_int_equal(p->lost, 5);
	assert_int_equal(ack_pn(p, 1, 3, 0, 2000), 1);
	assert_int_equal(ack_pn(p, 1, 1, 0, 2000), 1);
	assert_int_equal(p->una, 2);
	assert_int_equal(p->lost, 3);
	assert_int_equal(take_all(p), 3);
	/* taken: too late */
	assert_int_equal(ack_pn(p, 1, 2, 0, 2000), 0);
	assert_int_equal(p->flying, 3);
	free(p);
}

static void test_time(void **state)
{
	struct gagg_path *p = new_path(1, 32);

	(void)state;
	send_some(p, 1, 0, 0);
	ack_pn(p, 1, 1, 1, 800000);			/* srtt 800 us */
	send_some(p, 1, 1000000, 0);			/* 2 */
	send_some(p, 1, 1900000, 0);			/* 3: 900 us = 9/8 later */
	send_some(p, 1, 1900001, 0);			/* 4 */
	ack_pn(p, 2, 3, 0, 2000000);
	assert_int_equal(p->lost, 0);
	ack_pn(p, 2, 4, 0, 2000000);
	assert_int_equal(p->lost, 1);
	assert_int_equal(take_all(p), 1);
	free(p);
}

static void test_nonsense(void **state)
{
	static const struct {
		s32 base, largest;
		s32 bit[3];
	} bad[] = {
		{ 20, 19, { -1, -1, -1 } },	/* all of 10..19: 12 and up never sent */
		{ 10, 12, { 2, -1, -1 } },	/* 12 was never sent */
		{ 10, 11, { 1, 2, -1 } },	/* bit above largest */
		{ 10, 11, { 1, 64, -1 } },
		{ 10, 11, { 1, 511, -1 } },
		{ 10, 11, { 0, -1, -1 } },	/* largest is not among them */
		{ 10, 11, { -1, -1, -1 } },
		{ 10, 9, { 0, -1, -1 } },	/* a bit, and none counts */
		{ 12, 10, { 0, -1, -1 } },	/* largest below base - 1 */
		{ -502, 11, { 511, -1, -1 } },	/* further apart than the map */
		{ 0x40000000, 0x3fffffff, { -1, -1, -1 } },
	};
	struct gagg_path *p = new_path(10, 32);
	struct gagg_path *before = malloc(sizeof(*before));
	u32 i, j;

	(void)state;
	assert_non_null(before);
	send_some(p, 2, 1000, 0);
	memcpy(before, p, sizeof(*p));
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct gagg_ack ack = {
			.base = cpu_to_le32((u32)bad[i].base),
			.largest = cpu_to_le32((u32)bad[i].largest),
		};
		const struct gagg_receipt r = {
			.ack = &ack, .fresh = 10, .marks = p->marks + 1, .now = 2000,
		};
		u32 count = 0;

		for (j = 0; j < 3 && bad[i].bit[j] >= 0; j++)
			ack.map[bad[i].bit[j] / 64] |= cpu_to_le64(GAGG_BIT(bad[i].bit[j] % 64));
		gagg_path_ack(p, &r, count_acked, &count);
		assert_int_equal(count, 0);
		assert_memory_equal(before, p, sizeof(*p));
	}
	/* the last place of the map is used */
	assert_int_equal(ack_pn(p, 11 - 511, 11, 0, 2000), 1);
	free(p);
	free(before);
}

/* differently long from 3/4 of the bound on, but as long as an answer takes */
static void test_bound(void **state)
{
	u64 when, min = GAGG_NEVER, max = 0;

	(void)state;
	for (when = 1; when <= 1000; when++) {
		u64 wait = gagg_path_bound(10, 4000 + when % 2, 4000, when);

		min = gagg_min64(min, wait);
		max = gagg_max64(max, wait);
		assert_in_range(gagg_path_bound(3900, 5000, 4000, when), 3900, 4000);
		assert_int_equal(gagg_path_bound(4100, 5000, 4000, when), 4000);
		assert_int_equal(gagg_path_bound(10, 3999, 4000, when), 3999);
	}
	assert_in_range(min, 3001, 3010);
	assert_in_range(max, 3990, 4000);
}

static void test_timeout(void **state)
{
	u64 wait = GAGG_PATH_RTO_INIT, now = 1000, began = now;
	struct gagg_path *p = new_path(1, 32);
	u32 pn;

	(void)state;
	send_some(p, 32, now, 0);
	gagg_path_timer(p, now + wait - 1);
	assert_int_equal(p->lost, 0);
	/* two are given up, and as many may leave though the window is full */
	assert_true(p->rto_at == now + wait);
	now += wait;
	p->cwnd = 8;
	gagg_path_timer(p, now);
	check(p);
	assert_int_equal(take_all(p), 2);
	assert_int_equal(p->cwnd, 7);
	assert_int_equal(gagg_path_room(p), 2);
	send_some(p, 2, now, 0);
	assert_int_equal(gagg_path_room(p), 0);
	/* again without an answer: all that is older is lost, the window starts again */
	assert_true(p->rto_at == now + wait);
	now += wait;
	gagg_path_timer(p, now);
	check(p);
	assert_int_equal(take_all(p), 32);
	assert_int_equal(p->cwnd, GAGG_PATH_CWND_MIN);
	assert_int_equal(p->slow_to, 22);		/* of 32 */
	/* but two alone leave for each question */
	assert_int_equal(gagg_path_room(p), 2);
	/* the longer the silence, the longer the pauses, and no shorter than a sixteenth */
	while (now - began < 20 * GAGG_PATH_RTO_MAX) {
		send_some(p, 2, now, 0);
		wait = gagg_max64(GAGG_PATH_RTO_INIT, (now - began) / 16);
		wait = gagg_path_bound(0, wait, GAGG_PATH_RTO_MAX, now);
		assert_true(p->rto_at == now + wait);
		now += wait;
		gagg_path_timer(p, now);
		check(p);
		assert_int_equal(take_all(p), 2);
		assert_int_equal(p->flying, 0);
	}
	/* bounded pauses differ; progress ends the backing off */
	send_some(p, 2, now, 0);
	pn = p->next_pn - 2;
	assert_in_range(p->rto_at - now, GAGG_PATH_RTO_MAX / 4 * 3, GAGG_PATH_RTO_MAX);
	assert_true(p->rto_at - now != wait);
	ack_pn(p, pn, pn, 0, now + 5);
	assert_true(p->rto_at == now + 5 + GAGG_PATH_RTO_INIT);
	assert_int_equal(p->timeouts, 0);
	/* of two flying, one that has just left is not given up */
	now += 5 + GAGG_PATH_RTO_INIT;
	send_some(p, 1, now - 1, 0);
	gagg_path_timer(p, now);
	check(p);
	assert_int_equal(p->lost, 1);
	assert_int_equal(p->flying, 1);
	free(p);
}

static void test_probe(void **state)
{
	struct gagg_path *p = new_path(1, 32);
	u32 cwnd;

	(void)state;
	send_some(p, 8, GAGG_MSEC, 0);
	/* round trips of 4 and 5 ms, but a word each ms */
	ack_list(p, 5, NULL, 0, 4, false, 5 * GAGG_MSEC);
	ack_list(p, 6, NULL, 0, 5, false, 6 * GAGG_MSEC);
	cwnd = p->cwnd;
	assert_true(gagg_path_rto(p) > 10 * GAGG_MSEC);
	assert_int_equal(gagg_path_quiet(p), 2 * GAGG_MSEC);
	assert_int_equal(p->rto_at, 8 * GAGG_MSEC);
	/* as long as the last one, and twice the variation: 1.75 ms */
	gagg_path_timer(p, 8 * GAGG_MSEC);
	assert_int_equal(p->lost, 0);
	assert_int_equal(p->rto_at, 1 * GAGG_MSEC + 5 * GAGG_MSEC + 3500 * GAGG_USEC);
	/* one, which is no congestion; and no other */
	gagg_path_timer(p, p->rto_at);
	check(p);
	assert_int_equal(take_all(p), 1);
	assert_int_equal(p->cwnd, cwnd);
	assert_int_equal(p->timeouts, 0);
	assert_int_equal(p->rto_at, 9500 * GAGG_USEC + gagg_path_rto(p));
	/* bounded pauses differ; progress ends the backing off */
	send_some(p, 2, 13 * GAGG_MSEC, 0);
	ack_pn(p, 9, 9, 9, 14 * GAGG_MSEC);
	assert_int_equal(p->backoff, 0);
	/* pauses are remembered for a while */
	assert_int_equal(p->beat, 8 * GAGG_MSEC);
	assert_int_equal(gagg_path_quiet(p), gagg_min64(16 * GAGG_MSEC, gagg_path_rto(p)));
	gagg_path_heard(p, 15 * GAGG_MSEC);
	assert_int_equal(p->beat, 7 * GAGG_MSEC);
	/* those that last as long as a timeout are none */
	gagg_path_heard(p, GAGG_SEC);
	assert_int_equal(p->beat, 7 * GAGG_MSEC);
	free(p);
}

/* of a path that was heard at 10 ms, with a datagram from 9 ms, after a round trip of 8 ms */
static struct gagg_path *new_tail(u32 cwnd, u8 again)
{
	struct gagg_path *p = new_path(1, 32);
	struct gagg_sent what = { .slot = 6, .round = 7, .run = 1, .again = again };

	send_some(p, 5, GAGG_MSEC, 0);
	ack_list(p, 5, NULL, 0, 4, false, 9 * GAGG_MSEC);
	gagg_path_send(p, &what, 9 * GAGG_MSEC);
	ack_list(p, 6, NULL, 0, 5, false, 10 * GAGG_MSEC);
	p->cwnd = cwnd;
	assert_int_equal(p->rto_at, 12 * GAGG_MSEC);
	gagg_path_timer(p, 12 * GAGG_MSEC);
	return p;
}

static void test_probe_time(void **state)
{
	struct gagg_sent again = { .slot = 6, .round = 7, .run = 1, .again = 1 };
	struct gagg_path *p = new_tail(32, 0);

	(void)state;
	/* it takes as long as what was before it: 9 ms, and twice the variation */
	check(p);
	assert_int_equal(p->lost, 0);
	assert_int_equal(p->rto_at, 18 * GAGG_MSEC + 2 * p->rttvar);
	gagg_path_timer(p, p->rto_at);
	assert_int_equal(take_all(p), 1);
	free(p);
	/* what is sent again follows nothing */
	p = new_tail(32, 1);
	assert_int_equal(take_all(p), 1);
	free(p);
	/* but has to wait for an answer, or the timeout, before it is sent once more */
	p = new_tail(32, 1);
	assert_int_equal(take_all(p), 1);
	gagg_path_send(p, &again, 12 * GAGG_MSEC);
	assert_int_equal(p->rto_at, 12 * GAGG_MSEC + gagg_path_rto(p));
	gagg_path_timer(p, p->rto_at);
	assert_int_equal(take_all(p), 1);
	free(p);
	/* a full window: what follows is still to be sent */
	p = new_tail(1, 1);
	assert_int_equal(p->lost, 0);
	assert_int_equal(p->rto_at, 10 * GAGG_MSEC + gagg_path_rto(p));
	gagg_path_timer(p, p->rto_at);
	assert_int_equal(p->lost, 1);
	free(p);
}

static void test_span(void **state)
{
	u32 i, j;

	(void)state;
	for (i = 0; i < 5; i++) {
		u32 b = starts[i], pn;
		struct gagg_path *p = new_path(b, 256);

		p->cwnd = 512;
		/* b is lost and not taken; all others arrive */
		for (j = 0; j < GAGG_PATH_SPAN; j++) {
			assert_int_equal(gagg_path_room(p),
					 GAGG_PATH_SPAN - j < p->cwnd - p->flying ?
					 GAGG_PATH_SPAN - j : p->cwnd - p->flying);
			send_some(p, 1, 1000, 0);
			pn = p->next_pn - 1;
			if (pn != b)
				ack_pn(p, b, pn, 0, 2000);
		}
		assert_int_equal(p->flying, 0);
		assert_int_equal(p->una, b);
		assert_int_equal(gagg_path_room(p), 0);
		assert_int_equal(take_all(p), 1);
		assert_int_equal(gagg_path_room(p), GAGG_PATH_SPAN);
		free(p);
	}
}

/* an acknowledgement that comes twice, or late, and says that congestion was marked */
static void test_old_mark(void **state)
{
	struct gagg_path *p = new_path(1, 100);

	(void)state;
	send_some(p, 10, 1000, 0);
	ack_list(p, 1, NULL, 0, 0, true, 2000);
	assert_int_equal(p->cwnd, 100);
	ack_list(p, 11, NULL, 0, 10, false, 2000);
	ack_list(p, 11, NULL, 0, 10, true, 2000);
	assert_int_equal(p->cwnd, 100);
	send_some(p, 60, 2000, 0);
	ack_list(p, 71, NULL, 0, 70, true, 3000);
	assert_in_range(p->cwnd, 95, 99);

	/* nor does it repeat what an earlier one has done */
	send_some(p, 10, 4000, 0);
	ack_list(p, 81, NULL, 0, 80, false, 5000);
	p->cwnd = 150;
	ack_list(p, 71, NULL, 0, 70, true, 5000);
	assert_int_equal(p->cwnd, 150);
	free(p);
}

/* from r, if it comes; true if the window is smaller then */
static bool told(struct gagg_path *p, struct gagg_path *r, bool comes, u64 now)
{
	u32 before = p->cwnd, count = 0;
	struct gagg_ack ack;
	const struct gagg_receipt receipt = {
		.ack = &ack, .fresh = gagg_path_ack_build(r, &ack), .marks = r->rx_marks,
		.now = now,
	};

	if (comes)
		gagg_path_ack(p, &receipt, count_acked, &count);
	check(p);
	return p->cwnd < before;
}

/* of each round trip, whose first datagram may have a mark */
static bool trip(struct gagg_path *p, struct gagg_path *r, bool marked, bool comes, u64 now)
{
	u32 i, first = p->next_pn;

	send_some(p, 20, now, 0);
	for (i = 0; i < 20; i++)
		gagg_path_rx(r, first + i, marked && !i);
	return told(p, r, comes, now + 1000);
}

static void test_marks(void **state)
{
	struct gagg_path *p = new_path(1, 200), *r = new_path(1, 200);

	(void)state;
	assert_false(trip(p, r, false, true, 1000));
	/* the next one tells what was marked, whatever happens to the first */
	assert_false(trip(p, r, true, false, 10000));
	assert_true(trip(p, r, false, true, 20000));
	assert_false(trip(p, r, false, true, 30000));
	assert_true(trip(p, r, true, true, 40000));
	assert_false(trip(p, r, false, true, 50000));
	/* an older one, late, takes nothing back */
	r->rx_marks--;
	assert_false(trip(p, r, false, true, 60000));
	r->rx_marks++;
	assert_false(trip(p, r, false, true, 70000));
	/* the number wraps */
	p->marks = r->rx_marks = 0xffffffff;
	assert_true(trip(p, r, true, true, 80000));
	free(p);
	free(r);
}

static void test_cut(void **state)
{
	struct gagg_path *p = new_path(1, 200);
	u32 i;

	(void)state;
	/* random loss: at most 5 %, once for all that was in flight */
	p->srtt = p->rtt_min = 1000;
	send_some(p, 100, 1000, 0);
	ack_pn(p, 1, 10, 0, 2000);
	assert_int_equal(p->lost, 7);
	assert_int_equal(p->cwnd, 190);
	ack_pn(p, 1, 20, 0, 2000);
	assert_int_equal(p->cwnd, 190);
	take_all(p);
	send_some(p, 10, 2000, 0);	/* 101 to 110 */
	ack_pn(p, 1, 100, 0, 2000);
	ack_pn(p, 1, 103, 0, 2000);
	/* 99 and less were lost, which is more than an eighth: that is no accident */
	assert_int_equal(p->floor, 140);
	assert_int_equal(p->slow_to, 140);
	assert_int_equal(p->cwnd, 140);
	take_all(p);
	ack_pn(p, 1, 104, 0, 2000);
	assert_int_equal(p->cwnd, 134);	/* 101, alone */
	ack_pn(p, 1, 106, 0, 2000);
	assert_int_equal(p->cwnd, 133);	/* 102 */
	take_all(p);

	/* a queue: at most 30 % */
	path_at(p, 1, 200);
	send_some(p, 1, 0, 0);
	ack_pn(p, 1, 1, 1, 100000);
	for (i = 0; i < 3; i++) {
		send_some(p, 1, 1000000, 0);
		ack_pn(p, 1, p->next_pn - 1, p->next_pn - 1, 1400000);
	}
	assert_true(p->srtt * 2 > p->rtt_min * 3);
	send_some(p, 16, 2000000, 0);
	ack_pn(p, 1, 10, 0, 2000001);
	assert_int_equal(p->cwnd, 182);	/* 5, 6, 7 */
	ack_pn(p, 1, 13, 0, 2000001);
	assert_int_equal(p->cwnd, 170);	/* 8, 9 */
	ack_pn(p, 1, 20, 0, 2000001);
	assert_int_equal(p->cwnd, 140);	/* 11, 12, 14 to 17 */

	/* above half of the most it grows only without a queue */
	take_all(p);
	path_at(p, 1, 200);
	p->cwnd = 199;
	p->slow_to = 0;
	p->srtt = p->rtt_min = 1000;
	for (i = 1; i <= 4; i++) {
		static const u32 grown[] = { 200, 200, 201, 201 };

		p->srtt = i <= 2 ? 1501 : 1500;
		send_some(p, 100, 1000, 0);
		ack_list(p, p->next_pn, NULL, 0, 0, false, 2000);
		assert_int_equal(p->cwnd, grown[i - 1]);
	}
	/* and not if it is not used */
	for (i = 0; i < 1000; i++) {
		send_some(p, 10, 1000, 0);
		ack_list(p, p->next_pn, NULL, 0, 0, false, 2000);
	}
	assert_int_equal(p->cwnd, 201);

	/* a congestion echo is as good as many losses */
	path_at(p, 1, 200);
	send_some(p, 10, 1000, 0);
	i = 1;
	ack_list(p, 1, &i, 1, 0, true, 2000);
	assert_int_equal(p->cwnd, 190);
	i = 2;
	ack_list(p, 1, &i, 1, 0, true, 2000);
	assert_int_equal(p->cwnd, 190);
	send_some(p, 1, 1000, 0);
	i = 11;
	ack_list(p, 1, &i, 1, 0, true, 2000);
	assert_int_equal(p->cwnd, 180);	/* by the echo, not again by the losses */
	assert_true(p->lost > 0);

	/* never below the least window, nor is the rest of the growth lost */
	path_at(p, 1, 5);
	for (i = 0; i < 10; i++) {
		send_some(p, gagg_path_room(p), 1000 + i, 0);
		gagg_path_timer(p, p->rto_at);
		gagg_path_timer(p, p->rto_at);
		take_all(p);
	}
	assert_int_equal(p->cwnd, GAGG_PATH_CWND_MIN);
	p->timeouts = 0;
	for (i = 0; i < 3; i++) {
		assert_int_equal(p->cwnd, GAGG_PATH_CWND_MIN + i * GAGG_PATH_GROW);
		send_some(p, p->cwnd, 1000 + i, 0);
		ack_list(p, p->next_pn, NULL, 0, 0, false, 2000);
	}
	for (i = 0; i < 3; i++) {
		assert_int_equal(p->cwnd, 10);
		send_some(p, p->cwnd, 1000 + i, 0);
		ack_list(p, p->next_pn, NULL, 0, 0, false, 2000);
	}
	free(p);
}

/* it doubles up to where it was good last, not while it waits long, and starts again */
static void test_start(void **state)
{
	struct gagg_path *p = malloc(sizeof(*p));
	u64 now = GAGG_SEC;

	(void)state;
	assert_non_null(p);
	gagg_path_init(p, 128);
	while (p->cwnd < 64) {
		u32 was = p->cwnd;

		send_some(p, was, now, 0);
		now += 100 * GAGG_USEC;
		ack_list(p, p->next_pn, NULL, 0, p->next_pn - 1, false, now);
		assert_int_equal(p->cwnd, was * 2 < 64 ? was * 2 : p->cwnd);
		assert_true(p->cwnd < 68);
	}
	/* idle for three timeouts, then it doubles again */
	now += 3 * gagg_path_rto(p);
	send_some(p, 1, now, 0);
	assert_int_equal(p->cwnd, GAGG_PATH_CWND_START);
	assert_in_range(p->slow_to, 48, 67);
	/* the last was under way for a ms */
	now += 1000 * GAGG_USEC;
	ack_list(p, p->next_pn, NULL, 0, p->next_pn - 1, false, now);
	send_some(p, 10, now, 0);
	now += 1000 * GAGG_USEC;
	ack_list(p, p->next_pn, NULL, 0, p->next_pn - 1, false, now);
	assert_in_range(p->cwnd, GAGG_PATH_CWND_START, GAGG_PATH_CWND_START + 20);
	assert_true(p->slow_to <= p->cwnd);
	free(p);
}

/* a path with a pause of its own keeps its window for that long, whatever its timeout is */
static void test_idle_after(void **state)
{
	struct gagg_path *p = new_path(1, 64);
	u64 now = GAGG_SEC;

	(void)state;
	p->idle_after = 100 * GAGG_MSEC;
	p->cwnd = 64;
	p->srtt = GAGG_MSEC;
	p->rtt_min = GAGG_MSEC;
	send_some(p, 1, now, 0);
	ack_list(p, p->next_pn, NULL, 0, 0, false, now);
	assert_true(4 * gagg_path_rto(p) < p->idle_after);
	now += p->idle_after - 1;
	send_some(p, 1, now, 0);
	assert_int_equal(p->cwnd, 64);
	ack_list(p, p->next_pn, NULL, 0, 0, false, now);
	now += p->idle_after;
	send_some(p, 1, now, 0);
	assert_int_equal(p->cwnd, 32);
	ack_list(p, p->next_pn, NULL, 0, 0, false, now);
	now += 2 * p->idle_after;
	send_some(p, 1, now, 0);
	assert_int_equal(p->cwnd, GAGG_PATH_CWND_START);
	ack_list(p, p->next_pn, NULL, 0, 0, false, now);

	/* an answer that takes longer than that is no pause */
	p->idle_after = GAGG_MSEC;
	p->srtt = 10 * GAGG_MSEC;
	p->rtt_min = p->srtt;
	p->rttvar = GAGG_MSEC;
	p->cwnd = 64;
	now += p->srtt;
	send_some(p, 1, now, 0);
	assert_int_equal(p->cwnd, 64);
	free(p);
}

/* long round trips make the window smaller, once in each, and not below CALM */
static void test_calm(void **state)
{
	struct gagg_path *p = new_path(1, 50);
	u64 now = GAGG_SEC;
	u32 i;

	(void)state;
	for (i = 0; i < 200; i++) {
		u32 was = p->cwnd, n = was < 8 ? was : 8;

		p->rtt_min = 100 * GAGG_USEC;
		p->rtt_next = p->rtt_min;
		p->rtt_since = now;
		p->srtt = 701 * GAGG_USEC;
		send_some(p, n, now, 0);
		now += 701 * GAGG_USEC;
		ack_list(p, p->next_pn, NULL, 0, p->next_pn - 1, false, now);
		assert_int_equal(p->cwnd, was * 15 / 16 > GAGG_PATH_CWND_CALM ? was * 15 / 16 :
				 GAGG_PATH_CWND_CALM);
		/* the same news again */
		ack_list(p, p->next_pn, NULL, 0, 0, false, now);
		assert_true(p->cwnd >= GAGG_PATH_CWND_CALM);
	}
	assert_int_equal(p->cwnd, GAGG_PATH_CWND_CALM);
	free(p);
}

/* what was taken for lost arrives: the path reorders by so much, and nothing was congested */
static void test_reordered(void **state)
{
	struct gagg_path *p = new_path(1, 64);
	u32 some[] = { 1, 5 };

	(void)state;
	p->srtt = p->rtt_min = p->rtt = GAGG_MSEC;
	send_some(p, 10, GAGG_SEC, 0);
	ack_pn(p, 1, 5, 0, GAGG_SEC + GAGG_MSEC);
	assert_int_equal(p->lost, 2);
	assert_int_equal(take_all(p), 2);
	assert_true(p->cwnd < 64);
	assert_true(p->late == 0);
	ack_list(p, 1, some, 2, 0, false, GAGG_SEC + 3 * GAGG_MSEC);
	assert_true(p->late == 3 * GAGG_MSEC);
	assert_int_equal(p->cwnd, 64);
	assert_true(gagg_path_rto(p) > 3 * GAGG_MSEC);
	/* from now on time says what is lost */
	send_some(p, 20, GAGG_SEC + 4 * GAGG_MSEC, 0);
	ack_pn(p, 1, 30, 0, GAGG_SEC + 7 * GAGG_MSEC);
	assert_int_equal(p->lost, 7);	/* of the first ten */
	ack_pn(p, 1, 29, 0, GAGG_SEC + 7 * GAGG_MSEC + 376 * GAGG_USEC);
	ack_pn(p, 1, 30, 0, GAGG_SEC + 7 * GAGG_MSEC + 376 * GAGG_USEC);
	assert_int_equal(p->flying, 0);
	free(p);
}

/* @n datagrams of which nobody says anything are given up by two timeouts, and taken */
static u64 silence(struct gagg_path *p, u32 n, u64 now)
{
	send_some(p, n, now, 0);
	gagg_path_timer(p, p->rto_at);
	take_all(p);
	now = p->rto_at;
	gagg_path_timer(p, now);
	take_all(p);
	assert_int_equal(p->flying, 0);
	assert_int_equal(p->cwnd, GAGG_PATH_CWND_MIN);
	return now;
}

/* acknowledgements were lost, and the next one tells of all: nothing was late */
static void test_silent_acks(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < 5; i++) {
		u32 s = starts[i];
		struct gagg_path *p = new_path(s, 64);
		u32 all[11], k;
		u64 now;

		for (k = 0; k < 11; k++)
			all[k] = s + k;
		p->srtt = p->rtt_min = p->rtt = GAGG_MSEC;
		now = silence(p, 10, GAGG_SEC);
		/* one comes through, late */
		ack_list(p, s, all, 4, 0, false, now);
		assert_int_equal(p->backoff, 0);
		send_some(p, 1, now, 0);
		assert_int_equal(ack_list(p, s, all, 11, s + 10, false, now + GAGG_MSEC), 1);
		assert_true(p->late == 0);
		assert_true(gagg_path_rto(p) < 2 * GAGG_PATH_RTO_MIN);
		/* packets say what is lost, as before */
		send_some(p, 4, now + 2 * GAGG_MSEC, 0);
		ack_pn(p, s + 11, s + 14, 0, now + 3 * GAGG_MSEC);
		assert_int_equal(p->lost, 1);
		free(p);
	}
}

/* one was overtaken, and that is told after an outage: it did not take that long */
static void test_overtaken_and_silent(void **state)
{
	struct gagg_path *p = new_path(1, 64);
	u64 now = GAGG_SEC;
	u32 some[] = { 1, 3, 4, 5 }, all[] = { 1, 2, 3, 4, 5 };

	(void)state;
	p->srtt = p->rtt_min = p->rtt = 100 * GAGG_USEC;
	send_some(p, 5, now, 0);
	ack_list(p, 1, some, 4, 0, false, now + 100 * GAGG_USEC);
	assert_int_equal(take_all(p), 1);
	send_some(p, 1, now + 100 * GAGG_USEC, 0);
	gagg_path_timer(p, p->rto_at);
	gagg_path_timer(p, p->rto_at);
	assert_true(p->backoff > 0);
	ack_list(p, 1, all, 5, 0, false, now + 100 * GAGG_MSEC);
	assert_true(p->late == 0);
	free(p);

	/* without a timeout in between it did */
	p = new_path(1, 64);
	p->srtt = p->rtt_min = p->rtt = 100 * GAGG_USEC;
	send_some(p, 5, now, 0);
	ack_list(p, 1, some, 4, 0, false, now + 100 * GAGG_USEC);
	take_all(p);
	ack_list(p, 1, all, 5, 0, false, now + 300 * GAGG_USEC);
	assert_true(p->late == 300 * GAGG_USEC);
	free(p);
}

/* a path that has become longer than its timeout says how long it is, though all is given up */
static void test_longer(void **state)
{
	u32 i;

	(void)state;
	for (i = 0; i < 5; i++) {
		u32 s = starts[i];
		struct gagg_path *p = new_path(s, 64);
		u64 now = GAGG_SEC;

		p->srtt = p->rtt_min = p->rtt = GAGG_MSEC;
		silence(p, 4, now);
		now += 8 * GAGG_MSEC;
		assert_int_equal(ack_pn(p, s, s + 1, s + 1, now), 0);
		assert_true(p->rtt == 8 * GAGG_MSEC);
		assert_true(p->srtt > GAGG_MSEC);
		assert_true(p->late == 8 * GAGG_MSEC);
		/* and it answers */
		assert_int_equal(p->backoff, 0);
		assert_int_equal(p->timeouts, 0);
		assert_true(gagg_path_rto(p) >= 9 * GAGG_MSEC);
		free(p);
	}
}

/* after the second timeout questions follow each other as round trips do */
static void test_asking(void **state)
{
	struct gagg_path *p = new_path(1, 64);
	u64 now = GAGG_SEC;

	(void)state;
	p->srtt = p->rtt_min = p->rtt = 100 * GAGG_USEC;
	send_some(p, 10, now, 0);
	assert_true(p->rto_at == now + GAGG_PATH_RTO_MIN);
	now = p->rto_at;
	gagg_path_timer(p, now);
	assert_true(p->rto_at == now + GAGG_PATH_RTO_MIN);
	now = p->rto_at;
	gagg_path_timer(p, now);
	take_all(p);
	send_some(p, 1, now, 0);
	assert_true(p->rto_at == now + GAGG_PATH_ASK_MIN);
	/* of a path that is longer than that an eighth more */
	p->srtt = 2 * GAGG_MSEC;
	p->rttvar = GAGG_MSEC;
	assert_true(gagg_path_rto(p) == 2250 * GAGG_USEC);
	p->late = 4 * GAGG_MSEC;
	assert_true(gagg_path_rto(p) == 4500 * GAGG_USEC);
	/* probes are no timeouts: the one that decides waits for what varies */
	p->late = 0;
	p->timeouts = 1;
	assert_true(gagg_path_rto(p) == 6 * GAGG_MSEC);
	/* nothing is known of it */
	p->timeouts = 2;
	p->srtt = 0;
	assert_true(gagg_path_rto(p) == GAGG_PATH_RTO_INIT);
	free(p);
}

/* the least round trip is that of the last ten to twenty seconds */
static void test_rtt_window(void **state)
{
	struct gagg_path *p = new_path(1, 64);
	u64 now = GAGG_SEC;
	u32 s;

	(void)state;
	for (s = 0; s <= 30; s++) {
		u64 rtt = s ? 5 * GAGG_MSEC : GAGG_MSEC;

		send_some(p, 1, now, 0);
		ack_pn(p, p->next_pn - 1, p->next_pn - 1, p->next_pn - 1, now + rtt);
		if (s < 10)
			assert_true(p->rtt_min == GAGG_MSEC);
		now += GAGG_SEC;
	}
	assert_true(p->rtt_min == 5 * GAGG_MSEC);
	free(p);
}

/* a round trip in which all of a window is acknowledged; returns the window */
static u32 round_trip(struct gagg_path *p)
{
	send_some(p, p->cwnd, 1000, 0);
	ack_list(p, p->next_pn, NULL, 0, 0, false, 2000);
	return p->cwnd;
}

/* of 1.3 ms, the least being 1 ms, and no two alike by @var */
static void path_busy(struct gagg_path *p, u32 cwnd, u64 var)
{
	path_at(p, 1, 200);
	p->cwnd = cwnd;
	p->slow_to = 0;
	p->rtt_min = GAGG_MSEC;
	p->srtt = 1300 * GAGG_USEC;
	p->rttvar = var;
	p->overflowed = 4;
}

static void test_busy(void **state)
{
	struct gagg_path *p = new_path(1, 200);
	u32 i;

	(void)state;
	/* a datagram, however long a round trip is */
	path_busy(p, 100, 99 * GAGG_USEC);
	assert_int_equal(round_trip(p), 101);
	assert_int_equal(round_trip(p), 102);

	/* nothing has overflowed; round trips vary; they are not longer; they are short */
	path_busy(p, 100, 0);
	p->overflowed = 0;
	assert_int_equal(round_trip(p), 110);
	path_busy(p, 100, 100 * GAGG_USEC);
	assert_int_equal(round_trip(p), 110);
	path_busy(p, 100, 0);
	p->srtt = 1250 * GAGG_USEC;
	assert_int_equal(round_trip(p), 110);
	path_busy(p, 100, 0);
	p->rtt_min = 300 * GAGG_USEC;
	p->srtt = GAGG_PATH_QUEUE;
	assert_int_equal(round_trip(p), 102);
	/* a window that anybody may have */
	path_busy(p, GAGG_PATH_CWND_START - 1, 0);
	assert_true(round_trip(p) > GAGG_PATH_CWND_START);

	/* what says so is that many were lost in a round trip */
	path_at(p, 1, 200);
	p->srtt = 2 * GAGG_MSEC;
	p->rtt_min = GAGG_MSEC;
	send_some(p, 40, 1000, 0);
	ack_pn(p, 1, 29, 0, 2000);
	assert_int_equal(p->cuts, 26);
	assert_int_equal(p->overflowed, 0);
	ack_pn(p, 1, 30, 0, 2000);
	assert_int_equal(p->cuts, 27);
	assert_int_equal(p->overflowed, 4);
	/* which was none */
	gagg_cwnd_undo(p);
	assert_int_equal(p->overflowed, 0);
	assert_int_equal(p->cwnd, 200);
	/* it is forgotten after four round trips of fewer, but not of what was none */
	p->overflowed = 4;
	gagg_cwnd_cut(p, p->next_pn, GAGG_PATH_LOSS);
	assert_int_equal(p->overflowed, 3);
	gagg_cwnd_undo(p);
	assert_int_equal(p->overflowed, 4);
	gagg_cwnd_undo(p);
	assert_int_equal(p->overflowed, 4);
	for (i = 0; i < 5; i++)
		gagg_cwnd_cut(p, p->next_pn, GAGG_PATH_LOSS);
	assert_int_equal(p->overflowed, 0);
	free(p);
}

static void test_results_lost(void **state)
{
	struct gagg_path *p = new_path(0xfffffffc, 200);
	u64 now = GAGG_SEC, since;

	(void)state;
	/* nothing is under way: those of one round trip together as much as contributions of one */
	p->srtt = p->rtt_min = GAGG_MSEC;
	gagg_cwnd_results_lost(p, 1, now);
	assert_int_equal(p->cwnd, 200 - GAGG_PATH_LOSS);
	gagg_cwnd_results_lost(p, 5, now + GAGG_MSEC - 1);
	assert_int_equal(p->cwnd, 190);
	gagg_cwnd_results_lost(p, 1000000, now + GAGG_MSEC - 1);
	assert_int_equal(p->cwnd, 140);
	assert_int_equal(p->overflowed, 4);
	gagg_cwnd_results_lost(p, 2, now + GAGG_MSEC);
	assert_int_equal(p->cwnd, 133);

	/* contributions have cut for them, as long as these are not settled */
	now += GAGG_SEC;
	send_some(p, 20, now, 0);
	p->cwnd = 100;
	gagg_cwnd_cut(p, p->next_pn - 1, 0);
	gagg_cwnd_cut(p, p->cut_pn, 1000);
	assert_int_equal(p->cwnd, 95);
	p->cwnd = 100;
	gagg_cwnd_results_lost(p, 3, now);
	assert_int_equal(p->cwnd, 95);
	assert_int_equal(p->cut_from, 100);
	ack_list(p, p->next_pn, NULL, 0, 0, false, now);
	p->cwnd = 100;
	gagg_cwnd_results_lost(p, 1, now);
	assert_int_equal(p->cwnd, 95);
	assert_int_equal(p->cut_from, 100);
	/* and nothing is added to what is past */
	send_some(p, 20, now, 0);
	ack_list(p, p->next_pn, NULL, 0, 0, false, now);
	p->cwnd = 100;
	gagg_cwnd_results_lost(p, 1000000, now);
	assert_int_equal(p->cwnd, 100);

	/* nor to what was undone */
	gagg_cwnd_cut(p, p->next_pn, GAGG_PATH_LOSS);
	gagg_cwnd_undo(p);
	gagg_cwnd_results_lost(p, 3, now);
	assert_int_equal(p->cwnd, 100);

	/* a silence loses results, too: the window doubles afterwards to where it was */
	now += GAGG_SEC;
	since = now;
	p->slow_to = 100;
	p->overflowed = 0;
	send_some(p, 10, now, 0);
	gagg_path_timer(p, p->rto_at);
	now = p->rto_at;
	gagg_path_timer(p, now);
	assert_int_equal(p->timeouts, 2);
	take_all(p);
	gagg_cwnd_results_lost(p, 60, now);
	assert_int_equal(p->cwnd, GAGG_PATH_CWND_MIN);
	send_some(p, 2, now, 0);
	ack_list(p, p->next_pn, NULL, 0, 0, false, now);
	assert_int_equal(p->timeouts, 0);
	assert_true(now - since > gagg_path_rto(p));
	now += now - since;
	gagg_cwnd_results_lost(p, 60, now - 1);
	assert_int_equal(p->slow_to, 70);
	assert_int_equal(p->overflowed, 0);
	assert_true(p->cwnd > GAGG_PATH_CWND_MIN);
	/* what is lost later is lost */
	gagg_cwnd_results_lost(p, 60, now);
	assert_int_equal(p->overflowed, 4);
	free(p);
}

/* the old cut is forgotten in time: 2^31 numbers later it is not a new one */
static void test_cut_wrap(void **state)
{
	struct gagg_path *p = new_path(1, 200);
	u32 pn;

	(void)state;
	for (pn = 1; pn != 41; pn++) {
		send_some(p, 1, 1000, 0);
		ack_list(p, pn + 1, NULL, 0, 0, false, 2000);
	}
	assert_int_equal(p->cut_pn, p->una);
	free(p);
}

/* --- the receiving side ------------------------------------------------ */

static void test_rx(void **state)
{
	enum { N = 6000 };
	static u8 got[N];
	u32 i, k;

	(void)state;
	for (k = 0; k < 5; k++) {
		struct gagg_path *p = new_path(starts[k], 32);
		u32 top = 0, marks = 0;
		bool any = false;

		memset(got, 0, sizeof(got));
		for (i = 0; i < 4 * N; i++) {
			u64 x = gagg_mix64(k, i);
			u32 ahead = i / 4 + (x & 1 ? x >> 8 & 255 : 0);
			u32 forgotten;
			struct gagg_ack ack;
			bool fresh, marked;
			u32 j, base, aux;

			if (x % 101 == 0)	/* a jump */
				ahead += 700;
			if (ahead >= N)
				break;
			marked = (x >> 40) % 50 == 0;
			marks += marked;
			forgotten = p->rx_base - starts[k];
			fresh = gagg_path_rx(p, starts[k] + ahead, marked);
			assert_int_equal(fresh, ahead >= forgotten && !got[ahead]);
			assert_int_equal(p->ack_due, 1);
			got[ahead] = 1;
			if (!any || ahead > top)
				top = ahead;
			any = true;
			aux = gagg_path_ack_build(p, &ack);
			assert_int_equal(aux, fresh ? starts[k] + ahead : 0);
			assert_int_equal(p->ack_due, 0);
			assert_int_equal(p->rx_marks, marks);
			base = le32_to_cpu(ack.base) - starts[k];
			assert_int_equal(le32_to_cpu(ack.largest), starts[k] + top);
			/* the proof at the head of path.c */
			assert_true(base == 0 || base + 448 <= top);
			assert_true(top - base < 512);
			for (j = 0; j < 512; j++)
				assert_int_equal(ack.map[j / 64] >> (j % 64) & 1,
						 base + j < N && got[base + j]);
		}
		assert_true(i > N);
		free(p);
	}
}

/* --- a simulated link -------------------------------------------------- */

enum { ITEMS = 3000, WIRE = 4096, PNS = 1 << 17 };

struct datagram {
	u32 pn;		/* 0: an acknowledgement */
	u32 fresh, marks;
	bool ce, is_ack;
	struct gagg_ack ack;
};

enum fate { UNSENT, FLIES, LOST, ACKED, TAKEN };

static struct sim {
	struct gagg_path tx, rx;
	struct datagram wire[WIRE];	/* arrivals are events, which say where it is */
	u16 spare[WIRE];		/* places that are free */
	u32 nspare, order;
	u32 start;
	u64 seed, draws, now;
	u32 loss, dup, jitter, ce;	/* per 10000; ns */
	u64 delay, last_rx;
	bool mixed;	/* what arrives at the same time does so in any order */
	bool lazy;	/* losses stay in the log until the numbers run out */
	/* by pn - start */
	u8 fate[PNS], arrived[PNS];
	u32 item[PNS];
	u64 sent[PNS];
	/* by item */
	u8 done[ITEMS];
	u32 queue[PNS];
	u32 head, tail, todo;
	/* the acknowledgement under way */
	u32 fresh, acks;
	bool fresh_acked;
	/* oracle */
	u64 srtt, rttvar, last_cut;
	u32 samples, losses, spurious, cuts, timeouts, spans;
} sim;

static u32 draw(u32 n)
{
	return (u32)(gagg_mix64(sim.seed, ++sim.draws) % n);
}

static void put_on_wire(const struct datagram *d)
{
	u32 copies = draw(10000) < sim.loss ? 0 : draw(10000) < sim.dup ? 2 : 1;

	while (copies--) {
		struct event e = {
			.at = sim.now + sim.delay + (sim.jitter ? draw(sim.jitter) : 0),
			.key = sim.mixed ? draw(~0U) : sim.order++,
		};

		assert_true(sim.nspare);
		e.where = sim.spare[--sim.nspare];
		sim.wire[e.where] = *d;
		event_push(&e);
	}
}

static void sim_acked(void *ctx, const struct gagg_sent *s)
{
	u32 i = s->slot;

	assert_ptr_equal(ctx, &sim);
	assert_int_equal(s->round, ~i);
	assert_true(s->time == sim.sent[i]);
	assert_true(sim.fate[i] == FLIES || sim.fate[i] == LOST);
	assert_int_equal(sim.arrived[i], 1);		/* no false acknowledgement */
	sim.spurious += sim.fate[i] == LOST;
	sim.fate[i] = ACKED;
	sim.acks++;
	if (sim.start + i == sim.fresh)
		sim.fresh_acked = true;
	if (!sim.done[sim.item[i]]) {
		sim.done[sim.item[i]] = 1;
		sim.todo--;
	}
}

/* shadow what the path has given up; before it is taken */
static void sim_losses(void)
{
	u32 pn;

	for (pn = sim.tx.una; pn != sim.tx.next_pn; pn++) {
		u32 i = pn - sim.start;

		if (sim.tx.log[pn % GAGG_PATH_LOG].state == GAGG_SENT_LOST &&
		    sim.fate[i] == FLIES) {
			sim.fate[i] = LOST;
			sim.losses++;
		}
	}
}

static void sim_cut(u32 cwnd_before, u32 cut_before)
{
	/* growth may hide a cut: that one is not looked at */
	if (sim.tx.cwnd >= cwnd_before || sim.tx.cut_pn == cut_before)
		return;
	/* nor one that was none: the mark moves with what is settled */
	if (sim.tx.cut_pn != sim.tx.next_pn || sim.tx.una == sim.tx.next_pn)
		return;
	/* what brought this news had left after the last cut */
	assert_true(!sim.cuts || sim.now - sim.last_cut >= 2 * sim.delay ||
		    sim.now - sim.last_cut >= GAGG_PATH_RTO_MIN);
	sim.cuts++;
	sim.last_cut = sim.now;
}

static void sim_take(void)
{
	struct gagg_sent s;
	u32 last = 0, n = 0;

	if (sim.lazy && draw(1000))
		return;
	/* sometimes only a part is taken, or nothing */
	while (draw(8) && gagg_path_lost(&sim.tx, &s)) {
		assert_true(!n++ || s.slot > last);
		last = s.slot;
		assert_int_equal(s.round, ~s.slot);
		assert_int_equal(sim.fate[s.slot], LOST);
		sim.fate[s.slot] = TAKEN;
		if (!sim.done[sim.item[s.slot]])
			sim.queue[sim.tail++ % PNS] = sim.item[s.slot];
		check(&sim.tx);
	}
}

static void sim_send(void)
{
	while (sim.head != sim.tail && draw(64)) {
		u32 room = gagg_path_room(&sim.tx);
		struct gagg_sent what = { 0 };
		struct datagram d = { 0 };
		u32 i = sim.tx.next_pn - sim.start;
		u32 item = sim.queue[sim.head % PNS];

		assert_true(room <= sim.tx.cwnd || room <= sim.tx.probes);
		if (!room) {
			sim.spans += sim.tx.next_pn - sim.tx.una == GAGG_PATH_SPAN;
			break;
		}
		sim.head++;
		if (sim.done[item])
			continue;
		assert_true(sim.tx.flying < sim.tx.cwnd || sim.tx.probes);
		assert_true(i < PNS);
		what.slot = i;
		what.round = ~i;
		sim.item[i] = item;
		sim.sent[i] = sim.now;
		sim.fate[i] = FLIES;
		d.pn = gagg_path_send(&sim.tx, &what, sim.now);
		assert_int_equal(d.pn, sim.start + i);
		d.ce = draw(10000) < sim.ce;
		put_on_wire(&d);
		check(&sim.tx);
	}
}

static void sim_reply(void)
{
	struct datagram d = { .is_ack = true };

	d.fresh = gagg_path_ack_build(&sim.rx, &d.ack);
	d.marks = sim.rx.rx_marks;
	/* not caused by an arrival just now: not FRESH */
	if (sim.now != sim.last_rx)
		d.fresh = 0;
	/* nor if it is held up on its way out of the host */
	if (!draw(4)) {
		d.fresh = 0;
		sim.delay *= 10;
		put_on_wire(&d);
		sim.delay /= 10;
	} else {
		put_on_wire(&d);
	}
}

static void sim_oracle_sample(u64 rtt)
{
	u64 off = rtt > sim.srtt ? rtt - sim.srtt : sim.srtt - rtt;

	assert_true(rtt >= 2 * sim.delay);
	assert_true(rtt <= 2 * (sim.delay + sim.jitter));
	if (!sim.samples++) {
		sim.srtt = rtt;
		sim.rttvar = rtt / 2;
		return;
	}
	sim.rttvar = sim.rttvar - sim.rttvar / 4 + off / 4;
	sim.srtt = sim.srtt - sim.srtt / 8 + rtt / 8;
}

static void sim_arrive(const struct datagram *d)
{
	const struct gagg_sent *named = &sim.tx.log[d->fresh % GAGG_PATH_LOG];
	u32 cwnd = sim.tx.cwnd, cut_pn = sim.tx.cut_pn;
	u32 pn = d->pn, i = pn - sim.start;
	bool was_taken = d->fresh && named->state == GAGG_SENT_TAKEN &&
			 named->slot == d->fresh - sim.start;

	if (!d->is_ack) {
		u32 base = sim.rx.rx_base;
		bool news = gagg_path_rx(&sim.rx, pn, d->ce);

		if ((s32)(pn - base) >= 0)
			assert_int_equal(news, !sim.arrived[i]);
		else
			assert_false(news);
		/* what comes after it was forgotten: its sender has settled it */
		if (!news && !sim.arrived[i])
			assert_true(sim.fate[i] == TAKEN);
		else
			sim.arrived[i] = 1;
		/* a repetition is not what the acknowledgement names as FRESH */
		if (news)
			sim.last_rx = sim.now;
		if (draw(3))
			sim_reply();
		return;
	}
	sim.fresh = d->fresh;
	sim.fresh_acked = false;
	sim.acks = 0;
	gagg_path_ack(&sim.tx, &(struct gagg_receipt){
		.ack = &d->ack, .fresh = d->fresh, .marks = d->marks, .now = sim.now,
	}, sim_acked, &sim);
	/* found after it was taken for lost: a round trip as well */
	if (was_taken && named->state == GAGG_SENT_FREE)
		sim.fresh_acked = true;
	if (sim.fresh && sim.fresh_acked)
		sim_oracle_sample(sim.now - sim.sent[sim.fresh - sim.start]);
	assert_true(sim.tx.srtt == sim.srtt);
	assert_true(sim.tx.rttvar == sim.rttvar);
	/* of the last ten to twenty seconds */
	assert_true(!sim.samples || sim.tx.rtt_min >= 2 * sim.delay);
	if (sim.acks)
		assert_int_equal(sim.tx.backoff, 0);
	sim_losses();
	sim_cut(cwnd, cut_pn);
	check(&sim.tx);
}

static void sim_timer(void)
{
	u32 lost = sim.tx.lost, flying = sim.tx.flying, backoff = sim.tx.backoff;
	u32 cwnd = sim.tx.cwnd, cut_pn = sim.tx.cut_pn;

	gagg_path_timer(&sim.tx, sim.now);
	if (sim.tx.timeouts < 2)
		assert_in_range(sim.tx.lost - lost, 0, 2);
	assert_int_equal(flying - sim.tx.flying, sim.tx.lost - lost);
	if (sim.tx.lost != lost)
		assert_int_equal(sim.tx.backoff, backoff < 8 ? backoff + 1 : 8);
	sim.timeouts++;
	sim_losses();
	sim_cut(cwnd, cut_pn);
	check(&sim.tx);
}

static void sim_run(u64 seed)
{
	struct datagram d;
	u32 i, steps = 0;
	struct event e;

	event_free();
	memset(&sim, 0, sizeof(sim));
	for (i = 0; i < WIRE; i++)
		sim.spare[sim.nspare++] = (u16)i;
	sim.seed = seed;
	sim.start = starts[draw(5)];
	if (draw(2))
		sim.start -= draw(200);
	if (!sim.start)
		sim.start = 1;
	path_at(&sim.tx, sim.start, 2 + draw(255));
	path_at(&sim.rx, sim.start, 2);
	sim.delay = 20000 + draw(500000);
	sim.jitter = draw(3) ? draw(3) * draw(1000000) : 0;
	sim.loss = draw(3) ? draw(1500) : draw(4) ? 0 : 6000;
	sim.dup = draw(2) * draw(2000);
	sim.ce = draw(3) ? 0 : draw(1000);
	sim.mixed = draw(2);
	sim.lazy = !draw(3);
	sim.todo = ITEMS;
	for (i = 0; i < ITEMS; i++)
		sim.queue[sim.tail++] = i;

	while (sim.todo || sim.tx.flying || sim.tx.lost) {
		assert_true(steps++ < 1000000);
		sim_take();
		sim_send();
		if (sim.rx.ack_due && !draw(4)) {
			sim_reply();	/* the end of a batch */
			continue;
		}
		if (sim.tx.rto_at <= event_next() && sim.tx.rto_at != GAGG_NEVER) {
			sim.now = gagg_max64(sim.now, sim.tx.rto_at);
			sim_timer();
		} else if (event_pop(&e)) {
			sim.now = e.at;
			d = sim.wire[e.where];
			sim.spare[sim.nspare++] = (u16)e.where;
			sim_arrive(&d);
		}
	}
	/* acknowledged or lost, each of them */
	for (i = 0; i < sim.tx.next_pn - sim.start; i++)
		assert_true(sim.fate[i] == ACKED || sim.fate[i] == TAKEN);
	for (i = 0; i < ITEMS; i++)
		assert_int_equal(sim.done[i], 1);
}

static int print_seed(void **state)
{
	(void)state;
	printf("# the last seed was SEED=%llu\n", (unsigned long long)sim.seed);
	return 0;
}

static void test_link(void **state)
{
	const char *seed = getenv("SEED");
	u64 first = seed ? strtoull(seed, NULL, 0) : 1;
	u32 samples = 0, losses = 0, spurious = 0, cuts = 0, timeouts = 0, spans = 0;
	u32 n = seed ? 1 : full_or(60, 30), i;

	(void)state;
	for (i = 0; i < n; i++) {
		sim_run(first + i);
		samples += sim.samples;
		losses += sim.losses;
		spurious += sim.spurious;
		cuts += sim.cuts;
		timeouts += sim.timeouts;
		spans += sim.spans;
	}
	event_free();
	printf("# %u samples, %u losses (%u spurious), %u cuts, %u timeouts, "
	       "%u times out of numbers\n", samples, losses, spurious, cuts, timeouts, spans);
	/* the simulation has reached what it is about */
	if (!seed)
		assert_true(samples > 1000 && losses > 1000 && spurious > 100 &&
			    cuts > 100 && timeouts > 100 && spans > 100);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_init),
		cmocka_unit_test(test_ack_frees_window),
		cmocka_unit_test(test_sample),
		cmocka_unit_test(test_gap),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_time),
		cmocka_unit_test(test_nonsense),
		cmocka_unit_test(test_bound),
		cmocka_unit_test(test_timeout),
		cmocka_unit_test(test_probe),
		cmocka_unit_test(test_probe_time),
		cmocka_unit_test(test_span),
		cmocka_unit_test(test_old_mark),
		cmocka_unit_test(test_marks),
		cmocka_unit_test(test_cut),
		cmocka_unit_test(test_start),
		cmocka_unit_test(test_idle_after),
		cmocka_unit_test(test_calm),
		cmocka_unit_test(test_reordered),
		cmocka_unit_test(test_silent_acks),
		cmocka_unit_test(test_overtaken_and_silent),
		cmocka_unit_test(test_longer),
		cmocka_unit_test(test_asking),
		cmocka_unit_test(test_rtt_window),
		cmocka_unit_test(test_cut_wrap),
		cmocka_unit_test(test_busy),
		cmocka_unit_test(test_results_lost),
		cmocka_unit_test(test_rx),
		cmocka_unit_test_teardown(test_link, print_seed),
	};

	full = full_asked(argc, argv);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
