/* SPDX-License-Identifier: GPL-2.0 */
/*
 * gagg-twin: the core of gagg.ko behind UDP sockets of a process.
 *
 * Threads. The control thread runs gaggd's event loop: it opens sessions,
 * answers their messages, brings groups to what their join objects say. Worker
 * s serves shard s of all groups: it receives, adds, sends, publishes and wakes.
 * A trainer that starts an op or waits for one meets only workers: over the page
 * that it shares with them (twin_proto.h).
 *
 * Locks, outermost first:
 *	worker.lock	by ascending index where several are held: the groups'
 *			shards and channels of that index, their counters. The
 *			tables of channels, seats and sessions are changed by the
 *			control thread under the locks of all workers, and read
 *			under any of them, or by the control thread
 *	group.join_lock	its join object, what is to be said and to be made
 *
 * A worker never sleeps with its lock: what a socket has no room for stays in the port's
 * queue until epoll says that there is (queue.c), and meanwhile the worker receives, and
 * starts nothing new on that port. Nor does the control thread wait for a socket, or
 * for a lock in order to say HELLO, or touch more than a piece of new memory between
 * two HELLOs (epoch_breathe()).
 */
#ifndef GAGG_TWIN_TWIN_H
#define GAGG_TWIN_TWIN_H

#include "worker.h"
#include "../conf/config.h"
#include "../gaggd/broker.h"
#include "../gaggd/loop.h"
#include "core/core.h"

struct group;

struct twin {
	struct loop loop;
	struct broker broker;
	struct config config;
	unsigned int n_groups;
	struct group **groups;
	unsigned int n_workers;
	struct worker *workers[GAGG_SHARDS_MAX];
	struct loop_event call;		/* a worker has something for us */
	int call_fd;
	struct loop_event timer;	/* of the join objects */
	int timer_fd;
	struct loop_event signal;
	bool ending;
	int signal_fd;
	int sweeper;		/* sweep.h */
};

u64 now_ns(void);
u64 random64(void);

/* the control thread is to run: there are channels to be made, an epoch to be followed, or
 * a session to be closed; any thread
 */
void twin_call(struct twin *t);

#endif
