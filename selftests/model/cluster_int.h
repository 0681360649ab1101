/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations that the parts of the cluster share. There is one cluster at a time.
 */
#ifndef CLUSTER_INT_H
#define CLUSTER_INT_H

#include <string.h>
#include "cluster.h"

#define NOW		(1000 * GAGG_SEC)	/* deadlines but those of gaps are before it */
#define LATER	(NOW + 100 * GAGG_SEC)	/* all deadlines are at it or before */

struct datagram {
	u8 from, to, epoch;
	u8 hdr[GAGG_WIRE_HDRLEN];
	u8 body[sizeof(struct gagg_ack)];
	u32 len;
};

/* datagrams that @node gives up on their way to @peer */
struct giving_up {
	u32 node, peer;
	u64 ids;
};

extern struct setup su;
extern struct gagg_geom geom[GAGG_NODES];
extern struct state *cur;
extern struct giving_up giving_up;

void fail(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

static inline struct gagg_chan *chan_of(u32 n, u32 c)
{
	return (struct gagg_chan *)cur->node[n].part[c].block;
}

static inline bool has_chan(u32 n, u32 c)
{
	return c < su.chans && (cur->node[n].present & (1U << c));
}

/* every local rank has read what the slot holds */
static inline bool reads_all(u32 n, u32 c, u32 slot)
{
	const struct part *p = &cur->node[n].part[c];
	u32 l;

	for (l = 0; l < chan_of(n, c)->nlocals; l++)
		if (p->holds[slot] > p->read[l])
			return false;
	return true;
}

/* cluster_sum.c: what @rank contributes to chunk @v of channel @c in @epoch, and
 * the result of it
 */
s32 lane_of(u32 epoch, u32 c, u32 rank, u64 v);
struct gagg_cdesc desc_of(u32 rank, u64 v);
s32 sum_of(u32 epoch, u32 c, u64 v, struct gagg_rdesc *d);

/* cluster_path.c: number of transmissions */
extern u32 transmissions;

/*
 * What chunks are, and what trainers do with them: cluster_ring.c, or cluster_store.c.
 */
void chunks_begin(u32 n, u32 c);
/* a trainer may take from 1 to so many steps at once */
u32 chunks_fillable(u32 n, u32 c, u32 l);
void chunks_fill(u32 n, u32 c, u32 l, u32 count);
/* trainers have done all that they have to do */
bool chunks_done(u32 n, u32 c);
u64 chunks_filled(u32 n, const struct gagg_chan *ch, u32 local);
struct gagg_cdesc chunks_desc(u32 n, const struct gagg_chan *ch, u32 local, u32 slot);
/* the lane of a CONTRIB or RESULT that leaves */
s32 chunks_lane(u32 n, const struct gagg_act *a);
void chunks_act(u32 n, const struct gagg_act *a);
void chunks_add(u32 n, const struct gagg_todo *todo, const void *lanes);
void chunks_place(u32 n, const struct gagg_todo *todo, const void *lanes);
/* may a host of the epoch send that message, and drop it for @why? */
bool chunks_may_drop(const struct gagg_msg *m, enum gagg_drop why);
/* checks at the end of a batch */
void chunks_check(u32 n, u32 c);

/* cluster_equal.c, cluster_store_equal.c */
void chunks_normalise(u32 n, u32 c);
/* would the channel's timer do anything, if time has passed? */
bool chunks_timed(u32 n, u32 c);
/* a datagram of the epoch changes nothing at its receiver, which has the channel */
bool chunks_dead(const struct datagram *d, const struct gagg_msg *m);

#endif
