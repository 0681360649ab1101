// SPDX-License-Identifier: LGPL-2.1-only OR MIT
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "broker.h"
#include "call.h"
#include "comm.h"
#include "progress.h"
#include "request.h"
#include "store.h"
#include "sys.h"

static int comm_not_known(void)
{
	return error_set(GAGG_ERR_INVALID, "there is no such communicator: it was freed before");
}

/* communicator that has refused this thread, if no call has failed since; only compared */
static _Thread_local const struct gagg_comm *refused;

static void comm_let_in(const struct gagg_comm *c)
{
	if (refused == c)
		refused = NULL;
}

int comm_error(struct gagg_comm *c, int code, const char *fmt, ...)
{
	va_list ap;

	comm_let_in(c);
	va_start(ap, fmt);
	vsnprintf(c->error, sizeof(c->error), fmt, ap);
	va_end(ap);
	return code;
}

int comm_error_take(struct gagg_comm *c, int code)
{
	comm_error(c, code, "%s", error_thread());
	error_clear();
	return code;
}

int comm_fail(struct gagg_comm *c, int code)
{
	c->failed = code;
	pthread_mutex_lock(&c->lock);
	while (c->first)
		request_end(c, code);
	pthread_mutex_unlock(&c->lock);
	return code;
}

int comm_check(struct gagg_comm *c)
{
	comm_let_in(c);
	session_lost(c->session);
	return c->failed;
}

int comm_check_epoch(struct gagg_comm *c, uint64_t at, const char *what)
{
	if (comm_check(c))
		return c->failed;
	return at == c->epochs ? GAGG_OK :
		comm_error(c, GAGG_ERR_CLOSED,
			   "the %s is of an epoch that was left: create it again", what);
}

/* its address identifies the thread, without the system call of gettid() */
static _Thread_local char thread_name;

int comm_enter(struct gagg_comm *c)
{
	const void *none = NULL;

	comm_let_in(c);
	/* in a forked child no call goes on */
	if (!c || session_lost(c->session))
		return GAGG_OK;
	if (__atomic_load_n(&c->caller, __ATOMIC_RELAXED) != &thread_name &&
	    !__atomic_compare_exchange_n(&c->caller, &none, &thread_name, false,
					 __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)) {
		refused = c;
		/* the sentence in @c belongs to the other thread */
		return error_set(GAGG_ERR_BUSY,
				 "another thread is in a call on this communicator, which belongs to one at a time: give each thread one of its own (gagg_comm_split())");
	}
	c->calls++;
	return GAGG_OK;
}

void comm_exit(struct gagg_comm *c)
{
	if (!c || __atomic_load_n(&c->caller, __ATOMIC_RELAXED) != &thread_name)
		return;
	if (!--c->calls)
		__atomic_store_n(&c->caller, NULL, __ATOMIC_RELEASE);
}

void comm_lose(struct gagg_comm *c)
{
	c->caller = NULL;
	c->calls = 0;
	progress_init(c);
	region_lose(&c->region);
	comm_error(c, 0, "this process was forked from the one that is the rank");
	comm_fail(c, GAGG_ERR_CLOSED);
}

int comm_fail_epoch(struct gagg_comm *c)
{
	struct gagg_ioc_status st = { .size = sizeof(st) };
	int err = sys_command(c->session->fd, GAGG_IOC_STATUS, &st);

	if (err == -EPIPE) {
		c->failure.reason = GAGG_R_DELETED;
		c->failure.rank = c->session->rank;
		c->failure.epoch = c->session->epoch;
		comm_error(c, 0, "gagg-twin on this host has ended, and epoch %llu with it",
			   (unsigned long long)c->session->epoch);
		return comm_fail(c, GAGG_ERR_PEER);
	}
	if (err) {
		comm_error(c, 0, "the epoch has ended; asking why: %s", strerror(-err));
		return comm_fail(c, GAGG_ERR_SYSTEM);
	}
	c->failure.reason = st.reason;
	c->failure.rank = st.rank;
	c->failure.other = st.other;
	c->failure.epoch = st.epoch;
	err = error_epoch(c->error, sizeof(c->error), &st);
	return comm_fail(c, err);
}

