// SPDX-License-Identifier: GPL-2.0
/*
 * Life and death of a group. group.h has the order of death.
 */
#include <linux/memcontrol.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include "channel.h"
#include "config.h"
#include "endpoint.h"
#include "epoch.h"
#include "group.h"
#include "multicast.h"
#include "netns.h"
#include "quota.h"
#include "route.h"
#include "session.h"

struct gagg_group *gagg_group_get(struct gagg_group *grp)
{
	kref_get(&grp->ref);
	return grp;
}

/*
 * The last reference is dropped.
 *
 * 1. Either the group was never published, or gagg_groups_bury() has unlinked it from everything,
 *    and polls have passed its synchronize_net().
 * 2. No session is bound, so there is no seat, and the table has the only references to channels.
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
	if (grp->counted)
		gagg_quota_give(grp->quota, GAGG_Q_GROUPS, 1);
	gagg_quota_put(grp->quota);
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

/* makes the core objects of a group whose configuration is complete */
static int group_cores(struct gagg_group *grp)
{
	u32 s;

	for (s = 0; s < grp->cfg.shards; s++) {
		grp->part[s].core = __vmalloc(gagg_shard_bytes(&grp->geom),
					      GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_NOWARN);
		if (!grp->part[s].core)
			return -ENOMEM;
		gagg_shard_init(grp->part[s].core, &grp->geom, s);
	}
	return 0;
}

/* no poll sees it any more, if any has */
static void group_disconnect(struct gagg_group *grp)
{
	if (grp->mc)
		gagg_multicast_put(grp->mc);
	if (grp->ep)
		gagg_endpoint_put(grp->ep);
}

/* frees a group that was never published */
static void group_free(struct gagg_group *grp)
{
	group_disconnect(grp);
	gagg_routes_exit(grp);
	gagg_group_put(grp);
}

/* a group with all its memory, but without sockets; NULL: no memory */
static struct gagg_group *group_alloc(struct gagg_net *gn, const struct gagg_config *cfg)
{
	struct gagg_quota *quota = gagg_quota_of(gn->net->user_ns);
	struct gagg_group *grp;

	if (IS_ERR(quota))
		return NULL;
	grp = kvzalloc(struct_size(grp, part, cfg->shards),
		       GFP_KERNEL_ACCOUNT | __GFP_NOWARN);
	if (!grp) {
		gagg_quota_put(quota);
		return NULL;
	}
	kref_init(&grp->ref);
	spin_lock_init(&grp->join_lock);
	spin_lock_init(&grp->times_lock);
	mutex_init(&grp->lock);
	init_waitqueue_head(&grp->wq);
	gagg_channels_init(grp);
	grp->gn = gn;
	grp->quota = quota;
	grp->memcg = get_mem_cgroup_from_mm(current->mm);
	grp->cfg = *cfg;
	if (gagg_config_geom(&grp->cfg, &grp->geom, grp->node) &&
	    (group_cores(grp) || gagg_epoch_init(grp) || gagg_routes_init(grp))) {
		group_free(grp);
		return NULL;
	}
	grp->all.addr = grp->cfg.multicast;
	grp->all_nodes = gagg_geom_all(&grp->geom);
	return grp;
}

/* joins the multicast address, if there is one and ranks on this host want results */
static int group_join(struct gagg_group *grp, struct netlink_ext_ack *extack)
{
	struct gagg_multicast *mc;
	int err;

	if (!grp->all.addr.sa.sa_family)
		return 0;
	err = gagg_multicast_scope(grp->ep, &grp->all.addr, extack);
	if (err || !gagg_geom_hears(&grp->geom))
		return err;
	mc = gagg_multicast_get(grp->ep, &grp->all.addr, extack);
	if (IS_ERR(mc))
		return PTR_ERR(mc);
	grp->mc = mc;
	return 0;
}

/* what other groups on its address say to a new one; @old: the group that it replaces, or NULL */
static int group_beside(const struct gagg_group *grp, const struct gagg_group *old,
			struct netlink_ext_ack *extack)
{
	const struct gagg_group *other;
	enum gagg_beside is;

	list_for_each_entry(other, &grp->gn->groups, list) {
		if (other == old || !other->ep ||
		    !gagg_addr_equal(&other->cfg.local, &grp->cfg.local))
			continue;
		is = gagg_fit_beside(&grp->cfg.param, &other->cfg.param);
		if (is == GAGG_BESIDE_FITS)
			continue;
		gagg_extack_say(extack, gagg_beside_wrong(is));
		return is == GAGG_BESIDE_SAME_ID ? -EEXIST : -EADDRINUSE;
	}
	return 0;
}

