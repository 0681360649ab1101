/* SPDX-License-Identifier: GPL-2.0 */
/* A worker: the thread that serves one shard of all groups. */
#ifndef GAGG_TWIN_WORKER_H
#define GAGG_TWIN_WORKER_H

#include <pthread.h>
#include <stdbool.h>

struct gagg_batch;
struct group;
struct port;
struct rx;
struct session;
struct twin;
struct tx;

struct worker {
	pthread_t thread;
	pthread_mutex_t lock;
	unsigned int waiting;	/* other threads that want the lock */
	struct twin *twin;
	unsigned int index;
	int epoll;
	int kick;		/* eventfd */
	bool stop;
	struct port *ports;
	struct session *sessions;	/* worker 0: sessions that have a page */
	struct rx *rx;
	struct tx *tx;
	struct gagg_batch *batch;
};

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

#endif
