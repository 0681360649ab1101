/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Chunks of a ring, and trainers that call collectives. What holds:
 *	- a slot's rounds are published one by one, never before every local rank
 *	  has read the last, and stay as they are until they are read
 *	- an op is done once, in order, when all its chunks are there
 *	- a result that a home has added up holds one contribution of each member
 *	  whose host is no insider, once
 * without insiders also:
 *	- lanes, exponents, flags and contributors are those of a reference
 *	- ranks that call the same collectives are never told to disagree
 *
 * The first lanes of a contribution are zero but for that of its own rank: so
 * each of them says how often that rank was counted. Lanes are int32, or (raw ones)
 * int64, whose halves then are two of those.
 */
#ifndef RING_H
#define RING_H

#include "hosts.h"

#define RING_OPS	16	/* of a channel in an epoch */

/* the n-th collective of a channel in an epoch, the same for all ranks */
struct plan {
	u32 n;
	u64 total;
	struct {
		u64 end;
		u32 sig;
		u16 last;
	} op[RING_OPS];
};

struct calls {
	u32 exps;
	u8 zeros, nonfinite, noresult;	/* of 256 */
	u8 op_flags, laneop;
	struct plan plan[HOSTS_EPOCHS][HOSTS_CHANS];
};

struct trainer {
	u64 filled, read;
	u32 next_op;
	u64 done_in[HOSTS_SHARDS];
	struct gagg_cdesc *desc;
	s32 *contrib;
};

struct chunks {
	s32 *acc[HOSTS_SHARDS];
	s32 *result, *shadow;	/* as it was published */
	u16 *lanes;
	u64 *holds;		/* virtual chunk of the result, + 1 */
	struct trainer trainer[GAGG_LOCALS];
};

static inline bool ring_wide(const struct hosts *w)
{
	return w->calls->laneop >> 4 == GAGG_LANE_S64;
}

/* narrow lanes: 1 or 2 */
static inline u32 ring_narrow(const struct hosts *w)
{
	return gagg_lane_narrow(w->calls->laneop);
}

/* ring_check.c */
struct gagg_cdesc ring_contribution(const struct hosts *w, u32 epoch, u32 rank, u32 c, u64 v,
				    s32 *lanes);
void check_publish(struct host *h, u32 c, u32 s, u64 v, const struct gagg_publish *p);
void check_unread(struct host *h, u32 c, u32 slot);
void check_read(struct host *h, u32 c, u64 v);

#endif
