/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The outbox of a shard, through which every room says what is to be done.
 *
 * Private to the core. The caller of the core drains it: gagg_shard_act().
 */
#ifndef GAGG_CORE_OUT_H
#define GAGG_CORE_OUT_H

#include "shard.h"

/*
 * room in the queue of actions
 *
 * Runs do not let a call cause more work: one of contributions counts as its chunks, one of a
 * home's results as two for each. Results that were placed count once, since what has come bounds
 * them.
 */
static inline u32 gagg_shard_spare(const struct gagg_shard *sh)
{
	u32 used = sh->nacts + sh->more;

	return used < GAGG_ACTS ? GAGG_ACTS - used : 0;
}

/* an action at the end of the queue: all is zero but for m, and the body that goes
 * with it, which are the caller's to fill if it sends
 */
struct gagg_act *gagg_shard_emit(struct gagg_shard *sh, u8 type, u16 channel);

/* header with what all datagrams of the epoch have in common, of channel 0 */
void gagg_shard_msg(const struct gagg_shard *sh, const struct gagg_geom *g, u8 type, u16 src,
		    struct gagg_msg *m);

/* the same of the channel that is visited */
static inline void gagg_visit_msg(const struct gagg_visit *vis, u8 type, u16 src,
				  struct gagg_msg *m)
{
	gagg_shard_msg(vis->sh, vis->g, type, src, m);
	m->channel = vis->ch->id;
}

/*
 * gagg_run_add - append one chunk to a run of header-only messages
 * @m: message of one chunk (run 1); sent with its predecessors if it continues
 *     them, else they are emitted first
 * @pns: the packet number counts chunks (RESULT, DONE)
 */
void gagg_run_add(const struct gagg_visit *vis, struct gagg_run *run, u32 node,
		  const struct gagg_msg *m, bool pns);
void gagg_run_flush(struct gagg_shard *sh, struct gagg_run *run, u32 node);

/* the verdict on a datagram that counts for nothing, and why */
static inline enum gagg_rx gagg_drop(struct gagg_arrival *in, enum gagg_drop why)
{
	in->todo.drop = why;
	return GAGG_RX_DROP;
}

#endif
