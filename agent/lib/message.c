// SPDX-License-Identifier: LGPL-2.1-only OR MIT
#define _GNU_SOURCE 1
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "deadline.h"
#include "message.h"

/* 0, or -ETIMEDOUT; a signal neither ends the wait nor restarts its time */
static int message_await(int fd, short events, uint64_t deadline)
{
	struct pollfd p = { .fd = fd, .events = events };
	uint64_t left;

	for (;;) {
		struct timespec ts, *timeout = NULL;

		left = deadline_left(deadline);
		if (!left)
			return -ETIMEDOUT;
		if (left != UINT64_MAX) {
			ts.tv_sec = (time_t)(left / 1000000000);
			ts.tv_nsec = (long)(left % 1000000000);
			timeout = &ts;
		}
		if (ppoll(&p, 1, timeout, NULL) > 0)
			return 0;
	}
}

/* connect() cannot poll for a place in the listener's queue: it gets a timeout */
static int message_limit_connect(int fd, uint64_t deadline)
{
	uint64_t us = deadline_left(deadline) / 1000;
	struct timeval tv = { .tv_sec = (time_t)(us / 1000000),
			      .tv_usec = (suseconds_t)(us % 1000000) };

	if (!us)
		return -ETIMEDOUT;
	if (deadline == DEADLINE_NEVER)
		return 0;
	return setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv)) ? -errno : 0;
}

int message_connect(int fd, const struct sockaddr *addr, socklen_t len, uint64_t deadline)
{
	int err;

	for (;;) {
		err = message_limit_connect(fd, deadline);
		if (err)
			return err;
		if (!connect(fd, addr, len))
			return 0;
		if (errno == EAGAIN)
			return -ETIMEDOUT;
		if (errno != EINTR)
			return -errno;
	}
}

int message_pass(int fd, struct iovec *iov, size_t parts, const int *fds, unsigned int n)
{
	union {
		char buf[CMSG_SPACE(MESSAGE_FDS * sizeof(int))];
		struct cmsghdr align;
	} control = { { 0 } };
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = parts };
	struct cmsghdr *c;

	if (n) {
		msg.msg_control = control.buf;
		msg.msg_controllen = CMSG_SPACE(n * sizeof(int));
		c = CMSG_FIRSTHDR(&msg);
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(n * sizeof(int));
		memcpy(CMSG_DATA(c), fds, n * sizeof(int));
	}
	return sendmsg(fd, &msg, MSG_DONTWAIT | MSG_NOSIGNAL) < 0 ? -errno : 0;
}

ssize_t message_send(int fd, const struct msghdr *msg, uint64_t deadline)
{
	for (;;) {
		ssize_t n = sendmsg(fd, msg, MSG_NOSIGNAL | MSG_DONTWAIT);
		int err;

		if (n >= 0)
			return n;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		err = message_await(fd, POLLOUT, deadline);
		if (err)
			return err;
	}
}

/*
 * A peer that sends and closes may do both after the kernel has looked for a message, and before it
 * looks for the end (unix_dgram_recvmsg()). Then recvmsg() returns 0, and the message is still
 * there. After the end none can come, so the second look is right. A message that is empty, but
 * came with descriptors, is no end: the caller gets it.
 */
ssize_t message_try(int fd, struct msghdr *msg, int flags)
{
	size_t room = msg->msg_controllen;
	ssize_t n = recvmsg(fd, msg, flags | MSG_CMSG_CLOEXEC | MSG_DONTWAIT);

	if (n || msg->msg_controllen)
		return n;
	msg->msg_controllen = room;
	return recvmsg(fd, msg, flags | MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
}

static ssize_t message_receive_once(int fd, struct msghdr *msg, uint64_t deadline)
{
	for (;;) {
		ssize_t n = message_try(fd, msg, 0);
		int err;

		if (n >= 0)
			return n;
		if (errno != EAGAIN && errno != EINTR)
			return -errno;
		err = message_await(fd, POLLIN, deadline);
		if (err)
			return err;
	}
}

static void message_take_fds(const struct cmsghdr *c, int *fds, unsigned int most)
{
	size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int), i;
	int fd;

	for (i = 0; i < n; i++) {
		memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
		if (i < most)
			fds[i] = fd;
		else
			close(fd);
	}
}

ssize_t message_receive(int fd, const struct message_room *room, uint64_t deadline)
{
	union {
		char buf[CMSG_SPACE(MESSAGE_FDS * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct msghdr msg = {
		.msg_iov = room->iov, .msg_iovlen = room->parts,
		.msg_control = control.buf, .msg_controllen = sizeof(control.buf),
	};
	struct cmsghdr *c;
	unsigned int i;
	ssize_t n;

	for (i = 0; i < room->most; i++)
		room->fds[i] = -1;
	n = message_receive_once(fd, &msg, deadline);
	for (c = n < 0 ? NULL : CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
			message_take_fds(c, room->fds, room->most);
	return n;
}
