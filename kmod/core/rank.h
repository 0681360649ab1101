/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A rank of this host has a session: it attaches, asks for channels, is told of an epoch, and
 * leaves.
 *
 * One source of each host includes this, as of act.h: it defines struct gagg_host, the session on
 * whose behalf it is, before, and after it the functions that are only declared here. The host has
 * the memory of seats, counts who refers to one, and has an array of seats by place.
 *
 * The caller holds the lock of the group, under which its sessions and tables are changed. Those of
 * the shards are requested where no shard may look.
 */
#ifndef GAGG_CORE_RANK_H
#define GAGG_CORE_RANK_H

#include "session.h"
#include "layout.h"
#include "refusal.h"
#include "site.h"
#include "table.h"

/**
 * struct gagg_tenant - the session of a local rank
 * @host:	whose it is
 * @g:		geometry of the group
 * @rank:	of the session
 * @table:	places of channels of which it has a seat
 * @epoch:	the epoch that runs here; 0: none
 */
struct gagg_tenant {
	struct gagg_host host;
	const struct gagg_geom *g;
	u32 rank;
	struct gagg_table *table;
	u64 epoch;
};

/* a trainer that reads the new state sees what was written before */
static enum gagg_session_state session_state(const struct gagg_host *h);
static void session_set_state(const struct gagg_host *h, enum gagg_session_state state);

/* of all shards */
static void session_lock(const struct gagg_host *h);
static void session_unlock(const struct gagg_host *h);
static struct gagg_shard *session_shard(const struct gagg_host *h, u32 s);
/* a rank has left an epoch; all shards are locked, and have stopped */
static void session_trace_stop(const struct gagg_host *h);

/* of the group: gagg_sites_fresh(), _create(), _trim(); the channel of that id, or NULL */
static int session_fresh(const struct gagg_host *h, struct gagg_site **site);
static int session_create(const struct gagg_host *h, u32 id, u64 members,
			  struct gagg_site **site);
static void session_trim(const struct gagg_host *h);
static struct gagg_site *session_find(const struct gagg_host *h, u32 id);

/*
 * New makes a seat of local rank @local, all zero, with the regions of @l that are its own: @lent.
 * 0 or a negative errno. It has its place already. Gone empties the place, after the seat was taken
 * away; waiters are woken.
 */
static int session_seat_new(const struct gagg_host *h, struct gagg_site *site, u32 local,
			    const struct gagg_layout *l, struct gagg_lent *lent);
static void session_seat_gone(const struct gagg_host *h, u32 place);
static struct gagg_site *session_seat_site(const struct gagg_host *h, u32 place);
static struct gagg_ledger *session_seat_ops(const struct gagg_host *h, u32 place);
static u64 session_seat_length(const struct gagg_host *h, u32 place, u32 region);
/* shards find the seat by its channel, or no longer: all are locked */
static void session_seat_enter(const struct gagg_host *h, u32 place);
static void session_seat_leave(const struct gagg_host *h, u32 place);

/* nothing was submitted, nothing is to be told; the times of an epoch begin, or end */
static void session_reset(const struct gagg_host *h);
static void session_times_begin(const struct gagg_host *h);
static void session_times_end(const struct gagg_host *h);
/* gagg_step_attach(), gagg_step_leave() */
static void session_join(const struct gagg_host *h);
static void session_part(const struct gagg_host *h, u32 reason);

/* A poll sees a seat whole or not at all. 0 or a negative errno. */
static inline int gagg_rank_take(const struct gagg_tenant *x, struct gagg_site *site)
{
	const struct gagg_host *h = &x->host;
	u32 place = site->index;
	struct gagg_ledger ops;
	struct gagg_layout l;
	struct gagg_lent lent;
	int err;

	if (!gagg_ledger_init(&ops, site->part[0], x->rank))
		return gagg_refusal_error(GAGG_REFUSE_BAD);
	gagg_layout_of(x->g, site->part[0], &l);
	memset(&lent, 0, sizeof(lent));
	err = session_seat_new(h, site, ops.local, &l, &lent);
	if (err)
		return err;
	*session_seat_ops(h, place) = ops;
	session_lock(h);
	session_seat_enter(h, place);
	site->lent[ops.local] = lent;
	session_unlock(h);
	gagg_table_enter(x->table, place, site->part[0]->id);
	return 0;
}

/* all shards are locked: afterwards none of them finds the seat, or its memory */
static inline void gagg_rank_unlink(const struct gagg_tenant *x, u32 place)
{
	struct gagg_site *site = session_seat_site(&x->host, place);
	u32 local = session_seat_ops(&x->host, place)->local;

	session_seat_leave(&x->host, place);
	memset(&site->lent[local], 0, sizeof(site->lent[local]));
}

static inline void gagg_rank_gone(const struct gagg_tenant *x, u32 place)
{
	gagg_table_leave(x->table, place);
	session_seat_gone(&x->host, place);
}

/*
 * All seats go.
 * @stop: the rank leaves an epoch. The shards stop under the same locks, before a seat goes: a
 *	result that needs its contribution is never computed without it
 */
static inline void gagg_rank_leave_seats(const struct gagg_tenant *x, bool stop)
{
	const struct gagg_host *h = &x->host;
	u32 s, place;

	while (x->table->taken) {
		place = gagg_lowest(x->table->taken);
		session_lock(h);
		for (s = 0; stop && s < x->g->shards; s++)
			gagg_shard_stop(session_shard(h, s));
		if (stop)
			session_trace_stop(h);
		gagg_rank_unlink(x, place);
		session_unlock(h);
		gagg_rank_gone(x, place);
	}
}

