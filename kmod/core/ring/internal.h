/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of a ring share, and the door and the channel call.
 */
#ifndef GAGG_CORE_RING_INTERNAL_H
#define GAGG_CORE_RING_INTERNAL_H

#include "out.h"
#include "ring/ring.h"
#include "stake.h"

#define GAGG_POLL_WAIT_MIN	(100 * GAGG_USEC)
#define GAGG_QUERY_WAIT_MAX	(250 * GAGG_MSEC)

/* v of (slot, round) on the way to home @h, both near the home's base */
static inline u64 gagg_chan_v(const struct gagg_geom *g, const struct gagg_chan *ch,
			      u32 h, u32 slot, u32 round)
{
	const struct gagg_cur *b = &ch->home_base[h];

	return b->v + (s64)(s32)(round - b->round) * (s64)g->ring + (s64)slot - (s64)b->slot;
}

/* lanes of virtual chunk v in its op */
static inline u16 gagg_op_lanes(const struct gagg_geom *g, const struct gagg_op *op, u64 v)
{
	return v + 1 == op->end ? op->last_lanes : g->lanes;
}

static inline u16 gagg_c_to_w(u8 flags)
{
	return (flags & GAGG_C_ZERO ? GAGG_WF_ZERO : 0) |
	       (flags & GAGG_C_NONFINITE ? GAGG_WF_NONFINITE : 0) |
	       (flags & GAGG_C_NORESULT ? GAGG_WF_NORESULT : 0);
}

/* ring/ring.c */
/* the slot's open round is over on this node: forget what was pushed, move
 * the base, finish ops
 */
void gagg_ring_taken(struct gagg_shard *sh, const struct gagg_geom *g,
		     struct gagg_chan *ch, u32 slot, u32 round, u64 now);

/* ask in the time that a round trip takes what became of the lowest chunk */
void gagg_ring_watch(const struct gagg_shard *sh, struct gagg_chan *ch, u64 now);

/* ops that the base has passed are done; a shard may hold no chunk of an op */
void gagg_ring_finish(struct gagg_shard *sh, struct gagg_chan *ch);

/* ring/home.c */
/* the collective of @m is another one than @other's, whose signature and call these are */
void gagg_home_desync(struct gagg_shard *sh, struct gagg_chan *ch, const struct gagg_msg *m,
		      u32 other, u32 sig, u32 call);
enum gagg_rx gagg_home_contrib(struct gagg_shard *sh, const struct gagg_geom *g,
			       struct gagg_chan *ch, const struct gagg_msg *m, u64 now,
			       struct gagg_todo *todo);
enum gagg_rx gagg_home_ready(struct gagg_shard *sh, const struct gagg_geom *g,
			     struct gagg_chan *ch, struct gagg_msg *m, u64 now,
			     struct gagg_todo *todo);
void gagg_home_commit(struct gagg_shard *sh, const struct gagg_geom *g,
		      struct gagg_chan *ch, const struct gagg_msg *m, bool to_result, u64 now);
/* both for one that follows another: for GAGG_RX_ADD it is committed */
enum gagg_rx gagg_home_next(struct gagg_shard *sh, const struct gagg_geom *g,
			    struct gagg_chan *ch, const struct gagg_msg *m, u64 now,
			    struct gagg_todo *todo);
/* a local rank pushes (m as it would be sent) */
void gagg_home_push(struct gagg_shard *sh, const struct gagg_geom *g,
		    struct gagg_chan *ch, const struct gagg_msg *m, u64 now);
/* may it now? If so, takes the room of the result; else repair_at says when */
bool gagg_home_take_room(struct gagg_shard *sh, const struct gagg_geom *g,
			 struct gagg_chan *ch, const struct gagg_msg *m, u64 now);
enum gagg_rx gagg_home_query(struct gagg_shard *sh, const struct gagg_geom *g,
			     struct gagg_chan *ch, u32 node, struct gagg_msg *m, u64 now,
			     struct gagg_todo *todo);

