/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A whole gaggd (daemon_run() in a child) in a folder of its own, with a fake netlink family and
 * device. One for each test: setup() and teardown().
 */
#ifndef GAGGD_FIXTURE_H
#define GAGGD_FIXTURE_H

#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "broker_fixture.h"
#include "fake_nl.h"
#include "../../agent/gaggd/daemon.h"
#include "../../agent/gaggd/log.h"
#include "../../agent/gaggd/save.h"
#include "../../agent/gaggd/session.h"

static char dir[64], path[96], config[96], logfile[96], state_dir[96];
static uint64_t most_names, most_bytes;	/* of checkpoints; 0: the default */
static unsigned int patience_ms;	/* patience with clients that ask nothing */
static unsigned int idle_ms;		/* patience with clients that save nothing */
static void (*become)(void);	/* called in the child before the daemon runs; NULL: nothing */
static uint64_t bound;		/* ranks, in the child */
static int bind_errno;

/* The device: a plain file with GAGG_IOC_OPEN. */
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

static inline struct sockaddr_un address(void)
{
	struct sockaddr_un a = { .sun_family = AF_UNIX };

	strcpy(a.sun_path, path);
	return a;
}

static inline int try_connect(void)
{
	struct sockaddr_un a = address();
	struct timeval tv = { .tv_sec = 60 };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	assert_true(fd >= 0);
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	if (!connect(fd, (struct sockaddr *)&a, sizeof(a)))
		return fd;
	close(fd);
	return -1;
}

/* Returns when the daemon has closed its end, too; false: it was killed. */
static inline bool hang_up(int fd)
{
	ssize_t len;
	char byte;

	shutdown(fd, SHUT_WR);
	len = recv(fd, &byte, 1, 0);
	close(fd);
	return len == 0;
}

static inline pid_t spawn(void)
{
	struct options opt = {
		.config = config, .socket = path, .state = state_dir,
		.checkpoints = most_names, .checkpoint_bytes = most_bytes,
	};
	pid_t pid;

	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		if (become)
			become();
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		unsetenv("NOTIFY_SOCKET");
		if (!freopen("/dev/null", "w", stdout) ||
		    !freopen(logfile, "a", stderr))
			_exit(99);
		log_open(LOG_T_STDERR, LOG_L_INFO);
		broker_patience_ms = patience_ms;
		save_idle_ms = idle_ms;
		/* not _exit(): the leak check is to run */
		exit(daemon_run(&opt));
	}
	return pid;
}

static inline void start(void)
{
	bool up = false;

	daemon_pid = spawn();
	for (int i = 0; i < 6000 && !up; i++) {
		int fd;

		usleep(10000);
		fd = try_connect();
		up = fd >= 0 && hang_up(fd);
	}
	assert_true(up);
}

static inline int finish(int sig)
{
	int status;

	kill(daemon_pid, sig);
	assert_int_equal(waitpid(daemon_pid, &status, 0), daemon_pid);
	daemon_pid = 0;
	return status;
}

/* Does the daemons' log contain @text, now or within a minute? */
static inline bool logged(const char *text)
{
	char buf[16384];

	for (int i = 0; i < 6000; i++) {
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

static inline void write_config(const char *text)
{
	FILE *f = fopen(config, "w");

	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
}

static inline int setup(void **state)
{
	(void)state;
	strcpy(dir, "/tmp/gagg-broker-XXXXXX");
	if (!mkdtemp(dir))
		return -1;
	chmod(dir, 0711);
	snprintf(path, sizeof(path), "%s/sock", dir);
	snprintf(config, sizeof(config), "%s/conf", dir);
	snprintf(logfile, sizeof(logfile), "%s/log", dir);
	snprintf(state_dir, sizeof(state_dir), "%s/state", dir);
	write_config("");
	most_names = 0;
	most_bytes = 0;
	become = NULL;
	/* a machine may be slow */
	patience_ms = 120000;
	idle_ms = 120000;
	session_device = "/gagg-no-such-device";
	memset(&fake, 0, sizeof(fake));
	fake.n = 1;
	fake.groups[0] = group();
	return 0;
}

static inline int remove_one(const char *name, const struct stat *st, int type, struct FTW *at)
{
	(void)st;
	(void)type;
	(void)at;
	return remove(name);
}

static inline int teardown(void **state)
{
	(void)state;
	if (daemon_pid)
		finish(SIGKILL);
	unlink(path);
	unlink(config);
	unlink(logfile);
	nftw(state_dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
	return rmdir(dir);
}

static inline void receive(int fd, struct broker_reply *reply)
{
	assert_int_equal(recv(fd, reply, sizeof(*reply), 0), sizeof(*reply));
	assert_int_equal(reply->size, sizeof(*reply));
	assert_non_null(memchr(reply->message, 0, sizeof(reply->message)));
}

/* One request of @len bytes; returns the error, and the message in @msg. */
static inline int ask_len(const void *req, size_t len, char *msg)
{
	struct broker_reply reply;
	int fd = try_connect();
	char byte;

	assert_true(fd >= 0);
	/* one that is refused for want of a place may be so before it has asked */
	if (send(fd, req, len, MSG_NOSIGNAL) != (ssize_t)len)
		assert_int_equal(errno, EPIPE);
	receive(fd, &reply);
	/* and that is all */
	assert_int_equal(recv(fd, &byte, 1, 0), 0);
	close(fd);
	strcpy(msg, reply.message);
	return reply.error;
}

static inline int ask(const struct broker_request *r, char *msg)
{
	return ask_len(r, sizeof(*r), msg);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

#endif
