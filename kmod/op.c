// SPDX-License-Identifier: GPL-2.0
/*
 * Ops of a session: starting them, being told, waiting.
 *
 * An op is in every shard's ring of ops or in none: room is checked and taken
 * under all port locks. It is complete when every shard has reported it.
 */
#include <linux/hrtimer.h>
#include <linux/sched/signal.h>
#include "channel.h"
#include "endpoint.h"
#include "epoch.h"
#include "group.h"
#include "op.h"
#include "session.h"
#include "trace.h"
#include "uring.h"

/* collectives and ops of a store exclude each other */
static int check_submit(const struct gagg_geom *g, const struct gagg_ioc_submit *arg)
{
	bool store = arg->kind == GAGG_K_UPDATE || arg->kind == GAGG_K_READ;

	if (arg->kind < GAGG_K_ALLREDUCE || arg->kind > GAGG_K_READ)
		return -EINVAL;
	if (store != g->store)
		return -EOPNOTSUPP;
	return gagg_chan_may_submit(g, arg) ? 0 : -EINVAL;
}

/* the last op of a local rank, the same in all shards */
static void trace_submitted(const struct gagg_group *grp, const struct gagg_channel *ch, u32 l)
{
	const struct gagg_local *lo = &ch->part[0]->local[l];

	trace_gagg_submit(&grp->geom, ch->id, l, &lo->op[lo->numbers % GAGG_OPS]);
}

/*
 * Times of a rank. Port locks are held, all or one, so bottom halves are off;
 * under all of them a submission is counted before its end can be.
 */
static void times_submit(struct gagg_session *ses)
{
	struct gagg_group *grp = ses->group;

	spin_lock(&grp->times_lock);
	gagg_times_submit(&grp->times[ses->rank], ktime_get_ns());
	spin_unlock(&grp->times_lock);
}

static void times_done(struct gagg_session *ses, u64 n)
{
	struct gagg_group *grp = ses->group;

	spin_lock(&grp->times_lock);
	gagg_times_done(&grp->times[ses->rank], n, ktime_get_ns());
	spin_unlock(&grp->times_lock);
}

int gagg_session_times(struct gagg_session *ses, struct gagg_ioc_times *arg)
{
	struct gagg_group *grp = ses->group;

	if (!gagg_times_valid(arg))
		return -EINVAL;
	if (!grp || ses->state == GAGG_S_BOUND)
		return -ENOTCONN;
	spin_lock_bh(&grp->times_lock);
	gagg_times_tell(&grp->times[ses->rank], arg, ktime_get_ns());
	spin_unlock_bh(&grp->times_lock);
	return 0;
}

/* all port locks held */
static int submit_ports(struct gagg_group *grp, struct gagg_seat *seat,
			const struct gagg_ioc_submit *arg)
{
	struct gagg_channel *ch = seat->channel;
	u32 l = seat->local, s;

	if (grp->channel[ch->index] != ch || ch->seat[l] != seat)
		return -EPIPE;
	/* the epoch, with the lanes that it has, may have begun since it was looked at */
	if (check_submit(&grp->geom, arg))
		return -EINVAL;
	if (grp->geom.copies && gagg_store_copy(&grp->geom, ch->part[0], arg) < 0)
		return -EINVAL;
	for (s = 0; s < ch->nparts; s++) {
		const struct gagg_local *lo = &ch->part[s]->local[l];

		if (!grp->part[s].core->running)
			return -EPIPE;
		if (lo->numbers - lo->finished >= GAGG_OPS)
			return -E2BIG;
		if (grp->geom.store && !gagg_store_may_begin(&grp->geom, lo, arg))
			return -EINVAL;
	}
	for (s = 0; s < ch->nparts; s++)
		gagg_chan_submit_arg(&grp->geom, ch->part[s], l, arg);
	times_submit(ch->session[l]);
	if (trace_gagg_submit_enabled())
		trace_submitted(grp, ch, l);
	return 0;
}

int gagg_session_submit(struct gagg_session *ses, struct gagg_ioc_submit *arg, bool wait)
{
	struct gagg_group *grp = ses->group;
	struct gagg_seat *seat;
	int err;
	u32 s;

	if (!grp)
		return -ENOTCONN;
	err = check_submit(&grp->geom, arg);
	if (err)
		return err;
	if (READ_ONCE(ses->state) == GAGG_S_ENDED)
		return -EPIPE;
	if (READ_ONCE(ses->state) != GAGG_S_RUNNING)
		return -ENOTCONN;
	seat = gagg_seat_find(ses, arg->channel);
	if (!seat)
		return -ENOENT;
	if (!grp->geom.store && !gagg_chan_has_rounds(&grp->geom, seat->cursor, arg->chunks))
		return -EOVERFLOW;

	if (wait)
		mutex_lock(&grp->lock);
	else if (!mutex_trylock(&grp->lock))
		return -EAGAIN;
	if (grp->dead) {
		mutex_unlock(&grp->lock);
		return -EPIPE;
	}
	gagg_group_lock_ports(grp);
	err = submit_ports(grp, seat, arg);
	gagg_group_unlock_ports(grp);
	/* a group that dies from now on waits for us in synchronize_net(); the
	 * poll runs here, when bottom halves are enabled, or where it runs already
	 */
	rcu_read_lock();
	mutex_unlock(&grp->lock);
	if (!err) {
		if (!grp->geom.store)
			seat->cursor += arg->chunks;
		arg->op = ++seat->submitted;
		for (s = 0; s < grp->cfg.shards; s++)
			gagg_port_kick(&grp->ep->port[s]);
	}
	rcu_read_unlock();
	return err;
}

