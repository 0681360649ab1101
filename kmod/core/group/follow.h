/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What follows from the join object: what its host says, tells and does.
 *
 * A host has locks, a timer, memory, sessions and a way to send. What it does with them because
 * of the join object is decided here.
 *	1. The object decides under a lock, in calls that may not sleep, and fills a queue. The
 *	   host carries it out later: struct gagg_due keeps what is due until then.
 *	2. An epoch has no queue: gagg_follow() compares the object with what runs here, however
 *	   often both have changed since.
 *
 * Nothing here locks. The caller holds the lock of the join object, unless a comment says that
 * it need not.
 */
#ifndef GAGG_CORE_FOLLOW_H
#define GAGG_CORE_FOLLOW_H

#include "group/join.h"
#include "shard.h"

#define GAGG_LAST_WORDS	3	/* times that they are said: nobody will repeat them */

/* what may be due: sets of enum gagg_join_act_type, a bit each */
enum gagg_due_types {
	GAGG_DUE_HELLO	= 1 << GAGG_JOIN_SEND_HELLO,
	GAGG_DUE_SAY	= GAGG_DUE_HELLO | 1 << GAGG_JOIN_SEND_START |
			  1 << GAGG_JOIN_SEND_ABORT | 1 << GAGG_JOIN_SEND_WIDE,
	GAGG_DUE_FOLLOW	= 1 << GAGG_JOIN_EPOCH_START | 1 << GAGG_JOIN_EPOCH_END,
	GAGG_DUE_NEWS	= 1 << GAGG_JOIN_NOTIFY,
	GAGG_DUE_ALL	= (1 << GAGG_JOIN_TYPES) - 1,
};

/**
 * struct gagg_due - what the join object wants, and the host has not done yet
 * @nodes:	the nodes that it is about, by enum gagg_join_act_type; an epoch is about this node
 */
struct gagg_due {
	u64 nodes[GAGG_JOIN_TYPES];
};

/**
 * gagg_due_collect - empty the queue of the join object, after each call that may fill it
 * @due: what was due already, and is so with the queue
 * @j: whose queue it is
 *
 * Return: the types of what was in the queue, as GAGG_DUE_*
 */
u32 gagg_due_collect(struct gagg_due *due, struct gagg_join *j);

/**
 * gagg_due_take - the host is about to do some of what is due
 * @due: no longer has what is taken
 * @types: which, as GAGG_DUE_*
 * @taken: has that, and nothing else; the caller's own, and needs no lock
 *
 * Return: the types of what has been taken, as GAGG_DUE_*
 */
u32 gagg_due_take(struct gagg_due *due, u32 types, struct gagg_due *taken);

/**
 * gagg_due_types - what is due
 * @due: of the host
 *
 * Return: the types, as GAGG_DUE_*
 */
u32 gagg_due_types(const struct gagg_due *due);

/**
 * gagg_due_next - what is to be said next of what has been taken
 * @taken: no longer has it
 * @node: to whom
 *
 * ABORT leaves first. HELLO leaves before START: it may be an answer, and paths of an epoch begin
 * with the round trip to that. What is long leaves last.
 *
 * Return: what, an argument of gagg_join_say(); GAGG_JOIN_TYPES: all has been said
 */
u8 gagg_due_next(struct gagg_due *taken, u32 *node);

/* what has become of a datagram of gagg_join_say() that the host was to send */
enum gagg_fate {
	GAGG_FATE_LEFT,		/* it leaves, or has left */
	GAGG_FATE_NO_ROOM,	/* it was dropped: there was no room, memory or route for it */
	GAGG_FATE_UNFIT,	/* it was dropped: it is longer than the interface may send */
};

/**
 * struct gagg_step - what the host does so that the group comes to where the join object is
 * @over:	the epoch that runs here ends, before all else
 * @epoch:	then this one begins; 0: none
 * @cookie:	of that
 * @lanes:	32-bit lanes of its chunks
 * @never:	local ranks: the epoch that these have attached for ended before it was begun
 *		here, or will never be. Ranks that are not attached may be among them
 * @end:	why, for @over and @never
 */
struct gagg_step {
	bool over;
	u16 lanes;
	u64 epoch;
	u64 cookie;
	u64 never;
	struct gagg_end end;
};

/**
 * gagg_follow - what the host has to do when GAGG_DUE_FOLLOW is
 * @j: of the group
 * @g: of the group
 * @runs: the epoch that runs here; 0: none
 * @dead: the group is being deleted: nothing begins any more
 * @step: out
 */
void gagg_follow(const struct gagg_join *j, const struct gagg_geom *g, u64 runs, bool dead,
		 struct gagg_step *step);

/**
 * gagg_follow_hear - tell the join object which nodes a shard has heard
 * @j: of the group
 * @sh: one of its shards; the caller holds its lock, too
 *
 * For each shard, before gagg_follow_timer().
 */
void gagg_follow_hear(struct gagg_join *j, const struct gagg_shard *sh);

/**
 * gagg_follow_timer - gagg_join_deadline() has come
 * @j: of the group
 * @g: of the group
 * @unfit: a datagram that was sent since did not fit the interface: chunks have become too long
 * @random: fresh random number
 * @now: the time
 */
void gagg_follow_timer(struct gagg_join *j, const struct gagg_geom *g, bool unfit, u64 random,
		       u64 now);

/**
 * gagg_follow_last_words - what a group says that has been deleted
 * @j: of the group, after gagg_join_delete() with GAGG_R_DELETED
 * @taken: in: what is due. Out: to be said, GAGG_LAST_WORDS times: ABORT to the nodes that have
 *	   asked, or have not confirmed that the last epoch ended, which are all if the deletion
 *	   has ended it; a HELLO that is due, since ranks that waited have left. A node that misses
 *	   all of them notices the silence
 */
void gagg_follow_last_words(const struct gagg_join *j, struct gagg_due *taken);

/**
 * gagg_end_here - an end for which this host is to blame, or nobody
 * @g: of the group
 * @reason: enum gagg_reason
 *
 * Return: an argument of gagg_join_end()
 */
static inline struct gagg_end gagg_end_here(const struct gagg_geom *g, u32 reason)
{
	return (struct gagg_end){
		.reason = reason,
		.rank = (u16)gagg_lowest(g->ranks_of[g->self]),
	};
}

#endif
