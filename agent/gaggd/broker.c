// SPDX-License-Identifier: GPL-2.0
/*
 * The broker: one message in, one message out, close. Two of each to save a checkpoint. A client
 * that loads one keeps its place until it has got it.
 *
 * Longer than 600 lines: the states of a client, and the steps between them, call one another.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>
#include <linux/sockios.h>

#include "broker.h"
#include "load.h"
#include "log.h"
#include "refuse.h"
#include "save.h"
#include "../lib/message.h"

#define BROKER_PAUSE_MS	100
#define LINGER_MS	20	/* between two looks at unread bytes */

unsigned int broker_patience_ms = 5000;

struct client {
	struct loop_event event;
	struct broker *broker;
	struct client *next, **link;
	struct ucred cred;
	int fd;
	bool passed;		/* a descriptor was sent to the client */
	struct load *load;	/* a checkpoint that is being sent */
	struct save *save;	/* COMMIT is awaited */
	struct broker_request req;	/* the SAVE request, of a save */
	struct broker_request buf;
};

/* The supplementary groups, to be freed; none when there is no memory. */
static size_t broker_peer_groups(int fd, gid_t **out)
{
	socklen_t len = 0;

	*out = NULL;
	/* With no room it fails with ERANGE, and tells the length. */
	if (!getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, NULL, &len) ||
	    errno != ERANGE || !len)
		return 0;
	*out = malloc(len);
	if (!*out || getsockopt(fd, SOL_SOCKET, SO_PEERGROUPS, *out, &len))
		return 0;
	return len / sizeof(gid_t);
}

/* 0 or a negative errno; @passed: -1: nothing */
static int broker_send_reply(int fd, const struct broker_reply *reply, int passed)
{
	struct iovec iov = { (void *)reply, sizeof(*reply) };

	/* It is the first message of a new socket, or the second: there is room. */
	return message_pass(fd, &iov, 1, &passed, passed >= 0);
}

static void broker_send_error(int fd, const struct broker_reply *reply)
{
	if (broker_send_reply(fd, reply, -1))
		log_debug("a client did not wait for its answer: %m");
}

/*
 * Passes @fd. If there is no room for descriptors in flight, the client gets an error: it would
 * take silence for the end of the daemon.
 */
static bool broker_send_descriptor(struct client *c, struct broker_reply *reply, int fd)
{
	int err = broker_send_reply(c->fd, reply, fd);

	if (!err) {
		c->passed = true;
		return true;
	}
	if (err == -EPIPE)
		return false;
	log_limited(LOG_OF_UID(c->cred.uid), LOG_L_WARN,
		    "no descriptor can be passed to uid %u, pid %d: %s%s", c->cred.uid,
		    (int)c->cred.pid, strerror(-err), err == -ETOOMANYREFS ?
		    " (more are unread than RLIMIT_NOFILE allows this user)" : "");
	memset(reply, 0, sizeof(*reply));
	reply->size = sizeof(*reply);
	reply->error = (uint32_t)-err;
	snprintf(reply->message, sizeof(reply->message), "the daemon cannot pass a descriptor: %s",
		 strerror(-err));
	broker_send_error(c->fd, reply);
	return false;
}

/*
 * A close with unread messages gives the peer ECONNRESET before it has read
 * the answer. After the shutdown no more can come; then what has come is read.
 */
static void broker_drain(int fd)
{
	char byte;

	shutdown(fd, SHUT_RD);
	while (recv(fd, &byte, 1, MSG_DONTWAIT | MSG_TRUNC) > 0)
		;
}

static void broker_send_and_close(int fd, const struct broker_reply *reply)
{
	broker_drain(fd);
	broker_send_error(fd, reply);
	close(fd);
}

/* the client's load or save is given up */
static void broker_client_drop(struct client *c)
{
	if (c->load)
		c->broker->ops->load_drop(c->load);
	if (c->save)
		c->broker->ops->drop(c->save);
	c->load = NULL;
	c->save = NULL;
}

static void broker_client_free(struct client *c)
{
	broker_client_drop(c);
	*c->link = c->next;
	if (c->next)
		c->next->link = c->link;
	c->broker->n_clients--;
	free(c);
}

/* A descriptor that was passed and not read counts against this daemon's user. */
static bool broker_is_unread(const struct client *c)
{
	int bytes = 0;

	return c->passed && !ioctl(c->fd, SIOCOUTQ, &bytes) && bytes;
}

