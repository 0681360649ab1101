/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Places of channels, by their ids: those that a group has on this host, or those that a session
 * has. The first place is for channel 0 only.
 *
 * Beside the table a host has an array of GAGG_CHANNELS_MAX pointers, NULL where a place is free.
 */
#ifndef GAGG_CORE_TABLE_H
#define GAGG_CORE_TABLE_H

#include "types.h"
#include <linux/gagg.h>

_Static_assert(GAGG_CHANNELS_MAX == 64, "places are bits");

struct gagg_table {
	u64 taken;	/* bit per place */
	u16 id[GAGG_CHANNELS_MAX];	/* by place, if that is taken */
	u8 spent;	/* an epoch has ended since channel 0 was entered: it is stale */
};

int gagg_table_search(const struct gagg_table *t, u32 id);

/*
 * place of a channel; -1: it has none. Always 0 for channel 0, even if the table does not have it
 */
static inline int gagg_table_find(const struct gagg_table *t, u32 id)
{
	return id ? gagg_table_search(t, id) : 0;
}

/*
 * gagg_table_place - the place for a channel that is not in the table
 * @limit: most channels in the table; channel 0 counts, even if the table does not have it
 * Returns -1 if the limit is reached.
 */
int gagg_table_place(const struct gagg_table *t, u32 id, u32 limit);

/* @place: a place that gagg_table_place() returned, for this table or for that of the group */
void gagg_table_enter(struct gagg_table *t, u32 place, u32 id);
void gagg_table_leave(struct gagg_table *t, u32 place);

/* an epoch is over, even if it never began on this host: all channels in the table were for it */
static inline void gagg_table_spend(struct gagg_table *t)
{
	t->spent = 1;
}

/* Is channel 0 there, but for an epoch that is over? The next epoch needs a new one. */
static inline bool gagg_table_stale(const struct gagg_table *t)
{
	return (t->taken & 1) && t->spent;
}

#endif
