// SPDX-License-Identifier: GPL-2.0
/* links: agent/twin/limit.c */
/*
 * A socket, and the link behind it, in virtual time: what lies there leaves soon, and the
 * link has always something to carry.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../../agent/twin/limit.h"

#define MOST	(16 << 20)
#define BURST	65487

static struct limit limit;
static u64 now, idle;
static double lies, rate;	/* bytes; a nanosecond */
static double stuck;		/* bytes that never leave */
static u64 fed;

static void begin(double bits_per_second, int most)
{
	limit_init(&limit, most);
	now = GAGG_SEC;
	idle = 0;
	lies = 0;
	stuck = 0;
	fed = 0;
	rate = bits_per_second / 8 / 1e9;
}

static void pass(u64 ns)
{
	lies -= (double)ns * rate;
	if (lies < 0) {
		idle += (u64)(-lies / rate);
		lies = 0;
	}
	now += ns;
}

static int reads(void)
{
	return (int)(lies + stuck);
}

/* as queue_send() does, when more waits than ever can go */
static void send_all(void)
{
	int n;

	for (;;) {
		limit_look(&limit, reads(), now);
		if (reads() >= limit_most(&limit))
			break;
		for (n = reads(); n < limit_most(&limit);)
			n += limit.bytes / 2 < BURST ? limit.bytes / 2 : BURST;
		limit_sent(&limit, n - reads());
		fed += (u64)(n - reads());
		lies = n - stuck;
		if (limit.bytes < limit.most)
			limit_full(&limit, n, now);
		pass(2000);
	}
	limit_full(&limit, reads(), now);
}

static void run(u64 ns)
{
	u64 end = now + ns;

	while (now < end) {
		send_all();
		/* a timer is late, a little */
		pass(limit_at(&limit, reads(), now) - now + 20000);
	}
}

/* the last to come waits for all that lies there */
static u64 wait_ns(void)
{
	return (u64)(lies / rate);
}

static void limit__slow_links(void **state)
{
	static const double rates[] = { 1e6, 2e6, 1e7, 1e8 };
	unsigned int i, k;

	(void)state;
	for (i = 0; i < 4; i++) {
		begin(rates[i], MOST);
		for (k = 0; k < 100; k++) {
			send_all();
			assert_in_range(wait_ns(), 0, 3 * LIMIT_NS);
			run(50 * GAGG_MSEC);
		}
		assert_in_range(idle, 0, (now - GAGG_SEC) / 100);
	}
}

static void limit__fast_links(void **state)
{
	(void)state;
	begin(1e10, MOST);
	run(GAGG_SEC);
	assert_in_range(limit.bytes, MOST / 32, MOST);
	assert_in_range(idle, 0, 10 * GAGG_MSEC);
}

static void limit__small_sockets(void **state)
{
	(void)state;
	begin(1e9, 106496);
	run(GAGG_SEC);
	assert_int_equal(limit.bytes, 106496);
	/* the least that the kernel gives */
	begin(1e6, 2304);
	run(GAGG_SEC);
	assert_int_equal(limit.bytes, 2304);
}

/* a little, now and then, is no reason to grow */
static void limit__idle_links(void **state)
{
	unsigned int i;

	(void)state;
	begin(1e6, MOST);
	for (i = 0; i < 100; i++) {
		limit_look(&limit, (int)lies, now);
		lies = limit.bytes;
		limit_full(&limit, (int)lies, now);
		pass(GAGG_SEC);
	}
	assert_in_range(limit.bytes, LIMIT_LEAST, 2 * LIMIT_LEAST);
}

/* the link becomes slower, and fast again */
static void limit__changes(void **state)
{
	(void)state;
	begin(1e9, MOST);
	run(GAGG_SEC);
	assert_in_range(limit.bytes, MOST / 32, MOST);
	send_all();
	rate /= 1000;
	/* what lies there, of the other rate, must leave first */
	run(wait_ns() + GAGG_SEC);
	assert_in_range(wait_ns(), 0, 3 * LIMIT_NS);
	rate *= 1000;
	run(GAGG_SEC);
	assert_in_range(limit.bytes, MOST / 32, MOST);
}

/* what goes to a host that has no address lies there for seconds, and keeps nobody else out */
static void limit__of_others(void **state)
{
	(void)state;
	begin(1e10, MOST);
	stuck = 27000;
	run(GAGG_SEC);
	assert_in_range(idle, 0, 250 * GAGG_MSEC);
	assert_in_range(limit.bytes, MOST / 32, MOST);
	/* it is dropped, and comes again */
	stuck = 0;
	idle = 0;
	run(GAGG_SEC);
	stuck = 5000;
	run(GAGG_SEC);
	assert_in_range(idle, 0, 50 * GAGG_MSEC);
}

/* nobody wants anything for a while: the link is as fast as before */
static void limit__pauses(void **state)
{
	unsigned int i;

	(void)state;
	begin(1e10, MOST);
	run(GAGG_SEC);
	for (i = 0; i < 10; i++) {
		limit_idle(&limit);
		pass(100 * GAGG_MSEC);
		/* a HELLO */
		lies = 832;
		limit_look(&limit, reads(), now);
		assert_in_range(limit.bytes, MOST / 32, MOST);
		run(10 * GAGG_MSEC);
	}
}

/* nothing leaves at all: as little as can be waits there, for as long as it takes */
static void limit__dead_links(void **state)
{
	(void)state;
	begin(1e9, MOST);
	run(GAGG_SEC);
	rate = 0;
	fed = 0;
	run(10 * GAGG_SEC);
	assert_int_equal(limit.bytes, LIMIT_LEAST);
	assert_in_range(fed, 0, MOST);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(limit__slow_links),
		cmocka_unit_test(limit__fast_links),
		cmocka_unit_test(limit__small_sockets),
		cmocka_unit_test(limit__idle_links),
		cmocka_unit_test(limit__changes),
		cmocka_unit_test(limit__of_others),
		cmocka_unit_test(limit__pauses),
		cmocka_unit_test(limit__dead_links),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("limit", tests, NULL, NULL);
}
