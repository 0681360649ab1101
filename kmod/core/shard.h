/* SPDX-License-Identifier: GPL-2.0 */
/*
 * One shard of a group: what arrives, what leaves, when to look again.
 *
 * Receiving is decide, add, commit:
 *
 *	r = gagg_shard_rx(&arrival, env, &msg, body);
 *	GAGG_RX_ADD	dst = (todo.first ? nothing : acc) op payload >> shift,
 *			then gagg_shard_commit(). Lanes of GAGG_LANE_S16 and _S8 become
 *			int32 in the accumulator, which has twice or four times as
 *			many bytes as a chunk for that (1 << geom.wire)
 *	GAGG_RX_PLACE	result[slot] = payload, then gagg_shard_commit()
 *			(of a store, see struct gagg_todo)
 *	GAGG_RX_AGAIN	drain the actions, call gagg_shard_rx() again with the
 *			same msg, which the core has shortened
 *	GAGG_RX_DROP	count todo.drop
 *	GAGG_RX_OK	nothing more
 *
 * After every call the caller drains the actions with gagg_shard_act(), in
 * order; every call but gagg_shard_next() expects an empty queue and emits at most
 * GAGG_ACTS. After a batch: gagg_chan_refill() for every channel, then
 * gagg_shard_flush().
 *
 * The caller holds the shard's lock over all of this.
 */
#ifndef GAGG_CORE_SHARD_H
#define GAGG_CORE_SHARD_H

#include "chan.h"
#include "path.h"

/* what the caller lends the core; called under the shard's lock */
struct gagg_env {
	void *ctx;
	/* the channel's part in this shard, or NULL */
	struct gagg_chan *(*chan)(void *ctx, u16 id);
	/* `filled` of a local rank, read once; 0 while it has not joined */
	u64 (*filled)(void *ctx, struct gagg_chan *ch, u32 local);
	/* its description of the contribution in @slot, read once */
	struct gagg_cdesc (*desc)(void *ctx, struct gagg_chan *ch, u32 local, u32 slot);
};

enum gagg_act_type {
	GAGG_ACT_SEND_CONTRIB,	/* m, then the lanes of (channel, local, slot) */
	GAGG_ACT_SEND_RESULT,	/* m, of narrow lanes with gagg_publish_shift(), then
				 * the lanes of result[slot] (quorum: held[slot]), to
				 * all nodes
				 */
	GAGG_ACT_SEND_CTRL,	/* m, then body of m.len bytes (ACK, OPEN) */
	GAGG_ACT_PUBLISH,	/* see struct gagg_publish */
	GAGG_ACT_OP_DONE,	/* ops of a local rank up to number are done here */
	GAGG_ACT_DESYNC,	/* end the epoch: two ranks disagree */
	GAGG_ACT_OPEN,		/* make the channel, of members */
	/* a store, see struct gagg_keep */
	GAGG_ACT_FOLD,		/* store[slot] += beside[slot] */
	GAGG_ACT_ADD_LOCAL,	/* (beside ? beside : store)[slot] += lanes of local */
	GAGG_ACT_READ,		/* a chunk of a local's read is there */
};

/**
 * struct gagg_keep - what to do with a chunk of a store
 * @slot:	chunk
 * @beside:	ADD_LOCAL: add to the buffer beside the store
 * @first:	ADD_LOCAL: nothing is in it yet
 * @placed:	READ: the copy of the local was written by GAGG_RX_PLACE; else it
 *		is to be made from the store
 * @fresh:	READ: all updates with smaller stamps are in it
 */
struct gagg_keep {
	u32 slot;
	u32 fresh;
	u8 beside;
	u8 first;
	u8 placed;
};

