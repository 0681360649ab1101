// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE 1
#include <arpa/inet.h>
#include <errno.h>
#include <limits.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "local.h"

#define FIRST_PORT	7440
#define LAST_PORT	32767	/* below those that the kernel gives out */
#define PATIENCE	60000	/* ms for a twin to listen */

static struct {
	char dir[32];
	char group[32];
	int n;
	pid_t twin[BENCH_RANKS];
	pid_t rank[BENCH_RANKS];
} me;

static volatile sig_atomic_t signalled;

/* files of rank @i in the folder: "gagg.conf", "3.sock" */
static void local_path(char *out, size_t size, int i, const char *name)
{
	if (i < 0)
		snprintf(out, size, "%s/%s", me.dir, name);
	else
		snprintf(out, size, "%s/%d.%s", me.dir, i, name);
}

static int local_fail(const char *what)
{
	fprintf(stderr, "gagg-bench: %s: %s\n", what, strerror(errno));
	return -1;
}

static bool local_port_is_free(int i, int port)
{
	struct sockaddr_in a = {
		.sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK + (uint32_t)i),
	};
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool is_free;

	if (fd < 0)
		return false;
	is_free = !bind(fd, (struct sockaddr *)&a, sizeof(a));
	close(fd);
	return is_free;
}

/* a port that is free at all addresses, or 0 */
static int local_find_port(void)
{
	int port, i;

	for (port = FIRST_PORT; port <= LAST_PORT; port++) {
		for (i = 0; i < me.n && local_port_is_free(i, port); i++)
			;
		if (i == me.n)
			return port;
	}
	return 0;
}

static int local_write_config(void)
{
	int port = local_find_port(), i;
	char name[64];
	FILE *f;

	if (!port) {
		fprintf(stderr, "gagg-bench: no UDP port is free on loopback\n");
		return -1;
	}
	local_path(name, sizeof(name), -1, "gagg.conf");
	f = fopen(name, "we");
	if (!f)
		return local_fail(name);
	fprintf(f, "group \"%s\" {\nport = %d\nuid = %u\n", me.group, port,
		(unsigned int)getuid());
	for (i = 0; i < me.n; i++)
		fprintf(f, "member %d { address = \"127.0.0.%d\" }\n", i, i + 1);
	fprintf(f, "}\n");
	return fclose(f) ? local_fail(name) : 0;
}

/* first steps of a child: default signals, and death with its parent */
static void local_begin_child(pid_t parent)
{
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	/* a signal that came before that was for this process, too */
	if (signalled)
		_exit(BENCH_NO_GROUP);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent)
		_exit(BENCH_NO_GROUP);
}

