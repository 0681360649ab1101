// SPDX-License-Identifier: LGPL-2.1-only OR MIT
#define _GNU_SOURCE 1
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "broker.h"
#include "comm.h"
#include "deadline.h"
#include "error.h"
#include "given_up.h"
#include "process.h"
#include "session.h"
#include "sys.h"

/* 0 in the environment: none */
static int session_default_timeout(void)
{
	const char *env = secure_getenv(SESSION_TIMEOUT_ENV);
	char *end;
	long ms;

	if (!env || !*env)
		return SESSION_TIMEOUT_MS;
	ms = strtol(env, &end, 10);
	if (*end || ms < 0 || ms > INT_MAX)
		return SESSION_TIMEOUT_MS;
	return ms ? (int)ms : GAGG_FOREVER;
}

int session_timeout(int timeout_ms)
{
	return timeout_ms ? timeout_ms : session_default_timeout();
}

struct session *session_new(int fd, int timeout_ms)
{
	struct session *s = calloc(1, sizeof(*s));

	if (!s)
		return NULL;
	pthread_mutex_init(&s->lock, NULL);
	s->owner = process_id();
	s->fd = fd;
	s->timeout_ms = session_timeout(timeout_ms);
	s->notice_ms = SESSION_NOTICE_MS;
	return s;
}

uint64_t session_deadline(const struct session *s)
{
	return deadline_in(s->timeout_ms);
}

uint64_t session_notice_at(const struct session *s)
{
	return __atomic_load_n(&s->noticed, __ATOMIC_RELAXED) ? DEADLINE_NEVER :
								deadline_in(s->notice_ms);
}

int session_wait(struct session *s, struct gagg_ioc_wait *arg, uint64_t deadline,
		 const struct session_notice *notice)
{
	uint64_t at = notice->at;
	int err;

	for (;;) {
		arg->timeout_ns = deadline_left(deadline < at ? deadline : at);
		err = sys_ioctl(s->fd, GAGG_IOC_WAIT, arg);
		if (err == -ETIMEDOUT && at < deadline) {
			notice->tell(notice->of);
			at = DEADLINE_NEVER;
		} else if (err != -EINTR) {
			return err;
		}
	}
}

/* a pipe with room, according to poll(), accepts a line as short as this at once */
void session_tell(const struct session *s, uint32_t rank, const char *what)
{
	struct pollfd out = { .fd = STDERR_FILENO, .events = POLLOUT };
	char line[ERROR_MAX + 128];
	int n = snprintf(line, sizeof(line), "gagg: rank %u has waited for %g s: %s\n", rank,
			 s->notice_ms / 1e3, what);

	if (n >= (int)sizeof(line) || poll(&out, 1, 0) != 1 || out.revents != POLLOUT)
		return;
	if (write(out.fd, line, (size_t)n) < 0)
		return;
}

bool session_lost(struct session *s)
{
	struct gagg_comm *c;

	if (s->owner == process_id())
		return false;
	pthread_mutex_init(&s->lock, NULL);
	for (c = s->comms; c; c = c->next)
		comm_lose(c);
	return true;
}

void session_get(struct session *s, struct gagg_comm *c)
{
	pthread_mutex_lock(&s->lock);
	s->refs++;
	c->next = s->comms;
	s->comms = c;
	pthread_mutex_unlock(&s->lock);
}

