// SPDX-License-Identifier: GPL-2.0
/* links: agent/gaggd/request.c agent/gaggd/session.c agent/gaggd/broker.c agent/gaggd/daemon.c agent/gaggd/kernel.c agent/gaggd/watch.c agent/gaggd/loop.c agent/gaggd/log.c agent/gaggd/notify.c agent/conf/reconcile.c agent/conf/diff.c agent/conf/describe.c agent/conf/host.c agent/conf/applied.c agent/conf/config.c agent/conf/parse.c agent/conf/value.c agent/nl/names.c; libs: libconfuse liburing libsystemd */
/*
 * The broker: its checks as functions, and a whole gaggd (daemon_run() in a
 * child) over a real socket, with the netlink family and the device played.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <linux/gagg_wire.h>

#include "fake_nl.h"
#include "../../agent/gaggd/daemon.h"
#include "../../agent/gaggd/log.h"
#include "../../agent/gaggd/notify.h"
#include "../../agent/gaggd/request.h"
#include "../../agent/gaggd/session.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static struct broker_request good(void)
{
	struct broker_request r = {
		.size = sizeof(r),
		.version = BROKER_VERSION,
		.group = "test-broker.a",
		.rank = BROKER_RANK_ANY,
	};

	return r;
}

static int check(const struct broker_request *r, size_t len, char *msg)
{
	struct broker_request out;
	size_t have = len < sizeof(*r) ? len : sizeof(*r);
	int ret;

	*msg = 0;
	ret = request_check(r, have, len, &out, msg, BROKER_MESSAGE_MAX);
	assert_int_equal(!ret, !*msg);
	if (!ret)
		assert_memory_equal(&out, r, sizeof(out));
	return ret;
}

static void request_check__good(void **state)
{
	struct broker_request r = good();
	char msg[BROKER_MESSAGE_MAX];

	(void)state;
	assert_int_equal(check(&r, sizeof(r), msg), 0);
	r.rank = 0;
	assert_int_equal(check(&r, sizeof(r), msg), 0);
	r.rank = GAGG_RANKS_MAX - 1;
	assert_int_equal(check(&r, sizeof(r), msg), 0);
	memset(r.group, 'x', sizeof(r.group) - 1);
	assert_int_equal(check(&r, sizeof(r), msg), 0);
}

static void request_check__bad(void **state)
{
	struct broker_request r;
	char msg[BROKER_MESSAGE_MAX];

	(void)state;
	r = good();
	for (size_t len = 1; len < sizeof(r); len++)
		assert_int_equal(check(&r, len, msg), EINVAL);
	assert_int_equal(check(&r, sizeof(r) + 1, msg), EINVAL);
	assert_int_equal(check(&r, 100000, msg), EINVAL);
	assert_non_null(strstr(msg, "this one is 100000"));
	r.size++;
	assert_int_equal(check(&r, sizeof(r), msg), EINVAL);

	/* a later version is told so, whatever its size */
	r = good();
	r.version++;
	assert_int_equal(check(&r, sizeof(r) + 16, msg), EPROTONOSUPPORT);
	assert_non_null(strstr(msg, "version 2"));

	r = good();
	memset(r.group, 'a', sizeof(r.group));
	assert_int_equal(check(&r, sizeof(r), msg), EINVAL);
	assert_non_null(strstr(msg, "does not end"));
	r = good();
	memset(r.group, 0, sizeof(r.group));
	assert_int_equal(check(&r, sizeof(r), msg), EINVAL);
	r = good();
	strcpy(r.group, "a\nb");
	assert_int_equal(check(&r, sizeof(r), msg), EINVAL);
	assert_null(strchr(msg, '\n'));

	r = good();
	r.rank = GAGG_RANKS_MAX;
	assert_int_equal(check(&r, sizeof(r), msg), EINVAL);
	r = good();
	r.reserved = 1;
	assert_int_equal(check(&r, sizeof(r), msg), EINVAL);
}