/* The members in ascending order; gagg_comm_split() brings its own. */
static void comm_number(struct gagg_comm *c)
{
	unsigned int r;

	c->size = 0;
	for (r = 0; r < GAGG_RANKS_MAX; r++) {
		if (!(c->region.geo.members >> r & 1))
			continue;
		if (r == c->region.geo.rank)
			c->rank = c->size;
		c->ranks[c->size++] = (uint8_t)r;
	}
}

int comm_map(struct gagg_comm *c, const struct gagg_geometry *geo)
{
	int err;

	region_unmap(&c->region);
	err = region_map(&c->region, c->session->fd, geo);
	if (err == -EPROTO)
		return error_set(GAGG_ERR_SYSTEM,
				 "the kernel describes a channel that this libgagg does not understand");
	if (err == -ENOMEM)
		return error_set(GAGG_ERR_NOMEM, "no memory to map the channel");
	if (err)
		return error_set(GAGG_ERR_SYSTEM, "map the channel: %s", strerror(-err));
	c->region.epoch = c->session->epoch;
	c->refused = 0;
	c->cursor = 0;
	c->filled = 0;
	c->taken = 0;
	/* the store of another epoch is another store */
	store_retire(c);
	c->epochs++;
	memset(c->placed, 0, sizeof(c->placed));
	c->store_op = 0;
	c->store_clock = 0;
	c->failed = GAGG_OK;
	memset(&c->failure, 0, sizeof(c->failure));
	comm_number(c);
	return GAGG_OK;
}

struct gagg_comm *comm_new(struct session *s, const struct gagg_geometry *geo, int *err)
{
	struct gagg_comm *c = calloc(1, sizeof(*c));

	if (!c) {
		*err = error_set(GAGG_ERR_NOMEM, "no memory for a communicator");
		return NULL;
	}
	c->session = s;
	c->result.nonfinite_rank = -1;
	progress_init(c);
	*err = comm_map(c, geo);
	if (*err) {
		progress_exit(c);
		free(c);
		return NULL;
	}
	session_get(s, c);
	known_add(&c->known);
	return c;
}

void comm_delete(struct gagg_comm *c)
{
	comm_fail(c, GAGG_ERR_CLOSED);
	progress_stop(c);
	while (c->finished)
		request_leave(c->finished);
	progress_exit(c);
	store_delete(c);
	region_unmap(&c->region);
	free(c->scratch);
	session_put(c->session, c);
	known_remove(&c->known);
	free(c);
}

int gagg_init_fd(struct gagg_comm **comm, int fd, int timeout_ms)
{
	struct session *s = session_new(fd, timeout_ms);
	struct gagg_geometry geo;
	int err;

	error_clear();
	*comm = NULL;
	if (!s) {
		sys_close(fd);
		return error_set(GAGG_ERR_NOMEM, "no memory for a session");
	}
	err = session_attach(s, &geo);
	if (!err) {
		*comm = comm_new(s, &geo, &err);
		if (*comm)
			return GAGG_OK;
		session_detach(s);
	}
	pthread_mutex_destroy(&s->lock);
	free(s);
	sys_close(fd);
	return err;
}

int comm_join(struct gagg_comm **comm, int fd, const struct gagg_config *cfg)
{
	int err = gagg_init_fd(comm, fd, cfg->timeout_ms);
	struct session *s;

	if (err)
		return err;
	/* broker_open() has checked the lengths of both */
	s = (*comm)->session;
	snprintf(s->group, sizeof(s->group), "%s", cfg->group);
	snprintf(s->socket, sizeof(s->socket), "%s", cfg->socket ? cfg->socket : "");
	return GAGG_OK;
}

