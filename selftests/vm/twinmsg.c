// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/socket.h>

#include "broker.h"
#include "deadline.h"
#include "message.h"
#include "twinmsg.h"

int twinmsg_open(const char *path, const char *group, uint32_t rank)
{
	int i, fd = -1;

	/* the last one may still be on its way out */
	for (i = 0; i < 100 && fd < 0; i++) {
		fd = broker_open(path, group, rank, 5000);
		if (fd < 0)
			usleep(20000);
	}
	if (fd < 0) {
		fprintf(stderr, "no session\n");
		exit(2);
	}
	return fd;
}

int twinmsg_send(int fd, uint32_t request, void *arg, size_t size)
{
	struct twin_message head = { .request = request };
	struct iovec iov[2] = { { &head, sizeof(head) }, { arg, size } };
	const struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };

	return sendmsg(fd, &msg, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

int twinmsg_answer(int fd, int *error, void *arg, size_t size, int fds[TWIN_FDS],
		   int timeout_ms)
{
	struct twin_message head = { .error = 0 };
	struct iovec iov[2] = { { &head, sizeof(head) }, { arg, size } };
	const struct message_room room = { iov, 2, fds, TWIN_FDS };
	ssize_t n = message_receive(fd, &room, deadline_in(timeout_ms));

	*error = head.error;
	return n < 0 ? (int)n : n ? 0 : -EPIPE;
}

int twinmsg_ask(int fd, uint32_t request, void *arg, size_t size, int fds[TWIN_FDS])
{
	int err = twinmsg_send(fd, request, arg, size), error = 0;

	if (!err)
		err = twinmsg_answer(fd, &error, arg, size, fds, -1);
	return err ? err : error;
}
