/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Explicit-state search over small clusters (cluster.h): every order of every
 * event, with each datagram late, lost or repeated at will. In every state:
 *
 *	safe	each result is published once, in order, counts each contribution
 *		once, is the reference's, and is not overwritten unread
 *	live	if all that is in flight is lost, and nothing after that, all ranks get all results
 *
 * A state is identified by a hash of 64 bits: among 10^6 states of a search two have the same hash
 * with a probability of 3 * 10^-8.
 *
 * A model is searches and walks; main() is here. Its command line:
 *
 *	[--seed N] [--walks N] [--full | --quick]
 *
 * --full has larger bounds, --quick smaller ones. SEED and FULL=1 in the environment work, too.
 */
#ifndef SEARCH_H
#define SEARCH_H

#include "cluster.h"

/* one result */
struct search {
	const char *name;
	u32 kinds;	/* all assignments of so many kinds of contributions, or 0: */
	u32 some;	/* so many random ones */
	u32 limit;	/* states of each; 0: all that can be reached */
	u32 grow;	/* factor of the limit with --full; 0: not larger */
	struct setup su;
};

struct model {
	const struct search *searches;
	u32 nsearches;
	u32 walks;
	/* a random shape for a walk, all but the contributions */
	void (*shape)(struct setup *su);
};

/* what the program searches */
extern const struct model model;
extern bool search_full, search_quick;

u64 rnd(u64 n);
u32 ranks_of(const struct setup *su);
/* two or three hosts of a rank each, sizes at random; one epoch, one channel */
void search_shape(struct setup *su);

#endif
