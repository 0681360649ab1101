// SPDX-License-Identifier: LGPL-2.1-only OR MIT
#include <sched.h>
#include <signal.h>
#include <time.h>

#include "progress.h"
#include "request.h"

/* chunks filled before the caller may have the lock */
#define STEP	64

void progress_init(struct gagg_comm *c)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&c->moved, &attr);
	pthread_condattr_destroy(&attr);
	pthread_mutex_init(&c->lock, NULL);
}

/* lock held */
static void progress_go_on(struct gagg_comm *c)
{
	if (!request_needs(c)) {
		pthread_cond_wait(&c->moved, &c->lock);
	} else if (request_step(c, STEP)) {
		pthread_mutex_unlock(&c->lock);
		sched_yield();
		pthread_mutex_lock(&c->lock);
	} else if (request_needs(c)) {
		request_sleep(c->first, PROGRESS_SLICE_NS);
	}
}

static void *progress_run(void *arg)
{
	struct gagg_comm *c = arg;

	pthread_mutex_lock(&c->lock);
	while (!c->stop)
		progress_go_on(c);
	pthread_mutex_unlock(&c->lock);
	return NULL;
}

/* with signals blocked: they are for the program's threads */
static bool progress_thread_new(struct gagg_comm *c)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&c->helper, NULL, progress_run, c);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return !err;
}

void progress_start(struct gagg_comm *c)
{
	bool needs;

	pthread_mutex_lock(&c->lock);
	needs = request_needs(c);
	if (needs)
		pthread_cond_broadcast(&c->moved);
	pthread_mutex_unlock(&c->lock);
	if (needs && !c->helped)
		c->helped = progress_thread_new(c);
}

void progress_stop(struct gagg_comm *c)
{
	if (!c->helped)
		return;
	pthread_mutex_lock(&c->lock);
	c->stop = true;
	pthread_cond_broadcast(&c->moved);
	pthread_mutex_unlock(&c->lock);
	pthread_join(c->helper, NULL);
	c->helped = false;
	c->stop = false;
}

void progress_exit(struct gagg_comm *c)
{
	pthread_mutex_destroy(&c->lock);
	pthread_cond_destroy(&c->moved);
}
