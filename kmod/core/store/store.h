/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The store: a channel whose chunks persist on their homes.
 *
 * A worker's ops are updates and reads of ranges of chunks. An update adds the
 * worker's lanes to every chunk of the range, exactly once, and ends with a tick
 * of its clock; it is over when every home has confirmed all of it. A read
 * brings a copy of every chunk of the range, once the sync mode lets the
 * worker read. The ops of a rank pass each home in order; so a worker sees its
 * own updates.
 *
 * On the wire, with the types of a ring:
 *
 *	CONTRIB	(round = stamp + 1)	an update of one chunk
 *	READY	(round = clock)		a tick: the sender's updates with smaller
 *					stamps have all been confirmed by you
 *	PULL	(round = clock, number)	a worker at that clock asks for a run, to be
 *					answered when the gate in aux is open
 *	RESULT	(round, number, aux) the copy of a chunk, for the rank in aux; number
 *					is that of the PULL, round the least
 *					clock of all workers. ZERO, and so without
 *					lanes, to a worker whose update may come
 *
 * Exactly once: CONTRIB and READY have packet numbers, and a home acknowledges
 * one only when it is in the store, or was before. What is not acknowledged is
 * repeated. A worker pushes stamp c only after its tick to c was confirmed by
 * that home, so a home accepts exactly round == clock + 1, and remembers by
 * chunk and rank whether it has it. Reads have no packet numbers: a worker asks
 * again, and the op's number tells an answer from that to an older read (both have it where
 * headers of a ring have a signature).
 *
 * Snapshots: where a read must show whole clocks only, updates of an open clock
 * wait beside the store, in a second buffer, and are folded into it when
 * the next one that touches the chunk finds their clock complete. There is one
 * such buffer, for the clock that the slowest worker is at; updates of a later
 * one wait at the worker, which hears from results how far the slowest is. (If
 * any clock could have the buffer of a chunk first, two workers could wait for
 * each other, at two chunks.)
 *
 * Copies: instead of a part of the chunks every node with a worker (it has one)
 * holds all of them, a copy that is that worker's own. An op is of one copy, or
 * an update brings to each of the others what the mode sends there. All copies
 * hear the ticks: so each of them knows the clocks of all workers, and a chunk
 * may be under way to several homes at once.
 */
#ifndef GAGG_CORE_STORE_H
#define GAGG_CORE_STORE_H

#include "chan.h"
#include "ledger.h"
#include "sync/sync.h"

/* gagg_chan.members is all there is to gagg_clocks.members */
_Static_assert(GAGG_CLOCK_RANKS == GAGG_RANKS, "a channel's ranks have clocks");

#define GAGG_OP_READ	0x02	/* a read; else an update */
#define GAGG_OP_LAST	0x04	/* the rank's last update: its clock goes to the end */
#define GAGG_OP_FENCE	0x08	/* a read that waits for all ranks to come as far */

/* what a request waits for */
enum gagg_gate {
	GAGG_GATE_READ,		/* the sync mode lets the rank read */
	GAGG_GATE_UPDATE,	/* its update of this clock may be added */
	GAGG_GATE_FENCE,	/* all ranks have come to this clock */
};

#define GAGG_PULLS	4	/* requests of one rank that a home holds */

struct gagg_pull {
	u32 chunk;
	u32 clock;
	u32 run;	/* 0: none */
	u32 gate;	/* enum gagg_gate */
};

/* the requests of a rank that wait to be served */
struct gagg_parked {
	u32 number;	/* of its latest op that asks */
	u32 clock;	/* and the rank's at that */
	struct gagg_pull pull[GAGG_PULLS];
};

