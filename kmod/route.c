// SPDX-License-Identifier: GPL-2.0
/*
 * One hand-built path for all contexts: kernel_sendmsg() would use the page fragment of the task
 * that a softirq interrupts.
 *
 * The routes are per-CPU caches (struct dst_cache), one per node. They check their entry on every
 * use, and need no lock but bottom halves off. They are destroyed at the group's death, after
 * synchronize_net() and before the namespace goes, though sessions may keep the group's memory
 * longer.
 *
 * Datagrams are never fragmented.
 * 1. DF is set. A datagram that is larger than the interface may send is dropped here, and ends the
 *    epoch (gagg_stats.unfit).
 * 2. ICMP messages about the rest of the path are ignored, since any host can send them: the
 *    sockets ignore them (endpoint.c), and what other sockets have learned from them is not used
 *    here.
 * 3. HELLOs as long as a chunk show that chunks pass (core/group/join.h).
 *
 * Multicast leaves by the interface of the local address: IPv4 takes it from the source, IPv6 from
 * the scope (multicast.c). Sockets of this host do not hear it: that would need an option of the
 * sending socket, which is off (endpoint.c).
 */
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/udp.h>
#include <net/inet_ecn.h>
#include <net/ip.h>
#include <net/ip6_checksum.h>
#include <net/ip6_route.h>
#include <net/route.h>
#include <net/udp.h>
#include "compat/ipv6.h"
#include "compat/skb.h"
#include "endpoint.h"
#include "group.h"
#include "route.h"

#define HOPS_OF_MULTICAST	1	/* no router between members */

int gagg_routes_init(struct gagg_group *grp)
{
	u32 n;
	int err;

	err = dst_cache_init(&grp->all.route, GFP_KERNEL_ACCOUNT);
	for (n = 0; n < grp->geom.nodes && !err; n++)
		err = dst_cache_init(&grp->node[n].route, GFP_KERNEL_ACCOUNT);
	if (err)
		gagg_routes_exit(grp);
	return err;
}

static void route_node_exit(struct gagg_node *node)
{
	dst_cache_destroy(&node->route);
	node->route.cache = NULL;
}

void gagg_routes_exit(struct gagg_group *grp)
{
	u32 n;

	route_node_exit(&grp->all);
	for (n = 0; n < grp->geom.nodes; n++)
		route_node_exit(&grp->node[n]);
}

static bool route_is_v6(const struct gagg_port *port)
{
	return port->ep->addr.sa.sa_family == AF_INET6;
}

static __be16 route_port_of(const union gagg_addr *addr, u32 shard)
{
	__be16 base = addr->sa.sa_family == AF_INET6 ? addr->in6.sin6_port :
						       addr->in.sin_port;

	return htons(ntohs(base) + shard);
}

static struct dst_entry *route_v4(const struct gagg_port *port, struct gagg_node *node)
{
	struct sock *sk = port->sock->sk;
	struct flowi4 fl = {
		.saddr = port->ep->addr.in.sin_addr.s_addr,
		.daddr = node->addr.in.sin_addr.s_addr,
		.fl4_sport = route_port_of(&port->ep->addr, port->index),
		.fl4_dport = route_port_of(&node->addr, port->index),
		.flowi4_proto = IPPROTO_UDP,
	};
	struct rtable *rt;

	rt = dst_cache_get_ip4(&node->route, &fl.saddr);
	if (rt)
		return &rt->dst;
	security_sk_classify_flow(sk, flowi4_to_flowi_common(&fl));
	rt = ip_route_output_flow(sock_net(sk), &fl, sk);
	if (IS_ERR(rt))
		return ERR_CAST(rt);
	dst_cache_set_ip4(&node->route, &rt->dst, fl.saddr);
	return &rt->dst;
}

#if IS_ENABLED(CONFIG_IPV6)
static struct dst_entry *route_v6(const struct gagg_port *port, struct gagg_node *node)
{
	struct sock *sk = port->sock->sk;
	struct flowi6 fl = {
		.saddr = port->ep->addr.in6.sin6_addr,
		.daddr = node->addr.in6.sin6_addr,
		.flowi6_oif = node->addr.in6.sin6_scope_id,
		.fl6_sport = route_port_of(&port->ep->addr, port->index),
		.fl6_dport = route_port_of(&node->addr, port->index),
		.flowi6_proto = IPPROTO_UDP,
	};
	struct dst_entry *dst;

	dst = dst_cache_get_ip6(&node->route, &fl.saddr);
	if (dst)
		return dst;
	security_sk_classify_flow(sk, flowi6_to_flowi_common(&fl));
	dst = gagg_compat_ipv6_route(sk, &fl);
	if (IS_ERR(dst))
		return dst;
	dst_cache_set_ip6(&node->route, dst, &fl.saddr);
	return dst;
}
#else
static struct dst_entry *route_v6(const struct gagg_port *port, struct gagg_node *node)
{
	return ERR_PTR(-EAFNOSUPPORT);
}
#endif

struct dst_entry *gagg_route_get(const struct gagg_port *port, struct gagg_node *to)
{
	return route_is_v6(port) ? route_v6(port, to) : route_v4(port, to);
}

u32 gagg_route_headroom(const struct dst_entry *dst)
{
	return LL_RESERVED_SPACE(dst->dev) + dst->header_len + sizeof(struct ipv6hdr) +
	       sizeof(struct udphdr);
}

