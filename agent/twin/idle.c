// SPDX-License-Identifier: GPL-2.0
#define _GNU_SOURCE 1
#include <libgen.h>
#include <stdio.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include "group.h"
#include "idle.h"
#include "../gaggd/log.h"

#define IDLE_ORPHAN	3600	/* s */

static bool idle_has_session(const struct twin *t)
{
	unsigned int i, r;

	for (i = 0; i < t->n_groups; i++)
		for (r = 0; r < GAGG_RANKS; r++)
			if (t->groups[i]->session[r])
				return true;
	return false;
}

/*
 * Ranks may need longer than that until they come, since they wait for other hosts first. Before
 * that it ends with the process that has started it; an orphan from the start, after IDLE_ORPHAN.
 */
static bool idle_may_end(const struct twin *t)
{
	return t->was_busy || getppid() != t->starter || t->idle_for > IDLE_ORPHAN;
}

/* each second; however late this thread is, it counts one, since trainers had no turn either */
static void idle_fired(struct loop_event *ev, int res)
{
	struct twin *t = loop_container(ev, struct twin, idle);
	u64 n;

	if (res < 0 || read(t->idle_fd, &n, sizeof(n)) < 0)
		n = 0;
	t->idle_for = idle_has_session(t) ? 0 : t->idle_for + 1;
	if (t->idle_for > t->idle_most && idle_may_end(t)) {
		log_info("ends: nobody on this host has trained for %llu s",
			 (unsigned long long)t->idle_for - 1);
		loop_stop(&t->loop);
		return;
	}
	loop_readable(&t->loop, ev, t->idle_fd);
}

int idle_begin(struct twin *t)
{
	const struct itimerspec each = { { 1, 0 }, { 1, 0 } };

	t->idle_fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
	if (t->idle_fd < 0 || timerfd_settime(t->idle_fd, 0, &each, NULL))
		return -1;
	t->starter = getppid();
	t->idle.fire = idle_fired;
	loop_readable(&t->loop, &t->idle, t->idle_fd);
	return 0;
}

void idle_remove_folder(const char *socket)
{
	char path[128];

	if (snprintf(path, sizeof(path), "%s", socket) < (int)sizeof(path))
		rmdir(dirname(path));
}
