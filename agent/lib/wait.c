// SPDX-License-Identifier: LGPL-2.1-only OR MIT
/*
 * The work of a request: filling, submitting, taking, sleeping.
 */
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "deadline.h"
#include "request.h"
#include "sys.h"

/* chunks after which the kernel may see a new `filled` */
#define FILL_STEP	16
/* pauses between two sleeps; some ten microseconds */
#define SPIN_MAX	1000

static inline void wait_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

uint64_t wait_target(uint64_t taken, uint64_t limit, uint64_t end, uint32_t ring)
{
	uint64_t quarter = ring / 4 ? ring / 4 : 1;

	if (limit == end)
		return end;
	return limit - taken < quarter ? limit : taken + quarter;
}

void request_end(struct gagg_comm *c, int status)
{
	struct gagg_request *r = c->first;

	c->first = r->next;
	if (!c->first)
		c->last = NULL;
	if (c->to_fill == r)
		c->to_fill = r->next;
	if (c->to_submit == r)
		c->to_submit = r->next;
	r->status = status;
	r->done = true;
	if (r->plan)
		plan_use(r->plan, false);
	r->next = c->finished;
	c->finished = r;
}

static void wait_take_from_finished(struct gagg_request *r)
{
	struct gagg_comm *c = r->comm;
	struct gagg_request **link;

	pthread_mutex_lock(&c->lock);
	for (link = &c->finished; *link != r; link = &(*link)->next)
		;
	*link = r->next;
	pthread_mutex_unlock(&c->lock);
}

void request_free(struct gagg_request *r)
{
	wait_take_from_finished(r);
	free(r);
}

void request_leave(struct gagg_request *r)
{
	wait_take_from_finished(r);
	r->comm = NULL;
	known_add(&r->known);
}

void request_skip(struct gagg_request *r)
{
	struct gagg_comm *c = r->comm;

	r->done = true;
	pthread_mutex_lock(&c->lock);
	r->next = c->finished;
	c->finished = r;
	pthread_mutex_unlock(&c->lock);
}

int request_reap(struct gagg_request *r)
{
	int status = r->status;

	r->comm->result = r->result;
	request_free(r);
	return status;
}

/* fills @r's contribution to @v, and to following chunks below @limit; returns how many */
static uint64_t wait_fill_some(struct gagg_comm *c, struct gagg_request *r, uint64_t v,
			       uint64_t limit)
{
	uint64_t step = FILL_STEP - v % FILL_STEP;
	uint64_t most = limit - v < step ? limit - v : step;
	uint32_t n = 0, slot = region_slot(&c->region, v);
	void *lanes = region_contrib(&c->region, slot);
	struct gagg_cdesc d = { 0 };

	if (r->how->fill_run)
		n = r->how->fill_run(r, r->filled, region_row(&c->region, slot, most), lanes,
				     &c->region.cdesc[slot]);
	if (n)
		return n;
	r->how->fill(r, r->filled, lanes, &d);
	c->region.cdesc[slot] = d;
	return 1;
}

/*
 * Fills at most @max chunks; true if there were any.
 *
 * Filling v declares that the result of v - ring was read, hence the limit. `filled` moves in
 * steps, so that the kernel sends the first chunks while the next are quantised.
 */
static bool wait_fill(struct gagg_comm *c, uint64_t max)
{
	uint64_t limit = c->taken + c->region.geo.ring;
	uint64_t v = c->filled, start = v;
	struct gagg_request *r;

	if (limit - v > max)
		limit = v + max;
	while ((r = c->to_fill) && v < limit) {
		uint64_t n = wait_fill_some(c, r, v, limit);

		v += n;
		r->filled += n;
		if (r->filled == r->cut.chunks)
			c->to_fill = r->next;
		if (v % FILL_STEP == 0)
			region_set_filled(&c->region, v);
	}
	c->filled = v;
	if (v == start)
		return false;
	region_set_filled(&c->region, v);
	return true;
}

