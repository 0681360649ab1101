// SPDX-License-Identifier: LGPL-2.1-only OR MIT
#define _GNU_SOURCE 1
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <linux/futex.h>

#include "comm.h"
#include "deadline.h"
#include "message.h"
#include "process.h"
#include "twin.h"
#include "twin_proto.h"

/* longest time until a sleeper notices that gagg-twin is gone */
#define SLICE_NS	500000000ULL

/**
 * struct twin_link - a session
 * @next: next in the list of all
 * @owner: process_id() of the process that has opened it
 * @fd: the socket
 * @bell: eventfd that wakes the aggregator
 * @events: socket that tells of completed ops
 * @page: shared
 * @patience_ms: time for the answer to a message
 * @owed: answers that have not come in time
 * @silent: an answer has not come in all of that time: later requests do not wait for it
 * @lock: one message at a time, one submission at a time
 */
struct twin_link {
	struct twin_link *next;
	uint64_t owner;
	int fd;
	int bell;
	int events;
	struct twin_page *page;
	int patience_ms;
	unsigned int owed;
	bool silent;
	pthread_mutex_t lock;
};

static struct twin_link *links;
static pthread_mutex_t links_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t fork_once = PTHREAD_ONCE_INIT;

/* a child closes what it has inherited, so it must not find the lock held */
static void twin_before_fork(void)
{
	pthread_mutex_lock(&links_lock);
}

static void twin_after_fork(void)
{
	pthread_mutex_unlock(&links_lock);
}

static void twin_watch_forks_once(void)
{
	pthread_atfork(twin_before_fork, twin_after_fork, twin_after_fork);
}

void twin_watch_forks(void)
{
	pthread_once(&fork_once, twin_watch_forks_once);
}

struct twin_link *twin_find(int fd)
{
	struct twin_link *l;

	/* most programs have none */
	if (!__atomic_load_n(&links, __ATOMIC_ACQUIRE))
		return NULL;
	pthread_mutex_lock(&links_lock);
	for (l = links; l && l->fd != fd; l = l->next)
		;
	pthread_mutex_unlock(&links_lock);
	return l;
}

/* --- messages ------------------------------------------------------------- */

/**
 * struct question - what is asked, and the answer
 * @request: GAGG_IOC_* or TWIN_*
 * @arg: its argument, which the answer's replaces
 * @size: bytes of @arg
 * @fds: that came with the answer, -1 where none did
 */
struct question {
	uint32_t request;
	void *arg;
	size_t size;
	int fds[TWIN_FDS];
};

static void twin_close_fds(int fds[TWIN_FDS])
{
	for (int i = 0; i < TWIN_FDS; i++)
		if (fds[i] >= 0)
			close(fds[i]);
}

static int twin_receive(int fd, struct question *q, uint64_t deadline)
{
	struct twin_message head;
	struct iovec iov[2] = { { &head, sizeof(head) }, { q->arg, q->size } };
	const struct message_room room = { iov, 2, q->fds, TWIN_FDS };
	ssize_t n = message_receive(fd, &room, deadline);

	if (n <= 0)
		return n ? (int)n : -EPIPE;
	if ((size_t)n < sizeof(head) || (!head.error && (size_t)n != sizeof(head) + q->size))
		return -EPROTO;
	return head.error;
}

static int twin_ask(int fd, const struct question *q, uint64_t deadline)
{
	struct twin_message head = { .request = q->request };
	struct iovec iov[2] = { { &head, sizeof(head) }, { q->arg, q->size } };
	struct msghdr msg = { .msg_iov = iov, .msg_iovlen = 2 };
	ssize_t n = message_send(fd, &msg, deadline);

	return n < 0 ? (int)n : 0;
}

/*
 * Each request has one answer, in order: the answer to the next request follows those that came too
 * late.
 */
static int twin_settle(struct twin_link *l, uint64_t deadline)
{
	while (l->owed) {
		struct twin_message head;
		struct iovec iov = { &head, sizeof(head) };
		int fds[TWIN_FDS];
		const struct message_room room = { &iov, 1, fds, TWIN_FDS };
		ssize_t n = message_receive(l->fd, &room, deadline);

		twin_close_fds(fds);
		if (n <= 0)
			return n ? (int)n : -EPIPE;
		l->owed--;
	}
	return 0;
}

