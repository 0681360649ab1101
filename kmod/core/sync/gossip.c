// SPDX-License-Identifier: GPL-2.0
/*
 * Gossip: every rank trains a replica, and now and then exchanges it with one other.
 * Who that is follows from the rank and its clock (gagg_peer.h).
 *
 * Whole replicas. What a rank shows, or is sent, is a store of many chunks; who
 * reads it must not see a part of one update. So each copy has a lock of two
 * kinds of holders, by which nobody waits for anybody's training:
 *
 *	shared	by any others: of gossip-pull those that read the copy, of the push
 *		modes those that add to it
 *	alone	by its owner: to replace it (pull), or to read it (push)
 *
 * Both begin when it is granted and last until the holder's next tick, which comes
 * without waiting for anything: who has read (added to) another one's copy, ticks
 * there with its next op, and that op waits for no lock there; nor does its tick
 * at other homes wait for what it does at its own. The owner's ops are local. A rank
 * reads once in a clock (gagg_store_may_begin()), and the next op that waits for a
 * lock begins when the last one is over everywhere (store/worker.c), so nobody waits
 * who holds one. An owner that waits keeps new ones
 * out, so it waits for one exchange at most, and they for its one op.
 *
 * Shards would grant their locks one by one, to one the owner first and to another a
 * reader: the modes that take them have one shard.
 *
 * gossip-push and push-sum: a rank that has come to clock c waits until the one that
 * chose it at clock c - 1 - S (push-sum: S = 0) has sent; else one that is fast would
 * send away its share time and again and get nothing.
 *
 * gossip-pair: both sides must compute with the same two values. A round takes two
 * clocks: at an even one a rank replaces its copy, at the odd one it reads that of
 * its pair, which has come as far, and its next tick says that it has. A copy is
 * replaced only when the pair of the last round has said so.
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
	.name = "gossip-pull",
	.about = "replicas: every TAU steps a rank takes the mean of its own and a random other's",
	.usage = "gossip-pull needs its period, as in gossip-pull:4",
	.nargs = 1,
	.arg = { { "TAU", "TAU of gossip-pull:TAU must be from 1 to 1000000 steps", 1, 1000000 } },
	.store = true,
	.copies = true,
	.whole = true,
	.may_update = gossip_pull_may_update,
	.may_read = gossip_pull_may_read,
};

/* --- push: add to the peer's inbox ------------------------------------- */

/* the rank whose peer the owner is at that clock */
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
	.name = "gossip-push",
	.about = "replicas: every TAU steps a rank sends its own to a random other, which takes the mean",
	.usage = "gossip-push needs its period and its bound, as in gossip-push:4:2",
	.nargs = 2,
	.arg = {
		{ "TAU", "TAU of gossip-push:TAU:S must be from 1 to 1000000 steps", 1, 1000000 },
		{ "S", "S of gossip-push:TAU:S must be from 0 to 1000000 exchanges", 0, 1000000 },
	},
	.store = true,
	.copies = true,
	.whole = true,
	.may_update = gossip_push_may_update,
	.may_read = gossip_push_may_read,
};

const struct gagg_sync_ops gagg_sync_push_sum = {
	.name = "push-sum",
	.about = "replicas: every TAU steps a rank sends half of its own, and of its weight, to a random other",
	.usage = "push-sum needs its period, as in push-sum:4",
	.nargs = 1,
	.arg = { { "TAU", "TAU of push-sum:TAU must be from 1 to 1000000 steps", 1, 1000000 } },
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
	.name = "gossip-pair",
	.about = "replicas: every TAU steps random pairs of ranks take the mean of both",
	.usage = "gossip-pair needs its period, as in gossip-pair:4",
	.nargs = 1,
	.arg = { { "TAU", "TAU of gossip-pair:TAU must be from 1 to 1000000 steps", 1, 1000000 } },
	.store = true,
	.copies = true,
	.may_update = gossip_pair_may_update,
	.may_read = gossip_pair_may_read,
};
