/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Steps are taken: an epoch ends on this host, and another one begins, as group/follow.h says; the
 * join object is told what happens, and what it wants is collected.
 *
 * One source of each host includes this, as of act.h: it defines struct gagg_host, the group on
 * whose behalf it is, before, and after it the functions that are only declared here.
 *
 * Locks, outermost first: that of the group, the one of sessions and their table; those of shards;
 * that of the join object. The caller holds none but where a comment says so.
 */
#ifndef GAGG_CORE_STEP_H
#define GAGG_CORE_STEP_H

#include "group/digest.h"
#include "group/follow.h"
#include "group/roster.h"
#include "session.h"
#include "site.h"
#include "table.h"

#define GAGG_TO_ALL	GAGG_NODES	/* no node, but the multicast address of results */

/**
 * struct gagg_hosted - a group on a host
 * @host:	whose it is
 * @g:		its geometry. @g->lanes change with epochs: under the locks of all shards
 * @join:	its join object
 * @due:	what that wants; under the same lock
 * @table:	places of its channels
 * @epoch:	the epoch that runs here; 0: none
 * @epochs:	how many were begun here
 */
struct gagg_hosted {
	struct gagg_host host;
	struct gagg_geom *g;
	struct gagg_join *join;
	struct gagg_due *due;
	struct gagg_table *table;
	u64 *epoch;
	u64 *epochs;
};

/* of the join object; of a shard; of all shards */
static void epoch_lock_join(const struct gagg_host *h);
static void epoch_unlock_join(const struct gagg_host *h);
static void epoch_lock_shard(const struct gagg_host *h, u32 s);
static void epoch_unlock_shard(const struct gagg_host *h, u32 s);
static void epoch_lock(const struct gagg_host *h);
static void epoch_unlock(const struct gagg_host *h);

static struct gagg_shard *epoch_shard(const struct gagg_host *h, u32 s);
static u64 epoch_now_ns(void);
static u64 epoch_random(void);

/* of the shard, which is locked */
static struct gagg_stats *epoch_stats(const struct gagg_host *h, u32 s);
/* a datagram was longer than the interface may send */
static void epoch_tell_unfit(const struct gagg_host *h);
/* the join object is locked: @types are due now, and its deadline may be another one */
static void epoch_call(const struct gagg_host *h, u32 types);
/*
 * Was a HELLO (@wide: as long as a chunk) sent to the node a moment ago, so that another one would
 * only wait behind it? Then sends a datagram on the shard, whatever @w->shards are.
 */
static bool epoch_is_said(const struct gagg_host *h, u32 s, u32 node, bool wide);
static enum gagg_fate epoch_send(const struct gagg_host *h, u32 s, u32 node,
				 const struct gagg_word *w);
/* MTU of the interface to a node, or to GAGG_TO_ALL; 0: not known */
static u32 epoch_mtu(const struct gagg_host *h, u32 node);

/* channel 0 of the next epoch: gagg_sites_fresh() */
static int epoch_channel(const struct gagg_host *h, struct gagg_site **site);
/* all shards are locked: gagg_sites_unlink(). Later, without locks, @gone are given back */
static u32 epoch_unlink(const struct gagg_host *h, struct gagg_site **gone);
static void epoch_give(const struct gagg_host *h, struct gagg_site *site);

/* of the session of a local rank; a rank without one is bound */
static enum gagg_session_state epoch_state(const struct gagg_host *h, u32 rank);
static void epoch_tell_runs(const struct gagg_host *h, u32 rank, u64 epoch);
static void epoch_tell_ended(const struct gagg_host *h, u32 rank, u32 reason);

/* all shards are locked: they run, with paths that begin with @trip; they have stopped */
static void epoch_trace_begun(const struct gagg_host *h, const struct gagg_step *step,
			      const struct gagg_site *site, const u32 trip[GAGG_NODES]);
static void epoch_trace_over(const struct gagg_host *h);
/* all is done: waiters are woken, shards are kicked */
static void epoch_begun(const struct gagg_host *h, const struct gagg_step *step);
static void epoch_is_over(const struct gagg_host *h, u64 epoch, const struct gagg_end *end);

/* after a call that may fill the queue of the join object, which is locked */
static inline void gagg_step_collect(const struct gagg_hosted *x)
{
	epoch_call(&x->host, gagg_due_collect(x->due, x->join));
}