static void broker_client_lingers(struct loop_event *ev, int res);

/*
 * The client finds the end of the connection at once. Its place becomes free, for its uid, when it
 * has read what was passed, or is gone.
 */
static void broker_client_close(struct client *c)
{
	if (!broker_is_unread(c)) {
		close(c->fd);
		broker_client_free(c);
		return;
	}
	shutdown(c->fd, SHUT_WR);
	c->event.fire = broker_client_lingers;
	loop_timer(c->broker->loop, &c->event, LINGER_MS);
}

static void broker_client_lingers(struct loop_event *ev, int res)
{
	(void)res;
	broker_client_close(loop_container(ev, struct client, event));
}

static void broker_log_refused(const struct client *c, const struct broker_reply *reply)
{
	if (reply->error)
		log_limited(LOG_OF_UID(c->cred.uid), LOG_L_INFO, "refused uid %u, pid %d: %s",
			    c->cred.uid, (int)c->cred.pid, reply->message);
}

static void broker_client_end(struct client *c, const struct broker_reply *reply)
{
	broker_log_refused(c, reply);
	broker_drain(c->fd);
	broker_send_error(c->fd, reply);
	broker_client_close(c);
}

static void broker_log_opened(const struct client *c, const struct broker_request *req,
			      const struct broker_reply *reply)
{
	if (req->op == BROKER_OP_OPEN)
		log_limited(LOG_OF_UID(c->cred.uid), LOG_L_INFO,
			    "group \"%s\": rank %u opened for uid %u, pid %d", req->group,
			    reply->rank, c->cred.uid, (int)c->cred.pid);
	else
		log_limited(LOG_OF_UID(c->cred.uid), LOG_L_INFO, "group \"%s\": checkpoint \"%s\" %s uid %u, pid %d",
			    req->group, req->name,
			    req->op == BROKER_OP_SAVE ? "is being saved by" : "opened for",
			    c->cred.uid, (int)c->cred.pid);
}

/* @groups is to be freed after the last use of what is returned. */
static struct peer broker_client_peer(int fd, const struct ucred *cred, gid_t **groups)
{
	struct peer peer = { .pid = cred->pid, .uid = cred->uid, .gid = cred->gid };

	peer.ngroups = broker_peer_groups(fd, groups);
	peer.groups = *groups;
	return peer;
}

/* all of the checkpoint was sent, or never will be */
static void broker_client_loaded(void *arg)
{
	struct client *c = arg;

	c->load = NULL;
	broker_client_close(c);
}

static int broker_client_open(struct client *c, const struct broker_request *req,
			      struct broker_reply *reply)
{
	const struct broker *b = c->broker;
	gid_t *groups;
	struct peer peer = broker_client_peer(c->fd, &c->cred, &groups);
	const struct load_ask ask = { .req = req, .done = broker_client_loaded, .arg = c };
	int fd;

	if (req->op == BROKER_OP_SAVE && b->ops->save)
		fd = b->ops->save(b->arg, req, &peer, reply, &c->save);
	else if (req->op == BROKER_OP_LOAD && b->ops->load)
		fd = b->ops->load(b->arg, &ask, &peer, reply, &c->load);
	else
		fd = b->ops->open(b->arg, req, &peer, reply);
	free(groups);
	return fd;
}

static void broker_client_received(struct loop_event *ev, int res);

static void broker_client_recv(struct client *c, unsigned int ms)
{
	c->event.fire = broker_client_received;
	loop_recv(c->broker->loop, &c->event, c->fd,
		  (struct iovec){ &c->buf, sizeof(c->buf) }, ms);
}

static unsigned int broker_save_ms(const struct client *c)
{
	return (unsigned int)broker_save_seconds(c->req.bytes) * 1000;
}

/*
 * Nothing of the answer is kept here, whatever the client does with it: a new socket has room for
 * one message.
 */
static void broker_client_tell(struct client *c, const struct broker_request *req,
			       struct broker_reply *reply)
{
	static uint64_t more[(BROKER_ANSWER_MAX - sizeof(*reply)) / sizeof(uint64_t)];
	const struct broker *b = c->broker;
	struct iovec iov[] = { { reply, sizeof(*reply) }, { more, 0 } };
	int err;

