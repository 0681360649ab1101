/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Where a chunk lives. Everything here follows from the configuration, so that
 * all hosts agree without a message.
 *
 *	slot of the ring	0 .. ring-1, ring a multiple of window
 *	home			(slot / stripe) % homes: nodes, not ranks
 *	shard			(slot / (stripe * homes)) % shards
 *	accumulator		slot % window
 *
 * A *node* is one address of the group: a host. Several ranks may live there.
 */
#ifndef GAGG_CORE_GEOM_H
#define GAGG_CORE_GEOM_H

#include "wire.h"
#include <linux/gagg.h>
#include <linux/gagg_netlink.h>

#define GAGG_SHARDS_MAX	16	/* most of a group */

/* a model checker makes do with less */
#ifndef GAGG_NODES
#define GAGG_RANKS	64
#define GAGG_NODES	GAGG_NODES_MAX
#define GAGG_LOCALS	16	/* most ranks of one group on one host */
#endif

/* why an epoch ends; what is not about @reason is 0 */
struct gagg_end {
	u32 reason;	/* enum gagg_reason */
	u16 rank;
	u16 other;
	u32 sig;
	u32 other_sig;
	u32 call;
	u32 other_call;
};

/**
 * struct gagg_geom - the part of a group's configuration that the core needs
 * @group:	id on the wire
 * @self:	this host's node
 * @nodes:	number of nodes, in order of their lowest rank
 * @lanes:	32-bit lanes per chunk, in the epoch that runs (gagg_join.lanes)
 * @room:	32-bit lanes per chunk that memory is allocated for, constant over epochs; @lanes or
 *		more. The core does not use it, but for the layout of memory (layout.h)
 * @stripe:	chunks in a row with one home
 * @shards:	number of shards
 * @ring:	chunks in the ring
 * @window:	chunks under way, power of two
 * @cwnd:	most datagrams under way on a path
 * @workers:	ranks that are workers
 * @aggregators: nodes that are homes of each channel without homes of its own
 * @ranks_of:	ranks of each node (workers and others)
 * @node_of:	node of each rank; 0xff: no such rank
 * @dead_after:	silence after which a node is dead, ns
 * @idle_after:	pause that halves the window of a path, ns; at least a timeout
 * @store:	chunks persist (store/store.h), instead of being a ring
 * @snapshot:	reads of the store return whole clocks only
 * @admits:	updates of the store wait until a home admits them
 * @ordered:	updates without chunks wait as well
 * @quorum:	a round of a ring may be complete before all ranks have contributed (ring/quorum.c)
 * @copies:	every node with a worker is home of all chunks of the store
 * @wide:	lanes of the store are int64, two words each
 * @wire:	enum gagg_wire_lane: ops may have lanes of 32 >> wire bits
 * @single:	a channel has one home, by its id (placement tensor)
 * @heard_by_others: hosts that are no members may hear results, by multicast: results do not carry
 *		the cookie (cookie.h)
 * @automatic:	lanes go by the MTUs of interfaces
 * @v6:		hosts have addresses of IPv6
 * @sync:	sync mode and its parameters
 */
struct gagg_geom {
	u32 group;
	u8 self;
	u8 nodes;
	u16 lanes;
	u16 room;
	u16 stripe;
	u16 shards;
	u32 ring;
	u32 window;
	u32 cwnd;
	u64 workers;
	u64 aggregators;
	u64 ranks_of[GAGG_NODES];
	u8 node_of[GAGG_RANKS];
	u64 dead_after;
	u64 idle_after;
	u8 store;
	u8 snapshot;
	u8 admits;
	u8 ordered;
	u8 quorum;
	u8 copies;
	u8 wide;
	u8 wire;
	u8 single;
	u8 heard_by_others;
	u8 automatic;
	u8 v6;
	struct gagg_sync_param sync;
};

/* @g becomes empty: no ranks, and all numbers are zero. */
void gagg_geom_init(struct gagg_geom *g);

/*
 * gagg_geom_rank - enter a rank; ranks come in ascending order
 * @node:	node of the rank; nodes are numbered in the order of their first ranks
 * @roles:	GAGG_ROLE_*
 * @root:	only the first aggregator's node is a home (GAGG_PLACE_ROOT)
 */
void gagg_geom_rank(struct gagg_geom *g, u32 rank, u32 node, u8 roles, bool root);

/* there is a worker, and there is a home */
static inline bool gagg_geom_complete(const struct gagg_geom *g)
{
	return g->workers && g->aggregators;
}

/* does a rank of @node train? Others want no results */
static inline bool gagg_geom_trains(const struct gagg_geom *g, u32 node)
{
	return g->ranks_of[node] & g->workers;
}

/* are results by multicast heard on this host? It sends them in any case */
static inline bool gagg_geom_hears(const struct gagg_geom *g)
{
	return g->heard_by_others && gagg_geom_trains(g, g->self);
}

/*
 * gagg_geom_all - whom a result has to be for, to be sent once to all
 *
 * Returns all other nodes that train, if these are two at least and results have a multicast
 * address (heard_by_others). 0: results are sent to each node.
 */
u64 gagg_geom_all(const struct gagg_geom *g);

static inline u32 gagg_geom_shard(const struct gagg_geom *g, u32 homes, u32 slot)
{
	return (slot / (g->stripe * homes)) % g->shards;
}

static inline u32 gagg_geom_home(const struct gagg_geom *g, u32 homes, u32 slot)
{
	return (slot / g->stripe) % homes;
}

/* does @rank live on @node, and is it one of @members? */
static inline bool gagg_rank_at(const struct gagg_geom *g, u32 rank, u32 node, u64 members)
{
	return rank < GAGG_RANKS && (members & GAGG_BIT(rank)) && g->node_of[rank] == node;
}

/*
 * gagg_geom_next - the next slot after @slot with the same home and shard
 *
 * Returns ring when there is none before the end of the ring.
 */
u32 gagg_geom_next(const struct gagg_geom *g, u32 homes, u32 slot);

/* first slot >= @slot with that home and shard; ring when there is none */
u32 gagg_geom_first(const struct gagg_geom *g, u32 homes, u32 home, u32 shard,
		    u32 slot);

#endif
