/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Ops of a session: starting them, reporting their ends, waiting for them.
 */
#ifndef GAGG_OP_H
#define GAGG_OP_H

#include <linux/gagg.h>
#include "core/core.h"

struct gagg_seat;
struct gagg_session;

/* the condition that a waiter waits for */
struct gagg_wish {
	struct gagg_session *ses;
	struct gagg_seat *seat;		/* NULL: for the epoch to start */
	u64 op;
	u64 chunk;			/* if not 0: wait for this chunk instead of the op */
};

/* 0: fulfilled; -EAGAIN: not yet; else it never will be */
int gagg_op_wish_state(const struct gagg_wish *wish);

/* system calls; session.lock held, but for wait
 * gagg_op_submit(): !@wait: -EAGAIN instead of sleeping for the lock of the group
 */
int gagg_op_submit(struct gagg_session *ses, struct gagg_ioc_submit *arg, bool wait);
/* the wish of a GAGG_IOC_WAIT, with a reference to its seat */
int gagg_op_wish(struct gagg_session *ses, const struct gagg_ioc_wait *arg,
		 struct gagg_wish *wish);
int gagg_op_wait(const struct gagg_wish *wish, u64 timeout_ns);
/* fill in the answers to GAGG_IOC_STATUS and GAGG_IOC_TIMES */
int gagg_op_status(struct gagg_session *ses, struct gagg_ioc_status *arg);
int gagg_op_times(struct gagg_session *ses, struct gagg_ioc_times *arg);

/* times of an epoch begin, or end */
void gagg_op_times_begin(struct gagg_session *ses);
void gagg_op_times_end(struct gagg_session *ses);

/* from the poll: ops of a seat up to @number are done in @shard */
void gagg_op_done(struct gagg_session *ses, struct gagg_seat *seat, u32 shard, u64 number);
/* chunks were published on a channel (once per batch); wakes chunk waiters */
void gagg_op_progress(struct gagg_session *ses);

#endif
