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

static int __net_init netns_net_init(struct net *net)
{
	struct gagg_net *gn = gagg_net_of(net);

	gn->net = net;
	mutex_init(&gn->lock);
	INIT_LIST_HEAD(&gn->groups);
	INIT_LIST_HEAD(&gn->endpoints);
	return 0;
}

static void netns_net_end(struct gagg_net *gn, struct list_head *dead)
{
	struct gagg_group *grp, *next;

	mutex_lock(&gn->lock);
	WRITE_ONCE(gn->dying, true);
	list_for_each_entry_safe(grp, next, &gn->groups, list)
		gagg_group_unlink(grp, dead);
	mutex_unlock(&gn->lock);
}

/*
 * Runs while the namespaces' devices still exist, and before their memory goes. Kernel sockets hold
 * no reference to the namespace, so they must be gone when this returns; gagg_groups_bury() returns
 * only then. Sessions may live longer: they reach the namespace only through a group that is not
 * dead.
 *
 * All groups of all namespaces share the grace periods. So a user that makes thousands of groups,
 * and exits, does not keep the host from ending and making namespaces.
 */
static void __net_exit netns_nets_exit(struct list_head *nets)
{
	LIST_HEAD(dead);
	struct net *net;

	list_for_each_entry(net, nets, exit_list)
		netns_net_end(gagg_net_of(net), &dead);
	gagg_groups_bury(&dead);
	list_for_each_entry(net, nets, exit_list)
		WARN_ON(!list_empty(&gagg_net_of(net)->endpoints));
}

static struct pernet_operations gagg_net_ops = {
	.init = netns_net_init,
	.exit_batch = netns_nets_exit,
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
