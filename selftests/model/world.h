/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A few hosts with the real core objects, a network that loses, repeats and
 * reorders, trainers that fill and read: driven by virtual time and one seed.
 *
 * What every step asserts (world_error() has the first violation):
 *	- a result is published once per slot and round, rounds in order
 *	- in a quorum: its home decides once which ranks are in it, as many as the mode requires,
 *   and all hosts have the same
 *	- its lanes, exponent, flags and contributors are those of an integer
 *	  reference over exactly one contribution of each member; it is withheld
 *	  only from hosts all of whose ranks want none
 *	- a slot of the result region is not written before every local rank has
 *	  read it, and is as it was published when it is read
 *	- ops are done once, in order, with all their chunks
 *	- no datagram of an honest host is dropped, but those of dead epochs, all of them
 *	- the queue of actions never runs over
 * Ranks die at any time: then all begin another epoch, with other contributions, from nothing.
 * Datagrams in flight arrive later, some of them twice. At the end: each chunk was published once
 * by its home. Without loss, repetition and reordering also: nothing was sent twice.
 */
#ifndef WORLD_H
#define WORLD_H

#include "core.h"

#define WORLD_LANES	8
#define WORLD_CHANS	3
#define WORLD_LIVES	3

/* WORLD_IN: to hosts; WORLD_OUT: from hosts */
#define WORLD_IN	1
#define WORLD_OUT	2

/*
 * what befalls a datagram: lost in an outage, for lack of room, or in a burst; a longer way; or
 * late
 */
enum world_weather {
	WORLD_OUTAGE,
	WORLD_QUEUE,
	WORLD_BURST,
	WORLD_SWING,
	WORLD_STRAGGLE,
	WORLD_WEATHERS
};

/**
 * struct world_outage - times in which all datagrams are lost
 * @first:	begin of the first one, ns
 * @lasts:	ns; 0: there is none
 * @every:	ns from one begin to the next; 0: it is the only one
 * @uneven:	each begins anywhere in its part of the time
 * @nodes:	hosts that are cut off; 0: the switch does nothing
 * @ways:	WORLD_IN, WORLD_OUT or both
 */
struct world_outage {
	u64 first, lasts, every;
	u64 nodes;
	u32 ways;
	bool uneven;
};

struct world_config {
	u64 seed;
	u32 nodes;		/* hosts */
	u32 per_node;		/* ranks per host */
	u64 worker_nodes;	/* hosts whose ranks are workers; 0: all */
	u64 home_nodes;		/* hosts that aggregate; 0: all */
	u32 ring, window, stripe, shards, cwnd;
	u32 chans;		/* channel 0, then: 1 even ranks, 2 odd ranks */
	u32 ops;		/* per channel, at most 64 */
	u32 max_chunks;		/* of an op, at least 1 */
	bool exact;		/* all ops have max_chunks full chunks */
	u32 loss;		/* per mille of datagrams */
	u32 dup;
	u64 jitter;		/* ns, reorders */
	u64 delay;		/* ns from host to host; 0: 50 us */
	u64 swing;		/* ns that are added to it in each second ... */
	u64 swing_every;	/* ... time of so many ns */
	u32 straggle;		/* per mille of datagrams that come later ... */
	u64 straggle_by;	/* ... by so many ns */
	u32 burst;		/* per mille of datagrams after which all is lost that a host sends, */
	u32 burst_ends;		/* and per mille of those after which no more */
	struct world_outage outage;
	u64 wire;		/* ns that a datagram with lanes takes on a host's link to the
				 * switch, and on the way back; others take an eighth; 0: none
				 */
	u32 queue;		/* with @wire: room of a port of the switch, in datagrams with
				 * lanes; 0: endless
				 */
	u64 poll;		/* ns from one look at what such a link has brought to the next */
	u64 think;		/* ns; trainers pause for up to that now and then */
	u32 exps;		/* exponents differ by up to this many */
	u32 zeros;		/* per mille of contributions without lanes */
	u32 nonfinite;		/* per mille */
	u32 noresult;		/* per mille */
	u64 late;		/* ns; the highest host's first rank starts so late */
	u32 mortality;		/* a rank dies in so many moments, WORLD_LIVES - 1 of them */
	u32 late_chans;		/* on these channels (bit each); 0: all */
	const char *sync;	/* mode; NULL: bsp */
	u8 laneop;
	bool raw;
	/* further changes to what @rank contributes to chunk @v of channel @c */
	void (*shape)(const struct world_config *cfg, u32 rank, u32 c, u64 v,
		      struct gagg_cdesc *d);
};

struct world;

struct world *world_new(const struct world_config *cfg);
/* run to the end; 0, or -1 with a message in world_error() */
int world_run(struct world *w);
const char *world_error(const struct world *w);
u64 world_count(const struct world *w, enum gagg_count what);
/* datagrams sent, of a type or (0) of all; lanes that they carried */
u64 world_sent(const struct world *w, enum gagg_wire_type type);
u64 world_lanes(const struct world *w, enum gagg_wire_type type);
u64 world_chunks(const struct world *w, u32 c);
/* datagrams that found no room in a queue */
u64 world_overflows(const struct world *w);
/* datagrams that were affected by some weather */
u64 world_befell(const struct world *w, enum world_weather what);
u32 world_deaths(const struct world *w);
u64 world_time(const struct world *w);
/* the longest time in which no rank got a further result */
u64 world_stall(const struct world *w);
/* when all ranks had all results of a channel */
u64 world_chan_time(const struct world *w, u32 c);
void world_free(struct world *w);

#endif
