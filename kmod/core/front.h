/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How far all shards have come, where each of them goes on by itself.
 */
#ifndef GAGG_CORE_FRONT_H
#define GAGG_CORE_FRONT_H

#include "geom.h"

struct gagg_front {
	u64 at[GAGG_SHARDS_MAX];	/* by shard; GAGG_NEVER: it never holds others up */
};

/*
 * gagg_front_move - a shard has come to @at; raise @all to what all of them have come to
 * @shards:	number of shards
 * @all:	others read it at any time, and see what was written before the call of each shard
 *
 * The caller holds the lock of @shard only: it may be called for several shards at once.
 * Returns by how much this call has raised @all.
 */
u64 gagg_front_move(struct gagg_front *f, u32 shards, u32 shard, u64 at, u64 *all);

#endif
