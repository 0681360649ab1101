/* SPDX-License-Identifier: GPL-2.0 */
/*
 * IPv6 is a module of its own, reached by stubs, or a part of the kernel.
 */
#ifndef GAGG_COMPAT_IPV6_H
#define GAGG_COMPAT_IPV6_H

#include <net/addrconf.h>
#include <net/ipv6.h>
#ifdef GAGG_HAVE_IPV6_STUBS_H
#include <net/ipv6_stubs.h>
#endif

#if IS_ENABLED(CONFIG_IPV6)

/* route of a flow; an error pointer if there is none */
static inline struct dst_entry *gagg_compat_ipv6_route(struct sock *sk, struct flowi6 *fl)
{
#ifdef GAGG_HAVE_IPV6_STUBS_H
	return ipv6_stub->ipv6_dst_lookup_flow(sock_net(sk), sk, fl, NULL);
#else
	return ip6_dst_lookup_flow(sock_net(sk), sk, fl, NULL);
#endif
}

/* interface that has the address, or NULL; RCU */
static inline struct net_device *gagg_compat_ipv6_dev(struct net *net,
						      const struct in6_addr *addr)
{
#ifdef GAGG_HAVE_IPV6_STUBS_H
	return ipv6_stub->ipv6_dev_find(net, addr, NULL);
#else
	return ipv6_dev_find(net, addr, NULL);
#endif
}

#endif

#endif