static void access_allowed__table(void **state)
{
	static const gid_t groups[] = { 7, 200 };
	static const struct {
		uid_t uid;
		gid_t gid;
		unsigned int mode;
		bool allowed;
	} t[] = {
		/* of a group of uid 100 and gid 200, by mode */
		{ 0, 0, 0000, true },
		{ 100, 1, 0600, true },
		{ 100, 1, 0400, false },
		{ 100, 1, 0200, false },
		{ 100, 200, 0066, false },	/* the owner's bits decide */
		{ 101, 200, 0060, true },
		{ 101, 200, 0600, false },
		{ 101, 200, 0040, false },
		{ 101, 200, 0020, false },
		{ 101, 200, 0606, false },	/* the group's bits decide */
		{ 101, 201, 0006, true },
		{ 101, 201, 0660, false },
		{ 101, 201, 0004, false },
		{ 101, 201, 0002, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_SIZE(t); i++) {
		struct peer p = { .uid = t[i].uid, .gid = t[i].gid };

		if (access_allowed(&p, 100, 200, t[i].mode) != t[i].allowed)
			fail_msg("case %zu", i);
		/* the same by a supplementary group */
		if (p.gid != 200)
			continue;
		p.gid = 5;
		p.groups = groups;
		p.ngroups = 2;
		if (access_allowed(&p, 100, 200, t[i].mode) != t[i].allowed)
			fail_msg("case %zu, supplementary", i);
	}
}

static struct nl_group group(void)
{
	struct nl_group g = { .name = "test-broker.a", .n_members = 5 };
	static const struct {
		uint32_t rank, roles;
		bool local;
	} m[] = {
		{ 9, GAGG_ROLE_WORKER, true },
		{ 2, GAGG_ROLE_WORKER | GAGG_ROLE_AGGREGATOR, false },
		{ 1, GAGG_ROLE_AGGREGATOR, true },
		{ 4, GAGG_ROLE_WORKER | GAGG_ROLE_AGGREGATOR, true },
		{ 6, GAGG_ROLE_WORKER, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(m); i++) {
		g.members[i].rank = m[i].rank;
		g.members[i].roles = m[i].roles;
		g.members[i].local = m[i].local;
		nl_ip_parse(m[i].local ? "10.0.0.1" : "10.0.0.2",
			    &g.members[i].addr);
	}
	return g;
}

static void rank_candidates__table(void **state)
{
	struct nl_group g = group();
	uint32_t out[GAGG_RANKS_MAX];
	char msg[BROKER_MESSAGE_MAX];
	unsigned int n;

	(void)state;
	assert_int_equal(rank_candidates(&g, BROKER_RANK_ANY, out, &n, msg, sizeof(msg)), 0);
	assert_int_equal(n, 3);
	assert_int_equal(out[0], 4);
	assert_int_equal(out[1], 6);
	assert_int_equal(out[2], 9);
	assert_int_equal(rank_candidates(&g, 6, out, &n, msg, sizeof(msg)), 0);
	assert_int_equal(n, 1);
	assert_int_equal(out[0], 6);

	assert_int_equal(rank_candidates(&g, 2, out, &n, msg, sizeof(msg)), EINVAL);
	assert_string_equal(msg, "rank 2 of group \"test-broker.a\" is at 10.0.0.2, not on this host");
	assert_int_equal(rank_candidates(&g, 1, out, &n, msg, sizeof(msg)), EINVAL);
	assert_non_null(strstr(msg, "aggregator only"));
	assert_int_equal(rank_candidates(&g, 3, out, &n, msg, sizeof(msg)), EINVAL);
	assert_non_null(strstr(msg, "has no rank 3"));
	g.n_members = 0;
	assert_int_equal(rank_candidates(&g, BROKER_RANK_ANY, out, &n, msg, sizeof(msg)), EINVAL);
	assert_non_null(strstr(msg, "no worker on this host"));
}

static void notify_describe__lines(void **state)
{
	struct nl_event e = { .group = group() };
	char line[256];

	(void)state;
	e.event = GAGG_EV_EPOCH_START;
	e.group.epoch = 5;
	assert_int_equal(notify_describe(&e, line, sizeof(line)), LOG_L_INFO);
	assert_string_equal(line, "group \"test-broker.a\": epoch 5 started");
	e.event = GAGG_EV_EPOCH_END;
	e.group.reason = GAGG_R_DIED;
	e.group.reason_rank = 3;
	assert_int_equal(notify_describe(&e, line, sizeof(line)), LOG_L_WARN);
	assert_string_equal(line, "group \"test-broker.a\": epoch 5 ended: died, rank 3");
	assert_true(notify_frees(&e));
	e.group.reason = GAGG_R_ADMIN;
	assert_int_equal(notify_describe(&e, line, sizeof(line)), LOG_L_INFO);
	assert_string_equal(line, "group \"test-broker.a\": epoch 5 ended: admin");
	e.event = GAGG_EV_MISMATCH;
	e.is_member = true;
	strcpy(e.group.members[0].mismatch, "ring");
	assert_int_equal(notify_describe(&e, line, sizeof(line)), LOG_L_WARN);
	assert_string_equal(line, "group \"test-broker.a\": host 10.0.0.1 (rank 9) is configured differently: ring");
	assert_false(notify_frees(&e));
	e.event = GAGG_EV_MEMBER_STATE;
	e.group.members[0].state = GAGG_MS_ATTACHED;
	assert_false(notify_frees(&e));
	e.group.members[0].state = GAGG_MS_HEARD;
	assert_true(notify_frees(&e));
}

/* --- a whole gaggd ------------------------------------------------------ */

static char dir[64], path[96], config[96], logfile[96];
static uint64_t bound;		/* ranks, in the child */
static int bind_errno;

/* The device: a plain file that knows GAGG_IOC_OPEN. */
int ioctl(int fd, unsigned long request, ...)
{
	struct gagg_ioc_open *arg;
	va_list ap;

	va_start(ap, request);
	arg = va_arg(ap, struct gagg_ioc_open *);
	va_end(ap);
	if (request != GAGG_IOC_OPEN)
		return syscall(SYS_ioctl, fd, request, arg);
	if (arg->size != sizeof(*arg) || arg->flags || arg->reserved[0] ||
	    strcmp(arg->name, "test-broker.a"))
		errno = EINVAL;
	else if (bind_errno)
		errno = bind_errno;
	else if (bound & 1ULL << arg->rank)
		errno = EBUSY;
	else if (ftruncate(fd, arg->rank) == 0)
		return !(bound |= 1ULL << arg->rank);
	return -1;
}
static pid_t daemon_pid;

static struct sockaddr_un address(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	strcpy(a.sun_path, path);
	return a;
}

static int try_connect(void)
{
	struct sockaddr_un a = address();
	struct timeval tv = { .tv_sec = 20 };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	if (!connect(fd, (struct sockaddr *)&a, sizeof(a)))
		return fd;
	close(fd);
	return -1;
}

static pid_t spawn(void)
{
	struct options opt = { .config = config, .socket = path };
	pid_t pid;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		unsetenv("NOTIFY_SOCKET");
		if (!freopen("/dev/null", "w", stdout) ||
		    !freopen(logfile, "a", stderr))
			_exit(99);
		log_open(LOG_T_STDERR, LOG_L_INFO);
		/* not _exit(): the leak check is to run */
		exit(daemon_run(&opt));
	}
	return pid;
}

static void start(void)
{
	int fd = -1;

	daemon_pid = spawn();
	for (int i = 0; i < 1000 && fd < 0; i++) {
		usleep(10000);
		fd = try_connect();
	}
	assert_true(fd >= 0);
	close(fd);
}

static int finish(int sig)
{
	int status;

	kill(daemon_pid, sig);
	assert_int_equal(waitpid(daemon_pid, &status, 0), daemon_pid);
	daemon_pid = 0;
	return status;
}

/* Does the log of the daemons say @text, now or soon? */
static bool logged(const char *text)
{
	char buf[16384];

	for (int i = 0; i < 300; i++) {
		FILE *f = fopen(logfile, "r");
		size_t len;

		assert_non_null(f);
		len = fread(buf, 1, sizeof(buf) - 1, f);
		fclose(f);
		buf[len] = 0;
		if (strstr(buf, text))
			return true;
		usleep(10000);
	}
	print_error("not \"%s\" in: %s\n", text, buf);
	return false;
}

static void write_config(const char *text)
{
	FILE *f = fopen(config, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static int setup(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/gagg-broker-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	chmod(dir, 0711);
	snprintf(path, sizeof(path), "%s/sock", dir);
	snprintf(config, sizeof(config), "%s/conf", dir);
	snprintf(logfile, sizeof(logfile), "%s/log", dir);
	write_config("");
	session_device = "/gagg-no-such-device";
	memset(&fake, 0, sizeof(fake));
	fake.n = 1;
	fake.groups[0] = group();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	if (daemon_pid)
		finish(SIGKILL);
	unlink(path);
	unlink(config);
	unlink(logfile);
	return rmdir(dir);
}

static void receive(int fd, struct broker_reply *reply)
{
	assert_int_equal(recv(fd, reply, sizeof(*reply), 0), sizeof(*reply));
	assert_int_equal(reply->size, sizeof(*reply));
	assert_non_null(memchr(reply->message, 0, sizeof(reply->message)));
}

/* One request of @len bytes; returns the error, and the message in @msg. */
static int ask_len(const void *req, size_t len, char *msg)
{
	struct broker_reply reply;
	int fd = try_connect();
	char byte;

	assert_true(fd >= 0);
	assert_int_equal(send(fd, req, len, MSG_NOSIGNAL), len);
	receive(fd, &reply);
	/* and that is all */
	assert_int_equal(recv(fd, &byte, 1, 0), 0);
	close(fd);
	strcpy(msg, reply.message);
	return reply.error;
}

static int ask(const struct broker_request *r, char *msg)
{
	return ask_len(r, sizeof(*r), msg);
}

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
	close(fd);
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
	usleep(100000);
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
	/* It keeps none of them. */
	usleep(100000);
	assert_int_equal(open_files(daemon_pid), files);
	assert_int_equal(finish(SIGTERM), 0);

	bind_errno = EPERM;
	start();
	assert_int_equal(get_session(BROKER_RANK_ANY, msg), -EPERM);
	assert_non_null(strstr(msg, "rank 4 of group \"test-broker.a\": Operation not permitted"));
	bind_errno = 0;
	unlink(device);
}

/* As somebody else, by the socket's own idea of who that is. */
static void gaggd__refuses_by_mode(void **state)
{
	struct broker_request r = good();
	char msg[BROKER_MESSAGE_MAX];
	int status;
	pid_t pid;

	(void)state;
	if (getuid()) {
		/* Who cannot become somebody else is refused as himself. */
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
	struct timespec from, to;
	int fd;
	double s;

	(void)state;
	start();
	fd = try_connect();
	assert_true(fd >= 0);
	clock_gettime(CLOCK_MONOTONIC, &from);
	assert_int_equal(recv(fd, &reply, sizeof(reply), 0), 0);
	clock_gettime(CLOCK_MONOTONIC, &to);
	s = to.tv_sec - from.tv_sec + (to.tv_nsec - from.tv_nsec) / 1e9;
	assert_true(s > 4.5 && s < 15);
	close(fd);
}

static void gaggd__crowd(void **state)
{
	struct broker_request r = good();
	struct broker_reply reply;
	int fds[BROKER_CLIENTS], more, limit;

	(void)state;
	start();
	limit = getuid() ? BROKER_CLIENTS_OF_UID : BROKER_CLIENTS;
	/* The connection of start() may not have been seen to close yet. */
	usleep(100000);
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
	usleep(100000);
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

static void gaggd__takes_over_stale_socket(void **state)
{
	struct broker_request r = good();
	char msg[BROKER_MESSAGE_MAX];

	(void)state;
	fake.absent = true;
	start();
	finish(SIGKILL);
	assert_int_equal(access(path, F_OK), 0);
	start();
	assert_int_equal(ask(&r, msg), ENODEV);
	assert_int_equal(finish(SIGTERM), 0);
	assert_int_equal(access(path, F_OK), -1);
}

static void gaggd__second_one_refuses(void **state)
{
	struct broker_request r = good();
	char msg[BROKER_MESSAGE_MAX];
	int status;
	pid_t pid;

	(void)state;
	fake.absent = true;
	start();
	pid = spawn();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), EXIT_FAILURE);
	assert_int_equal(ask(&r, msg), ENODEV);
}

static void gaggd__leaves_what_is_not_its(void **state)
{
	int status, fd;
	pid_t pid;

	(void)state;
	/* not a socket: not touched */
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	close(fd);
	pid = spawn();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), EXIT_FAILURE);
	assert_int_equal(access(path, F_OK), 0);
	unlink(path);
	/* replaced meanwhile: not removed at the end */
	start();
	unlink(path);
	fd = open(path, O_CREAT | O_WRONLY, 0600);
	assert_true(fd >= 0);
	close(fd);
	assert_int_equal(finish(SIGTERM), 0);
	assert_int_equal(access(path, F_OK), 0);
}