/* makes sockets without port numbers: gagg_endpoint_bind() must follow */
static int group_prepare(struct gagg_group *grp, struct netlink_ext_ack *extack)
{
	struct gagg_endpoint *ep;

	ep = gagg_endpoint_create(grp->gn, &grp->node[grp->geom.self].addr, grp->cfg.shards,
				  extack);
	if (IS_ERR(ep))
		return PTR_ERR(ep);
	grp->ep = ep;
	return group_join(grp, extack);
}

/*
 * makes and binds sockets, if the configuration is complete; @old: the group that it replaces, or
 * NULL
 */
static int group_connect(struct gagg_group *grp, const struct gagg_group *old,
			 struct netlink_ext_ack *extack)
{
	struct gagg_endpoint *ep;
	int err;

	if (!grp->join)
		return 0;
	err = group_beside(grp, old, extack);
	if (err)
		return err;
	ep = gagg_endpoint_get(grp->gn, &grp->node[grp->geom.self].addr, grp->cfg.shards,
			       extack);
	if (IS_ERR(ep))
		return PTR_ERR(ep);
	grp->ep = ep;
	return group_join(grp, extack);
}

/* from here on it is found by name and by id */
static void group_publish(struct gagg_group *grp)
{
	struct gagg_net *gn = grp->gn;

	grp->number = ++gn->last;
	list_add_tail(&grp->list, &gn->groups);
	if (!grp->ep)
		return;
	hlist_add_head_rcu(&grp->ep_node,
			   &grp->ep->groups[grp->cfg.id % ARRAY_SIZE(grp->ep->groups)]);
	gagg_epoch_begin(grp);
}

int gagg_group_create(struct gagg_net *gn, const struct gagg_config *cfg,
		      struct netlink_ext_ack *extack)
{
	struct gagg_group *grp;
	int err;

	lockdep_assert_held(&gn->lock);
	if (gn->dying)
		return -ENODEV;
	grp = group_alloc(gn, cfg);
	if (!grp)
		return -ENOMEM;
	err = gagg_quota_take(grp->quota, GAGG_Q_GROUPS, 1, extack);
	grp->counted = !err;
	if (!err)
		err = group_connect(grp, NULL, extack);
	if (err) {
		group_free(grp);
		return err;
	}
	group_publish(grp);
	return 0;
}

void gagg_group_unlink(struct gagg_group *grp, struct list_head *dead)
{
	gagg_net_assert_held(grp->gn);
	list_move_tail(&grp->list, dead);
	/* from here on no ioctl starts anything: each checks under the lock */
	mutex_lock(&grp->lock);
	WRITE_ONCE(grp->dead, true);
	mutex_unlock(&grp->lock);
	if (grp->ep)
		hlist_del_rcu(&grp->ep_node);
}

/*
 * stops a group that no poll sees any more; true: it was the last one with its sockets, or some of
 * them
 */
static bool group_stop(struct gagg_group *grp)
{
	/* runs the work one last time: this wakes waiters */
	gagg_epoch_stop(grp);
	gagg_channels_exit(grp);
	/* until here a session that leaves takes port locks to exclude polls */
	mutex_lock(&grp->lock);
	grp->portless = true;
	mutex_unlock(&grp->lock);
	gagg_routes_exit(grp);
	grp->closes_mc = grp->mc && gagg_multicast_leave(grp->mc);
	grp->closes_ep = gagg_endpoint_leave(grp->ep);
	return grp->closes_mc || grp->closes_ep;
}

/*
 * Closes the endpoints and multicast addresses that the last of their groups has left. The first
 * grace period ends calls that had found a port, the second one the use of the lists of NAPI
 * contexts. A multicast address goes first: it refers to the endpoint.
 */
static void groups_close(struct list_head *groups)
{
	struct gagg_group *grp;

	synchronize_net();
	list_for_each_entry(grp, groups, list)
		if (grp->closes_mc)
			gagg_multicast_close(grp->mc);
	list_for_each_entry(grp, groups, list)
		if (grp->closes_ep)
			gagg_endpoint_still(grp->ep);
	synchronize_net();
	list_for_each_entry(grp, groups, list)
		if (grp->closes_ep)
			gagg_endpoint_close(grp->ep);
}

/* wakes waiters for the last time, and drops references; sessions may keep groups for longer */
static void groups_put(struct list_head *groups)
{
	struct gagg_group *grp, *next;

	list_for_each_entry_safe(grp, next, groups, list) {
		list_del(&grp->list);
		wake_up_all(&grp->wq);
		gagg_group_put(grp);
	}
}