/* a deadline has come, or there is room again: publish what is ripe */
void gagg_home_due(struct gagg_shard *sh, const struct gagg_geom *g, struct gagg_chan *ch,
		   u64 now);

/* ring/result.c */
static inline bool gagg_res_has_lanes(const struct gagg_res *r)
{
	return !(r->flags & (GAGG_WF_ZERO | GAGG_WF_NONFINITE));
}

/* the open round is complete: its result is concluded, announced and sent. @to_result: the
 * last addition has written it
 */
void gagg_result_publish(struct gagg_shard *sh, const struct gagg_geom *g,
			 struct gagg_chan *ch, struct gagg_acc *a, bool to_result, u64 now);
/* send it to @nodes again */
void gagg_result_repair(struct gagg_shard *sh, const struct gagg_geom *g,
			struct gagg_chan *ch, u32 slot, u64 nodes);
/*
 * Behind all results that were sent so far, tell a node that this one is among
 * them: so it knows what is lost, and what is only late.
 */
void gagg_result_told(struct gagg_shard *sh, const struct gagg_geom *g, struct gagg_chan *ch,
		      u32 slot, u32 node);
/* quorum: the ranks of this node take a result when all have come to its round */
void gagg_result_take_held(struct gagg_shard *sh, const struct gagg_geom *g,
			   struct gagg_chan *ch, u32 slot, u64 now);
/* nodes that the lanes of the result go to, if @m completes @a */
u64 gagg_result_goes_to(const struct gagg_geom *g, struct gagg_chan *ch,
			const struct gagg_acc *a, const struct gagg_msg *m);
/* results by their packet numbers */
void gagg_result_pull(struct gagg_shard *sh, const struct gagg_geom *g,
		      struct gagg_chan *ch, u32 node, const struct gagg_msg *m, u64 now);

/* ring/repair.c */
/* a bit for each slot of the ring */
static inline u32 gagg_repair_words(const struct gagg_geom *g)
{
	return (g->ring + 63) / 64;
}

/* @node lacks the result that @slot holds: it gets it with a refill */
void gagg_repair_park(struct gagg_shard *sh, const struct gagg_geom *g, struct gagg_chan *ch,
		      u32 slot, u32 node, u64 now);
/* the slot holds another result now, or all have it again */
void gagg_repair_over(const struct gagg_geom *g, struct gagg_chan *ch, u32 slot);
/* repair_at has come; true: there are more to be sent at once */
bool gagg_repair_serve(struct gagg_shard *sh, const struct gagg_geom *g, struct gagg_chan *ch,
		       u64 now);

static inline struct gagg_late *gagg_chan_late(struct gagg_chan *ch, u32 slot)
{
	return GAGG_CHAN_AT(ch, off_late, struct gagg_late) + slot;
}

static inline struct gagg_acc *gagg_chan_acc(const struct gagg_geom *g, struct gagg_chan *ch,
					     u32 slot)
{
	return GAGG_CHAN_AT(ch, off_acc, struct gagg_acc) + (slot & (g->window - 1));
}

/* ring/missing.c */
/* @node asks about @a, which is open: tell it whom that waits for; false: nothing is told */
bool gagg_missing_tell(struct gagg_shard *sh, const struct gagg_geom *g, struct gagg_chan *ch,
		       const struct gagg_acc *a, u32 node, u64 now);
enum gagg_rx gagg_missing_told(const struct gagg_geom *g, struct gagg_chan *ch, u32 node,
			       const struct gagg_msg *m, struct gagg_todo *todo);

/* ring/worker.c */
/* every local rank has pushed the open round of the slot: without that its
 * result cannot exist, or (quorum) is not taken
 */
bool gagg_worker_all_pushed(struct gagg_chan *ch, u32 slot);
enum gagg_rx gagg_worker_result(struct gagg_shard *sh, const struct gagg_geom *g,
				struct gagg_chan *ch, u32 node, struct gagg_msg *m,
				u64 now, struct gagg_todo *todo);
