// SPDX-License-Identifier: LGPL-2.1-only OR MIT
#include <pthread.h>
#include <stddef.h>

#include "known.h"

/*
 * All of the process. A thread that forks holds the lock, so that the child finds it free and the
 * list complete.
 */
static struct known *known;
static pthread_mutex_t known_mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t known_once = PTHREAD_ONCE_INIT;

static void known_lock(void)
{
	pthread_mutex_lock(&known_mutex);
}

static void known_unlock(void)
{
	pthread_mutex_unlock(&known_mutex);
}

static void known_init(void)
{
	pthread_atfork(known_lock, known_unlock, known_unlock);
}

/* the link to @k, or the NULL at the end; locked */
static struct known **known_link(const struct known *k)
{
	struct known **link;

	for (link = &known; *link && *link != k; link = &(*link)->next)
		;
	return link;
}

void known_add(struct known *k)
{
	pthread_once(&known_once, known_init);
	known_lock();
	k->next = known;
	known = k;
	known_unlock();
}

bool known_is(const struct known *k)
{
	bool found;

	known_lock();
	found = *known_link(k);
	known_unlock();
	return found;
}

bool known_remove(struct known *k)
{
	struct known **link;
	bool found;

	known_lock();
	link = known_link(k);
	found = *link;
	if (found)
		*link = k->next;
	known_unlock();
	return found;
}
