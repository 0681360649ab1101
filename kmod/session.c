// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions: from open to the end.
 *
 * A seat is entered into its channel, and removed from it, under group.lock and all port locks, so
 * a poll sees it whole or not at all. When a rank leaves a running epoch, the shards stop under the
 * same locks before its seat goes: a result that needs its contribution is never computed without
 * it.
 */
#include <linux/capability.h>
#include <linux/errno.h>
#include <linux/nsproxy.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include "channel.h"
#include "core/refusal.h"
#include "endpoint.h"
#include "epoch.h"
#include "group.h"
#include "memory.h"
#include "netns.h"
#include "op.h"
#include "session.h"
#include "trace.h"
#include "uring.h"

static void session_seat_release(struct kref *ref)
{
	struct gagg_seat *seat = container_of(ref, struct gagg_seat, ref);

	gagg_mem_free(&seat->push);
	gagg_mem_free(&seat->contrib);
	gagg_mem_free(&seat->copy);
	gagg_channel_put(seat->channel);
	kfree(seat);
}

void gagg_seat_put(struct gagg_seat *seat)
{
	if (seat)
		kref_put(&seat->ref, session_seat_release);
}

struct gagg_seat *gagg_seat_find(struct gagg_session *ses, u32 channel)
{
	int place = gagg_table_find(&ses->table, channel);

	return place < 0 ? NULL : ses->seat[place];
}

struct gagg_mem *gagg_seat_region(struct gagg_seat *seat, u32 region)
{
	switch (region) {
	case GAGG_REG_PUSH:
		return &seat->push;
	case GAGG_REG_CONTRIB:
		return &seat->contrib;
	case GAGG_REG_DONE:
		return &seat->channel->mem[GAGG_SHARED_DONE];
	default:
		/* chunks of a store are read by ops: only the copy is mapped */
		return seat->copy.npages ? &seat->copy : &seat->channel->mem[GAGG_SHARED_RESULT];
	}
}

static int session_seat_alloc(const struct gagg_geom *g, struct gagg_seat *seat)
{
	struct gagg_layout l;
	int err;

	gagg_layout_of(g, seat->channel->site.part[0], &l);
	err = gagg_mem_alloc(&seat->contrib, l.contrib);
	if (!err && l.copy)
		err = gagg_mem_alloc(&seat->copy, l.copy);
	if (!err)
		err = gagg_mem_alloc(&seat->push, l.push);
	return err;
}

/* group.lock held */
static int session_seat_take(struct gagg_session *ses, struct gagg_channel *ch)
{
	struct gagg_group *grp = ses->group;
	struct gagg_seat *seat;
	int err;

	seat = kzalloc(sizeof(*seat), GFP_KERNEL_ACCOUNT);
	if (!seat)
		return -ENOMEM;
	kref_init(&seat->ref);
	kref_get(&ch->ref);
	seat->channel = ch;
	err = gagg_ledger_init(&seat->ops, ch->site.part[0], ses->rank) ?
	      session_seat_alloc(&grp->geom, seat) : -EINVAL;
	if (err) {
		gagg_seat_put(seat);
		return err;
	}
	gagg_group_lock_ports(grp);
	ch->seat[seat->ops.local] = seat;
	ch->session[seat->ops.local] = ses;
	ch->site.lent[seat->ops.local] = (struct gagg_lent){
		.push = seat->push.block,
		.contrib = seat->contrib.block,
		.copy = seat->copy.block,
	};
	gagg_group_unlock_ports(grp);
	ses->seat[ch->site.index] = seat;
	gagg_table_enter(&ses->table, ch->site.index, ch->id);
	return 0;
}

/*
 * group.lock held. A group without ports is seen by no poll.
 * @stop: a rank leaves an epoch
 */
