/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A group: configuration, the core objects built from it, its channels and the sessions of its
 * local ranks.
 *
 * A change of configuration rebuilds the group under the same name: a new struct gagg_group with a
 * new instance id replaces the old one, which dies like a deleted one. So everything that follows
 * from the configuration is constant for the lifetime of the object.
 *
 * Death (gagg_group_kill()), in this order; groups that die together take each step together, in
 * three grace periods for all:
 * 1. marked dead and unlinked from name list and endpoint (gagg_net.lock)
 * 2. synchronize_net(): no poll sees the group any more
 * 3. timer and works stopped, epoch ended with GAGG_R_DELETED, waiters woken, ABORT sent
 * 4. endpoint dropped
 * 5. the memory goes with the last reference (sessions hold one)
 */
#ifndef GAGG_GROUP_H
#define GAGG_GROUP_H

#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/timer.h>
#include <linux/wait.h>
#include <linux/workqueue.h>
#include <linux/gagg_netlink.h>
#include <net/dst_cache.h>
#include "config.h"
#include "core/core.h"
#include "endpoint.h"

struct gagg_channel;
struct gagg_multicast;
struct gagg_net;
struct gagg_quota;
struct gagg_session;

struct gagg_node {
	union gagg_addr addr;	/* base port */
	struct dst_cache route;	/* gagg_routes_init() to gagg_routes_exit() */
};

/* the part of a group that belongs to one port; under the port's lock */
struct gagg_part {
	struct gagg_shard *core;
	struct gagg_stats stats;
	/* by place: the part of each of gagg_group.channel; set and cleared with that */
	struct gagg_chan *channel[GAGG_CHANNELS_MAX];
};

/* channels that other hosts have asked for */
struct gagg_opens {
	struct work_struct work;
	spinlock_t lock;	/* wants; a leaf */
	struct gagg_wants wants;
};

struct gagg_group {
	struct list_head list;		/* gagg_net.groups; gagg_net.lock */
	long number;			/* grows with every group of the namespace */
	struct hlist_node ep_node;	/* gagg_endpoint.groups; RCU */
	struct kref ref;
	struct gagg_net *gn;
	struct mem_cgroup *memcg;	/* the maker's cgroup: pays for what works allocate */
	struct gagg_quota *quota;	/* of the user namespace; or NULL */
	bool counted;			/* one of the quota's groups; gagg_net.lock */
	struct gagg_endpoint *ep;	/* NULL: incomplete, nothing runs */
	struct gagg_config cfg;
	struct gagg_geom geom;		/* @lanes change with epochs: written under all port locks
					 * and lock, read under either
					 */
	struct gagg_node node[GAGG_NODES];
	struct gagg_node all;		/* the multicast address of results */
	u64 all_nodes;			/* nodes that are reached there: two or more; 0: none */
	struct gagg_multicast *mc;	/* sockets that hear it for local ranks; as ep */
	bool dead;			/* nothing begins any more; group.lock, READ_ONCE */
	bool portless;			/* dead, and the ports may be gone; group.lock */
	bool closes_mc;			/* dead, and it was the last group of mc */
	bool closes_ep;			/* dead, and it was the last group of ep */

	spinlock_t join_lock;		/* protects join and due */
	struct gagg_join *join;
	struct timer_list join_timer;
	struct gagg_due due;		/* what join wants; join_lock */
	struct work_struct speak_work;	/* sends what is to be said */
	struct work_struct news_work;	/* notifies */
	struct work_struct epoch_work;	/* moves the group to the state of join */

	struct mutex lock;		/* below, and sessions' attach state */
	u64 epoch;			/* running here; 0: none */
	u64 epochs;			/* epochs started, counter */
	struct gagg_session *session[GAGG_RANKS];	/* bound to the rank */
	/*
	 * Channels by place, and the table of places: written under all port locks and group.lock,
	 * read under either. table.spent is under group.lock only.
	 */
	struct gagg_channel *channel[GAGG_CHANNELS_MAX];
	struct gagg_table table;
	struct gagg_opens opens;
	spinlock_t times_lock;		/* times; a leaf, from any context */
	struct gagg_times times[GAGG_RANKS];	/* of local ranks */
	wait_queue_head_t wq;		/* epoch starts and ends, mismatch */

	struct gagg_part part[];	/* by shard */
};

/* all with gagg_net.lock held; sleep */
struct gagg_group *gagg_group_find(struct gagg_net *gn, const char *name);
int gagg_group_create(struct gagg_net *gn, const struct gagg_config *cfg,
		      struct netlink_ext_ack *extack);
/*
 * replaces the configuration; EBUSY while a rank is attached, unless gagg_config_same_shape()
 */
int gagg_group_change(struct gagg_group *grp, const struct gagg_config *cfg,
		      struct netlink_ext_ack *extack);
void gagg_group_kill(struct gagg_group *grp);
/*
 * the same for many groups, at the end of namespaces: unlink, so that nothing finds them any more,
 * then bury, without locks
 */
void gagg_group_unlink(struct gagg_group *grp, struct list_head *dead);
void gagg_groups_bury(struct list_head *dead);

struct gagg_group *gagg_group_get(struct gagg_group *grp);
void gagg_group_put(struct gagg_group *grp);

/* locks all ports of the group's endpoint, ascending; group.lock held; bh off */
void gagg_group_lock_ports(struct gagg_group *grp);
void gagg_group_unlock_ports(struct gagg_group *grp);

#endif
