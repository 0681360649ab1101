/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the parts of the cluster share. There is one cluster at a time.
 */
#ifndef CLUSTER_INT_H
#define CLUSTER_INT_H

#include <string.h>
#include "cluster.h"

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

/* cluster_path.c: how often it was told to send */
extern u32 transmissions;

/* cluster_equal.c */
/* what has no meaning any more looks the same in equal states */
void normalise(u32 n);
/* the receiver does not run its epoch: not any more, or not yet */
bool is_past(const struct datagram *d);
bool is_foreign(const struct datagram *d);
/* whatever comes, this datagram changes nothing at its receiver */
bool is_dead(const struct datagram *d);

#endif
