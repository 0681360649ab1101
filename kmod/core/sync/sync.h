/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A sync mode: when is a round complete, when may a result be read. A policy never touches
 * payload: what a contribution is, its addition and its publication are the chunk's matter
 * (ring/home.c, store/home.c).
 *
 * Modes are of two kinds:
 *
 *	ring	works in rounds: the result of a chunk is published once, when its round is
 *		complete
 *	store	has chunks that persist: updates are added as they come, and a read is
 *		answered when the policy lets it, given the clocks of all workers
 *
 * The core knows a mode by what it does. Two modes that it would carry out alike are told apart
 * in one case only: when hosts and trainers must agree on which of them it is. Such are
 *
 *	1. the algorithms over rounds, GAGG_SYNC_ROUNDS and above. They are bulk-synchronous
 *	   rounds here (rounds.c). What is summed up, and when, is the trainers' matter
 *	   (agent/lib/replica.c), so a new one needs nothing new here.
 *	2. easgd, which is asp, and push-sum, which is gossip-push. What is in their store
 *	   differs for trainers, not for the core.
 *
 * Names, and modes as people write them, are userspace's (agent/lib/sync_name.h).
 */
#ifndef GAGG_CORE_SYNC_H
#define GAGG_CORE_SYNC_H

#include "sync/clocks.h"

/* most clocks between the bounds of dssp: the controller looks at that many */
#define GAGG_DSSP_AHEAD	1024

/* a worker as dssp sees it */
struct gagg_dssp_worker {
	u64 at[2];	/* its last two pushes, the last one first */
	u32 left;	/* clocks that are granted and not used */
	u32 pass;	/* it may read up to this clock, whatever its lead */
};

struct gagg_dssp {
	struct gagg_dssp_worker worker[GAGG_CLOCK_RANKS];
};

/* a worker as r2sp sees it */
struct gagg_r2sp_worker {
	u64 turn;	/* number of its last release */
	u64 since;	/* when that was; once its update is admitted, when that was */
	u64 computed;	/* time from its release until it asked to update */
	u32 released;	/* it may read up to the clock below */
	u8 stage;	/* enum r2sp_stage (r2sp.c) */
	u8 late;	/* it was passed over, and has not updated since */
	u8 pad[2];
};

struct gagg_r2sp {
	u64 turns;
	u64 clock_time;	/* of a worker, waiting left out; 0: not known */
	u64 next_at;	/* when the next release is due */
	u64 first_turn;	/* of the one below */
	u32 next;	/* rank of the next release */
	u32 first;	/* rank at work for longest, when that was last looked for */
	struct gagg_r2sp_worker worker[GAGG_CLOCK_RANKS];
};

/* which ranks hold a copy, see gossip.c: each until its clock has come to the one here */
struct gagg_gossip {
	u32 wanted;			/* the owner holds it, or waits to */
	u32 shared[GAGG_CLOCK_RANKS];	/* another rank does */
};

/* what a policy of a store remembers, at one home and shard; zero at first */
union gagg_sync_state {
	struct gagg_dssp dssp;
	struct gagg_r2sp r2sp;
	struct gagg_gossip gossip;
};

/*
 * gagg_dssp_ahead - clocks that the fastest should run on, at most @most
 * @fast: times of its last two pushes, the last one first
 * @slow: those of the slowest
 *
 * The least r at which its push fast[0] + r * interval is nearest to any of the
 * next @most + 1 pushes of the slowest.
 */
u32 gagg_dssp_ahead(const u64 fast[2], const u64 slow[2], u32 most);

#define GAGG_DELAYS	32

/**
 * struct gagg_delays - when contributions came, after the first of their chunk
 * @us:		the last GAGG_DELAYS of them, in microseconds
 * @n:		number of all there were
 */
struct gagg_delays {
	u32 us[GAGG_DELAYS];
	u32 n;
};

void gagg_delays_add(struct gagg_delays *d, u64 ns);

/* what a parameter may be, from @min to @max; behind the last of a mode: nothing but 0 */
struct gagg_sync_range {
	u32 min;
	u32 max;
};

