// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <netinet/udp.h>
#include <linux/sockios.h>

#include "group.h"
#include "limit.h"
#include "port.h"
#include "queue.h"
#include "twin.h"
#include "worker.h"

#define ECT_0	2	/* RFC 3168: mark it, instead of dropping it */
#define QUEUE	128	/* messages: a result goes to at most 63 nodes; a power of two */

union control {
	char buf[CMSG_SPACE(sizeof(u16)) + CMSG_SPACE(sizeof(int))];
	struct cmsghdr align;
};

/*
 * Message i lies at i modulo QUEUE. Messages before @head have left; the next new one goes to
 * @tail. The socket gets at most half of what it has room for, so that a HELLO always finds room.
 * It gets no more than leaves soon (@limit), so that no host takes a HELLO for late.
 *
 * EPOLLOUT comes when less than half lies there. Below that @at is the time to look.
 */
struct queue {
	u32 head, tail;
	bool waits;
	bool polls;			/* for EPOLLOUT */
	u64 at;				/* when to look; GAGG_NEVER: it polls, or does not wait */
	struct limit limit;
	int most;			/* limit_most(), for any thread */
	struct burst *spare;
	struct mmsghdr msg[QUEUE];
	union address to[QUEUE];
	union control control[QUEUE];
	struct burst *burst[QUEUE];	/* each has a reference; NULL: forgotten */
	struct group *whose[QUEUE];
};

static unsigned int queue_place(u32 i)
{
	return i % QUEUE;
}

/* the last one goes beyond the limit */
static void queue_allow(struct port *p)
{
	int bytes = p->queue->limit.bytes / 2;

	p->burst = bytes < GAGG_LOAD_BYTES ? (u32)bytes : GAGG_LOAD_BYTES;
	__atomic_store_n(&p->queue->most, limit_most(&p->queue->limit), __ATOMIC_RELAXED);
}

struct queue *queue_new(struct port *p)
{
	struct queue *q = calloc(1, sizeof(*q));

	if (!q)
		return NULL;
	q->at = GAGG_NEVER;
	limit_init(&q->limit, p->half);
	p->queue = q;
	queue_allow(p);
	return q;
}

static void queue_message_drop(struct queue *q, unsigned int at)
{
	if (q->burst[at])
		burst_put(q, q->burst[at]);
	q->burst[at] = NULL;
}

void queue_free(struct queue *q)
{
	struct burst *b;

	if (!q)
		return;
	while (q->head != q->tail)
		queue_message_drop(q, queue_place(q->head++));
	while ((b = q->spare)) {
		q->spare = b->next;
		free(b);
	}
	free(q);
}

bool queue_waits(const struct port *p)
{
	return p->queue->waits;
}

u64 queue_deadline(const struct port *p)
{
	return p->queue->at;
}

/* --- bursts --------------------------------------------------------------- */

struct burst *burst_new(struct queue *q)
{
	struct burst *b = q->spare;

	if (b)
		q->spare = b->next;
	else
		b = malloc(sizeof(*b));
	if (!b)
		return NULL;
	b->refs = 1;
	b->load = (struct gagg_load){ 0 };
	b->niov = 0;
	return b;
}

void burst_put(struct queue *q, struct burst *b)
{
	if (--b->refs)
		return;
	b->next = q->spare;
	q->spare = b;
}

/* --- counters ------------------------------------------------------------- */

static struct part *queue_message_part(const struct port *p, unsigned int at)
{
	return &p->queue->whose[at]->part[p->worker->index];
}

/* @segs datagrams did not leave, as errno says */
static void queue_count_failed(struct part *part, u32 segs)
{
	gagg_stats_failed(&part->stats, segs, errno == EMSGSIZE);
}

/* --- messages ------------------------------------------------------------- */

/* there is room behind what the message has */
static void queue_message_control(struct msghdr *h, int level, int type, const void *data,
				  size_t len)
{
	struct cmsghdr *c = (struct cmsghdr *)((char *)h->msg_control + h->msg_controllen);

	c->cmsg_level = level;
	c->cmsg_type = type;
	c->cmsg_len = CMSG_LEN(len);
	memcpy(CMSG_DATA(c), data, len);
	h->msg_controllen += CMSG_SPACE(len);
}