/**
 * struct gagg_publish - make a result readable
 * @slot:	slot
 * @round:	round
 * @locals:	local ranks (bit per index) whose lanes are still to be added
 *		with shift exp - gagg_chan_pushed()->exp (0 for raw lanes)
 * @lanes:	lanes of the result; 0: none
 * @from_acc:	start from the accumulator of the slot, else from nothing
 * @placed:	start from what is in result[slot] already
 * @hold:	GAGG_HOLD_*
 * @laneop:	lane type and operator
 * @raw:	lanes carry no exponent
 * @narrow:	lanes were added in int32, and are to be narrowed to what @laneop says;
 *		with GAGG_HOLD_TAKE they have been. See gagg_publish_lanes()
 * @exp:	for struct gagg_rdesc, as all that follow
 * @want:	largest exponent wanted
 * @flags:	GAGG_C_*
 * @contributors: number of ranks in the sum
 * @nonfinite:	with GAGG_C_NONFINITE: lowest rank that had NaN or infinity
 * @shift:	of narrow lanes that were narrowed elsewhere: by how many bits their sums
 *		were shifted
 * @counted:	local ranks (bit per index) that are in the sum
 */
struct gagg_publish {
	u32 slot;
	u32 round;
	u32 locals;
	u16 lanes;
	u8 from_acc;
	u8 placed;
	u8 laneop;
	u8 raw;
	u8 exp;
	u8 want;
	u8 flags;
	u8 contributors;
	u8 nonfinite;
	u8 shift;
	u16 counted;
	u8 hold;
	u8 narrow;
};

/*
 * In a quorum, a home's results are held apart until the ranks of its node have
 * come to their round: what they have not read yet stays.
 */
#define GAGG_HOLD_PUT	1	/* to held[slot], nobody reads it yet */
#define GAGG_HOLD_TAKE	2	/* as it is from held[slot] */

/* what chunks of a run have of their own, but for slots and packet numbers in a row */
struct gagg_each {
	u8 exp;
	u8 want;
};

#define GAGG_RUN	16	/* most chunks of an action */

struct gagg_act {
	u8 type;
	u8 node;	/* SEND_CONTRIB, SEND_CTRL */
	u8 local;	/* SEND_CONTRIB, OP_DONE, ADD_LOCAL, READ */
	u8 more;	/* chunks that follow, of what has @each: see gagg_act_next() */
	u8 at;		/* the next of them in @each */
	u16 channel;
	u64 nodes;	/* SEND_RESULT; all others with workers: perhaps by multicast */
	struct gagg_msg m;	/* type 0: nothing is sent */
	union {
		struct gagg_ack ack;
		struct gagg_open open;
		struct {
			struct gagg_publish pub;
			struct gagg_each each[GAGG_RUN - 1];	/* PUBLISH, SEND_CONTRIB, _RESULT */
		};
		struct gagg_keep keep;
		u64 number;		/* OP_DONE */
		u64 members;		/* OPEN */
		struct gagg_end end;	/* DESYNC */
	};
};

/* most actions of one call; see the proof in out.c */
#define GAGG_ACTS	512
#define GAGG_ACTS_STEP	224	/* most actions one chunk may cause */

enum gagg_rx {
	GAGG_RX_DROP,
	GAGG_RX_OK,
	GAGG_RX_ADD,
	GAGG_RX_PLACE,
	GAGG_RX_AGAIN,
};

/**
 * enum gagg_area - memory of a channel on a host where lanes are added or placed
 * @GAGG_AREA_ACC:	an accumulator of the shard
 * @GAGG_AREA_RESULT:	the chunk of the result ring, or of the store
 * @GAGG_AREA_BESIDE:	the chunk of the buffer beside the store
 * @GAGG_AREA_COPY:	the chunk of the copy that a local rank reads into
 */
enum gagg_area {
	GAGG_AREA_ACC,
	GAGG_AREA_RESULT,
	GAGG_AREA_BESIDE,
	GAGG_AREA_COPY,
};

/**
 * struct gagg_todo - what the caller shall do with the lanes of a datagram
 * @drop:	GAGG_RX_DROP: why
 * @chan:	its channel
 * @slot:	slot of the chunk
 * @acc:	GAGG_AREA_ACC: which
 * @first:	ADD: nothing is there yet
 * @to_result:	ADD: write to result[slot], not to the accumulator: this is
 *		the last contribution but for local ones
 * @shift:	ADD: of the payload
 * @laneop:	lane type and operator
 * @lanes:	number of lanes
 * @m:		the datagram's header (for the commit)
 * @area:	where the lanes go
 * @alone:	no datagram is judged as one that follows it
 * @local:	GAGG_AREA_COPY: whose copy
 * @stripe:	first chunk of the stripe of which what followed was last
 * @stripe_len:	chunks of it; 0: nothing followed yet
 */
