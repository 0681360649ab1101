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
#include "route.h"
#include "session.h"
#include "speak.h"
#include "trace.h"
#include "tx.h"

struct gagg_host {
	struct gagg_group *grp;
};

#include "core/step.h"

static struct gagg_hosted epoch_hosted(struct gagg_group *grp)
{
	return (struct gagg_hosted){
		.host.grp = grp,
		.g = &grp->geom,
		.join = grp->join,
		.due = &grp->due,
		.table = &grp->table,
		.epoch = &grp->epoch,
		.epochs = &grp->epochs,
	};
}

/* sparse counts locks of a function, not of a pair of them */
static void epoch_lock_join(const struct gagg_host *h)
{
	spin_lock_bh(&h->grp->join_lock);
	__release(&h->grp->join_lock);
}

static void epoch_unlock_join(const struct gagg_host *h)
{
	__acquire(&h->grp->join_lock);
	spin_unlock_bh(&h->grp->join_lock);
}

static void epoch_lock_shard(const struct gagg_host *h, u32 s)
{
	spin_lock_bh(&h->grp->ep->port[s].lock);
	__release(&h->grp->ep->port[s].lock);
}

static void epoch_unlock_shard(const struct gagg_host *h, u32 s)
{
	__acquire(&h->grp->ep->port[s].lock);
	spin_unlock_bh(&h->grp->ep->port[s].lock);
}

static void epoch_lock(const struct gagg_host *h)
{
	gagg_group_lock_ports(h->grp);
}

static void epoch_unlock(const struct gagg_host *h)
{
	gagg_group_unlock_ports(h->grp);
}

static struct gagg_shard *epoch_shard(const struct gagg_host *h, u32 s)
{
	return h->grp->part[s].core;
}

static u64 epoch_now_ns(void)
{
	return ktime_get_ns();
}

static u64 epoch_random(void)
{
	return get_random_u64();
}

static struct gagg_stats *epoch_stats(const struct gagg_host *h, u32 s)
{
	return &h->grp->part[s].stats;
}

static void epoch_tell_unfit(const struct gagg_host *h)
{
}

