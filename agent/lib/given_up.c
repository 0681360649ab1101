// SPDX-License-Identifier: LGPL-2.1-only OR MIT
#include <pthread.h>
#include <stddef.h>

#include "given_up.h"
#include "process.h"
#include "session.h"
#include "sys.h"

/*
 * All of the process. A thread that forks holds the lock, so that the child finds it free and the
 * list complete.
 */
static struct session *given_up;
static pthread_mutex_t given_up_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t given_up_once = PTHREAD_ONCE_INIT;

static void given_up_lock(void)
{
	pthread_mutex_lock(&given_up_mutex);
}

static void given_up_unlock(void)
{
	pthread_mutex_unlock(&given_up_mutex);
}

/*
 * a thread that forks locks in reverse order of registration: this lock first, then those of
 * sys_leave()
 */
static void given_up_init(void)
{
	sys_watch_forks();
	pthread_atfork(given_up_lock, given_up_unlock, given_up_unlock);
}

/* the link to @s, or the NULL at the end; locked */
static struct session **given_up_link_to(const struct session *s)
{
	struct session **link;

	for (link = &given_up; *link && *link != s; link = &(*link)->also)
		;
	return link;
}

void given_up_add(struct session *s)
{
	struct session **end;

	pthread_once(&given_up_once, given_up_init);
	given_up_lock();
	end = given_up_link_to(s);
	if (!*end) {
		s->also = NULL;
		*end = s;
	}
	given_up_unlock();
}

void given_up_remove(struct session *s)
{
	struct session **link;

	pthread_once(&given_up_once, given_up_init);
	given_up_lock();
	link = given_up_link_to(s);
	if (*link)
		*link = s->also;
	given_up_unlock();
}

/* a thread that holds the lock may have called exit(), in a signal handler */
__attribute__((destructor)) void given_up_leave(void)
{
	const struct session *s;

	if (pthread_mutex_trylock(&given_up_mutex))
		return;
	for (s = given_up; s; s = s->also)
		if (s->owner == process_id())
			sys_leave(s->fd);
	given_up_unlock();
}
