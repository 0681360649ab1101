// SPDX-License-Identifier: GPL-2.0
/*
 * The socket of a session: a message in, an answer out. See agent/lib/twin_proto.h.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <linux/sockios.h>

#include "channel.h"
#include "group.h"
#include "link.h"
#include "memory.h"
#include "op.h"
#include "session.h"
#include "twin.h"
#include "worker.h"
#include "core/ask.h"
#include "core/refusal.h"
#include "../gaggd/log.h"
#include "../lib/message.h"

#ifndef SO_PASSPIDFD
#define SO_PASSPIDFD	76
#endif
#ifndef SCM_PIDFD
#define SCM_PIDFD	0x04
#endif

#define UNREAD_MAX	(4 << 10)	/* bytes, as the kernel counts them */
#define LAST_MAX	16		/* requests that a rank may have left in its socket */

union arg {
	u64 offset;
	union gagg_ask ask;
};

struct request {
	struct twin_message head;
	union arg arg;
	size_t length;		/* of arg */
	pid_t pid;		/* process that asks; 0: it has no number here */
	int pid_fd;		/* the same process, if the kernel tells; -1 */
	int fds[TWIN_FDS];	/* for the answer */
	unsigned int n_fds;
};

static void link_died(struct loop_event *ev, int res);

/* --- requests ------------------------------------------------------------- */

/*
 * Passes the page, the bell, and the trainer's end of the events. The file description of the bell
 * is shared, so a trainer may make it block: it is never read nor written here.
 */
static int link_do_hello(struct session *s, struct request *r)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	struct worker *w = s->group->part[0].port->worker;
	int err, pair[2];

	if (s->memory.addr)
		return -EBUSY;
	err = memory_theirs(&s->memory, "gagg-page", sizeof(*s->page));
	if (err)
		return err;
	s->bell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->bell < 0 || epoll_ctl(w->epoll, EPOLL_CTL_ADD, s->bell, &ev) ||
	    socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair))
		return -errno;
	s->events = pair[0];
	s->theirs = pair[1];
	worker_lock(w);
	s->page = s->memory.addr;
	s->page->awake = 1;
	s->next = w->sessions;
	w->sessions = s;
	worker_unlock(w);
	/* the worker may have gone to sleep before it saw the page */
	worker_kick(w);
	r->fds[0] = s->memory.fd;
	r->fds[1] = s->bell;
	r->fds[2] = s->theirs;
	r->n_fds = 3;
	return 0;
}

/*
 * Does @r come from the process that is the rank? If that has no number here, the inode of its
 * pidfd identifies it, since Linux 6.9. Before that nothing does.
 */
static bool link_is_from_rank(const struct session *s, const struct request *r)
{
	struct stat a, b;

	if (s->pid || r->pid || r->pid_fd < 0)
		return s->pid == r->pid;
	return !fstat(s->pid_fd, &a) && !fstat(r->pid_fd, &b) && a.st_dev == b.st_dev &&
	       a.st_ino == b.st_ino;
}

/*
 * Watches the process that is the rank from now on, the same for the life of the session. It has no
 * number here if its PID namespace is not visible from this one. Then a kernel before 6.5 does not
 * tell which process it is.
 */
static int link_watch(struct session *s, struct request *r)
{
	if (s->watching)
		return link_is_from_rank(s, r) ? 0 : -EBUSY;
	if (!r->pid && r->pid_fd < 0)
		return -ESRCH;
	s->pid = r->pid;
	s->pid_fd = r->pid_fd >= 0 ? r->pid_fd : (int)syscall(SYS_pidfd_open, r->pid, 0);
	r->pid_fd = -1;
	if (s->pid_fd < 0)
		return -errno;
	s->death.fire = link_died;
	s->watching = true;
	loop_readable(&s->group->twin->loop, &s->death, s->pid_fd);
	return 0;
}

static int link_do_attach(struct session *s, struct request *r)
{
	int err = link_watch(s, r);

	return err ? err : session_attach(s, &r->arg.ask.attach);
}

/* a child of the rank may hold the socket, but may not detach the rank */
static int link_do_detach(struct session *s, const struct request *r)
{
	if (s->watching && !link_is_from_rank(s, r))
		return -EPERM;
	return session_detach(s, GAGG_R_BYE);
}

static int link_do_map(struct session *s, struct request *r)
{
	const struct memory *m = session_region(s, r->arg.offset);

	if (!m)
		return -EINVAL;
	r->fds[0] = m->fd;
	r->n_fds = 1;
	return 0;
}

/* length of the argument; 0 also for an unknown request */
static size_t link_arg_length(u32 request)
{
	if (request == TWIN_MAP)
		return sizeof(u64);
	return _IOC_TYPE(request) == GAGG_IOC_MAGIC ? _IOC_SIZE(request) : 0;
}

