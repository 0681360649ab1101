/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Places of channels, by their ids: which there are in a group on this host, or which of them
 * a session has. Channel 0 has the first place, no other one has.
 *
 * A host has an array of GAGG_CHANNELS_MAX pointers beside it, NULL where there is nothing.
 */
#ifndef GAGG_CORE_TABLE_H
#define GAGG_CORE_TABLE_H

#include "types.h"
#include <linux/gagg.h>

_Static_assert(GAGG_CHANNELS_MAX == 64, "places are bits");

struct gagg_table {
	u64 taken;	/* bit per place */
	u16 id[GAGG_CHANNELS_MAX];	/* of a place that is taken */
	u8 spent;	/* an epoch has ended since channel 0 was entered */
};

int gagg_table_search(const struct gagg_table *t, u32 id);

/* place of a channel; -1: it has none. Of channel 0 it is 0, also if that is not there */
static inline int gagg_table_find(const struct gagg_table *t, u32 id)
{
	return id ? gagg_table_search(t, id) : 0;
}

/*
 * gagg_table_place - where a channel that is not there is to be entered
 * @limit: channels that there may be, channel 0 among them, also if it is not there
 * Returns -1 if that is reached.
 */
int gagg_table_place(const struct gagg_table *t, u32 id, u32 limit);

/* @place: what gagg_table_place() has said, for this table or for that of the group */
void gagg_table_enter(struct gagg_table *t, u32 place, u32 id);
void gagg_table_leave(struct gagg_table *t, u32 place);

/* an epoch is over, also one that was never begun here: what is in the table was for it */
static inline void gagg_table_spend(struct gagg_table *t)
{
	t->spent = 1;
}

/* is channel 0 there, and of an epoch that is over? The next one has a new one */
static inline bool gagg_table_stale(const struct gagg_table *t)
{
	return (t->taken & 1) && t->spent;
}

#endif
