/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A multicast address of an endpoint, where results for all arrive. It has a socket for each port
 * of the endpoint. Groups of the endpoint that name the address share it.
 */
#ifndef GAGG_MULTICAST_H
#define GAGG_MULTICAST_H

#include "endpoint.h"

struct gagg_multicast {
	struct list_head list;		/* gagg_endpoint.multicasts; RCU for polls */
	struct gagg_endpoint *ep;
	refcount_t refs;		/* groups; gagg_net.lock */
	union gagg_addr addr;		/* with the base port */
	struct socket *sock[];		/* by port */
};

/*
 * Can multicast leave by the interface of the endpoint's address, and which is it?
 * @addr: if IPv6, gets the interface as its scope
 */
int gagg_multicast_scope(const struct gagg_endpoint *ep, union gagg_addr *addr,
			 struct netlink_ext_ack *extack);
/* find, or create and join; takes a reference; sleeps; gagg_net.lock held
 * @addr: with base port and scope
 */
struct gagg_multicast *gagg_multicast_get(struct gagg_endpoint *ep,
					  const union gagg_addr *addr,
					  struct netlink_ext_ack *extack);
/*
 * drops a reference, before that to the endpoint; true: it was the last one. No new call finds the
 * sockets then, but polls may use them until a grace period later. The caller then calls
 * gagg_multicast_close(), which leaves the multicast groups and releases the sockets
 */
bool gagg_multicast_leave(struct gagg_multicast *mc);
void gagg_multicast_close(struct gagg_multicast *mc);
/* both of these at once */
void gagg_multicast_put(struct gagg_multicast *mc);

#endif