static int link_carry_out(struct session *s, struct request *r)
{
	size_t length = link_arg_length(r->head.request);
	union gagg_ask *arg = &r->arg.ask;
	int err;

	/* libgagg and gagg-twin are of one version */
	if (r->length != length || (length > sizeof(u64) && arg->size != length))
		return r->length > length && length ? -E2BIG : -EINVAL;
	err = gagg_refusal_error(gagg_ask_check(r->head.request, arg));
	if (err)
		return err;
	switch (r->head.request) {
	case TWIN_HELLO:
		return link_do_hello(s, r);
	case TWIN_MAP:
		return link_do_map(s, r);
	case GAGG_IOC_FEATURES:
		gagg_ask_tell_features(&arg->features, 0);
		return 0;
	case GAGG_IOC_ATTACH:
		return link_do_attach(s, r);
	case GAGG_IOC_DETACH:
		return link_do_detach(s, r);
	case GAGG_IOC_CHANNEL:
		return session_channel(s, &arg->channel);
	case GAGG_IOC_CHANNEL_FREE:
		return session_channel_free(s, arg->channel_free.channel);
	case GAGG_IOC_STATUS:
		return session_status(s, &arg->status);
	case GAGG_IOC_TIMES:
		return session_times(s, &arg->times);
	}
	return -ENOTTY;
}

/* --- messages ------------------------------------------------------------- */

/*
 * Closes descriptors that nobody asked for. The last close of a file may have to wait, so not in
 * this thread.
 */
static void link_close_unwanted(const struct session *s, const struct cmsghdr *c)
{
	size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int), i;
	int fd;

	for (i = 0; i < n; i++) {
		memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
		loop_close(&s->group->twin->loop, fd);
	}
}

/* 1: there is a request; 0: none yet; -1: the trainer has hung up, or receiving failed */
static int link_receive(const struct session *s, struct request *r)
{
	struct iovec iov[2] = { { &r->head, sizeof(r->head) }, { &r->arg, sizeof(r->arg) } };
	union {
		char buf[CMSG_SPACE(sizeof(struct ucred)) + CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct msghdr msg = {
		.msg_iov = iov, .msg_iovlen = 2,
		.msg_control = control.buf, .msg_controllen = sizeof(control.buf),
	};
	struct cmsghdr *c;
	struct ucred cred;
	ssize_t n;

	memset(r, 0, sizeof(*r));
	r->pid_fd = -1;
	n = message_try(s->fd, &msg, MSG_TRUNC);
	/* the trainer closed it with unread answers: reported once, before what it had sent */
	if (n < 0 && errno == ECONNRESET)
		n = message_try(s->fd, &msg, MSG_TRUNC);
	for (c = n < 0 ? NULL : CMSG_FIRSTHDR(&msg); c; c = CMSG_NXTHDR(&msg, c)) {
		if (c->cmsg_level != SOL_SOCKET)
			continue;
		if (c->cmsg_type == SCM_RIGHTS)
			link_close_unwanted(s, c);
		if (c->cmsg_type == SCM_PIDFD)
			memcpy(&r->pid_fd, CMSG_DATA(c), sizeof(r->pid_fd));
		if (c->cmsg_type != SCM_CREDENTIALS)
			continue;
		memcpy(&cred, CMSG_DATA(c), sizeof(cred));
		r->pid = cred.pid;
	}
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n < 0 && errno != ECONNRESET)
		log_limited(LOG_OF_GROUP(s->group->geom.group), LOG_L_WARN,
			    "group \"%s\": rank %u cannot be heard: %m", s->group->cfg.name,
			    s->rank);
	r->length = (size_t)n - sizeof(r->head);
	return n >= (ssize_t)sizeof(r->head) ? 1 : -1;
}

static void link_request_end(struct request *r)
{
	if (r->pid_fd >= 0)
		close(r->pid_fd);
}

/* bytes of answers that nobody has read */
static int link_unread_bytes(int fd)
{
	int bytes = 0;

	return ioctl(fd, SIOCOUTQ, &bytes) ? 0 : bytes;
}

/*
 * A trainer asks again only when it has read the answer. Descriptors in unread answers count
 * against this process, so at most a few answers may be unread. The limit is not 0, since a kernel
 * may free an answer a moment after it was read.
 */
static bool link_is_unread(const struct session *s)
{
	return link_unread_bytes(s->fd) > UNREAD_MAX;
}

bool link_unread(struct group *g, u32 rank)
{
	int *fd = &g->unread[rank];

	if (*fd >= 0 && !link_unread_bytes(*fd)) {
		close(*fd);
		*fd = -1;
	}
	return *fd >= 0;
}

/* the trainer can read the answers that lie there, and then finds the end */
static void link_close_socket(struct session *s)
{
	struct group *g = s->group;

	if (!link_unread_bytes(s->fd) || g->twin->ending || link_unread(g, s->rank)) {
		close(s->fd);
		return;
	}
	shutdown(s->fd, SHUT_RDWR);
	g->unread[s->rank] = s->fd;
}

static void link_answer(const struct session *s, struct request *r)
{
	size_t length = r->length < sizeof(r->arg) ? r->length : sizeof(r->arg);
	struct iovec iov[2] = { { &r->head, sizeof(r->head) }, { &r->arg, length } };

	/* a trainer that does not read its answers gets none; its next request ends the session */
	if (message_pass(s->fd, iov, 2, r->fds, r->head.error ? 0 : r->n_fds))
		log_debug("rank %u did not accept an answer: %m", s->rank);
}

/* the trainer's end was passed, or never will be */
static void link_close_theirs(struct session *s)
{
	if (s->theirs >= 0)
		close(s->theirs);
	s->theirs = -1;
}

/* the session was closed, and is in the list since then */
static void link_free(struct session *s)
{
	struct session **at;

	if (s->armed || s->watching)
		return;
	for (at = &s->group->closed; *at != s; at = &(*at)->next)
		;
	*at = s->next;
	free(s);
}

void links_free(struct group *g)
{
	struct session *s;

	while ((s = g->closed)) {
		g->closed = s->next;
		free(s);
	}
}

/* one request, or the end */
static void link_serve(struct session *s)
{
	struct request r = { .pid_fd = -1 };
	int got = link_receive(s, &r);

	if (got < 0) {
		session_close(s);
	} else if (got > 0 && link_is_unread(s)) {
		log_limited(LOG_OF_GROUP(s->group->geom.group), LOG_L_WARN, "group \"%s\": rank %u asks and reads no answer; its session is closed",
			    s->group->cfg.name, s->rank);
		session_close(s);
	} else if (got > 0) {
		r.head.error = link_carry_out(s, &r);
		if (!s->closed)
			link_answer(s, &r);
		link_close_theirs(s);
	}
	link_request_end(&r);
}

static void link_readable(struct loop_event *ev, int res)
{
	struct session *s = loop_container(ev, struct session, readable);

	/* the event is armed until the end, so the session is not freed meanwhile */
	if (!s->closed && res < 0)
		session_close(s);
	else if (!s->closed)
		link_serve(s);
	if (!s->closed) {
		loop_readable(&s->group->twin->loop, &s->readable, s->fd);
		return;
	}
	s->armed = false;
	link_free(s);
}

/*
 * @s outlives the loop, and the loop ends:
 * 1. A session is armed from link_open() on, until link_readable() finds it closed. It is freed
 *    after that, and the loop of events that calls link_readable() is not entered here.
 * 2. Nobody can write into a socket whose other end is closed: each turn takes one of the requests
 *    that are there, or the end.
 */
void link_settle(struct session *s)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };

	while (!s->closed && poll(&p, 1, 0) > 0 && (p.revents & POLLHUP))
		link_serve(s);
}

