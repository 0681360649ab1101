// SPDX-License-Identifier: GPL-2.0
/*
 * No lock is common to all shards. Claim: in the end @all is the minimum of all positions.
 *
 * 1. Positions only grow. So what is below a minimum that was seen once is done.
 * 2. Each shard stores its position, and then reads all positions, with a barrier between
 *    (gagg_tell_all()). So if two shards do this at the same time, at least one sees both
 *    positions.
 * 3. The larger minimum wins (gagg_swap()).
 */
#include "front.h"

u64 gagg_front_move(struct gagg_front *f, u32 shards, u32 shard, u64 at, u64 *all)
{
	u64 least = GAGG_NEVER, was;
	u32 s;

	gagg_tell_all(&f->at[shard], at);
	for (s = 0; s < shards; s++)
		least = gagg_min64(least, gagg_look(&f->at[s]));
	if (least == GAGG_NEVER)
		return 0;
	was = gagg_look(all);
	while (was < least)
		if (gagg_swap(all, &was, least))
			return least - was;
	return 0;
}