void gagg_worker_commit(struct gagg_shard *sh, const struct gagg_geom *g,
			struct gagg_chan *ch, const struct gagg_msg *m, u64 now);
/* both for lanes that follow others of the same home: for GAGG_RX_PLACE they are committed */
enum gagg_rx gagg_worker_next(struct gagg_shard *sh, const struct gagg_geom *g,
			      struct gagg_chan *ch, const struct gagg_msg *m, u64 now,
			      struct gagg_todo *todo);
enum gagg_rx gagg_worker_told(struct gagg_shard *sh, const struct gagg_geom *g,
			      struct gagg_chan *ch, u32 node, const struct gagg_msg *m,
			      u64 now, struct gagg_todo *todo);
enum gagg_rx gagg_worker_resend(const struct gagg_geom *g, struct gagg_chan *ch,
				u32 node, const struct gagg_msg *m, struct gagg_todo *todo);
/* what a lost datagram carried is to be sent again; an acknowledged one is not */
void gagg_worker_lost(const struct gagg_geom *g, struct gagg_chan *ch,
		      const struct gagg_sent *s);
/* true if the results of all its chunks are here */
bool gagg_worker_over(const struct gagg_geom *g, struct gagg_chan *ch,
		      const struct gagg_sent *s);
void gagg_worker_acked(const struct gagg_geom *g, struct gagg_chan *ch,
		       const struct gagg_sent *s);

/* ring/ring.c, submit.c, door.c, push.c, query.c, missing.c: see struct gagg_chan_ops */
u64 gagg_ring_bytes(const struct gagg_geom *g, const struct gagg_stake *stake);
void gagg_ring_init(const struct gagg_geom *g, struct gagg_chan *ch,
		    const struct gagg_stake *stake);
bool gagg_ring_may_submit(const struct gagg_geom *g, const struct gagg_ioc_submit *arg);
u64 gagg_ring_submit_arg(const struct gagg_geom *g, struct gagg_chan *ch, u32 local,
			 const struct gagg_ioc_submit *arg);
bool gagg_ring_waits(u8 type);
enum gagg_rx gagg_ring_rx(struct gagg_shard *sh, const struct gagg_geom *g,
			  struct gagg_chan *ch, u32 node, struct gagg_msg *m, bool ce,
			  u64 now, struct gagg_todo *todo);
void gagg_ring_commit(struct gagg_shard *sh, const struct gagg_geom *g,
		      const struct gagg_todo *todo, u64 now);
u64 gagg_ring_deadline(struct gagg_chan *ch);
bool gagg_ring_refill(struct gagg_shard *sh, const struct gagg_geom *g,
		      const struct gagg_env *env, struct gagg_chan *ch, u64 now);
void gagg_ring_timer(struct gagg_shard *sh, const struct gagg_geom *g, struct gagg_chan *ch,
		     u64 now);
u64 gagg_ring_missing(const struct gagg_geom *g, struct gagg_chan *ch,
		      const struct gagg_op *op);

/* ring/query.c */
/* a QUERY to home @h, to be filled in */
struct gagg_act *gagg_query_ask(struct gagg_shard *sh, const struct gagg_geom *g,
				struct gagg_chan *ch, u32 h);

/* ring/gap.c */
/* the results before @end that have not come are a gap, of datagrams with @lanes, or of runs;
 * false: there is none
 */
bool gagg_gap_note(struct gagg_shard *sh, const struct gagg_geom *g, struct gagg_chan *ch,
		   u32 h, u32 end, bool lanes, u64 now);
/* results have come: note those that they show to be missing */
void gagg_gap_seen(struct gagg_shard *sh, const struct gagg_geom *g,
		   struct gagg_chan *ch, u32 h, const struct gagg_msg *m, u64 now);
/* ask for those that are due: new ones, and again; as many as there is room for */
void gagg_gap_pull(struct gagg_shard *sh, const struct gagg_geom *g, struct gagg_chan *ch,
		   u64 now);

#endif
