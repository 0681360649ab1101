/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Chunks of a store, and workers that update and read it in any order that the
 * module lets them. What holds:
 *	- a home's chunk is, for each rank whose host is no insider, the sum of that
 *	  rank's first so many updates: each once, whole, and in order
 *	- an update that is done is in the store of every home
 *	- a read brings each of its chunks once. The copy holds all updates of its
 *	  own rank that came before it and none behind; of others at least those
 *	  that the mode, the fence, or what the copy says of itself promise, at most
 *	  those begun, and with ssp:0 none of the reader's clock or later
 *	- a rank's lanes are read when they are of the update that is sent
 * of homes and readers whose hosts are no insiders, whatever is sent. With copies, where the host of
 * every rank is home of all chunks, an update counts where it is to go only, see stores_copies.c; and in
 * modes of whole replicas
 *	- all chunks of a read show the same updates
 *
 * Two words of a chunk are a rank's. One says which of its updates are there, a bit
 * each, the other is the sum of their values; so an update that counts twice is
 * not taken for the next one. Each is a lane, or they are halves of one of int64:
 * then every other update carries over from the bits to the values.
 */
#ifndef STORES_H
#define STORES_H

#include "hosts.h"

#define STORES_OPS	40	/* of a rank on a channel in an epoch */
#define STORES_UPDATES	28	/* bits of a word */
#define STORES_CARRY	(1U << 31)

_Static_assert(HOSTS_LANES == 2 * HOSTS_RANKS, "two words of each rank");

enum copies {
	COPIES_NONE,
	COPIES_AKO,
	COPIES_PULL,
	COPIES_PUSH,
	COPIES_PAIR,
};

struct mode {
	const char *text;
	u32 bound;	/* clocks that a reader is ahead of any other; ~0: none */
	bool exact;	/* a read shows whole clocks only */
	enum copies copies;
	u32 arg;	/* ako: partitions; push: S */
};

/* what a rank has called */
struct call {
	u32 first;
	u32 chunks;
	u32 updates;	/* of the rank, before it */
	u8 flags;	/* GAGG_OP_* */
	u8 ended;	/* the last update came before it */
	u8 copy;	/* copies: node whose it is of */
};

struct work {
	u32 n;
	u32 updates;
	bool ended;
	bool holds;	/* since its last update it has read what nobody may change */
	u32 done_in[HOSTS_SHARDS];
	struct call call[STORES_OPS];	/* op k is call[k - 1] */
};

struct calls {
	const struct mode *mode;
	u8 zeros;	/* of 256 */
	struct work work[HOSTS_EPOCHS][HOSTS_CHANS][HOSTS_RANKS];
};

/* a local rank's regions */
struct user {
	s32 *push;
	u32 *stamp;	/* of the update that the lanes are of */
	s32 *copy;
	u32 *reads;	/* copies of a chunk that have come, by host and chunk */
	u8 placed;	/* node that the copy placed last is from */
};

struct chunks {
	s32 *kept, *beside;
	u8 *open;	/* something is beside */
	struct user user[GAGG_LOCALS];
};

static inline struct work *work_of(const struct host *h, u32 c, u32 rank)
{
	return &h->w->calls->work[h->epoch][c][rank];
}

static inline bool covers(const struct call *call, u32 slot)
{
	return slot >= call->first && slot < call->first + call->chunks;
}

/* where a rank's bits are, and its values */
static inline u32 bits_at(const struct host *h, u32 rank)
{
	return h->g.wide ? 2 * rank : rank;
}

static inline u32 values_at(const struct host *h, u32 rank)
{
	return h->g.wide ? 2 * rank + 1 : HOSTS_RANKS + rank;
}

static inline bool is_copies(const struct host *h)
{
	return h->w->calls->mode->copies != COPIES_NONE;
}

/* does a read bring chunk @slot from @node, which holds it? */
static inline bool reads_from(const struct host *h, const struct call *call, u32 node, u32 slot)
{
	return (call->flags & GAGG_OP_READ) && covers(call, slot) &&
	       (!is_copies(h) || call->copy == node);
}

/* lanes of an update; false: it is not sent, because it is zero */
bool stores_update(const struct host *h, u32 c, u32 rank, u32 stamp, u32 slot, s32 *lanes);

/* stores_copies.c */
void copies_shape(struct gagg_geom *g, bool whole);
/* the copy of a call, by what is left of the schedule's byte; false: a trainer would
 * not call that now, or could wait for one that waits for it
 */
bool copies_call(const struct host *h, u32 c, u32 rank, u8 flags, u8 how, u8 *copy);
/* the next one among the channel's hosts has a copy, too */
u8 copies_next(const struct host *h, u32 c);
/* does an update come to that node? */
bool copies_get(const struct host *h, u32 c, u32 rank, const struct call *call, u32 node,
		u32 slot);
/* updates of @rank that a read must show, and those that it may, beside what holds of all
 * stores
 */
void copies_bounds(const struct host *h, u32 c, u32 self, const struct call *call, u32 rank,
		   u32 *must, u32 *may);
/* do all chunks of a read show the same updates? */
bool copies_whole(const struct host *h, const struct call *call);

/* stores_check.c */
void check_kept(const struct host *h, u32 c, u32 slot);
void check_copy(const struct host *h, u32 c, u32 l, u32 node, u32 slot, u32 fresh,
		const struct call *call);
void check_done(const struct host *h, u32 c, u32 l, u32 s, const struct call *call);

#endif
