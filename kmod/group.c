// SPDX-License-Identifier: GPL-2.0
/*
 * Life and death of a group. group.h has the order of death.
 */
#include <linux/memcontrol.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "channel.h"
#include "group.h"
#include "netlink.h"
#include "netns.h"
#include "session.h"
#include "tx.h"

struct gagg_group *gagg_group_get(struct gagg_group *grp)
{
	kref_get(&grp->ref);
	return grp;
}

/*
 * The last reference. Unlinked from everything since gagg_group_kill(), whose
 * synchronize_net() the polls have passed; no session is bound, hence no seat
 * exists and the channels' only reference is the table's.
 */
static void group_release(struct kref *ref)
{
	struct gagg_group *grp = container_of(ref, struct gagg_group, ref);
	u32 i;

	for (i = 0; i < GAGG_CHANNELS_MAX; i++)
		if (grp->channel[i])
			gagg_channel_put(grp->channel[i]);
	for (i = 0; i < grp->cfg.shards; i++)
		vfree(grp->part[i].core);
	vfree(grp->join);
	mem_cgroup_put(grp->memcg);
	mutex_destroy(&grp->lock);
	kvfree(grp);
}

void gagg_group_put(struct gagg_group *grp)
{
	kref_put(&grp->ref, group_release);
}

struct gagg_group *gagg_group_find(struct gagg_net *gn, const char *name)
{
	struct gagg_group *grp;

	lockdep_assert_held(&gn->lock);
	list_for_each_entry(grp, &gn->groups, list)
		if (!strcmp(grp->cfg.name, name))
			return grp;
	return NULL;
}