void gagg_groups_bury(struct list_head *dead)
{
	struct gagg_group *grp, *next;
	LIST_HEAD(connected);
	bool closes = false;

	list_for_each_entry_safe(grp, next, dead, list)
		if (grp->ep)
			list_move_tail(&grp->list, &connected);
	groups_put(dead);
	if (list_empty(&connected))
		return;
	synchronize_net();
	list_for_each_entry(grp, &connected, list)
		closes |= group_stop(grp);
	if (closes)
		groups_close(&connected);
	groups_put(&connected);
}

void gagg_group_kill(struct gagg_group *grp)
{
	LIST_HEAD(dead);

	gagg_group_unlink(grp, &dead);
	gagg_groups_bury(&dead);
}

/* marks the group dead, so that no rank can attach any more; fails if one is attached */
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

/* does only @old have ports that @new needs, in another range? */
static bool group_in_the_way(const struct gagg_group *old, const struct gagg_group *new)
{
	if (!old->ep || !new->join || refcount_read(&old->ep->refs) > 1)
		return false;
	return gagg_addr_equal(&old->cfg.local, &new->cfg.local) &&
	       gagg_fit_beside(&new->cfg.param, &old->cfg.param) == GAGG_BESIDE_PORTS;
}

/* the quota counts @new in place of @old, which is about to go */
static void group_replace(struct gagg_group *old, struct gagg_group *new)
{
	new->counted = old->counted;
	old->counted = false;
}

/*
 * @old is in the way, so it dies first. If @new does not get its ports, @spare gets those of @old.
 * Nothing is allocated after @old is dead.
 */
static int group_swap(struct gagg_group *old, struct gagg_group *new,
		      struct gagg_group *spare, struct netlink_ext_ack *extack)
{
	int err;

	group_replace(old, new);
	gagg_group_kill(old);
	err = gagg_endpoint_bind(new->ep, extack);
	if (!err) {
		group_publish(new);
		group_free(spare);
		return 0;
	}
	group_replace(new, spare);
	group_free(new);
	if (gagg_endpoint_bind(spare->ep, NULL)) {
		pr_warn_ratelimited("gagg: group %s is lost: somebody has taken its UDP ports while it was changed\n",
				    spare->cfg.name);
		group_free(spare);
		return err;
	}
	group_publish(spare);
	return err;
}

/*
 * Everything that can fail is done while the old group still exists, with one exception: ports that
 * the old group holds can be bound only when it is dead. If that fails, a group like the old one
 * takes its place.
 */
int gagg_group_change(struct gagg_group *grp, const struct gagg_config *cfg,
		      struct netlink_ext_ack *extack)
{
	struct gagg_group *new, *spare = NULL;
	int err = 0;

	if (gagg_config_same_shape(&grp->cfg, cfg)) {
		mutex_lock(&grp->lock);
		gagg_config_change(&grp->cfg, cfg);
		mutex_unlock(&grp->lock);
		return 0;
	}
	new = group_alloc(grp->gn, cfg);
	if (!new)
		return -ENOMEM;
	if (group_in_the_way(grp, new)) {
		spare = group_alloc(grp->gn, &grp->cfg);
		err = spare ? group_beside(new, grp, extack) : -ENOMEM;
		if (!err)
			err = group_prepare(new, extack);
		if (!err)
			err = group_prepare(spare, extack);
	} else {
		err = group_connect(new, grp, extack);
	}
	if (!err && !group_retire(grp)) {
		NL_SET_ERR_MSG(extack,
			       "ranks of the group are attached: stop the trainers first");
		err = -EBUSY;
	}
	if (!err && spare)
		return group_swap(grp, new, spare, extack);
	if (!err) {
		group_replace(grp, new);
		gagg_group_kill(grp);
		group_publish(new);
		return 0;
	}
	group_free(new);
	if (spare)
		group_free(spare);
	return err;
}

/*
 * Ports are locked in ascending order, and lockdep is told so: all port locks are of one class, and
 * SINGLE_DEPTH_NESTING does not suffice for 16.
 */
void gagg_group_lock_ports(struct gagg_group *grp)
{
	u32 s;

	local_bh_disable();
	for (s = 0; s < grp->cfg.shards; s++) {
		spin_lock_nest_lock(&grp->ep->port[s].lock, &grp->lock);
		/* sparse does not count locks that a loop takes */
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
