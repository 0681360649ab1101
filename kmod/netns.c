// SPDX-License-Identifier: GPL-2.0
#include <net/netns/generic.h>
#include "endpoint.h"
#include "group.h"
#include "netns.h"

static unsigned int gagg_net_id;

struct gagg_net *gagg_net_of(struct net *net)
{
	return net_generic(net, gagg_net_id);
}

static int __net_init gagg_net_init(struct net *net)
{
	struct gagg_net *gn = gagg_net_of(net);

	gn->net = net;
	mutex_init(&gn->lock);
	INIT_LIST_HEAD(&gn->groups);
	INIT_LIST_HEAD(&gn->endpoints);
	return 0;
}

/*
 * Runs while the namespace's devices are still there and before its memory
 * goes: kernel sockets hold no reference to the namespace, so they must be
 * gone when this returns, and gagg_group_kill() returns only then. Sessions may
 * outlive it: they reach the namespace only through a group that is not dead.
 */
static void __net_exit gagg_net_exit(struct net *net)
{
	struct gagg_net *gn = gagg_net_of(net);
	struct gagg_group *grp, *next;

	mutex_lock(&gn->lock);
	gn->dying = true;
	list_for_each_entry_safe(grp, next, &gn->groups, list)
		gagg_group_kill(grp);
	WARN_ON(!list_empty(&gn->endpoints));
	mutex_unlock(&gn->lock);
}

static struct pernet_operations gagg_net_ops = {
	.init = gagg_net_init,
	.exit = gagg_net_exit,
	.id = &gagg_net_id,
	.size = sizeof(struct gagg_net),
};

int __init gagg_netns_init(void)
{
	return register_pernet_device(&gagg_net_ops);
}

void gagg_netns_exit(void)
{
	unregister_pernet_device(&gagg_net_ops);
}
