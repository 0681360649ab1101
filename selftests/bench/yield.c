// SPDX-License-Identifier: GPL-2.0
/*
 * To be preloaded: a process that looks for events without waiting, and finds none, lets others
 * run. UCX, on which MPICH is built, spins in this way, and neither has an option.
 */
#include <sched.h>
#include <stddef.h>
#include <sys/epoll.h>

int epoll_wait(int fd, struct epoll_event *events, int most, int timeout)
{
	int n = epoll_pwait(fd, events, most, timeout, NULL);

	if (!n && !timeout)
		sched_yield();
	return n;
}