struct gagg_todo {
	enum gagg_drop drop;
	u32 slot;
	u8 first;
	u8 to_result;
	u8 shift;
	u8 laneop;
	u16 lanes;
	u8 area;	/* enum gagg_area */
	u8 alone;
	u8 local;
	u32 acc;
	u32 stripe;
	u32 stripe_len;
	struct gagg_msg m;
};

/**
 * struct gagg_visit - a channel of a shard that the core looks after, at one time
 * @sh:		shard
 * @g:		geometry of its group
 * @ch:		the channel's part in the shard
 * @now:	time
 *
 * It lasts as long as one call into the core, which fills it: what the call is about does not
 * change meanwhile. The visit of a datagram is a part of its arrival, and may last for a burst.
 */
struct gagg_visit {
	struct gagg_shard *sh;
	const struct gagg_geom *g;
	struct gagg_chan *ch;
	u64 now;
};

/**
 * struct gagg_arrival - a datagram that is received
 * @vis:	where it belongs, and when it came
 * @node:	where it came from
 * @ce:		the IP header said "congestion experienced"
 * @todo:	what is to be done with it
 *
 * The caller sets @node, @ce, and all of @vis but the channel, which gagg_shard_rx() finds; so
 * it does @todo. Both last until the datagram is committed, and for those that follow it
 * (gagg_shard_next()): of these the caller sets @ce, the time, and the header in @todo.
 */
struct gagg_arrival {
	struct gagg_visit vis;
	u32 node;
	bool ce;
	struct gagg_todo todo;
};

/* counters of the core; the module adds its own */
enum gagg_count {
	GAGG_N_CHUNKS,
	GAGG_N_CONTRIBUTIONS,
	GAGG_N_RESULTS,
	GAGG_N_RETRANSMITS,
	GAGG_N_REPAIRS,
	GAGG_N_QUERIES,
	GAGG_N_PULLS,
	GAGG_N_ACKS,
	GAGG_N_VOIDS,
	GAGG_N_DUPLICATES,
	GAGG_N_STALE,
	GAGG_N_LATE,
	GAGG_N_NONFINITE,
	GAGG_N_OVERFLOW,
	GAGG_N_MAX,
};

struct gagg_shard {
	u64 epoch;
	u64 cookie;
	u64 cookie_of_results;	/* where others may hear them; gagg_shard_cookie() */
	u64 nak_nodes;		/* nodes that were sent a NAK in this batch */
	u64 heard[GAGG_NODES];	/* when a datagram of an epoch came last; 0: never */
	u64 wide[GAGG_NODES];	/* when one as long as a chunk of @epoch did; 0: never */
	u64 told;		/* nodes of gagg_shard_trips() */
	u64 n[GAGG_N_MAX];
	u32 head;
	u32 nacts;
	u32 more;		/* what runs count for beyond nacts: gagg_shard_spare() */
	u8 index;
	u8 running;
	u8 resends;		/* one of resend_run waits */
	u8 turn;		/* index of the channel that is first in line: work.h */
	struct gagg_act act[GAGG_ACTS];
	struct gagg_run result_run[GAGG_NODES];
	struct gagg_run resend_run[GAGG_RANKS];
	struct gagg_path path[];	/* by node */
};

u64 gagg_shard_bytes(const struct gagg_geom *g);

/* @sh: gagg_shard_bytes() zeroed bytes */
void gagg_shard_init(struct gagg_shard *sh, const struct gagg_geom *g, u32 index);

/* an epoch begins (channels are initialised anew by the caller), or ends */
void gagg_shard_start(struct gagg_shard *sh, const struct gagg_geom *g, u64 epoch,
		      u64 cookie);
void gagg_shard_stop(struct gagg_shard *sh);

/* after gagg_shard_start(): what gagg_join_trips() says. Until a path has a round trip of its
 * own, its timeout follows from this one.
 */
void gagg_shard_trips(struct gagg_shard *sh, const struct gagg_geom *g,
		      const u32 trip[GAGG_NODES]);