static void session_seat_leave(struct gagg_session *ses, u32 index, bool stop)
{
	struct gagg_seat *seat = ses->seat[index];
	struct gagg_group *grp = ses->group;
	u32 s;

	if (!grp->portless)
		gagg_group_lock_ports(grp);
	for (s = 0; stop && s < grp->cfg.shards; s++)
		gagg_shard_stop(grp->part[s].core);
	if (stop)
		trace_gagg_stop(&grp->geom);
	WRITE_ONCE(seat->dead, true);
	seat->channel->seat[seat->ops.local] = NULL;
	seat->channel->session[seat->ops.local] = NULL;
	seat->channel->site.lent[seat->ops.local] = (struct gagg_lent){ };
	if (!grp->portless)
		gagg_group_unlock_ports(grp);
	ses->seat[index] = NULL;
	gagg_table_leave(&ses->table, index);
	wake_up_all(&ses->wq);
	wake_up_all(&ses->chunk_wq);
	gagg_seat_put(seat);
}

/* group.lock held */
static void session_leave_all(struct gagg_session *ses, bool stop)
{
	while (ses->table.taken)
		session_seat_leave(ses, gagg_lowest(ses->table.taken), stop);
}

/* session.lock and group.lock held; -ESTALE: the group has died since it was found */
static int session_bind_locked(struct gagg_session *ses, struct gagg_group *grp, u32 rank)
{
	const struct gagg_member *member = &grp->cfg.member[rank];

	if (grp->dead)
		return -ESTALE;
	if (!member->present || !member->local || !(member->roles & GAGG_ROLE_WORKER))
		return -EINVAL;
	if (grp->session[rank])
		return -EBUSY;
	grp->session[rank] = ses;
	ses->rank = rank;
	WRITE_ONCE(ses->group, gagg_group_get(grp));
	WRITE_ONCE(ses->state, GAGG_S_BOUND);
	return 0;
}

static int session_bind(struct gagg_session *ses, struct gagg_group *grp, u32 rank)
{
	int err = -EBUSY;

	if (mutex_lock_interruptible(&ses->lock))
		return -EINTR;
	if (!ses->group) {
		mutex_lock(&grp->lock);
		err = session_bind_locked(ses, grp, rank);
		mutex_unlock(&grp->lock);
	}
	mutex_unlock(&ses->lock);
	return err;
}

/* the group of that name, with a reference, or NULL */
static struct gagg_group *session_group_look_up(struct gagg_net *gn, const char *name)
{
	struct gagg_group *grp;

	mutex_lock(&gn->lock);
	grp = gagg_group_find(gn, name);
	if (grp)
		gagg_group_get(grp);
	mutex_unlock(&gn->lock);
	return grp;
}

/*
 * The group is looked up before the session is locked: a task that holds gagg_net.lock may wait for
 * rtnl_lock, a holder of that for mmap_lock, and a holder of that, in mmap(), for session.lock. If
 * the group has died since, there may be another one of its name.
 */
int gagg_session_open(struct gagg_session *ses, const struct gagg_ioc_open *arg)
{
	struct net *net = current->nsproxy->net_ns;
	struct gagg_group *grp;
	int err;

	if (!ns_capable(net->user_ns, CAP_NET_ADMIN))
		return -EPERM;
	/* it is set once. If it is set after this look, session_bind() finds out */
	if (READ_ONCE(ses->group))
		return -EBUSY;
	if (strnlen(arg->name, sizeof(arg->name)) == sizeof(arg->name) ||
	    arg->rank >= GAGG_RANKS)
		return -EINVAL;
	do {
		grp = session_group_look_up(gagg_net_of(net), arg->name);
		if (!grp)
			return -ENOENT;
		err = session_bind(ses, grp, arg->rank);
		gagg_group_put(grp);
	} while (err == -ESTALE);
	return err;
}

/* group.lock held */
static void session_seat_geometry(struct gagg_session *ses, struct gagg_seat *seat,
				  struct gagg_geometry *geo)
{
	const struct gagg_channel *ch = seat->channel;
	const struct gagg_group *grp = ses->group;
	u32 i;

	gagg_layout_tell(&grp->geom, ch->site.part[0], ch->site.index, ses->rank, geo);
	geo->epoch = grp->epoch;
	for (i = 0; i < GAGG_REG_COUNT; i++)
		geo->region[i].length = (u64)gagg_seat_region(seat, i)->npages << PAGE_SHIFT;
}

