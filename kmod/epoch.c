// SPDX-License-Identifier: GPL-2.0
/*
 * The join object of a group, and what follows from it.
 *
 * The core decides under join_lock: from the poll (port lock held), from the timer or from a system
 * call. What it wants is kept in grp->due. speak.c sends it, epoch_work ends and begins epochs,
 * news_work tells listeners. These run in process context, where the group's memory may be
 * allocated. Until epoch_work has run, datagrams of a new epoch are dropped, and their senders
 * repeat them.
 */
#include <linux/random.h>
#include <linux/sched/mm.h>
#include <linux/vmalloc.h>
#include "channel.h"
#include "compat/workqueue.h"
#include "config.h"
#include "endpoint.h"
#include "epoch.h"
#include "faults.h"
#include "group.h"
#include "notify.h"
#include "session.h"
#include "speak.h"
#include "trace.h"

static u64 epoch_now_ns(void)
{
	return ktime_get_ns();
}

/* collects what the core wants done, and arms the timer; join_lock held */
static void epoch_collect(struct gagg_group *grp)
{
	u64 at, now = epoch_now_ns();
	u32 types;

	types = gagg_due_collect(&grp->due, grp->join);
	if (grp->dead)
		return;
	if (types & GAGG_DUE_SAY)
		gagg_speak_queue(grp);
	if (types & GAGG_DUE_NEWS)
		queue_work(gagg_compat_unbound_wq(), &grp->news_work);
	if (types & GAGG_DUE_FOLLOW)
		queue_work(gagg_compat_unbound_wq(), &grp->epoch_work);
	at = gagg_join_deadline(grp->join, &grp->geom);
	if (at != GAGG_NEVER)
		mod_timer(&grp->join_timer,
			  jiffies + 1 + (at > now ? nsecs_to_jiffies(at - now) : 0));
}

/* the endpoint exists: the group can be found, or its timer is not shut down */
static void epoch_timer(struct gagg_group *grp)
{
	bool unfit = false;
	u32 i;

	for (i = 0; i < grp->cfg.shards; i++) {
		struct gagg_part *part = &grp->part[i];

		spin_lock_bh(&grp->ep->port[i].lock);
		spin_lock(&grp->join_lock);
		gagg_follow_hear(grp->join, part->core);
		spin_unlock(&grp->join_lock);
		unfit |= part->unfit;
		part->unfit = false;
		spin_unlock_bh(&grp->ep->port[i].lock);
	}
	spin_lock_bh(&grp->join_lock);
	gagg_follow_timer(grp->join, &grp->geom, unfit, get_random_u64(), epoch_now_ns());
	epoch_collect(grp);
	spin_unlock_bh(&grp->join_lock);
}

static void epoch_timer_fn(struct timer_list *t)
{
	epoch_timer(container_of(t, struct gagg_group, join_timer));
}

static void epoch_tell_news(struct gagg_group *grp)
{
	struct gagg_due taken;
	u64 news;

	spin_lock_bh(&grp->join_lock);
	gagg_due_take(&grp->due, GAGG_DUE_NEWS, &taken);
	spin_unlock_bh(&grp->join_lock);
	news = taken.nodes[GAGG_JOIN_NOTIFY];
	wake_up_all(&grp->wq);
	for (; news; news &= news - 1) {
		u64 ranks = grp->geom.ranks_of[gagg_lowest(news)];
		bool bad = grp->join->peer[gagg_lowest(news)].mismatch.field;

		for (; ranks; ranks &= ranks - 1)
			gagg_notify_member(grp, gagg_lowest(ranks),
					   bad ? GAGG_EV_MISMATCH : GAGG_EV_MEMBER_STATE);
	}
}

static void epoch_news_work_fn(struct work_struct *work)
{
	gagg_faults_work_begin();
	epoch_tell_news(container_of(work, struct gagg_group, news_work));
	gagg_faults_work_end();
}

