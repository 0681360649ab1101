/* SPDX-License-Identifier: GPL-2.0 */
#ifndef GAGG_COMPAT_NETDEV_H
#define GAGG_COMPAT_NETDEV_H

#include <linux/netdevice.h>
#include <linux/slab.h>

/* a device that only carries NAPI contexts; sleeps; NULL: there is no memory */
static inline struct net_device *gagg_compat_netdev_alloc(void)
{
#ifdef GAGG_HAVE_ALLOC_NETDEV_DUMMY
	return alloc_netdev_dummy(0);
#else
	struct net_device *dev = kzalloc(sizeof(*dev), GFP_KERNEL_ACCOUNT);

	if (dev)
		init_dummy_netdev(dev);
	return dev;
#endif
}

static inline void gagg_compat_netdev_free(struct net_device *dev)
{
#ifdef GAGG_HAVE_ALLOC_NETDEV_DUMMY
	free_netdev(dev);
#else
	kfree(dev);
#endif
}

#endif