static void gaggd__config(void **state)
{
	struct broker_request r = good();
	char msg[BROKER_MESSAGE_MAX];
	int status;
	pid_t pid;

	(void)state;
	fake.absent = true;
	write_config("group x { member 0 { address = 10.0.0.1 } }\n"
		     "group y { member 0 { address = 10.0.0.1 } }\n");
	start();
	assert_true(logged("conf: 2 groups"));
	write_config("");
	kill(daemon_pid, SIGHUP);
	assert_true(logged("conf: 0 groups"));
	write_config("group x { port = 0 }\n");
	/* A bad file does not end a gaggd that runs ... */
	kill(daemon_pid, SIGHUP);
	assert_true(logged("conf:1: group \"x\": port = \"0\": allowed"));
	assert_true(logged("not reloaded: nothing has changed"));
	assert_int_equal(ask(&r, msg), ENODEV);
	assert_int_equal(finish(SIGTERM), 0);
	/* ... but one that starts says so. */
	pid = spawn();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), EXIT_FAILURE);
	unlink(config);
	pid = spawn();
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(WEXITSTATUS(status), EXIT_FAILURE);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(request_check__good),
		cmocka_unit_test(request_check__bad),
		cmocka_unit_test(access_allowed__table),
		cmocka_unit_test(rank_candidates__table),
		cmocka_unit_test(notify_describe__lines),
		TEST(gaggd__no_module),
		TEST(gaggd__requests),
		TEST(gaggd__sessions),
		TEST(gaggd__refuses_by_mode),
		TEST(gaggd__silent_client),
		TEST(gaggd__crowd),
		TEST(gaggd__rude_clients),
		TEST(gaggd__two_requests),
		TEST(gaggd__takes_over_stale_socket),
		TEST(gaggd__second_one_refuses),
		TEST(gaggd__leaves_what_is_not_its),
		TEST(gaggd__config),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests_name("broker", tests, NULL, NULL);
}
