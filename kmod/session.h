/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A session: one open file of /dev/gagg, bound to one rank of a group.
 *
 * States: unbound -> bound (GAGG_IOC_OPEN; holds a group reference, is
 * group.session[rank]) -> attached (has joined, epoch not yet started) ->
 * running -> ended (epoch over; memory kept until detach, attach or close).
 *
 * A session's leaving: GAGG_IOC_DETACH, ->release, or ->flush by the files
 * struct that attached when its task exits (PF_EXITING): a forked child that
 * still holds the file must not hide a death.
 */
#ifndef GAGG_SESSION_H
#define GAGG_SESSION_H

#include <linux/fs.h>
#include <linux/kref.h>
#include <linux/wait.h>
#include "group.h"
#include "memory.h"

enum gagg_session_state {
	GAGG_S_UNBOUND,
	GAGG_S_BOUND,
	GAGG_S_ATTACHED,
	GAGG_S_RUNNING,
	GAGG_S_ENDED,
};

/* a session's own part of a channel: what its trainer writes */
struct gagg_seat {
	struct gagg_channel *channel;	/* holds a reference */
	struct gagg_mem push;		/* struct gagg_push, struct gagg_cdesc[] */
	struct gagg_mem contrib;
	u64 completed;			/* ops done in all shards; WRITE_ONCE under ports */
	u64 submitted;
	u64 done_in[16];		/* by shard, under its port lock */
	u64 cursor;			/* virtual chunks submitted */
};

struct gagg_session {
	struct kref ref;
	struct mutex lock;		/* ioctls of one file, one at a time, except waits */
	struct gagg_group *group;
	u32 rank;
	enum gagg_session_state state;	/* group.lock */
	u64 epoch;			/* the one it is attached for or was in */
	fl_owner_t owner;		/* files struct that attached */
	struct gagg_seat *seat[GAGG_CHANNELS_MAX];	/* like group.channel */
	wait_queue_head_t wq;		/* ops done, epoch */
	atomic64_t unread;		/* completions for read() and poll() */
	spinlock_t uring_lock;
	struct list_head uring;		/* held io_uring commands */
};

extern const struct file_operations gagg_fops;	/* chardev.c */

/* from the poll: ops of a seat up to @number are done in @shard */
void gagg_session_op_done(struct gagg_session *ses, struct gagg_seat *seat,
			  u32 shard, u64 number);
/* chunks were published on a channel (once per batch); wakes chunk waiters */
void gagg_session_progress(struct gagg_session *ses);
/* epoch work: it runs now, or is over; wakes everybody */
void gagg_session_started(struct gagg_session *ses, u64 epoch);
void gagg_session_ended(struct gagg_session *ses);

/* uring.c */
int gagg_uring_cmd_handler(struct io_uring_cmd *cmd, unsigned int flags);
void gagg_uring_complete(struct gagg_session *ses, bool all);

#endif