static void queue_message_fill(struct port *p, unsigned int at, const union address *to)
{
	struct queue *q = p->queue;
	const struct burst *b = q->burst[at];
	struct msghdr *h = &q->msg[at].msg_hdr;
	bool v6 = to->sa.sa_family == AF_INET6;
	const int ecn = ECT_0;
	u16 seg = (u16)b->load.seg;

	q->to[at] = *to;
	address_shift(&q->to[at], p->worker->index);
	*h = (struct msghdr){
		.msg_name = &q->to[at],
		.msg_namelen = address_length(&q->to[at]),
		.msg_iov = (struct iovec *)b->iov,
		.msg_iovlen = b->niov,
		.msg_control = q->control[at].buf,
	};
	/* the first, see queue_message_send_single() */
	if (b->load.reacts)
		queue_message_control(h, v6 ? SOL_IPV6 : SOL_IP, v6 ? IPV6_TCLASS : IP_TOS, &ecn,
				      sizeof(ecn));
	if (b->load.segs > 1)
		queue_message_control(h, SOL_UDP, UDP_SEGMENT, &seg, sizeof(seg));
}

/*
 * A device without UDP checksums (EIO) accepts no bursts, nor does one whose MTU has become too
 * small (EINVAL). Then datagrams are sent one by one.
 */
static void queue_message_send_single(struct port *p, unsigned int at, u32 seg)
{
	struct msghdr h = p->queue->msg[at].msg_hdr;
	struct iovec *iov = h.msg_iov, *end = iov + h.msg_iovlen;
	u32 bytes;

	h.msg_controllen -= CMSG_SPACE(sizeof(u16));
	for (; iov < end; iov += h.msg_iovlen) {
		h.msg_iov = iov;
		h.msg_iovlen = 0;
		for (bytes = 0; bytes < seg && iov + h.msg_iovlen < end; h.msg_iovlen++)
			bytes += (u32)iov[h.msg_iovlen].iov_len;
		if (sendmsg(p->fd, &h, MSG_DONTWAIT) < 0)
			queue_count_failed(queue_message_part(p, at), 1);
		else
			gagg_stats_sent(&queue_message_part(p, at)->stats, 1, bytes);
	}
}

static void queue_message_failed(struct port *p, unsigned int at)
{
	const struct burst *b = p->queue->burst[at];

	if (b->load.segs > 1 && (errno == EIO || errno == EINVAL)) {
		p->gso &= errno != EIO;
		queue_message_send_single(p, at, b->load.seg);
		return;
	}
	queue_count_failed(queue_message_part(p, at), b->load.segs);
}

/* --- the queue ------------------------------------------------------------ */

static u32 queue_room(const struct queue *q)
{
	return QUEUE - (q->tail - q->head);
}

void queue_begin(struct port *p, u32 n)
{
	if (queue_room(p->queue) < n)
		queue_send(p);
}

void queue_add(struct port *p, struct group *g, struct burst *b, const union address *to)
{
	struct queue *q = p->queue;
	unsigned int at;

	if (!queue_room(q)) {
		gagg_stats_failed(&g->part[p->worker->index].stats, b->load.segs, false);
		return;
	}
	at = queue_place(q->tail++);
	q->burst[at] = b;
	q->whose[at] = g;
	b->refs++;
	queue_message_fill(p, at, to);
}

/* bytes that lie in the socket; -1: nobody knows */
static int queue_lies(const struct port *p)
{
	int bytes = 0;

	return ioctl(p->fd, SIOCOUTQ, &bytes) ? -1 : bytes;
}

/* messages in a row that may go now; @bytes lie there, and are updated */
static unsigned int queue_fits(const struct port *p, int *bytes)
{
	const struct queue *q = p->queue;
	unsigned int at = queue_place(q->head), n = 0;

	if (*bytes < 0)
		return 1;
	while (n < q->tail - q->head && at + n < QUEUE && q->burst[at + n] &&
	       *bytes < limit_most(&q->limit))
		*bytes += (int)q->burst[at + n++]->load.bytes;
	return n;
}