static int twin_talk(struct twin_link *l, struct question *q, uint64_t deadline)
{
	uint64_t sooner = l->silent ? 0 : deadline;
	int err = twin_settle(l, sooner);

	if (!err)
		err = twin_ask(l->fd, q, sooner);
	if (err)
		return err;
	err = twin_receive(l->fd, q, deadline);
	if (err == -ETIMEDOUT)
		l->owed++;
	return err;
}

/* Lock held, or nobody else has the link yet; what came in q->fds is the caller's. */
static int twin_exchange(struct twin_link *l, struct question *q, int ms)
{
	int err;

	memset(q->fds, 0xff, sizeof(q->fds));
	err = twin_talk(l, q, deadline_in(ms));
	if (err != -ETIMEDOUT)
		l->silent = false;
	else if (ms == l->patience_ms)
		l->silent = true;
	/* gagg-twin has ended, with the request unread */
	if (err == -ECONNRESET)
		err = -EPIPE;
	if (err) {
		twin_close_fds(q->fds);
		memset(q->fds, 0xff, sizeof(q->fds));
	}
	return err;
}

static int twin_call(struct twin_link *l, uint32_t request, void *arg, int ms)
{
	struct question q = { .request = request, .arg = arg, .size = *(const uint32_t *)arg };
	int err;

	pthread_mutex_lock(&l->lock);
	err = twin_exchange(l, &q, ms);
	pthread_mutex_unlock(&l->lock);
	twin_close_fds(q.fds);
	return err;
}

/* --- birth and death ------------------------------------------------------ */

static struct twin_page *twin_map_page(int fd)
{
	void *page = mmap(NULL, sizeof(struct twin_page), PROT_READ | PROT_WRITE,
			  MAP_SHARED, fd, 0);

	if (page == MAP_FAILED)
		return NULL;
	/* a forked child is no trainer */
	madvise(page, sizeof(struct twin_page), MADV_DONTFORK);
	return page;
}

static int twin_hello(struct twin_link *l)
{
	struct question q = { .request = TWIN_HELLO };
	int err = twin_exchange(l, &q, l->patience_ms);

	if (err)
		return err;
	l->page = q.fds[2] < 0 ? NULL : twin_map_page(q.fds[0]);
	if (!l->page) {
		err = q.fds[2] < 0 ? -EPROTO : -errno;
		twin_close_fds(q.fds);
		return err;
	}
	close(q.fds[0]);
	l->bell = q.fds[1];
	l->events = q.fds[2];
	return 0;
}

int twin_open(int fd, int patience_ms)
{
	struct twin_link *l;
	int type, err;
	socklen_t len = sizeof(type);

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) || type != SOCK_SEQPACKET)
		return -ENOTTY;
	l = calloc(1, sizeof(*l));
	if (!l)
		return -ENOMEM;
	l->owner = process_id();
	l->fd = fd;
	l->patience_ms = patience_ms;
	err = twin_hello(l);
	if (err) {
		free(l);
		return err;
	}
	twin_watch_forks();
	pthread_mutex_init(&l->lock, NULL);
	pthread_mutex_lock(&links_lock);
	l->next = links;
	__atomic_store_n(&links, l, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&links_lock);
	return 0;
}

/*
 * If a socket is closed with unread data, its peer learns of that before it reads what was sent,
 * and takes it for death. A thread that holds the lock may have called exit().
 */
void twin_leave(struct twin_link *l)
{
	struct gagg_ioc_detach arg = { .size = sizeof(arg) };
	const struct question q = {
		.request = (uint32_t)GAGG_IOC_DETACH, .arg = &arg, .size = sizeof(arg),
	};

	if (!pthread_mutex_trylock(&l->lock)) {
		twin_settle(l, 0);
		pthread_mutex_unlock(&l->lock);
	}
	twin_ask(l->fd, &q, 0);
}

