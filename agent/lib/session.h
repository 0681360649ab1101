/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * A session: one file of /dev/gagg, shared by a communicator of gagg_init() and
 * those that were split from it.
 *
 * Lives until the last of them is freed. @lock guards @comms, @refs and @given;
 * @noticed is atomic; @owner, @rank, @timeout_ms, @notice_ms, @group and @socket never
 * change; @fd, @abi, @epoch and @sync only in gagg_reattach(), while no other thread is in a call.
 */
#ifndef GAGG_SESSION_H
#define GAGG_SESSION_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <linux/gagg.h>

#include "sync_name.h"

#define SESSION_SOCKET_MAX	108	/* sun_path */

/* Channel ids of one lowest member; see struct gagg_ioc_channel. */
#define SESSION_CHANNELS	1000

/**
 * struct session - see above
 * @lock: guards what is shared
 * @owner: process_id() of the process that has made it
 * @refs: communicators
 * @fd: the file; closed when the session ends, -1 then
 * @rank: of the group
 * @timeout_ms: of blocking calls; negative: none
 * @notice_ms: a wait for other ranks that is longer is to be told of
 * @noticed: one for an operation was
 * @abi: version of the interface at the other end of @fd
 * @epoch: the last one it was in; 0: none
 * @sync: sync mode of the group in that epoch
 * @group: name of the group; empty: only the process that opened @fd knows it
 * @socket: socket at which @fd was asked for; empty: the default
 * @given: numbers of channels that were given in this epoch, a bit each
 * @comms: all of them, linked by gagg_comm.next
 * @also: entry in the list of given_up.h
 */
struct session {
	pthread_mutex_t lock;
	uint64_t owner;
	unsigned int refs;
	int fd;
	uint32_t rank;
	int timeout_ms;
	int notice_ms;
	bool noticed;
	uint32_t abi;
	uint64_t epoch;
	char sync[SYNC_NAME_MAX];
	char group[GAGG_NAME_MAX];
	char socket[SESSION_SOCKET_MAX];
	uint64_t given[(SESSION_CHANNELS + 63) / 64];
	struct gagg_comm *comms;
	struct session *also;
};

/* EDQUOT of the kernel: a ceiling of the module, for all groups of the user namespace. */
#define SESSION_NO_QUOTA \
	"the user namespace has no more channels (more: the parameter userns_channels of the module gagg)"

/* of a session without one: ten minutes, unless the environment has another, in ms */
#define SESSION_TIMEOUT_MS	600000
#define SESSION_TIMEOUT_ENV	"GAGG_TIMEOUT_MS"

/* a longer wait for other ranks is reported on the error output */
#define SESSION_NOTICE_MS	10000

/* of a call with this one, which may be 0 (gagg.h) */
int session_timeout(int timeout_ms);

/* @timeout_ms: as in struct gagg_config. NULL: no memory. Owns @fd only if it succeeds. */
struct session *session_new(int fd, int timeout_ms);

/* deadline of a blocking call that begins now (deadline.h) */
uint64_t session_deadline(const struct session *s);

/* when a wait for an operation that begins now is to be reported: one per session is */
uint64_t session_notice_at(const struct session *s);

/**
 * struct session_notice - where it is told that a wait is long
 * @at: when (deadline.h)
 * @tell: called once
 * @of: for @tell
 */
struct session_notice {
	uint64_t at;
	void (*tell)(void *of);
	void *of;
};

/* GAGG_IOC_WAIT until @deadline, whatever signals come; with @notice, if that is before */
int session_wait(struct session *s, struct gagg_ioc_wait *arg, uint64_t deadline,
		 const struct session_notice *notice);

/*
 * "gagg: rank 3 has waited for 10 s: WHAT" on the error output. If that would sleep, or end the
 * process, nothing is written. No lock held.
 */
void session_tell(const struct session *s, uint32_t rank, const char *what);

/*
 * True in a forked child, which is no rank: the session belongs to its parent. Its communicators
 * have failed then, and can only be freed: mappings and threads do not exist in the child, and a
 * lock may have been held.
 */
bool session_lost(struct session *s);

void session_get(struct session *s, struct gagg_comm *c);
void session_put(struct session *s, struct gagg_comm *c);

/*
 * Attaches and waits for the epoch. Returns 0 and channel 0's shape; or an enum gagg_error with a
 * sentence for gagg_last_error(NULL), and then the session is detached.
 */
int session_attach(struct session *s, struct gagg_geometry *geo);

/* Leave the epoch, if it is in one. */
void session_detach(struct session *s);

/* The same, without waiting for anything: the file can only be closed after that. */
void session_leave(struct session *s);

/*
 * A number for a new channel that was not given before in this epoch: the least of @first,
 * @first + @step and so on; or -1.
 */
int session_channel_number(struct session *s, unsigned int first, unsigned int step);

#endif
