// SPDX-License-Identifier: GPL-2.0
/* links: agent/lib/message.c; libs: -pthread */
/*
 * Messages to a daemon that does not accept, read or answer, while a signal comes
 * every millisecond: they end in time, and none ends early.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "deadline.h"
#include "full.h"
#include "message.h"

static volatile sig_atomic_t signals;

static void caught(int sig)
{
	(void)sig;
	signals++;
}

/* without SA_RESTART */
static int shower(void **state)
{
	const struct sigaction act = { .sa_handler = caught };
	const struct itimerval every = { { 0, 1000 }, { 0, 1000 } };

	(void)state;
	signals = 0;
	return sigaction(SIGALRM, &act, NULL) || setitimer(ITIMER_REAL, &every, NULL);
}

static int shower_ends(void **state)
{
	const struct itimerval never = { { 0, 0 }, { 0, 0 } };

	(void)state;
	return setitimer(ITIMER_REAL, &never, NULL);
}

/* what is to be done later, without a signal, when the other thread has had some */
struct later {
	pthread_t thread;
	void (*what)(int fd);
	int fd;
};

static void *do_later(void *arg)
{
	const struct later *l = arg;
	uint64_t at = deadline_in(50);

	while (deadline_left(at) || signals <= 10)
		usleep(1000);
	l->what(l->fd);
	return NULL;
}

static void later(struct later *l, void (*what)(int fd), int fd)
{
	sigset_t all, old;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	l->what = what;
	l->fd = fd;
	assert_int_equal(pthread_create(&l->thread, NULL, do_later, l), 0);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
}

/*
 * A timeout of 100 ms has passed, and not many times that. Is it to be tried again? A machine that
 * is busy lets a process have few signals.
 */
static bool in_time(uint64_t begin)
{
	uint64_t ms = (deadline_now() - begin) / 1000000;

	assert_in_range(ms, 99, 60000);
	return signals <= 10;
}

/* --- connect ---------------------------------------------------------------- */

static struct sockaddr_un address = { .sun_family = AF_UNIX };
static socklen_t address_len;

static int connecting(void)
{
	return socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
}

/* listens, and has one connection more than it likes */
static int full_listener(int *first)
{
	int fd = connecting();

	/* the kernel finds a name */
	address_len = sizeof(address.sun_family);
	assert_int_equal(bind(fd, (struct sockaddr *)&address, address_len), 0);
	address_len = sizeof(address);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &address_len), 0);
	assert_int_equal(listen(fd, 0), 0);
	*first = connecting();
	assert_int_equal(message_connect(*first, (struct sockaddr *)&address, address_len,
					 DEADLINE_NEVER), 0);
	return fd;
}

static void connect__nobody_accepts(void **state)
{
	int first, listener = full_listener(&first), fd = connecting();
	uint64_t begin;

	(void)state;
	do {
		begin = deadline_now();
		assert_int_equal(message_connect(fd, (struct sockaddr *)&address, address_len,
						 deadline_in(100)), -ETIMEDOUT);
	} while (in_time(begin));
	close(fd);
	close(first);
	close(listener);
}

static void accept_one(int fd)
{
	close(accept(fd, NULL, NULL));
}

static void connect__accepted_late(void **state)
{
	int first, listener = full_listener(&first), fd = connecting();
	struct later l;

	(void)state;
	later(&l, accept_one, listener);
	assert_int_equal(message_connect(fd, (struct sockaddr *)&address, address_len,
					 deadline_in(120000)), 0);
	assert_true(signals > 10);
	pthread_join(l.thread, NULL);
	close(fd);
	close(first);
	close(listener);
}

/* --- send and receive --------------------------------------------------------- */

static char buffer[4096];
static struct iovec iov = { buffer, sizeof(buffer) };
static struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };

static void pair(int fds[2])
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
}

static void stuff(int fd)
{
	while (send(fd, buffer, sizeof(buffer), MSG_DONTWAIT) >= 0)
		;
	assert_int_equal(errno, EAGAIN);
}

static void send__nobody_reads(void **state)
{
	uint64_t begin;
	int fds[2];

	(void)state;
	pair(fds);
	stuff(fds[0]);
	do {
		begin = deadline_now();
		assert_int_equal(message_send(fds[0], &msg, deadline_in(100)), -ETIMEDOUT);
	} while (in_time(begin));
	close(fds[0]);
	close(fds[1]);
}

static void read_all(int fd)
{
	char in[sizeof(buffer)];

	while (recv(fd, in, sizeof(in), MSG_DONTWAIT) > 0)
		;
}

