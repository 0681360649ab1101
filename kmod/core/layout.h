/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The memory of a channel on a host: which regions there are, how many bytes they have, and where a
 * chunk lies.
 *
 * Memory is counted in blocks, and no chunk lies in two of them: a host may allocate each block
 * separately.
 */
#ifndef GAGG_CORE_LAYOUT_H
#define GAGG_CORE_LAYOUT_H

#include "chan.h"

#define GAGG_BLOCK	65536U

/* place of a chunk or accumulator: its block, and its first byte there */
struct gagg_place {
	u32 block;
	u32 at;
};

static inline u32 gagg_per_block(const struct gagg_geom *g)
{
	return GAGG_BLOCK / (g->room * 4);
}

/* @per: gagg_per_block() */
static inline struct gagg_place gagg_chunk_place(const struct gagg_geom *g, u32 per, u32 i)
{
	return (struct gagg_place){ .block = i / per, .at = i % per * g->room * 4 };
}

/* bytes of an accumulator: sums of narrow lanes have 32 bits each. At most 35840 */
static inline u32 gagg_acc_bytes(const struct gagg_geom *g)
{
	return (u32)g->room * 4 << g->wire;
}

/* accumulator @i of a shard: shards advance independently, so each has a window of its own */
static inline struct gagg_place gagg_acc_place(const struct gagg_geom *g, u32 shard, u32 i)
{
	u32 bytes = gagg_acc_bytes(g), per = GAGG_BLOCK / bytes;

	i += shard * g->window;
	return (struct gagg_place){ .block = i / per, .at = i % per * bytes };
}

/*
 * A region in memory is a table of its blocks' addresses. These find byte @offset of one, chunk
 * @i, accumulator @i of @shard. For many chunks gagg_per_block() is asked for once.
 */
static inline void *gagg_byte_at(void *const *region, u64 offset)
{
	return (char *)region[offset / GAGG_BLOCK] + offset % GAGG_BLOCK;
}

static inline void *gagg_chunk_in(const struct gagg_geom *g, u32 per, void *const *region, u32 i)
{
	struct gagg_place p = gagg_chunk_place(g, per, i);

	return (char *)region[p.block] + p.at;
}

static inline void *gagg_chunk_at(const struct gagg_geom *g, void *const *region, u32 i)
{
	return gagg_chunk_in(g, gagg_per_block(g), region, i);
}

static inline void *gagg_acc_at(const struct gagg_geom *g, void *const *region, u32 shard, u32 i)
{
	struct gagg_place p = gagg_acc_place(g, shard, i);

	return (char *)region[p.block] + p.at;
}

/* of a store: where in a rank's copy the clocks of what it has read lie, u32 by chunk */
u64 gagg_copy_fresh(const struct gagg_geom *g);

/**
 * struct gagg_layout - bytes of each region of a channel; 0: the channel has no such region
 * @result:	payload by slot; store: its chunks
 * @done:	struct gagg_done, struct gagg_rdesc by slot
 * @acc:	homes: sums, window chunks per shard, gagg_acc_place(); store with snapshots:
 *		updates of the clock that is not complete, by slot
 * @held:	homes in a quorum: results that local ranks have not come to, by slot
 * @push:	for each local rank: struct gagg_push, struct gagg_cdesc by slot
 * @contrib:	for each local rank: payload by slot
 * @copy:	store, for each local rank: what it has read, gagg_copy_fresh()
 */
struct gagg_layout {
	u64 result;
	u64 done;
	u64 acc;
	u64 held;
	u64 push;
	u64 contrib;
	u64 copy;
};

/* regions of which all ranks of a host have one: struct gagg_layout */
enum gagg_shared {
	GAGG_SHARED_RESULT,
	GAGG_SHARED_DONE,
	GAGG_SHARED_ACC,
	GAGG_SHARED_HELD,
	GAGG_SHARED_COUNT,
};

/* @part: the channel in any shard */
void gagg_layout_of(const struct gagg_geom *g, const struct gagg_chan *part,
		    struct gagg_layout *l);

/*
 * Offsets by which a trainer maps regions: 64 GiB for each region of each channel. The largest ring
 * has 38 GiB, and all offsets fit into the page offsets of 32-bit kernels.
 * @index: place of the channel in the group's table
 */
#define GAGG_REGION_SHIFT	36

static inline u64 gagg_region_offset(u32 index, u32 region)
{
	return (u64)(index * GAGG_REG_COUNT + region) << GAGG_REGION_SHIFT;
}

/* what a host maps for a region */
enum gagg_mapped {
	GAGG_MAPPED_PUSH,	/* of a rank, which its trainer writes; so is CONTRIB */
	GAGG_MAPPED_CONTRIB,
	GAGG_MAPPED_DONE,	/* of the channel; so is RESULT */
	GAGG_MAPPED_RESULT,
	GAGG_MAPPED_COPY,	/* of a rank */
};

/* @copy: the rank has a copy. Chunks of a store are read by ops: only the copy is mapped */
static inline enum gagg_mapped gagg_region_maps(u32 region, bool copy)
{
	switch (region) {
	case GAGG_REG_PUSH:
		return GAGG_MAPPED_PUSH;
	case GAGG_REG_CONTRIB:
		return GAGG_MAPPED_CONTRIB;
	case GAGG_REG_DONE:
		return GAGG_MAPPED_DONE;
	default:
		return copy ? GAGG_MAPPED_COPY : GAGG_MAPPED_RESULT;
	}
}

/* does its trainer write it? */
static inline bool gagg_region_is_theirs(u32 region)
{
	return region == GAGG_REG_PUSH || region == GAGG_REG_CONTRIB;
}

/* false: no region has that offset */
bool gagg_region_of(u64 offset, u32 *index, u32 *region);

/*
 * gagg_layout_tell - describe a channel to a trainer
 * @part:	the channel in any shard
 * @index:	place of the channel in the group's table
 * @rank:	a local rank of the channel
 * @geo:	all fields are filled in, except epoch and the lengths of regions, which are 0
 */
void gagg_layout_tell(const struct gagg_geom *g, const struct gagg_chan *part, u32 index,
		      u32 rank, struct gagg_geometry *geo);

#endif
