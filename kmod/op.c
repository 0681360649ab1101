// SPDX-License-Identifier: GPL-2.0
/*
 * Ops of a session: starting them, reporting their ends, waiting for them.
 */
#include <linux/hrtimer.h>
#include <linux/sched/signal.h>
#include "channel.h"
#include "core/refusal.h"
#include "endpoint.h"
#include "epoch.h"
#include "group.h"
#include "op.h"
#include "session.h"
#include "trace.h"
#include "uring.h"

struct gagg_host {
	struct gagg_session *ses;
};

#include "core/op.h"

static struct gagg_times *op_times_lock(const struct gagg_host *h)
{
	spin_lock_bh(&h->ses->group->times_lock);
	/* sparse does not see that the core unlocks it */
	__release(&h->ses->group->times_lock);
	return &h->ses->group->times[h->ses->rank];
}

static void op_times_unlock(const struct gagg_host *h)
{
	__acquire(&h->ses->group->times_lock);
	spin_unlock_bh(&h->ses->group->times_lock);
}

static u64 op_times_now(void)
{
	return ktime_get_ns();
}

static const struct gagg_shard *op_shard(const struct gagg_host *h)
{
	return h->ses->group->part[0].core;
}

static struct gagg_stats *op_stats(const struct gagg_host *h, u32 shard)
{
	return &h->ses->group->part[shard].stats;
}

static void op_shard_lock(const struct gagg_host *h, u32 shard)
{
	spin_lock_bh(&h->ses->group->ep->port[shard].lock);
	/* the same */
	__release(&h->ses->group->ep->port[shard].lock);
}

static void op_shard_unlock(const struct gagg_host *h, u32 shard)
{
	__acquire(&h->ses->group->ep->port[shard].lock);
	spin_unlock_bh(&h->ses->group->ep->port[shard].lock);
}

static enum gagg_refusal op_tell_epoch(const struct gagg_host *h, struct gagg_ioc_status *st)
{
	if (!h->ses->group)
		return GAGG_REFUSE_IDLE;
	gagg_session_status(h->ses, st);
	return GAGG_REFUSE_NOT;
}

static u64 op_missing(const struct gagg_host *h, u32 channel, u64 number)
{
	const struct gagg_seat *seat = gagg_seat_find(h->ses, channel);
	struct gagg_group *grp = h->ses->group;
	u64 ranks = 0;

	if (!seat)
		return 0;
	mutex_lock(&grp->lock);
	if (!grp->dead && grp->channel[seat->channel->site.index] == seat->channel)
		ranks = gagg_op_waits_for(h, &grp->geom, &seat->channel->site, &seat->ops, number);
	mutex_unlock(&grp->lock);
	return ranks;
}

int gagg_op_status(struct gagg_session *ses, struct gagg_ioc_status *arg)
{
	const struct gagg_host h = { .ses = ses };

	return gagg_refusal_error(gagg_op_tell_status(&h, arg));
}

int gagg_op_times(struct gagg_session *ses, struct gagg_ioc_times *arg)
{
	const struct gagg_host h = { .ses = ses };

	return gagg_refusal_error(gagg_op_tell_times(&h, READ_ONCE(ses->state), arg));
}

void gagg_op_times_begin(struct gagg_session *ses)
{
	const struct gagg_host h = { .ses = ses };

	gagg_op_reset_times(&h);
}

void gagg_op_times_end(struct gagg_session *ses)
{
	const struct gagg_host h = { .ses = ses };

	gagg_op_stop_times(&h);
}

/* all port locks held */
static int op_submit_ports(struct gagg_group *grp, struct gagg_seat *seat,
			   const struct gagg_ioc_submit *arg)
{
	struct gagg_channel *ch = seat->channel;
	u32 l = seat->ops.local;
	const struct gagg_host h = { .ses = ch->session[l] };
	enum gagg_refusal no;

	if (grp->channel[ch->site.index] != ch || ch->seat[l] != seat)
		return -EPIPE;
	/* the epoch, with the lanes that it has, may have begun since it was looked at */
	no = gagg_op_begin(&h, &grp->geom, &ch->site, &seat->ops, arg);
	if (no)
		return gagg_refusal_error(no);
	if (trace_gagg_submit_enabled())
		trace_gagg_submit(&grp->geom, ch->id, l,
				  gagg_ledger_last(&seat->ops, ch->site.part[0]));
	return 0;
}

int gagg_op_submit(struct gagg_session *ses, struct gagg_ioc_submit *arg, bool wait)
{
	struct gagg_group *grp = ses->group;
	struct gagg_seat *seat;
	int err;
	u32 s;

	if (!grp)
		return -ENOTCONN;
	err = gagg_refusal_error(gagg_ledger_check(&grp->geom, arg));
	if (err)
		return err;
	err = gagg_session_running(ses);
	if (err)
		return err;
	seat = gagg_seat_find(ses, arg->channel);
	if (!seat)
		return -ENOENT;

	if (wait)
		mutex_lock(&grp->lock);
	else if (!mutex_trylock(&grp->lock))
		return -EAGAIN;
	if (grp->dead) {
		mutex_unlock(&grp->lock);
		return -EPIPE;
	}
	gagg_group_lock_ports(grp);
	err = op_submit_ports(grp, seat, arg);
	gagg_group_unlock_ports(grp);
	/*
	 * a group that dies from now on waits for us in synchronize_net(). The poll runs here, when
	 * bottom halves are enabled, or on the CPU where it runs already
	 */
	rcu_read_lock();
	mutex_unlock(&grp->lock);
	if (!err) {
		arg->op = seat->ops.submitted;
		for (s = 0; s < grp->cfg.shards; s++)
			gagg_port_kick(&grp->ep->port[s]);
	}
	rcu_read_unlock();
	return err;
}

