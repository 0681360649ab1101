/* SPDX-License-Identifier: GPL-2.0 */
/* What a port is to send, in order: messages, each of them a burst to one node, or to all. */
#ifndef GAGG_TWIN_QUEUE_H
#define GAGG_TWIN_QUEUE_H

#include <stdbool.h>
#include <sys/uio.h>

#include "core/core.h"

struct group;
struct port;
struct queue;
union address;

/**
 * struct burst - a burst that leaves
 * @next: in the queue's list of spare ones
 * @refs: one for the code that fills it, one for each message; under the worker's lock
 * @load: its datagrams
 * @niov: entries of @iov
 * @iov: headers in @head, lanes where they lie
 * @head: headers, and the bodies of control datagrams
 */
struct burst {
	struct burst *next;
	u32 refs;
	struct gagg_load load;
	u32 niov;
	struct iovec iov[2 * GAGG_LOAD_SEGS];
	unsigned char head[GAGG_LOAD_SEGS][GAGG_WIRE_HDRLEN];
};

/* a queue for @p, after its buffer size is known; NULL: no memory */
struct queue *queue_new(struct port *p);
/* frees it with its bursts, when nothing is sent any more */
void queue_free(struct queue *q);

/* an empty burst, with one reference; NULL: no memory */
struct burst *burst_new(struct queue *q);
void burst_put(struct queue *q, struct burst *b);

/* @n messages follow: if there is no room for all of them, what waits is sent */
void queue_begin(struct port *p, u32 n);
/*
 * @b to @to, an address with the base port. A message that finds no room is lost and counted; the
 * core repeats it.
 */
void queue_add(struct port *p, struct group *g, struct burst *b, const union address *to);
/* sends as much as the socket has room for now */
void queue_send(struct port *p);
/* does it wait for the socket? Then nothing new is to be started */
bool queue_waits(const struct port *p);
/* when to send; GAGG_NEVER: epoll tells, or nothing waits */
u64 queue_deadline(const struct port *p);

/* is the socket's limit reached? Its bytes leave in about LIMIT_NS; any thread */
bool queue_full(const struct port *p);

/*
 * Memory that messages of @g refer to is about to go; the locks of all workers of @g are held.
 * These messages are counted as lost; the core repeats them if still needed.
 */
void queues_forget(struct group *g);

#endif
