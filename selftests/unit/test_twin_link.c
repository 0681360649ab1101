// SPDX-License-Identifier: GPL-2.0
/* links: agent/lib/twin.c agent/lib/process.c agent/lib/sys.c agent/lib/message.c; libs: -pthread */
/*
 * libgagg's end of a session of gagg-twin, when the other end is stopped, or gone.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "deadline.h"
#include "sys.h"
#include "twin_proto.h"

#define PATIENCE_MS	200
#define MOST_MS		25000	/* on a busy machine; without a limit it is 30 s */

static int ours, theirs;	/* libgagg's end, the twin's */
static struct twin_page *page;	/* what both see, since answer_hello() */

static int pair(void **state)
{
	int fds[2];

	(void)state;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds))
		return -1;
	ours = fds[0];
	theirs = fds[1];
	page = NULL;
	return 0;
}

static int pair_ends(void **state)
{
	(void)state;
	sys_close(ours);
	if (page)
		munmap(page, sizeof(*page));
	return theirs >= 0 && close(theirs);
}

/* the answer to TWIN_HELLO, before it is asked */
static void answer_hello(void)
{
	struct twin_message head = { .request = TWIN_HELLO };
	struct iovec iov = { &head, sizeof(head) };
	union {
		char buf[CMSG_SPACE(TWIN_FDS * sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.buf,
			      .msg_controllen = sizeof(control.buf) };
	int fds[TWIN_FDS] = { memfd_create("page", MFD_CLOEXEC), eventfd(0, EFD_CLOEXEC),
			      eventfd(0, EFD_CLOEXEC) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

	assert_int_equal(ftruncate(fds[0], sizeof(*page)), 0);
	page = mmap(NULL, sizeof(*page), PROT_READ | PROT_WRITE, MAP_SHARED, fds[0], 0);
	assert_ptr_not_equal(page, MAP_FAILED);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(sizeof(fds));
	memcpy(CMSG_DATA(c), fds, sizeof(fds));
	assert_int_equal(sendmsg(theirs, &msg, 0), sizeof(head));
	for (int i = 0; i < TWIN_FDS; i++)
		close(fds[i]);
}

static void answer(uint32_t request, const void *arg, size_t size)
{
	struct twin_message head = { .request = request };
	struct iovec iov[2] = { { &head, sizeof(head) }, { (void *)arg, size } };
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };

	assert_int_equal(sendmsg(theirs, &msg, 0), sizeof(head) + size);
}

/* what libgagg has asked */
static uint32_t asked(void)
{
	char buf[4096];
	struct twin_message head;

	assert_true(recv(theirs, buf, sizeof(buf), MSG_DONTWAIT) >= (ssize_t)sizeof(head));
	memcpy(&head, buf, sizeof(head));
	return head.request;
}

static uint64_t ms_since(uint64_t begin)
{
	return (deadline_now() - begin) / 1000000;
}

static int status(void)
{
	struct gagg_ioc_status st = { .size = sizeof(st) };

	return sys_command(ours, GAGG_IOC_STATUS, &st);
}

/* on a busy machine a try may take long that waits for nothing; returns how many there were */
static unsigned int waits_for_nothing(void (*fn)(void))
{
	unsigned int tries = 0;
	uint64_t begin, ms;

	do {
		begin = deadline_now();
		fn();
		ms = ms_since(begin);
	} while (++tries < 20 && ms > PATIENCE_MS / 2);
	assert_in_range(ms, 0, PATIENCE_MS / 2);
	return tries;
}

static void nothing_is_asked(void)
{
	assert_int_equal(status(), -ETIMEDOUT);
	assert_null(sys_map(ours, 0, 4096, false));
	assert_int_equal(errno, ETIMEDOUT);
}

static void says_that_it_leaves(void)
{
	sys_leave(ours);
}

static void link__silent_from_the_start(void **state)
{
	uint64_t begin = deadline_now();

	(void)state;
	assert_int_equal(sys_begin(ours, PATIENCE_MS), -ETIMEDOUT);
	assert_in_range(ms_since(begin), PATIENCE_MS - 1, MOST_MS);
}

static void link__silent_later(void **state)
{
	struct gagg_ioc_status st = { .size = sizeof(st), .epoch = 7 };
	unsigned int leaves;
	uint64_t begin;

	(void)state;
	answer_hello();
	assert_int_equal(sys_begin(ours, PATIENCE_MS), 0);
	assert_int_equal(asked(), TWIN_HELLO);
	answer((uint32_t)GAGG_IOC_STATUS, &st, sizeof(st));
	assert_int_equal(status(), 0);
	begin = deadline_now();
	assert_int_equal(status(), -ETIMEDOUT);
	assert_in_range(ms_since(begin), PATIENCE_MS - 1, MOST_MS);
	/* nobody waits again for one that has not answered */
	waits_for_nothing(nothing_is_asked);
	/* a trainer that leaves says so, and does not wait */
	leaves = waits_for_nothing(says_that_it_leaves);
	assert_int_equal(asked(), (uint32_t)GAGG_IOC_STATUS);
	assert_int_equal(asked(), (uint32_t)GAGG_IOC_STATUS);
	while (leaves--)
		assert_int_equal(asked(), (uint32_t)GAGG_IOC_DETACH);
}

/* what comes too late is not taken for the answer to the next request, which is asked anew */
static void answers_late(uint64_t late, uint64_t in_time)
{
	struct gagg_ioc_status st = { .size = sizeof(st), .epoch = late };

	assert_int_equal(asked(), (uint32_t)GAGG_IOC_STATUS);
	answer((uint32_t)GAGG_IOC_STATUS, &st, sizeof(st));
	st.epoch = in_time;
	answer((uint32_t)GAGG_IOC_STATUS, &st, sizeof(st));
	st.epoch = 0;
	assert_int_equal(sys_command(ours, GAGG_IOC_STATUS, &st), 0);
	assert_int_equal(st.epoch, in_time);
	assert_int_equal(asked(), (uint32_t)GAGG_IOC_STATUS);
}

static void link__goes_on(void **state)
{
	struct gagg_ioc_status st = { .size = sizeof(st) };
	uint64_t begin;

	(void)state;
	answer_hello();
	assert_int_equal(sys_begin(ours, 100 * SYS_LOOK_MS), 0);
	assert_int_equal(asked(), TWIN_HELLO);
	begin = deadline_now();
	assert_int_equal(sys_look(ours, GAGG_IOC_STATUS, &st), -ETIMEDOUT);
	assert_in_range(ms_since(begin), SYS_LOOK_MS - 1, 60 * SYS_LOOK_MS);
	answers_late(1, 2);
}

static void link__goes_on_after_silence(void **state)
{
	struct gagg_ioc_status st = { .size = sizeof(st) };
	uint64_t begin;

	(void)state;
	answer_hello();
	assert_int_equal(sys_begin(ours, PATIENCE_MS), 0);
	assert_int_equal(asked(), TWIN_HELLO);
	/* not longer than any other request */
	assert_int_equal(sys_look(ours, GAGG_IOC_STATUS, &st), -ETIMEDOUT);
	assert_int_equal(status(), -ETIMEDOUT);
	answers_late(1, 2);
	/* and it has all of the time again */
	begin = deadline_now();
	assert_int_equal(status(), -ETIMEDOUT);
	assert_in_range(ms_since(begin), PATIENCE_MS - 1, MOST_MS);
}

static void link__leaves_one_that_does_not_read(void **state)
{
	char big[4096] = { 0 };

	(void)state;
	answer_hello();
	assert_int_equal(sys_begin(ours, PATIENCE_MS), 0);
	while (send(ours, big, sizeof(big), MSG_DONTWAIT) >= 0)
		;
	waits_for_nothing(says_that_it_leaves);
}

/* what has come too late is read first, else the close would be told before the last words */
static void link__leaves_with_a_late_answer(void **state)
{
	struct gagg_ioc_status st = { .size = sizeof(st) };

	(void)state;
	answer_hello();
	assert_int_equal(sys_begin(ours, PATIENCE_MS), 0);
	assert_int_equal(asked(), TWIN_HELLO);
	assert_int_equal(status(), -ETIMEDOUT);
	assert_int_equal(asked(), (uint32_t)GAGG_IOC_STATUS);
	answer((uint32_t)GAGG_IOC_STATUS, &st, sizeof(st));
	sys_leave(ours);
	sys_close(ours);
	ours = -1;
	assert_int_equal(asked(), (uint32_t)GAGG_IOC_DETACH);
}

static void link__gone(void **state)
{
	struct gagg_ioc_wait wait = { .size = sizeof(wait), .channel = GAGG_WAIT_EPOCH,
				      .timeout_ns = UINT64_MAX };

	(void)state;
	answer_hello();
	assert_int_equal(sys_begin(ours, PATIENCE_MS), 0);
	close(theirs);
	theirs = -1;
	assert_int_equal(status(), -EPIPE);
	assert_int_equal(sys_ioctl(ours, GAGG_IOC_WAIT, &wait), -ENOTCONN);
	sys_leave(ours);
}

/* a seat that runs, with an op of 8 chunks; waits for the chunks up to @chunk */
static int wait_for_chunk(bool store, uint64_t chunk)
{
	struct gagg_ioc_submit submit = { .size = sizeof(submit), .channel = 5, .chunks = 8 };
	struct gagg_ioc_wait wait = { .size = sizeof(wait), .channel = 5, .chunk = chunk,
				      .timeout_ns = 1000 };

	answer_hello();
	assert_int_equal(sys_begin(ours, PATIENCE_MS), 0);
	page->state = TWIN_RUNNING;
	page->seat[3] = (struct twin_seat){ .channel = 5, .present = 1, .store = store };
	assert_int_equal(sys_ioctl(ours, GAGG_IOC_SUBMIT, &submit), 0);
	return sys_ioctl(ours, GAGG_IOC_WAIT, &wait);
}

/* as the module has it: a wait that could never end is refused */
static void link__chunks_of_a_ring(void **state)
{
	(void)state;
	assert_int_equal(wait_for_chunk(false, 8), -ETIMEDOUT);
}

static void link__chunks_that_no_op_has(void **state)
{
	(void)state;
	assert_int_equal(wait_for_chunk(false, 9), -EINVAL);
}

static void link__chunks_of_a_store(void **state)
{
	(void)state;
	assert_int_equal(wait_for_chunk(true, 1), -EINVAL);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, pair, pair_ends)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(link__silent_from_the_start),
		TEST(link__silent_later),
		TEST(link__goes_on),
		TEST(link__goes_on_after_silence),
		TEST(link__leaves_one_that_does_not_read),
		TEST(link__leaves_with_a_late_answer),
		TEST(link__gone),
		TEST(link__chunks_of_a_ring),
		TEST(link__chunks_that_no_op_has),
		TEST(link__chunks_of_a_store),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("twin_link", tests, NULL, NULL);
}