/* core objects and sockets of a group whose configuration is complete */
static int group_start(struct gagg_group *grp, struct netlink_ext_ack *extack)
{
	union gagg_addr local = grp->node[grp->geom.self].addr;
	struct gagg_endpoint *ep;
	u32 s;
	int err;

	for (s = 0; s < grp->cfg.shards; s++) {
		grp->part[s].core = __vmalloc(gagg_shard_bytes(&grp->geom),
					      GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (!grp->part[s].core)
			return -ENOMEM;
		gagg_shard_init(grp->part[s].core, &grp->geom, s, grp->cfg.sync);
	}
	ep = gagg_endpoint_get(grp->gn, &local, grp->cfg.shards, extack);
	if (IS_ERR(ep))
		return PTR_ERR(ep);
	if (gagg_endpoint_group(ep, grp->cfg.id)) {
		NL_SET_ERR_MSG(extack,
			       "another group on this address and port has the same id: give one of them another id");
		gagg_endpoint_put(ep);
		return -EEXIST;
	}
	grp->ep = ep;
	err = gagg_epoch_init(grp);
	if (err) {
		grp->ep = NULL;
		gagg_endpoint_put(ep);
		return err;
	}
	err = gagg_routes_init(grp);
	if (err) {
		gagg_epoch_stop(grp);
		grp->ep = NULL;
		gagg_endpoint_put(ep);
		return err;
	}
	hlist_add_head_rcu(&grp->ep_node,
			   &ep->groups[grp->cfg.id % ARRAY_SIZE(ep->groups)]);
	gagg_epoch_begin(grp);
	return 0;
}

int gagg_group_create(struct gagg_net *gn, const struct gagg_config *cfg,
		      struct netlink_ext_ack *extack)
{
	struct gagg_group *grp;
	int err;

	lockdep_assert_held(&gn->lock);
	if (gn->dying)
		return -ENODEV;
	grp = kvzalloc(struct_size(grp, part, cfg->shards), GFP_KERNEL_ACCOUNT);
	if (!grp)
		return -ENOMEM;
	kref_init(&grp->ref);
	spin_lock_init(&grp->join_lock);
	mutex_init(&grp->lock);
	init_waitqueue_head(&grp->wq);
	gagg_channels_init(grp);
	grp->gn = gn;
	grp->memcg = get_mem_cgroup_from_mm(current->mm);
	grp->cfg = *cfg;
	if (gagg_config_geom(&grp->cfg, &grp->geom, grp->node)) {
		err = group_start(grp, extack);
		if (err) {
			gagg_group_put(grp);
			return err;
		}
	}
	grp->number = ++gn->last;
	list_add_tail(&grp->list, &gn->groups);
	return 0;
}

void gagg_group_kill(struct gagg_group *grp)
{
	lockdep_assert_held(&grp->gn->lock);
	list_del(&grp->list);
	/* from here no ioctl starts anything: they look under the lock */
	mutex_lock(&grp->lock);
	WRITE_ONCE(grp->dead, true);
	mutex_unlock(&grp->lock);
	if (grp->ep) {
		hlist_del_rcu(&grp->ep_node);
		synchronize_net();
		/* runs the work one last time: waiters wake */
		gagg_epoch_stop(grp);
		gagg_channels_exit(grp);
		/* until here a session that leaves excludes polls by their locks */
		mutex_lock(&grp->lock);
		grp->portless = true;
		mutex_unlock(&grp->lock);
		gagg_routes_exit(grp);
		gagg_endpoint_put(grp->ep);
	}
	wake_up_all(&grp->wq);
	gagg_group_put(grp);
}

/* mark it dead, so that no rank can attach any more, unless one is */
static bool group_retire(struct gagg_group *grp)
{
	bool busy = false;
	u32 r;

	mutex_lock(&grp->lock);
	for (r = 0; r < GAGG_RANKS; r++)
		if (grp->session[r] && gagg_session_attached(grp->session[r]))
			busy = true;
	if (!busy)
		WRITE_ONCE(grp->dead, true);
	mutex_unlock(&grp->lock);
	return !busy;
}

int gagg_group_change(struct gagg_group *grp, const struct gagg_config *cfg,
		      struct netlink_ext_ack *extack)
{
	struct gagg_net *gn = grp->gn;
	struct gagg_config *old;
	int err;

	if (gagg_config_same_shape(&grp->cfg, cfg)) {
		mutex_lock(&grp->lock);
		grp->cfg.uid = cfg->uid;
		grp->cfg.gid = cfg->gid;
		grp->cfg.mode = cfg->mode;
		grp->cfg.channels = cfg->channels;
		mutex_unlock(&grp->lock);
		return 0;
	}
	old = kmemdup(&grp->cfg, sizeof(grp->cfg), GFP_KERNEL_ACCOUNT);
	if (!old)
		return -ENOMEM;
	if (!group_retire(grp)) {
		NL_SET_ERR_MSG(extack,
			       "ranks of the group are attached: stop the trainers first");
		kfree(old);
		return -EBUSY;
	}
	/*
	 * The new one may need the old one's ports, so the old one dies first.
	 * When the new one cannot be made, the old configuration comes back.
	 */
	gagg_group_kill(grp);
	err = gagg_group_create(gn, cfg, extack);
	if (err && gagg_group_create(gn, old, NULL))
		pr_warn_ratelimited("gagg: group %s is lost: it could be neither changed nor restored\n",
				    old->name);
	kfree(old);
	return err;
}

/*
 * Ports ascend, so that lockdep can be told: all of them are of one class and
 * SINGLE_DEPTH_NESTING would not do for 16.
 */
void gagg_group_lock_ports(struct gagg_group *grp)
{
	u32 s;

	local_bh_disable();
	for (s = 0; s < grp->cfg.shards; s++) {
		spin_lock_nest_lock(&grp->ep->port[s].lock, &grp->lock);
		/* sparse does not count what a loop takes */
		__release(&grp->ep->port[s].lock);
	}
}

void gagg_group_unlock_ports(struct gagg_group *grp)
{
	u32 s;

	for (s = grp->cfg.shards; s--;) {
		__acquire(&grp->ep->port[s].lock);
		spin_unlock(&grp->ep->port[s].lock);
	}
	local_bh_enable();
}