/* group.lock held */
static void epoch_over(struct gagg_group *grp, u32 reason)
{
	struct gagg_site *gone[GAGG_CHANNELS_MAX];
	u32 i, n;

	gagg_group_lock_ports(grp);
	for (i = 0; i < grp->cfg.shards; i++)
		gagg_shard_stop(grp->part[i].core);
	trace_gagg_stop(&grp->geom);
	grp->geom.lanes = grp->geom.room;
	n = gagg_channel_unlink_all(grp, gone);
	gagg_group_unlock_ports(grp);
	grp->epoch = 0;
	for (i = 0; i < GAGG_RANKS; i++)
		if (grp->session[i])
			gagg_session_ended(grp->session[i], reason);
	while (n)
		gagg_channel_put(gagg_channel_of(gone[--n]));
	wake_up_all(&grp->wq);
}

static void epoch_trips(struct gagg_group *grp, u32 trip[GAGG_NODES])
{
	spin_lock_bh(&grp->join_lock);
	gagg_join_trips(grp->join, &grp->geom, trip);
	spin_unlock_bh(&grp->join_lock);
}

/* group.lock held */
static int epoch_begin(struct gagg_group *grp, const struct gagg_step *step)
{
	/* channel 0 is new here only if no rank has attached, and paid for it */
	struct mem_cgroup *old = set_active_memcg(grp->memcg);
	u32 i, trip[GAGG_NODES];
	struct gagg_site *site;
	int err;

	err = gagg_channel_fresh(grp, &site);
	set_active_memcg(old);
	if (err)
		return err;
	gagg_site_begin(site, step->epoch);
	epoch_trips(grp, trip);
	gagg_group_lock_ports(grp);
	grp->geom.lanes = step->lanes;
	for (i = 0; i < grp->cfg.shards; i++) {
		gagg_shard_start(grp->part[i].core, &grp->geom, step->epoch,
				 step->cookie);
		gagg_shard_trips(grp->part[i].core, &grp->geom, trip);
	}
	trace_gagg_start(&grp->geom, grp->cfg.sync.mode, step->epoch);
	for (i = 0; i < grp->geom.nodes; i++)
		trace_gagg_trip(&grp->geom, i, trip[i]);
	trace_gagg_channel(&grp->geom, site->part[0]->id, site->part[0]->members);
	gagg_group_unlock_ports(grp);
	grp->epoch = step->epoch;
	grp->epochs++;
	for (i = 0; i < GAGG_RANKS; i++)
		if (grp->session[i])
			gagg_session_started(grp->session[i], step->epoch);
	wake_up_all(&grp->wq);
	for (i = 0; i < grp->cfg.shards; i++)
		gagg_port_kick(&grp->ep->port[i]);
	return 0;
}

/* group.lock held */
static void epoch_never(struct gagg_group *grp, u64 ranks, u32 reason)
{
	for (; ranks; ranks &= ranks - 1) {
		struct gagg_session *ses = grp->session[gagg_lowest(ranks)];

		if (ses && ses->state == GAGG_S_ATTACHED)
			gagg_session_ended(ses, reason);
	}
	wake_up_all(&grp->wq);
}

/* moves the group to the state of its join object; group.lock held */
static int epoch_step(struct gagg_group *grp, struct gagg_step *step)
{
	struct gagg_due taken;

	spin_lock_bh(&grp->join_lock);
	gagg_due_take(&grp->due, GAGG_DUE_FOLLOW, &taken);
	gagg_follow(grp->join, &grp->geom, grp->epoch, grp->dead, step);
	spin_unlock_bh(&grp->join_lock);
	if (step->over)
		epoch_over(grp, step->end.reason);
	if (step->never)
		epoch_never(grp, step->never, step->end.reason);
	return step->epoch ? epoch_begin(grp, step) : 0;
}

static void epoch_follow(struct gagg_group *grp)
{
	const struct gagg_end no_memory = gagg_end_here(&grp->geom, GAGG_R_ADMIN);
	struct gagg_step step;
	int err;

	mutex_lock(&grp->lock);
	err = epoch_step(grp, &step);
	mutex_unlock(&grp->lock);
	/* no memory for the channel: no rank can train in this epoch */
	if (err)
		gagg_epoch_end(grp, &no_memory);
	if (step.over)
		gagg_notify_group(grp, GAGG_EV_EPOCH_END);
	if (step.epoch && !err)
		gagg_notify_group(grp, GAGG_EV_EPOCH_START);
}

static void epoch_work_fn(struct work_struct *work)
{
	gagg_faults_work_begin();
	epoch_follow(container_of(work, struct gagg_group, epoch_work));
	gagg_faults_work_end();
}

