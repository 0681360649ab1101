/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A channel on a host: its part in each shard, where its memory lies, what is done with lanes
 * there.
 *
 * The host has the memory, and locks. Lanes of a chunk, and what is said of it, are written under
 * the lock of the chunk's shard.
 */
#ifndef GAGG_CORE_SITE_H
#define GAGG_CORE_SITE_H

#include "front.h"
#include "layout.h"
#include "shard.h"

/**
 * struct gagg_lent - regions that a local rank's trainer maps; all NULL: there is no trainer
 * @push:	struct gagg_push, struct gagg_cdesc by slot
 * @contrib:	payload by slot
 * @copy:	of a store: what the rank has read, gagg_copy_fresh(); else NULL
 */
struct gagg_lent {
	void *const *push;
	void *const *contrib;
	void *const *copy;
};

/**
 * struct gagg_site - a channel on a host
 * @index:	its place in the group's table
 * @nparts:	shards that have a part of it
 * @part:	these, by shard
 * @base:	of parts, once what is below is published
 * @result:	as of struct gagg_layout, as all that follow; of a store no trainer maps it
 * @done:	what trainers are told of results
 * @acc:	NULL: this host is no home, or needs none
 * @held:	NULL but on a home in a quorum
 * @lent:	by local index; changed under the locks of all shards
 *
 * A region is a table of addresses, one for each of its blocks, and the host's.
 */
struct gagg_site {
	u32 index;
	u32 nparts;
	struct gagg_chan *part[GAGG_SHARDS_MAX];
	struct gagg_front base;
	void *const *result;
	void *const *done;
	void *const *acc;
	void *const *held;
	struct gagg_lent lent[GAGG_LOCALS];
};

/* the channel in the next shard: gagg_chan_init() */
void gagg_site_add_part(struct gagg_site *site, const struct gagg_geom *g, void *mem, u16 id,
			u64 members);

/**
 * struct gagg_sum - where lanes are added
 * @to:		the sum with them goes here
 * @from:	the sum without them; NULL: there is none yet
 */
struct gagg_sum {
	void *to;
	const void *from;
};

/* of GAGG_RX_ADD in @shard */
static inline struct gagg_sum gagg_site_sum(const struct gagg_site *site,
					    const struct gagg_geom *g, u32 shard,
					    const struct gagg_todo *todo)
{
	struct gagg_sum sum;

	if (todo->area == GAGG_AREA_ACC)
		sum.to = gagg_acc_at(g, site->acc, shard, todo->acc);
	else
		sum.to = gagg_chunk_at(g, todo->area == GAGG_AREA_BESIDE ? site->acc : site->result,
				       todo->slot);
	sum.from = todo->first ? NULL : sum.to;
	if (todo->to_result)
		sum.to = gagg_chunk_at(g, site->result, todo->slot);
	return sum;
}

/* GAGG_RX_PLACE; false: the trainer whose copy it is of has left, and nothing is done */
static inline bool gagg_site_place(const struct gagg_site *site, const struct gagg_geom *g,
				   const struct gagg_todo *todo, const void *lanes)
{
	void *const *to = todo->area == GAGG_AREA_COPY ? site->lent[todo->local].copy :
							 site->result;

	if (!to)
		return false;
	memcpy(gagg_chunk_at(g, to, todo->slot), lanes, todo->lanes * 4);
	return true;
}

/* where a home's results lie, those that it sends: in a quorum it holds them */
static inline void *const *gagg_site_results(const struct gagg_site *site)
{
	return site->held ? site->held : site->result;
}

/*
 * GAGG_ACT_PUBLISH of @sh, of one chunk; trainers read it from now on, unless it is held.
 * false: a trainer whose lanes are to be added has left, and the lanes are not what they should
 */
bool gagg_site_publish(const struct gagg_site *site, const struct gagg_shard *sh,
		       const struct gagg_geom *g, const struct gagg_publish *pub,
		       const struct gagg_loops *loops);
/* GAGG_ACT_FOLD, _ADD_LOCAL, _READ; false: the trainer has left, and nothing is done */
bool gagg_site_keep(const struct gagg_site *site, const struct gagg_geom *g,
		    const struct gagg_act *a, const struct gagg_loops *loops);

/*
 * Readers of the DONE region are told how far all shards have come. The core moves a part's base
 * before the PUBLISH that it asks for is carried out, so other shards must not look at it: each
 * tells it when its actions are carried out, and its lock is held.
 */
void gagg_site_progress(struct gagg_site *site, u32 shard);

static inline struct gagg_done *gagg_site_done(const struct gagg_site *site)
{
	return site->done[0];
}

/* an epoch begins with the channel */
static inline void gagg_site_begin(const struct gagg_site *site, u64 epoch)
{
	gagg_tell(&gagg_site_done(site)->epoch, epoch);
}

/* the epoch of the channel is over: enum gagg_reason */
static inline void gagg_site_fail(const struct gagg_site *site, u32 reason)
{
	gagg_tell(&gagg_site_done(site)->failed, reason ? reason : GAGG_R_ADMIN);
}

/* does a trainer use the channel? */
static inline bool gagg_site_is_lent(const struct gagg_site *site)
{
	u32 l;

	for (l = 0; l < GAGG_LOCALS; l++)
		if (site->lent[l].push)
			return true;
	return false;
}

/*
 * gagg_env.filled and .desc: the trainer may write there at any time, so each is read once.
 * Acquire pairs with its release: what @filled describes is seen. 0: there is no trainer.
 */
static inline u64 gagg_site_filled(const struct gagg_site *site, u32 local)
{
	void *const *push = site->lent[local].push;

	return push ? gagg_heed(&((const struct gagg_push *)push[0])->filled) : 0;
}

static inline struct gagg_cdesc gagg_site_desc(const struct gagg_site *site, u32 local, u32 slot)
{
	void *const *push = site->lent[local].push;
	struct gagg_cdesc desc;
	u64 raw = 0;

	_Static_assert(sizeof(desc) == sizeof(raw), "a description is read at once");
	if (push)
		raw = gagg_look(gagg_byte_at(push, GAGG_DESC_OFFSET + (u64)slot * sizeof(raw)));
	memcpy(&desc, &raw, sizeof(desc));
	desc.flags &= GAGG_C_ZERO | GAGG_C_NONFINITE | GAGG_C_NORESULT;
	return desc;
}

#endif