/* describes the channel at @place to its trainer */
static inline void gagg_rank_tell(const struct gagg_tenant *x, u32 place,
				  struct gagg_geometry *geo)
{
	const struct gagg_site *site = session_seat_site(&x->host, place);
	u32 i;

	gagg_layout_tell(x->g, site->part[0], place, x->rank, geo);
	geo->epoch = x->epoch;
	for (i = 0; i < GAGG_REG_COUNT; i++)
		geo->region[i].length = session_seat_length(&x->host, place, i);
}

/*
 * GAGG_IOC_ATTACH, while no epoch runs here. Seats of the last one go. The rank joins when it has
 * its state: the epoch may begin at once. 0 or a negative errno: BUSY, or for lack of memory.
 */
static inline int gagg_rank_attach(const struct gagg_tenant *x, struct gagg_ioc_attach *arg)
{
	const struct gagg_host *h = &x->host;
	struct gagg_site *site;
	int err;

	if (gagg_state_is_attached(session_state(h)))
		return gagg_refusal_error(GAGG_REFUSE_BUSY);
	gagg_rank_leave_seats(x, false);
	err = session_fresh(h, &site);
	if (err)
		return err;
	err = gagg_rank_take(x, site);
	if (err) {
		session_trim(h);
		return err;
	}
	session_reset(h);
	arg->ranks = gagg_weight64(x->g->workers);
	gagg_rank_tell(x, 0, &arg->geo);
	session_times_begin(h);
	session_set_state(h, GAGG_S_ATTACHED);
	session_join(h);
	return 0;
}

/*
 * GAGG_IOC_DETACH, or the trainer has died: the rank leaves the epoch, if it is attached, for
 * @reason, and gives all seats back. 0 or a negative errno: IDLE.
 */
static inline int gagg_rank_detach(const struct gagg_tenant *x, u32 reason)
{
	const struct gagg_host *h = &x->host;
	bool attached = gagg_state_is_attached(session_state(h));

	if (session_state(h) == GAGG_S_BOUND)
		return gagg_refusal_error(GAGG_REFUSE_IDLE);
	session_set_state(h, GAGG_S_BOUND);
	if (attached)
		session_part(h, reason);
	gagg_rank_leave_seats(x, attached);
	if (attached)
		session_times_end(h);
	session_trim(h);
	return 0;
}

/*
 * GAGG_IOC_CHANNEL, in an epoch; makes the channel if need be. 0 or a negative errno: BAD; IDLE,
 * STOPPED; MEMBERS, AGAIN, or for lack of memory and places.
 */
static inline int gagg_rank_channel(const struct gagg_tenant *x, struct gagg_ioc_channel *arg)
{
	const struct gagg_host *h = &x->host;
	struct gagg_site *site;
	int err;

	err = gagg_refusal_error(gagg_ledger_asks(x->g, x->rank, arg->channel, arg->members));
	if (!err)
		err = gagg_refusal_error(gagg_state_runs(session_state(h)));
	if (err)
		return err;
	site = session_find(h, arg->channel);
	if (!site)
		err = session_create(h, arg->channel, arg->members, &site);
	if (!err)
		err = gagg_refusal_error(gagg_ledger_admits(site->part[0], x->rank, arg->members,
							    x->table->taken &
							    GAGG_BIT(site->index)));
	if (!err)
		err = gagg_rank_take(x, site);
	if (!err)
		gagg_rank_tell(x, site->index, &arg->geo);
	return err;
}

/*
 * The place of a channel that is to be given back: never 0, where that of all ranks is. Or a
 * negative errno: BAD, NONE.
 */
static inline int gagg_rank_place(const struct gagg_table *t, u32 id)
{
	int place = gagg_table_find(t, id);

	if (!id)
		return gagg_refusal_error(GAGG_REFUSE_BAD);
	return place < 0 ? gagg_refusal_error(GAGG_REFUSE_NONE) : place;
}

/*
 * GAGG_IOC_CHANNEL_FREE. The channel stays: late members may still ask for its results. A trainer
 * may submit an op meanwhile, so ops are looked for under the locks under which the seat goes.
 * 0 or a negative errno: as gagg_rank_place(); BUSY.
 */
static inline int gagg_rank_free(const struct gagg_tenant *x, u32 id)
{
	const struct gagg_host *h = &x->host;
	int place = gagg_rank_place(x->table, id);
	bool busy;

	if (place < 0)
		return place;
	session_lock(h);
	busy = gagg_ledger_busy(session_seat_ops(h, (u32)place)) &&
	       !gagg_state_runs(session_state(h));
	if (!busy)
		gagg_rank_unlink(x, (u32)place);
	session_unlock(h);
	if (busy)
		return gagg_refusal_error(GAGG_REFUSE_BUSY);
	gagg_rank_gone(x, (u32)place);
	return 0;
}

/* an epoch runs, which the rank has attached for */
static inline void gagg_rank_started(const struct gagg_tenant *x)
{
	session_set_state(&x->host, GAGG_S_RUNNING);
}

/*
 * The epoch of an attached rank is over, or will never be. Its times end first: a trainer that
 * finds the new state finds them whole.
 */
static inline void gagg_rank_ended(const struct gagg_tenant *x, u32 reason)
{
	const struct gagg_host *h = &x->host;
	u64 left;

	for (left = x->table->taken; left; left &= left - 1)
		gagg_site_fail(session_seat_site(h, gagg_lowest(left)), reason);
	session_times_end(h);
	session_set_state(h, GAGG_S_ENDED);
}

#endif