int gagg_epoch_init(struct gagg_group *grp)
{
	u32 digest[GAGG_DG_COUNT];

	grp->join = __vmalloc(sizeof(*grp->join),
			      GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN);
	if (!grp->join)
		return -ENOMEM;
	timer_setup(&grp->join_timer, epoch_timer_fn, 0);
	gagg_speak_setup(grp);
	INIT_WORK(&grp->news_work, epoch_news_work_fn);
	INIT_WORK(&grp->epoch_work, epoch_work_fn);
	gagg_config_digest(&grp->cfg, digest);
	gagg_join_init(grp->join, &grp->geom, digest, get_random_u64() | 1);
	grp->join->enabled = 1;
	return 0;
}

void gagg_epoch_begin(struct gagg_group *grp)
{
	epoch_timer(grp);
}

/*
 * The group is dead and unlinked, and no poll sees it. So only the timer and the works can queue
 * works, and epoch_collect() queues none for a dead group. The epoch ends after all of them have
 * stopped, since a later START, or the timer, would begin the next one. ABORT is sent here three
 * times, since nobody will repeat it. A host that misses all three notices the silence.
 */
void gagg_epoch_stop(struct gagg_group *grp)
{
	const struct gagg_end end = gagg_end_here(&grp->geom, GAGG_R_DELETED);
	struct gagg_due taken;
	u32 i;

	timer_shutdown_sync(&grp->join_timer);
	cancel_work_sync(&grp->speak_work);
	cancel_work_sync(&grp->news_work);
	cancel_work_sync(&grp->epoch_work);
	gagg_epoch_end(grp, &end);
	epoch_follow(grp);
	for (i = 0; i < GAGG_LAST_WORDS; i++) {
		spin_lock_bh(&grp->join_lock);
		gagg_follow_last_words(grp->join, &taken);
		spin_unlock_bh(&grp->join_lock);
		gagg_speak_now(grp, &taken);
	}
}

enum gagg_drop gagg_epoch_rx(struct gagg_group *grp, u32 node, u32 shard,
			     const struct gagg_msg *m, const void *body)
{
	struct gagg_join_dgram d = {
		.node = node,
		.shard = shard,
		.m = m,
		.body = body,
		.random = get_random_u64(),
	};
	enum gagg_drop r;

	spin_lock(&grp->join_lock);
	d.now = epoch_now_ns();
	r = gagg_join_rx(grp->join, &grp->geom, &d);
	epoch_collect(grp);
	spin_unlock(&grp->join_lock);
	return r;
}

void gagg_epoch_attach(struct gagg_group *grp, u32 rank)
{
	spin_lock_bh(&grp->join_lock);
	gagg_join_attach(grp->join, &grp->geom, rank, epoch_now_ns());
	epoch_collect(grp);
	spin_unlock_bh(&grp->join_lock);
	/* a group on one host needs no message: its timer starts the epoch */
	epoch_timer(grp);
}

void gagg_epoch_leave(struct gagg_group *grp, u32 rank, u32 reason)
{
	spin_lock_bh(&grp->join_lock);
	gagg_join_leave(grp->join, &grp->geom, rank, reason, epoch_now_ns());
	epoch_collect(grp);
	spin_unlock_bh(&grp->join_lock);
}

void gagg_epoch_end(struct gagg_group *grp, const struct gagg_end *end)
{
	spin_lock_bh(&grp->join_lock);
	gagg_join_end(grp->join, &grp->geom, end, epoch_now_ns());
	epoch_collect(grp);
	spin_unlock_bh(&grp->join_lock);
}

void gagg_epoch_limit(struct gagg_group *grp, u32 lanes)
{
	spin_lock_bh(&grp->join_lock);
	gagg_join_limit(grp->join, &grp->geom, lanes, epoch_now_ns());
	epoch_collect(grp);
	spin_unlock_bh(&grp->join_lock);
}

void gagg_epoch_status(struct gagg_group *grp, struct gagg_ioc_status *st)
{
	if (!grp->join)
		return;
	spin_lock_bh(&grp->join_lock);
	gagg_join_status(grp->join, &grp->geom, READ_ONCE(grp->epoch), epoch_now_ns(), st);
	spin_unlock_bh(&grp->join_lock);
}
