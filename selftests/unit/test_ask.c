// SPDX-License-Identifier: GPL-2.0
/* links: kmod/core/group/times.c; libs: */
/* Arguments of calls: what must be zero in them, and what a host answers of itself. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ask.h"

#define NOT	GAGG_REFUSE_NOT
#define BAD	GAGG_REFUSE_BAD

static union gagg_ask arg;

static int clear(void **state)
{
	(void)state;
	memset(&arg, 0, sizeof(arg));
	return 0;
}

/* @field, which is of @number's argument: it must be 0 */
#define REFUSES(number, field)							\
do {										\
	clear(NULL);								\
	assert_int_equal(gagg_ask_check(number, &arg), NOT);			\
	arg.field = 1;								\
	assert_int_equal(gagg_ask_check(number, &arg), BAD);			\
	memset(&arg.field, 0x80, sizeof(arg.field));				\
	assert_int_equal(gagg_ask_check(number, &arg), BAD);			\
} while (0)

static void check__what_is_reserved(void **state)
{
	(void)state;
	REFUSES(GAGG_IOC_FEATURES, features.reserved[0]);
	REFUSES(GAGG_IOC_FEATURES, features.reserved[1]);
	REFUSES(GAGG_IOC_ATTACH, attach.flags);
	REFUSES(GAGG_IOC_ATTACH, attach.reserved);
	REFUSES(GAGG_IOC_DETACH, detach.flags);
	REFUSES(GAGG_IOC_CHANNEL, channel.flags);
	REFUSES(GAGG_IOC_CHANNEL, channel.reserved);
	REFUSES(GAGG_IOC_STATUS, status.blocked);
	REFUSES(GAGG_IOC_TIMES, times.reserved);
}

/* what is written by the host may be anything, and so may what depends on the session */
static void check__what_is_not(void **state)
{
	(void)state;
	memset(&arg, 0xff, sizeof(arg));
	arg.features.reserved[0] = 0;
	arg.features.reserved[1] = 0;
	assert_int_equal(gagg_ask_check(GAGG_IOC_FEATURES, &arg), NOT);
	memset(&arg, 0xff, sizeof(arg));
	arg.attach.flags = 0;
	arg.attach.reserved = 0;
	assert_int_equal(gagg_ask_check(GAGG_IOC_ATTACH, &arg), NOT);
	memset(&arg, 0xff, sizeof(arg));
	arg.detach.flags = 0;
	assert_int_equal(gagg_ask_check(GAGG_IOC_DETACH, &arg), NOT);
	memset(&arg, 0xff, sizeof(arg));
	arg.channel.flags = 0;
	arg.channel.reserved = 0;
	assert_int_equal(gagg_ask_check(GAGG_IOC_CHANNEL, &arg), NOT);
	memset(&arg, 0xff, sizeof(arg));
	arg.status.blocked = 0;
	assert_int_equal(gagg_ask_check(GAGG_IOC_STATUS, &arg), NOT);
	memset(&arg, 0xff, sizeof(arg));
	assert_int_equal(gagg_ask_check(GAGG_IOC_CHANNEL_FREE, &arg), NOT);
}

static void check__share(void **state)
{
	(void)state;
	arg.times.share = 3;
	arg.times.batch = 8;
	assert_int_equal(gagg_ask_check(GAGG_IOC_TIMES, &arg), BAD);
	arg.times.flags = GAGG_TIMES_SHARE;
	assert_int_equal(gagg_ask_check(GAGG_IOC_TIMES, &arg), NOT);
	arg.times.share = 9;
	assert_int_equal(gagg_ask_check(GAGG_IOC_TIMES, &arg), BAD);
	arg.times.share = 3;
	arg.times.flags |= 2;
	assert_int_equal(gagg_ask_check(GAGG_IOC_TIMES, &arg), BAD);
}

/* a number that is no call's, or has the size of another version, is judged by the host */
static void check__other_numbers(void **state)
{
	(void)state;
	memset(&arg, 0xff, sizeof(arg));
	assert_int_equal(gagg_ask_check(1, &arg), NOT);
	assert_int_equal(gagg_ask_check(_IOWR(GAGG_IOC_MAGIC, 3, u32), &arg), NOT);
	assert_int_equal(gagg_ask_check(GAGG_IOC_DETACH, &arg), BAD);
}

static void features__of_a_host(void **state)
{
	const u64 all = (GAGG_FEAT_COPIES << 1) - 1;

	(void)state;
	gagg_ask_tell_features(&arg.features, 0);
	assert_int_equal(arg.features.abi, GAGG_ABI);
	assert_int_equal(arg.features.features, all & ~GAGG_FEAT_URING);
	assert_int_equal(arg.features.wire_min, GAGG_WIRE_VERSION);
	assert_int_equal(arg.features.wire_max, GAGG_WIRE_VERSION);
	gagg_ask_tell_features(&arg.features, GAGG_FEAT_URING);
	assert_int_equal(arg.features.features, all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(check__what_is_reserved, clear),
		cmocka_unit_test_setup(check__what_is_not, clear),
		cmocka_unit_test_setup(check__share, clear),
		cmocka_unit_test_setup(check__other_numbers, clear),
		cmocka_unit_test_setup(features__of_a_host, clear),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
