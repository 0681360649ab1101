/* SPDX-License-Identifier: LGPL-2.1-only OR MIT */
/*
 * Copies of a store, one at each rank: to add to one of them, to read one.
 */
#ifndef GAGG_COPIES_H
#define GAGG_COPIES_H

#include "store.h"

/*
 * copies_add - one clock: add a table's @own, as lanes, to a rank's copy
 * @rank: rank of the communicator
 *
 * Returns at once; the contribution must not change before the next call.
 */
int copies_add(struct gagg_table *t, int rank);

/*
 * copies_read - read a rank's copy of a table into @spare, as lanes
 * @flags: GAGG_SUBMIT_FENCE or 0
 */
int copies_read(struct gagg_table *t, int rank, uint32_t flags);

#endif
