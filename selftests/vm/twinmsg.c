// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/socket.h>

#include "broker.h"
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

int twinmsg_ask(int fd, uint32_t request, void *arg, size_t size, int fds[TWIN_FDS])
{
	struct twin_message head = { .request = request };
	struct iovec iov[2] = { { &head, sizeof(head) }, { arg, size } };
	union {
		char buf[CMSG_SPACE(TWIN_FDS * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };
	struct cmsghdr *c;

	memset(fds, 0xff, TWIN_FDS * sizeof(int));
	if (sendmsg(fd, &msg, MSG_NOSIGNAL) < 0)
		return -errno;
	msg.msg_control = control.buf;
	msg.msg_controllen = sizeof(control.buf);
	if (recvmsg(fd, &msg, MSG_CMSG_CLOEXEC) <= 0)
		return -EPIPE;
	c = CMSG_FIRSTHDR(&msg);
	if (c && c->cmsg_type == SCM_RIGHTS)
		memcpy(fds, CMSG_DATA(c), c->cmsg_len - CMSG_LEN(0));
	return head.error;
}
