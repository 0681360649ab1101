/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The ops of a local rank on a channel, over all shards: which are legal, how many there are, how
 * many are done.
 *
 * An op is in every shard's ring of ops or in none. It is done when it is done in every shard.
 */
#ifndef GAGG_CORE_LEDGER_H
#define GAGG_CORE_LEDGER_H

#include "shard.h"
#include "front.h"

/**
 * struct gagg_ledger - the ops of a rank
 * @local:	index of the rank on the channel
 * @submitted:	ops; written under the locks of all shards
 * @cursor:	virtual chunks that these ops have; store: 0; written under the same locks
 * @completed:	ops that are done in all shards; written under the lock of any shard
 * @done:	ops that are done, by shard
 */
struct gagg_ledger {
	u32 local;
	u64 submitted;
	u64 cursor;
	u64 completed;
	struct gagg_front done;
};

/* why an op, a channel or a call of a session is refused */
enum gagg_refusal {
	GAGG_REFUSE_NOT,	/* not refused */
	GAGG_REFUSE_BAD,	/* an argument is invalid */
	GAGG_REFUSE_KIND,	/* a collective in a group with a store; a store op elsewhere */
	GAGG_REFUSE_STOPPED,	/* no epoch runs */
	GAGG_REFUSE_ROUNDS,	/* the channel is used up */
	GAGG_REFUSE_FULL,	/* GAGG_OPS are in flight in some shard */
	GAGG_REFUSE_MEMBERS,	/* the channel exists with other members */
	GAGG_REFUSE_AGAIN,	/* the rank has the channel, or has given it back */
	GAGG_REFUSE_PLACES,	/* the group has as many channels as it may have */
	GAGG_REFUSE_NONE,	/* the rank has no such channel */
	GAGG_REFUSE_BUSY,	/* the rank is attached, or has ops in flight */
	GAGG_REFUSE_IDLE,	/* no epoch has begun since the rank has attached, or it has not */
};

/* May a rank ask for a channel with that id, which is not 0, and these members? NOT or BAD. */
enum gagg_refusal gagg_ledger_asks(const struct gagg_geom *g, u32 rank, u32 id, u64 members);

/*
 * gagg_ledger_admits - may a local rank that has asked have the channel?
 * @ch: it in any shard
 * @has: the rank has it already
 *
 * MEMBERS; AGAIN if the rank has it, or has given it back: positions went on, and an id is used
 * once in an epoch; BAD if it is none of those for which a channel has room.
 */
enum gagg_refusal gagg_ledger_admits(const struct gagg_chan *ch, u32 rank, u64 members, bool has);

/* @led becomes empty; false: the rank is not a local rank of the channel */
bool gagg_ledger_init(struct gagg_ledger *led, const struct gagg_chan *ch, u32 rank);

/* Can @arg be an op of the group? Its size and op number are not checked. NOT, BAD or KIND. */
enum gagg_refusal gagg_ledger_check(const struct gagg_geom *g, const struct gagg_ioc_submit *arg);

/* an epoch runs: shards start and stop together */
static inline bool gagg_ledger_open(const struct gagg_shard *sh)
{
	return sh->running;
}

/*
 * gagg_ledger_submit - start an op in all shards
 * @sh:		any of them
 * @part:	the channel by shard
 * The locks of all shards are held. Returns NOT; or BAD, KIND, STOPPED, ROUNDS, FULL, and then
 * nothing has changed.
 */
enum gagg_refusal gagg_ledger_submit(const struct gagg_shard *sh, const struct gagg_geom *g,
				     struct gagg_chan *const *part, struct gagg_ledger *led,
				     const struct gagg_ioc_submit *arg);

/* the op that was submitted last; @ch: the channel in any shard whose lock is held */
static inline const struct gagg_op *gagg_ledger_last(const struct gagg_ledger *led,
						     const struct gagg_chan *ch)
{
	const struct gagg_local *lo = &ch->local[led->local];

	return &lo->op[lo->numbers % GAGG_OPS];
}

/*
 * Ops up to @number are done in @shard, whose lock is held. Returns how many more are now done in
 * all shards.
 */
static inline u64 gagg_ledger_done(struct gagg_ledger *led, u32 shards, u32 shard, u64 number)
{
	return gagg_front_move(&led->done, shards, shard, number, &led->completed);
}

/* ops are in flight; no op is being submitted */
static inline bool gagg_ledger_busy(const struct gagg_ledger *led)
{
	return gagg_look(&led->completed) < led->submitted;
}

#endif