static void queue_poll(struct port *p, bool polls)
{
	struct epoll_event ev = { .events = EPOLLIN | (polls ? EPOLLOUT : 0) };

	if (p->queue->polls == polls)
		return;
	p->queue->polls = polls;
	epoll_ctl(p->worker->epoll, EPOLL_CTL_MOD, p->fd, &ev);
}

/* @bytes lie there */
static void queue_wait(struct port *p, int bytes)
{
	struct queue *q = p->queue;
	bool half = bytes < 0 || bytes >= p->half;
	u64 now = now_ns();

	if (bytes >= 0)
		limit_full(&q->limit, bytes, now);
	q->waits = true;
	q->at = half ? GAGG_NEVER : limit_at(&q->limit, bytes, now);
	queue_poll(p, half);
}

static void queue_goes_on(struct port *p)
{
	limit_idle(&p->queue->limit);
	p->queue->waits = false;
	p->queue->at = GAGG_NEVER;
	queue_poll(p, false);
}

/* @bytes lie there, or a few less; a limit that is as large as it may be needs no measuring */
static void queue_filled(struct port *p, int bytes)
{
	struct limit *l = &p->queue->limit;

	if (bytes >= limit_most(l) && l->bytes < l->most)
		limit_full(l, bytes, now_ns());
}

static void queue_look(struct port *p, int bytes)
{
	struct limit *l = &p->queue->limit;

	if (bytes < 0 || (!l->since && bytes >= l->dead))
		return;
	limit_look(l, bytes, now_ns());
	queue_allow(p);
}

bool queue_full(const struct port *p)
{
	return queue_lies(p) >= __atomic_load_n(&p->queue->most, __ATOMIC_RELAXED);
}

/* the first @n messages have left */
static void queue_sent(struct port *p, unsigned int n)
{
	struct queue *q = p->queue;

	for (; n; n--, q->head++) {
		unsigned int at = queue_place(q->head);
		const struct gagg_load *load = &q->burst[at]->load;

		limit_sent(&q->limit, (int)load->bytes);
		gagg_stats_sent(&queue_message_part(p, at)->stats, load->segs, load->bytes);
		queue_message_drop(q, at);
	}
}

void queue_send(struct port *p)
{
	struct queue *q = p->queue;

	while (q->head != q->tail) {
		unsigned int at = queue_place(q->head), most;
		int n, lies;

		if (!q->burst[at]) {
			q->head++;
			continue;
		}
		lies = queue_lies(p);
		queue_look(p, lies);
		most = queue_fits(p, &lies);
		n = most ? sendmmsg(p->fd, q->msg + at, most, MSG_DONTWAIT) : -1;
		if (n < 0 && most && errno == EINTR)
			continue;
		if (!most || (n < 0 && errno == EAGAIN)) {
			/* if the socket had no room, epoll tells when it has */
			queue_wait(p, most ? -1 : lies);
			return;
		}
		if (n < 0) {
			queue_message_failed(p, at);
			queue_message_drop(q, at);
			q->head++;
			continue;
		}
		queue_sent(p, (unsigned int)n);
		queue_filled(p, lies);
	}
	queue_goes_on(p);
}

/* messages of other groups in the same queue go on */
static void queue_forget(struct port *p, struct group *g)
{
	struct queue *q = p->queue;
	u32 i;

	for (i = q->head; i != q->tail; i++) {
		unsigned int at = queue_place(i);

		if (!q->burst[at] || q->whose[at] != g)
			continue;
		gagg_stats_failed(&queue_message_part(p, at)->stats, q->burst[at]->load.segs,
				  false);
		queue_message_drop(q, at);
	}
	/* the worker may wait for room that it no longer needs */
	worker_kick(p->worker);
}

void queues_forget(struct group *g)
{
	unsigned int s;

	for (s = 0; s < g->geom.shards; s++)
		queue_forget(g->part[s].port, g);
}
