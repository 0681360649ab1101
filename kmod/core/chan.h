/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of a channel in one shard: the ring of slots, the ops of the local ranks that are in
 * flight, the accumulations of the chunks whose home is here.
 *
 * A channel is one flat block of memory (gagg_chan_bytes()). It holds offsets and no pointers, so a
 * model checker can clone it with memcpy().
 *
 * Worker and home share `done[slot]`, the last round whose result this node has. The open round is
 * done + 1 for both, because the node of a home takes its own results at once. In a quorum it may
 * take them later (ring/quorum.c): then the home uses `pub[slot]`.
 *
 * Claim: a contribution never finds its accumulator in use by another chunk, so accepting it is
 * always possible (protocol.md R19). Let P be the lowest virtual chunk of this shard that no home
 * has published.
 *
 * 1. A worker pushes v only if v < base + window.
 * 2. All chunks below a worker's base are done, hence published: base <= P.
 * 3. So all open chunks are in [P, P + window).
 * 4. The accumulator is slot % window, and window divides ring. So two chunks in that range never
 *    have the same accumulator.
 */
#ifndef GAGG_CORE_CHAN_H
#define GAGG_CORE_CHAN_H

#include "geom.h"
#include "reduce.h"
#include "sync/sync.h"
#include <linux/gagg.h>

#ifndef GAGG_OPS
#define GAGG_OPS	32	/* ops in flight of one rank on one channel */
#endif
#ifndef GAGG_GAPS
#define GAGG_GAPS	32	/* gaps in one home's results that are kept track of */
#endif
#define GAGG_OP_RAW	0x01

#define GAGG_VIRTUAL_MAX	(1ULL << 62)	/* virtual chunks of a channel */

/* position in the sequence of chunks of one home and shard */
struct gagg_cur {
	u64 v;
	u32 slot;
	u32 round;
};

struct gagg_op {
	u64 start;
	u64 end;	/* first virtual chunk after it */
	u64 number;
	u32 sig;	/* ring: gagg_sig() */
	u32 call;	/* ring: gagg_call() */
	u32 clock;	/* store: the clock of the rank */
	union {
		u16 last_lanes;	/* ring */
		u16 copy;	/* copies: the home that has the copy */
	};
	u8 laneop;
	u8 flags;	/* GAGG_OP_* */
};

/* what a local rank has pushed into the open round of a slot */
struct gagg_pushed {
	u8 exp;
	u8 want;
	u8 flags;	/* GAGG_C_* */
	u8 state;	/* GAGG_PUSHED, GAGG_ACKED, GAGG_AGAIN; 0: nothing */
};

#define GAGG_PUSHED	0x01
#define GAGG_ACKED	0x02
#define GAGG_AGAIN	0x04	/* to be sent again */

/* the result in a slot, kept to repeat it to a node that asks */
struct gagg_res {
	u32 sig;
	u32 rpn;
	u32 aux;
	u16 lanes;
	u16 flags;	/* GAGG_WF_* */
	u8 exp;
	u8 want;
	u8 laneop;
	u8 valid;	/* there is one */
	u8 shift;	/* narrow lanes: bits the sums were shifted by; for PUBLISH only */
	u8 to_all;	/* the result was repaired by one datagram to all */
	u16 to_all_at;	/* time of that: bits 16 to 31, see ring/repair.c */
	u64 nodes;	/* nodes that get the lanes; others of the channel get DONE */
};

/* quorum: more about that result, for contributions that come late */
struct gagg_late {
	u64 bits;	/* ranks whose contributions are in it */
	u64 late;	/* ranks whose contributions came after it */
	u64 opened;	/* when the first came */
	u32 call;	/* of the first */
	u32 pad;
};

/* the open round of a chunk that is homed here; bits == 0: unused */
struct gagg_acc {
	u64 bits;	/* ranks that have contributed */
	u64 seen;	/* @bits, and ranks that are asked to contribute again */
	u64 opened;	/* when the first came */
	u64 summed;	/* remote ranks whose lanes are in the accumulator */
	u64 noresult;	/* ranks that want no result */
	u32 slot;
	u32 round;
	u32 sig;
	u16 lanes;
	u16 flags;	/* GAGG_WF_NONFINITE, GAGG_WF_RAW */
	u8 laneop;
	u8 exp;		/* largest of contributions with lanes */
	u8 zexp;	/* largest of the others */
	u8 want;
	u8 first;	/* rank that came first */
	u8 nonfinite;	/* lowest rank with NaN or infinity; 0xff: none */
	u8 locals;	/* a local contribution has lanes */
	u8 pad;
	u32 call;	/* of @first */
};

/* one local rank on the channel */
struct gagg_local {
	u64 issued;	/* end of its last op */
	u64 numbers;	/* ops submitted */
	u64 finished;	/* ops done in this shard */
	u8 rank;
	u8 pad[3];
	u32 clock;	/* store: updates submitted */
	u32 locks;	/* store: the read that locks a copy at its clock, plus 1; 0 */
	u32 pad2;
	struct gagg_op op[GAGG_OPS];	/* by number % GAGG_OPS; first is 1 */
};