	if (b->ops->tell)
		iov[1].iov_len = b->ops->tell(b->arg, req, reply, more, sizeof(more));
	else
		refuse(reply, EOPNOTSUPP,
		       "gaggd keeps its groups in the kernel: ask for them without --twin");
	if (reply->error) {
		broker_client_end(c, reply);
		return;
	}
	broker_drain(c->fd);
	err = message_pass(c->fd, iov, 2, NULL, 0);
	if (err && err != -EPIPE) {
		refuse(reply, -err, "the answer of %zu bytes cannot be sent: %s",
		       sizeof(*reply) + iov[1].iov_len, strerror(-err));
		broker_send_error(c->fd, reply);
	}
	broker_client_close(c);
}

static bool broker_is_question(const struct broker_request *req)
{
	return req->op == BROKER_OP_TWIN || req->op == BROKER_OP_GROUP ||
	       req->op == BROKER_OP_STATS;
}

static void broker_client_first(struct client *c, const struct broker_request *req,
				struct broker_reply *reply)
{
	int fd = -1;

	if (req->op == BROKER_OP_COMMIT) {
		reply->error = EINVAL;
		snprintf(reply->message, sizeof(reply->message),
			 "there is nothing to commit: SAVE comes before it, on the same connection");
	} else {
		fd = broker_client_open(c, req, reply);
	}
	if (fd < 0) {
		broker_client_end(c, reply);
		return;
	}
	broker_log_opened(c, req, reply);
	if (!c->save)
		broker_drain(c->fd);
	c->req = *req;
	if (!broker_send_descriptor(c, reply, fd))
		broker_client_drop(c);
	if (c->save)
		broker_client_recv(c, broker_save_ms(c));
	else if (!c->load)
		broker_client_close(c);
	close(fd);
}

static void broker_client_committed(void *arg, const struct broker_reply *reply)
{
	struct client *c = arg;

	if (!reply->error)
		log_limited(LOG_OF_UID(c->cred.uid), LOG_L_INFO, "group \"%s\": checkpoint \"%s\" saved, %llu bytes",
			    c->req.group, c->req.name, (unsigned long long)c->req.bytes);
	broker_client_end(c, reply);
}

static void broker_client_commit(struct client *c, const struct broker_request *req,
				 struct broker_reply *reply)
{
	const struct broker *b = c->broker;
	struct save *save = c->save;

	c->save = NULL;
	if (req->op == BROKER_OP_COMMIT && !strcmp(req->group, c->req.group) &&
	    !strcmp(req->name, c->req.name)) {
		const struct save_answer answer = { .done = broker_client_committed, .arg = c };
		gid_t *groups;
		struct peer peer = broker_client_peer(c->fd, &c->cred, &groups);

		b->ops->commit(b->arg, save, req, &peer, &answer);
		free(groups);
		return;
	}
	b->ops->drop(save);
	reply->error = EINVAL;
	snprintf(reply->message, sizeof(reply->message),
		 "after SAVE of checkpoint \"%s\" of group \"%s\" only its COMMIT can come",
		 c->req.name, c->req.group);
	broker_client_end(c, reply);
}

static void broker_client_answer(struct client *c, size_t len)
{
	struct broker_reply reply = { .size = sizeof(reply) };
	struct broker_request req;
	size_t have = len < sizeof(c->buf) ? len : sizeof(c->buf);

	reply.error = request_check(&c->buf, have, len, &req, reply.message);
	if (reply.error)
		broker_client_end(c, &reply);
	else if (c->save)
		broker_client_commit(c, &req, &reply);
	else if (broker_is_question(&req))
		broker_client_tell(c, &req, &reply);
	else
		broker_client_first(c, &req, &reply);
}

/* The client has closed its end, or needs too long. */
static void broker_save_gone(struct client *c, int res)
{
	c->broker->ops->drop(c->save);
	c->save = NULL;
	if (res == -ECANCELED)
		log_limited(LOG_OF_UID(c->cred.uid), LOG_L_WARN, "group \"%s\": checkpoint \"%s\" of uid %u, pid %d was not finished in %u s and is given up; nothing of it is left",
			    c->req.group, c->req.name, c->cred.uid, (int)c->cred.pid,
			    broker_save_ms(c) / 1000);
	else
		log_limited(LOG_OF_UID(c->cred.uid), LOG_L_INFO, "group \"%s\": checkpoint \"%s\" was not finished; nothing of it is left",
			    c->req.group, c->req.name);
}