void gagg_op_done(struct gagg_session *ses, struct gagg_seat *seat, u32 shard, u64 number)
{
	const struct gagg_host h = { .ses = ses };
	u64 n = gagg_op_end(&h, &seat->channel->site, &seat->ops, shard, number);

	if (!n)
		return;
	atomic64_add(n, &ses->unread);
	if (wq_has_sleeper(&ses->wq))
		wake_up_interruptible_poll(&ses->wq, EPOLLIN | EPOLLRDNORM);
	gagg_uring_complete(ses, 0);
}

void gagg_op_progress(struct gagg_session *ses)
{
	if (wq_has_sleeper(&ses->chunk_wq))
		wake_up_interruptible(&ses->chunk_wq);
	gagg_uring_complete(ses, 0);
}

int gagg_op_wish_state(const struct gagg_wish *wish)
{
	enum gagg_session_state state = READ_ONCE(wish->ses->state);
	const struct gagg_seat *seat = wish->seat;

	if (!seat) {
		if (state == GAGG_S_RUNNING)
			return 0;
		if (state == GAGG_S_ATTACHED)
			return READ_ONCE(wish->ses->group->dead) ? -EPIPE : -EAGAIN;
		return state == GAGG_S_ENDED ? -EPIPE : -ENOTCONN;
	}
	/*
	 * An op that is done stays done, even if the epoch has ended since. Acquire: its results
	 * are visible then.
	 */
	if (wish->chunk) {
		const struct gagg_done *done = gagg_site_done(&seat->channel->site);

		if (smp_load_acquire(&done->completed) >= wish->chunk) /* see above */
			return 0;
	} else if (smp_load_acquire(&seat->ops.completed) >= wish->op) { /* see above */
		return 0;
	}
	return READ_ONCE(seat->dead) || state != GAGG_S_RUNNING ? -EPIPE : -EAGAIN;
}

static int op_epoch_state(const struct gagg_wish *wish)
{
	struct gagg_ioc_status st = { };
	int err = gagg_op_wish_state(wish);

	if (err != -EAGAIN)
		return err;
	gagg_epoch_status(wish->ses->group, &st);
	return gagg_state_is_stuck(&st) ? -EPROTO : -EAGAIN;
}

int gagg_op_wish(struct gagg_session *ses, const struct gagg_ioc_wait *arg,
		 struct gagg_wish *wish)
{
	struct gagg_seat *seat;

	memset(wish, 0, sizeof(*wish));
	wish->ses = ses;
	if (!ses->group || ses->state == GAGG_S_BOUND)
		return -ENOTCONN;
	if (arg->channel == GAGG_WAIT_EPOCH) {
		int err;

		if (arg->op || arg->chunk)
			return -EINVAL;
		err = op_epoch_state(wish);
		return err == -EAGAIN ? 0 : err;
	}
	seat = gagg_seat_find(ses, arg->channel);
	if (!seat)
		return -ENOENT;
	if (arg->chunk > seat->ops.cursor || (!arg->chunk && arg->op > seat->ops.submitted))
		return -EINVAL;
	kref_get(&seat->ref);
	wish->seat = seat;
	wish->op = arg->op;
	wish->chunk = arg->chunk;
	return 0;
}

struct op_waiter {
	struct wait_queue_entry entry;
	const struct gagg_wish *wish;
};

/* wakes the task only when its wish is decided: once a wait, not once a batch */
static int op_wake_waiter(struct wait_queue_entry *entry, unsigned int mode, int flags,
			  void *key)
{
	const struct op_waiter *w = container_of(entry, struct op_waiter, entry);

	if (gagg_op_wish_state(w->wish) == -EAGAIN)
		return 0;
	return autoremove_wake_function(entry, mode, flags, key);
}

static struct wait_queue_head *op_queue_of(const struct gagg_wish *wish)
{
	if (!wish->seat)
		return &wish->ses->group->wq;
	return wish->chunk ? &wish->ses->chunk_wq : &wish->ses->wq;
}

int gagg_op_wait(const struct gagg_wish *wish, u64 timeout_ns)
{
	struct wait_queue_head *wq = op_queue_of(wish);
	struct op_waiter w = { .wish = wish };
	ktime_t until;
	int err;

	until = ktime_add_safe(ktime_get(), min_t(u64, timeout_ns, KTIME_MAX));
	init_wait(&w.entry);
	if (wish->seat)
		w.entry.func = op_wake_waiter;
	for (;;) {
		prepare_to_wait(wq, &w.entry, TASK_INTERRUPTIBLE);
		err = wish->seat ? gagg_op_wish_state(wish) : op_epoch_state(wish);
		if (err != -EAGAIN)
			break;
		if (!timeout_ns) {
			err = -ETIMEDOUT;
			break;
		}
		if (signal_pending(current)) {
			err = -EINTR;
			break;
		}
		if (timeout_ns == U64_MAX)
			schedule();
		else if (!schedule_hrtimeout(&until, HRTIMER_MODE_ABS))
			timeout_ns = 0;	/* look once more */
	}
	finish_wait(wq, &w.entry);
	return err;
}