/*
 * A message without lanes that waits for others which can go in the same datagram. DONE and empty
 * RESULT: one per node. RESEND: one per rank. READY: one per way.
 */
struct gagg_run {
	struct gagg_msg m;	/* run == 0: none */
	u32 next;		/* slot that would continue it */
};

/* a local rank's position in the sequence of chunks of one home */
struct gagg_way {
	struct gagg_cur next;	/* to be pushed */
	struct gagg_cur again;	/* no chunk below it is to be sent again */
	u32 nagain;		/* chunks with GAGG_AGAIN */
	u32 pad;
	struct gagg_run ready;	/* during a refill: a READY to which more chunks may be added */
};

/* result numbers of a home that were skipped and have not come; first == end: unused */
struct gagg_gap {
	u64 at;		/* when to pull them */
	u64 seen;	/* when they were skipped */
	u32 first;
	u32 end;
	u32 wait;	/* ns to wait after a pull; 0: not pulled yet */
	u32 silent;	/* ns that were waited for them without an answer */
	u32 pn;		/* datagrams from this number on were sent after the last pull */
	u32 pulled;	/* ns that were waited since the last pull */
	u32 cut_pn;	/* the path's number when the window was cut for them */
	bool lanes;	/* they are datagrams with lanes */
};

/* the gaps of one home */
struct gagg_gaps {
	u64 at;		/* no pull before */
	struct gagg_gap gap[GAGG_GAPS];
};

/* the last WAITS of a home about its lowest open chunk; applies while that is @v */
struct gagg_lack {
	u64 v;
	u64 ranks;	/* ranks that have not contributed */
};

struct gagg_chan {
	u64 members;
	u64 base;		/* all chunks of this shard below it are done */
	u64 query_at;		/* GAGG_NEVER: nothing outstanding */
	u64 stuck_at;		/* from then on homes that were just heard are asked as well */
	u64 watched_at;		/* when query_at was set, to wait for news of the base's home */
	u64 moved;		/* homes that have sent news since query_at was set */
	u64 pull_at;		/* when to pull gaps; GAGG_NEVER */
	u64 poll_at;		/* when to look at `filled` again; GAGG_NEVER */
	u64 due_at;		/* quorum: when to look at open rounds again; GAGG_NEVER */
	u64 repair_at;		/* when to send parked results, or complete chunks; GAGG_NEVER */
	u64 parked;		/* nodes that have parked results, see ring/repair.c */
	u64 deaf;		/* nodes that recently did not hear what was sent to all */
	u64 limit;		/* quorum: time limit after the first contribution; GAGG_NEVER */
	u32 query_wait;		/* ns */
	u32 poll_wait;		/* ns */
	u32 rpn;		/* next result packet number; the first is 1 */
	u16 id;
	u8 shard;
	u8 nlocals;
	u8 nhomes;
	u8 self_home;		/* index of this node; 0xff: not a home */
	u8 watched;		/* index of the home of @watched_at; 0xff: this node */
	u8 headroom;		/* ceil(log2(members)) */
	u8 store;		/* kind: a store, else a ring (kind.h) */
	u8 spread;		/* store: number of homes that slots are spread over; copies: 1 */
	u64 member_nodes;	/* nodes with a member, self excluded */
	u8 home[GAGG_NODES];	/* node of each home */
	u32 home_rpn[GAGG_NODES];	/* next result expected from each home */
	u32 overtaken[GAGG_NODES];	/* by home: ns that results overtake by; see ring/gap.c */
	struct gagg_cur home_base[GAGG_NODES];	/* lowest chunk not done */
	struct gagg_local local[GAGG_LOCALS];
	struct gagg_delays delays;	/* quorum */
	u64 high[GAGG_RANKS];	/* quorum: highest chunk pushed to this home, + 1 */
	u64 reached;		/* the least of @high */
	/* offsets from the start of the block */
	u32 off_way;		/* [nlocals][nhomes] struct gagg_way */
	u32 off_gaps;		/* [nhomes] struct gagg_gaps */
	u32 off_lack;		/* [nhomes] struct gagg_lack */
	u32 off_done;		/* [ring] u32 */
	u32 off_pushed;		/* [ring][nlocals] struct gagg_pushed */
	u32 off_res;		/* [ring] struct gagg_res, if a home */
	u32 off_acc;		/* [window] struct gagg_acc, if a home */
	u32 off_publog;		/* [window] u32, slot by result packet number */
	u32 off_parked;		/* [nodes][gagg_repair_words()] u64, if a home */
	u32 off_pub;		/* [ring] u32: the last round published by this home; equals
				 * off_done except in a quorum
				 */
	u32 off_late;		/* [ring] struct gagg_late, if a home in a quorum */
	u32 off_store;		/* store: struct gagg_store; the other offsets are 0 */
};

#define GAGG_CHAN_AT(ch, off, type)	((type *)((char *)(ch) + (ch)->off))

