// SPDX-License-Identifier: LGPL-2.1-only OR MIT
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "broker.h"
#include "broker_proto.h"
#include "deadline.h"
#include "error.h"
#include "message.h"

/* gaggd answers at once; this ends the wait for one that is stopped */
#define PATIENCE_MS	30000

static const char *broker_socket_path(const char *path)
{
	if (!path || !*path)
		path = secure_getenv(BROKER_SOCKET_ENV);
	return path && *path ? path : BROKER_SOCKET;
}

static int broker_connect(const char *path, uint64_t deadline)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd, err;

	if (strlen(path) >= sizeof(addr.sun_path))
		return error_set(GAGG_ERR_INVALID, "%s: the path is too long for a socket",
				 path);
	strcpy(addr.sun_path, path);
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return error_set(GAGG_ERR_SYSTEM, "socket: %s", strerror(errno));
	err = message_connect(fd, (struct sockaddr *)&addr, sizeof(addr), deadline);
	if (!err)
		return fd;
	error_set(GAGG_ERR_BROKER, "cannot ask gaggd at %s: %s%s", path, strerror(-err),
		  err == -ENOENT || err == -ECONNREFUSED ?
		  " (is gaggd running on this host?)" : "");
	close(fd);
	return GAGG_ERR_BROKER;
}

/*
 * COMMIT got no answer, but an error or the end of the file. gaggd closes the connection without an
 * answer when it gives up a save, and then leaves COMMIT unread.
 */
static int broker_no_answer_to_commit(const char *path, ssize_t n, uint64_t seconds)
{
	if (n == -EPIPE || n == -ECONNRESET)
		return error_set(GAGG_ERR_BROKER,
				 "gaggd at %s has given the save up, or has ended: it waits %llu minutes for a checkpoint of this size; nothing of it is kept",
				 path, (unsigned long long)seconds / 60);
	if (n < 0 && n != -ETIMEDOUT)
		return error_set(GAGG_ERR_BROKER, "gaggd at %s: %s", path, strerror((int)-n));
	return error_set(GAGG_ERR_BROKER,
			 "gaggd at %s %s the checkpoint was asked to be kept: it may still be kept",
			 path, n ? "has not answered since" : "has ended after");
}

static int broker_no_answer(const char *path, const struct broker_request *req, ssize_t n,
			    uint64_t seconds)
{
	if (req->op == BROKER_OP_COMMIT)
		return broker_no_answer_to_commit(path, n, seconds);
	return error_set(GAGG_ERR_BROKER, "gaggd at %s does not answer: %s", path,
			 n ? strerror((int)-n) : "it has ended");
}

/* Returns the descriptor that came, GAGG_OK if @op has none, or an error. */
static int broker_ask(int fd, const char *path, const struct broker_request *req,
		      uint64_t seconds, uint64_t deadline)
{
	struct iovec iov = { (void *)req, sizeof(*req) }, answer;
	const struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	bool passes = req->op != BROKER_OP_COMMIT, came;
	struct broker_reply reply;
	int passed = -1;
	ssize_t n;

	memset(&reply, 0, sizeof(reply));
	n = message_send(fd, &msg, deadline);
	answer = (struct iovec){ &reply, sizeof(reply) };
	if (n >= 0)
		n = message_receive(fd, &(struct message_room){ &answer, 1, &passed, 1 },
				    deadline);
	if (n <= 0)
		return broker_no_answer(path, req, n, seconds);
	reply.message[sizeof(reply.message) - 1] = 0;
	came = passed >= 0;
	if ((size_t)n == sizeof(reply) && !reply.error && came == passes)
		return passes ? passed : GAGG_OK;
	if (came)
		close(passed);
	if ((size_t)n < sizeof(reply) || !reply.error)
		return error_set(GAGG_ERR_BROKER,
				 "gaggd at %s gives no answer that this libgagg understands",
				 path);
	return error_set(GAGG_ERR_BROKER, "%s", reply.message[0] ? reply.message :
			 strerror(reply.error));
}

/* GAGG_OK, or an error if a name is invalid */
static int broker_fill_names(struct broker_request *req, const char *group, const char *name)
{
	if (!group || !*group || strlen(group) >= sizeof(req->group))
		return error_set(GAGG_ERR_INVALID, "a group's name has 1 to %zu characters",
				 sizeof(req->group) - 1);
	if (strlen(name) >= sizeof(req->name))
		return error_set(GAGG_ERR_INVALID, "a checkpoint's name has 1 to %zu characters",
				 sizeof(req->name) - 1);
	strcpy(req->group, group);
	strcpy(req->name, name);
	return GAGG_OK;
}

/*
 * gaggd answers at once: a caller with a timeout waits no longer than that, and none waits for ever
 */
static int broker_patience(int timeout_ms)
{
	return timeout_ms > 0 && timeout_ms < PATIENCE_MS ? timeout_ms : PATIENCE_MS;
}

/*
 * Opens a connection and asks. @connection, if not NULL, receives it; otherwise, and after an
 * error, it is closed.
 */
static int broker_request(const char *path, struct broker_request *req, int timeout_ms,
			  int *connection)
{
	uint64_t deadline = deadline_in(broker_patience(timeout_ms));
	int fd, ret;

	path = broker_socket_path(path);
	fd = broker_connect(path, deadline);
	if (fd < 0)
		return fd;
	ret = broker_ask(fd, path, req, broker_patience(timeout_ms) / 1000, deadline);
	if (ret >= 0 && connection)
		*connection = fd;
	else
		close(fd);
	return ret;
}

int broker_open(const char *path, const char *group, uint32_t rank, int timeout_ms)
{
	struct broker_request req = {
		.size = sizeof(req), .version = BROKER_VERSION, .op = BROKER_OP_OPEN,
		.rank = rank,
	};
	int err = broker_fill_names(&req, group, "");

	return err ? err : broker_request(path, &req, timeout_ms, NULL);
}

int broker_save(const struct broker_checkpoint *k, int timeout_ms, int *connection)
{
	struct broker_request req = {
		.size = sizeof(req), .version = BROKER_VERSION, .op = BROKER_OP_SAVE,
		.bytes = k->bytes,
	};
	/* gaggd may wait for a slow disk */
	struct timeval limit = { .tv_sec = (time_t)broker_save_seconds(k->bytes) };
	int ret = broker_fill_names(&req, k->group, k->name);

	if (!ret)
		ret = broker_request(k->path, &req, timeout_ms, connection);
	if (ret >= 0)
		setsockopt(ret, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	return ret;
}

int broker_commit(int connection, const struct broker_checkpoint *k)
{
	uint64_t seconds = broker_save_seconds(k->bytes);
	struct broker_request req = {
		.size = sizeof(req), .version = BROKER_VERSION, .op = BROKER_OP_COMMIT,
	};
	int err = broker_fill_names(&req, k->group, k->name);

	if (!err)
		err = broker_ask(connection, broker_socket_path(k->path), &req, seconds,
				 deadline_in((int)seconds * 1000));
	close(connection);
	return err;
}

int broker_load(const char *path, const char *group, const char *name, int timeout_ms)
{
	struct broker_request req = {
		.size = sizeof(req), .version = BROKER_VERSION, .op = BROKER_OP_LOAD,
	};
	int ms = timeout_ms > 0 && timeout_ms < BROKER_IDLE_MS ? timeout_ms : BROKER_IDLE_MS;
	struct timeval limit = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };
	int ret = broker_fill_names(&req, group, name);

	if (!ret)
		ret = broker_request(path, &req, timeout_ms, NULL);
	if (ret >= 0)
		setsockopt(ret, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	return ret;
}
