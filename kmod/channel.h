/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A channel of a group on this host: the core's part for each shard, the result
 * region that all local ranks share, the accumulators.
 *
 * Made for channel 0 when an epoch starts (or at the first attach, which needs
 * its geometry), for others by GAGG_IOC_CHANNEL or by OPEN; lives until the
 * epoch ends, since late members may still ask for its results.
 */
#ifndef GAGG_CHANNEL_H
#define GAGG_CHANNEL_H

#include <linux/kref.h>
#include "group.h"
#include "memory.h"

struct gagg_channel {
	struct kref ref;		/* the group's table, seats */
	u32 id;
	u32 index;			/* in group.channel */
	u64 members;
	struct gagg_mem result;		/* payload by slot */
	struct gagg_mem done;		/* struct gagg_done, struct gagg_rdesc[] */
	struct gagg_mem acc;		/* payload by slot % window; homes only */
	struct gagg_seat *seat[GAGG_LOCALS];	/* by local index of the core */
	struct gagg_session *session[GAGG_LOCALS];
	bool progressed;		/* per batch, under port lock */
	struct gagg_chan *part[16];	/* by shard, vmalloc */
};

/* group.lock held; sleeps; ENOMEM, ENOSPC */
struct gagg_channel *gagg_channel_create(struct gagg_group *grp, u32 id, u64 members);
/* zero all state for a new epoch (channel 0) */
void gagg_channel_reset(struct gagg_group *grp, struct gagg_channel *ch);
void gagg_channel_put(struct gagg_channel *ch);
/* by wire id; under a port lock or group.lock */
struct gagg_channel *gagg_channel_find(struct gagg_group *grp, u32 id);

static inline u32 gagg_per_block(const struct gagg_geom *g)
{
	return GAGG_BLOCK / (g->lanes * 4);
}

/* address of chunk @i in chunk memory */
static inline void *gagg_chunk_at(const struct gagg_geom *g, const struct gagg_mem *mem,
				  u32 i)
{
	u32 per = gagg_per_block(g);

	return mem->block[i / per] + (size_t)(i % per) * g->lanes * 4;
}

#endif