int gagg_init(struct gagg_comm **comm, const struct gagg_config *cfg)
{
	int fd;

	*comm = NULL;
	if (!cfg || cfg->size < sizeof(*cfg))
		return error_set(GAGG_ERR_INVALID, "gagg_config.size is not set");
	fd = broker_open(cfg->socket, cfg->group, cfg->rank, cfg->timeout_ms);
	return fd < 0 ? fd : comm_join(comm, fd, cfg);
}

int gagg_open_rank(const char *group, uint32_t rank)
{
	struct gagg_ioc_open arg = { .size = sizeof(arg), .rank = rank };
	int fd, err;

	error_clear();
	if (!group || !*group || strlen(group) >= sizeof(arg.name))
		return error_set(GAGG_ERR_INVALID, "a group's name has 1 to %zu characters",
				 sizeof(arg.name) - 1);
	strcpy(arg.name, group);
	fd = open("/dev/gagg", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		return error_set(GAGG_ERR_SYSTEM, "/dev/gagg: %s", strerror(errno));
	err = sys_command(fd, GAGG_IOC_OPEN, &arg);
	if (!err)
		return fd;
	sys_close(fd);
	return error_set(GAGG_ERR_SYSTEM, "rank %u of group \"%s\": %s", rank, group,
			 err == -ENOENT ? "there is no such group in this network namespace" :
			 err == -EINVAL ? "not a worker of this host" :
			 err == -EBUSY ? "somebody else has it" : strerror(-err));
}

/*
 * Split communicators keep their memory until they are freed, but leave the epoch that it belongs
 * to.
 */
static void comm_close_others(struct gagg_comm *root)
{
	struct session *s = root->session;
	struct gagg_comm *c;

	pthread_mutex_lock(&s->lock);
	for (c = s->comms; c; c = c->next) {
		if (c == root || c->failed == GAGG_ERR_CLOSED)
			continue;
		comm_error(c, 0, "the communicator belongs to epoch %llu, which was left",
			   (unsigned long long)s->epoch);
		comm_fail(c, GAGG_ERR_CLOSED);
	}
	pthread_mutex_unlock(&s->lock);
}

/*
 * After the epoch was left: ends the threads of all communicators, so that none uses the epoch's
 * memory or file any more.
 */
static void comm_stop_all(struct session *s)
{
	struct gagg_comm *c;

	pthread_mutex_lock(&s->lock);
	for (c = s->comms; c; c = c->next)
		progress_stop(c);
	pthread_mutex_unlock(&s->lock);
}

static void comm_leave(struct gagg_comm *c)
{
	if (!session_lost(c->session)) {
		comm_close_others(c);
		comm_fail(c, GAGG_ERR_CLOSED);
		session_leave(c->session);
		comm_stop_all(c->session);
	}
	sys_close(c->session->fd);
	c->session->fd = -1;
	comm_delete(c);
}

/*
 * comm_enter() before all communicators that were split from @c end: also refused if another thread
 * is in a call on one of them.
 */
static int comm_enter_all(struct gagg_comm *c)
{
	int err = comm_enter(c);
	struct gagg_comm *o;

	/* a child's communicators are its own, whatever its parent's threads did */
	if (err || session_lost(c->session))
		return err;
	pthread_mutex_lock(&c->session->lock);
	for (o = c->session->comms; o && !err; o = o->next) {
		err = comm_enter(o);
		if (!err)
			comm_exit(o);
	}
	pthread_mutex_unlock(&c->session->lock);
	if (err) {
		comm_exit(c);
		refused = c;
	}
	return err;
}

int gagg_finalize(struct gagg_comm *c)
{
	int err;

	error_clear();
	if (!c)
		return GAGG_OK;
	if (!known_is(&c->known))
		return comm_not_known();
	err = comm_enter_all(c);
	if (err)
		return err;
	err = comm_check(c);
	if (!err)
		err = store_is(c) ? store_leave(c) : gagg_barrier(c);
	if (err == GAGG_ERR_PEER && c->failure.reason == GAGG_R_BYE)
		err = GAGG_OK;
	if (err)
		error_set(err, "%s", c->error);
	comm_leave(c);
	return err;
}

void gagg_abort(struct gagg_comm *c)
{
	if (c && known_is(&c->known))
		comm_leave(c);
}

static int comm_reattach(struct gagg_comm *c)
{
	struct gagg_geometry geo;
	int err;

	if (c->region.geo.channel)
		return comm_error(c, GAGG_ERR_INVALID,
				  "only the communicator of gagg_init() can be attached again");
	if (session_lost(c->session))
		return c->failed;
	comm_close_others(c);
	if (!c->failed)
		comm_error(c, 0, "epoch %llu was left",
			   (unsigned long long)c->session->epoch);
	comm_fail(c, GAGG_ERR_CLOSED);
	session_detach(c->session);
	comm_stop_all(c->session);
	region_unmap(&c->region);
	err = session_attach(c->session, &geo);
	if (!err) {
		err = comm_map(c, &geo);
		if (err)
			session_detach(c->session);
	}
	if (err) {
		comm_error_take(c, err);
		c->failed = GAGG_ERR_CLOSED;
	}
	return err;
}

int gagg_reattach(struct gagg_comm *c)
{
	int err = comm_enter_all(c);

	if (err)
		return err;
	err = comm_reattach(c);
	comm_exit(c);
	return err;
}

int gagg_comm_free(struct gagg_comm *c)
{
	struct gagg_ioc_channel_free arg = { .size = sizeof(arg) };
	int tries = 1000;
	bool busy;
	int err;

	if (!c)
		return GAGG_OK;
	error_clear();
	if (!known_is(&c->known))
		return comm_not_known();
	arg.channel = c->region.geo.channel;
	if (!arg.channel)
		return comm_error(c, GAGG_ERR_INVALID,
				  "gagg_finalize() frees the communicator of gagg_init()");
	err = comm_enter(c);
	if (err)
		return err;
	comm_check(c);
	pthread_mutex_lock(&c->lock);
	busy = c->first;
	pthread_mutex_unlock(&c->lock);
	if (busy) {
		err = comm_error(c, GAGG_ERR_BUSY, "operations are in flight");
		comm_exit(c);
		return err;
	}
	progress_stop(c);
	region_unmap(&c->region);
	/* EBUSY: the last op's chunks are published, but the op is not counted yet */
	while (!c->failed && tries-- &&
	       sys_command(c->session->fd, GAGG_IOC_CHANNEL_FREE, &arg) == -EBUSY)
		sched_yield();
	comm_delete(c);
	return GAGG_OK;
}

int gagg_rank(const struct gagg_comm *c)
{
	return c->rank;
}

int gagg_size(const struct gagg_comm *c)
{
	return c->size;
}

int gagg_group_rank(const struct gagg_comm *c, int rank)
{
	return rank < 0 || rank >= c->size ? (int)GAGG_ERR_INVALID : c->ranks[rank];
}

int gagg_wire(const struct gagg_comm *c)
{
	return 32 / (int)comm_packed(c);
}

const char *gagg_sync(const struct gagg_comm *c)
{
	return c->session->sync;
}

int gagg_fd(const struct gagg_comm *c)
{
	if (session_lost(c->session))
		return c->failed;
	return sys_event_fd(c->session->fd);
}

void gagg_last_result(const struct gagg_comm *c, struct gagg_result *res)
{
	*res = c->result;
}

const char *gagg_last_error(const struct gagg_comm *c)
{
	return c && c != refused ? c->error : error_thread();
}

void gagg_failure(const struct gagg_comm *c, struct gagg_failure *f)
{
	*f = c->failure;
}
