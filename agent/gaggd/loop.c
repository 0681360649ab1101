// SPDX-License-Identifier: GPL-2.0
/*
 * The event loop.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <poll.h>
#include <unistd.h>

#include "loop.h"

/*
 * More than can be armed at a time (64 connections of two entries each, and a
 * handful of others), so that an entry is short only until the next submit.
 */
#define LOOP_ENTRIES 256
#define RETRY_US	1000
#define RETRIES		5000

int loop_init(struct loop *l)
{
	memset(l, 0, sizeof(*l));
	return io_uring_queue_init(LOOP_ENTRIES, &l->ring, 0);
}

void loop_exit(struct loop *l)
{
	l->stop = true;
	io_uring_queue_exit(&l->ring);
}

void loop_stop(struct loop *l)
{
	l->stop = true;
}

/* the kernel has no memory for a request at the moment */
static bool loop_is_passing(int err)
{
	return err == -EAGAIN || err == -EBUSY || err == -EINTR;
}

/* false: the kernel has accepted nothing for seconds */
static bool loop_make_space(struct loop *l, unsigned int n)
{
	unsigned int tries = RETRIES;
	int ret;

	while (io_uring_sq_space_left(&l->ring) < n) {
		ret = io_uring_submit(&l->ring);
		if (ret > 0)
			continue;
		if ((ret && !loop_is_passing(ret)) || !tries--) {
			l->error = ret ? ret : -EBUSY;
			return false;
		}
		usleep(RETRY_US);
	}
	return true;
}

static struct io_uring_sqe *loop_sqe(struct loop *l, unsigned int n)
{
	/* A request and its timeout must not be split between two submissions. */
	return loop_make_space(l, n) ? io_uring_get_sqe(&l->ring) : NULL;
}

static void loop_time(struct loop_event *ev, unsigned int ms)
{
	ev->ts.tv_sec = ms / 1000;
	ev->ts.tv_nsec = ms % 1000 * 1000000LL;
}

void loop_accept(struct loop *l, struct loop_event *ev, int fd)
{
	struct io_uring_sqe *sqe = loop_sqe(l, 1);

	if (!sqe)
		return;
	io_uring_prep_accept(sqe, fd, NULL, NULL, SOCK_CLOEXEC);
	io_uring_sqe_set_data(sqe, ev);
}

void loop_readable(struct loop *l, struct loop_event *ev, int fd)
{
	struct io_uring_sqe *sqe = loop_sqe(l, 1);

	if (!sqe)
		return;
	io_uring_prep_poll_add(sqe, fd, POLLIN);
	io_uring_sqe_set_data(sqe, ev);
}

void loop_timer(struct loop *l, struct loop_event *ev, unsigned int ms)
{
	struct io_uring_sqe *sqe = loop_sqe(l, 1);

	if (!sqe)
		return;
	loop_time(ev, ms);
	io_uring_prep_timeout(sqe, &ev->ts, 0, 0);
	io_uring_sqe_set_data(sqe, ev);
}

/* adds a timeout for @sqe, the entry before it; there is room */
static void loop_limit(struct loop *l, struct loop_event *ev, struct io_uring_sqe *sqe,
		       unsigned int ms)
{
	io_uring_sqe_set_data(sqe, ev);
	sqe->flags |= IOSQE_IO_LINK;

	/*
	 * The timeout's own completion has no event: it may come after the other completion has
	 * freed the event.
	 */
	loop_time(ev, ms);
	sqe = io_uring_get_sqe(&l->ring);
	io_uring_prep_link_timeout(sqe, &ev->ts, 0);
	io_uring_sqe_set_data(sqe, NULL);
}

void loop_recv(struct loop *l, struct loop_event *ev, int fd, struct iovec buf,
	       unsigned int ms)
{
	struct io_uring_sqe *sqe = loop_sqe(l, 2);

	if (!sqe)
		return;
	io_uring_prep_recv(sqe, fd, buf.iov_base, buf.iov_len, MSG_TRUNC);
	loop_limit(l, ev, sqe, ms);
}

void loop_writable(struct loop *l, struct loop_event *ev, int fd, unsigned int ms)
{
	struct io_uring_sqe *sqe = loop_sqe(l, 2);

	if (!sqe)
		return;
	io_uring_prep_poll_add(sqe, fd, POLLOUT);
	loop_limit(l, ev, sqe, ms);
}

void loop_read(struct loop *l, struct loop_event *ev, int fd, struct iovec buf, uint64_t at)
{
	struct io_uring_sqe *sqe = loop_sqe(l, 1);

	if (!sqe)
		return;
	io_uring_prep_read(sqe, fd, buf.iov_base, (unsigned int)buf.iov_len, at);
	io_uring_sqe_set_data(sqe, ev);
}

void loop_write(struct loop *l, struct loop_event *ev, int fd, struct iovec buf, uint64_t at)
{
	struct io_uring_sqe *sqe = loop_sqe(l, 1);

	if (!sqe)
		return;
	io_uring_prep_write(sqe, fd, buf.iov_base, (unsigned int)buf.iov_len, at);
	io_uring_sqe_set_data(sqe, ev);
}

void loop_fsync(struct loop *l, struct loop_event *ev, int fd)
{
	struct io_uring_sqe *sqe = loop_sqe(l, 1);

	if (!sqe)
		return;
	io_uring_prep_fsync(sqe, fd, 0);
	io_uring_sqe_set_data(sqe, ev);
}

void loop_close(struct loop *l, int fd)
{
	struct io_uring_sqe *sqe = l->stop || l->error ? NULL : loop_sqe(l, 1);

	if (!sqe) {
		close(fd);
		return;
	}
	io_uring_prep_close(sqe, fd);
	io_uring_sqe_set_flags(sqe, IOSQE_ASYNC);
	io_uring_sqe_set_data(sqe, NULL);
}

void loop_cancel(struct loop *l, struct loop_event *ev)
{
	struct io_uring_sqe *sqe = loop_sqe(l, 1);

	if (!sqe)
		return;
	io_uring_prep_cancel64(sqe, (uintptr_t)ev, 0);
	io_uring_sqe_set_data(sqe, NULL);
}

int loop_run(struct loop *l)
{
	while (!l->stop && !l->error) {
		struct io_uring_cqe *cqe;
		struct loop_event *ev;
		int res;

		/*
		 * After every completion, what its function has armed is submitted: the kernel
		 * copies the timespec then.
		 */
		res = io_uring_submit_and_wait(&l->ring, 1);
		if (loop_is_passing(res)) {
			if (res != -EINTR)
				usleep(RETRY_US);
			continue;
		}
		if (res < 0)
			return res;
		while (!l->stop && io_uring_peek_cqe(&l->ring, &cqe) == 0) {
			ev = io_uring_cqe_get_data(cqe);
			res = cqe->res;
			io_uring_cqe_seen(&l->ring, cqe);
			if (ev)
				ev->fire(ev, res);
		}
	}
	return l->error;
}
