/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of a store share, and the door calls.
 */
#ifndef GAGG_CORE_STORE_INTERNAL_H
#define GAGG_CORE_STORE_INTERNAL_H

#include "out.h"
#include "stake.h"
#include "store/store.h"

/* store/home.c, store/store.c: see struct gagg_chan_ops */
u64 gagg_store_bytes(const struct gagg_geom *g, const struct gagg_stake *stake);
void gagg_store_init(const struct gagg_geom *g, struct gagg_chan *ch,
		     const struct gagg_stake *stake);
bool gagg_store_waits(u8 type);
u64 gagg_store_deadline(struct gagg_chan *ch);
u64 gagg_store_missing(const struct gagg_geom *g, struct gagg_chan *ch,
		       const struct gagg_op *op);

/* a store's worker: store/worker.c */
bool gagg_store_refill(const struct gagg_visit *vis, const struct gagg_env *env);

/* store/answer.c: the same calls as a ring's */
void gagg_store_acked(const struct gagg_geom *g, struct gagg_chan *ch,
		      const struct gagg_sent *s);
void gagg_store_lost(const struct gagg_geom *g, struct gagg_chan *ch,
		     const struct gagg_sent *s);
bool gagg_store_over(const struct gagg_geom *g, struct gagg_chan *ch,
		     const struct gagg_sent *s);
enum gagg_rx gagg_store_result(struct gagg_arrival *in, const struct gagg_msg *m);
void gagg_store_placed(const struct gagg_arrival *in);
void gagg_store_timer(const struct gagg_visit *vis);

/* does home @h hold that chunk? All of them do if there are copies */
static inline bool gagg_store_at(const struct gagg_geom *g, const struct gagg_chan *ch, u32 h,
				 u32 slot)
{
	return gagg_geom_home(g, ch->spread, slot) == h % ch->spread;
}

/* the first chunk from @slot on that home @h holds in the channel's shard */
static inline u32 gagg_store_first(const struct gagg_geom *g, const struct gagg_chan *ch, u32 h,
				   u32 slot)
{
	return gagg_geom_first(g, ch->spread, h % ch->spread, ch->shard, slot);
}

/* store/home.c */
enum gagg_rx gagg_store_rx(struct gagg_arrival *in, struct gagg_msg *m);
void gagg_store_commit(const struct gagg_arrival *in);
/* a local rank's update of a chunk that is homed here; false: not yet */
bool gagg_store_add(const struct gagg_visit *vis, u32 local, u32 slot, u32 round);
/* a local rank reads a chunk that is homed here */
void gagg_store_read(const struct gagg_visit *vis, u32 local, u32 slot);
/* all of a rank's updates before @clock are here */
void gagg_store_tick(const struct gagg_visit *vis, u32 rank, u32 clock);
/* has what a rank waits for, that has come to @clock, happened here */
bool gagg_store_open(const struct gagg_visit *vis, u32 rank, enum gagg_gate gate, u32 clock);
/* let the sync mode act: it may let go whom ways and requests wait for */
void gagg_store_run(const struct gagg_visit *vis);
/* answer requests that the sync mode lets through; true: there are more */
bool gagg_store_serve(const struct gagg_visit *vis);

#endif