/* the times of the epoch that begins; those of the last one could be read until now */
static void session_times_begin(struct gagg_session *ses)
{
	struct gagg_group *grp = ses->group;

	spin_lock_bh(&grp->times_lock);
	memset(&grp->times[ses->rank], 0, sizeof(grp->times[ses->rank]));
	spin_unlock_bh(&grp->times_lock);
}

static void session_times_end(struct gagg_session *ses)
{
	struct gagg_group *grp = ses->group;

	spin_lock_bh(&grp->times_lock);
	gagg_times_end(&grp->times[ses->rank], ktime_get_ns());
	spin_unlock_bh(&grp->times_lock);
}

static int session_attach_locked(struct gagg_session *ses, struct gagg_ioc_attach *arg)
{
	struct gagg_group *grp = ses->group;
	struct gagg_site *site;
	int err;

	/* the group is dead, or the rank was lost: see gagg_session_orphan() */
	if (grp->dead || grp->session[ses->rank] != ses)
		return -ESTALE;
	if (gagg_session_attached(ses))
		return -EBUSY;
	/* the caller has flushed the epoch work: no epoch can have begun without us since */
	if (WARN_ON_ONCE(grp->epoch))
		return -EBUSY;
	session_leave_all(ses, false);
	err = gagg_channel_fresh(grp, &site);
	if (err)
		return err;
	err = session_seat_take(ses, gagg_channel_of(site));
	if (err) {
		gagg_channel_trim(grp);
		return err;
	}
	arg->ranks = hweight64(grp->geom.workers);
	session_seat_geometry(ses, ses->seat[0], &arg->geo);
	atomic64_set(&ses->unread, 0);
	session_times_begin(ses);
	WRITE_ONCE(ses->owner, current->files);
	WRITE_ONCE(ses->epoch, 0);
	WRITE_ONCE(ses->state, GAGG_S_ATTACHED);
	gagg_epoch_attach(grp, ses->rank);
	return 0;
}

int gagg_session_attach(struct gagg_session *ses, struct gagg_ioc_attach *arg)
{
	struct gagg_group *grp = ses->group;
	int err;

	if (!grp)
		return -ENOTCONN;
	/* the group is incomplete: it has no epoch work either */
	if (!grp->ep)
		return READ_ONCE(grp->dead) ? -ESTALE : -ENOTCONN;
	/* a rank of this host may have left an epoch: wait until it has ended here */
	flush_work(&grp->epoch_work);
	if (mutex_lock_killable(&grp->lock))
		return -EINTR;
	err = session_attach_locked(ses, arg);
	mutex_unlock(&grp->lock);
	return err;
}

int gagg_session_detach(struct gagg_session *ses, u32 reason)
{
	struct gagg_group *grp = ses->group;
	bool attached;

	if (!grp || ses->state == GAGG_S_BOUND)
		return -ENOTCONN;
	mutex_lock(&grp->lock);
	attached = gagg_session_attached(ses);
	WRITE_ONCE(ses->state, GAGG_S_BOUND);
	if (attached && !grp->dead)
		gagg_epoch_leave(grp, ses->rank, reason);
	session_leave_all(ses, attached);
	if (attached)
		session_times_end(ses);
	gagg_channel_trim(grp);
	mutex_unlock(&grp->lock);
	/* without an epoch that ends, nothing else would wake the waiters */
	wake_up_all(&grp->wq);
	gagg_uring_complete(ses, -ECANCELED);
	return 0;
}

/*
 * The trainer has died, and a forked child still has its file. The rank becomes free for another
 * session; this file can no longer be used.
 */
void gagg_session_orphan(struct gagg_session *ses)
{
	struct gagg_group *grp = ses->group;

	gagg_session_detach(ses, GAGG_R_DIED);
	mutex_lock(&grp->lock);
	if (grp->session[ses->rank] == ses)
		grp->session[ses->rank] = NULL;
	mutex_unlock(&grp->lock);
}

void gagg_session_release(struct gagg_session *ses)
{
	struct gagg_group *grp = ses->group;

	if (!grp)
		return;
	gagg_session_orphan(ses);
	gagg_group_put(grp);
}

