// SPDX-License-Identifier: GPL-2.0
/*
 * A socket that is bound to a host's address hears no multicast. So each port has one more socket,
 * which is bound to the multicast address. It wakes the same NAPI, and the same poll reads it,
 * before the port's own socket (port.c).
 *
 * Other sockets may have the same address and port: those of groups with another local address of
 * this host, or of any program that shares the address. Each gets every datagram. So EADDRINUSE has
 * one reason only, a socket that does not share its address; and a group may join before the group
 * that it replaces has left.
 *
 * Birth: under gagg_net.lock, in works, as the port's sockets (endpoint.c). It enters the list when
 * it is complete, so a poll sees all of it or nothing.
 *
 * Death, when the last group leaves, under gagg_net.lock or at the end of the namespace:
 *	1. sk_data_ready and user data are put back: no new call finds the port
 *	2. off the list; synchronize_net(): calls that ran have returned, and polls,
 *	   which run under rcu_read_lock(), no longer read these sockets
 *	3. the sockets are released with what is queued on them; to leave the
 *	   multicast group takes rtnl_lock, and no task takes gagg_net.lock under it
 * A group puts this reference before that to the endpoint, so the ports still exist.
 */
#include <linux/igmp.h>
#include <linux/inetdevice.h>
#include <linux/slab.h>
#include "compat/ipv6.h"
#include "core/refusal.h"
#include "multicast.h"
#include "netns.h"
#include "quota.h"

#if IS_ENABLED(CONFIG_IPV6)
static struct net_device *multicast_dev_v6(struct net *net, const union gagg_addr *addr)
{
	return gagg_compat_ipv6_dev(net, &addr->in6.sin6_addr);
}
#else
static struct net_device *multicast_dev_v6(struct net *net, const union gagg_addr *addr)
{
	return NULL;
}
#endif

/* the interface that has the address; under rcu_read_lock() */
static struct net_device *multicast_dev_of(struct net *net, const union gagg_addr *addr)
{
	return addr->sa.sa_family == AF_INET6 ? multicast_dev_v6(net, addr) :
		__ip_dev_find(net, addr->in.sin_addr.s_addr, false);
}

int gagg_multicast_scope(const struct gagg_endpoint *ep, union gagg_addr *addr,
			 struct netlink_ext_ack *extack)
{
	const struct net_device *dev;
	int err = 0;

	rcu_read_lock();
	dev = multicast_dev_of(ep->gn->net, &ep->addr);
	if (!dev || !(READ_ONCE(dev->flags) & IFF_MULTICAST)) {
		err = -ENODEV;
		gagg_extack_say(extack, gagg_refused_socket(-err, true));
	} else if (addr->sa.sa_family == AF_INET6) {
		addr->in6.sin6_scope_id = dev->ifindex;
	}
	rcu_read_unlock();
	return err;
}

static int multicast_join_v4(const struct gagg_multicast *mc, struct socket *sock)
{
	struct ip_mreqn req = {
		.imr_multiaddr = mc->addr.in.sin_addr,
		.imr_address = mc->ep->addr.in.sin_addr,
	};
	int all = 0, err;

	/* not what other sockets have joined on other interfaces */
	err = sock->ops->setsockopt(sock, SOL_IP, IP_MULTICAST_ALL, KERNEL_SOCKPTR(&all),
				    sizeof(all));
	return err ? err : sock->ops->setsockopt(sock, SOL_IP, IP_ADD_MEMBERSHIP,
						 KERNEL_SOCKPTR(&req), sizeof(req));
}

static int multicast_join_v6(const struct gagg_multicast *mc, struct socket *sock)
{
	struct ipv6_mreq req = {
		.ipv6mr_multiaddr = mc->addr.in6.sin6_addr,
		.ipv6mr_ifindex = mc->addr.in6.sin6_scope_id,
	};
	int err;

	/* not what other sockets have joined on other interfaces */
	err = sock_bindtoindex(sock->sk, mc->addr.in6.sin6_scope_id, true);
	return err ? err : sock->ops->setsockopt(sock, SOL_IPV6, IPV6_ADD_MEMBERSHIP,
						 KERNEL_SOCKPTR(&req), sizeof(req));
}

/* a socket at the address and the port's number */
static int multicast_port_join(struct gagg_port *port, void *arg)
{
	struct gagg_multicast *mc = arg;
	struct socket *sock;
	int err;

	err = gagg_port_socket(port, &sock);
	if (err)
		return err;
	mc->sock[port->index] = sock;
	sock_set_reuseaddr(sock->sk);
	err = mc->addr.sa.sa_family == AF_INET6 ? multicast_join_v6(mc, sock) :
						  multicast_join_v4(mc, sock);
	return err ? err : gagg_port_listen(port, sock, &mc->addr);
}

bool gagg_multicast_leave(struct gagg_multicast *mc)
{
	u32 i;

	gagg_net_assert_held(mc->ep->gn);
	if (!refcount_dec_and_test(&mc->refs))
		return false;
	/* after a failure some sockets may be missing */
	for (i = 0; i < mc->ep->nports; i++)
		if (mc->sock[i])
			gagg_port_deafen(&mc->ep->port[i], mc->sock[i]);
	list_del_rcu(&mc->list);
	return true;
}

void gagg_multicast_close(struct gagg_multicast *mc)
{
	u32 i;

	for (i = 0; i < mc->ep->nports; i++)
		if (mc->sock[i])
			sock_release(mc->sock[i]);
	gagg_quota_give(mc->ep->quota, GAGG_Q_PORTS, mc->ep->nports);
	kfree(mc);
}

void gagg_multicast_put(struct gagg_multicast *mc)
{
	if (!gagg_multicast_leave(mc))
		return;
	synchronize_net();
	gagg_multicast_close(mc);
}

static struct gagg_multicast *multicast_new(struct gagg_endpoint *ep,
					    const union gagg_addr *addr)
{
	struct gagg_multicast *mc = kzalloc(struct_size(mc, sock, ep->nports), GFP_KERNEL_ACCOUNT);

	if (!mc)
		return NULL;
	INIT_LIST_HEAD(&mc->list);
	mc->ep = ep;
	refcount_set(&mc->refs, 1);
	mc->addr = *addr;
	return mc;
}

struct gagg_multicast *gagg_multicast_get(struct gagg_endpoint *ep,
					  const union gagg_addr *addr,
					  struct netlink_ext_ack *extack)
{
	struct gagg_multicast *mc;
	int err;

	lockdep_assert_held(&ep->gn->lock);
	list_for_each_entry(mc, &ep->multicasts, list) {
		if (gagg_addr_equal(&mc->addr, addr)) {
			refcount_inc(&mc->refs);
			return mc;
		}
	}
	err = gagg_quota_take(ep->quota, GAGG_Q_PORTS, ep->nports, extack);
	if (err)
		return ERR_PTR(err);
	mc = multicast_new(ep, addr);
	if (!mc) {
		gagg_quota_give(ep->quota, GAGG_Q_PORTS, ep->nports);
		return ERR_PTR(-ENOMEM);
	}
	err = gagg_endpoint_each_port(ep, multicast_port_join, mc);
	if (!err) {
		list_add_rcu(&mc->list, &ep->multicasts);
		return mc;
	}
	gagg_multicast_put(mc);
	gagg_extack_say(extack, gagg_refused_socket(-err, true));
	return ERR_PTR(err);
}
