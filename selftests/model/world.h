/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A few hosts with the real core objects, a network that loses, repeats and
 * reorders, trainers that fill and read: driven by virtual time and one seed.
 *
 * What every step asserts (world_fail() on the first violation):
 *	- a result is published once per slot and round, rounds in order
 *	- its lanes, exponent, flags and contributors are those of an integer
 *	  reference over exactly one contribution of each member
 *	- a slot of the result region is not overwritten before every local
 *	  rank has read it
 *	- the queue of actions never runs over
 */
#ifndef WORLD_H
#define WORLD_H

#include "core.h"

#define WORLD_LANES	8
#define WORLD_CHANS	3

struct world_config {
	u64 seed;
	u32 nodes;		/* hosts */
	u32 per_node;		/* ranks per host */
	u64 worker_nodes;	/* hosts whose ranks are workers; 0: all */
	u64 home_nodes;		/* hosts that aggregate; 0: all */
	u32 ring, window, stripe, shards, cwnd;
	u32 chans;		/* channel 0, then: 1 even ranks, 2 odd ranks */
	u32 ops;		/* per channel */
	u32 max_chunks;		/* of an op, at least 1 */
	u32 loss;		/* per mille of datagrams */
	u32 dup;
	u64 jitter;		/* ns, reorders */
	u32 exps;		/* exponents differ by up to this many */
	u32 zeros;		/* per mille of contributions without lanes */
	u32 nonfinite;		/* per mille */
	u32 noresult;		/* per mille */
	u64 late;		/* ns; the highest rank starts so much later */
	bool raw;
};

struct world;

struct world *world_new(const struct world_config *cfg);
/* run to the end; 0, or -1 with a message in world_error() */
int world_run(struct world *w);
const char *world_error(const struct world *w);
u64 world_count(const struct world *w, enum gagg_count what);
u64 world_datagrams(const struct world *w);
u64 world_time(const struct world *w);
void world_free(struct world *w);

#endif
