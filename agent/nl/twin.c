// SPDX-License-Identifier: GPL-2.0
/*
 * A gagg-twin instead of the module: broker_proto.h has the protocol. Each question has a
 * connection of its own. Answers are not trusted, since any process can listen at a path.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "socket.h"
#include "twin.h"
#include "../lib/deadline.h"
#include "../lib/message.h"

#define GROUPS_MAX	4096	/* a twin with more groups is not believed */

unsigned int nl_twin_ms = 5000;

/* an answer, taken apart by twin_answer() */
struct answer {
	struct broker_reply reply;
	const void *more;
	size_t n;
};

_Static_assert(BROKER_ANSWER_MAX <= NL_MESSAGE_MAX, "struct nl has no room for an answer");

static int twin_say(int err, char text[NL_SENTENCE_MAX], const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static int twin_say(int err, char text[NL_SENTENCE_MAX], const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, NL_SENTENCE_MAX, fmt, ap);
	va_end(ap);
	return err;
}

const struct nl_twin *nl_twin(const struct nl *nl)
{
	return *nl->twin.path ? &nl->twin : NULL;
}

/* copies an untrusted sentence so that it can be printed on a terminal */
static void twin_copy_plain(char *to, const char *from, size_t size)
{
	size_t i;

	for (i = 0; i < size - 1 && from[i]; i++)
		to[i] = from[i] >= ' ' && from[i] < 0x7f ? from[i] : '?';
	to[i] = 0;
}

int twin_answer(const void *buf, size_t len, struct broker_reply *reply, const void **more,
		size_t *n)
{
	char message[BROKER_MESSAGE_MAX];

	if (len < sizeof(*reply))
		return -EBADMSG;
	memcpy(reply, buf, sizeof(*reply));
	if (reply->size != sizeof(*reply) || reply->error < 0 || reply->error > 4095) {
		reply->error = 0;
		return -EBADMSG;
	}
	memcpy(message, reply->message, sizeof(message));
	message[sizeof(message) - 1] = 0;
	twin_copy_plain(reply->message, message, sizeof(reply->message));
	*more = (const char *)buf + sizeof(*reply);
	*n = len - sizeof(*reply);
	return -reply->error;
}

struct nlmsghdr *twin_message(const void *more, size_t n)
{
	struct nlmsghdr *hdr = (struct nlmsghdr *)more;

	if (n < NLMSG_HDRLEN + GENL_HDRLEN || hdr->nlmsg_len != n)
		return NULL;
	return hdr;
}

/* false: it has no end, or is not plain. What differs does so within @size */
static bool twin_copy_word(char *to, const char *from, size_t size)
{
	twin_copy_plain(to, from, size);
	return !strcmp(to, from);
}

int twin_hello(const void *more, size_t n, struct nl_twin *out)
{
	struct broker_twin t;

	/* a later version may say more */
	if (n < sizeof(t))
		return -EBADMSG;
	memcpy(&t, more, sizeof(t));
	if (t.size < sizeof(t) || !twin_copy_word(out->version, t.version, sizeof(t.version)) ||
	    !twin_copy_word(out->config, t.config, sizeof(t.config)))
		return -EBADMSG;
	out->wire_min = t.wire_min;
	out->wire_max = t.wire_max;
	return 0;
}

static int twin_connect_to(const char *path, uint64_t deadline, char text[NL_SENTENCE_MAX],
			   int *out)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int err;

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	*out = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (*out < 0)
		return twin_say(-errno, text, "socket: %s", strerror(errno));
	err = message_connect(*out, (struct sockaddr *)&addr, sizeof(addr), deadline);
	if (!err || err == -ETIMEDOUT)
		return err;
	return twin_say(err, text, err == -EPROTOTYPE ? "%s is no socket of gagg-twin" :
			err == -ENOENT || err == -ECONNREFUSED ? "no gagg-twin listens at %s" :
			"cannot ask gagg-twin at %s: %s", path, strerror(-err));
}

/* bytes to nl->buf, or a negative errno, with a sentence unless it is -ETIMEDOUT */
static ssize_t twin_exchange(struct nl *nl, int fd, const struct broker_request *req,
			     uint64_t deadline, char text[NL_SENTENCE_MAX])
{
	struct iovec iov = { (void *)req, sizeof(*req) };
	const struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n = message_send(fd, &msg, deadline);

	iov = (struct iovec){ nl->buf, sizeof(nl->buf) };
	if (n >= 0)
		n = message_receive(fd, &(struct message_room){ &iov, 1, NULL, 0 }, deadline);
	if (n > 0 || n == -ETIMEDOUT)
		return n;
	return twin_say(-EIO, text, "what listens at %s has hung up without an answer%s%s",
			nl->twin.path, n ? ": " : "", n ? strerror((int)-n) : "");
}

/* One question: 0, with the answer, or -errno with a sentence. */
static int twin_ask(struct nl *nl, const struct broker_request *req, uint64_t deadline,
		    struct answer *a, char text[NL_SENTENCE_MAX])
{
	const char *path = nl->twin.path;
	ssize_t len = 0;
	int fd, err;

