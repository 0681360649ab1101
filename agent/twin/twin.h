/* SPDX-License-Identifier: GPL-2.0 */
/*
 * gagg-twin: the core of gagg.ko behind UDP sockets of a process.
 *
 * Threads. The control thread runs gaggd's event loop: it opens sessions, answers their messages,
 * and moves groups to the states of their join objects. Worker s serves shard s of all groups: it
 * receives, adds, sends, publishes and wakes. A trainer that starts an op or waits for one uses
 * only workers, through the page that it shares with them (twin_proto.h).
 *
 * Locks, outermost first:
 *	worker.lock	by ascending index where several are held: the groups'
 *			shards and channels of that index, their counters. The
 *			tables of channels, seats and sessions are changed by the
 *			control thread under the locks of all workers, and read
 *			under any of them, or by the control thread
 *	group.join_lock	its join object, what is due to be sent and to be made
 *	group.times_lock	times of its ranks: a leaf, under the lock of a worker
 *
 * A worker never sleeps while it holds its lock. What a socket has no room for stays in the port's
 * queue until epoll reports room (queue.c). Meanwhile the worker receives, and starts nothing new
 * on that port. The control thread does not wait for a socket either, nor for a lock in order to
 * send HELLO, nor does it touch more than a piece of new memory between two HELLOs
 * (epoch_breathe()).
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
	struct loop_event call;		/* a worker asks the control thread to run */
	int call_fd;
	struct loop_event timer;	/* of the join objects */
	int timer_fd;
	struct loop_event idle;		/* idle.h */
	int idle_fd;
	u64 idle_for;			/* seconds */
	u64 idle_most;			/* 0: it does not end so */
	bool was_busy;			/* somebody has had a session */
	pid_t starter;			/* of whom it is a child */
	struct loop_event signal;
	bool ending;
	int signal_fd;
	int sweeper;		/* sweep.h */
};

u64 now_ns(void);
u64 random64(void);

/*
 * wakes the control thread: there are channels to make, an epoch to follow, or a session to close;
 * any thread
 */
void twin_call(struct twin *t);

#endif
