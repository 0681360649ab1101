/* SPDX-License-Identifier: GPL-2.0 */
#ifndef GAGG_NETNS_H
#define GAGG_NETNS_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <net/net_namespace.h>

/**
 * struct gagg_net - gagg in one network namespace
 * @net:	the namespace; no reference is held, pernet exit comes first
 * @lock:	lists, configuration
 * @groups:	struct gagg_group.list
 * @endpoints:	struct gagg_endpoint.list
 * @last:	number of the youngest group
 * @dying:	pernet exit has run; nothing may be created any more
 */
struct gagg_net {
	struct net *net;
	struct mutex lock;	/* see above */
	struct list_head groups;
	struct list_head endpoints;
	long last;
	bool dying;
};

/*
 * the lists are changed under the lock, or by the pernet exit, beside which no other task is left
 */
static inline void gagg_net_assert_held(const struct gagg_net *gn)
{
	lockdep_assert(gn->dying || lockdep_is_held(&gn->lock));
}

struct gagg_net *gagg_net_of(struct net *net);
int gagg_netns_init(void);
void gagg_netns_exit(void);

#endif
