// SPDX-License-Identifier: GPL-2.0
/*
 * A worker at work: receive, let every group go on, send; sleep until a
 * datagram, a trainer or a timer comes.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "act.h"
#include "group.h"
#include "op.h"
#include "port.h"
#include "queue.h"
#include "rx.h"
#include "session.h"
#include "twin.h"
#include "tx.h"
#include "worker.h"

/* --- locks ---------------------------------------------------------------- */

/* a mutex goes to the thread that asks first, and a worker would ask again at once */
void worker_lock(struct worker *w)
{
	__atomic_add_fetch(&w->waiting, 1, __ATOMIC_SEQ_CST);
	pthread_mutex_lock(&w->lock);
	__atomic_sub_fetch(&w->waiting, 1, __ATOMIC_SEQ_CST);
}

void worker_unlock(struct worker *w)
{
	pthread_mutex_unlock(&w->lock);
}

void workers_lock(struct group *g)
{
	unsigned int i;

	for (i = 0; i < g->geom.shards; i++)
		worker_lock(g->part[i].port->worker);
}

void workers_unlock(struct group *g)
{
	unsigned int i;

	for (i = g->geom.shards; i--;)
		worker_unlock(g->part[i].port->worker);
}

void worker_kick(struct worker *w)
{
	static const u64 one = 1;

	/* full: the worker was told often enough */
	if (write(w->kick, &one, sizeof(one)) < 0)
		return;
}

void workers_kick(struct group *g)
{
	unsigned int i;

	for (i = 0; i < g->geom.shards; i++)
		worker_kick(g->part[i].port->worker);
}

/* --- trainers ------------------------------------------------------------- */

static void worker_take_submissions(struct worker *w)
{
	struct session *s;

	for (s = w->sessions; s; s = s->next)
		session_take(s);
}

/* from here on trainers ring; false: some work came before */
static bool worker_fall_asleep(struct worker *w)
{
	struct session *s;
	bool empty = true;

	for (s = w->sessions; s; s = s->next) {
		__atomic_store_n(&s->page->awake, 0, __ATOMIC_SEQ_CST);
		if (__atomic_load_n(&s->page->head, __ATOMIC_SEQ_CST) != s->taken && !s->bad)
			empty = false;
	}
	return empty;
}

static void worker_wake_up(struct worker *w)
{
	struct session *s;

	for (s = w->sessions; s; s = s->next)
		__atomic_store_n(&s->page->awake, 1, __ATOMIC_RELAXED);
}

/* --- the thread ----------------------------------------------------------- */

static void worker_lock_own(struct worker *w)
{
	while (__atomic_load_n(&w->waiting, __ATOMIC_SEQ_CST))
		sched_yield();
	pthread_mutex_lock(&w->lock);
}

/* each group comes first in turn, as the queue may fill before all have had a turn */
static bool worker_run_port(struct port *p, u64 now, u64 *at)
{
	unsigned int first = p->turn, i;
	bool more = false;

	p->held = false;
	for (i = 0; i < p->n_groups; i++) {
		struct group *g = p->groups[(first + i) % p->n_groups];

		if (queue_waits(p)) {
			p->turn = (first + i) % p->n_groups;
			p->held = true;
			break;
		}
		more |= act_work(p, g, now, at);
	}
	return more;
}

/*
 * Lock held; true: there is more to do at once. @at: when to look again.
 *
 * A group that was held back always goes on.
 * 1. If its queue waits at the end of the turn, epoll or queue_deadline() says when to go on, and
 *    the next turn sends first.
 * 2. If it does not wait, this turn has sent what was in the way, and returns true.
 */
static bool worker_turn(struct worker *w, u64 *at)
{
	u64 now = now_ns();
	bool more = false;
	struct port *p;

	*at = GAGG_NEVER;
	worker_take_submissions(w);
	for (p = w->ports; p; p = p->next) {
		queue_send(p);
		more |= rx_port(p, &now);
	}
	for (p = w->ports; p; p = p->next)
		more |= worker_run_port(p, now, at);
	act_settle(w);
	tx_flush(w);
	for (p = w->ports; p; p = p->next) {
		more |= p->held && !queue_waits(p);
		*at = gagg_min64(*at, queue_deadline(p));
	}
	return more;
}

static void worker_sleep_until(struct worker *w, u64 at)
{
	struct epoll_event ev[8];
	struct timespec ts, *timeout = NULL;
	u64 now;

	if (at != GAGG_NEVER) {
		now = now_ns();
		at = at > now ? at - now : 0;
		ts.tv_sec = (time_t)(at / GAGG_SEC);
		ts.tv_nsec = (long)(at % GAGG_SEC);
		timeout = &ts;
	}
	/* events are not read: the next turn looks at everything */
	epoll_pwait2(w->epoll, ev, sizeof(ev) / sizeof(ev[0]), timeout, NULL);
}

static void *worker_main(void *arg)
{
	struct worker *w = arg;
	bool asleep = false;
	u64 at;

	while (!__atomic_load_n(&w->stop, __ATOMIC_ACQUIRE)) {
		bool more;

		worker_lock_own(w);
		if (asleep)
			worker_wake_up(w);
		more = worker_turn(w, &at);
		asleep = !more && worker_fall_asleep(w);
		pthread_mutex_unlock(&w->lock);
		if (asleep)
			worker_sleep_until(w, at);
	}
	return NULL;
}

struct worker *worker_get(struct twin *t, unsigned int index)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLET };
	struct worker *w = t->workers[index];

	if (w)
		return w;
	w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	pthread_mutex_init(&w->lock, NULL);
	w->twin = t;
	w->index = index;
	w->epoll = epoll_create1(EPOLL_CLOEXEC);
	w->kick = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	w->rx = rx_new();
	w->tx = tx_new();
	w->batch = act_new();
	if (w->epoll < 0 || w->kick < 0 || !w->rx || !w->tx || !w->batch ||
	    epoll_ctl(w->epoll, EPOLL_CTL_ADD, w->kick, &ev)) {
		worker_free(w);
		return NULL;
	}
	t->workers[index] = w;
	if (index >= t->n_workers)
		t->n_workers = index + 1;
	return w;
}

int worker_start(struct worker *w)
{
	sigset_t all, old;
	int err;

	/* signals go to the control thread */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&w->thread, NULL, worker_main, w);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	if (err)
		w->thread = 0;
	return -err;
}

void worker_free(struct worker *w)
{
	struct port *p;

	__atomic_store_n(&w->stop, true, __ATOMIC_RELEASE);
	if (w->thread) {
		worker_kick(w);
		pthread_join(w->thread, NULL);
	}
	while ((p = w->ports)) {
		w->ports = p->next;
		port_close(p);
	}
	if (w->epoll >= 0)
		close(w->epoll);
	if (w->kick >= 0)
		close(w->kick);
	rx_free(w->rx);
	tx_free(w->tx);
	act_free(w->batch);
	pthread_mutex_destroy(&w->lock);
	free(w);
}