int gagg_session_running(const struct gagg_session *ses)
{
	switch (READ_ONCE(ses->state)) {
	case GAGG_S_RUNNING:
		return 0;
	case GAGG_S_ENDED:
		return -EPIPE;
	default:
		return -ENOTCONN;
	}
}

static int session_channel_locked(struct gagg_session *ses, struct gagg_ioc_channel *arg)
{
	struct gagg_group *grp = ses->group;
	struct gagg_channel *ch;
	struct gagg_site *site;
	int err;

	err = gagg_session_running(ses);
	if (err)
		return err;
	ch = gagg_channel_find(grp, arg->channel);
	if (!ch) {
		err = gagg_channel_create(grp, arg->channel, arg->members, &site);
		if (err)
			return err;
		ch = gagg_channel_of(site);
	}
	err = gagg_refusal_error(gagg_ledger_admits(ch->site.part[0], ses->rank, arg->members,
						    ses->seat[ch->site.index]));
	if (err)
		return err;
	err = session_seat_take(ses, ch);
	if (err)
		return err;
	session_seat_geometry(ses, ses->seat[ch->site.index], &arg->geo);
	return 0;
}

int gagg_session_channel(struct gagg_session *ses, struct gagg_ioc_channel *arg)
{
	struct gagg_group *grp = ses->group;
	int err;

	if (!grp)
		return -ENOTCONN;
	err = gagg_refusal_error(gagg_ledger_asks(&grp->geom, ses->rank, arg->channel,
						  arg->members));
	if (err)
		return err;
	if (mutex_lock_killable(&grp->lock))
		return -EINTR;
	err = session_channel_locked(ses, arg);
	mutex_unlock(&grp->lock);
	return err;
}

/* the channel stays: late members may still ask for its results */
int gagg_session_channel_free(struct gagg_session *ses, u32 id)
{
	struct gagg_seat *seat = id ? gagg_seat_find(ses, id) : NULL;

	if (!id)
		return -EINVAL;
	if (!seat)
		return -ENOENT;
	if (gagg_ledger_busy(&seat->ops) && !gagg_session_running(ses))
		return -EBUSY;
	mutex_lock(&ses->group->lock);
	session_seat_leave(ses, seat->channel->site.index, false);
	mutex_unlock(&ses->group->lock);
	return 0;
}

/* group.lock held */
void gagg_session_started(struct gagg_session *ses, u64 epoch)
{
	if (ses->state != GAGG_S_ATTACHED)
		return;
	WRITE_ONCE(ses->epoch, epoch);
	WRITE_ONCE(ses->state, GAGG_S_RUNNING);
	gagg_uring_complete(ses, 0);
}

/*
 * Calls are refused as soon as the group is marked dead. The end of its epoch, or that there will
 * be none, follows in gagg_epoch_stop().
 */
void gagg_session_status(struct gagg_session *ses, struct gagg_ioc_status *st)
{
	const struct gagg_group *grp = ses->group;
	bool ended;

	gagg_epoch_status(ses->group, st);
	ended = st->reason && st->epoch == READ_ONCE(ses->epoch);
	if (ended || !READ_ONCE(grp->dead))
		return;
	st->phase = GAGG_PHASE_IDLE;
	st->reason = GAGG_R_DELETED;
	st->rank = gagg_lowest(grp->geom.ranks_of[grp->geom.self]);
	st->other = 0;
	st->sig = 0;
	st->other_sig = 0;
	st->call = 0;
	st->other_call = 0;
}

/* group.lock held */
void gagg_session_ended(struct gagg_session *ses, u32 reason)
{
	u64 left;

	if (!gagg_session_attached(ses))
		return;
	gagg_table_spend(&ses->group->table);
	for (left = ses->table.taken; left; left &= left - 1) {
		const struct gagg_seat *seat = ses->seat[gagg_lowest(left)];

		gagg_site_fail(&seat->channel->site, reason);
	}
	WRITE_ONCE(ses->state, GAGG_S_ENDED);
	session_times_end(ses);
	wake_up_all(&ses->wq);
	wake_up_all(&ses->chunk_wq);
	gagg_uring_complete(ses, -EPIPE);
}
