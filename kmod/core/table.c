// SPDX-License-Identifier: GPL-2.0
#include "table.h"

int gagg_table_search(const struct gagg_table *t, u32 id)
{
	u64 left;

	for (left = t->taken; left; left &= left - 1)
		if (t->id[gagg_lowest(left)] == id)
			return (int)gagg_lowest(left);
	return -1;
}

int gagg_table_place(const struct gagg_table *t, u32 id, u32 limit)
{
	u64 others = t->taken & ~1ULL;

	if (!id)
		return 0;
	/* the limit is GAGG_CHANNELS_MAX at most: below it a place is free */
	return gagg_weight64(others) + 1 < limit ? (int)gagg_lowest(~others & ~1ULL) : -1;
}

void gagg_table_enter(struct gagg_table *t, u32 place, u32 id)
{
	t->taken |= GAGG_BIT(place);
	t->id[place] = (u16)id;
	if (!place)
		t->spent = 0;
}

void gagg_table_leave(struct gagg_table *t, u32 place)
{
	t->taken &= ~GAGG_BIT(place);
}