/**
 * struct gagg_sync_ops - a policy
 * @nargs:	how many parameters there are
 * @optional:	so many of them, the last ones, may be left out, and are 0 then
 * @arg:	their ranges
 * @fits:	may these parameters, each within its range, be together? NULL: any may
 * @store:	the chunks persist; else a ring
 * @copies:	store: every worker has a copy of its own of all chunks
 * @narrow:	ring: what is summed are gradients, so that lanes may be narrow (GAGG_GA_WIRE)
 * @whole:	copies: nobody may see a part of an update, so they take one shard
 * @sends:	copies: does the update of a rank that was at @clock bring that chunk to the
 *		copy of rank @to, another one's; NULL: updates say whose copy they are for
 * @bounded:	store: no reader is more clocks than its last parameter ahead of the
 *		slowest
 * @complete:	quorum: may the open round be published, given how many of how many have
 *		contributed, and whether its deadline has come. Other rings need all, always
 * @quorum:	ring: a round may be complete without all members, with as many as its
 *		first parameter says. The last one says whether late contributions are
 *		carried into the next round, which is libgagg's
 * @limit:	quorum: time from the first contribution to the deadline, given
 *		how late others have come; GAGG_NEVER: none. NULL: there is none
 * @snapshot:	store: must a read show whole clocks only, nothing of an open one
 * @on_tick:	store: @rank has come to a new clock; may be NULL
 * @run:	store: let go whom it is time for, when anything may have changed;
 *		returns when to be called again at the latest. May be NULL
 * @may_update:	store: may the next update of @rank be added, be it empty (of copies: to
 *		the owner's, or with chunks to another's). It asks until it may, and may
 *		then until it ticks. NULL: always. The end of a rank does not ask
 * @may_read:	store: may @rank, which has come to @clock, read
 */
struct gagg_sync_ops {
	u32 nargs;
	u32 optional;
	struct gagg_sync_range arg[GAGG_SYNC_ARGS];
	bool (*fits)(const struct gagg_sync_param *p);
	bool store;
	bool copies;
	bool whole;
	bool narrow;
	bool bounded;
	bool (*sends)(const struct gagg_sync_param *p, u32 to, u32 clock, u32 chunk);
	bool (*complete)(const struct gagg_sync_param *p, u32 contributed, u32 members,
			 bool due);
	bool quorum;
	u64 (*limit)(const struct gagg_sync_param *p, const struct gagg_delays *d);
	bool (*snapshot)(const struct gagg_sync_param *p);
	void (*on_tick)(const struct gagg_sync_param *p, union gagg_sync_state *st,
			const struct gagg_clocks *k, u32 rank, u64 now);
	u64 (*run)(const struct gagg_sync_param *p, union gagg_sync_state *st,
		   const struct gagg_clocks *k, u64 now);
	bool (*may_update)(const struct gagg_sync_param *p, union gagg_sync_state *st,
			   const struct gagg_clocks *k, u32 rank, u64 now);
	bool (*may_read)(const struct gagg_sync_param *p, union gagg_sync_state *st,
			 const struct gagg_clocks *k, u32 rank, u32 clock);
};

/* the policy of a mode, enum gagg_sync_mode; NULL: it is none that hosts carry out */
const struct gagg_sync_ops *gagg_sync_get(u32 mode);

/*
 * gagg_sync_check - can hosts carry out this mode with these parameters
 * Returns NULL, or a sentence that says why not. All other functions here require that they can.
 */
const char *gagg_sync_check(const struct gagg_sync_param *p);

/*
 * gagg_sync_fits - can a group of so many workers have this mode
 * (Workers of one host, if there are copies, are refused where hosts are known.)
 * Returns NULL, or a sentence that says why not.
 */
const char *gagg_sync_fits(const struct gagg_sync_param *p, u32 workers);

/* clocks that a reader may be ahead of the slowest; ~0: any number */
u32 gagg_sync_bound(const struct gagg_sync_param *p);

/* enter a mode into the configuration of the core */
void gagg_sync_apply(struct gagg_geom *g, const struct gagg_sync_param *p);

/* tell a trainer of it: @mode, @arg and GAGG_GEO_CARRY of @geo */
void gagg_sync_tell(const struct gagg_sync_param *p, struct gagg_geometry *geo);

#endif
