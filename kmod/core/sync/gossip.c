// SPDX-License-Identifier: GPL-2.0
/*
 * Gossip: every rank trains a replica and exchanges it now and then with one other, its peer,
 * which follows from the rank and its clock (gagg_peer.h). What a rank shows, or is sent, is its
 * copy of a store of many chunks.
 *
 * A read of a copy never shows a part of an update. Each copy has a lock for that, with two kinds
 * of holders:
 *
 *	shared	by any ranks but the owner: of gossip-pull those that read the copy, of the push
 *		modes those that add to it
 *	alone	by the owner: to replace the copy (pull), or to read it (push)
 *
 * A rank holds it from when it is granted until its own next tick.
 *
 * No rank waits for the training of another, nor for ever:
 *
 *	1. A rank that has read another's copy, or added to it, ticks there with its next op. That
 *	   op waits for no lock there, nor does its tick at one home wait for its op at another. The
 *	   ops of an owner are local.
 *	2. So a holder that waits for no other lock lets go without waiting for anything.
 *	3. A rank that waits for a lock holds none: it reads once in a clock
 *	   (gagg_store_may_begin()), and its next op that waits for a lock begins when the last one
 *	   is over everywhere (store/worker.c).
 *	4. An owner that waits keeps new holders out. So it waits for one exchange at most, and
 *	   they for its one op.
 *
 * These modes have one shard: several would grant their locks one by one, to the owner first here
 * and to another rank first there.
 *
 * gossip-push and push-sum: a rank that has come to clock c waits until the rank that chose it at
 * clock c - 1 - S (push-sum: S = 0) has sent. Else a fast one would send its share away time and
 * again and get nothing.
 *
 * gossip-pair: both ranks of a pair compute with the same two values. A round has two clocks for
 * that: at an even one a rank replaces its copy, at the odd one it reads that of its pair.
 *
 *	1. It reads the pair's copy when the owner has come to the odd clock: then it is replaced.
 *	2. It replaces its own when the pair of the last round has come to this even clock: then the
 *	   pair has read it.
 */
#include <linux/gagg_peer.h>
#include "sync/internal.h"

/* @rank has not ticked since clock @until - 1 */
static bool gossip_holds(const struct gagg_clocks *k, u32 rank, u32 until)
{
	return until > k->clock[rank];
}

static bool gossip_take_shared(struct gagg_gossip *s,
			       const struct gagg_clocks *k, u32 rank, u32 clock)
{
	if (clock != k->clock[rank])
		return false;
	if (gossip_holds(k, rank, s->shared[rank]))
		return true;
	if (gossip_holds(k, k->owner, s->wanted))
		return false;
	s->shared[rank] = clock + 1;
	return true;
}

static bool gossip_take_alone(struct gagg_gossip *s, const struct gagg_clocks *k)
{
	u32 rank;

	s->wanted = k->clock[k->owner] + 1;
	gagg_for_each_worker(k, rank)
		if (gossip_holds(k, rank, s->shared[rank]))
			return false;
	return true;
}

/* --- pull: read the peer's replica ------------------------------------- */

static bool gossip_pull_may_read(const struct gagg_sync_param *p, union gagg_sync_state *st,
				 const struct gagg_clocks *k, u32 rank, u32 clock)
{
	(void)p;
	return rank == k->owner || gossip_take_shared(&st->gossip, k, rank, clock);
}

static bool gossip_pull_may_update(const struct gagg_sync_param *p, union gagg_sync_state *st,
				   const struct gagg_clocks *k, u32 rank, u64 now)
{
	(void)p;
	(void)now;
	return rank == k->owner ? gossip_take_alone(&st->gossip, k) :
				  gossip_take_shared(&st->gossip, k, rank, k->clock[rank]);
}

const struct gagg_sync_ops gagg_sync_gossip_pull = {
	.nargs = 1,
	.arg = { { 1, 1000000 } },
	.store = true,
	.copies = true,
	.whole = true,
	.may_update = gossip_pull_may_update,
	.may_read = gossip_pull_may_read,
};

/* --- push: add to the peer's inbox ------------------------------------- */

/* the rank that has the owner for its peer at that clock */
static u32 gossip_sender(const struct gagg_clocks *k, u32 clock)
{
	u32 place = gagg_clocks_place(k, k->owner);

	return gagg_clocks_at(k, gagg_peer_place_from(gagg_clocks_seed(k), k->n, place, clock));
}

static bool gossip_has_been_sent(const struct gagg_sync_param *p, const struct gagg_clocks *k,
				 u32 clock)
{
	u32 last = clock - 1 - p->arg[1], from;

	if (clock <= p->arg[1])
		return true;
	from = gossip_sender(k, last);
	return from == k->owner || k->clock[from] > last;
}

static bool gossip_push_may_read(const struct gagg_sync_param *p, union gagg_sync_state *st,
				 const struct gagg_clocks *k, u32 rank, u32 clock)
{
	if (rank != k->owner)
		return gossip_take_shared(&st->gossip, k, rank, clock);
	return gossip_has_been_sent(p, k, clock) && gossip_take_alone(&st->gossip, k);
}

static bool gossip_push_may_update(const struct gagg_sync_param *p, union gagg_sync_state *st,
				   const struct gagg_clocks *k, u32 rank, u64 now)
{
	(void)p;
	(void)now;
	return rank == k->owner || gossip_take_shared(&st->gossip, k, rank, k->clock[rank]);
}

const struct gagg_sync_ops gagg_sync_gossip_push = {
	.nargs = 2,
	.arg = { { 1, 1000000 }, { 0, 1000000 } },
	.store = true,
	.copies = true,
	.whole = true,
	.may_update = gossip_push_may_update,
	.may_read = gossip_push_may_read,
};

const struct gagg_sync_ops gagg_sync_push_sum = {
	.nargs = 1,
	.arg = { { 1, 1000000 } },
	.store = true,
	.copies = true,
	.whole = true,
	.may_update = gossip_push_may_update,
	.may_read = gossip_push_may_read,
};

/* --- pair: both take the mean of both ---------------------------------- */

static bool gossip_pair_may_read(const struct gagg_sync_param *p, union gagg_sync_state *st,
				 const struct gagg_clocks *k, u32 rank, u32 clock)
{
	(void)p;
	(void)st;
	(void)rank;
	return k->clock[k->owner] >= clock;
}

static u32 gossip_pair_of(const struct gagg_clocks *k, u32 rank, u32 round)
{
	u32 place = gagg_clocks_place(k, rank);

	return gagg_clocks_at(k, gagg_peer_place_pair(gagg_clocks_seed(k), k->n, place, round));
}

static bool gossip_pair_may_update(const struct gagg_sync_param *p, union gagg_sync_state *st,
				   const struct gagg_clocks *k, u32 rank, u64 now)
{
	u32 clock = k->clock[rank], peer;

	(void)p;
	(void)st;
	(void)now;
	if (rank != k->owner || clock % 2 || !clock)
		return true;
	peer = gossip_pair_of(k, rank, clock / 2 - 1);
	return peer == rank || k->clock[peer] >= clock;
}

const struct gagg_sync_ops gagg_sync_gossip_pair = {
	.nargs = 1,
	.arg = { { 1, 1000000 } },
	.store = true,
	.copies = true,
	.may_update = gossip_pair_may_update,
	.may_read = gossip_pair_may_read,
};