/* The client has closed its end, needs too long, or asked nothing. */
static void broker_client_gone(struct client *c, int res)
{
	if (c->save)
		broker_save_gone(c, res);
	else if (res == -ECANCELED)
		log_limited(LOG_OF_UID(c->cred.uid), LOG_L_INFO, "uid %u, pid %d asked nothing in %u s",
			    c->cred.uid, (int)c->cred.pid, broker_patience_ms / 1000);
	else if (res < 0)
		log_limited(LOG_OF_UID(c->cred.uid), LOG_L_WARN, "uid %u, pid %d cannot be heard: %s",
			    c->cred.uid, (int)c->cred.pid, strerror(-res));
	broker_client_close(c);
}

/* The client has closed its end: a message that came just before must not be overlooked. */
static int broker_client_last(struct client *c)
{
	struct iovec iov = { &c->buf, sizeof(c->buf) };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	ssize_t n = message_try(c->fd, &msg, MSG_TRUNC);

	return n > 0 ? (int)n : 0;
}

static void broker_client_received(struct loop_event *ev, int res)
{
	struct client *c = loop_container(ev, struct client, event);

	if (!res)
		res = broker_client_last(c);
	if (res > 0)
		broker_client_answer(c, (size_t)res);
	else if (res == -EAGAIN || res == -EINTR)
		broker_client_recv(c, c->save ? broker_save_ms(c) : broker_patience_ms);
	else
		broker_client_gone(c, res);
}

static bool broker_is_admitted(const struct broker *b, int fd, const struct ucred *cred)
{
	gid_t *groups;
	struct peer peer = broker_client_peer(fd, cred, &groups);
	bool admitted = b->ops->admits(b->arg, &peer);

	free(groups);
	return admitted;
}

static unsigned int broker_clients_of(const struct broker *b, uid_t uid)
{
	unsigned int n = 0;

	for (const struct client *c = b->clients; c; c = c->next)
		n += c->cred.uid == uid;
	return n;
}

/*
 * A uid may have as many places as it leaves free: the first one half of them, the next one half
 * of the rest. So
 * 1. a uid that has none finds one, unless seven others (strangers: six) want all they can have;
 *    and
 * 2. strangers, however many uids they have, keep nobody out whom a group admits: they share
 *    what is not kept.
 */
static bool broker_has_room(const struct broker *b, int fd, const struct ucred *cred)
{
	unsigned int left = BROKER_CLIENTS - b->n_clients, has;

	if (!cred->uid)
		return left;
	has = broker_clients_of(b, cred->uid);
	return has + BROKER_CLIENTS_KEPT < left ||
	       (has < left && broker_is_admitted(b, fd, cred));
}

static void broker_refuse(int fd, const struct ucred *cred)
{
	struct broker_reply reply = {
		.size = sizeof(reply),
		.error = EAGAIN,
		.message = "gaggd has too many requests at once: try again",
	};

	log_limited(LOG_OF_UID(cred->uid), LOG_L_WARN, "refused uid %u, pid %d: too many requests at once",
		    cred->uid, (int)cred->pid);
	broker_send_and_close(fd, &reply);
}

static void broker_accept(struct broker *b, int fd)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);
	struct client *c = NULL;

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len)) {
		close(fd);
		return;
	}
	if (broker_has_room(b, fd, &cred))
		c = calloc(1, sizeof(*c));
	if (!c) {
		broker_refuse(fd, &cred);
		return;
	}
	c->broker = b;
	c->cred = cred;
	c->fd = fd;
	c->next = b->clients;
	c->link = &b->clients;
	if (c->next)
		c->next->link = &c->next;
	b->clients = c;
	b->n_clients++;
	broker_client_recv(c, broker_patience_ms);
}

static void broker_resume(struct loop_event *ev, int res);

static void broker_connected(struct loop_event *ev, int res)
{
	struct broker *b = loop_container(ev, struct broker, event);

	if (res < 0 && res != -EINTR && res != -ECONNABORTED) {
		/* Most likely no descriptor is free: trying again at once would spin. */
		log_limited(LOG_OF_ANY, LOG_L_ERR, "accept: %s", strerror(-res));
		b->event.fire = broker_resume;
		loop_timer(b->loop, &b->event, BROKER_PAUSE_MS);
		return;
	}
	if (res >= 0)
		broker_accept(b, res);
	loop_accept(b->loop, &b->event, b->fd);
}

static void broker_resume(struct loop_event *ev, int res)
{
	struct broker *b = loop_container(ev, struct broker, event);

	(void)res;
	b->event.fire = broker_connected;
	loop_accept(b->loop, &b->event, b->fd);
}

