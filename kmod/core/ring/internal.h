/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of a ring share, and the door and the channel call.
 */
#ifndef GAGG_CORE_RING_INTERNAL_H
#define GAGG_CORE_RING_INTERNAL_H

#include "ledger.h"
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
void gagg_ring_taken(const struct gagg_visit *vis, u32 slot, u32 round);

/* the lowest open chunk is another one now: sets when its home is asked about it (R30) */
void gagg_ring_watch(const struct gagg_visit *vis);

/* ops that the base has passed are done; a shard may hold no chunk of an op */
void gagg_ring_finish(const struct gagg_visit *vis);

/* ring/home.c */
/* ends the epoch (R11): @m is of another collective than what rank @other has called, which has
 * this signature and this call
 */
void gagg_home_desync(const struct gagg_visit *vis, const struct gagg_msg *m, u32 other, u32 sig,
		      u32 call);
enum gagg_rx gagg_home_contrib(struct gagg_arrival *in, const struct gagg_msg *m);
enum gagg_rx gagg_home_ready(struct gagg_arrival *in, struct gagg_msg *m);
void gagg_home_commit(const struct gagg_arrival *in);
/* gagg_home_contrib() of a contribution that follows another, and for GAGG_RX_ADD the commit */
enum gagg_rx gagg_home_next(struct gagg_arrival *in);
/* a local rank pushes; @m is the header that its contribution would have on the wire */
void gagg_home_push(const struct gagg_visit *vis, const struct gagg_msg *m);
/* May it push @m now? If that completes a chunk, the result requires room on its paths: true has
 * taken it, false has set ch->repair_at to when there may be some.
 */
bool gagg_home_take_room(const struct gagg_visit *vis, const struct gagg_msg *m);
enum gagg_rx gagg_home_query(struct gagg_arrival *in, struct gagg_msg *m);

/* a deadline has come, or there is room again: publish what is ripe */
void gagg_home_due(const struct gagg_visit *vis);

/* ring/result.c */
static inline bool gagg_res_has_lanes(const struct gagg_res *r)
{
	return !(r->flags & (GAGG_WF_ZERO | GAGG_WF_NONFINITE));
}

/* the open round is complete: its result is concluded, announced and sent. @to_result: the
 * last addition has written it
 */
void gagg_result_publish(const struct gagg_visit *vis, struct gagg_acc *a, bool to_result);
/* send it to @nodes again */
void gagg_result_repair(const struct gagg_visit *vis, u32 slot, u64 nodes);
/*
 * tells a node that the result in @slot is published, behind all results that were sent so far
 * (R12): so the node knows which of them are lost, and not only late
 */
void gagg_result_told(const struct gagg_visit *vis, u32 slot, u32 node);
/* quorum: the local ranks take a result if all of them have pushed its round (R20) */
void gagg_result_take_held(const struct gagg_visit *vis, u32 slot);
/* nodes that the lanes of the result go to, if @m completes @a */
u64 gagg_result_goes_to(const struct gagg_geom *g, struct gagg_chan *ch,
			const struct gagg_acc *a, const struct gagg_msg *m);
/* results by their packet numbers are asked for (R15) */
void gagg_result_pull(const struct gagg_arrival *in, const struct gagg_msg *m);

/* ring/repair.c */
/* a bit for each slot of the ring */
static inline u32 gagg_repair_words(const struct gagg_geom *g)
{
	return (g->ring + 63) / 64;
}

/* @node lacks the result that @slot holds: a refill sends it (R13) */
void gagg_repair_park(const struct gagg_visit *vis, u32 slot, u32 node);
/* the slot holds another result now, or all have it again */
void gagg_repair_over(const struct gagg_geom *g, struct gagg_chan *ch, u32 slot);
/* repair_at has come; true: there are more to be sent at once */
bool gagg_repair_serve(const struct gagg_visit *vis);

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
/* tells @node, which asks about the open round @a, which ranks that lacks (R14); false: it has
 * not been open for long, or lacks none
 */
bool gagg_missing_tell(const struct gagg_visit *vis, const struct gagg_acc *a, u32 node);
enum gagg_rx gagg_missing_told(struct gagg_arrival *in, const struct gagg_msg *m);

/* ring/worker.c */
/* every local rank has pushed the open round of the slot: without that its
 * result cannot exist, or (quorum) is not taken
 */
bool gagg_worker_all_pushed(struct gagg_chan *ch, u32 slot);
enum gagg_rx gagg_worker_result(struct gagg_arrival *in, struct gagg_msg *m);
void gagg_worker_commit(const struct gagg_arrival *in);
/* gagg_worker_result() of lanes that follow others of the same home, and for GAGG_RX_PLACE the
 * commit
 */
enum gagg_rx gagg_worker_next(struct gagg_arrival *in);
enum gagg_rx gagg_worker_told(struct gagg_arrival *in, const struct gagg_msg *m);
enum gagg_rx gagg_worker_resend(struct gagg_arrival *in, const struct gagg_msg *m);
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
static inline bool gagg_ring_knows(u8 kind)
{
	return kind >= GAGG_K_ALLREDUCE && kind <= GAGG_K_EXPONENTS;
}

static inline enum gagg_refusal gagg_ring_may_begin(const struct gagg_geom *g,
						    const struct gagg_chan *ch,
						    const struct gagg_ledger *led,
						    const struct gagg_ioc_submit *arg)
{
	(void)ch;
	return gagg_chan_has_rounds(g, led->cursor, arg->chunks) ? GAGG_REFUSE_NOT :
								   GAGG_REFUSE_ROUNDS;
}

static inline u64 gagg_ring_moves(const struct gagg_ioc_submit *arg)
{
	return arg->chunks;
}

u64 gagg_ring_submit_arg(const struct gagg_geom *g, struct gagg_chan *ch, u32 local,
			 const struct gagg_ioc_submit *arg);
bool gagg_ring_waits(u8 type);
enum gagg_rx gagg_ring_rx(struct gagg_arrival *in, struct gagg_msg *m);
void gagg_ring_commit(const struct gagg_arrival *in);
u64 gagg_ring_deadline(struct gagg_chan *ch);
bool gagg_ring_refill(const struct gagg_visit *vis, const struct gagg_env *env);
void gagg_ring_timer(const struct gagg_visit *vis);
u64 gagg_ring_missing(const struct gagg_geom *g, struct gagg_chan *ch,
		      const struct gagg_op *op);

/* ring/query.c */
/* a QUERY to home @h, to be filled in */
struct gagg_act *gagg_query_ask(const struct gagg_visit *vis, u32 h);

/* ring/gap.c */
/* the results before @end that have not come are a gap, of datagrams with @lanes, or of runs;
 * false: there is none
 */
bool gagg_gap_note(const struct gagg_visit *vis, u32 h, u32 end, bool lanes);
/* results have come: note those that they show to be missing */
void gagg_gap_seen(const struct gagg_visit *vis, u32 h, const struct gagg_msg *m);
/* ask for those that are due: new ones, and again; as many as there is room for */
void gagg_gap_pull(const struct gagg_visit *vis);

#endif