/*
 * The process that is the rank has ended. What it said before counts, above all that it leaves:
 * 1. A trainer sends DETACH and ends, without waiting for the answer. If this thread had not run
 *    meanwhile, both events are there at once, and a kernel may report the later one first.
 * 2. A process that has ended sends nothing, and asks again only after the answer: what it has
 *    sent is one request and DETACH. A child that holds the socket may send without end, hence the
 *    bound.
 */
static void link_hear_last(struct session *s)
{
	struct pollfd p = { .fd = s->fd, .events = POLLIN };

	for (int i = 0; i < LAST_MAX && !s->closed && poll(&p, 1, 0) > 0; i++)
		link_serve(s);
}

static void link_died(struct loop_event *ev, int res)
{
	struct session *s = loop_container(ev, struct session, death);

	(void)res;
	s->watching = false;
	if (!s->closed)
		link_hear_last(s);
	if (s->closed) {
		link_free(s);
		return;
	}
	log_limited(LOG_OF_GROUP(s->group->geom.group), LOG_L_INFO,
		    "group \"%s\": the process of rank %u has ended", s->group->cfg.name, s->rank);
	session_close(s);
}

int link_open(struct session *s)
{
	int pair[2], on = 1;

	s->bell = -1;
	s->events = -1;
	s->theirs = -1;
	s->pid_fd = -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		return -1;
	if (setsockopt(pair[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof(on))) {
		close(pair[0]);
		close(pair[1]);
		return -1;
	}
	/* since Linux 6.5 */
	setsockopt(pair[0], SOL_SOCKET, SO_PASSPIDFD, &on, sizeof(on));
	s->fd = pair[0];
	s->readable.fire = link_readable;
	s->armed = true;
	loop_readable(&s->group->twin->loop, &s->readable, s->fd);
	return pair[1];
}

void link_close(struct session *s)
{
	struct loop *loop = &s->group->twin->loop;
	struct worker *w = s->group->part[0].port->worker;

	if (s->armed)
		loop_cancel(loop, &s->readable);
	if (s->watching)
		loop_cancel(loop, &s->death);
	/* the trainer may hold them for longer */
	if (s->bell >= 0) {
		epoll_ctl(w->epoll, EPOLL_CTL_DEL, s->bell, NULL);
		close(s->bell);
	}
	if (s->events >= 0)
		close(s->events);
	link_close_theirs(s);
	/* at the end of the twin trainers may still look at what is done */
	if (!s->group->twin->ending)
		memory_wipe(s->group->twin, &s->memory);
	memory_free(&s->memory);
	link_close_socket(s);
	if (s->pid_fd >= 0)
		close(s->pid_fd);
	s->next = s->group->closed;
	s->group->closed = s;
	link_free(s);
}