/* number of results that are there and that @r reads next, in slots in a row */
static uint32_t wait_ready(const struct gagg_comm *c, const struct gagg_request *r)
{
	uint32_t slot = region_slot(&c->region, c->taken), n = 0;
	uint32_t most = region_row(&c->region, slot, r->filled - r->taken);
	uint64_t after = region_after(&c->region, c->taken);
	const struct gagg_rdesc *d = &c->region.rdesc[slot];

	while (n < most && __atomic_load_n(&d[n].published, __ATOMIC_ACQUIRE) >= after)
		n++;
	return n;
}

/* Reads some of the next @n results, which are there; returns how many. */
static uint32_t wait_take_some(struct gagg_comm *c, struct gagg_request *r, uint32_t n)
{
	uint32_t slot = region_slot(&c->region, c->taken), done = 0;
	const void *lanes = region_result(&c->region, slot);
	const struct gagg_rdesc *d = &c->region.rdesc[slot];

	if (r->how->take_run)
		done = r->how->take_run(r, r->taken, n, lanes, d);
	if (done)
		return done;
	r->how->take(r, r->taken, lanes, d);
	return 1;
}

/* Reads the next @n results, which are there, in slots in a row. */
static void wait_take_row(struct gagg_comm *c, struct gagg_request *r, uint32_t n)
{
	uint32_t some;

	for (; n; n -= some) {
		some = wait_take_some(c, r, n);
		r->taken += some;
		c->taken += some;
	}
}

/* Read all results that are there, in order; true if there were any. */
static bool wait_take(struct gagg_comm *c)
{
	uint64_t start = c->taken;
	struct gagg_request *r;
	uint32_t n;

	while ((r = c->first)) {
		while ((n = wait_ready(c, r)))
			wait_take_row(c, r, n);
		if (r->taken < r->cut.chunks)
			break;
		request_end(c, GAGG_OK);
	}
	return c->taken != start;
}

static int wait_submit_one(const struct gagg_comm *c, struct gagg_request *r)
{
	if (!region_has(&c->region, r->start + r->cut.chunks))
		return -EOVERFLOW;
	return sys_command(c->session->fd, GAGG_IOC_SUBMIT, &r->submit);
}

/*
 * Submits the requests that the kernel does not know. It accepts a limited number at once. The
 * others wait here until an earlier one has ended.
 */
static void wait_submit(struct gagg_comm *c)
{
	while (c->to_submit && !c->refused) {
		struct gagg_request *r = c->to_submit;
		int err = wait_submit_one(c, r);

		if (err == -E2BIG)
			return;
		if (err)
			c->refused = err;
		else
			c->to_submit = r->next;
	}
}

bool request_needs(const struct gagg_comm *c)
{
	return (c->to_fill || c->to_submit) && !c->refused;
}

bool request_step(struct gagg_comm *c, uint64_t max)
{
	const struct gagg_request *first = c->first;
	bool moved = wait_take(c);

	/*
	 * Tried again when a request has ended, or when all requests before it have: then the
	 * kernel is about to notice the same.
	 */
	if (c->to_submit && (c->first != first || c->first == c->to_submit))
		wait_submit(c);
	return wait_fill(c, max) || moved;
}

/* The epoch is over, or a call has failed: what was published before still counts. */
static void wait_fail(struct gagg_comm *c, int err)
{
	bool over;

	pthread_mutex_lock(&c->lock);
	wait_take(c);
	over = !c->first;
	pthread_mutex_unlock(&c->lock);
	if (over)
		return;
	if (err == -EPIPE || err == -ENOTCONN) {
		comm_fail_epoch(c);
		return;
	}
	if (err == -EOVERFLOW)
		comm_error(c, 0,
			   "the channel is used up: 2^32 rounds of its ring in one epoch (a larger ring lasts longer: gaggctl group set NAME ring N)");
	else
		comm_error(c, 0, "an operation: %s", strerror(-err));
	comm_fail(c, GAGG_ERR_SYSTEM);
}

