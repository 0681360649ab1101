// SPDX-License-Identifier: GPL-2.0
/* links: agent/gaggd/log.c agent/gaggd/outlet.c; libs: libsystemd -Wl,--wrap=sd_journal_stream_fd -Wl,--wrap=clock_gettime */
/*
 * A log that nobody reads, or that everybody writes, stops nothing.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "gaggd/log.h"

static int saved, reader;
static bool stands_still;	/* time */

int __real_clock_gettime(clockid_t clock, struct timespec *now);
int __wrap_clock_gettime(clockid_t clock, struct timespec *now);

int __wrap_clock_gettime(clockid_t clock, struct timespec *now)
{
	if (!stands_still)
		return __real_clock_gettime(clock, now);
	*now = (struct timespec){ .tv_sec = 1000 };
	return 0;
}

/* standard error goes to @to until stderr_back() */
static void stderr_to(int to)
{
	saved = dup(STDERR_FILENO);
	assert_int_equal(dup2(to, STDERR_FILENO), STDERR_FILENO);
	close(to);
	log_open(LOG_T_STDERR, LOG_L_INFO);
}

static void stderr_back(void)
{
	dup2(saved, STDERR_FILENO);
	close(saved);
	log_open(LOG_T_STDERR, LOG_L_INFO);
}

static void to_pipe(void)
{
	int fds[2];

	assert_int_equal(pipe(fds), 0);
	reader = fds[0];
	stderr_to(fds[1]);
}

static void to_socket(void)
{
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	reader = fds[0];
	stderr_to(fds[1]);
}

static char text[1 << 20];

/* what there is to read, into @text */
static void read_all(void)
{
	ssize_t len = 0, got;

	fcntl(reader, F_SETFL, O_NONBLOCK);
	while ((got = read(reader, text + len, sizeof(text) - 1 - (size_t)len)) > 0)
		len += got;
	text[len] = 0;
}

/* how often @what is there */
static unsigned int count(const char *what)
{
	unsigned int n = 0;
	char *at;

	for (at = text; (at = strstr(at, what)); at++)
		n++;
	return n;
}

static void unread(void)
{
	int i;

	for (i = 0; i < 10000; i++)
		log_info("a line that nobody reads, %d", i);
	read_all();
	assert_in_range(count("nobody reads"), 10, 9999);
	log_info("the next");
	read_all();
	assert_int_equal(count("lines were lost"), 1);
	close(reader);
	/* SIGPIPE would be the end */
	log_info("nobody is there");
	stderr_back();
}

static void log__pipe(void **state)
{
	(void)state;
	to_pipe();
	/* what others do with what they share does not reach us */
	assert_int_equal(fcntl(STDERR_FILENO, F_SETFL, 0), 0);
	unread();
}

static void log__socket(void **state)
{
	(void)state;
	to_socket();
	unread();
}

/* the journal, as a stream */
static int journal_end = -1, connections;

int __wrap_sd_journal_stream_fd(const char *identifier, int priority, int prefix)
{
	int fd = journal_end;

	(void)identifier;
	assert_int_equal(priority, LOG_L_INFO);
	assert_true(prefix);
	journal_end = -1;
	connections += fd >= 0;
	return fd >= 0 ? fd : -ECONNREFUSED;
}

static void journal_starts(void)
{
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	reader = fds[0];
	journal_end = fds[1];
}

static void log__journal(void **state)
{
	int i;

	(void)state;
	journal_starts();
	log_open(LOG_T_JOURNAL, LOG_L_INFO);
	/* one that is stopped */
	for (i = 0; i < 10000; i++)
		log_info("a line that nobody reads, %d", i);
	read_all();
	assert_in_range(count("<6>a line"), 10, 9999);
	log_warn("the next");
	read_all();
	assert_int_equal(count("lines were lost"), 1);
	assert_int_equal(count("<4>the next\n"), 1);
	/* one that is started again */
	close(reader);
	journal_starts();
	log_info("here");
	read_all();
	assert_string_equal(text, "<6>here\n");
	assert_int_equal(connections, 2);
	/* and one that is not */
	close(reader);
	to_pipe();
	log_open(LOG_T_JOURNAL, LOG_L_INFO);
	log_info("there");
	stderr_back();
	read_all();
	assert_int_equal(count("info: there\n"), 1);
	close(reader);
}

/* somebody else's, which cannot be opened again */
static void log__pipe_of_others(void **state)
{
	(void)state;
	to_pipe();
	assert_int_equal(fchmod(STDERR_FILENO, 0), 0);
	assert_int_equal(seteuid(65534), 0);
	log_open(LOG_T_STDERR, LOG_L_INFO);
	unread();
	assert_int_equal(seteuid(getuid()), 0);
}

static void log__limited(void **state)
{
	int i;

	(void)state;
	to_pipe();
	/* however long so many lines take */
	stands_still = true;
	for (i = 0; i < 1000; i++)
		log_limited(LOG_OF_UID(1001), LOG_L_INFO, "much ado");
	log_limited(LOG_OF_UID(1002), LOG_L_INFO, "one word");
	log_limited(LOG_OF_GROUP(1001), LOG_L_INFO, "one word");
	log_limited(LOG_OF_ANY, LOG_L_INFO, "one word");
	stands_still = false;
	/* others have their own */
	stderr_back();
	read_all();
	assert_int_equal(count("much ado"), 20);
	assert_int_equal(count("one word"), 3);
	close(reader);
}

static void log__file(void **state)
{
	char name[] = "/tmp/gagg-log-XXXXXX";
	int fd = mkstemp(name);

	(void)state;
	assert_true(fd >= 0);
	reader = open(name, O_RDONLY);
	unlink(name);
	stderr_to(fd);
	log_info("here");
	log_warn("and here");
	stderr_back();
	read_all();
	assert_int_equal(count("here\n"), 2);
	close(reader);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(log__pipe),
		cmocka_unit_test(log__socket),
		cmocka_unit_test(log__journal),
		cmocka_unit_test(log__pipe_of_others),
		cmocka_unit_test(log__limited),
		cmocka_unit_test(log__file),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}