void session_put(struct session *s, struct gagg_comm *c)
{
	struct gagg_comm **link;
	unsigned int refs;

	pthread_mutex_lock(&s->lock);
	for (link = &s->comms; *link != c; link = &(*link)->next)
		;
	*link = c->next;
	refs = --s->refs;
	pthread_mutex_unlock(&s->lock);
	if (refs)
		return;
	given_up_remove(s);
	if (s->fd >= 0)
		sys_close(s->fd);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static int session_attach_error(const struct session *s, int err)
{
	switch (err) {
	case -ESTALE:
		return error_set(GAGG_ERR_PEER, "the group was deleted");
	case -EBUSY:
		return error_set(GAGG_ERR_BUSY, "the session is attached already");
	case -ESRCH:
		return error_set(GAGG_ERR_SYSTEM,
				 "gagg-twin does not see this process, which is in another PID namespace (of a container: share the host's)");
	case -ETIMEDOUT:
		return error_set(GAGG_ERR_TIMEOUT, "gagg-twin on this host does not answer");
	case -ENOMEM:
		return error_set(GAGG_ERR_NOMEM,
				 "the kernel has no memory for the group's ring (smaller: gaggctl group set NAME ring N)");
	case -EDQUOT:
		return error_set(GAGG_ERR_NOMEM, SESSION_NO_QUOTA);
	case -EPROTONOSUPPORT:
		return error_set(GAGG_ERR_UNSUPPORTED,
				 "libgagg speaks version %u of the interface, and gagg on this host version %u: install both of one version",
				 GAGG_ABI, s->abi);
	}
	return error_set(GAGG_ERR_SYSTEM, "attach: %s", strerror(-err));
}

/* The wait failed: returns the reason. */
static int session_epoch_error(struct session *s, const struct gagg_geometry *geo, int err)
{
	struct gagg_ioc_status st = { .size = sizeof(st) };
	int status = sys_command(s->fd, GAGG_IOC_STATUS, &st);
	char why[ERROR_MAX - 16];

	if (status || (err != -EPROTO && err != -ETIMEDOUT && err != -EPIPE))
		return error_set(GAGG_ERR_SYSTEM, "wait for the other ranks: %s",
				 strerror(-err));
	if (!st.mismatch && (err == -EPROTO || (err == -ETIMEDOUT && st.blocked))) {
		error_blocked(error_thread(), ERROR_MAX, &st);
		return GAGG_ERR_PEER;
	}
	if (err == -EPROTO || (err == -ETIMEDOUT && st.mismatch)) {
		error_mismatch(error_thread(), ERROR_MAX, &st);
		return GAGG_ERR_MISMATCH;
	}
	if (err == -ETIMEDOUT) {
		error_absent(why, sizeof(why), &st, geo->members);
		return error_set(GAGG_ERR_TIMEOUT, "time is over; %s", why);
	}
	return error_epoch(error_thread(), ERROR_MAX, &st);
}

/* does the module, or gagg-twin, mean by each struct what this library does? */
static int session_check_abi(struct session *s)
{
	struct gagg_ioc_features features = { .size = sizeof(features) };
	int err = sys_command(s->fd, GAGG_IOC_FEATURES, &features);

	s->abi = features.abi;
	return err || s->abi == GAGG_ABI ? err : -EPROTONOSUPPORT;
}

static int session_attach_file(struct session *s, struct gagg_ioc_attach *attach)
{
	int err = sys_begin(s->fd, s->timeout_ms);

	if (!err)
		err = session_check_abi(s);
	return err ? err : sys_command(s->fd, GAGG_IOC_ATTACH, attach);
}

/* the gagg-twin that has opened the session has ended, or has not answered in time */
static bool session_is_gone(int err)
{
	return err == -EPIPE || err == -EBADF || err == -ETIMEDOUT;
}

/* Asks again for the same rank; 0 or an enum gagg_error. @fd is -1 until that succeeds. */
static int session_reopen(struct session *s)
{
	int fd;

	if (s->fd >= 0)
		sys_close(s->fd);
	s->fd = -1;
	fd = broker_open(s->socket, s->group, s->rank, s->timeout_ms);
	if (fd < 0)
		return fd;
	s->fd = fd;
	return GAGG_OK;
}

struct joining {
	struct session *session;
	const struct gagg_geometry *geo;
};

/* the ranks that have not joined */
static void session_tell_absent(void *of)
{
	const struct joining *j = of;
	struct gagg_ioc_status st = { .size = sizeof(st) };
	int err = sys_look(j->session->fd, GAGG_IOC_STATUS, &st);
	char what[ERROR_MAX] = "gagg-twin on this host does not answer";

	if (!err)
		error_absent(what, sizeof(what), &st, j->geo->members);
	if (!err || err == -ETIMEDOUT)
		session_tell(j->session, j->geo->rank, what);
}

static void session_take_sync(struct session *s, const struct gagg_geometry *geo)
{
	struct gagg_sync_param sync = { .mode = geo->mode };

	memcpy(sync.arg, geo->arg, sizeof(sync.arg));
	sync_print(&sync, s->sync);
}

int session_attach(struct session *s, struct gagg_geometry *geo)
{
	struct gagg_ioc_attach attach = { .size = sizeof(attach) };
	struct gagg_ioc_wait wait = { .size = sizeof(wait), .channel = GAGG_WAIT_EPOCH };
	uint64_t deadline = session_deadline(s);
	struct gagg_ioc_status st = { .size = sizeof(st) };
	struct joining joining = { s, &attach.geo };
	struct session_notice notice = { .tell = session_tell_absent, .of = &joining };
	int err;

	err = session_attach_file(s, &attach);
	if (session_is_gone(err) && s->group[0]) {
		err = session_reopen(s);
		if (err)
			return err;
		err = session_attach_file(s, &attach);
	}
	if (err)
		return session_attach_error(s, err);
	notice.at = deadline_in(s->notice_ms);
	err = session_wait(s, &wait, deadline, &notice);
	if (!err)
		err = sys_command(s->fd, GAGG_IOC_STATUS, &st);
	if (err) {
		err = session_epoch_error(s, &attach.geo, err);
		session_detach(s);
		return err;
	}
	*geo = attach.geo;
	/*
	 * Hosts have agreed on the lanes since; region_check() compares them with the stride. A
	 * module that does not report them uses the most that there can be.
	 */
	if (st.lanes)
		geo->lanes = st.lanes;
	s->rank = geo->rank;
	s->epoch = st.epoch;
	session_take_sync(s, geo);
	pthread_mutex_lock(&s->lock);
	memset(s->given, 0, sizeof(s->given));
	pthread_mutex_unlock(&s->lock);
	return GAGG_OK;
}

void session_detach(struct session *s)
{
	struct gagg_ioc_detach arg = { .size = sizeof(arg) };

	given_up_remove(s);
	sys_command(s->fd, GAGG_IOC_DETACH, &arg);
}

void session_leave(struct session *s)
{
	given_up_remove(s);
	sys_leave(s->fd);
}

int session_channel_number(struct session *s, unsigned int first, unsigned int step)
{
	unsigned int k = first;

	pthread_mutex_lock(&s->lock);
	while (k < SESSION_CHANNELS && (s->given[k / 64] >> k % 64 & 1))
		k += step;
	if (k < SESSION_CHANNELS)
		s->given[k / 64] |= 1ULL << k % 64;
	pthread_mutex_unlock(&s->lock);
	return k < SESSION_CHANNELS ? (int)k : -1;
}