void request_start(struct gagg_request *r)
{
	struct gagg_comm *c = r->comm;

	pthread_mutex_lock(&c->lock);
	r->start = c->cursor;
	c->cursor += r->cut.chunks;
	if (r->plan)
		plan_use(r->plan, true);
	if (c->last)
		c->last->next = r;
	else
		c->first = r;
	c->last = r;
	if (!c->to_fill)
		c->to_fill = r;
	if (!c->to_submit)
		c->to_submit = r;
	wait_fill(c, c->region.geo.window);
	wait_submit(c);
	pthread_mutex_unlock(&c->lock);
}

void request_fill(struct gagg_comm *c)
{
	pthread_mutex_lock(&c->lock);
	request_step(c, UINT64_MAX);
	pthread_mutex_unlock(&c->lock);
}

void request_wish(const struct gagg_request *r, struct gagg_ioc_wait *arg)
{
	const struct gagg_comm *c = r->comm;
	uint64_t end = r->start + r->cut.chunks;
	uint64_t limit = c->to_submit ? c->to_submit->start : end;

	if (limit > c->filled)
		limit = c->filled;
	if (limit > end)
		limit = end;
	memset(arg, 0, sizeof(*arg));
	arg->size = sizeof(*arg);
	arg->channel = c->region.geo.channel;
	arg->timeout_ns = UINT64_MAX;
	arg->chunk = wait_target(c->taken, limit, end, c->region.geo.ring);
	if (arg->chunk == end) {
		/* woken once, by the end of the op */
		arg->op = r->submit.op;
		arg->chunk = 0;
	}
}

/*
 * Pauses for a while, until the next result is there. After a step in which nothing moved, only a
 * result lets the next step move. False: there is none.
 */
static bool wait_spin(const struct gagg_comm *c)
{
	const __u64 *published = region_published_at(&c->region, c->taken);
	uint64_t after = region_after(&c->region, c->taken);
	unsigned int n;

	if (c->first->taken == c->first->filled)
		return false;
	for (n = 0; n < SPIN_MAX; n++) {
		if (__atomic_load_n(published, __ATOMIC_ACQUIRE) >= after)
			return true;
		wait_relax();
	}
	return false;
}

/* until another thread of @c has come back from the kernel, for @ns at most */
static void wait_sleep_beside(struct gagg_comm *c, uint64_t ns)
{
	uint64_t at = deadline_now() + ns;
	struct timespec ts = { .tv_sec = (time_t)(at / 1000000000),
			       .tv_nsec = (long)(at % 1000000000) };

	if (at < ns)
		pthread_cond_wait(&c->moved, &c->lock);
	else
		pthread_cond_timedwait(&c->moved, &c->lock, &ts);
}

static void wait_sleep_in_kernel(struct gagg_request *r, uint64_t ns)
{
	struct gagg_comm *c = r->comm;
	struct gagg_ioc_wait arg;
	int err;

	request_wish(r, &arg);
	arg.timeout_ns = ns;
	c->asleep = true;
	pthread_mutex_unlock(&c->lock);
	err = sys_ioctl(c->session->fd, GAGG_IOC_WAIT, &arg);
	pthread_mutex_lock(&c->lock);
	c->asleep = false;
	pthread_cond_broadcast(&c->moved);
	if (err && err != -EINTR && err != -ETIMEDOUT)
		c->refused = err;
}

void request_sleep(struct gagg_request *r, uint64_t ns)
{
	struct gagg_comm *c = r->comm;

	if (c->asleep) {
		wait_sleep_beside(c, ns);
	} else if (c->first == c->to_submit) {
		/* the kernel has yet to count an op whose chunks are done */
		pthread_mutex_unlock(&c->lock);
		sched_yield();
		pthread_mutex_lock(&c->lock);
	} else {
		wait_sleep_in_kernel(r, ns);
	}
}

/*
 * How long to sleep at most, of the time that is left until the deadline. 0: the wait was reported,
 * and the lock was released meanwhile. @notice: when to report it; 0: not known yet, since most
 * waits end without a sleep.
 */
