// SPDX-License-Identifier: GPL-2.0
/* links: agent/gaggd/loop.c; libs: liburing -Wl,--wrap=io_uring_submit -Wl,--wrap=io_uring_submit_and_wait */
/*
 * An event loop whose kernel has no memory for a request, now.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cmocka.h>

#include "gaggd/loop.h"

/* more than the loop has entries, so that arming them has to submit */
#define EVENTS	600

static int refusals, refused, with;
static struct loop loop;
static int fired;

int __real_io_uring_submit(struct io_uring *ring);
int __real_io_uring_submit_and_wait(struct io_uring *ring, unsigned int n);

static bool refuse_now(void)
{
	if (!refusals)
		return false;
	refusals--;
	refused++;
	return true;
}

int __wrap_io_uring_submit(struct io_uring *ring)
{
	return refuse_now() ? with : __real_io_uring_submit(ring);
}

int __wrap_io_uring_submit_and_wait(struct io_uring *ring, unsigned int n)
{
	return refuse_now() ? with : __real_io_uring_submit_and_wait(ring, n);
}

static void fire(struct loop_event *ev, int res)
{
	(void)ev;
	assert_true(res >= 0);
	if (++fired == EVENTS)
		loop_stop(&loop);
}

/* all of them are armed, and fire, though the kernel says @err @times before each step */
static void goes_on(int err, int times)
{
	static struct loop_event events[EVENTS];
	int i, fd = eventfd(1, EFD_CLOEXEC);

	with = err;
	refused = 0;
	fired = 0;
	assert_int_equal(loop_init(&loop), 0);
	for (i = 0; i < EVENTS; i++) {
		refusals = times;
		events[i].fire = fire;
		loop_readable(&loop, &events[i], fd);
	}
	refusals = times;
	assert_int_equal(loop_run(&loop), 0);
	assert_int_equal(fired, EVENTS);
	assert_true(refused >= 2 * times);
	loop_exit(&loop);
	close(fd);
}

static void no_memory_now(void **state)
{
	(void)state;
	goes_on(-EAGAIN, 3);
	goes_on(-EBUSY, 3);
	goes_on(-EINTR, 3);
}

static void another_error__ends_it(void **state)
{
	(void)state;
	assert_int_equal(loop_init(&loop), 0);
	with = -EBADF;
	refusals = 1;
	assert_int_equal(loop_run(&loop), -EBADF);
	loop_exit(&loop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_memory_now),
		cmocka_unit_test(another_error__ends_it),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("loop", tests, NULL, NULL);
}
