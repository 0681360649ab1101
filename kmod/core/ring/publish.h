/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a PUBLISH action asks for: the lanes of a result, and what is said of
 * them. Then the caller stores gagg_rdesc.published, with release semantics.
 */
#ifndef GAGG_CORE_PUBLISH_H
#define GAGG_CORE_PUBLISH_H

#include "shard.h"
#include "reduce.h"

/**
 * struct gagg_lanes - where the lanes of a slot lie in a shard
 * @result:	in the result ring; with GAGG_HOLD_PUT in the one of what is held
 * @acc:	in the slot's accumulator; read if gagg_publish.from_acc, written if
 *		gagg_publish.narrow. With GAGG_HOLD_TAKE in the ring of what is held
 * @local:	in the contribution rings, by local index; used are those of
 *		gagg_publish.locals
 *
 * Its filler is the caller of gagg_publish_lanes(), whose memory it is, for that call.
 */
struct gagg_lanes {
	void *result;
	void *acc;
	const void *local[GAGG_LOCALS];
};

/*
 * gagg_publish_lanes - finish a result: local contributions are added last
 *
 * Narrow lanes (@pub->narrow) are added in the accumulator, local ones too, and the sums
 * are shifted by the smallest number of bits that makes them fit: gagg_narrow_chunk(),
 * a function of the sum. The core does not see lanes, so what it says of results
 * has no shift; it is kept in @part, for gagg_publish_desc() and gagg_publish_shift().
 *
 * @part:	the channel's part in the shard that said PUBLISH
 * @at:		lanes of the slot
 * @loops:	add them
 */
void gagg_publish_lanes(const struct gagg_publish *pub, struct gagg_chan *part,
			const struct gagg_lanes *at, const struct gagg_loops *loops);

/* is gagg_publish_lanes() due? What was placed may be whole */
static inline bool gagg_publish_writes(const struct gagg_publish *pub)
{
	return pub->lanes && (!pub->placed || pub->locals);
}

/* all of @rd but published; after gagg_publish_lanes() */
void gagg_publish_desc(const struct gagg_publish *pub, struct gagg_chan *part,
		       struct gagg_rdesc *rd);

/* of the result that @m, of SEND_RESULT, is the header of: its shift is entered. Only
 * of narrow lanes, that is if gagg_lane_narrow(m->laneop)
 */
static inline void gagg_publish_shift(struct gagg_chan *part, struct gagg_msg *m)
{
	m->aux |= (u32)gagg_chan_res(part, m->chunk)->shift << 16;
}

#endif