/* the join object of a group begins, before anybody can reach it. @roster: its members */
static inline void gagg_step_create(const struct gagg_hosted *x, const struct gagg_roster *roster,
				    const struct gagg_params *v)
{
	u32 digest[GAGG_DG_COUNT];

	gagg_digest_group(roster, v, &x->g->sync, digest);
	gagg_join_init(x->join, x->g, digest, epoch_random() | 1);
	x->join->enabled = 1;
}

/* gagg_join_deadline() has come, or a group begins */
static inline void gagg_step_timer(const struct gagg_hosted *x)
{
	const struct gagg_host *h = &x->host;
	bool unfit = false;
	u32 s;

	for (s = 0; s < x->g->shards; s++) {
		epoch_lock_shard(h, s);
		epoch_lock_join(h);
		gagg_follow_hear(x->join, epoch_shard(h, s));
		epoch_unlock_join(h);
		unfit |= gagg_stats_take_unfit(epoch_stats(h, s));
		epoch_unlock_shard(h, s);
	}
	if (unfit)
		epoch_tell_unfit(h);
	epoch_lock_join(h);
	gagg_follow_timer(x->join, x->g, unfit, epoch_random(), epoch_now_ns());
	gagg_step_collect(x);
	epoch_unlock_join(h);
}

/*
 * HELLO, START or ABORT has arrived: gagg_join_rx(). @d->random and @d->now are filled in here. A
 * datagram that changes nothing calls nobody.
 */
static inline enum gagg_drop gagg_step_rx(const struct gagg_hosted *x, struct gagg_join_dgram *d)
{
	enum gagg_drop why;
	u32 types;
	u64 at;

	d->random = epoch_random();
	epoch_lock_join(&x->host);
	d->now = epoch_now_ns();
	at = gagg_join_deadline(x->join, x->g);
	why = gagg_join_rx(x->join, x->g, d);
	types = gagg_due_collect(x->due, x->join);
	if (types || gagg_join_deadline(x->join, x->g) != at)
		epoch_call(&x->host, types);
	epoch_unlock_join(&x->host);
	return why;
}

/* a group on one host needs no message: its timer starts the epoch */
static inline void gagg_step_attach(const struct gagg_hosted *x, u32 rank)
{
	epoch_lock_join(&x->host);
	gagg_join_attach(x->join, x->g, rank, epoch_now_ns());
	gagg_step_collect(x);
	epoch_unlock_join(&x->host);
	gagg_step_timer(x);
}

static inline void gagg_step_leave(const struct gagg_hosted *x, u32 rank, u32 reason)
{
	epoch_lock_join(&x->host);
	gagg_join_leave(x->join, x->g, rank, reason, epoch_now_ns());
	gagg_step_collect(x);
	epoch_unlock_join(&x->host);
}

static inline void gagg_step_end(const struct gagg_hosted *x, const struct gagg_end *end)
{
	epoch_lock_join(&x->host);
	gagg_join_end(x->join, x->g, end, epoch_now_ns());
	gagg_step_collect(x);
	epoch_unlock_join(&x->host);
}

/* the least MTU of the interfaces to all others; 0: it is not known of any */
static inline u32 gagg_step_mtu(const struct gagg_hosted *x)
{
	u32 n, least = gagg_geom_all(x->g) ? epoch_mtu(&x->host, GAGG_TO_ALL) : 0;

	for (n = 0; n < x->g->nodes; n++)
		if (n != x->g->self)
			least = gagg_wire_lesser(least, epoch_mtu(&x->host, n));
	return least;
}

/*
 * The most lanes that fit the MTUs of this host: read before a HELLO, which tells it to others.
 * That is one a second, and one when an epoch has ended because a chunk did not fit. true: MTUs
 * were read, which may need many calls.
 */
static inline bool gagg_step_limit(const struct gagg_hosted *x)
{
	bool hello;
	u32 mtu;

	if (!x->g->automatic)
		return false;
	epoch_lock_join(&x->host);
	hello = x->due->nodes[GAGG_JOIN_SEND_HELLO];
	epoch_unlock_join(&x->host);
	if (!hello)
		return false;
	mtu = gagg_step_mtu(x);
	if (!mtu)
		return true;
	epoch_lock_join(&x->host);
	gagg_join_limit(x->join, x->g, gagg_wire_fit(mtu, x->g->v6), epoch_now_ns());
	gagg_step_collect(x);
	epoch_unlock_join(&x->host);
	return true;
}

