/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A shard's turn of work, after what has arrived was received: timers that are due, refills of
 * channels one after the other, messages that waited to share a datagram.
 *
 *	struct gagg_work work = { .sh = sh, .g = g, .env = &env, .channel = channel,
 *				  .channels = channels, .now = now };
 *
 *	while (gagg_work_step(&work))
 *		carry out the actions of @sh
 *	look again at once if work.more, else at gagg_work_deadline(&work)
 *
 * The caller holds the shard's lock over all of this.
 */
#ifndef GAGG_CORE_WORK_H
#define GAGG_CORE_WORK_H

#include "shard.h"
#include <linux/gagg.h>

/* what is received in a turn at most, in datagrams (gagg_receive_cost()), before its work */
#define GAGG_RECEIVE_TURN	512
/*
 * refills in one turn, GAGG_ACTS actions each at most: bounds how long other groups of the port
 * wait
 */
#define GAGG_WORK_REFILLS	4

/* calls into the shard that no datagram causes */
enum gagg_work_call {
	GAGG_WORK_TIMER,	/* gagg_shard_timer() */
	GAGG_WORK_CHAN_TIMER,
	GAGG_WORK_REFILL,
	GAGG_WORK_FLUSH,
};

/**
 * struct gagg_work - a turn
 * @sh:		the shard
 * @g:		its geometry
 * @env:	callbacks of the caller
 * @channel:	the part in this shard of each channel, by the caller's numbering
 * @channels:	bit per index: the channel exists. Constant in the turn, as is @channel
 * @now:	time, the same for the whole turn
 * @more:	some channel could do more: the next turn begins with the one behind it
 * @call:	the last step, enum gagg_work_call
 * @id:		id of the channel that the call was for, or 0
 * @again:	return value of a refill
 *
 * The caller sets all members up to @now. The others begin as zero.
 */
struct gagg_work {
	struct gagg_shard *sh;
	const struct gagg_geom *g;
	const struct gagg_env *env;
	struct gagg_chan *const *channel;
	u64 channels;
	u64 now;
	bool more;
	bool again;
	u8 call;
	u16 id;
	/* private: */
	u8 stage;
	u8 refills;
	u8 first;		/* index that the turn begins with */
	u8 at;			/* index of @chan */
	bool timed;		/* the timer of @chan was called, if due */
	struct gagg_chan *chan;	/* channel in turn, or NULL */
	u64 left;		/* channels that still wait, from @first on */
};

/**
 * gagg_work_step - make the next call
 * @w: the turn
 *
 * Returns true if a call was made, and @w describes it: drain the actions, and call again. A shard
 * that does not run has no work.
 */
bool gagg_work_step(struct gagg_work *w);

/**
 * gagg_work_deadline - when the shard needs a turn without a datagram
 * @w: the turn, after its last step
 *
 * Returns a time, or GAGG_NEVER.
 */
u64 gagg_work_deadline(const struct gagg_work *w);

#endif