/* a local rank's way towards one home */
struct gagg_store_way {
	u64 done;	/* ops that are over there */
	u64 ask_at;	/* read: ask again; GAGG_NEVER */
	u32 wait;	/* read: ns until then */
	u32 next;	/* chunk to be sent or asked for next; ring: none left */
	u32 fresh;	/* chunks of this op below it have a state */
	u32 low;	/* read: none below it is missing */
	u32 open;	/* chunks sent or asked for, and not answered */
	u32 again;	/* update: lost chunks, to be sent again */
	u32 again_at;	/* none below it is */
	u32 window;	/* read: chunks that may be asked for at a time */
	u32 answers;	/* read: chunks that have come */
	u32 seen;	/* least clock of all workers, as the home has said */
	u8 begun;	/* the fields above are about the op after done */
	u8 tick;	/* enum gagg_tick */
	u8 admitted;	/* update: the home takes it */
	u8 pad;
};

enum gagg_tick {
	GAGG_TICK_NONE,
	GAGG_TICK_FLYING,
	GAGG_TICK_DONE,
};

struct gagg_store {
	struct gagg_clocks clocks;
	union gagg_sync_state sync;
	u64 ask_at;		/* a way asks again; GAGG_NEVER */
	u64 run_at;		/* the sync mode lets somebody go; GAGG_NEVER */
	u64 ticks;		/* so many have come */
	u64 parked;		/* ranks with requests */
	u32 calls;		/* of gagg_store_refill() */
	u32 serve_first;	/* rank whose requests are looked at first */
	u32 work_first;		/* way that works first, by local rank and home */
	u32 pad;
	struct gagg_parked park[GAGG_RANKS];
	/* offsets from the start of this struct */
	u64 off_way;		/* [nlocals][nhomes] struct gagg_store_way */
	u64 off_applied;	/* homes: [ring][members] u32, last round */
	u64 off_beside;	/* homes: [ring] u32, round beside the store; 0 */
	u64 off_state;		/* [ring][nlocals] u8; copies: [ring][nlocals][nhomes] */
};

/* lane type and operator of all updates and copies */
static inline u8 gagg_store_laneop(const struct gagg_geom *g)
{
	return g->wide ? GAGG_LANEOP(GAGG_LANE_S64, GAGG_OP_ADD) :
			 GAGG_LANEOP(GAGG_LANE_S32, GAGG_OP_ADD);
}

static inline struct gagg_store *gagg_store_of(struct gagg_chan *ch)
{
	return GAGG_CHAN_AT(ch, off_store, struct gagg_store);
}

/*
 * gagg_store_submit - start an op of a local rank
 * @what:	its chunks, from start up to end, which is ring at most (an update may have none);
 *		its flags (GAGG_OP_READ, GAGG_OP_LAST, GAGG_OP_FENCE); and of copies, if it says
 *		so, the index of the home whose copy is meant. The rest follows from the rank
 *
 * Returns its number (from 1), or 0 when GAGG_OPS are in flight.
 */
u64 gagg_store_submit(struct gagg_chan *ch, u32 local, const struct gagg_op *what);

/* can @arg be an op of a store, as far as can be said without a channel? */
bool gagg_store_may_submit(const struct gagg_geom *g, const struct gagg_ioc_submit *arg);

static inline bool gagg_store_knows(u8 kind)
{
	return kind == GAGG_K_UPDATE || kind == GAGG_K_READ;
}

/* BAD: not now, or it means a copy that is not there */
enum gagg_refusal gagg_store_may_begin(const struct gagg_geom *g, const struct gagg_chan *ch,
				       const struct gagg_ledger *led,
				       const struct gagg_ioc_submit *arg);

/* the chunks of a store are where they are: no op moves the next one on */
static inline u64 gagg_store_moves(const struct gagg_ioc_submit *arg)
{
	(void)arg;
	return 0;
}

/* index of the home whose copy @arg means; -1: there is no such rank on the channel */
int gagg_store_copy(const struct gagg_geom *g, const struct gagg_chan *ch,
		    const struct gagg_ioc_submit *arg);

/* gagg_store_submit() of what gagg_store_may_submit() and gagg_store_may_begin() accept */
u64 gagg_store_submit_arg(const struct gagg_geom *g, struct gagg_chan *ch, u32 local,
			  const struct gagg_ioc_submit *arg);

/* the clock of a local rank: updates that it has begun */
static inline u32 gagg_store_clock(const struct gagg_chan *ch, u32 local)
{
	return ch->local[local].clock;
}

#endif
