/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Routes to the nodes of a group, one by one or together (multicast), and the UDP and
 * IP headers that lead there.
 */
#ifndef GAGG_ROUTE_H
#define GAGG_ROUTE_H

#include <linux/skbuff.h>
#include <net/dst.h>

struct gagg_group;
struct gagg_node;
struct gagg_port;

/* cached routes of a group's nodes; exit: at its death, after synchronize_net(),
 * since they must not outlive the namespace
 */
int gagg_routes_init(struct gagg_group *grp);
void gagg_routes_exit(struct gagg_group *grp);

/* route from a port to a node, or to all at a multicast address, with a reference,
 * or an error; bottom halves off
 */
struct dst_entry *gagg_route_get(const struct gagg_port *port, struct gagg_node *to);

/* most bytes of an IP packet that leaves by @dst: of the interface, whatever the path */
u32 gagg_route_mtu(const struct dst_entry *dst);

/* the same of the interfaces to all other nodes, the least; 0: there is no way to any */
u32 gagg_route_least_mtu(struct gagg_group *grp);

/* bytes in front of a datagram that leaves by @dst */
u32 gagg_route_headroom(const struct dst_entry *dst);

/*
 * gagg_route_push - UDP and IP header in front of what is in @skb
 * Takes over the reference to @dst. The skb may be a GSO burst. @reacts: a path's window
 * does, if congestion is marked: only then may it be, instead of dropped (RFC 3168 section 5).
 */
void gagg_route_push(const struct gagg_port *port, const struct gagg_node *to,
		     struct sk_buff *skb, struct dst_entry *dst, bool reacts);

/* may what gagg_route_push() has completed leave by its interface? */
bool gagg_route_fits(const struct sk_buff *skb);

/* send what gagg_route_push() has completed; 0 or an error; no lock held */
int gagg_route_xmit(const struct gagg_port *port, struct sk_buff *skb);

#endif
