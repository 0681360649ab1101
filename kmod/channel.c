// SPDX-License-Identifier: GPL-2.0
/*
 * Memory of a channel, channels asked for by others.
 */
#include <linux/errno.h>
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

struct gagg_host {
	struct gagg_group *grp;
};

#include "core/sites.h"

static struct gagg_sites channel_sites(struct gagg_group *grp)
{
	return (struct gagg_sites){
		.host.grp = grp,
		.g = &grp->geom,
		.table = &grp->table,
		.limit = grp->cfg.channels,
		.epoch = &grp->epoch,
		.wants = &grp->opens.wants,
	};
}

static void channel_free(struct gagg_channel *ch)
{
	u32 i;

	for (i = 0; i < ch->site.nparts; i++)
		vfree(ch->site.part[i]);
	for (i = 0; i < GAGG_SHARED_COUNT; i++)
		gagg_mem_free(&ch->mem[i]);
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

static void channel_lock(const struct gagg_host *h)
{
	gagg_group_lock_ports(h->grp);
}

static void channel_unlock(const struct gagg_host *h)
{
	gagg_group_unlock_ports(h->grp);
}

static void channel_lock_wants(const struct gagg_host *h)
{
	spin_lock_bh(&h->grp->opens.lock);
	/* sparse counts locks of a function, not of the pair */
	__release(&h->grp->opens.lock);
}

static void channel_unlock_wants(const struct gagg_host *h)
{
	__acquire(&h->grp->opens.lock);
	spin_unlock_bh(&h->grp->opens.lock);
}

static int channel_new(const struct gagg_host *h, struct gagg_site **site)
{
	struct gagg_quota *quota = h->grp->quota;
	struct gagg_channel *ch;
	int err;

	lockdep_assert_held(&h->grp->lock);
	err = gagg_quota_take(quota, GAGG_Q_CHANNELS, 1, NULL);
	if (err)
		return err;
	ch = kzalloc(sizeof(*ch), GFP_KERNEL_ACCOUNT);
	if (!ch) {
		gagg_quota_give(quota, GAGG_Q_CHANNELS, 1);
		return -ENOMEM;
	}
	kref_init(&ch->ref);
	/* a session may keep the channel for longer than the group */
	ch->quota = gagg_quota_get(quota);
	*site = &ch->site;
	return 0;
}

static int channel_part(const struct gagg_host *h, u64 bytes, void **mem)
{
	*mem = __vmalloc(bytes, GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN);
	return *mem ? 0 : -ENOMEM;
}

static int channel_region(const struct gagg_host *h, struct gagg_site *site,
			  enum gagg_shared region, u64 bytes, void *const **blocks)
{
	struct gagg_mem *mem = &gagg_channel_of(site)->mem[region];
	int err = gagg_mem_alloc(mem, bytes);

	*blocks = mem->block;
	return err;
}

static void channel_give(const struct gagg_host *h, struct gagg_site *site)
{
	gagg_channel_put(gagg_channel_of(site));
}

static struct gagg_site *channel_at(const struct gagg_host *h, u32 place)
{
	struct gagg_channel *ch = h->grp->channel[place];

	return ch ? &ch->site : NULL;
}

static void channel_enter(const struct gagg_host *h, struct gagg_site *site)
{
	struct gagg_channel *ch = gagg_channel_of(site);
	u32 s;

	ch->id = site->part[0]->id;
	h->grp->channel[site->index] = ch;
	for (s = 0; s < site->nparts; s++)
		h->grp->part[s].channel[site->index] = site->part[s];
}

static void channel_leave(const struct gagg_host *h, struct gagg_site *site)
{
	u32 s;

	lockdep_assert_held(&h->grp->lock);
	h->grp->channel[site->index] = NULL;
	for (s = 0; s < site->nparts; s++)
		h->grp->part[s].channel[site->index] = NULL;
}

static void channel_left(const struct gagg_host *h)
{
}

static void channel_trace(const struct gagg_host *h, const struct gagg_site *site)
{
	trace_gagg_channel(&h->grp->geom, site->part[0]->id, site->part[0]->members);
}

static struct gagg_stats *channel_stats(const struct gagg_host *h)
{
	return &h->grp->part[0].stats;
}

int gagg_channel_create(struct gagg_group *grp, u32 id, u64 members, struct gagg_site **site)
{
	const struct gagg_sites sites = channel_sites(grp);

	return gagg_sites_create(&sites, id, members, site);
}

u32 gagg_channel_unlink_all(struct gagg_group *grp, struct gagg_site **gone)
{
	const struct gagg_sites sites = channel_sites(grp);

	return gagg_sites_unlink(&sites, gone);
}

int gagg_channel_fresh(struct gagg_group *grp, struct gagg_site **site)
{
	const struct gagg_sites sites = channel_sites(grp);

	return gagg_sites_fresh(&sites, site);
}

void gagg_channel_trim(struct gagg_group *grp)
{
	const struct gagg_sites sites = channel_sites(grp);

	/* a dead group's table is emptied by gagg_channels_exit() */
	if (!grp->dead)
		gagg_sites_trim(&sites);
}

/*
 * The memory of a channel without local ranks is charged to the cgroup of the task that made the
 * group.
 */
static void channel_opens_work(struct work_struct *work)
{
	struct gagg_group *grp = container_of(work, struct gagg_group, opens.work);
	const struct gagg_sites sites = channel_sites(grp);
	struct mem_cgroup *old = set_active_memcg(grp->memcg);

	gagg_faults_work_begin();
	mutex_lock(&grp->lock);
	if (!grp->dead)
		gagg_sites_make(&sites);
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
	const struct gagg_sites sites = channel_sites(grp);

	cancel_work_sync(&grp->opens.work);
	mutex_lock(&grp->lock);
	while (grp->table.taken)
		gagg_sites_drop(&sites, channel_at(&sites.host, gagg_lowest(grp->table.taken)));
	mutex_unlock(&grp->lock);
}
