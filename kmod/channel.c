// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of a channel, channels asked for by others.
 */
#include <linux/err.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "channel.h"
#include "compat/workqueue.h"
#include "faults.h"
#include "group.h"
#include "memory.h"
#include "quota.h"
#include "trace.h"

static void channel_free(struct gagg_channel *ch)
{
	u32 s;

	for (s = 0; s < ch->site.nparts; s++)
		vfree(ch->site.part[s]);
	gagg_mem_free(&ch->acc);
	gagg_mem_free(&ch->held);
	gagg_mem_free(&ch->done);
	gagg_mem_free(&ch->result);
	gagg_quota_give(ch->quota, GAGG_Q_CHANNELS, 1);
	gagg_quota_put(ch->quota);
	kfree(ch);
}

/* sleeps: seats and the table are dropped in process context only */
static void channel_release(struct kref *ref)
{
	channel_free(container_of(ref, struct gagg_channel, ref));
}

void gagg_channel_put(struct gagg_channel *ch)
{
	kref_put(&ch->ref, channel_release);
}

static int channel_alloc_parts(const struct gagg_geom *g, struct gagg_channel *ch)
{
	u64 bytes = gagg_chan_bytes(g, ch->members);
	u32 s;

	for (s = 0; s < g->shards; s++) {
		void *mem = __vmalloc(bytes, GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN);

		if (!mem)
			return -ENOMEM;
		gagg_site_add_part(&ch->site, g, mem, ch->id, ch->members);
	}
	return 0;
}

static int channel_alloc(const struct gagg_geom *g, struct gagg_channel *ch)
{
	struct gagg_layout l;
	int err;

	err = channel_alloc_parts(g, ch);
	if (err)
		return err;
	gagg_layout_of(g, ch->site.part[0], &l);
	err = gagg_mem_alloc(&ch->result, l.result);
	if (!err)
		err = gagg_mem_alloc(&ch->done, l.done);
	if (!err && l.acc)
		err = gagg_mem_alloc(&ch->acc, l.acc);
	if (!err && l.held)
		err = gagg_mem_alloc(&ch->held, l.held);
	ch->site.result = ch->result.block;
	ch->site.done = ch->done.block;
	ch->site.acc = ch->acc.block;
	ch->site.held = ch->held.block;
	return err;
}

struct gagg_channel *gagg_channel_create(struct gagg_group *grp, u32 id, u64 members)
{
	struct gagg_channel *ch;
	int index, err;
	u32 s;

	lockdep_assert_held(&grp->lock);
	index = gagg_table_place(&grp->table, id, grp->cfg.channels);
	if (index < 0)
		return ERR_PTR(-ENOSPC);
	err = gagg_quota_take(grp->quota, GAGG_Q_CHANNELS, 1, NULL);
	if (err)
		return ERR_PTR(err);
	ch = kzalloc(sizeof(*ch), GFP_KERNEL_ACCOUNT);
	if (!ch) {
		gagg_quota_give(grp->quota, GAGG_Q_CHANNELS, 1);
		return ERR_PTR(-ENOMEM);
	}
	kref_init(&ch->ref);
	/* a session may keep the channel for longer than the group */
	ch->quota = gagg_quota_get(grp->quota);
	ch->id = id;
	ch->site.index = index;
	ch->members = members;
	err = channel_alloc(&grp->geom, ch);
	if (err) {
		channel_free(ch);
		return ERR_PTR(err);
	}
	if (grp->epoch)
		gagg_channel_begin(ch, grp->epoch);
	gagg_group_lock_ports(grp);
	grp->channel[index] = ch;
	for (s = 0; s < ch->site.nparts; s++)
		grp->part[s].channel[index] = ch->site.part[s];
	gagg_table_enter(&grp->table, index, id);
	/* without an epoch the channel gets the number when one begins */
	if (grp->epoch)
		trace_gagg_channel(&grp->geom, id, members);
	gagg_group_unlock_ports(grp);
	return ch;
}

