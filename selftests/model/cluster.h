/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Up to three hosts, one channel and one shard over the real core objects, as
 * something that an explicit-state search can copy, compare and step.
 *
 * The network is the set of everything ever sent: a datagram may arrive late,
 * often, or never. What cannot have an effect any more is taken out of it.
 *
 * The path is replaced by one that may do more than the real one: a datagram is
 * known by what it carries, an acknowledgement of it may arrive at any time
 * after it did, even for a later transmission, and it may be given up at any
 * time. Clocks are taken away: a timer that is set may fire.
 */
#ifndef CLUSTER_H
#define CLUSTER_H

#include "core.h"

#define C_RANKS		3
#define C_SLOTS		2
#define C_ROUNDS	3
#define C_CHUNKS	(C_SLOTS * C_ROUNDS)
#define C_BLOCK		1024
#define C_MSGS		512

/* what a rank contributes to a chunk */
#define K_EXP		3	/* 0 .. 2: lanes of that exponent */
#define K_ZERO		3
#define K_NONFINITE	4
#define K_KINDS		5
#define K_NORESULT	8	/* and wants no result */

struct setup {
	u32 nodes;
	u32 ranks[GAGG_NODES];	/* ranks of each node, the first node's first */
	u64 homes;
	u32 ring, window, stripe, cwnd;
	u32 rounds;
	u32 ops;		/* of equal length */
	bool raw;
	u8 kind[C_RANKS][C_CHUNKS];
};

struct node {
	u64 block[C_BLOCK / 8];		/* its struct gagg_chan */
	u64 flying[GAGG_NODES];		/* to each home, by what is carried */
	u64 arrived[GAGG_NODES];	/* from each worker */
	u64 filled[GAGG_LOCALS];
	u64 read[GAGG_LOCALS];
	u64 ops_done[GAGG_LOCALS];
	u64 holds[C_SLOTS];		/* virtual chunk of the result, + 1 */
	s32 result[C_SLOTS];
	s32 acc[C_SLOTS];
};

struct state {
	struct node node[GAGG_NODES];
	u64 net[C_MSGS / 64];
};

enum step_type {
	STEP_DELIVER,	/* datagram @what */
	STEP_ACKED,	/* @node learns that @peer has what @what stands for */
	STEP_LOST,	/* @node gives it up */
	STEP_TIMER,	/* of the channel on @node */
	STEP_FILL,	/* local @what of @node reads and fills up to @peer chunks */
};

struct step {
	u8 type;
	u8 node;
	u8 peer;
	u16 what;
};

#define C_STEPS		(C_MSGS + 512)

/* forgets all datagrams; the first state */
void cluster_init(const struct setup *s, struct state *st);
/* the steps that may be taken; at most C_STEPS */
u32 cluster_steps(const struct state *st, struct step *out);
void cluster_take(struct state *st, const struct step *step);
/* every rank has all results and every op is done */
bool cluster_done(const struct state *st);
/* all datagrams are lost; does a network that loses no more get it done? */
bool cluster_recovers(const struct state *st);
/*
 * Datagrams that cannot have an effect any more are left out of states: is that
 * so? Delivers one of them, by chance; false: it had one.
 */
bool cluster_ignores_past(const struct state *st, u64 chance);
/* the first thing that went wrong since cluster_init(), or "" */
const char *cluster_error(void);
u64 cluster_hash(const void *data, u64 len);
void cluster_print(const struct step *step);

#endif