static void send__read_late(void **state)
{
	struct later l;
	int fds[2];

	(void)state;
	pair(fds);
	stuff(fds[0]);
	later(&l, read_all, fds[1]);
	assert_int_equal(message_send(fds[0], &msg, deadline_in(120000)), sizeof(buffer));
	assert_true(signals > 10);
	pthread_join(l.thread, NULL);
	close(fds[0]);
	close(fds[1]);
}

/* without descriptors */
static ssize_t receive(int fd, uint64_t deadline)
{
	return message_receive(fd, &(struct message_room){ msg.msg_iov, 1, NULL, 0 }, deadline);
}

static void receive__nobody_answers(void **state)
{
	uint64_t begin;
	int fds[2];

	(void)state;
	pair(fds);
	do {
		begin = deadline_now();
		assert_int_equal(receive(fds[0], deadline_in(100)), -ETIMEDOUT);
	} while (in_time(begin));
	close(fds[1]);
	assert_int_equal(receive(fds[0], deadline_in(100)), 0);
	assert_int_equal(message_send(fds[0], &msg, deadline_in(100)), -EPIPE);
	close(fds[0]);
}

static void answer(int fd)
{
	assert_int_equal(send(fd, "late", 4, 0), 4);
}

static void receive__answered_late(void **state)
{
	struct later l;
	int fds[2];

	(void)state;
	pair(fds);
	later(&l, answer, fds[1]);
	assert_int_equal(receive(fds[0], DEADLINE_NEVER), 4);
	assert_true(signals > 10);
	pthread_join(l.thread, NULL);
	close(fds[0]);
	close(fds[1]);
}

static void *says_and_closes(void *arg)
{
	int *fd = arg, at;

	while ((at = __atomic_exchange_n(fd, -2, __ATOMIC_ACQ_REL)) != -1) {
		if (at == -2)
			continue;
		assert_int_equal(send(at, "last", 4, MSG_NOSIGNAL), 4);
		close(at);
	}
	return NULL;
}

/* a sender that closes at once is heard by a reader that asks all the time, in between */
static void receive__the_last_message(void **state)
{
	int fds[2], theirs = -2, i;
	uint64_t end = deadline_in(full_or(2000, 400));
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, says_and_closes, &theirs), 0);
	for (i = 0; i < 100000 && deadline_left(end); i++) {
		ssize_t n;

		pair(fds);
		__atomic_store_n(&theirs, fds[1], __ATOMIC_RELEASE);
		do {
			n = message_try(fds[0], &msg, 0);
		} while (n < 0 && errno == EAGAIN);
		assert_int_equal(n, 4);
		close(fds[0]);
	}
	while (__atomic_load_n(&theirs, __ATOMIC_ACQUIRE) != -2)
		;
	__atomic_store_n(&theirs, -1, __ATOMIC_RELEASE);
	pthread_join(thread, NULL);
}

/* @n of them, with one byte */
static void pass(int fd, int n)
{
	union {
		char buf[CMSG_SPACE(8 * sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	struct iovec iov = { "x", 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = control.buf,
			    .msg_controllen = CMSG_SPACE(n * sizeof(int)) };
	struct cmsghdr *c = CMSG_FIRSTHDR(&m);
	int i;

	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(n * sizeof(int));
	for (i = 0; i < n; i++)
		memcpy(CMSG_DATA(c) + i * sizeof(int), &fd, sizeof(fd));
	assert_int_equal(sendmsg(fd, &m, 0), 1);
}

static void receive__descriptors(void **state)
{
	int fds[2], got[MESSAGE_FDS], n, i, lowest;
	const struct message_room room = { msg.msg_iov, 1, got, 2 };

	(void)state;
	pair(fds);
	for (n = 1; n <= 8; n++) {
		pass(fds[1], n);
		got[2] = 77;
		assert_int_equal(message_receive(fds[0], &room, DEADLINE_NEVER), 1);
		for (i = 0; i < 2; i++) {
			if (i >= n) {
				assert_int_equal(got[i], -1);
				continue;
			}
			assert_int_equal(fcntl(got[i], F_GETFD), FD_CLOEXEC);
			close(got[i]);
		}
		assert_int_equal(got[2], 77);
		/* those that nobody wanted are closed */
		lowest = dup(fds[0]);
		assert_int_equal(lowest, fds[1] + 1);
		close(lowest);
	}
	close(fds[0]);
	close(fds[1]);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, shower, shower_ends)

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		TEST(connect__nobody_accepts),
		TEST(connect__accepted_late),
		TEST(send__nobody_reads),
		TEST(send__read_late),
		TEST(receive__nobody_answers),
		TEST(receive__answered_late),
		TEST(receive__the_last_message),
		TEST(receive__descriptors),
	};

	full = full_asked(argc, argv);
	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("message", tests, NULL, NULL);
}
