// SPDX-License-Identifier: LGPL-2.1-only OR MIT
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "broker.h"
#include "broker_proto.h"
#include "error.h"

/* gaggd answers at once; this ends the wait for one that is stopped */
#define PATIENCE_MS	30000

static int broker_connect(const char *path, int timeout_ms)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	struct timeval tv = { .tv_sec = timeout_ms / 1000,
			      .tv_usec = timeout_ms % 1000 * 1000 };
	int fd;

	if (strlen(path) >= sizeof(addr.sun_path))
		return error_set(GAGG_ERR_INVALID, "%s: the path is too long for a socket",
				 path);
	strcpy(addr.sun_path, path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return error_set(GAGG_ERR_SYSTEM, "socket: %s", strerror(errno));
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &tv, sizeof(tv));
	if (!connect(fd, (struct sockaddr *)&addr, sizeof(addr)))
		return fd;
	error_set(GAGG_ERR_BROKER, "cannot ask gaggd at %s: %s%s", path, strerror(errno),
		  errno == ENOENT || errno == ECONNREFUSED ?
		  " (is gaggd running on this host?)" : "");
	close(fd);
	return GAGG_ERR_BROKER;
}

/* one message, and the descriptor that came with it or -1 */
static ssize_t receive(int fd, struct broker_reply *reply, int *passed)
{
	struct iovec iov = { reply, sizeof(*reply) };
	union {
		char buf[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct msghdr msg = {
		.msg_iov = &iov, .msg_iovlen = 1,
		.msg_control = control.buf, .msg_controllen = sizeof(control.buf),
	};
	struct cmsghdr *c;
	ssize_t n;

	*passed = -1;
	do
		n = recvmsg(fd, &msg, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return n;
	for (c = CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS &&
		    c->cmsg_len == CMSG_LEN(sizeof(int)))
			memcpy(passed, CMSG_DATA(c), sizeof(int));
	return n;
}

static int broker_ask(int fd, const char *path, const struct broker_request *req)
{
	struct broker_reply reply;
	int passed;
	ssize_t n;

	memset(&reply, 0, sizeof(reply));
	if (send(fd, req, sizeof(*req), MSG_NOSIGNAL) < 0)
		return error_set(GAGG_ERR_BROKER, "gaggd at %s: %s", path, strerror(errno));
	n = receive(fd, &reply, &passed);
	if (n < 0)
		return error_set(GAGG_ERR_BROKER, "gaggd at %s does not answer: %s",
				 path, strerror(errno));
	reply.message[sizeof(reply.message) - 1] = 0;
	if ((size_t)n < sizeof(reply) || (!reply.error && passed < 0)) {
		if (passed >= 0)
			close(passed);
		return error_set(GAGG_ERR_BROKER,
				 "gaggd at %s gives no answer that this libgagg understands",
				 path);
	}
	if (!reply.error)
		return passed;
	if (passed >= 0)
		close(passed);
	return error_set(GAGG_ERR_BROKER, "%s", reply.message[0] ? reply.message :
			 strerror(reply.error));
}

int broker_open(const char *path, const char *group, uint32_t rank, int timeout_ms)
{
	struct broker_request req = {
		.size = sizeof(req),
		.version = BROKER_VERSION,
		.rank = rank,
	};
	int fd, ret;

	if (!group || !*group || strlen(group) >= sizeof(req.group))
		return error_set(GAGG_ERR_INVALID, "a group's name has 1 to %zu characters",
				 sizeof(req.group) - 1);
	strcpy(req.group, group);
	if (!path)
		path = getenv(BROKER_SOCKET_ENV);
	if (!path || !*path)
		path = BROKER_SOCKET;
	if (timeout_ms <= 0 || timeout_ms > PATIENCE_MS)
		timeout_ms = PATIENCE_MS;
	fd = broker_connect(path, timeout_ms);
	if (fd < 0)
		return fd;
	ret = broker_ask(fd, path, &req);
	close(fd);
	return ret;
}