/* what was said on a shard, and is not counted yet */
struct gagg_tally {
	u32 left;
	u32 failed;
	u64 bytes;
	bool unfit;
};

static inline enum gagg_fate gagg_step_send(const struct gagg_host *h, u32 s, u32 node,
					    const struct gagg_word *w, struct gagg_tally *tally)
{
	enum gagg_fate fate = epoch_send(h, s, node, w);

	if (fate == GAGG_FATE_LEFT) {
		tally->left++;
		tally->bytes += GAGG_WIRE_HDRLEN + w->m.len;
	} else {
		tally->failed++;
		tally->unfit |= fate == GAGG_FATE_UNFIT;
	}
	return fate;
}

static inline void gagg_step_count(const struct gagg_hosted *x, const struct gagg_tally *tally)
{
	u32 s;

	for (s = 0; s < x->g->shards; s++) {
		if (!tally[s].left && !tally[s].failed)
			continue;
		epoch_lock_shard(&x->host, s);
		gagg_stats_sent(epoch_stats(&x->host, s), tally[s].left, tally[s].bytes);
		gagg_stats_failed(epoch_stats(&x->host, s), tally[s].failed, tally[s].unfit);
		epoch_unlock_shard(&x->host, s);
	}
}

/*
 * A datagram is made under the lock, and sent without it. One that was sent a moment ago is not
 * sent again. With a HELLO this is found out before it is made: one that is made counts as said.
 * The next HELLO claims SENT only if for those as long as a chunk there was room on all shards. One
 * that the interface refuses counts: it does not pass, and the next ones will not. @tally: by shard
 */
static inline void gagg_step_say(const struct gagg_hosted *x, u8 type, u32 node,
				 struct gagg_tally *tally)
{
	bool wide = type == GAGG_JOIN_SEND_WIDE, sent = true;
	const struct gagg_host *h = &x->host;
	struct gagg_word w;

	if (type == GAGG_JOIN_SEND_HELLO && epoch_is_said(h, 0, node, false))
		return;
	epoch_lock_join(h);
	gagg_join_say(x->join, x->g, type, node, &w);
	epoch_unlock_join(h);
	for (; w.shards; w.shards &= w.shards - 1) {
		enum gagg_fate fate = GAGG_FATE_NO_ROOM;
		u32 s = gagg_lowest(w.shards);

		if (!wide || !epoch_is_said(h, s, node, true))
			fate = gagg_step_send(h, s, node, &w, &tally[s]);
		sent &= fate != GAGG_FATE_NO_ROOM;
	}
	if (!wide || !sent)
		return;
	epoch_lock_join(h);
	gagg_join_sent(x->join, node);
	epoch_unlock_join(h);
}

/*
 * In the order of gagg_due_next(). It is counted when all has been said: a shard may keep its lock
 * for long, and no HELLO waits for that.
 */
static inline void gagg_step_say_all(const struct gagg_hosted *x, struct gagg_due *taken)
{
	struct gagg_tally tally[GAGG_SHARDS_MAX] = { 0 };
	u32 node;
	u8 type;

	while ((type = gagg_due_next(taken, &node)) != GAGG_JOIN_TYPES)
		gagg_step_say(x, type, node, tally);
	gagg_step_count(x, tally);
}

/*
 * Says what is due of @types, GAGG_DUE_*, and returns which of these were due. None is any more:
 * the caller does what is not said, namely follows, or tells the news.
 */
static inline u32 gagg_step_speak(const struct gagg_hosted *x, u32 types)
{
	struct gagg_due taken;

	epoch_lock_join(&x->host);
	types = gagg_due_take(x->due, types, &taken);
	epoch_unlock_join(&x->host);
	gagg_step_say_all(x, &taken);
	return types;
}

/* @ranks of those that are attached have no epoch any more; the group is locked */
static inline void gagg_step_tell_ended(const struct gagg_hosted *x, u64 ranks, u32 reason)
{
	for (; ranks; ranks &= ranks - 1) {
		u32 rank = gagg_lowest(ranks);

		if (!gagg_state_is_attached(epoch_state(&x->host, rank)))
			continue;
		gagg_table_spend(x->table);
		epoch_tell_ended(&x->host, rank, reason);
	}
}

/*
 * The group is locked. Shards stop and channels go under the same locks: no shard looks at a
 * channel that is gone. Sessions are told before channels are given back.
 */
