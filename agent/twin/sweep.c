// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sweep.h"
#include "../lib/deadline.h"
#include "../lib/message.h"

#define SWEEPS	16		/* at a time; more are left to those that hold them */
#define REAP_MS	100

/* takes as long as somebody holds the file's lock */
static void sweep_punch(int fd)
{
	struct stat st;

	if (!fstat(fd, &st) && st.st_size > 0)
		fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, st.st_size);
}

/* false: the twin has ended */
static bool sweep_next(int socket, unsigned int *running)
{
	char byte;
	struct iovec iov = { &byte, 1 };
	pid_t pid;
	int fd;

	if (message_receive(socket, &(struct message_room){ &iov, 1, &fd, 1 }, DEADLINE_NEVER) <= 0)
		return false;
	if (fd < 0)
		return true;
	/* its pages go when no process holds it */
	if (*running == SWEEPS) {
		close(fd);
		return true;
	}
	pid = fork();
	if (!pid) {
		/* a reader of the twin's log must find its end when the twin ends */
		close(STDIN_FILENO);
		close(STDOUT_FILENO);
		close(STDERR_FILENO);
		close(socket);
		sweep_punch(fd);
		_exit(0);
	}
	*running += pid > 0;
	close(fd);
	return true;
}

static void sweep_sweeper(int socket)
{
	struct pollfd p = { .fd = socket, .events = POLLIN };
	unsigned int running = 0;
	bool more = true;

	while (more) {
		bool ready = poll(&p, 1, running ? REAP_MS : -1) > 0;

		while (running && waitpid(-1, NULL, WNOHANG) > 0)
			running--;
		if (ready)
			more = sweep_next(socket, &running);
	}
}

int sweep_start(void)
{
	int pair[2], err;
	pid_t pid;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -1;
	pid = fork();
	if (pid > 0) {
		close(pair[1]);
		return pair[0];
	}
	if (!pid) {
		close(pair[0]);
		/* signals of a terminal, too: it goes on until the twin has ended */
		signal(SIGINT, SIG_IGN);
		signal(SIGTERM, SIG_IGN);
		signal(SIGHUP, SIG_IGN);
		signal(SIGUSR1, SIG_IGN);
		prctl(PR_SET_NAME, "gagg-sweep");
		sweep_sweeper(pair[1]);
		_exit(0);
	}
	err = errno;
	close(pair[0]);
	close(pair[1]);
	errno = err;
	return -1;
}

bool sweep_file(int sweeper, int fd)
{
	char byte = 0;
	struct iovec iov = { &byte, 1 };

	return !message_pass(sweeper, &iov, 1, &fd, 1);
}