static inline struct gagg_way *gagg_chan_way(struct gagg_chan *ch, u32 local, u32 home)
{
	return GAGG_CHAN_AT(ch, off_way, struct gagg_way) + local * ch->nhomes + home;
}

static inline struct gagg_gaps *gagg_chan_gaps(struct gagg_chan *ch, u32 home)
{
	return GAGG_CHAN_AT(ch, off_gaps, struct gagg_gaps) + home;
}

static inline struct gagg_lack *gagg_chan_lack(struct gagg_chan *ch, u32 home)
{
	return GAGG_CHAN_AT(ch, off_lack, struct gagg_lack) + home;
}

static inline u32 *gagg_chan_done(struct gagg_chan *ch, u32 slot)
{
	return GAGG_CHAN_AT(ch, off_done, u32) + slot;
}

static inline u32 *gagg_chan_pub(struct gagg_chan *ch, u32 slot)
{
	return GAGG_CHAN_AT(ch, off_pub, u32) + slot;
}

static inline struct gagg_res *gagg_chan_res(struct gagg_chan *ch, u32 slot)
{
	return GAGG_CHAN_AT(ch, off_res, struct gagg_res) + slot;
}

static inline struct gagg_pushed *gagg_chan_pushed(struct gagg_chan *ch, u32 slot,
						   u32 local)
{
	return GAGG_CHAN_AT(ch, off_pushed, struct gagg_pushed) +
	       (u64)slot * ch->nlocals + local;
}

/*
 * gagg_chan_bytes - size of the block for a channel of @members
 * In addition to struct gagg_chan a ring has at most 40 bytes per slot, 4 per slot and local rank,
 * and an eighth per slot and node; in a quorum 36 more per slot. A store has 4 per slot and member
 * at a home (4 more with snapshots), and 1 per slot and local rank (copies: per slot, local rank
 * and home).
 */
u64 gagg_chan_bytes(const struct gagg_geom *g, u64 members);

/* @mem: gagg_chan_bytes() zeroed bytes; @shard: index of the shard */
struct gagg_chan *gagg_chan_init(void *mem, const struct gagg_geom *g, u32 shard,
				 u16 id, u64 members);

/* placement tensor: nodes of which one is the home of a channel of @members; otherwise 1 */
u32 gagg_chan_choices(const struct gagg_geom *g, u64 members);

/* index of a local rank on the channel, or -1 */
int gagg_chan_local(const struct gagg_chan *ch, u32 rank);

/* index of a node among the homes of the channel, or -1 */
int gagg_chan_home(const struct gagg_chan *ch, u32 node);

/*
 * gagg_chan_missing - ranks that an op of a local rank waits for
 *
 * @number: of the op
 *
 * The op needs something from each of these ranks that has not arrived. This node knows it for the
 * chunks whose home it is; for other chunks it knows what their homes have sent (WAITS). 0: nothing
 * is known, or the op is done in this shard.
 */
u64 gagg_chan_missing(const struct gagg_geom *g, struct gagg_chan *ch, u32 local, u64 number);

/* the entry of a local rank's next op, empty but for its number; NULL: GAGG_OPS are in flight */
static inline struct gagg_op *gagg_chan_op_new(struct gagg_local *lo)
{
	struct gagg_op *op;

	if (lo->numbers - lo->finished >= GAGG_OPS)
		return NULL;
	op = &lo->op[++lo->numbers % GAGG_OPS];
	memset(op, 0, sizeof(*op));
	op->number = lo->numbers;
	return op;
}

/*
 * May lanes of that type, in @lanes 32-bit words, be added on a channel of the group? Narrow lanes
 * have two more conditions:
 *
 * 1. The group is configured for them: their accumulators are larger.
 * 2. They are not raw: their sum is shifted.
 */
static inline bool gagg_chan_takes(const struct gagg_geom *g, u8 laneop, u32 lanes, bool raw)
{
	u32 narrow = gagg_lane_narrow(laneop);

	return gagg_reduce_fits(laneop, lanes) && (!narrow || (narrow == g->wire && !raw));
}

/* Is @arg an op that some channel of the group could accept? */
bool gagg_chan_may_submit(const struct gagg_geom *g, const struct gagg_ioc_submit *arg);

/*
 * Do @chunks fit behind @cursor? A trainer learns of a result by its round, a number of 32 bits,
 * and takes a larger number for a later round. So the channel is used up before the number wraps.
 */
static inline bool gagg_chan_has_rounds(const struct gagg_geom *g, u64 cursor, u64 chunks)
{
	u64 end = (u64)g->ring * 0xfffffffe;

	return cursor <= end && chunks <= end - cursor;
}

/*
 * gagg_chan_submit_arg - start an op of a local rank
 * @arg:	what gagg_ledger_submit() does not refuse
 *
 * Returns its number (from 1), or 0 when GAGG_OPS are in flight.
 */
u64 gagg_chan_submit_arg(const struct gagg_geom *g, struct gagg_chan *ch, u32 local,
			 const struct gagg_ioc_submit *arg);

#endif
