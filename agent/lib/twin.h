/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * Sessions of gagg-twin: the module's calls on a file descriptor, by messages and a shared page
 * (twin_proto.h). For sys.c.
 *
 * Thread-safe as the module is, with one exception: only one thread at a time
 * waits on a channel.
 */
#ifndef GAGG_TWIN_H
#define GAGG_TWIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct twin_link;

/* the link of a descriptor, or NULL: it is not a session of gagg-twin */
struct twin_link *twin_find(int fd);

/*
 * Makes a link of a socket; 0 or a negative errno. @patience_ms: time for each answer. After an
 * answer has not come in time, calls return -ETIMEDOUT at once until it has come.
 */
int twin_open(int fd, int patience_ms);
void twin_close(struct twin_link *l);

/* GAGG_IOC_DETACH without waiting for the answer; only twin_close() may follow */
void twin_leave(struct twin_link *l);

/*
 * a forked child finds no lock of links held; a thread that forks takes them after locks that were
 * registered later
 */
void twin_watch_forks(void);

/* as sys_ioctl(), sys_map(), sys_event_fd() */
int twin_ioctl(struct twin_link *l, unsigned long request, void *arg);
/* as sys_look(), for @ms at most */
int twin_look(struct twin_link *l, unsigned long request, void *arg, int ms);
void *twin_map(struct twin_link *l, uint64_t offset, size_t length, bool write);
int twin_event_fd(struct twin_link *l);

#endif