static void route_push_v4(const struct gagg_port *port, const struct gagg_node *node,
			  struct sk_buff *skb, struct udphdr *uh, u8 ecn)
{
	__be32 saddr = port->ep->addr.in.sin_addr.s_addr;
	__be32 daddr = node->addr.in.sin_addr.s_addr;
	struct iphdr *iph;

	uh->check = ~udp_v4_check(skb->len, saddr, daddr, 0);
	skb_push(skb, sizeof(*iph));
	skb_reset_network_header(skb);
	iph = ip_hdr(skb);
	memset(iph, 0, sizeof(*iph));
	iph->version = 4;
	iph->ihl = sizeof(*iph) / 4;
	iph->tos = ecn;
	iph->frag_off = htons(IP_DF);
	iph->ttl = ipv4_is_multicast(daddr) ? HOPS_OF_MULTICAST :
					      ip4_dst_hoplimit(skb_dst(skb));
	iph->protocol = IPPROTO_UDP;
	iph->saddr = saddr;
	iph->daddr = daddr;
	/* ip_local_out() sets length and checksum; with DF the id is 0 */
	skb->protocol = htons(ETH_P_IP);
}

#if IS_ENABLED(CONFIG_IPV6)
static void route_push_v6(const struct gagg_port *port, const struct gagg_node *node,
			  struct sk_buff *skb, struct udphdr *uh, u8 ecn)
{
	const struct in6_addr *saddr = &port->ep->addr.in6.sin6_addr;
	const struct in6_addr *daddr = &node->addr.in6.sin6_addr;
	struct ipv6hdr *ip6h;

	uh->check = ~udp_v6_check(skb->len, saddr, daddr, 0);
	skb_push(skb, sizeof(*ip6h));
	skb_reset_network_header(skb);
	ip6h = ipv6_hdr(skb);
	ip6_flow_hdr(ip6h, ecn, 0);
	ip6h->payload_len = 0;
	ip6h->nexthdr = IPPROTO_UDP;
	ip6h->hop_limit = ipv6_addr_is_multicast(daddr) ? HOPS_OF_MULTICAST :
							  ip6_dst_hoplimit(skb_dst(skb));
	ip6h->saddr = *saddr;
	ip6h->daddr = *daddr;
	skb->protocol = htons(ETH_P_IPV6);
}
#else
static void route_push_v6(const struct gagg_port *port, const struct gagg_node *node,
			  struct sk_buff *skb, struct udphdr *uh, u8 ecn)
{
}
#endif

void gagg_route_push(const struct gagg_port *port, const struct gagg_node *to,
		     struct sk_buff *skb, struct dst_entry *dst, bool reacts)
{
	u8 ecn = reacts ? INET_ECN_ECT_0 : INET_ECN_NOT_ECT;
	struct udphdr *uh;

	skb_dst_set(skb, dst);
	memset(skb->cb, 0, sizeof(skb->cb));
	skb_push(skb, sizeof(*uh));
	skb_reset_transport_header(skb);
	uh = udp_hdr(skb);
	uh->source = route_port_of(&port->ep->addr, port->index);
	uh->dest = route_port_of(&to->addr, port->index);
	uh->len = htons(skb->len);
	/*
	 * never a zero checksum: the receiver's GRO requires one. The pseudo header is summed now,
	 * the rest by the device or by segmentation
	 */
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_transport_header(skb) - skb->head;
	skb->csum_offset = offsetof(struct udphdr, check);
	if (route_is_v6(port))
		route_push_v6(port, to, skb, uh, ecn);
	else
		route_push_v4(port, to, skb, uh, ecn);
}

u32 gagg_route_mtu(const struct dst_entry *dst)
{
	return READ_ONCE(dst->dev->mtu);
}

u32 gagg_route_mtu_to(struct gagg_group *grp, struct gagg_node *to)
{
	struct dst_entry *dst;
	u32 mtu = 0;

	local_bh_disable();
	dst = gagg_route_get(&grp->ep->port[0], to);
	if (!IS_ERR(dst)) {
		mtu = gagg_route_mtu(dst);
		dst_release(dst);
	}
	local_bh_enable();
	return mtu;
}

static bool route_fits(const struct sk_buff *skb, u32 mtu)
{
	return skb_is_gso(skb) ? skb_gso_validate_network_len(skb, mtu) : skb->len <= mtu;
}

bool gagg_route_fits(const struct sk_buff *skb)
{
	return route_fits(skb, gagg_route_mtu(skb_dst(skb)));
}

u32 gagg_route_bytes(const struct sk_buff *skb)
{
	return skb->len - skb_transport_offset(skb) - sizeof(struct udphdr);
}

int gagg_route_xmit(const struct gagg_port *port, struct sk_buff *skb)
{
	struct sock *sk = port->sock->sk;
	int err = 0;

	if (unlikely(!gagg_route_fits(skb))) {
		kfree_skb_reason(skb, SKB_DROP_REASON_PKT_TOO_BIG);
		return -EMSGSIZE;
	}
	/* IPv6 reads from the datagram's socket whether the path's MTU counts */
	if (unlikely(route_is_v6(port) && !route_fits(skb, dst_mtu(skb_dst(skb)))) &&
	    !skb_set_owner_sk_safe(skb, sk)) {
		kfree_skb(skb);
		return -ENOBUFS;
	}
	if (!route_is_v6(port))
		err = ip_local_out(sock_net(sk), sk, skb);
#if IS_ENABLED(CONFIG_IPV6)
	else
		err = ip6_local_out(sock_net(sk), sk, skb);
#endif
	return net_xmit_eval(err);
}