void twin_close(struct twin_link *l)
{
	struct twin_link **at;

	pthread_mutex_lock(&links_lock);
	for (at = &links; *at != l; at = &(*at)->next)
		;
	__atomic_store_n(at, l->next, __ATOMIC_RELEASE);
	pthread_mutex_unlock(&links_lock);
	/* in a child something else may be at this address */
	if (l->owner == process_id())
		munmap(l->page, sizeof(*l->page));
	close(l->bell);
	close(l->events);
	pthread_mutex_destroy(&l->lock);
	free(l);
}

void *twin_map(struct twin_link *l, uint64_t offset, size_t length, bool write)
{
	struct question q = { .request = TWIN_MAP, .arg = &offset, .size = sizeof(offset) };
	void *addr;
	int err;

	pthread_mutex_lock(&l->lock);
	err = twin_exchange(l, &q, l->patience_ms);
	pthread_mutex_unlock(&l->lock);
	if (err) {
		errno = -err;
		return NULL;
	}
	addr = mmap(NULL, length, write ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED,
		    q.fds[0], 0);
	err = errno;
	twin_close_fds(q.fds);
	errno = err;
	if (addr == MAP_FAILED)
		return NULL;
	madvise(addr, length, MADV_DONTFORK);
	madvise(addr, length, MADV_DONTDUMP);
	return addr;
}

int twin_event_fd(struct twin_link *l)
{
	__atomic_store_n(&l->page->events, 1, __ATOMIC_SEQ_CST);
	return l->events;
}

/* --- without messages ----------------------------------------------------- */

static struct twin_seat *twin_seat_find(struct twin_link *l, uint32_t channel)
{
	for (int i = 0; i < GAGG_CHANNELS_MAX; i++) {
		struct twin_seat *s = &l->page->seat[i];

		if (__atomic_load_n(&s->present, __ATOMIC_ACQUIRE) && s->channel == channel)
			return s;
	}
	return NULL;
}

static uint32_t twin_state_of(const struct twin_link *l)
{
	return __atomic_load_n(&l->page->state, __ATOMIC_ACQUIRE);
}

static int twin_not_running(uint32_t state)
{
	return state == TWIN_ENDED ? -EPIPE : -ENOTCONN;
}

/* lock held; the aggregator checks the argument itself */
static int twin_submit_locked(struct twin_link *l, struct gagg_ioc_submit *arg)
{
	struct twin_page *p = l->page;
	uint32_t state = twin_state_of(l);
	struct twin_seat *s;

	if (state != TWIN_RUNNING)
		return twin_not_running(state);
	s = twin_seat_find(l, arg->channel);
	if (!s)
		return -ENOENT;
	if (s->submitted - __atomic_load_n(&s->completed, __ATOMIC_ACQUIRE) >= TWIN_OPS ||
	    p->head - __atomic_load_n(&p->taken, __ATOMIC_ACQUIRE) >= TWIN_SUBMITS)
		return -E2BIG;
	arg->op = ++s->submitted;
	s->cursor += s->store ? 0 : arg->chunks;
	p->submit[p->head % TWIN_SUBMITS] = *arg;
	__atomic_store_n(&p->head, p->head + 1, __ATOMIC_SEQ_CST);
	return 0;
}

static int twin_submit(struct twin_link *l, struct gagg_ioc_submit *arg)
{
	static const uint64_t one = 1;
	int err;

	pthread_mutex_lock(&l->lock);
	err = twin_submit_locked(l, arg);
	pthread_mutex_unlock(&l->lock);
	/* a bell that is full was rung often enough */
	if (!err && !__atomic_load_n(&l->page->awake, __ATOMIC_SEQ_CST) &&
	    write(l->bell, &one, sizeof(one)) < 0)
		return 0;
	return err;
}

/* until *@futex is not @old, or @ns have passed: 0, -ETIMEDOUT or -EINTR */
static int twin_sleep_on(uint32_t *futex, uint32_t old, uint64_t ns)
{
	struct timespec ts = { .tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000 };

	if (!syscall(SYS_futex, futex, FUTEX_WAIT, old, &ts, NULL, 0) || errno == EAGAIN)
		return 0;
	return -errno;
}

static bool twin_is_gone(const struct twin_link *l)
{
	struct pollfd p = { .fd = l->fd };

	return poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLERR));
}

