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

#include <pthread.h>
#include <netinet/in.h>

#include "../conf/config.h"
#include "../gaggd/broker.h"
#include "../gaggd/log.h"
#include "../gaggd/loop.h"
#include "core/core.h"

#define TWIN_SHARDS	16
#define OPENS_MAX	8

union address {
	struct sockaddr sa;
	struct sockaddr_in in;
	struct sockaddr_in6 in6;
};

struct batch;
struct channel;
struct rx;
struct session;
struct tx;
struct worker;

/* one UDP socket, of the groups that share it; constant once made */
struct port {
	struct port *next;	/* of the worker */
	struct worker *worker;
	union address addr;
	int fd;
	bool gso;		/* bursts can be sent; cleared when not */
	int half;		/* bytes that may lie in the socket, of twice that */
	u32 burst;		/* bytes that one burst may have */
	struct queue *queue;
	unsigned int turn;	/* group that goes on first */
	bool held;		/* groups were to go on, and the queue waited */
	unsigned int n_groups;
	struct group **groups;
};

struct worker {
	pthread_t thread;
	pthread_mutex_t lock;
	unsigned int waiting;	/* others that want the lock */
	struct twin *twin;
	unsigned int index;
	int epoll;
	int kick;		/* eventfd */
	bool stop;
	struct port *ports;
	struct session *sessions;	/* worker 0: those that have a page */
	struct rx *rx;
	struct tx *tx;
	struct batch *batch;
};

/* the part of a group that belongs to one worker; under its lock */
struct part {
	struct port *port;
	struct gagg_shard *core;
	struct gagg_stats stats;
	unsigned int turn;	/* channel that refills first */
	bool unfit;		/* a datagram was too long for the interface */
};

/* what a worker asks the control thread to make; join_lock */
struct opens {
	unsigned int n;
	u32 id[OPENS_MAX];
	u64 epoch[OPENS_MAX];
	u64 members[OPENS_MAX];
};

struct group {
	struct twin *twin;
	struct nl_group cfg;
	struct gagg_geom geom;			/* @lanes: under the locks of all workers */
	union address node[GAGG_NODES];		/* with the base port */
	pthread_mutex_t join_lock;
	struct gagg_join *join;
	u64 limit_at;		/* MTUs are looked at again; control thread */
	u64 say_hello, say_start, say_abort, say_wide;	/* nodes */
	bool news, epoch_due;
	struct opens opens;
	struct {
		u64 datagrams, bytes, errors;
		bool unfit;	/* one was too long for the interface */
		u64 at[GAGG_NODES];	/* the last HELLO */
		u64 wide_at[TWIN_SHARDS][GAGG_NODES];	/* one as long as a chunk */
	} said;			/* HELLO, START, ABORT; control thread */
	struct {
		u64 at;
		u32 least;
	} mtu;			/* of the interfaces to the other nodes, at that time; the same */
	u64 epoch;		/* running here; 0: none */
	u64 epochs;
	struct session *session[GAGG_RANKS];	/* bound to the rank */
	struct session *closed;			/* to be freed when the loop is done with them */
	int unread[GAGG_RANKS];			/* socket of one before; -1: see link.c */
	struct channel *channel[GAGG_CHANNELS_MAX];
	struct channel *spare;			/* memory of those that are no more */
	struct part part[TWIN_SHARDS];
};

struct twin {
	struct loop loop;
	struct broker broker;
	struct config config;
	unsigned int n_groups;
	struct group **groups;
	unsigned int n_workers;
	struct worker *workers[TWIN_SHARDS];
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

/* group.c: 0, or -1 and it has been said why */
int group_add(struct twin *t, const struct nl_group *cfg);
struct group *group_find(struct twin *t, const char *name);
void group_free(struct group *g);

/* worker.c */
struct worker *worker_get(struct twin *t, unsigned int index);
int worker_start(struct worker *w);
void worker_free(struct worker *w);
/* for other threads; ascending */
void worker_lock(struct worker *w);
void worker_unlock(struct worker *w);
void workers_lock(struct group *g);
void workers_unlock(struct group *g);
void worker_kick(struct worker *w);
void workers_kick(struct group *g);

/* port.c */
struct port *port_get(struct worker *w, const union address *addr);
void port_close(struct port *p);
bool address_equal(const union address *a, const union address *b);	/* with port */
void address_shift(union address *a, unsigned int ports);

/* epoch.c: control thread, but where it says so */
int epoch_init(struct group *g);
/* everything that is to be said and made, for all groups; sets the timer */
void epoch_run(struct twin *t);
/* HELLO alone, if it is time: in the middle of what takes long */
void epoch_breathe(struct twin *t);
/* HELLO, START, ABORT; a worker, which holds its lock */
enum gagg_drop epoch_rx(struct group *g, u32 node, u32 shard, const struct gagg_msg *m,
			const void *body);
void epoch_attach(struct group *g, u32 rank);
void epoch_leave(struct group *g, u32 rank, u32 reason);
/* any thread */
void epoch_end(struct group *g, const struct gagg_end *end);
void epoch_status(struct group *g, struct gagg_ioc_status *st);
/* the last words, before the end of the process */
void epoch_farewell(struct twin *t);
/* a worker: OPEN has come, or a session is to be closed */
void epoch_open(struct group *g, u64 epoch, u32 id, u64 members);
void twin_call(struct twin *t);

/* mtu.c: bytes of a datagram with all headers; what fits to all nodes, 0: not known of any */
u32 mtu_needed(const struct group *g, u32 lanes);
u32 mtu_least(const struct group *g);
/* lanes of the longest datagram that fits to all nodes; false: not known of any */
bool mtu_lanes(const struct group *g, u32 *lanes);
/* at the start, if lanes are configured: 0, or -1 and it has been said why */
int mtu_check(const struct group *g);
/* a datagram of @lanes did not fit: say which hosts cannot be reached */
void mtu_tell(const struct group *g, u32 lanes);

/* stats.c: add to @value, by enum gagg_stats_attr; a line of JSON for each group */
void stats_read(struct group *g, u64 value[GAGG_SA_MAX + 1]);
void stats_print(struct twin *t);

#endif
