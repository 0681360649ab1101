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
#include <linux/err.h>
#include <linux/nospec.h>
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

struct gagg_host {
	struct gagg_session *ses;
};

#include "core/rank.h"

/* group.lock held */
static struct gagg_tenant session_tenant(struct gagg_session *ses)
{
	return (struct gagg_tenant){
		.host.ses = ses,
		.g = &ses->group->geom,
		.rank = ses->rank,
		.table = &ses->table,
		.epoch = ses->group->epoch,
	};
}

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
	switch (gagg_region_maps(region, seat->copy.npages)) {
	case GAGG_MAPPED_PUSH:
		return &seat->push;
	case GAGG_MAPPED_CONTRIB:
		return &seat->contrib;
	case GAGG_MAPPED_DONE:
		return &seat->channel->mem[GAGG_SHARED_DONE];
	case GAGG_MAPPED_COPY:
		return &seat->copy;
	default:
		return &seat->channel->mem[GAGG_SHARED_RESULT];
	}
}

static enum gagg_session_state session_state(const struct gagg_host *h)
{
	return h->ses->state;
}

static void session_set_state(const struct gagg_host *h, enum gagg_session_state state)
{
	gagg_tell(&h->ses->state, state);
}

/* a group without ports is seen by no poll */
static void session_lock(const struct gagg_host *h)
{
	if (!h->ses->group->portless)
		gagg_group_lock_ports(h->ses->group);
}

static void session_unlock(const struct gagg_host *h)
{
	if (!h->ses->group->portless)
		gagg_group_unlock_ports(h->ses->group);
}

static struct gagg_shard *session_shard(const struct gagg_host *h, u32 s)
{
	return h->ses->group->part[s].core;
}

static void session_trace_stop(const struct gagg_host *h)
{
	trace_gagg_stop(&h->ses->group->geom);
}

static int session_fresh(const struct gagg_host *h, struct gagg_site **site)
{
	return gagg_channel_fresh(h->ses->group, site);
}

static int session_create(const struct gagg_host *h, u32 id, u64 members,
			  struct gagg_site **site)
{
	return gagg_channel_create(h->ses->group, id, members, site);
}

static void session_trim(const struct gagg_host *h)
{
	gagg_channel_trim(h->ses->group);
}

static struct gagg_site *session_find(const struct gagg_host *h, u32 id)
{
	struct gagg_channel *ch = gagg_channel_find(h->ses->group, id);

	return ch ? &ch->site : NULL;
}

static int session_seat_alloc(struct gagg_seat *seat, const struct gagg_layout *l)
{
	int err;

	err = gagg_mem_alloc(&seat->contrib, l->contrib);
	if (!err && l->copy)
		err = gagg_mem_alloc(&seat->copy, l->copy);
	if (!err)
		err = gagg_mem_alloc(&seat->push, l->push);
	return err;
}

static int session_seat_new(const struct gagg_host *h, struct gagg_site *site, u32 local,
			    const struct gagg_layout *l, struct gagg_lent *lent)
{
	struct gagg_seat *seat;
	int err;

	seat = kzalloc(sizeof(*seat), GFP_KERNEL_ACCOUNT);
	if (!seat)
		return -ENOMEM;
	kref_init(&seat->ref);
	seat->channel = gagg_channel_of(site);
	kref_get(&seat->channel->ref);
	err = session_seat_alloc(seat, l);
	if (err) {
		gagg_seat_put(seat);
		return err;
	}
	lent->push = seat->push.block;
	lent->contrib = seat->contrib.block;
	lent->copy = seat->copy.block;
	h->ses->seat[site->index] = seat;
	return 0;
}

static void session_seat_gone(const struct gagg_host *h, u32 place)
{
	struct gagg_session *ses = h->ses;
	struct gagg_seat *seat = ses->seat[place];

	ses->seat[place] = NULL;
	wake_up_all(&ses->wq);
	wake_up_all(&ses->chunk_wq);
	gagg_seat_put(seat);
}

static struct gagg_site *session_seat_site(const struct gagg_host *h, u32 place)
{
	return &h->ses->seat[place]->channel->site;
}

static struct gagg_ledger *session_seat_ops(const struct gagg_host *h, u32 place)
{
	return &h->ses->seat[place]->ops;
}

static u64 session_seat_length(const struct gagg_host *h, u32 place, u32 region)
{
	return (u64)gagg_seat_region(h->ses->seat[place], region)->npages << PAGE_SHIFT;
}

