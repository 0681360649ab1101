/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A session: one socket, bound to one rank of a group.
 *
 * Its trainer leaves by GAGG_IOC_DETACH, by the end of the process that has
 * attached (watched by a pidfd: a forked child that still holds the socket must
 * not hide a death), or by closing the socket.
 *
 * All of it belongs to the control thread, except where a worker is named.
 */
#ifndef GAGG_TWIN_SESSION_H
#define GAGG_TWIN_SESSION_H

#include <pthread.h>
#include <sys/types.h>

#include "channel.h"
#include "memory.h"
#include "twin_proto.h"
#include "../gaggd/broker.h"
#include "../gaggd/loop.h"
#include "core/core.h"

struct group;

struct session {
	struct session *next;		/* of worker 0, then of group.closed */
	struct group *group;
	u32 rank;
	enum gagg_session_state state;
	int fd;
	struct loop_event readable;
	pid_t opener;			/* process that opened it; 0: it has no number here */
	uid_t uid;			/* user of that process */
	pid_t pid;			/* process that has attached */
	int pid_fd;			/* its pidfd; -1 */
	struct loop_event death;
	bool armed, watching;		/* the loop holds these events */
	bool closed;
	bool mismatch;			/* as the trainer was told last */
	bool bad;			/* set by a worker: acts unlike libgagg */
	struct memory memory;
	struct twin_page *page;		/* maps @memory */
	int bell;			/* eventfd */
	int events;			/* our end of the events: completed ops */
	int theirs;			/* the other end, until it is passed; -1 */
	u64 untold;			/* ops that found no room there; any thread */
	u64 taken;			/* submissions; worker 0, under its lock */
	struct seat *seat[GAGG_CHANNELS_MAX];	/* by place of the channel */
	struct gagg_table table;		/* of them */
};

/* as in struct broker_ops; @twin: struct twin */
bool session_admits(void *twin, const struct peer *peer);
int session_open(void *twin, const struct broker_request *req, const struct peer *peer,
		 struct broker_reply *reply);

/* of an attached session: an epoch runs now, or is over; wakes all waiters */
void session_started(struct session *s);
void session_ended(struct session *s, u32 reason);
/* no epoch can start, or one can again: its trainer waits no longer, or may */
void session_tell_stuck(struct session *s, const struct gagg_ioc_status *st);
/* closes the session if a worker has found it bad; true: it was closed */
bool session_expel(struct session *s);
/* leave, give everything back */
void session_close(struct session *s);

/* control thread: carry out a request; fds for the answer, -1 where none */
int session_attach(struct session *s, struct gagg_ioc_attach *arg);
int session_channel(struct session *s, struct gagg_ioc_channel *arg);
int session_channel_free(struct session *s, u32 id);
int session_detach(struct session *s, u32 reason);
const struct memory *session_region(struct session *s, u64 offset);

static inline bool session_attached(const struct session *s)
{
	return gagg_state_is_attached(s->state);
}

#endif
