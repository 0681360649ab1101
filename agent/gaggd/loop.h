/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The event loop: one io_uring, one thread.
 *
 * An event is armed once and fires once, with the result of its operation
 * (negative errno). Its function may arm it again, arm others, and free the
 * memory it lies in: the loop touches an event before the call, never after.
 */
#ifndef GAGGD_LOOP_H
#define GAGGD_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>
#include <liburing.h>

struct loop {
	struct io_uring ring;
	bool stop;
	int error;
};

struct loop_event {
	void (*fire)(struct loop_event *ev, int res);
	struct __kernel_timespec ts;	/* read by the kernel at submission */
};

/* 0 or a negative errno */
int loop_init(struct loop *l);
void loop_exit(struct loop *l);

/* Runs until loop_stop(), or an error of the ring itself (negative errno). */
int loop_run(struct loop *l);
void loop_stop(struct loop *l);

void loop_accept(struct loop *l, struct loop_event *ev, int fd);
void loop_readable(struct loop *l, struct loop_event *ev, int fd);
void loop_timer(struct loop *l, struct loop_event *ev, unsigned int ms);

/*
 * One message, or what a stream has; -ECANCELED after @ms without any. The memory of @buf must
 * live until it fires. A longer message gives its full length (MSG_TRUNC).
 */
void loop_recv(struct loop *l, struct loop_event *ev, int fd, struct iovec buf,
	       unsigned int ms);

/* Fires when @fd has room for more, an error, or its peer's end; with -ECANCELED after @ms. */
void loop_writable(struct loop *l, struct loop_event *ev, int fd, unsigned int ms);

/* As pread(), pwrite(). The memory of @buf must live until it fires. */
void loop_read(struct loop *l, struct loop_event *ev, int fd, struct iovec buf, uint64_t at);
void loop_write(struct loop *l, struct loop_event *ev, int fd, struct iovec buf, uint64_t at);
void loop_fsync(struct loop *l, struct loop_event *ev, int fd);

/*
 * By a thread of the kernel's: a file goes with its last descriptor, which takes the
 * longer the larger it is. Done here and now when the loop has ended.
 */
void loop_close(struct loop *l, int fd);

/* The event fires with -ECANCELED, or with what it was armed for. */
void loop_cancel(struct loop *l, struct loop_event *ev);

#define loop_container(ptr, type, member) \
	((type *)((char *)(ptr) - offsetof(type, member)))

#endif
