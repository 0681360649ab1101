// SPDX-License-Identifier: GPL-2.0
/* links: agent/bench/usage.c; libs: -pthread */
/* A process tells gagg-bench what a machine has spent, where /proc/stat cannot. */
#define _GNU_SOURCE
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <termios.h>
#include <unistd.h>

#include "bench/usage.h"

#define ANSWERS	3

/* an empty line is the question; anything else is answered with -1 */
static void *answer(void *arg)
{
	int fd = *(int *)arg;
	char c, text[32];

	for (int i = 0; i < ANSWERS; i++) {
		if (read(fd, &c, 1) != 1)
			break;
		snprintf(text, sizeof(text), "%lld\n", c == '\n' ? 5000000000LL + i : -1);
		if (write(fd, text, strlen(text)) < 0)
			break;
	}
	return NULL;
}

static void test_meter(void **state)
{
	(void)state;
	int fd = posix_openpt(O_RDWR | O_NOCTTY), kept;
	struct termios raw;
	pthread_t thread;
	struct usage u;

	assert_true(fd >= 0 && !grantpt(fd) && !unlockpt(fd));
	kept = open(ptsname(fd), O_RDWR | O_NOCTTY);
	assert_true(kept >= 0 && !tcgetattr(kept, &raw));
	cfmakeraw(&raw);
	assert_int_equal(tcsetattr(kept, TCSANOW, &raw), 0);
	assert_int_equal(pthread_create(&thread, NULL, answer, &fd), 0);

	assert_int_equal(usage_init(ptsname(fd)), 0);
	for (int i = 0; i < ANSWERS; i++) {
		usage_machine(&u);
		assert_int_equal(u.busy, 5000000000LL + i);
	}
	pthread_join(thread, NULL);
	close(kept);
	close(fd);
}

static void test_no_file(void **state)
{
	(void)state;

	assert_int_equal(usage_init("/nonexistent"), -ENOENT);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_file),
		cmocka_unit_test(test_meter),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
