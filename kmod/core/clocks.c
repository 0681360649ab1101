// SPDX-License-Identifier: GPL-2.0
/*
 * The clocks of all workers. The least one only has to be looked for when the
 * worker that moves had it.
 */
#include "sync.h"

static u32 least(const struct gagg_clocks *k)
{
	u32 min = GAGG_CLOCK_END;
	u64 left;

	for (left = k->members; left; left &= left - 1) {
		u32 clock = k->clock[gagg_lowest(left)];

		min = clock < min ? clock : min;
	}
	return min;
}

static bool raise(struct gagg_clocks *k)
{
	u32 was = k->min;

	k->min = least(k);
	return k->min > was;
}

void gagg_clocks_init(struct gagg_clocks *k, u64 members)
{
	memset(k, 0, sizeof(*k));
	k->members = members;
	k->min = least(k);
}

bool gagg_clocks_tick(struct gagg_clocks *k, u32 rank, u32 clock)
{
	u32 was = k->clock[rank];

	/* a repetition, or overtaken by a later one */
	if (clock <= was || clock > GAGG_CLOCK_END)
		return false;
	k->clock[rank] = clock;
	return was == k->min && raise(k);
}
