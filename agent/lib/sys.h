/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * All system calls that libgagg makes on a session after gagg_init(). Tests put a kernel of their
 * own behind them, and sessions of gagg-twin are sockets.
 */
#ifndef GAGG_SYS_H
#define GAGG_SYS_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ioctl(); 0 or a negative errno; -EINTR: a signal came first */
int sys_ioctl(int fd, unsigned long request, void *arg);

/*
 * The same, again after a signal: all but GAGG_IOC_WAIT. A request that returns -EINTR has waited
 * for a lock, and done nothing.
 */
static inline int sys_command(int fd, unsigned long request, void *arg)
{
	int err;

	do
		err = sys_ioctl(fd, request, arg);
	while (err == -EINTR);
	return err;
}

/*
 * sys_command() for a caller that asks because nothing moves, and can go on without an answer:
 * gagg-twin has SYS_LOOK_MS to answer (-ETIMEDOUT).
 */
int sys_look(int fd, unsigned long request, void *arg);

#define SYS_LOOK_MS	1000

/*
 * Before all other calls: finds out whether the module or gagg-twin serves a session. Messages to
 * gagg-twin have @timeout_ms (not positive: half a minute). 0 or a negative errno.
 */
int sys_begin(int fd, int timeout_ms);

/* as GAGG_IOC_DETACH, without waiting; only sys_close() may follow */
void sys_leave(int fd);

/*
 * Call this before pthread_atfork() for a lock under which one of these functions is called:
 * handlers that are registered later lock first.
 */
void sys_watch_forks(void);

/* mmap(MAP_SHARED) of a region; NULL and errno on failure */
void *sys_map(int fd, uint64_t offset, size_t length, bool write);
void sys_unmap(void *addr, size_t length);
void sys_close(int fd);

/* descriptor to poll for completed operations: @fd itself, or a socket */
int sys_event_fd(int fd);

/*
 * is it a session of the module? Such a file accepts io_uring commands, and works whatever a
 * trainer does
 */
bool sys_in_kernel(int fd);

#endif