	a->reply.error = 0;
	err = twin_connect_to(path, deadline, text, &fd);
	if (!err)
		len = twin_exchange(nl, fd, req, deadline, text);
	if (fd >= 0)
		close(fd);
	if (err == -ETIMEDOUT || len == -ETIMEDOUT)
		return twin_say(-ETIMEDOUT, text,
				"gagg-twin at %s has not answered within %u s", path,
				nl_twin_ms / 1000);
	if (err || len < 0)
		return err ? err : (int)len;
	err = twin_answer(nl->buf, (size_t)len, &a->reply, &a->more, &a->n);
	if (err == -EBADMSG && !a->reply.error)
		return twin_say(err, text, "what listens at %s gives no answer that this gaggctl understands: is it a gagg-twin of this version?",
				path);
	return err ? twin_say(err, text, "%s",
			      *a->reply.message ? a->reply.message : strerror(-err)) : 0;
}

static struct broker_request twin_question(uint32_t op, const char *name, uint32_t at)
{
	struct broker_request req = {
		.size = sizeof(req), .version = BROKER_VERSION, .op = op, .rank = at,
	};

	/* the caller's is no longer */
	snprintf(req.group, sizeof(req.group), "%s", name);
	return req;
}

/* The answer to @q is a netlink message. */
static int twin_hand_on(const struct nl *nl, const struct answer *a, const struct nl_question *q,
			char text[NL_SENTENCE_MAX])
{
	struct nlmsghdr *hdr = twin_message(a->more, a->n);
	int err = hdr ? q->each(hdr, q->arg) : -EBADMSG;

	if (err == -EBADMSG || err == -ENODATA)
		twin_say(err, text, "the answer of gagg-twin at %s makes no sense; is it of another version?",
			 nl->twin.path);
	return err;
}

static int twin_ask_each(struct nl *nl, const struct nl_question *q, uint64_t deadline,
			 char text[NL_SENTENCE_MAX])
{
	uint32_t i, total = 1;
	int err = 0;

	for (i = 0; i < total && !err; i++) {
		const struct broker_request req = twin_question(BROKER_OP_GROUP, "", i);
		struct answer a;

		err = twin_ask(nl, &req, deadline, &a, text);
		if (err)
			break;
		total = a.reply.rank;
		err = twin_hand_on(nl, &a, q, text);
		if (!err && total > GROUPS_MAX)
			err = twin_say(-EBADMSG, text, "gagg-twin at %s says that it has %u groups, which no host has",
				       nl->twin.path, total);
	}
	return err;
}

int nl_twin_transact(struct nl *nl, const struct nl_question *q, char text[NL_SENTENCE_MAX])
{
	const char *name = q->group ? q->group->name : "";
	uint64_t deadline = deadline_in((int)nl_twin_ms);
	struct broker_request req;
	struct answer a;
	int err;

	if (q->cmd == GAGG_CMD_GROUP_GET && !*name)
		return twin_ask_each(nl, q, deadline, text);
	if (q->cmd == GAGG_CMD_GROUP_GET || q->cmd == GAGG_CMD_MEMBER_GET)
		req = twin_question(BROKER_OP_GROUP, name, 0);
	else if (q->cmd == GAGG_CMD_STATS_GET)
		req = twin_question(BROKER_OP_STATS, name, 0);
	else
		return twin_say(-EOPNOTSUPP, text, "gagg-twin at %s has its groups from %s: edit that, and restart gagg-twin",
				nl->twin.path, nl->twin.config);
	err = twin_ask(nl, &req, deadline, &a, text);
	return err ? err : twin_hand_on(nl, &a, q, text);
}

/* gaggd and daemons that do not know the question have sentences of their own. */
static int twin_greet(struct nl *nl, const char *path, char text[NL_SENTENCE_MAX])
{
	const struct broker_request req = twin_question(BROKER_OP_TWIN, BROKER_NO_GROUP, 0);
	char said[NL_SENTENCE_MAX];
	struct answer a;
	int err;

	if (!*path || strlen(path) >= sizeof(nl->twin.path))
		return twin_say(-ENAMETOOLONG, text,
				"'%s' is no path of a socket: it has 1 to %zu characters", path,
				sizeof(nl->twin.path) - 1);
	strcpy(nl->twin.path, path);
	err = twin_ask(nl, &req, deadline_in((int)nl_twin_ms), &a, text);
	if (!err && twin_hello(a.more, a.n, &nl->twin))
		return twin_say(-EBADMSG, text, "what listens at %s gives no answer that this gaggctl understands: is it a gagg-twin of this version?",
				path);
	if (!a.reply.error)
		return err;
	strcpy(said, text);
	return twin_say(err, text, a.reply.error == EINVAL || a.reply.error == EPROTONOSUPPORT ?
			"what listens at %s is older than this gaggctl, or no gagg-twin: %s" : "%s: %s",
			path, said);
}

struct nl *nl_open_twin(const char *path)
{
	struct nl *nl = calloc(1, sizeof(*nl));
	char text[NL_SENTENCE_MAX] = "no memory";
	int err = nl ? twin_greet(nl, path, text) : -ENOMEM;

	return err ? nl_open_failed(nl, -err, text) : nl;
}