/* group.lock and all port locks held */
static void channel_unlink_locked(struct gagg_group *grp, struct gagg_channel *ch)
{
	u32 s;

	lockdep_assert_held(&grp->lock);
	grp->channel[ch->site.index] = NULL;
	for (s = 0; s < ch->site.nparts; s++)
		grp->part[s].channel[ch->site.index] = NULL;
	gagg_table_leave(&grp->table, ch->site.index);
}

static void channel_drop(struct gagg_group *grp, struct gagg_channel *ch)
{
	gagg_group_lock_ports(grp);
	channel_unlink_locked(grp, ch);
	gagg_group_unlock_ports(grp);
	gagg_channel_put(ch);
}

u32 gagg_channel_unlink_all(struct gagg_group *grp, struct gagg_channel **gone)
{
	u32 n = 0;

	while (grp->table.taken) {
		gone[n] = grp->channel[gagg_lowest(grp->table.taken)];
		channel_unlink_locked(grp, gone[n++]);
	}
	return n;
}

struct gagg_channel *gagg_channel_fresh(struct gagg_group *grp)
{
	if (gagg_table_stale(&grp->table))
		channel_drop(grp, grp->channel[0]);
	return gagg_channel_find(grp, 0) ?: gagg_channel_create(grp, 0, grp->geom.workers);
}

void gagg_channel_trim(struct gagg_group *grp)
{
	struct gagg_channel *ch = gagg_channel_find(grp, 0);

	/* a dead group's table is emptied by gagg_channels_exit() */
	if (ch && !grp->epoch && !grp->dead && !memchr_inv(ch->seat, 0, sizeof(ch->seat)))
		channel_drop(grp, ch);
}

void gagg_channel_begin(struct gagg_channel *ch, u64 epoch)
{
	WRITE_ONCE(gagg_site_done(&ch->site)->epoch, epoch);
}

/* counts an OPEN that failed for lack of memory; group.lock held */
static void channel_count_nomem(struct gagg_group *grp)
{
	gagg_group_lock_ports(grp);
	grp->part[0].stats.drop[GAGG_DROP_NOMEM]++;
	gagg_group_unlock_ports(grp);
}

/* group.lock held */
static bool channel_wanted(struct gagg_group *grp, struct gagg_want *want)
{
	struct gagg_opens *o = &grp->opens;
	bool is;

	spin_lock_bh(&o->lock);
	is = !READ_ONCE(grp->dead) &&
	     gagg_wants_next(&o->wants, &grp->table, grp->epoch, want);
	spin_unlock_bh(&o->lock);
	return is;
}

/*
 * The memory of a channel without local ranks is charged to the cgroup of the task that made the
 * group.
 */
static void channel_opens_work(struct work_struct *work)
{
	struct gagg_group *grp = container_of(work, struct gagg_group, opens.work);
	struct mem_cgroup *old = set_active_memcg(grp->memcg);
	struct gagg_want want;

	gagg_faults_work_begin();
	mutex_lock(&grp->lock);
	/* without memory the other hosts ask again */
	while (channel_wanted(grp, &want))
		if (IS_ERR(gagg_channel_create(grp, want.id, want.members)))
			channel_count_nomem(grp);
	mutex_unlock(&grp->lock);
	gagg_faults_work_end();
	set_active_memcg(old);
}

void gagg_channel_want(struct gagg_group *grp, u64 epoch, u32 id, u64 members)
{
	struct gagg_opens *o = &grp->opens;

	spin_lock_bh(&o->lock);
	gagg_wants_add(&o->wants, epoch, id, members);
	spin_unlock_bh(&o->lock);
	queue_work(gagg_compat_unbound_wq(), &o->work);
}

void gagg_channels_init(struct gagg_group *grp)
{
	spin_lock_init(&grp->opens.lock);
	INIT_WORK(&grp->opens.work, channel_opens_work);
}

/* no poll sees the group any more, so nothing queues the work */
void gagg_channels_exit(struct gagg_group *grp)
{
	cancel_work_sync(&grp->opens.work);
	mutex_lock(&grp->lock);
	while (grp->table.taken)
		channel_drop(grp, grp->channel[gagg_lowest(grp->table.taken)]);
	mutex_unlock(&grp->lock);
}
