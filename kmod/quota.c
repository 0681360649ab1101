// SPDX-License-Identifier: GPL-2.0
#include <linux/cred.h>
#include <linux/err.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/netlink.h>
#include <linux/slab.h>
#include <linux/user_namespace.h>
#include "quota.h"

static unsigned int limit[GAGG_Q_COUNT] = {
	[GAGG_Q_GROUPS] = 64,
	[GAGG_Q_PORTS] = 256,
	[GAGG_Q_CHANNELS] = 1024,
};

module_param_named(userns_groups, limit[GAGG_Q_GROUPS], uint, 0644);
MODULE_PARM_DESC(userns_groups, "groups in a user namespace; 0: only in the initial one (64)");
module_param_named(userns_ports, limit[GAGG_Q_PORTS], uint, 0644);
MODULE_PARM_DESC(userns_ports, "ports of groups in a user namespace (256)");
module_param_named(userns_channels, limit[GAGG_Q_CHANNELS], uint, 0644);
MODULE_PARM_DESC(userns_channels, "channels of groups in a user namespace (1024)");

/* an extended ack keeps the pointer: literals only */
static const char *const sentence[GAGG_Q_COUNT] = {
	[GAGG_Q_GROUPS] = "no more groups in this user namespace: delete some, or have the host's root raise userns_groups in /sys/module/gagg/parameters",
	[GAGG_Q_PORTS] = "no more ports of groups in this user namespace: use fewer shards, or have the host's root raise userns_ports in /sys/module/gagg/parameters",
	[GAGG_Q_CHANNELS] = "no more channels in this user namespace: free some, or have the host's root raise userns_channels in /sys/module/gagg/parameters",
};

/* in the list while there is a reference; the last one is dropped under the lock */
struct gagg_quota {
	struct list_head list;
	struct kref ref;
	kuid_t owner;
	struct user_namespace *ns;	/* a reference; NULL: for all namespaces of the owner */
	atomic_t used[GAGG_Q_COUNT];
};

static DEFINE_MUTEX(quotas_lock);
static LIST_HEAD(quotas);

/* under quotas_lock */
static struct gagg_quota *quota_find(kuid_t owner, const struct user_namespace *ns)
{
	struct gagg_quota *quota;

	list_for_each_entry(quota, &quotas, list)
		if (uid_eq(quota->owner, owner) && quota->ns == ns)
			return quota;
	return NULL;
}

/* likewise */
static struct gagg_quota *quota_new(kuid_t owner, struct user_namespace *ns)
{
	struct gagg_quota *quota = kzalloc(sizeof(*quota), GFP_KERNEL_ACCOUNT);

	if (!quota)
		return ERR_PTR(-ENOMEM);
	kref_init(&quota->ref);
	quota->owner = owner;
	if (ns)
		quota->ns = get_user_ns(ns);
	list_add(&quota->list, &quotas);
	return quota;
}

struct gagg_quota *gagg_quota_of(struct user_namespace *ns)
{
	struct gagg_quota *quota;

	if (ns == &init_user_ns)
		return NULL;
	while (ns->parent != &init_user_ns)
		ns = ns->parent;
	mutex_lock(&quotas_lock);
	/* an owner that is not root could make more namespaces, so all of them share a quota */
	quota = quota_find(ns->owner, uid_eq(ns->owner, GLOBAL_ROOT_UID) ? ns : NULL);
	if (quota)
		kref_get(&quota->ref);
	else
		quota = quota_new(ns->owner, uid_eq(ns->owner, GLOBAL_ROOT_UID) ? ns : NULL);
	mutex_unlock(&quotas_lock);
	return quota;
}

struct gagg_quota *gagg_quota_get(struct gagg_quota *quota)
{
	if (quota)
		kref_get(&quota->ref);
	return quota;
}

static void quota_release(struct kref *ref)
{
	struct gagg_quota *quota = container_of(ref, struct gagg_quota, ref);

	list_del(&quota->list);
	mutex_unlock(&quotas_lock);
	if (quota->ns)
		put_user_ns(quota->ns);
	kfree(quota);
}

void gagg_quota_put(struct gagg_quota *quota)
{
	if (quota)
		kref_put_mutex(&quota->ref, quota_release, &quotas_lock);
}

int gagg_quota_take(struct gagg_quota *quota, enum gagg_quota_kind kind, u32 n,
		    struct netlink_ext_ack *extack)
{
	u32 used;

	if (!quota)
		return 0;
	used = atomic_add_return(n, &quota->used[kind]);
	if (used <= READ_ONCE(limit[kind]))
		return 0;
	atomic_sub(n, &quota->used[kind]);
	if (extack)
		extack->_msg = sentence[kind];
	return -EDQUOT;
}

void gagg_quota_give(struct gagg_quota *quota, enum gagg_quota_kind kind, u32 n)
{
	if (quota)
		atomic_sub(n, &quota->used[kind]);
}