/*
 * Is the process alive that listens where @fd is connected? The io_uring of a process that was
 * killed may hold its socket for a moment.
 */
static bool broker_listener_lives(int fd)
{
	struct ucred cred = { };
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) || cred.pid <= 0)
		return true;
	return !kill(cred.pid, 0) || errno != ESRCH;
}

/* 0: no process listens at the address, so the socket file may be replaced */
static int broker_check_free(const struct sockaddr_un *addr)
{
	struct stat st;
	int fd, ret;

	if (lstat(addr->sun_path, &st))
		return errno == ENOENT ? 0 : -errno;
	if (!S_ISSOCK(st.st_mode))
		return -ENOTSOCK;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	ret = connect(fd, (const struct sockaddr *)addr, sizeof(*addr));
	if (!ret)
		ret = broker_listener_lives(fd) ? -EADDRINUSE : 0;
	else
		ret = errno == EAGAIN ? -EADDRINUSE :
		      errno == ECONNREFUSED || errno == ENOENT ? 0 : -errno;
	close(fd);
	return ret;
}

/*
 * Bound under another name and renamed: clients never meet a socket that does
 * not listen, and the stale file goes in the same step.
 */
static int broker_listen(struct broker *b)
{
	struct sockaddr_un tmp = { .sun_family = AF_UNIX };
	mode_t was;
	int n, ret;

	n = snprintf(tmp.sun_path, sizeof(tmp.sun_path), "%s.%d",
		     b->addr.sun_path, (int)getpid());
	if (n < 0 || (size_t)n >= sizeof(tmp.sun_path))
		return -ENAMETOOLONG;
	b->fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (b->fd < 0)
		return -errno;
	unlink(tmp.sun_path);
	/*
	 * Authorisation is per group, so any user may connect. The mode is set by umask: chmod()
	 * could follow a link.
	 */
	was = umask(0111);
	ret = bind(b->fd, (struct sockaddr *)&tmp, sizeof(tmp)) ? -errno : 0;
	umask(was);
	if (ret)
		return ret;
	if (listen(b->fd, 2 * BROKER_CLIENTS) ||
	    lstat(tmp.sun_path, &b->stat))
		goto error;
	ret = broker_check_free(&b->addr);
	if (ret) {
		unlink(tmp.sun_path);
		return ret;
	}
	if (!rename(tmp.sun_path, b->addr.sun_path))
		return 0;
error:
	ret = -errno;
	unlink(tmp.sun_path);
	return ret;
}

static void broker_make_parent(const char *path)
{
	char dir[sizeof(((struct sockaddr_un *)0)->sun_path)];
	char *slash;

	snprintf(dir, sizeof(dir), "%s", path);
	slash = strrchr(dir, '/');
	if (!slash || slash == dir)
		return;
	*slash = 0;
	/* When it fails, so does bind(), and says so. */
	mkdir(dir, 0755);
}

int broker_init(struct broker *b, struct loop *loop, const char *path,
		const struct broker_ops *ops, void *arg)
{
	int ret = -ENAMETOOLONG;

	*b = (struct broker){
		.loop = loop,
		.ops = ops,
		.arg = arg,
		.event.fire = broker_connected,
		.fd = -1,
		.addr.sun_family = AF_UNIX,
	};
	if (!*path || strlen(path) >= sizeof(b->addr.sun_path))
		goto error;
	strcpy(b->addr.sun_path, path);
	broker_make_parent(path);
	ret = broker_listen(b);
	if (ret)
		goto error;
	loop_accept(loop, &b->event, b->fd);
	return 0;
error:
	if (ret == -EADDRINUSE)
		log_err("%s: another gaggd is answering there", path);
	else if (ret == -ENOTSOCK)
		log_err("%s: exists and is not a socket; it is left alone", path);
	else
		log_err("%s: %s", path, strerror(-ret));
	if (b->fd >= 0)
		close(b->fd);
	b->fd = -1;
	return ret;
}

void broker_exit(struct broker *b)
{
	struct stat st;

	while (b->clients) {
		struct client *c = b->clients;

		close(c->fd);
		broker_client_free(c);
	}
	if (b->fd < 0)
		return;
	if (!lstat(b->addr.sun_path, &st) && st.st_dev == b->stat.st_dev &&
	    st.st_ino == b->stat.st_ino)
		unlink(b->addr.sun_path);
	close(b->fd);
	b->fd = -1;
}