/* queues works, and arms the timer */
static void epoch_call(const struct gagg_host *h, u32 types)
{
	struct gagg_group *grp = h->grp;
	u64 at, now = epoch_now_ns();

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

/* what waits leaves with the next poll, and is never much */
static bool epoch_is_said(const struct gagg_host *h, u32 s, u32 node, bool wide)
{
	return false;
}

static enum gagg_fate epoch_send(const struct gagg_host *h, u32 s, u32 node,
				 const struct gagg_word *w)
{
	return gagg_tx_control(h->grp, s, node, w);
}

static u32 epoch_mtu(const struct gagg_host *h, u32 node)
{
	return gagg_route_mtu_to(h->grp, node == GAGG_TO_ALL ? &h->grp->all : &h->grp->node[node]);
}

/* channel 0 is new here only if no rank has attached, and paid for it */
static int epoch_channel(const struct gagg_host *h, struct gagg_site **site)
{
	struct mem_cgroup *old = set_active_memcg(h->grp->memcg);
	int err = gagg_channel_fresh(h->grp, site);

	set_active_memcg(old);
	return err;
}

static u32 epoch_unlink(const struct gagg_host *h, struct gagg_site **gone)
{
	return gagg_channel_unlink_all(h->grp, gone);
}

static void epoch_give(const struct gagg_host *h, struct gagg_site *site)
{
	gagg_channel_put(gagg_channel_of(site));
}

static enum gagg_session_state epoch_state(const struct gagg_host *h, u32 rank)
{
	const struct gagg_session *ses = h->grp->session[rank];

	return ses ? ses->state : GAGG_S_BOUND;
}

static void epoch_tell_runs(const struct gagg_host *h, u32 rank, u64 epoch)
{
	gagg_session_started(h->grp->session[rank], epoch);
}

static void epoch_tell_ended(const struct gagg_host *h, u32 rank, u32 reason)
{
	gagg_session_ended(h->grp->session[rank], reason);
}

static void epoch_trace_begun(const struct gagg_host *h, const struct gagg_step *step,
			      const struct gagg_site *site, const u32 trip[GAGG_NODES])
{
	const struct gagg_geom *g = &h->grp->geom;
	u32 i;

	trace_gagg_start(g, h->grp->cfg.sync.mode, step->epoch);
	for (i = 0; i < g->nodes; i++)
		trace_gagg_trip(g, i, trip[i]);
	trace_gagg_channel(g, site->part[0]->id, site->part[0]->members);
}

static void epoch_trace_over(const struct gagg_host *h)
{
	trace_gagg_stop(&h->grp->geom);
}

static void epoch_begun(const struct gagg_host *h, const struct gagg_step *step)
{
	u32 s;

	for (s = 0; s < h->grp->cfg.shards; s++)
		gagg_port_kick(&h->grp->ep->port[s]);
}

static void epoch_is_over(const struct gagg_host *h, u64 epoch, const struct gagg_end *end)
{
}

/* the endpoint exists: the group can be found, or its timer is not shut down */
static void epoch_timer_fn(struct timer_list *t)
{
	const struct gagg_hosted hosted =
		epoch_hosted(container_of(t, struct gagg_group, join_timer));

	gagg_step_timer(&hosted);
}

static void epoch_tell_news(struct gagg_group *grp)
{
	struct gagg_due taken;
	u64 news, differ = 0;
	u32 n;

	spin_lock_bh(&grp->join_lock);
	gagg_due_take(&grp->due, GAGG_DUE_NEWS, &taken);
	for (n = 0; n < grp->geom.nodes; n++)
		if (grp->join->peer[n].mismatch.field)
			differ |= GAGG_BIT(n);
	spin_unlock_bh(&grp->join_lock);
	news = taken.nodes[GAGG_JOIN_NOTIFY];
	wake_up_all(&grp->wq);
	for (; news; news &= news - 1) {
		u64 ranks = grp->geom.ranks_of[gagg_lowest(news)];
		bool bad = differ & GAGG_BIT(gagg_lowest(news));

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

static void epoch_tell_step(struct gagg_group *grp, const struct gagg_step *step)
{
	wake_up_all(&grp->wq);
	if (step->over)
		gagg_notify_group(grp, GAGG_EV_EPOCH_END);
	if (step->epoch)
		gagg_notify_group(grp, GAGG_EV_EPOCH_START);
}

static void epoch_follow(struct gagg_group *grp)
{
	const struct gagg_hosted hosted = epoch_hosted(grp);
	struct gagg_step step;

	mutex_lock(&grp->lock);
	gagg_step_follow(&hosted, grp->dead, &step);
	mutex_unlock(&grp->lock);
	epoch_tell_step(grp, &step);
}

static void epoch_work_fn(struct work_struct *work)
{
	gagg_faults_work_begin();
	epoch_follow(container_of(work, struct gagg_group, epoch_work));
	gagg_faults_work_end();
}

int gagg_epoch_init(struct gagg_group *grp)
{
	const struct gagg_params *v = &grp->cfg.param;
	struct gagg_hosted hosted;
	struct gagg_roster roster;

	grp->join = __vmalloc(sizeof(*grp->join),
			      GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN);
	if (!grp->join)
		return -ENOMEM;
	timer_setup(&grp->join_timer, epoch_timer_fn, 0);
	gagg_speak_setup(grp);
	INIT_WORK(&grp->news_work, epoch_news_work_fn);
	INIT_WORK(&grp->epoch_work, epoch_work_fn);
	gagg_config_roster(&grp->cfg, &roster);
	hosted = epoch_hosted(grp);
	gagg_step_create(&hosted, &roster, v);
	return 0;
}

void gagg_epoch_begin(struct gagg_group *grp)
{
	const struct gagg_hosted hosted = epoch_hosted(grp);

	gagg_step_timer(&hosted);
}

/*
 * The group is dead and unlinked, and no poll sees it. So only the timer and the works can queue
 * works, and epoch_call() queues none for a dead group. The epoch ends after all of them have
 * stopped.
 */
void gagg_epoch_stop(struct gagg_group *grp)
{
	const struct gagg_hosted hosted = epoch_hosted(grp);
	struct gagg_step step;

	timer_shutdown_sync(&grp->join_timer);
	cancel_work_sync(&grp->speak_work);
	cancel_work_sync(&grp->news_work);
	cancel_work_sync(&grp->epoch_work);
	mutex_lock(&grp->lock);
	gagg_step_delete(&hosted, &step);
	mutex_unlock(&grp->lock);
	epoch_tell_step(grp, &step);
}

enum gagg_drop gagg_epoch_rx(struct gagg_group *grp, u32 node, u32 shard,
			     const struct gagg_msg *m, const void *body)
{
	const struct gagg_hosted hosted = epoch_hosted(grp);
	struct gagg_join_dgram d = { .node = node, .shard = shard, .m = m, .body = body };

	return gagg_step_rx(&hosted, &d);
}

void gagg_epoch_attach(struct gagg_group *grp, u32 rank)
{
	const struct gagg_hosted hosted = epoch_hosted(grp);

	gagg_step_attach(&hosted, rank);
}

void gagg_epoch_leave(struct gagg_group *grp, u32 rank, u32 reason)
{
	const struct gagg_hosted hosted = epoch_hosted(grp);

	gagg_step_leave(&hosted, rank, reason);
}

void gagg_epoch_end(struct gagg_group *grp, const struct gagg_end *end)
{
	const struct gagg_hosted hosted = epoch_hosted(grp);

	gagg_step_end(&hosted, end);
}

void gagg_epoch_speak(struct gagg_group *grp)
{
	const struct gagg_hosted hosted = epoch_hosted(grp);

	gagg_step_limit(&hosted);
	gagg_step_speak(&hosted, GAGG_DUE_SAY);
}

u32 gagg_epoch_mtu(struct gagg_group *grp)
{
	const struct gagg_hosted hosted = epoch_hosted(grp);

	return gagg_step_mtu(&hosted);
}

void gagg_epoch_status(struct gagg_group *grp, struct gagg_ioc_status *st)
{
	if (!grp->join)
		return;
	spin_lock_bh(&grp->join_lock);
	gagg_join_status(grp->join, &grp->geom, READ_ONCE(grp->epoch), epoch_now_ns(), st);
	spin_unlock_bh(&grp->join_lock);
}
