/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Up to three hosts with one shard, over the real core objects. An explicit-state search can copy,
 * compare and step them.
 *
 * The network is the set of all datagrams ever sent: each may arrive late, often, or never.
 * Datagrams that can no longer have an effect are removed.
 *
 * An epoch is a run of all rounds. Each host ends one and begins the next at any time, whatever the
 * others do. That is more than the join object permits: with it no two hosts run different epochs
 * at the same time (model_join.c). At the end of an epoch a host forgets all; its trainers attach
 * again and contribute other values. Datagrams of each epoch may arrive in each other epoch.
 *
 * Channel 1 exists on a host when one of its ranks has made it, at any time, or when another host
 * that uses it has answered NAK with OPEN.
 *
 * The path is replaced by one that may do more than the real one: a datagram is identified by its
 * contents; its acknowledgement may arrive at any time after it has arrived, even for a later
 * transmission; and it may be given up at any time. There are no clocks: a timer that is set may
 * fire, and then all deadlines have come.
 */
#ifndef CLUSTER_H
#define CLUSTER_H

#include "core.h"

#define C_RANKS		3
#define C_SLOTS		2
#ifndef C_ROUNDS
#define C_ROUNDS	3
#endif
#define C_CHUNKS	(C_SLOTS * C_ROUNDS)
#ifndef C_BLOCK
#define C_BLOCK		1760
#endif
#ifndef C_CHANS
#define C_CHANS		1
#endif
#define C_MSGS		512

/* what a rank contributes to a chunk */
#define K_EXP		3	/* 0 .. 2: lanes of that exponent */
#define K_ZERO		3
#define K_NONFINITE	4
#define K_KINDS		5
#define K_NORESULT	8	/* the rank wants no result */

struct setup {
	u32 nodes;
	u32 ranks[GAGG_NODES];	/* ranks of each node, the first node's first */
	u64 homes;
	u32 ring, window, stripe, cwnd;
	u32 rounds;		/* or clocks of a store */
	u32 ops;		/* of equal length */
	bool raw;
	/* a mode with a quorum or a store, of one epoch and channel; NULL: bsp */
	const char *sync;
	u32 epochs;
	/* the second epoch has another cookie, but the same number on the wire */
	bool same_number;
	u32 chans;
	u64 members[C_CHANS];	/* ranks of each channel */
	/* of any epoch and channel */
	u8 kind[C_RANKS][C_CHUNKS];
};

/* a channel on a host */
struct part {
	u64 block[C_BLOCK / 8];		/* its struct gagg_chan */
	union {
		struct {	/* cluster_ring.c */
			u64 filled[GAGG_LOCALS];
			u64 read[GAGG_LOCALS];
			u64 ops_done[GAGG_LOCALS];
			u64 holds[C_SLOTS];	/* virtual chunk of the result, + 1 */
			s32 result[C_SLOTS];
			s32 acc[C_SLOTS];
			s32 held[C_SLOTS];	/* quorum: a home's results */
		};
		struct {	/* cluster_store.c */
			u32 calls[GAGG_LOCALS];	/* calls of its script that a rank has made */
			u32 over[GAGG_LOCALS];	/* calls that are done */
			u32 come[GAGG_LOCALS];	/* chunks of a read that have come */
			u32 open;		/* chunks that have something beside them */
			s32 copy[GAGG_LOCALS][C_SLOTS];
			s32 chunk[C_SLOTS];
			s32 beside[C_SLOTS];
		};
	};
};

struct node {
	u16 epoch;
	u16 running;			/* epoch that runs, or has ended here */
	u16 present;			/* channels, a bit each */
	u16 wanted;			/* by OPEN */
	u64 flying[GAGG_NODES];		/* datagrams in flight to each home, by contents */
	u64 arrived[GAGG_NODES];	/* datagrams from each worker, by contents */
	struct part part[C_CHANS];
};

struct state {
	struct node node[GAGG_NODES];
	u64 net[C_MSGS / 64];
	u64 decided[C_CHUNKS];		/* quorum: ranks in a result; 0: still open */
};

enum step_type {
	STEP_DELIVER,	/* datagram @what */
	STEP_ACKED,	/* @node learns that @peer has got datagram @what */
	STEP_LOST,	/* @node gives up datagram @what */
	STEP_TIMER,	/* of channel @chan on @node */
	STEP_FILL,	/* local @what of @node reads and fills up to @peer chunks */
	STEP_MAKE,	/* channel @chan on @node */
	STEP_END,	/* @node ends its epoch */
	STEP_START,	/* @node begins the next */
};

struct step {
	u8 type;
	u8 node;
	u8 peer;
	u8 chan;
	u16 what;
};

#define C_STEPS		(C_MSGS + 512)

/* forgets all datagrams; the first state */
void cluster_init(const struct setup *s, struct state *st);
/* the steps that may be taken; at most C_STEPS */
u32 cluster_steps(const struct state *st, struct step *out);
void cluster_take(struct state *st, const struct step *step);
/* all run one epoch, every rank has all its results and every op is done */
bool cluster_done(const struct state *st);
/*
 * All datagrams are lost, and hosts that are behind go on to the latest epoch. Does all get done if
 * the network loses nothing more?
 */
bool cluster_recovers(const struct state *st);
/*
 * Checks an assumption: datagrams that are left out of states, or belong to an epoch that the
 * receiver does not run, have no effect. Delivers one of them, by chance; false: it had an effect.
 */
bool cluster_ignores(const struct state *st, u64 chance);
/* the first thing that went wrong since cluster_init(), or "" */
const char *cluster_error(void);
u64 cluster_hash(const void *data, u64 len);
void cluster_print(const struct step *step);

#endif