static void session_seat_enter(const struct gagg_host *h, u32 place)
{
	struct gagg_seat *seat = h->ses->seat[place];

	seat->channel->seat[seat->ops.local] = seat;
	seat->channel->session[seat->ops.local] = h->ses;
}

static void session_seat_leave(const struct gagg_host *h, u32 place)
{
	struct gagg_seat *seat = h->ses->seat[place];

	WRITE_ONCE(seat->dead, true);
	seat->channel->seat[seat->ops.local] = NULL;
	seat->channel->session[seat->ops.local] = NULL;
}

static void session_reset(const struct gagg_host *h)
{
	atomic64_set(&h->ses->unread, 0);
	WRITE_ONCE(h->ses->owner, current->files);
	WRITE_ONCE(h->ses->epoch, 0);
}

static void session_times_begin(const struct gagg_host *h)
{
	gagg_op_times_begin(h->ses);
}

static void session_times_end(const struct gagg_host *h)
{
	gagg_op_times_end(h->ses);
}

static void session_join(const struct gagg_host *h)
{
	gagg_epoch_attach(h->ses->group, h->ses->rank);
}

static void session_part(const struct gagg_host *h, u32 reason)
{
	if (!h->ses->group->dead)
		gagg_epoch_leave(h->ses->group, h->ses->rank, reason);
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
	u32 rank;
	int err;

	if (!ns_capable(net->user_ns, CAP_NET_ADMIN))
		return -EPERM;
	/* it is set once. If it is set after this look, session_bind() finds out */
	if (READ_ONCE(ses->group))
		return -EBUSY;
	if (strnlen(arg->name, sizeof(arg->name)) == sizeof(arg->name) ||
	    arg->rank >= GAGG_RANKS)
		return -EINVAL;
	rank = array_index_nospec(arg->rank, GAGG_RANKS);
	do {
		grp = session_group_look_up(gagg_net_of(net), arg->name);
		if (!grp)
			return -ENOENT;
		err = session_bind(ses, grp, rank);
		gagg_group_put(grp);
	} while (err == -ESTALE);
	return err;
}

static int session_attach_locked(struct gagg_session *ses, struct gagg_ioc_attach *arg)
{
	const struct gagg_tenant tenant = session_tenant(ses);
	struct gagg_group *grp = ses->group;

	/* the group is dead, or the rank was lost: see gagg_session_orphan() */
	if (grp->dead || grp->session[ses->rank] != ses)
		return -ESTALE;
	/* the caller has flushed the epoch work: no epoch can have begun without us since */
	if (WARN_ON_ONCE(grp->epoch && !gagg_session_attached(ses)))
		return -EBUSY;
	return gagg_rank_attach(&tenant, arg);
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
	struct gagg_tenant tenant;
	int err;

	if (!grp)
		return -ENOTCONN;
	mutex_lock(&grp->lock);
	tenant = session_tenant(ses);
	err = gagg_rank_detach(&tenant, reason);
	mutex_unlock(&grp->lock);
	if (err)
		return err;
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
	return gagg_refusal_error(gagg_state_runs(READ_ONCE(ses->state)));
}

int gagg_session_channel(struct gagg_session *ses, struct gagg_ioc_channel *arg)
{
	struct gagg_group *grp = ses->group;
	struct gagg_tenant tenant;
	int err;

	if (!grp)
		return -ENOTCONN;
	if (mutex_lock_killable(&grp->lock))
		return -EINTR;
	tenant = session_tenant(ses);
	err = gagg_rank_channel(&tenant, arg);
	mutex_unlock(&grp->lock);
	return err;
}

int gagg_session_channel_free(struct gagg_session *ses, u32 id)
{
	struct gagg_group *grp = ses->group;
	struct gagg_tenant tenant;
	int err;

	/* a session without a group has no channels: its table is empty */
	if (!grp)
		return gagg_rank_place(&ses->table, id);
	mutex_lock(&grp->lock);
	tenant = session_tenant(ses);
	err = gagg_rank_free(&tenant, id);
	mutex_unlock(&grp->lock);
	return err;
}

/* group.lock held */
void gagg_session_started(struct gagg_session *ses, u64 epoch)
{
	const struct gagg_tenant tenant = session_tenant(ses);

	WRITE_ONCE(ses->epoch, epoch);
	gagg_rank_started(&tenant);
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
	const struct gagg_tenant tenant = session_tenant(ses);

	gagg_rank_ended(&tenant, reason);
	wake_up_all(&ses->wq);
	wake_up_all(&ses->chunk_wq);
	gagg_uring_complete(ses, -EPIPE);
}