static uint64_t wait_sleep_limit(struct gagg_comm *c, uint64_t left, uint64_t *notice)
{
	uint64_t until;

	if (!*notice)
		*notice = session_notice_at(c->session);
	until = deadline_left(*notice);
	if (until)
		return left < until ? left : until;
	*notice = DEADLINE_NEVER;
	pthread_mutex_unlock(&c->lock);
	comm_tell_late(c);
	pthread_mutex_lock(&c->lock);
	return 0;
}

/* Lock held. 0: @r is done; -ETIMEDOUT; or a call has failed. */
static int wait_locked(struct gagg_request *r, uint64_t deadline)
{
	struct gagg_comm *c = r->comm;
	uint64_t notice = 0;

	while (!r->done) {
		uint64_t left;

		if (request_step(c, FILL_STEP))
			continue;
		if (c->refused)
			return c->refused;
		/* an aggregator in userspace may be waiting for this CPU */
		if (c->first != c->to_submit && sys_in_kernel(c->session->fd) && wait_spin(c))
			continue;
		left = deadline_left(deadline);
		if (!left)
			return -ETIMEDOUT;
		left = wait_sleep_limit(c, left, &notice);
		if (left)
			request_sleep(r, left);
	}
	return 0;
}

bool request_wait(struct gagg_request *r, uint64_t deadline)
{
	struct gagg_comm *c = r->comm;
	int err;

	pthread_mutex_lock(&c->lock);
	err = wait_locked(r, deadline);
	/* the rest belongs to the other thread again */
	if (request_needs(c))
		pthread_cond_broadcast(&c->moved);
	pthread_mutex_unlock(&c->lock);
	if (err && err != -ETIMEDOUT)
		wait_fail(c, err);
	return err != -ETIMEDOUT;
}

/* True if @r is done, now or before. */
static bool wait_look(struct gagg_request *r)
{
	struct gagg_comm *c = r->comm;
	bool done;
	int err;

	if (!c)
		return true;
	comm_check(c);
	pthread_mutex_lock(&c->lock);
	if (!r->done)
		request_step(c, UINT64_MAX);
	done = r->done;
	err = c->refused;
	pthread_mutex_unlock(&c->lock);
	if (done || (!err && !region_failed(&c->region)))
		return done;
	wait_fail(c, err ? err : -EPIPE);
	return true;
}

/* a request of a communicator that was freed */
static int wait_request_forget(struct gagg_request *r)
{
	int status = r->status;

	known_remove(&r->known);
	free(r);
	error_clear();
	if (status)
		error_set(status, "the communicator was freed before the operation had ended");
	return status;
}

/* @req has ended; the caller's handle becomes NULL, so that it is not freed twice */
static int wait_finish(struct gagg_request **req)
{
	struct gagg_request *r = *req;

	*req = NULL;
	return r->comm ? request_reap(r) : wait_request_forget(r);
}

int request_finish(struct gagg_request **req, int timeout_ms)
{
	struct gagg_request *r = *req;

	/* a look costs nothing, even if the time is over */
	if (r && !wait_look(r) && !request_wait(r, deadline_in(timeout_ms)))
		return comm_wait_late(r->comm, timeout_ms);
	return r ? wait_finish(req) : GAGG_OK;
}

int gagg_wait(struct gagg_request **req, int timeout_ms)
{
	struct gagg_comm *c = *req ? (*req)->comm : NULL;
	int err = comm_enter(c);

	if (err)
		return err;
	err = request_finish(req, timeout_ms);
	comm_exit(c);
	return err;
}

int gagg_test(struct gagg_request **req, int *done)
{
	struct gagg_comm *c = *req ? (*req)->comm : NULL;
	int err = comm_enter(c);

	*done = 0;
	if (err)
		return err;
	*done = !*req || wait_look(*req);
	if (*req && *done)
		err = wait_finish(req);
	comm_exit(c);
	return err;
}
