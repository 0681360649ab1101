// SPDX-License-Identifier: LGPL-2.1-only OR MIT
#define _GNU_SOURCE 1
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "deadline.h"
#include "job.h"

extern char **environ;

int job_twin_bind(const char *address, uint16_t port)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons(port) };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons(port) };
	bool is_v4 = inet_pton(AF_INET, address, &v4.sin_addr) == 1;
	int fd, err;

	if (!is_v4 && inet_pton(AF_INET6, address, &v6.sin6_addr) != 1)
		return -EAFNOSUPPORT;
	fd = socket(is_v4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	err = is_v4 ? bind(fd, (const struct sockaddr *)&v4, sizeof(v4)) :
		      bind(fd, (const struct sockaddr *)&v6, sizeof(v6));
	err = err ? -errno : 0;
	close(fd);
	return err;
}

static int job_twin_make_folder(struct job_twin *t, char *why)
{
	const char *run = secure_getenv("XDG_RUNTIME_DIR"), *in = run && *run ? run : "/tmp";
	int n = snprintf(t->folder, sizeof(t->folder), "%s/gagg-job-XXXXXX", in);

	/* launchers carry the variable to hosts where there is no such folder */
	if (n >= (int)sizeof(t->folder) || !mkdtemp(t->folder)) {
		strcpy(t->folder, "/tmp/gagg-job-XXXXXX");
		if (!mkdtemp(t->folder)) {
			snprintf(why, JOB_TEXT, "/tmp/gagg-job-*: %s", strerror(errno));
			*t->folder = 0;
			return -1;
		}
	}
	snprintf(t->config, sizeof(t->config), "%s/gagg.conf", t->folder);
	snprintf(t->socket, sizeof(t->socket), "%s/sock", t->folder);
	return 0;
}

static int job_twin_write_config(const struct job_twin *t, const struct job_group *g, char *why)
{
	static const char format[] = "group \"%s\" {\nid = %u\nport = %u\nuid = %u\n%s}\n";
	FILE *f = fopen(t->config, "wxe");
	bool bad;

	bad = !f || fprintf(f, format, JOB_GROUP, g->id, g->port, geteuid(), g->members) < 0;
	if (f && fclose(f))
		bad = true;
	if (bad)
		snprintf(why, JOB_TEXT, "%s: %s", t->config, strerror(errno));
	return bad ? -1 : 0;
}

/* this process's, but for what would let it speak to a service manager in this one's name */
static char **job_twin_environment(void)
{
	size_t n = 0, k = 0;
	char **env;

	while (environ && environ[n])
		n++;
	env = calloc(n + 1, sizeof(*env));
	for (size_t i = 0; env && i < n; i++)
		if (strncmp(environ[i], "NOTIFY_SOCKET=", 14))
			env[k++] = environ[i];
	return env;
}

/* nothing is its own of this process but where it writes errors: no file, signal, terminal */
static int job_twin_spawn(struct job_twin *t, const char *program, char *const argv[])
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, all;
	char **env;
	int err;

	env = job_twin_environment();
	if (!env)
		return -ENOMEM;

	sigemptyset(&none);
	sigfillset(&all);
	posix_spawn_file_actions_init(&files);
	posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&files, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addclosefrom_np(&files, 3);
	posix_spawnattr_init(&attr);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
				 POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &all);
	err = -posix_spawnp(&t->pid, program, &files, &attr, argv, env);
	free(env);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	if (err)
		t->pid = 0;
	return err;
}

/* until it listens; its own words come to standard error */
static int job_twin_await(struct job_twin *t, const char *program, uint64_t deadline, char *why)
{
	static const struct timespec pause = { .tv_nsec = 5000000 };
	struct stat st;

	while (stat(t->socket, &st)) {
		int status = -1;
		pid_t got = waitpid(t->pid, &status, WNOHANG);

		if (got == t->pid) {
			t->pid = 0;
			snprintf(why, JOB_TEXT,
				 "%s has ended, with status %d: it said why on the standard error of that rank",
				 program, WIFEXITED(status) ? WEXITSTATUS(status) :
							      128 + WTERMSIG(status));
			return -1;
		}
		/* this process has somebody else wait for its children, or nobody */
		if (got < 0 && errno == ECHILD && kill(t->pid, 0)) {
			t->pid = 0;
			snprintf(why, JOB_TEXT,
				 "%s has ended: it said why on the standard error of that rank",
				 program);
			return -1;
		}
		if (!deadline_left(deadline)) {
			snprintf(why, JOB_TEXT, "%s does not answer within the time-out", program);
			return -1;
		}
		nanosleep(&pause, NULL);
	}
	return 0;
}

int job_twin_start(struct job_twin *t, const struct job_group *g, uint64_t deadline, char *why)
{
	const char *said = secure_getenv("GAGG_TWIN");
	const char *program = said && *said ? said : "gagg-twin";
	char *const argv[] = {
		(char *)"gagg-twin", (char *)"--config", t->config, (char *)"--local",
		(char *)g->address, (char *)"--socket", t->socket, (char *)"--log-level",
		(char *)"warning", (char *)"--end-when-idle", (char *)"3", NULL,
	};
	int err;

	memset(t, 0, sizeof(*t));
	if (getauxval(AT_SECURE)) {
		snprintf(why, JOB_TEXT,
			 "a program with more rights than its caller starts no gagg-twin");
		return -1;
	}
	if (job_twin_make_folder(t, why))
		return -1;
	if (job_twin_write_config(t, g, why)) {
		job_twin_stop(t);
		return -1;
	}
	err = job_twin_spawn(t, program, argv);
	if (err)
		snprintf(why, JOB_TEXT, "%s: %s; GAGG_TWIN may say where it is", program,
			 strerror(-err));
	if (err || job_twin_await(t, program, deadline, why)) {
		job_twin_stop(t);
		return -1;
	}
	/* it was read before the socket was there */
	unlink(t->config);
	return 0;
}

void job_twin_stop(struct job_twin *t)
{
	static const struct timespec pause = { .tv_nsec = 5000000 };
	int tries = 400;

	if (t->pid)
		kill(t->pid, SIGTERM);
	while (t->pid && !waitpid(t->pid, NULL, WNOHANG)) {
		if (!tries--)
			kill(t->pid, SIGKILL);
		nanosleep(&pause, NULL);
	}
	if (*t->folder) {
		unlink(t->config);
		unlink(t->socket);
		rmdir(t->folder);
	}
	memset(t, 0, sizeof(*t));
}