static inline void gagg_step_over(const struct gagg_hosted *x, const struct gagg_end *end)
{
	struct gagg_site *gone[GAGG_CHANNELS_MAX];
	const struct gagg_host *h = &x->host;
	u64 epoch = *x->epoch;
	u32 n, s;

	epoch_lock(h);
	for (s = 0; s < x->g->shards; s++)
		gagg_shard_stop(epoch_shard(h, s));
	epoch_trace_over(h);
	x->g->lanes = x->g->room;
	n = epoch_unlink(h, gone);
	epoch_unlock(h);
	*x->epoch = 0;
	gagg_step_tell_ended(x, x->g->ranks_of[x->g->self], end->reason);
	while (n)
		epoch_give(h, gone[--n]);
	epoch_is_over(h, epoch, end);
}

/*
 * The group is locked. Sessions are told when the shards run: a trainer may submit an op at once.
 * 0, or a negative errno: there is no memory for the channel, and nothing has begun.
 */
static inline int gagg_step_begin(const struct gagg_hosted *x, const struct gagg_step *step)
{
	const struct gagg_host *h = &x->host;
	u32 s, trip[GAGG_NODES];
	struct gagg_site *site;
	u64 left;
	int err;

	err = epoch_channel(h, &site);
	if (err)
		return err;
	gagg_site_begin(site, step->epoch);
	epoch_lock_join(h);
	gagg_join_trips(x->join, x->g, trip);
	epoch_unlock_join(h);
	epoch_lock(h);
	x->g->lanes = step->lanes;
	for (s = 0; s < x->g->shards; s++) {
		gagg_shard_start(epoch_shard(h, s), x->g, step->epoch, step->cookie);
		gagg_shard_trips(epoch_shard(h, s), x->g, trip);
	}
	epoch_trace_begun(h, step, site, trip);
	epoch_unlock(h);
	*x->epoch = step->epoch;
	++*x->epochs;
	for (left = x->g->ranks_of[x->g->self]; left; left &= left - 1)
		if (epoch_state(h, gagg_lowest(left)) == GAGG_S_ATTACHED)
			epoch_tell_runs(h, gagg_lowest(left), step->epoch);
	epoch_begun(h, step);
	return 0;
}

/*
 * gagg_step_follow - the group comes to where its join object is
 * @x:	the group, which is locked
 * @dead: as of gagg_follow()
 * @step: out: what was done. Without memory no rank can train in the epoch: it ends, and
 *	@step->epoch is 0
 *
 * Return: 0 or a negative errno.
 */
static inline int gagg_step_follow(const struct gagg_hosted *x, bool dead, struct gagg_step *step)
{
	const struct gagg_end no_memory = gagg_end_here(x->g, GAGG_R_ADMIN);
	struct gagg_due taken;
	int err;

	epoch_lock_join(&x->host);
	gagg_due_take(x->due, GAGG_DUE_FOLLOW, &taken);
	gagg_follow(x->join, x->g, *x->epoch, dead, step);
	epoch_unlock_join(&x->host);
	if (step->over)
		gagg_step_over(x, &step->end);
	gagg_step_tell_ended(x, step->never, step->end.reason);
	if (!step->epoch)
		return 0;
	err = gagg_step_begin(x, step);
	if (err) {
		step->epoch = 0;
		gagg_step_end(x, &no_memory);
	}
	return err;
}

/* what was due is said in the last words, or concerns nobody any more */
static inline void gagg_step_last_words(const struct gagg_hosted *x)
{
	struct gagg_due taken, words;
	u32 i;

	epoch_lock_join(&x->host);
	gagg_due_take(x->due, GAGG_DUE_ALL, &words);
	gagg_follow_last_words(x->join, &words);
	epoch_unlock_join(&x->host);
	for (i = 0; i < GAGG_LAST_WORDS; i++) {
		taken = words;
		gagg_step_say_all(x, &taken);
	}
}

/*
 * The group is deleted: gagg_join_delete(), and others are told, since nobody will repeat it. A
 * host that hears none of that notices the silence. Under the lock of the group. @step: what was
 * done
 */
static inline void gagg_step_delete(const struct gagg_hosted *x, struct gagg_step *step)
{
	const struct gagg_end end = gagg_end_here(x->g, GAGG_R_DELETED);

	epoch_lock_join(&x->host);
	gagg_join_delete(x->join, x->g, &end, epoch_now_ns());
	gagg_step_collect(x);
	epoch_unlock_join(&x->host);
	gagg_step_follow(x, true, step);
	gagg_step_last_words(x);
}

#endif
