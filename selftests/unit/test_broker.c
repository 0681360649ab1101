// SPDX-License-Identifier: GPL-2.0
/* links: agent/gaggd/refuse.c agent/gaggd/request.c agent/gaggd/session.c agent/gaggd/save.c agent/gaggd/load.c agent/gaggd/broker.c agent/gaggd/daemon.c agent/gaggd/kernel.c agent/gaggd/watch.c agent/gaggd/limits.c agent/gaggd/loop.c agent/gaggd/log.c agent/gaggd/outlet.c agent/gaggd/notify.c agent/conf/ports.c agent/conf/reconcile.c agent/conf/diff.c agent/conf/describe.c agent/conf/host.c agent/conf/applied.c agent/conf/config.c agent/conf/parse.c agent/conf/roster.c agent/conf/ring.c agent/conf/value.c agent/archive/archive.c agent/archive/list.c agent/lib/checkpoint_file.c agent/nl/names.c kmod/core/geom.c kmod/core/group/param.c kmod/core/group/roster.c kmod/core/group/fit.c sync agent/lib/message.c; libs: libconfuse liburing libsystemd */
/*
 * The broker of a whole gaggd, over a real socket.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <grp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>

#include <cmocka.h>

#include "gaggd_fixture.h"

static void gaggd__no_module(void **state)
{
	struct broker_request r = good();
	char msg[BROKER_MESSAGE_MAX];
	char big[4096] = { 0 };

	(void)state;
	fake.absent = true;
	start();
	assert_int_equal(ask(&r, msg), ENODEV);
	assert_string_equal(msg, "the gagg module is not loaded on this host: modprobe gagg");
	assert_int_equal(ask_len(&r, 3, msg), EINVAL);
	assert_int_equal(ask_len(big, sizeof(big), msg), EPROTONOSUPPORT);
	r.version = BROKER_VERSION;
	memcpy(big, &r, sizeof(r));
	assert_int_equal(ask_len(big, sizeof(big), msg), EINVAL);
	/* it lives */
	assert_int_equal(ask(&r, msg), ENODEV);
	assert_int_equal(finish(SIGTERM), 0);
	assert_int_equal(access(path, F_OK), -1);
}

/* of descriptors that lie unread there are as many as the soft limit says, at most */
static void gaggd__limits(void **state)
{
	struct rlimit old, lim;

	(void)state;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &old), 0);
	lim = old;
	lim.rlim_cur = 100;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &lim), 0);
	start();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	assert_int_equal(prlimit(daemon_pid, RLIMIT_NOFILE, NULL, &lim), 0);
	assert_true(lim.rlim_cur == lim.rlim_max);
	assert_int_equal(finish(SIGTERM), 0);
}

static void gaggd__requests(void **state)
{
	struct broker_request r = good();
	char msg[BROKER_MESSAGE_MAX];
	struct stat st;

	(void)state;
	start();
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 0777, 0666);

	strcpy(r.group, "test-broker.none");
	assert_int_equal(ask(&r, msg), ENOENT);
	assert_non_null(strstr(msg, "no group \"test-broker.none\""));
	/* which is netlink's to tell */
	r.rank = 0;
	for (r.op = BROKER_OP_TWIN; r.op <= BROKER_OP_STATS; r.op++) {
		assert_int_equal(ask(&r, msg), EOPNOTSUPP);
		assert_string_equal(msg, "gaggd keeps its groups in the kernel: ask for them without --twin");
	}
	r = good();
	r.rank = 2;
	assert_int_equal(ask(&r, msg), getuid() ? EACCES : EINVAL);
	/* the family is there, the device is not */
	r = good();
	assert_int_equal(ask(&r, msg), getuid() ? EACCES : ENODEV);
}

