/* SPDX-License-Identifier: GPL-2.0 */
/* Receiving: turns skbs into calls of the core. */
#ifndef GAGG_RX_H
#define GAGG_RX_H

#include <linux/skbuff.h>

struct gagg_port;

/*
 * gagg_rx_skb - all datagrams of an skb whose checksum was verified
 * Port lock and rcu_read_lock() held. Does not write into the skb's data, which may be shared.
 * Returns the number of datagrams, plus the cost of questions among them.
 */
u32 gagg_rx_skb(struct gagg_port *port, struct sk_buff *skb, u64 now);
/* an skb with a wrong checksum: counts it for the group that it seems to belong to */
void gagg_rx_corrupt(struct gagg_port *port, const struct sk_buff *skb);

#endif
