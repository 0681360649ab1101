/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A session: one open file of /dev/gagg, bound to one rank of a group.
 *
 * States: core/session.h. From GAGG_IOC_OPEN on it has a group, of which it holds a
 * reference, and is group.session[rank].
 *
 * A session leaves by GAGG_IOC_DETACH, by ->release, or by ->flush of the files struct that
 * attached, when its task exits (PF_EXITING): a forked child that still holds the file must not
 * hide a death.
 *
 * Lifetime: the session goes with its file. Before that group.session[rank] is cleared under
 * group.lock, and channel.seat[] under all port locks.
 */
#ifndef GAGG_SESSION_H
#define GAGG_SESSION_H

#include <linux/fs.h>
#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/wait.h>
#include <linux/gagg.h>
#include "channel.h"
#include "core/session.h"
#include "memory.h"

/*
 * A session's own part of a channel: the memory that its trainer writes. The session holds a
 * reference, and so does each waiter.
 */
struct gagg_seat {
	struct kref ref;
	struct gagg_channel *channel;	/* holds a reference */
	bool dead;			/* detached; WRITE_ONCE under ports */
	struct gagg_mem push;		/* struct gagg_push, struct gagg_cdesc[] */
	struct gagg_mem contrib;
	struct gagg_mem copy;		/* store: what the rank has read; gagg_copy_fresh() */
	struct gagg_ledger ops;		/* submitted is under session.lock, too */
};

struct gagg_session {
	struct mutex lock;		/* system calls of one file, waits excepted */
	struct gagg_group *group;	/* set once by GAGG_IOC_OPEN; under lock, READ_ONCE */
	u32 rank;
	enum gagg_session_state state;	/* group.lock; WRITE_ONCE */
	u64 epoch;			/* last epoch since it attached; group.lock, WRITE_ONCE */
	fl_owner_t owner;		/* files struct that attached */
	/* like group.channel; changed under lock and group.lock, read under either */
	struct gagg_seat *seat[GAGG_CHANNELS_MAX];
	struct gagg_table table;	/* ids of seat[]; under the same locks */
	wait_queue_head_t wq;		/* ops done, end of the epoch */
	wait_queue_head_t chunk_wq;	/* chunks done, end of the epoch */
	atomic64_t unread;		/* completions for read() and poll() */
	spinlock_t uring_lock;
	struct list_head uring;		/* held io_uring commands */
	u32 nheld;			/* length of uring; uring_lock, READ_ONCE */
};

/* system calls; session.lock held but for open, which takes gagg_net.lock */
int gagg_session_open(struct gagg_session *ses, const struct gagg_ioc_open *arg);
int gagg_session_attach(struct gagg_session *ses, struct gagg_ioc_attach *arg);
int gagg_session_channel(struct gagg_session *ses, struct gagg_ioc_channel *arg);
int gagg_session_channel_free(struct gagg_session *ses, u32 id);
/* gagg_epoch_status(), and whether the group is dead */
void gagg_session_status(struct gagg_session *ses, struct gagg_ioc_status *st);
/* leaves the epoch, frees the memory; @reason: BYE or DIED */
int gagg_session_detach(struct gagg_session *ses, u32 reason);
void gagg_session_orphan(struct gagg_session *ses);
void gagg_session_release(struct gagg_session *ses);

static inline bool gagg_session_attached(const struct gagg_session *ses)
{
	return gagg_state_is_attached(ses->state);
}

/* 0, or -ENOTCONN before an epoch, -EPIPE after it */
int gagg_session_running(const struct gagg_session *ses);

struct gagg_seat *gagg_seat_find(struct gagg_session *ses, u32 channel);
/* memory of a region, enum gagg_region_id */
struct gagg_mem *gagg_seat_region(struct gagg_seat *seat, u32 region);
void gagg_seat_put(struct gagg_seat *seat);

/*
 * of an attached session; from the epoch work, group.lock held: an epoch runs now, or is over.
 * Wakes all waiters
 */
void gagg_session_started(struct gagg_session *ses, u64 epoch);
void gagg_session_ended(struct gagg_session *ses, u32 reason);

#endif
