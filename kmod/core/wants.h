/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Channels that other hosts have asked for, until this one has made them. There is room for a few:
 * a host that is not served asks again.
 */
#ifndef GAGG_CORE_WANTS_H
#define GAGG_CORE_WANTS_H

#include "table.h"

#define GAGG_WANTS	8

struct gagg_want {
	u64 epoch;
	u64 members;
	u32 id;
};

struct gagg_wants {
	u32 n;
	struct gagg_want want[GAGG_WANTS];
};

/* OPEN has arrived, in that epoch */
void gagg_wants_add(struct gagg_wants *w, u64 epoch, u32 id, u64 members);

/*
 * gagg_wants_next - the next channel to be made
 * @t:		channels that exist: they are not made again
 * @epoch:	the epoch that runs: requests of another epoch are discarded
 * Returns false when there is none.
 */
bool gagg_wants_next(struct gagg_wants *w, const struct gagg_table *t, u64 epoch,
		     struct gagg_want *next);

#endif
