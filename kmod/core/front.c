// SPDX-License-Identifier: GPL-2.0
/*
 * No lock is common to all shards. @all is the minimum of all positions in the end, since
 *
 * 1. positions only grow, so that what is below a minimum which somebody has seen is done;
 * 2. each shard stores its position and then looks at all: of two that do so at once at least
 *    one sees both, because of the barrier between (gagg_tell_all());
 * 3. the larger minimum wins (gagg_swap()).
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