/* group.lock held */
static u64 missing_ports(struct gagg_group *grp, const struct gagg_seat *seat, u64 op)
{
	struct gagg_channel *ch = seat->channel;
	u64 ranks = 0;
	u32 s;

	if (grp->dead || grp->channel[ch->index] != ch)
		return 0;
	for (s = 0; s < ch->nparts; s++) {
		spin_lock_bh(&grp->ep->port[s].lock);
		ranks |= gagg_chan_missing(&grp->geom, ch->part[s], seat->local, op);
		spin_unlock_bh(&grp->ep->port[s].lock);
	}
	return ranks;
}

u64 gagg_session_missing(struct gagg_session *ses, u32 channel, u64 op)
{
	const struct gagg_seat *seat = op ? gagg_seat_find(ses, channel) : NULL;
	struct gagg_group *grp = ses->group;
	u64 ranks;

	if (!seat)
		return 0;
	mutex_lock(&grp->lock);
	ranks = missing_ports(grp, seat, op);
	mutex_unlock(&grp->lock);
	return ranks;
}

/*
 * Each port stores what its shard has finished and then looks at all: of two
 * that do so at once at least one sees both, because of the barrier.
 */
void gagg_session_op_done(struct gagg_session *ses, struct gagg_seat *seat, u32 shard,
			  u64 number)
{
	u64 done = number, old;
	u32 s;

	WRITE_ONCE(seat->done_in[shard], number);
	smp_mb(); /* see above */
	for (s = 0; s < seat->channel->nparts; s++)
		done = min(done, READ_ONCE(seat->done_in[s]));
	old = READ_ONCE(seat->completed);
	while (old < done) {
		u64 was = cmpxchg64(&seat->completed, old, done);

		if (was == old) {
			/* the caller holds the lock of @shard's port */
			ses->group->part[shard].stats.rounds += done - old;
			times_done(ses, done - old);
			atomic64_add(done - old, &ses->unread);
			if (wq_has_sleeper(&ses->wq))
				wake_up_interruptible_poll(&ses->wq, EPOLLIN | EPOLLRDNORM);
			gagg_uring_complete(ses, 0);
			return;
		}
		old = was;
	}
}

void gagg_session_progress(struct gagg_session *ses)
{
	if (wq_has_sleeper(&ses->chunk_wq))
		wake_up_interruptible(&ses->chunk_wq);
	gagg_uring_complete(ses, 0);
}

int gagg_wish_state(const struct gagg_wish *wish)
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
	 * What is done is done, even if the epoch has ended since. Acquire: so
	 * are the results.
	 */
	if (wish->chunk) {
		const struct gagg_done *done = gagg_channel_done(seat->channel);

		if (smp_load_acquire(&done->completed) >= wish->chunk) /* see above */
			return 0;
	} else if (smp_load_acquire(&seat->completed) >= wish->op) { /* see above */
		return 0;
	}
	return READ_ONCE(seat->dead) || state != GAGG_S_RUNNING ? -EPIPE : -EAGAIN;
}

/* the epoch cannot start while hosts are configured differently, or chunks do not pass */
static int epoch_state(const struct gagg_wish *wish)
{
	struct gagg_ioc_status st = { };
	int err = gagg_wish_state(wish);

	if (err != -EAGAIN)
		return err;
	gagg_epoch_status(wish->ses->group, &st);
	return st.mismatch || st.blocked ? -EPROTO : -EAGAIN;
}

int gagg_session_wish(struct gagg_session *ses, const struct gagg_ioc_wait *arg,
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
		err = epoch_state(wish);
		return err == -EAGAIN ? 0 : err;
	}
	seat = gagg_seat_find(ses, arg->channel);
	if (!seat)
		return -ENOENT;
	if (arg->chunk > seat->cursor || (!arg->chunk && arg->op > seat->submitted))
		return -EINVAL;
	kref_get(&seat->ref);
	wish->seat = seat;
	wish->op = arg->op;
	wish->chunk = arg->chunk;
	return 0;
}

struct waiter {
	struct wait_queue_entry entry;
	const struct gagg_wish *wish;
};

/* wakes the task only when its wish is decided: once per wait, not per batch */
static int wake_waiter(struct wait_queue_entry *entry, unsigned int mode, int flags,
		       void *key)
{
	const struct waiter *w = container_of(entry, struct waiter, entry);

	if (gagg_wish_state(w->wish) == -EAGAIN)
		return 0;
	return autoremove_wake_function(entry, mode, flags, key);
}

static struct wait_queue_head *queue_of(const struct gagg_wish *wish)
{
	if (!wish->seat)
		return &wish->ses->group->wq;
	return wish->chunk ? &wish->ses->chunk_wq : &wish->ses->wq;
}

int gagg_session_wait(const struct gagg_wish *wish, u64 timeout_ns)
{
	struct wait_queue_head *wq = queue_of(wish);
	struct waiter w = { .wish = wish };
	ktime_t until;
	int err;

	until = ktime_add_safe(ktime_get(), min_t(u64, timeout_ns, KTIME_MAX));
	init_wait(&w.entry);
	if (wish->seat)
		w.entry.func = wake_waiter;
	for (;;) {
		prepare_to_wait(wq, &w.entry, TASK_INTERRUPTIBLE);
		err = wish->seat ? gagg_wish_state(wish) : epoch_state(wish);
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