/* one sleep; -EPIPE: gagg-twin is gone, nothing would wake us */
static int twin_doze(const struct twin_link *l, uint32_t *futex, uint32_t old, uint64_t deadline)
{
	uint64_t left = deadline_left(deadline);
	int err;

	if (!left)
		return -ETIMEDOUT;
	err = twin_sleep_on(futex, old, left < SLICE_NS ? left : SLICE_NS);
	if (err != -ETIMEDOUT)
		return err;
	return twin_is_gone(l) ? -EPIPE : 0;
}

static int twin_wait_epoch(struct twin_link *l, uint64_t deadline)
{
	struct twin_page *p = l->page;
	int err = 0;

	while (!err) {
		uint32_t old = __atomic_load_n(&p->bell, __ATOMIC_SEQ_CST);
		/* the state may change at any time: it is read once */
		uint32_t state = twin_state_of(l);

		if (state == TWIN_RUNNING)
			return 0;
		if (state != TWIN_ATTACHED)
			return twin_not_running(state);
		if (__atomic_load_n(&p->mismatch, __ATOMIC_ACQUIRE))
			return -EPROTO;
		err = twin_doze(l, &p->bell, old, deadline);
	}
	return err;
}

/* 0: it is there; -EAGAIN: not yet; -EPIPE: it never will be */
static int twin_wish_state(struct twin_link *l, struct twin_seat *s, uint64_t op, uint64_t chunk)
{
	uint32_t state = twin_state_of(l);

	if (chunk ? __atomic_load_n(&s->chunks, __ATOMIC_SEQ_CST) >= chunk :
		    __atomic_load_n(&s->completed, __ATOMIC_SEQ_CST) >= op)
		return 0;
	return state == TWIN_RUNNING && s->present ? -EAGAIN : -EPIPE;
}

/*
 * No wake-up is lost. 1. The bell is read before the wish is written, so a bell that rings for it
 * ends the sleep. 2. Each side writes, and then reads what the other has written: if the wish comes
 * too late for the aggregator's look, the trainer finds what it wishes for.
 */
static int twin_wait_seat(struct twin_link *l, struct twin_seat *s, const struct gagg_ioc_wait *arg,
			  uint64_t deadline)
{
	int err = 0;

	while (!err) {
		uint32_t old = __atomic_load_n(&s->bell, __ATOMIC_SEQ_CST);

		__atomic_store_n(arg->chunk ? &s->want_chunk : &s->want_op,
				 arg->chunk ? arg->chunk : arg->op, __ATOMIC_SEQ_CST);
		err = twin_wish_state(l, s, arg->op, arg->chunk);
		if (err != -EAGAIN)
			break;
		err = twin_doze(l, &s->bell, old, deadline);
	}
	__atomic_store_n(&s->want_op, TWIN_NEVER, __ATOMIC_RELAXED);
	__atomic_store_n(&s->want_chunk, TWIN_NEVER, __ATOMIC_RELAXED);
	return err;
}

static int twin_wait_for(struct twin_link *l, const struct gagg_ioc_wait *arg)
{
	uint64_t now = deadline_now(), deadline = now + arg->timeout_ns;
	struct twin_seat *s;

	if (deadline < now)
		deadline = UINT64_MAX;
	if (arg->channel == GAGG_WAIT_EPOCH)
		return arg->op || arg->chunk ? -EINVAL : twin_wait_epoch(l, deadline);
	if (twin_state_of(l) == TWIN_BOUND)
		return -ENOTCONN;
	s = twin_seat_find(l, arg->channel);
	if (!s)
		return -ENOENT;
	if (arg->chunk > s->cursor || (!arg->chunk && arg->op > s->submitted))
		return -EINVAL;
	return twin_wait_seat(l, s, arg, deadline);
}

int twin_ioctl(struct twin_link *l, unsigned long request, void *arg)
{
	if (request == GAGG_IOC_SUBMIT)
		return twin_submit(l, arg);
	if (request == GAGG_IOC_WAIT)
		return twin_wait_for(l, arg);
	return twin_call(l, (uint32_t)request, arg, l->patience_ms);
}

int twin_look(struct twin_link *l, unsigned long request, void *arg, int ms)
{
	return twin_call(l, (uint32_t)request, arg, ms < l->patience_ms ? ms : l->patience_ms);
}