/* Returns the size of the file that came (the rank), or -error. */
static int get_session(uint32_t rank, char *msg)
{
	union {
		char buf[CMSG_SPACE(4 * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct broker_request r = good();
	struct broker_reply reply;
	struct iovec iov = { &reply, sizeof(reply) };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
			    .msg_control = control.buf,
			    .msg_controllen = sizeof(control.buf) };
	struct cmsghdr *c;
	struct stat st;
	int fd = try_connect(), got;

	assert_true(fd >= 0);
	r.rank = rank;
	assert_int_equal(send(fd, &r, sizeof(r), MSG_NOSIGNAL), sizeof(r));
	assert_int_equal(recvmsg(fd, &m, 0), sizeof(reply));
	assert_true(hang_up(fd));
	strcpy(msg, reply.message);
	c = CMSG_FIRSTHDR(&m);
	if (reply.error) {
		assert_null(c);
		assert_int_not_equal(*msg, 0);
		return -reply.error;
	}
	assert_string_equal(msg, "");
	assert_non_null(c);
	assert_int_equal(c->cmsg_type, SCM_RIGHTS);
	assert_int_equal(c->cmsg_len, CMSG_LEN(sizeof(int)));
	memcpy(&got, CMSG_DATA(c), sizeof(got));
	assert_int_equal(fstat(got, &st), 0);
	assert_int_equal(st.st_size, reply.rank);
	close(got);
	return reply.rank;
}

static int open_files(pid_t pid)
{
	char fds[64], name[80];
	int n = 0;

	snprintf(fds, sizeof(fds), "/proc/%d/fd", (int)pid);
	for (int i = 0; i < 256; i++) {
		snprintf(name, sizeof(name), "%s/%d", fds, i);
		n += faccessat(AT_FDCWD, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	}
	return n;
}

static void gaggd__sessions(void **state)
{
	char device[96], msg[BROKER_MESSAGE_MAX];
	int files;

	(void)state;
	snprintf(device, sizeof(device), "%s/dev", dir);
	close(open(device, O_CREAT | O_WRONLY, 0600));
	session_device = device;
	fake.groups[0].uid = getuid();
	fake.groups[0].mode = 0600;
	start();
	files = open_files(daemon_pid);
	assert_int_equal(get_session(6, msg), 6);
	/* the lowest that is free, in order */
	assert_true(logged("group \"test-broker.a\": rank 6 opened for uid "));
	assert_int_equal(get_session(BROKER_RANK_ANY, msg), 4);
	assert_int_equal(get_session(BROKER_RANK_ANY, msg), 9);
	assert_int_equal(get_session(BROKER_RANK_ANY, msg), -EBUSY);
	assert_string_equal(msg, "all 3 workers of group \"test-broker.a\" on this host have a session");
	assert_true(logged("all 3 workers of group"));
	assert_int_equal(get_session(4, msg), -EBUSY);
	assert_string_equal(msg, "rank 4 of group \"test-broker.a\" has a session");
	/* It keeps none of them, nor a connection. */
	for (int i = 0; i < 6000 && open_files(daemon_pid) != files; i++)
		usleep(10000);
	assert_int_equal(open_files(daemon_pid), files);
	assert_int_equal(finish(SIGTERM), 0);

	bind_errno = EPERM;
	start();
	assert_int_equal(get_session(BROKER_RANK_ANY, msg), -EPERM);
	assert_non_null(strstr(msg, "rank 4 of group \"test-broker.a\": Operation not permitted"));
	bind_errno = 0;
	unlink(device);
}

/* As another user, as the socket sees it. */
static void gaggd__refuses_by_mode(void **state)
{
	struct broker_request r = good();
	char msg[BROKER_MESSAGE_MAX];
	int status;
	pid_t pid;

	(void)state;
	if (getuid()) {
		/* A user that cannot become another is refused as itself. */
		fake.groups[0].uid = getuid() + 1;
		start();
		assert_int_equal(ask(&r, msg), EACCES);
		return;
	}
	fake.groups[0].uid = 1;
	fake.groups[0].gid = 4242;
	fake.groups[0].mode = 0660;
	start();
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		gid_t gid = 4242;
		int outside, inside;

		if (setgroups(0, NULL) || setresgid(9, 9, 9) ||
		    setresuid(9, 9, 0) || ask(&r, msg) != EACCES)
			_exit(1);
		outside = !strstr(msg, "does not let uid 9 train");
		if (seteuid(0) || setgroups(1, &gid) || seteuid(9))
			_exit(2);
		inside = ask(&r, msg) == EACCES;
		_exit(outside ? 3 : inside ? 4 : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	snprintf(msg, sizeof(msg), "refused uid 9, pid %d: group", (int)pid);
	assert_true(logged(msg));
}

static void gaggd__silent_client(void **state)
{
	struct broker_reply reply;
	int fd;

	(void)state;
	patience_ms = 1000;
	start();
	fd = try_connect();
	assert_true(fd >= 0);
	assert_int_equal(recv(fd, &reply, sizeof(reply), 0), 0);
	assert_true(logged("asked nothing in 1 s"));
	close(fd);
}

/* of the places, what a uid may have that no group admits, and so many that it is all */
#define STRANGERS_SHARE	((BROKER_CLIENTS - BROKER_CLIENTS_KEPT) / 2)
#define STRANGERS	7

static void gaggd__crowd(void **state)
{
	struct broker_request r = good();
	struct broker_reply reply;
	int fds[BROKER_CLIENTS], more, limit;

	(void)state;
	start();
	limit = getuid() ? STRANGERS_SHARE : BROKER_CLIENTS;
	for (int i = 0; i < limit; i++) {
		fds[i] = try_connect();
		assert_true(fds[i] >= 0);
	}
	/* One too many gets its answer, whether or not it asks. */
	more = try_connect();
	assert_true(more >= 0);
	(void)!send(more, &r, sizeof(r), MSG_NOSIGNAL);
	receive(more, &reply);
	assert_int_equal(reply.error, EAGAIN);
	close(more);
	/* The others are served, and then there is room. */
	for (int i = 0; i < limit; i++) {
		assert_int_equal(send(fds[i], &r, sizeof(r), MSG_NOSIGNAL),
				 sizeof(r));
		receive(fds[i], &reply);
		assert_int_not_equal(reply.error, EAGAIN);
		close(fds[i]);
	}
	more = try_connect();
	assert_int_equal(send(more, &r, sizeof(r), MSG_NOSIGNAL), sizeof(r));
	receive(more, &reply);
	assert_int_not_equal(reply.error, EAGAIN);
	close(more);
}

/* a process of @uid that holds @n connections, once this returns */
static pid_t crowd_of(uid_t uid, int n)
{
	int ready[2];
	char c;
	pid_t pid;

	assert_int_equal(pipe(ready), 0);
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (setgroups(0, NULL) || setresgid(uid, uid, uid) ||
		    setresuid(uid, uid, uid) || prctl(PR_SET_PDEATHSIG, SIGKILL))
			_exit(1);
		while (n--)
			if (try_connect() < 0)
				_exit(2);
		(void)!write(ready[1], "", 1);
		pause();
		_exit(3);
	}
	close(ready[1]);
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	return pid;
}

/* what a process of @uid is told, the last time of so many that it comes */
static int answers_to(uid_t uid, int times)
{
	struct broker_request r = good();
	struct broker_reply reply = { };
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (setgroups(0, NULL) || setresgid(uid, uid, uid) || setresuid(uid, uid, uid))
			_exit(1);
		while (times--) {
			int fd = try_connect();

			/* a client that is refused may be so before it has asked */
			if (fd < 0 || (send(fd, &r, sizeof(r), MSG_NOSIGNAL) < 0 && errno != EPIPE) ||
			    recv(fd, &reply, sizeof(reply), 0) != sizeof(reply))
				_exit(2);
			close(fd);
		}
		_exit((int)reply.error);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int answer_to(uid_t uid)
{
	return answers_to(uid, 1);
}

static void crowd_ends(const pid_t *crowd, int n)
{
	for (int i = 0; i < n; i++) {
		kill(crowd[i], SIGKILL);
		assert_int_equal(waitpid(crowd[i], NULL, 0), crowd[i]);
	}
}

static unsigned int ms_since(const struct timespec *since)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (unsigned int)((now.tv_sec - since->tv_sec) * 1000 +
			      (now.tv_nsec - since->tv_nsec) / 1000000);
}

static void gaggd__strangers_leave_places(void **state)
{
	struct timespec since;
	unsigned int *dumps;
	pid_t crowd[STRANGERS];

	(void)state;
	/* a user that cannot be several has no more than its own: gaggd__crowd */
	if (getuid())
		return;
	fake.groups[0].uid = 1;
	fake.groups[0].gid = 4242;
	fake.groups[0].mode = 0660;
	dumps = mmap(NULL, sizeof(*dumps), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		     -1, 0);
	assert_true(dumps != MAP_FAILED);
	fake.dumps = dumps;
	start();
	for (int i = 0; i < STRANGERS; i++)
		crowd[i] = crowd_of(20 + (uid_t)i, BROKER_CLIENTS);
	/* all of the crowd is accepted, which came before; now the answer to it gets too old */
	assert_int_equal(answer_to(20), EAGAIN);
	usleep(150000);
	*dumps = 0;
	clock_gettime(CLOCK_MONOTONIC, &since);
	assert_int_equal(answer_to(11), EAGAIN);
	assert_int_equal(answer_to(20), EAGAIN);
	assert_int_equal(answer_to(1), ENODEV);
	assert_int_equal(answer_to(4242), ENODEV);
	assert_int_equal(answer_to(0), ENODEV);
	/* however often they come, the kernel is asked every 100 ms at most */
	assert_int_equal(answers_to(11, 100), EAGAIN);
	assert_in_range(*dumps, 1, ms_since(&since) / 100 + 1);
	crowd_ends(crowd, STRANGERS);
	munmap(dumps, sizeof(*dumps));
}

/* users that a group admits may take what is kept, and none of them all of it */
static void gaggd__members_leave_places(void **state)
{
	pid_t crowd[3];

	(void)state;
	if (getuid())
		return;
	fake.groups[0].mode = 0666;
	start();
	crowd[0] = crowd_of(9, BROKER_CLIENTS);
	assert_int_equal(answer_to(9), EAGAIN);
	/* half of the places: the next one has half of the rest, one less */
	crowd[1] = crowd_of(10, BROKER_CLIENTS / 4 - 1);
	assert_int_equal(answer_to(10), ENODEV);
	crowd[2] = crowd_of(10, BROKER_CLIENTS);
	assert_int_equal(answer_to(10), EAGAIN);
	assert_int_equal(answer_to(11), ENODEV);
	assert_int_equal(answer_to(0), ENODEV);
	crowd_ends(crowd, 3);
}

static void gaggd__rude_clients(void **state)
{
	struct broker_request r = good();
	char msg[BROKER_MESSAGE_MAX];

	(void)state;
	fake.absent = true;
	start();
	for (int i = 0; i < 200; i++) {
		int fd = try_connect();

		assert_true(fd >= 0);
		if (i & 1)
			(void)!send(fd, &r, sizeof(r), MSG_NOSIGNAL);
		if (i & 2)
			(void)!send(fd, &r, sizeof(r), MSG_NOSIGNAL);
		close(fd);
	}
	/* once it has seen all of them close */
	while (ask(&r, msg) == EAGAIN)
		usleep(10000);
	assert_int_equal(ask(&r, msg), ENODEV);
	assert_int_equal(finish(SIGTERM), 0);
}

/* What a client has sent too much does not cost it the answer. */
static void gaggd__two_requests(void **state)
{
	struct broker_request r = good();
	struct broker_reply reply;
	char byte;
	int fd;

	(void)state;
	fake.absent = true;
	start();
	kill(daemon_pid, SIGSTOP);
	fd = try_connect();
	assert_true(fd >= 0);
	for (int i = 0; i < 3; i++)
		assert_int_equal(send(fd, &r, sizeof(r), MSG_NOSIGNAL),
				 sizeof(r));
	kill(daemon_pid, SIGCONT);
	receive(fd, &reply);
	assert_int_equal(reply.error, ENODEV);
	assert_int_equal(recv(fd, &byte, 1, 0), 0);
	close(fd);
	assert_int_equal(finish(SIGTERM), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(gaggd__no_module),
		TEST(gaggd__limits),
		TEST(gaggd__requests),
		TEST(gaggd__sessions),
		TEST(gaggd__refuses_by_mode),
		TEST(gaggd__silent_client),
		TEST(gaggd__crowd),
		TEST(gaggd__strangers_leave_places),
		TEST(gaggd__members_leave_places),
		TEST(gaggd__rude_clients),
		TEST(gaggd__two_requests),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("broker", tests, NULL, NULL);
}
