/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of the join object share.
 */
#ifndef GAGG_CORE_GROUP_INTERNAL_H
#define GAGG_CORE_GROUP_INTERNAL_H

#include "group/join.h"

/* an answer that is later counts as none */
#define GAGG_TRIP_WAIT		(20 * GAGG_MSEC)

/* nodes are in the order of their lowest rank */
#define GAGG_COORDINATOR	0

static inline u64 gagg_join_interval_slow(const struct gagg_geom *g)
{
	return gagg_max64(gagg_min64(GAGG_HELLO_SLOW, g->dead_after / 4), GAGG_MSEC);
}

static inline u64 gagg_join_interval_fast(const struct gagg_geom *g)
{
	return gagg_min64(GAGG_HELLO_FAST, gagg_join_interval_slow(g));
}

/* silence for so long is odd: a HELLO that was due is missing */
static inline u64 gagg_join_quiet_after(const struct gagg_geom *g)
{
	return gagg_max64(g->dead_after / 4, gagg_join_interval_slow(g) / 8 * 9);
}

static inline u16 gagg_join_all_shards(const struct gagg_geom *g)
{
	return (u16)((1u << g->shards) - 1);
}

static inline bool gagg_join_claims_ended(const struct gagg_join *j, const struct gagg_peer *p)
{
	return j->phase == GAGG_PHASE_IDLE && j->epoch && p->epoch == j->epoch &&
	       p->phase != GAGG_PHASE_IDLE;
}

static inline bool gagg_join_needs_abort(const struct gagg_join *j, u32 node)
{
	return (j->end_wait & GAGG_BIT(node)) || gagg_join_claims_ended(j, &j->peer[node]);
}

/**
 * struct gagg_join_epoch - an epoch that may begin, as START describes it
 * @epoch:	its number
 * @cookie:	that of its datagrams
 * @lanes:	32-bit lanes of its chunks
 */
struct gagg_join_epoch {
	u64 epoch;
	u64 cookie;
	u16 lanes;
};

/* group/join.c */
void gagg_join_emit(struct gagg_join *j, u8 type, u32 node);
void gagg_join_say_hello(struct gagg_join *j, u32 node, bool ask, u64 now);
void gagg_join_changed(struct gagg_join *j, const struct gagg_geom *g, u64 now);
void gagg_join_say_attached(struct gagg_join *j, const struct gagg_geom *g, u64 now);
void gagg_join_say_ended(struct gagg_join *j, const struct gagg_geom *g, u64 now);
void gagg_join_epoch_end(struct gagg_join *j, const struct gagg_geom *g,
			 const struct gagg_end *end, u64 now);
void gagg_join_epoch_end_node(struct gagg_join *j, const struct gagg_geom *g,
			      u32 node, u32 reason, u64 now);
void gagg_join_epoch_start(struct gagg_join *j, const struct gagg_geom *g,
			   const struct gagg_join_epoch *e, u64 now);
void gagg_join_try_start(struct gagg_join *j, const struct gagg_geom *g, u64 random, u64 now);
/* group/join_lanes.c */
void gagg_join_set_lanes(struct gagg_join *j, const struct gagg_geom *g, u16 lanes, u64 now);
void gagg_join_agree_lanes(struct gagg_join *j, const struct gagg_geom *g, u64 now);
bool gagg_join_are_lanes(const struct gagg_join *j, u32 lanes);
/* group/join_wide.c */
void gagg_join_meet(struct gagg_join *j, const struct gagg_geom *g, struct gagg_peer *p, u64 now);
bool gagg_join_is_blocked(const struct gagg_join *j, const struct gagg_geom *g,
			  const struct gagg_peer *p, u64 now);
void gagg_join_find_lacks(struct gagg_join *j, const struct gagg_geom *g, u32 node, u64 now);
void gagg_join_find_through(struct gagg_join *j, const struct gagg_geom *g, u64 now);
void gagg_join_hear_wide(struct gagg_join *j, const struct gagg_geom *g, u32 node, u32 shard,
			 u64 now);
u64 gagg_join_lacking_at(const struct gagg_geom *g, const struct gagg_peer *p);

#endif
