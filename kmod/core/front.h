/* SPDX-License-Identifier: GPL-2.0 */
/*
 * How far all shards have come. Each of them advances without the others.
 */
#ifndef GAGG_CORE_FRONT_H
#define GAGG_CORE_FRONT_H

#include "geom.h"

struct gagg_front {
	u64 at[GAGG_SHARDS_MAX];	/* by shard; GAGG_NEVER: does not count */
};

/*
 * gagg_front_move - a shard has come to @at; raise @all to the least position of all shards
 * @shards:	number of shards
 * @all:	may be read at any time; a reader also sees what each shard wrote before its call
 *
 * The caller holds the lock of @shard only, so several shards may call it at once. Returns by how
 * much this call has raised @all.
 */
u64 gagg_front_move(struct gagg_front *f, u32 shards, u32 shard, u64 at, u64 *all);

#endif