/* what a datagram of this type has to carry */
static inline u64 gagg_shard_cookie(const struct gagg_shard *sh, const struct gagg_geom *g,
				    u8 type)
{
	return g->heard_by_others && type == GAGG_T_RESULT ? sh->cookie_of_results :
							     sh->cookie;
}

/*
 * gagg_shard_rx - a datagram, parsed, of this group, with a type other than HELLO, START, ABORT
 * @m: its header; of GAGG_RX_AGAIN what is left of it
 * @body: ACK and OPEN: m->len bytes
 */
enum gagg_rx gagg_shard_rx(struct gagg_arrival *in, const struct gagg_env *env,
			   struct gagg_msg *m, const void *body);
void gagg_shard_commit(const struct gagg_arrival *in);

/*
 * gagg_shard_next - gagg_shard_rx() for what follows a datagram with lanes
 * @in: of that datagram, for which the verdict was ADD or PLACE and which is
 *	committed, but that todo.m is the next one (gagg_wire_follows())
 *
 * What the two have in common is not looked at again, and for ADD or PLACE this
 * one is committed: the caller adds or places before it drains the actions. They
 * may wait for more to follow unless gagg_shard_must_act(), and are drained before
 * any other call. Since the verdict the caller has held the lock and has called
 * nothing but commit, next and act. Never says AGAIN. Not for a store, where
 * clocks decide about each datagram.
 */
enum gagg_rx gagg_shard_next(struct gagg_arrival *in);

/*
 * gagg_shard_must_act - may the actions not wait for what follows?
 *
 * PUBLISH and SEND_RESULT look at the result of a slot and round when they are
 * carried out. What follows is of the same round: for that slot it is stale, and
 * writes nothing there. PUBLISH of narrow lanes looks at the accumulator as well, which
 * is still that chunk's: a rank that pushes the next one that has it knows the result. But in
 * a quorum it may be another chunk's by then.
 */
static inline bool gagg_shard_must_act(const struct gagg_shard *sh, const struct gagg_geom *g)
{
	return sh->nacts && (g->quorum || sh->nacts > GAGG_ACTS - GAGG_ACTS_STEP);
}

/*
 * gagg_chan_refill - send what may be sent, and ask for results that are missing
 * Returns true when there may be more, because the queue is full or the window
 * has moved: drain and call again.
 */
bool gagg_chan_refill(struct gagg_shard *sh, const struct gagg_geom *g,
		      const struct gagg_env *env, struct gagg_chan *ch, u64 now);

/* end of a batch: acknowledgements, runs that waited */
void gagg_shard_flush(struct gagg_shard *sh, const struct gagg_geom *g);

/* timers: when the deadline has come call gagg_shard_timer(), then for every
 * channel gagg_chan_timer() and gagg_chan_refill(), then gagg_shard_flush()
 */
u64 gagg_shard_deadline(const struct gagg_shard *sh, const struct gagg_geom *g);
u64 gagg_chan_deadline(struct gagg_chan *ch);
void gagg_shard_timer(struct gagg_shard *sh, const struct gagg_geom *g,
		      const struct gagg_env *env, u64 now);
bool gagg_chan_timer(struct gagg_shard *sh, const struct gagg_geom *g,
		     struct gagg_chan *ch, u64 now);

/*
 * gagg_shard_act - next action, or NULL; valid until the next call into the core
 * An action for a run of chunks is said chunk by chunk, unless the caller takes
 * those that follow with gagg_act_next().
 */
struct gagg_act *gagg_shard_act(struct gagg_shard *sh);

/* turns the action into that for the next chunk of its run; false: there is none */
static inline bool gagg_act_next(struct gagg_act *a)
{
	const struct gagg_each *e = &a->each[a->at];

	if (!a->more)
		return false;
	a->more--;
	a->at++;
	if (a->type == GAGG_ACT_PUBLISH) {
		a->pub.slot++;
		a->pub.exp = e->exp;
		a->pub.want = e->want;
		return true;
	}
	a->m.chunk++;
	a->m.pn++;
	a->m.exp = e->exp;
	a->m.want = e->want;
	return true;
}

#endif
