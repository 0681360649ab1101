/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Routes to the nodes of a group, to each one or to all (multicast), and UDP and IP headers for
 * them.
 */
#ifndef GAGG_ROUTE_H
#define GAGG_ROUTE_H

#include <linux/skbuff.h>
#include <net/dst.h>

struct gagg_group;
struct gagg_node;
struct gagg_port;

/*
 * cached routes of a group's nodes. exit: at the group's death, after synchronize_net(), since they
 * must go before the namespace
 */
int gagg_routes_init(struct gagg_group *grp);
void gagg_routes_exit(struct gagg_group *grp);

/*
 * route from a port to a node, or to a multicast address, with a reference; or an error; bottom
 * halves off
 */
struct dst_entry *gagg_route_get(const struct gagg_port *port, struct gagg_node *to);

/* most bytes of an IP packet that leaves by @dst: the interface's MTU, not the path's */
u32 gagg_route_mtu(const struct dst_entry *dst);

/* the same, to a node of the group, or to its multicast address; 0: there is no route */
u32 gagg_route_mtu_to(struct gagg_group *grp, struct gagg_node *to);

/* bytes in front of a datagram that leaves by @dst */
u32 gagg_route_headroom(const struct dst_entry *dst);

/*
 * gagg_route_push - UDP and IP header in front of what is in @skb
 * Takes over the reference to @dst. The skb may be a GSO burst. @reacts: a window reacts to marks
 * of congestion. Only then may the network mark the datagram instead of dropping it (RFC 3168
 * section 5).
 */
void gagg_route_push(const struct gagg_port *port, const struct gagg_node *to,
		     struct sk_buff *skb, struct dst_entry *dst, bool reacts);

/* does the packet that gagg_route_push() has completed fit its interface? */
bool gagg_route_fits(const struct sk_buff *skb);

/* bytes behind its UDP header */
u32 gagg_route_bytes(const struct sk_buff *skb);

/* sends the packet that gagg_route_push() has completed; 0 or an error; no lock held */
int gagg_route_xmit(const struct gagg_port *port, struct sk_buff *skb);

#endif