static void local_exec_twin(int i)
{
	static const char *const places[] = { "gagg-twin", "../sbin/gagg-twin" };
	char config[64], local[32], sock[64], program[PATH_MAX], *slash;
	char *argv[10] = { "gagg-twin", "--config", config, "--local", local,
			   "--socket", sock, "--log-level", "error" };
	char own[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", own, sizeof(own) - 1);

	local_path(config, sizeof(config), -1, "gagg.conf");
	local_path(sock, sizeof(sock), i, "sock");
	snprintf(local, sizeof(local), "127.0.0.%d", i + 1);
	own[n > 0 ? n : 0] = 0;
	slash = strrchr(own, '/');
	for (size_t p = 0; slash && p < sizeof(places) / sizeof(places[0]); p++) {
		if (snprintf(program, sizeof(program), "%.*s/%s", (int)(slash - own), own,
			     places[p]) < (int)sizeof(program))
			execv(program, argv);
	}
	execvp(argv[0], argv);
	local_fail("gagg-twin");
	_exit(127);
}

static int local_start_twin(int i)
{
	pid_t parent = getpid();

	me.twin[i] = fork();
	if (!me.twin[i]) {
		local_begin_child(parent);
		local_exec_twin(i);
	}
	return me.twin[i] < 0 ? local_fail("fork") : 0;
}

/* waits until the twin listens */
static int local_await_twin(int i)
{
	struct timespec pause = { .tv_nsec = 10000000 };
	char sock[64];
	int ms;

	local_path(sock, sizeof(sock), i, "sock");
	for (ms = 0; ms < PATIENCE && !signalled; ms += 10) {
		if (!access(sock, F_OK))
			return 0;
		if (waitpid(me.twin[i], NULL, WNOHANG) == me.twin[i]) {
			me.twin[i] = 0;
			fprintf(stderr, "gagg-bench: gagg-twin %d has ended\n", i);
			return -1;
		}
		nanosleep(&pause, NULL);
	}
	fprintf(stderr, "gagg-bench: gagg-twin %d does not listen\n", i);
	return -1;
}

static int local_start_rank(int i, const struct bench_args *args,
			    enum bench_exit (*measure)(const struct bench_args *args))
{
	struct bench_args own = *args;
	pid_t parent = getpid();
	char sock[64];

	me.rank[i] = fork();
	if (!me.rank[i]) {
		local_begin_child(parent);
		local_path(sock, sizeof(sock), i, "sock");
		own.group = me.group;
		own.socket = sock;
		exit(measure(&own));
	}
	return me.rank[i] < 0 ? local_fail("fork") : 0;
}

static int local_start(const struct bench_args *args,
		       enum bench_exit (*measure)(const struct bench_args *args))
{
	int i;

	if (local_write_config())
		return -1;
	for (i = 0; i < me.n; i++)
		if (local_start_twin(i))
			return -1;
	for (i = 0; i < me.n; i++)
		if (local_await_twin(i))
			return -1;
	for (i = 0; i < me.n; i++)
		if (local_start_rank(i, args, measure) || signalled)
			return -1;
	return 0;
}

static void local_end_all(const pid_t *pid)
{
	int i;

	for (i = 0; i < me.n; i++)
		if (pid[i] > 0)
			kill(pid[i], SIGTERM);
}

/* the worst exit status of the ranks */
static int local_wait_for_ranks(void)
{
	int i, status, worst = BENCH_OK;

	for (i = 0; i < me.n; i++) {
		while (waitpid(me.rank[i], &status, 0) < 0 && errno == EINTR)
			;
		me.rank[i] = 0;
		status = WIFEXITED(status) ? WEXITSTATUS(status) : BENCH_WRONG;
		worst = status > worst ? status : worst;
	}
	return worst;
}

static void local_clean(void)
{
	char name[64];
	int i;

	local_end_all(me.rank);
	local_end_all(me.twin);
	for (i = 0; i < me.n; i++) {
		if (me.rank[i] > 0)
			waitpid(me.rank[i], NULL, 0);
		if (me.twin[i] > 0)
			waitpid(me.twin[i], NULL, 0);
		local_path(name, sizeof(name), i, "sock");
		unlink(name);
	}
	local_path(name, sizeof(name), -1, "gagg.conf");
	unlink(name);
	rmdir(me.dir);
}

/* local_start() ends a rank that is just being started */
static void local_end_ranks(int sig)
{
	signalled = sig;
	local_end_all(me.rank);
}

int local_run(const struct bench_args *args,
	      enum bench_exit (*measure)(const struct bench_args *args))
{
	struct sigaction act = { .sa_handler = local_end_ranks };
	int status = BENCH_NO_GROUP;

	me.n = args->local;
	snprintf(me.dir, sizeof(me.dir), "/tmp/gagg-bench.XXXXXX");
	/* a name that no group of the module has: its counters would be reported */
	snprintf(me.group, sizeof(me.group), "local-%d", getpid());
	sigaction(SIGINT, &act, NULL);
	sigaction(SIGTERM, &act, NULL);
	sigaction(SIGHUP, &act, NULL);
	if (!mkdtemp(me.dir)) {
		local_fail(me.dir);
		return status;
	}
	if (!local_start(args, measure))
		status = local_wait_for_ranks();
	local_clean();
	return signalled ? 128 + signalled : status;
}
