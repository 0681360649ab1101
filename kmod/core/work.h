/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A shard's turn of work, which follows what has arrived: timers that are due, channels one
 * after the other, messages that waited for company.
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

/* of one turn, GAGG_ACTS actions each at most: the others on the port wait no longer */
#define GAGG_WORK_REFILLS	4

/* calls into the shard that no datagram has caused */
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
 * @env:	what the caller lends to the calls
 * @channel:	the part in this shard of each channel, by the caller's numbering
 * @channels:	bit per index: there is one. Constant in the turn, as is @channel
 * @now:	time, of the whole turn
 * @more:	some channel has not done all that it could: the next turn begins behind it
 * @call:	the last step, enum gagg_work_call
 * @id:		of the channel that it was about, or 0
 * @again:	what it returned, if it was a refill
 *
 * The caller sets all up to @now. What is not described is the turn's own, and begins as zero.
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
	bool timed;		/* its timer was looked at */
	struct gagg_chan *chan;	/* whose turn it is, or NULL */
	u64 left;		/* channels that wait for theirs, from @first on */
};

/**
 * gagg_work_step - make the next call
 * @w: the turn
 *
 * Returns true if a call was made, which @w describes: drain the actions, and call again. A
 * shard that does not run has no work.
 */
bool gagg_work_step(struct gagg_work *w);

/**
 * gagg_work_deadline - when the shard requires a turn that no datagram has caused
 * @w: the turn, after its last step
 *
 * Returns a time, or GAGG_NEVER.
 */
u64 gagg_work_deadline(const struct gagg_work *w);

#endif
