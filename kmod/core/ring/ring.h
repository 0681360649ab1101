/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ring: a channel that works in rounds. What its callers may ask that is not asked of
 * every channel (chan.h).
 */
#ifndef GAGG_CORE_RING_H
#define GAGG_CORE_RING_H

#include "chan.h"

/* the next position of the same home and shard */
void gagg_cur_next(const struct gagg_geom *g, const struct gagg_chan *ch, struct gagg_cur *c);

/* the op of a local rank that virtual chunk @v is in, or NULL */
const struct gagg_op *gagg_ring_op(const struct gagg_chan *ch, u32 local, u64 v);

/*
 * gagg_ring_submit - start an op of @chunks chunks on a local rank
 * @what:	its sig, call, last_lanes, laneop and flags; the rest follows from the channel
 *
 * Returns its number (from 1), or 0 when GAGG_OPS are in flight.
 */
u64 gagg_ring_submit(struct gagg_chan *ch, u32 local, const struct gagg_op *what, u64 chunks);

#endif
